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
#[cfg(guira_steps)]
pub mod halting;
pub mod hashers;
pub mod items;
pub mod kind;
pub mod oracle;
pub mod races;
#[cfg(feature = "std")]
pub mod saved;
pub mod suite;
pub mod table;

use std::{
    hash::BuildHasher,
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
    Filter, FilterBuilder, InsertBatchError, Layout, Shrinking,
    kind::{Contents, Fixed, Growing, Growth},
};
use kind::{BuilderOf, Kind, Maker, Of, Sets, new};
use proptest::test_runner::{Config, RngSeed, TestRunner};
use rand::{SeedableRng, rngs::SmallRng};

/// The positions of the items of a batch that were not inserted.
pub fn positions(error: &InsertBatchError) -> Vec<usize> {
    error.failures().map(|(position, _)| position).collect()
}

/// What the tests have to know about an engine.
pub trait Subject: Growth + Send + Sync {
    /// Whether a filter grows instead of being full.
    const GROWS: bool;

    /// The layouts of sets.
    const LAYOUTS: &'static [Layout];

    /// The numbers of copies of one item that a table takes: if the item's two buckets are the
    /// same one, and if they differ. In a table that splits: the fewest that can be too many, and
    /// the most that there can be.
    fn copy_limits(layout: Layout) -> [usize; 2];

    /// The same if nothing else is in the filter.
    fn copy_limits_alone(layout: Layout) -> [usize; 2] {
        Self::copy_limits(layout)
    }

    /// Sets the number of items up to which a filter grows, if it does.
    fn up_to<C: Contents, S>(
        items: usize,
        builder: FilterBuilder<C, Self, S>,
    ) -> FilterBuilder<C, Self, S>
    where
        Self: Sized;

    /// Sets or removes the cap on the memory of a filter that grows.
    fn set_max_bytes<C: Contents, S>(filter: &Filter<C, Self, S>, max_bytes: Option<usize>)
    where
        Self: Sized;

    /// Shrinks a filter that grows. Returns the number of bytes that this released.
    fn shrink<C: Contents, S>(filter: &mut Filter<C, Self, S>) -> usize
    where
        Self: Sized;

    /// As above, in calls of a few steps.
    fn shrink_in_steps<C: Contents, S>(filter: &mut Filter<C, Self, S>)
    where
        Self: Sized;
}

impl Subject for Fixed {
    const GROWS: bool = false;
    const LAYOUTS: &'static [Layout] = Layout::ALL;

    fn copy_limits(layout: Layout) -> [usize; 2] {
        let slots = layout.slots_per_bucket() as usize;
        [slots, 2 * slots]
    }

    fn up_to<C: Contents, S>(
        _items: usize,
        builder: FilterBuilder<C, Self, S>,
    ) -> FilterBuilder<C, Self, S> {
        builder
    }

    fn set_max_bytes<C: Contents, S>(_filter: &Filter<C, Self, S>, _max_bytes: Option<usize>) {}

    fn shrink<C: Contents, S>(_filter: &mut Filter<C, Self, S>) -> usize {
        0
    }

    fn shrink_in_steps<C: Contents, S>(_filter: &mut Filter<C, Self, S>) {}
}

impl Subject for Growing {
    const GROWS: bool = true;
    const LAYOUTS: &'static [Layout] = Layout::GROWING;

    fn copy_limits(layout: Layout) -> [usize; 2] {
        let slots = layout.slots_per_bucket() as usize;
        [slots.div_ceil(2), 2 * slots]
    }

    fn copy_limits_alone(layout: Layout) -> [usize; 2] {
        Fixed::copy_limits(layout)
    }

    fn up_to<C: Contents, S>(
        items: usize,
        builder: FilterBuilder<C, Self, S>,
    ) -> FilterBuilder<C, Self, S> {
        builder.max_capacity(items)
    }

