//! The census of words, with criterion, to find regressions.
//!
//! `cargo bench -p guira-bench --features criterion` compares with the last run on the same
//! machine. Everything else is measured by `cargo run --release -p guira-bench`.

use std::{hint::black_box, time::Duration};

use criterion::{
    BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main, measurement::WallTime,
};
use guira::raw::{BucketLayout, Fingerprint, Plain, SemiSorted};
use guira_harness::Cores;

/// Words of one census.
const WORDS: usize = 512;

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

criterion_group! { name = benches; config = configuration(); targets = census }
criterion_main!(benches);
