//! Expiring filters through their public methods.
#![cfg(not(feature = "semi-sorted"))]

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use guira::{ExpiringFilter, Layout};
use guira_loom_tests::{check, spawn};
use loom::sync::Arc;

/// Returns a filter of one bucket with two slots. Items are found in the generation of their insert
/// and in the next one.
fn filter() -> Arc<ExpiringFilter> {
    let layout = Layout::with_values(2, 2).expect("a layout with stamps of two bits");
    let builder = ExpiringFilter::builder().capacity(1).window(1).layout(layout).seed(1);
    let filter = builder.build().expect("memory");
    assert_eq!(filter.slots(), 2);
    Arc::new(filter)
}

/// Catches advances that begin two generations although one of them waited for the other.
#[test]
fn advances_that_overlap_share_a_generation() {
    static SHARED: AtomicBool = AtomicBool::new(false);
    check("advances_overlap", 14, &["shared", "in turn"], |seen| {
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
