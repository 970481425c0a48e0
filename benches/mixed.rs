//! Look-ups, inserts and removals in turn by one thread, at loads that stay, beside the memory floor.
//!
//! `cargo bench --bench mixed`, for another size with `GUIRA_MEGABYTES=N`. Half of the keys looked up
//! are present. Loads are per cent of the slots; a write takes out the oldest of half of the keys, or puts in
//! a new one.

mod common;
mod group;

use common::{
    BATCH, Cores, Floor, Keys, capacity_for, filter, from_environment,
    threads::{Population, Shared, Steps},
};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use guira::Layout;

fn mixes(criterion: &mut Criterion) {
    Cores::list().pin(1);
    let bytes = from_environment("GUIRA_MEGABYTES", 128) << 20;
    let capacity = capacity_for(bytes, Layout::Plain4x16);
    let floor = Floor::new(bytes);
    let mut group = criterion.benchmark_group("mixed");
    for load in [80, 95] {
        let filter = filter(capacity, Layout::Plain4x16);
        let items = filter.slots() as u64 * load / 100;
        let population = Population::new(Keys::new(load), items, 1);
        assert_eq!(population.fill(&filter), 0, "room at {load} %");
        let reads = population.reads(0, 50);
        if load == 80 {
            group::floors(&mut group, &floor, &reads, BATCH);
        }
        let mut ring = population.ring(0);
        let mut blocks = reads.chunks_exact(BATCH).cycle();
        let mut next = || blocks.next().expect("a block");
        for (reads, name) in [(100, "100/0/0"), (90, "90/5/5"), (50, "50/25/25"), (0, "0/50/50")] {
            let steps = Steps::new(reads);
            let name = BenchmarkId::new(format!("{name} look-ups/inserts/removals, load %"), load);
            group.bench_function(name, |bencher| {
                bencher.iter(|| filter.mix(next(), &mut ring, &steps));
            });
        }
        assert_eq!(ring.failures, 0, "every insert has room, and every removal finds its key");
    }
    group.finish();
}

criterion_group! { name = benches; config = group::configuration(); targets = mixes }
criterion_main!(benches);