    fn set_max_bytes<C: Contents, S>(filter: &Filter<C, Self, S>, max_bytes: Option<usize>) {
        filter.set_max_bytes(max_bytes);
    }

    fn shrink<C: Contents, S>(filter: &mut Filter<C, Self, S>) -> usize {
        shrink(filter)
    }

    fn shrink_in_steps<C: Contents, S>(filter: &mut Filter<C, Self, S>) {
        let (mut slots, slots_per_bucket) = (filter.slots(), filter.layout().slots_per_bucket());
        while filter.shrink_step(70) == Shrinking::Unfinished {
            let released = slots - filter.slots();
            assert!(released <= 70 * slots_per_bucket as usize, "{released} slots in 70 steps");
            slots = filter.slots();
        }
    }
}

/// The generator of this seed.
pub fn rng(seed: u64) -> SmallRng {
    SmallRng::seed_from_u64(seed)
}

/// The first size, or the second one if `GUIRA_THOROUGH` is set, as `.ci/slow` does. Debug builds
/// are ten times as slow, and take the first one.
pub fn scaled<T>(quick: T, thorough: T) -> T {
    let is_thorough = !cfg!(debug_assertions) && std::env::var_os("GUIRA_THOROUGH").is_some();
    if is_thorough { thorough } else { quick }
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

/// A builder of a kind of filter, with this layout.
pub fn settings<K: Kind>(capacity: usize, layout: Layout, seed: u64) -> BuilderOf<K> {
    // A table that splits keeps the rate that its layout has in the end.
    let target = layout.false_positive_rate() * 4.0;
    let builder = new::<K>().capacity(capacity).layout(layout);
    let builder = if K::GROWS { builder } else { builder.false_positive_rate(target) };
    K::settings(builder.seed(seed), layout, seed)
}

/// A filter of a kind with at least this many buckets (at first, if it grows).
pub fn build<K: Kind, S: BuildHasher>(
    make: Maker<K, S>,
    buckets: usize,
    layout: Layout,
    seed: u64,
) -> Of<K, S> {
    let capacity = capacity_of_kind::<K>(layout, buckets);
    make(settings::<K>(capacity, layout, seed)).build().expect("a small filter")
}

/// As below, for sets.
pub fn capacity_of(layout: Layout, buckets: usize) -> usize {
    capacity_of_kind::<Sets>(layout, buckets)
}

/// The smallest capacity for which the builder takes at least this many buckets (at first, if the
/// filter grows).
pub fn capacity_of_kind<K: Kind>(layout: Layout, buckets: usize) -> usize {
    let slots_per_bucket = layout.slots_per_bucket() as usize;
    let taken = |capacity: usize| {
        let filter = settings::<K>(capacity, layout, 0).build().expect("a small filter");
        filter.slots() / slots_per_bucket
    };
    let (mut low, mut high) = (1, buckets * slots_per_bucket);
    while low < high {
        let middle = usize::midpoint(low, high);
        if taken(middle) < buckets { low = middle + 1 } else { high = middle }
    }
    low
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

/// Calls a function with the words of each layout of sets that grow.
macro_rules! for_every_growing_layout {
    ($function:ident($($argument:expr),*)) => {
        $function(&guira::raw::Leveled::new(5, 6, 0) $(, $argument)*);
        $function(&guira::raw::Leveled::new(4, 7, 0) $(, $argument)*);
        $function(&guira::raw::Leveled::new(3, 8, 0) $(, $argument)*);
        $function(&guira::raw::Leveled::new(2, 8, 0) $(, $argument)*);
    };
}
pub(crate) use for_every_growing_layout;

/// Releases all memory that a filter does not need. Returns the number of bytes.
pub fn shrink<C: Contents, S>(filter: &mut Filter<C, Growing, S>) -> usize {
    let before = filter.size_in_bytes();
    assert_ne!(filter.shrink_step(u64::MAX), Shrinking::Unfinished);
    before - filter.size_in_bytes()
}
