//! Removals from a filter at capacity, one by one and in batches, beside the memory floor.
//!
//! `cargo bench --bench remove`, for another size with `GUIRA_MEGABYTES=N`.

mod common;
mod group;

use std::time::Duration;

use common::{BATCH, Cores, Floor, Keys, capacity_for, fill, filter, from_environment};
use criterion::{Criterion, criterion_group, criterion_main};
use guira::{CuckooFilter, Layout};

/// Keys of one iteration.
const BLOCK: u64 = 4 * BATCH as u64;

/// Takes blocks out, and puts all back when a twentieth of the keys is out and at the end.
///
/// Keys in the order of their inserts are in no order of the table's.
fn run(
    filter: &CuckooFilter,
    keys: Keys,
    iterations: u64,
    mut remove: impl FnMut(&[u64]),
) -> Duration {
    let (mut out, mut time) = (0, Duration::ZERO);
    for _ in 0..iterations {
        if out + BLOCK > filter.capacity() as u64 / 20 {
            fill(filter, keys, 0..out);
            out = 0;
        }
        time += group::timed(&keys.range(out..out + BLOCK), &mut remove);
        out += BLOCK;
    }
    fill(filter, keys, 0..out);
    time
}

fn removals(criterion: &mut Criterion) {
    Cores::list().pin(1);
    let bytes = from_environment("GUIRA_MEGABYTES", 128) << 20;
    let capacity = capacity_for(bytes, Layout::Plain4x16);
    let filter = filter(capacity, Layout::Plain4x16);
    let keys = Keys::new(1);
    fill(&filter, keys, 0..capacity as u64);
    let mut group = criterion.benchmark_group("remove");
    group::floors(&mut group, &Floor::new(bytes), &keys.range(0..1 << 20), BLOCK as usize);
    let mut removed = [false; BLOCK as usize];
    group.bench_function("batch", |bencher| {
        bencher.iter_custom(|iterations| {
            run(&filter, keys, iterations, |block| {
                assert_eq!(filter.remove_hash_batch(block, &mut removed), block.len());
            })
        });
    });
    group.bench_function("single", |bencher| {
        bencher.iter_custom(|iterations| {
            run(&filter, keys, iterations, |block| {
                assert!(block.iter().all(|&key| filter.remove_hash(key)));
            })
        });
    });
    group.finish();
}

criterion_group! { name = benches; config = group::configuration(); targets = removals }
criterion_main!(benches);
