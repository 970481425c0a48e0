//! Look-ups by how many keys are present, one by one and in batches, in the L2 cache, in the L3 cache
//! and in memory, each beside the memory floor.
//!
//! `cargo bench --bench lookup`, for sizes of your own with `GUIRA_MEGABYTES=N`.

mod common;
mod group;

use std::hint::black_box;

use common::{BATCH, Cores, Floor, Keys, Pick, capacity_for, fill, filter, from_environment};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use guira::Layout;

/// Keys of one iteration; the keys of all iterations take turns.
const BLOCK: usize = 8 * BATCH;

fn lookups(criterion: &mut Criterion) {
    Cores::list().pin(1);
    let memory = from_environment("GUIRA_MEGABYTES", 128) << 20;
    for (place, bytes) in [("L2", 200 << 10), ("L3", 8 << 20), ("memory", memory)] {
        let capacity = capacity_for(bytes, Layout::Plain4x16);
        let filter = filter(capacity, Layout::Plain4x16);
        let keys = Keys::new(1);
        fill(&filter, keys, 0..capacity as u64);
        let floor = Floor::new(bytes);
        let mut group = criterion.benchmark_group(format!("lookup in {place}"));
        // As many keys as reach most lines, and no more than stay out of a small table's way.
        let count = capacity.next_multiple_of(BLOCK).clamp(2 * BLOCK, 128 * BLOCK);
        for present in [0, 25, 50, 75, 100] {
            let asked = keys.pick(count, Pick { present, inserted: (0, capacity as u64) }, 2);
            if present == 0 {
                group::floors(&mut group, &floor, &asked, BLOCK);
            }
            let mut blocks = asked.chunks_exact(BLOCK).cycle();
            let mut next = || blocks.next().expect("a block");
            group.bench_function(BenchmarkId::new("single, % present", present), |bencher| {
                bencher.iter(|| {
                    next().iter().filter(|&&key| filter.contains_hash(black_box(key))).count()
                });
            });
            let mut found = [false; BLOCK];
            group.bench_function(BenchmarkId::new("batch, % present", present), |bencher| {
                bencher.iter(|| filter.contains_hash_batch(next(), &mut found));
            });
        }
        group.finish();
    }
}

criterion_group! { name = benches; config = group::configuration(); targets = lookups }
criterion_main!(benches);
