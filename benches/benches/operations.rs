//! Single operations on a table in the cache, with criterion, to find regressions.
//!
//! `cargo bench -p guira-bench --features criterion` compares with the last run on the same machine.
//! Everything else is measured by `cargo run --release -p guira-bench`.

use std::{hint::black_box, time::Duration};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use guira::Layout;
use guira_bench::{Cores, Keys, fill, filter};

/// Capacity of the filter: 200 KB, which fit an L2 cache.
const ITEMS: usize = 100_000;

/// Operations of one iteration.
const BLOCK: u64 = 1024;

fn operations(criterion: &mut Criterion) {
    Cores::list().pin(0);
    let mut group = criterion.benchmark_group("operations");
    group.throughput(Throughput::Elements(BLOCK));
    for layout in [Layout::Plain4x16, Layout::SemiSorted6x12] {
        let filter = filter(ITEMS, layout);
        let keys = Keys::new(1);
        // Room for the inserts: what is measured is an insert that relocates nothing.
        fill(&filter, keys, 0..ITEMS as u64 / 2);
        let present = keys.range(0..BLOCK);
        let absent = keys.range(1 << 63..(1 << 63) + BLOCK);
        for (name, keys) in [("lookup, present", &present), ("lookup, absent", &absent)] {
            group.bench_function(format!("{layout:?}: {name}"), |bencher| {
                bencher.iter(|| {
                    keys.iter().filter(|&&key| filter.by_hash().contains(black_box(key))).count()
                });
            });
        }
        group.bench_function(format!("{layout:?}: insert and remove"), |bencher| {
            bencher.iter(|| {
                for &key in &absent {
                    filter.by_hash().insert(black_box(key)).expect("room");
                }
                absent.iter().filter(|&&key| filter.by_hash().remove(black_box(key))).count()
            });
        });
    }
    group.finish();
}

fn configuration() -> Criterion {
    Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .without_plots()
}

criterion_group! { name = benches; config = configuration(); targets = operations }
criterion_main!(benches);
