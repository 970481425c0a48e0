//! The census of words, with criterion, to find regressions.
//!
//! `cargo bench -p guira-bench --features criterion` compares with the last run on the same
//! machine. Everything else is measured by `cargo run --release -p guira-bench`.

use std::{hint::black_box, time::Duration};

use criterion::{
    BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main, measurement::WallTime,
};
use guira::Layout;
use guira_harness::Cores;

/// Words of one census.
const WORDS: usize = 512;

/// The census of as many words as a load or a clone passes at once.
fn census(criterion: &mut Criterion) {
    Cores::list().pin(0);
    let mut group = criterion.benchmark_group("census");
    group.throughput(Throughput::Bytes(8 * WORDS as u64));
    for &layout in Layout::ALL {
        census_of(&mut group, layout);
    }
    group.finish();
}

fn census_of(group: &mut BenchmarkGroup<WallTime>, layout: Layout) {
    let slots = layout.slots();
    let largest = u32::MAX >> (32 - slots.key_bits());
    let full = (0..slots.count())
        .fold(0, |word, _| slots.with::<false>(word, largest).expect("an empty slot"));
    let words = [full; WORDS];
    group.bench_function(format!("{layout:?}"), |bencher| {
        bencher.iter(|| slots.census(black_box(&words)));
    });
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
