//! Helpers that several test crates share.

#![allow(
    dead_code,
    unused_macros,
    unused_imports,
    reason = "every test crate uses a part of these"
)]

pub mod churn;
pub mod forge;
pub mod hashers;
pub mod oracle;
pub mod ping_pong;
pub mod races;
pub mod suite;

use std::{
    io::Write,
    sync::mpsc::{RecvTimeoutError, Sender, channel},
    thread,
    time::Duration,
};

use guira::{
    CuckooFilter, FilterBuilder, Fixed, Layout,
    raw::{Addressing, BucketLayout, Pair, Table},
};
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestRunner};
use rand::{RngExt, SeedableRng, rngs::SmallRng};

/// What a property returns.
pub type Checked = Result<(), TestCaseError>;

/// Completes a builder: the hasher under test is in there.
pub type Maker<S> = fn(FilterBuilder) -> FilterBuilder<Fixed, S>;

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

/// A filter with everything given.
pub fn build<S: std::hash::BuildHasher>(
    make: Maker<S>,
    capacity: usize,
    layout: Layout,
    seed: u64,
) -> CuckooFilter<S> {
    let builder = CuckooFilter::builder().capacity(capacity).layout(layout).seed(seed);
    make(builder).build().expect("a small filter")
}

/// The smallest capacity for which the builder takes at least this many buckets.
pub fn capacity_of(layout: Layout, buckets: usize) -> usize {
    let lanes = layout.slots_per_bucket() as usize;
    let taken = |capacity: usize| {
        let filter = CuckooFilter::builder().capacity(capacity).layout(layout).seed(0);
        filter.build().expect("a small filter").slots() / lanes
    };
    let (mut low, mut high) = (1, buckets * lanes);
    while low < high {
        let middle = usize::midpoint(low, high);
        if taken(middle) < buckets { low = middle + 1 } else { high = middle }
    }
    low
}

/// An empty core with this many buckets.
pub fn table(buckets: u64, seed: u64) -> Table {
    Table::new(Addressing::new(buckets), false).expect("a small table")
}

/// A pair that answers to `wanted`, found by trying hashes.
pub fn find_pair<L: BucketLayout>(
    table: &Table,
    rng: &mut SmallRng,
    wanted: impl Fn(Pair) -> bool,
) -> Pair {
    (0..10_000_000)
        .map(|_| core.addressing().pair::<L>(rng.random()))
        .find(|&pair| wanted(pair))
        .expect("such a pair exists")
}

/// Ends the process if it is not dropped in time: a deadlock fails instead of hanging.
pub struct Watchdog {
    _alive: Sender<()>,
}

impl Watchdog {
    /// A watchdog for an ordinary test.
    pub fn new(test: &'static str) -> Self {
        Self::patient(test, Duration::from_secs(180))
    }

    /// A watchdog for a long test.
    pub fn patient(test: &'static str, patience: Duration) -> Self {
        let (alive, ended) = channel();
        thread::spawn(move || {
            if ended.recv_timeout(patience) == Err(RecvTimeoutError::Timeout) {
                // Straight to the stream: what goes through `eprintln!` is captured, and lost.
                let _ = writeln!(std::io::stderr(), "{test}: no end after {patience:?}; deadlock?");
                std::process::abort();
            }
        });
        Self { _alive: alive }
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
