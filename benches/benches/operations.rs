//! Single operations on a table in the cache, and the census of words, with criterion, to find
//! regressions.
//!
//! `cargo bench -p guira-bench --features criterion` compares with the last run on the same
//! machine. Everything else is measured by `cargo run --release -p guira-bench`.

use std::{hint::black_box, time::Duration};

use criterion::{
    BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main, measurement::WallTime,
};
use guira::{
    Hashed, Layout,
    raw::{BucketLayout, Fingerprint, Plain, SemiSorted},
};
use guira_harness::{Cores, Keys, fill, filter};

/// Capacity of the filter: 200 KB, which fit an L2 cache.
const ITEMS: usize = 100_000;

/// Operations of one iteration.
const BLOCK: u64 = 1024;

/// Words of one census.
const WORDS: usize = 512;

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
                    keys.iter().filter(|&&key| filter.contains(&Hashed(black_box(key)))).count()
                });
            });
        }
        group.bench_function(format!("{layout:?}: insert and remove"), |bencher| {
            bencher.iter(|| {
                for &key in &absent {
                    filter.insert(&Hashed(black_box(key))).expect("room");
                }
                absent.iter().filter(|&&key| filter.remove(&Hashed(black_box(key)))).count()
            });
        });
    }
    group.finish();
}

/// The census of as many words as a load or a clone passes at once.
fn census(criterion: &mut Criterion) {
    Cores::list().pin(0);
    let mut group = criterion.benchmark_group("census");
    group.throughput(Throughput::Bytes(8 * WORDS as u64));
    census_of::<Plain<8, 8>>(&mut group, "Plain8x8");
    census_of::<Plain<6, 10>>(&mut group, "Plain6x10");
    census_of::<Plain<5, 12>>(&mut group, "Plain5x12");
    census_of::<Plain<4, 16>>(&mut group, "Plain4x16");
    census_of::<SemiSorted<6, 12>>(&mut group, "SemiSorted6x12");
    census_of::<SemiSorted<5, 14>>(&mut group, "SemiSorted5x14");
    census_of::<SemiSorted<4, 17>>(&mut group, "SemiSorted4x17");
    census_of::<SemiSorted<3, 22>>(&mut group, "SemiSorted3x22");
    group.finish();
}

fn census_of<L: BucketLayout>(group: &mut BenchmarkGroup<WallTime>, name: &str) {
    let largest = Fingerprint::new(L::MAX_FINGERPRINT);
    let full = (0..L::SLOTS).fold(0, |word, _| L::with(word, largest).expect("an empty slot"));
    let words = [full; WORDS];
    group.bench_function(name, |bencher| bencher.iter(|| L::census(black_box(&words))));
}

fn configuration() -> Criterion {
    Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .without_plots()
}

criterion_group! { name = benches; config = configuration(); targets = operations, census }
criterion_main!(benches);
