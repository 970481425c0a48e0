//! The main operations, with criterion, to find regressions: `cargo bench` compares with the last
//! run on the same machine, in less than a minute.
//!
//! All filters are in a cache of 512 KiB or more, and nine tenths full. `cargo run --release -p
//! guira-bench` measures everything else: memory, threads, floors and other crates.

use std::{hint::black_box, time::Duration};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use guira::{CuckooFilter, ExpiringFilter, GrowingFilter};

/// Items of a filter.
const ITEMS: u64 = 200_000;
/// Keys that an iteration passes.
const KEYS: u64 = 4_096;

fn operations(criterion: &mut Criterion) {
    let fixed = CuckooFilter::with_capacity(ITEMS as usize * 10 / 9);
    let growing = GrowingFilter::new();
    let expiring = ExpiringFilter::builder().capacity(ITEMS as usize * 10 / 9);
    let expiring = expiring.ttl(Duration::from_secs(1_000)).build().expect("a small filter");
    for key in 0..ITEMS {
        fixed.insert(&key).expect("room");
        growing.insert(&key).expect("room");
        expiring.insert(&key).expect("room");
    }
    let present: Vec<u64> = (0..KEYS).map(|key| key * (ITEMS / KEYS)).collect();
    let absent: Vec<u64> = (ITEMS..ITEMS + KEYS).collect();

    let mut group = criterion.benchmark_group("guira");
    group.throughput(Throughput::Elements(KEYS));
    for (name, keys) in [("present", &present), ("absent", &absent)] {
        let count = |contains: &dyn Fn(&u64) -> bool| -> usize {
            black_box(keys).iter().filter(|key| contains(key)).count()
        };
        group.bench_function(format!("contains, {name}"), |bencher| {
            bencher.iter(|| count(&|key| fixed.contains(key)));
        });
        group.bench_function(format!("contains, {name}, growing"), |bencher| {
            bencher.iter(|| count(&|key| growing.contains(key)));
        });
        group.bench_function(format!("contains, {name}, expiring"), |bencher| {
            bencher.iter(|| count(&|key| expiring.contains(key)));
        });
        let mut found = vec![false; KEYS as usize];
        group.bench_function(format!("contains_batch, {name}"), |bencher| {
            bencher.iter(|| fixed.contains_batch(black_box(keys), &mut found));
        });
    }
    group.bench_function("insert and remove", |bencher| {
        bencher.iter(|| {
            for key in black_box(&absent) {
                fixed.insert(key).expect("room");
            }
            absent.iter().filter(|key| fixed.remove(key)).count()
        });
    });
    group.bench_function("insert_unique, present", |bencher| {
        bencher.iter(|| {
            let is_new = |key: &&u64| fixed.insert_unique(key).expect("room").is_new();
            black_box(&present).iter().filter(is_new).count()
        });
    });
    group.bench_function("insert, growing from 4,096 slots", |bencher| {
        bencher.iter(|| {
            let grown = GrowingFilter::new();
            for key in 0..KEYS {
                grown.insert(black_box(&key)).expect("room");
            }
            grown
        });
    });
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
