//! A hit happens after the insert that it found: what the inserting thread wrote before is seen.
//!
//! On x86-64 the hardware keeps that order by itself; under Miri
//! (`MIRIFLAGS=-Zmiri-disable-isolation cargo +nightly miri test --test publish`) the stores to the
//! cells are races unless the filter's own orderings forbid them.

mod common;

use std::{
    cell::UnsafeCell,
    sync::atomic::{
        AtomicBool, AtomicUsize,
        Ordering::{Acquire, Relaxed, Release},
    },
    thread,
};

use common::{Watchdog, build, capacity_of, churn::StopOnPanic, hashers, rng};
use guira::{CuckooFilter, Layout};
use rand::RngExt;

/// Items to hand over.
const ITEMS: usize = if cfg!(miri) { 40 } else { 500 };

/// Plain memory, written before an item is inserted, and read after it was found.
struct Cells(Vec<UnsafeCell<u64>>);

// SAFETY: the tests read a cell only after a hit that happens after its only write.
unsafe impl Sync for Cells {}

impl Cells {
    fn new() -> Self {
        Self((0..ITEMS).map(|_| UnsafeCell::new(0)).collect())
    }

    fn write(&self, cell: usize) {
        // SAFETY: nobody reads this cell before the item is in the filter.
        unsafe { *self.0[cell].get() = cell as u64 + 1 };
    }

    fn check(&self, cell: usize) {
        // SAFETY: the caller has found the item, so its insert, and the write before, happened before.
        let value = unsafe { *self.0[cell].get() };
        assert_eq!(value, cell as u64 + 1, "found, but not what was written before");
    }
}

/// Hands items from one thread to another through a filter alone, in which another thread moves them
/// about meanwhile. `find` waits for an item to be found, by whatever operation.
fn hand_over(find: impl Fn(&CuckooFilter, &u64) -> bool + Sync) {
    let _watchdog = Watchdog::new("hand_over");
    let layout = Layout::Plain4x16;
    let filter = build(hashers::default, capacity_of(layout, 6), layout, 6);
    // No key may be mistaken for another: neither for one that is there to crowd the filter, nor for
    // the items before it.
    let keys = distinct_keys(&filter);
    let (crowd, items) = keys.split_at(12);
    for key in crowd {
        filter.insert(key).expect("half full");
    }
    let (cells, found, stop) = (Cells::new(), AtomicUsize::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            let _stop = StopOnPanic(&stop);
            for (item, key) in items.iter().enumerate() {
                // Relaxed: this must not publish anything the other way round.
                while found.load(Relaxed) < item {
                    if stop.load(Relaxed) {
                        return;
                    }
                    thread::yield_now();
                }
                cells.write(item);
                while filter.insert(key).is_err() {
                    thread::yield_now();
                }
            }
        });
        scope.spawn(|| {
            let _stop = StopOnPanic(&stop);
            for (item, key) in items.iter().enumerate() {
                while !find(&filter, key) {
                    if stop.load(Relaxed) {
                        return;
                    }
                    thread::yield_now();
                }
                cells.check(item);
                // It may have been taken out by having been found.
                filter.remove(key);
                found.store(item + 1, Relaxed);
            }
            stop.store(true, Release);
        });
        scope.spawn(|| jostle(&filter, crowd, &stop));
    });
}

/// Inserts and removes copies of items that are there, so that others must move.
fn jostle(filter: &CuckooFilter, crowd: &[u64], stop: &AtomicBool) {
    let _stop = StopOnPanic(stop);
    let mut rng = rng(60);
    while !stop.load(Acquire) {
        let keys = [(); 9].map(|()| crowd[rng.random_range(0..crowd.len())]);
        let fitted: Vec<u64> = keys.into_iter().filter(|key| filter.insert(key).is_ok()).collect();
        assert!(fitted.iter().all(|key| filter.remove(key)));
    }
}

/// Twelve keys and `ITEMS` more that are aliases of none of the twelve.
fn distinct_keys(like: &CuckooFilter) -> Vec<u64> {
    let twelve = build(hashers::default, like.capacity(), like.layout(), 6);
    let mut keys: Vec<u64> = (0..12).collect();
    for key in &keys {
        twelve.insert(key).expect("half full");
    }
    keys.extend((1_000..).filter(|key| !twelve.contains(key)).take(ITEMS));
    keys
}

#[test]
fn what_contains_finds_was_published() {
    hand_over(CuckooFilter::contains);
}

#[test]
fn what_a_batch_finds_was_published() {
    hand_over(|filter, key| filter.contains_batch(&[*key], &mut [false]) == 1);
}

#[test]
fn what_remove_takes_was_published() {
    hand_over(CuckooFilter::remove);
}

#[test]
fn what_count_counts_was_published() {
    hand_over(|filter, key| filter.count(key) > 0);
}
