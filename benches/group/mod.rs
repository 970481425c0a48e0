//! What the benchmarks that criterion runs share: its configuration, and the memory floor as benchmarks
//! of the group at hand.

// Each benchmark takes its part of this.
#![allow(dead_code)]

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use criterion::{BenchmarkGroup, Criterion, Throughput, measurement::WallTime};

use crate::common::Floor;

/// Short runs: what is measured comes in blocks of thousands of keys.
pub fn configuration() -> Criterion {
    Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_millis(1500))
        .without_plots()
}

/// The floor for these keys, a block of which is one iteration's: one and two random lines per key,
/// prefetched, and one locked instruction on a random line, not prefetched.
pub fn floors(group: &mut BenchmarkGroup<'_, WallTime>, floor: &Floor, keys: &[u64], block: usize) {
    group.throughput(Throughput::Elements(block as u64));
    let mut blocks = keys.chunks_exact(block).cycle();
    let mut next = || blocks.next().expect("a block");
    group.bench_function("floor, one line per key", |bencher| {
        bencher.iter(|| floor.read::<1>(next()));
    });
    group.bench_function("floor, two lines per key", |bencher| {
        bencher.iter(|| floor.read::<2>(next()));
    });
    group.bench_function("floor, one locked instruction per key", |bencher| {
        bencher.iter(|| floor.write_locked(next()));
    });
}

/// Times one block of keys.
pub fn timed(keys: &[u64], work: impl FnOnce(&[u64])) -> Duration {
    let start = Instant::now();
    work(black_box(keys));
    start.elapsed()
}
