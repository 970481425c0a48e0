//! Expiring filters through their public methods.
#![cfg(not(feature = "semi-sorted"))]

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use guira::{ExpiringFilter, Layout};
use guira_loom_tests::check;
use loom::{sync::Arc, thread};

/// Returns a filter of one bucket with two slots. Items are found in the generation of their insert
/// and in the next one.
fn filter() -> Arc<ExpiringFilter> {
    let layout = Layout::with_values(2, 2).expect("a layout with stamps of two bits");
    let builder = ExpiringFilter::builder().capacity(1).window(1).layout(layout).seed(1);
    let filter = builder.build().expect("memory");
    assert_eq!(filter.slots(), 2);
    Arc::new(filter)
}

/// Runs one thread of a model.
fn spawn<R: 'static>(
    filter: &Arc<ExpiringFilter>,
    work: fn(&ExpiringFilter) -> R,
) -> thread::JoinHandle<R> {
    let filter = filter.clone();
    thread::spawn(move || work(&filter))
}

/// Catches an `insert_evicting` that takes an item of the generation that has just begun for one
/// that has expired: it reports that it replaced nothing.
#[test]
fn evicting_beside_an_advance() {
    check("evicting_advance", 1_000, &["found room", "replaced and was replaced", "replaced last"], |seen| {
        let filter = filter();
        let [first, second] = [1, 2].map(|hash| filter.by_hash().insert(hash).expect("room"));
        let evictor = spawn(&filter, |filter| filter.by_hash().insert_evicting(3));
        filter.advance();
        // Those who inserted them may remove them, because nothing has been replaced by this
        // thread. So the other one can find items of the new generation alone.
        let removed = [(1, first), (2, second)]
            .map(|(hash, generation)| filter.by_hash().remove(hash, generation));
        let replaced = [4, 5].map(|hash| filter.by_hash().insert_evicting(hash));
        let evicted = evictor.join().unwrap();
        let lost = replaced.into_iter().chain([evicted]).filter(|&replaced| replaced).count();
        let removed = removed.into_iter().filter(|&removed| removed).count();
        assert_eq!(filter.len(), 5 - removed - lost, "an item was replaced in silence");
        let is_left = filter.by_hash().contains(3);
        seen.note(match (evicted, is_left) {
            (false, _) => "found room",
            (true, false) => "replaced and was replaced",
            (true, true) => "replaced last",
        });
    });
}

/// Catches an `insert_evicting` that replaces an item of the present generation although an older
/// one is in the bucket.
#[test]
fn evicting_takes_the_oldest_beside_an_advance() {
    check("evicting_oldest", 100, &["before", "after"], |seen| {
        let filter = filter();
        let old = filter.by_hash().insert(1).expect("room");
        filter.advance();
        filter.by_hash().insert(2).expect("room");
        let evictor = spawn(&filter, |filter| filter.by_hash().insert_evicting(3));
        filter.advance();
        let evicted = evictor.join().unwrap();
        assert_eq!(filter.generation(), old + 2);
        assert!(filter.by_hash().contains(2), "a younger item was replaced");
        assert!(filter.by_hash().contains(3), "the new item is lost");
        seen.note_if(evicted, "before", "after");
    });
}

/// Catches advances that begin two generations although one of them waited for the other.
#[test]
fn advances_that_overlap_share_a_generation() {
    static SHARED: AtomicBool = AtomicBool::new(false);
    check("advances_overlap", 4, &["shared", "in turn"], |seen| {
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
