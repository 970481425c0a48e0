//! Expiring filters through their public methods.
#![cfg(not(feature = "semi-sorted"))]

use std::{
    sync::atomic::{AtomicBool, Ordering::SeqCst},
    time::Duration,
};

use guira::{
    ExpiringFilter, FilterBuilder, Layout,
    kind::{Expiring, Fixed},
};
use guira_loom_tests::{check, spawn, spawn_deep};
use loom::sync::Arc;

/// Returns a filter of one bucket with two slots. Items are found in the generation of their insert
/// and in the next one.
fn filter() -> Arc<ExpiringFilter> {
    let filter = builder().build().expect("memory");
    assert_eq!(filter.slots(), 2);
    Arc::new(filter)
}

fn builder() -> FilterBuilder<Expiring, Fixed> {
    let layout = Layout::with_values(2, 2).expect("a layout with stamps of two bits");
    ExpiringFilter::builder().capacity(1).window(1).layout(layout).seed(1)
}

/// Catches advances that begin two generations although one of them waited for the other.
#[test]
fn advances_that_overlap_share_a_generation() {
    static SHARED: AtomicBool = AtomicBool::new(false);
    check("advances_overlap", 35, &["shared", "in turn"], |seen| {
        let filter = filter();
        let start = filter.generation();
        let other = spawn(&filter, ExpiringFilter::advance);
        let this = filter.advance();
        let other = other.join().unwrap();
        assert_eq!(filter.generation(), this.max(other), "a generation that nobody returned");
        assert!(this > start && other > start, "a call began no generation");
        if seen.note_if(this == other, "shared", "in turn") {
            SHARED.store(true, SeqCst);
        } else {
            assert_eq!(this + other, 2 * start + 3);
        }
    });
    assert!(SHARED.load(SeqCst), "no two calls shared a generation");
}

/// Returns a filter whose next generation is due at a reading of 10.
fn due_at_ten() -> Arc<ExpiringFilter> {
    let filter = builder().time_to_live(Duration::from_nanos(10)).build().expect("memory");
    assert_eq!(filter.tick_by(|| Duration::ZERO), None);
    Arc::new(filter)
}

/// Calls `tick` at a reading of 10.
fn tick_at_ten(filter: &ExpiringFilter) -> Option<u64> {
    filter.tick_by(|| Duration::from_nanos(10))
}

/// Catches a `tick` that begins a second generation when `advance` has begun the one that was due.
#[test]
fn tick_beside_an_advance() {
    check("tick_advance", 48, &["ticked", "not due"], |seen| {
        let filter = due_at_ten();
        let start = filter.generation();
        let ticker = spawn(&filter, tick_at_ten);
        assert!(filter.advance() > start, "the call began no generation");
        let begun = ticker.join().unwrap();
        assert!(begun.is_none_or(|generation| generation == start + 1), "a generation was skipped");
        seen.note_if(begun.is_some(), "ticked", "not due");
    });
}

/// Catches two calls of `tick` that both begin a generation.
#[test]
fn two_ticks() {
    check("two_ticks", 310, &["this", "other"], |seen| {
        let filter = due_at_ten();
        let start = filter.generation();
        let other = spawn(&filter, tick_at_ten);
        let this = tick_at_ten(&filter);
        let other = other.join().unwrap();
        let begun = filter.generation() - start;
        assert_eq!(begun, u64::from(this.is_some()) + u64::from(other.is_some()));
        assert_eq!(begun, 1, "one interval passed");
        seen.note_if(this.is_some(), "this", "other");
    });
}

/// Catches a snapshot that waits for a `tick` while the `tick` waits for it.
#[test]
fn snapshot_beside_a_tick() {
    check("snapshot_tick", 115, &["before", "after"], |seen| {
        let filter = due_at_ten();
        let start = filter.generation();
        let saver = spawn_deep(&filter, ExpiringFilter::to_bytes);
        assert_eq!(tick_at_ten(&filter), Some(start + 1));
        let bytes = saver.join().unwrap();
        let load = move |_: &ExpiringFilter| ExpiringFilter::loader().bytes(&bytes);
        let copy = spawn_deep(&filter, load).join().unwrap().expect("its own bytes");
        seen.note_if(copy.generation() == start, "before", "after");
        // The generation of the copy may be counted from its beginning on, and no earlier.
        let again = copy.tick_by(|| Duration::from_nanos(19));
        assert!(again.is_none() || copy.generation() == start + 1, "a generation was too short");
    });
}
