//! Inserts by how full the filter is, to the end, one by one and in batches, beside the memory floor.
//!
//! `cargo bench --bench insert`, for another size with `GUIRA_MEGABYTES=N`.

mod common;
mod group;

use std::{ops::Range, time::Duration};

use common::{BATCH, Cores, Floor, Keys, capacity_for, fill, filter, from_environment};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use guira::{CuckooFilter, Layout};

/// Keys of one iteration.
const BLOCK: usize = 4 * BATCH;

/// Ends of the bands, in per cent of the capacity.
const ENDS: [u64; 6] = [0, 50, 80, 90, 95, 100];

/// Inserts blocks of a band's keys, again from the start when its end is reached.
///
/// What is taken out to start again is the band's own keys, so the rest lies as it came to lie when
/// the filter was fuller: as in use.
fn run(
    filter: &CuckooFilter,
    keys: Keys,
    band: Range<u64>,
    iterations: u64,
    insert: impl Fn(&[u64]),
) -> Duration {
    let (mut at, mut time) = (band.start, Duration::ZERO);
    let take_out = |until| {
        let mut removed = [false; BATCH];
        keys.blocks(band.start..until, |block| {
            filter.remove_hash_batch(block, &mut removed[..block.len()]);
        });
    };
    for _ in 0..iterations {
        if at + BLOCK as u64 > band.end {
            take_out(at);
            at = band.start;
        }
        time += group::timed(&keys.range(at..at + BLOCK as u64), &insert);
        at += BLOCK as u64;
    }
    take_out(at);
    time
}

fn inserts(criterion: &mut Criterion) {
    Cores::list().pin(1);
    let bytes = from_environment("GUIRA_MEGABYTES", 128) << 20;
    let capacity = capacity_for(bytes, Layout::Plain4x16) as u64;
    let filter = filter(capacity as usize, Layout::Plain4x16);
    let keys = Keys::new(1);
    let mut group = criterion.benchmark_group("insert");
    group::floors(&mut group, &Floor::new(bytes), &keys.range(0..1 << 20), BLOCK);
    let mut filled = 0;
    for ends in ENDS.windows(2) {
        let band = capacity * ends[0] / 100..capacity * ends[1] / 100;
        fill(&filter, keys, filled..band.start);
        filled = band.start;
        let name = format!("{}-{} % of capacity", ends[0], ends[1]);
        group.bench_function(BenchmarkId::new("batch", &name), |bencher| {
            bencher.iter_custom(|iterations| {
                run(&filter, keys, band.clone(), iterations, |block| {
                    filter.insert_hash_batch(block).expect("room");
                })
            });
        });
        group.bench_function(BenchmarkId::new("single", &name), |bencher| {
            bencher.iter_custom(|iterations| {
                run(&filter, keys, band.clone(), iterations, |block| {
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
