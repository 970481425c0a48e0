//! Helpers that several test crates share.

#![allow(
    dead_code,
    unused_macros,
    unused_imports,
    reason = "every test crate uses a part of these"
)]

pub mod chosen;
pub mod churn;
pub mod forge;
pub mod hashers;
pub mod maps;
pub mod operations;
pub mod oracle;
pub mod ping_pong;
pub mod races;
#[cfg(feature = "std")]
pub mod saved;
pub mod suite;

use std::{
    io::Write,
    sync::{
        Arc,
        atomic::{
            AtomicBool,
            Ordering::{Acquire, Release},
        },
    },
    thread::{self, Thread},
    time::{Duration, Instant},
};

use guira::{
    CuckooFilter, Filter, FilterBuilder, InsertBatchError, Layout,
    kind::{Fixed, Growing, Growth, Set},
    raw::{Addressing, Pair, Table},
};
use operations::Operations;
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestRunner};
use rand::{RngExt, SeedableRng, rngs::SmallRng};

/// The positions of the items of a batch that were not inserted.
pub fn positions(error: &InsertBatchError) -> Vec<usize> {
    error.failures().map(|(position, _)| position).collect()
}

/// What a property returns.
pub type Checked = Result<(), TestCaseError>;

/// Completes a builder with the hasher under test.
pub type Maker<S, E = Fixed> = fn(FilterBuilder<Set, E>) -> FilterBuilder<Set, E, S>;

/// What the tests have to know about an engine.
pub trait Subject: Growth + Send + Sync {
    /// The numbers of copies of one item that a segment takes: if the item's two buckets are the
    /// same one, and if they differ.
    fn copy_limits(layout: Layout) -> [usize; 2];
}

impl Subject for Fixed {
    fn copy_limits(layout: Layout) -> [usize; 2] {
        let slots = layout.slots_per_bucket() as usize;
        [slots, 2 * slots]
    }
}

impl Subject for Growing {
    fn copy_limits(layout: Layout) -> [usize; 2] {
        let slots = layout.slots_per_bucket() as usize;
        [slots.div_ceil(2), slots]
    }
}

/// The generator of this seed.
pub fn rng(seed: u64) -> SmallRng {
    SmallRng::seed_from_u64(seed)
}

/// The first in debug builds, which are ten times as slow; the second in release builds.
pub fn scaled<T>(debug: T, release: T) -> T {
    if cfg!(debug_assertions) { debug } else { release }
}

/// A runner of `cases` cases that are the same ones in every run.
pub fn runner(cases: u32, seed: u64) -> TestRunner {
    TestRunner::new(Config {
        cases,
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: None,
        ..Config::default()
    })
}

/// A filter of one table.
pub fn build<S: std::hash::BuildHasher>(
    make: Maker<S>,
    capacity: usize,
    layout: Layout,
    seed: u64,
) -> CuckooFilter<S> {
    build_on(make, capacity, layout, seed)
}

/// A filter of any engine, with this layout in its first segment.
pub fn build_on<E: Subject, S: std::hash::BuildHasher>(
    make: Maker<S, E>,
    capacity: usize,
    layout: Layout,
    seed: u64,
) -> Filter<Set, E, S> {
    // The target of a chain that can start with this layout.
    let target = (layout.false_positive_rate() * 4.0).max(0.001);
    let builder = Filter::<Set, E>::builder().capacity(capacity).layout(layout).seed(seed);
    make(builder.false_positive_rate(target)).build().expect("a small filter")
}

/// The smallest capacity for which the builder takes at least this many buckets (in the first
/// segment of a growing filter).
pub fn capacity_of(layout: Layout, buckets: usize) -> usize {
    let slots_per_bucket = layout.slots_per_bucket() as usize;
    let taken = |capacity: usize| {
        let filter = CuckooFilter::builder().capacity(capacity).layout(layout).seed(0);
        filter.build().expect("a small filter").slots() / slots_per_bucket
    };
    let (mut low, mut high) = (1, buckets * slots_per_bucket);
    while low < high {
        let middle = usize::midpoint(low, high);
        if taken(middle) < buckets { low = middle + 1 } else { high = middle }
    }
    low
}

/// An empty table with this many buckets.
pub fn table(buckets: u64, _seed: u64) -> Table {
    Table::new(Addressing::new(buckets), false).expect("a small table")
}

/// A pair that satisfies `wanted`, found by trying hashes.
pub fn find_pair(
    operations: Operations,
    table: &Table,
    rng: &mut SmallRng,
    wanted: &dyn Fn(Pair) -> bool,
) -> Pair {
    (0..10_000_000)
        .map(|_| (operations.pair)(table.addressing(), rng.random()))
        .find(|&pair| wanted(pair))
        .expect("such a pair exists")
}

/// Ends the process if it is not dropped in time: a deadlock fails instead of hanging.
pub struct Watchdog {
    thread: Thread,
    ended: Arc<AtomicBool>,
}

impl Watchdog {
    /// A watchdog for an ordinary test.
    pub fn new(test: &'static str) -> Self {
        Self::patient(test, Duration::from_secs(180))
    }

    /// A watchdog for a long test.
    pub fn patient(test: &'static str, patience: Duration) -> Self {
        let ended = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&ended);
        let watch = move || {
            let start = Instant::now();
            while !seen.load(Acquire) {
                let Some(left) = patience.checked_sub(start.elapsed()) else {
                    // Straight to the stream: what goes through `eprintln!` is captured, and lost.
                    let _ =
                        writeln!(std::io::stderr(), "{test}: no end after {patience:?}; deadlock?");
                    std::process::abort();
                };
                thread::park_timeout(left);
            }
        };
        Self { thread: thread::spawn(watch).thread().clone(), ended }
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.ended.store(true, Release);
        self.thread.unpark();
    }
}

/// Calls a generic function once for each layout on offer, `$L` being its type.
macro_rules! for_every_layout {
    ($function:ident($($argument:expr),*)) => {
        $function::<guira::raw::Plain<8, 8>>($($argument),*);
        $function::<guira::raw::Plain<6, 10>>($($argument),*);
        $function::<guira::raw::Plain<5, 12>>($($argument),*);
        $function::<guira::raw::Plain<4, 16>>($($argument),*);
        $function::<guira::raw::SemiSorted<6, 12>>($($argument),*);
        $function::<guira::raw::SemiSorted<5, 14>>($($argument),*);
        $function::<guira::raw::SemiSorted<4, 17>>($($argument),*);
        $function::<guira::raw::SemiSorted<3, 22>>($($argument),*);
    };
}
pub(crate) use for_every_layout;
