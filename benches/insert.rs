//! Inserts by how full the filter is, to the end, one by one and in batches, beside the memory floor.
//!
//! `cargo bench --bench insert`, for another size with `GUIRA_MEGABYTES=N`. Each iteration fills a new
//! filter up to a band, which takes no part in the time, and then the whole band: keys that come back
//! to a filter that they were removed from would find their own lanes empty, and cost too little.

mod common;
mod group;

use std::{ops::Range, time::Duration};

use common::{BATCH, Cores, Floor, Keys, capacity_for, fill, filter, from_environment};
use criterion::{
    BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group, criterion_main,
};
use guira::{CuckooFilter, Layout};

/// Ends of the bands, in per cent of the capacity.
const ENDS: [u64; 6] = [0, 50, 80, 90, 95, 100];

/// Fills new filters to a band's start, then the band by `insert`, which alone counts.
fn run(
    capacity: usize,
    band: &Range<u64>,
    iterations: u64,
    insert: impl Fn(&CuckooFilter, &[u64]),
) -> Duration {
    let mut time = Duration::ZERO;
    for iteration in 0..iterations {
        let (filter, keys) = (filter(capacity, Layout::Plain4x16), Keys::new(iteration));
        fill(&filter, keys, 0..band.start);
        keys.blocks(band.clone(), |block| {
            time += group::timed(block, |block| insert(&filter, block));
        });
    }
    time
}

fn inserts(criterion: &mut Criterion) {
    Cores::list().pin(1);
    let bytes = from_environment("GUIRA_MEGABYTES", 32) << 20;
    let capacity = capacity_for(bytes, Layout::Plain4x16);
    let mut group = criterion.benchmark_group("insert");
    group::floors(&mut group, &Floor::new(bytes), &Keys::new(1).range(0..1 << 20), BATCH);
    group.sampling_mode(SamplingMode::Flat);
    for ends in ENDS.windows(2) {
        let band = capacity as u64 * ends[0] / 100..capacity as u64 * ends[1] / 100;
        group.throughput(Throughput::Elements(band.end - band.start));
        let name = format!("{}-{} % of capacity", ends[0], ends[1]);
        group.bench_function(BenchmarkId::new("batch", &name), |bencher| {
            bencher.iter_custom(|iterations| {
                run(capacity, &band, iterations, |filter, block| {
                    filter.insert_hash_batch(block).expect("room");
                })
            });
        });
        group.bench_function(BenchmarkId::new("single", &name), |bencher| {
            bencher.iter_custom(|iterations| {
                run(capacity, &band, iterations, |filter, block| {
                    for &key in block {
                        filter.insert_hash(key).expect("room");
                    }
                })
            });
        });
    }
    group.finish();
}

criterion_group! { name = benches; config = group::configuration(); targets = inserts }
criterion_main!(benches);
