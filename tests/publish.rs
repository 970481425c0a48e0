//! A hit happens after the insert that it found: what the inserting thread wrote before is visible.
//!
//! On x86-64 the hardware guarantees this order. Under Miri
//! (`MIRIFLAGS=-Zmiri-disable-isolation cargo +nightly miri test --test publish`) accesses to
//! the cells are data races unless the filter's own orderings prevent them.

mod common;

use std::{
    cell::UnsafeCell,
    sync::atomic::{
        AtomicBool, AtomicUsize,
        Ordering::{Acquire, Relaxed, Release},
    },
    thread,
};

use common::{Watchdog, build, churn::StopOnPanic, hashers, kind::Sets, rng, settings};
use guira::{CuckooFilter, Layout};
use rand::RngExt;

/// Number of items to hand over.
const ITEMS: usize = if cfg!(miri) { 40 } else { 500 };
/// Number of keys that fill half of the filter.
const FILLERS: usize = 12;

/// Plain memory. A cell is written before its item is inserted, and read after the item is found.
struct Cells(Vec<UnsafeCell<u64>>);

// SAFETY: the tests read a cell only after a hit that happens after its only write.
unsafe impl Sync for Cells {}

impl Cells {
    fn new() -> Self {
        Self((0..ITEMS).map(|_| UnsafeCell::new(0)).collect())
    }

    fn write(&self, cell: usize) {
        // SAFETY: no thread reads this cell before the item is in the filter.
        unsafe { *self.0[cell].get() = cell as u64 + 1 };
    }

    fn check(&self, cell: usize) {
        // SAFETY: the caller has found the item, so its insert, and the write before it, happened
        // before.
        let value = unsafe { *self.0[cell].get() };
        assert_eq!(
            value,
            cell as u64 + 1,
            "the item is visible, but not the write before its insert"
        );
    }
}

/// Hands items from one thread to another through a filter alone, while a third thread makes
/// inserts relocate them. `find` is the operation that finds an item.
fn hand_over(find: impl Fn(&CuckooFilter, &u64) -> bool + Sync) {
    let _watchdog = Watchdog::new("hand_over");
    let layout = Layout::Plain4x16;
    let filter = build::<Sets, _>(hashers::default, 6, layout, 6);
    // An alias among the fillers would be found before the item is inserted.
    let keys = distinct_keys(&filter);
    let (fillers, items) = keys.split_at(FILLERS);
    for key in fillers {
        filter.insert(key).expect("the filter is half full");
    }
    let (cells, found, stop) = (Cells::new(), AtomicUsize::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            let _stop = StopOnPanic(&stop);
            for (item, key) in items.iter().enumerate() {
                // Relaxed: this must not order the reader's accesses before the next write.
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
                // `find` may have removed it.
                filter.remove(key);
                found.store(item + 1, Relaxed);
            }
            stop.store(true, Release);
        });
        scope.spawn(|| relocate(&filter, fillers, &stop));
    });
}

/// Inserts and removes copies of the fillers, so that items are relocated.
fn relocate(filter: &CuckooFilter, fillers: &[u64], stop: &AtomicBool) {
    let _stop = StopOnPanic(stop);
    let mut rng = rng(60);
    while !stop.load(Acquire) {
        let keys = [(); 9].map(|()| fillers[rng.random_range(0..fillers.len())]);
        let inserted: Vec<u64> =
            keys.into_iter().filter(|key| filter.insert(key).is_ok()).collect();
        assert!(inserted.iter().all(|key| filter.remove(key)));
    }
}

/// Returns `FILLERS` keys and `ITEMS` more that are not aliases of these.
fn distinct_keys(like: &CuckooFilter) -> Vec<u64> {
    let filter =
        settings::<Sets>(like.capacity(), like.layout(), 6).build().expect("a small filter");
    let mut keys: Vec<u64> = (0..FILLERS as u64).collect();
    for key in &keys {
        filter.insert(key).expect("the filter is half full");
    }
    keys.extend((1_000..).filter(|key| !filter.contains(key)).take(ITEMS));
    keys
}

#[test]
fn contains_acquires_what_it_finds() {
    hand_over(CuckooFilter::contains);
}

#[test]
fn a_batch_acquires_what_it_finds() {
    hand_over(|filter, key| filter.contains_batch(&[*key], &mut [false]) == 1);
}

#[test]
fn remove_acquires_what_it_removes() {
    hand_over(CuckooFilter::remove);
}

#[test]
fn count_acquires_what_it_counts() {
    hand_over(|filter, key| filter.count(key) > 0);
}
