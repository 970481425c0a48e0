//! The stripe by itself: its lock excludes, and hands on what was done under it.

use guira::raw::{Fingerprint, Stripes};
use guira_loom_tests::check;
use loom::{cell::UnsafeCell, sync::Arc, thread};

/// Something that the lock protects in the model.
struct Protected {
    stripes: Stripes,
    entries: UnsafeCell<usize>,
}

// SAFETY: `entries` is touched only under the lock of the stripe; that this is so is what loom checks.
unsafe impl Sync for Protected {}

#[test]
fn its_lock_excludes() {
    check("stripe_lock", 24, &["done"], |seen| {
        let shared = Arc::new(Protected { stripes: Stripes::new(2), entries: UnsafeCell::new(0) });
        let fingerprint = Fingerprint::new(1);
        let enter = move |shared: &Protected| {
            let stripe = shared.stripes.of(fingerprint);
            let before = stripe.version();
            let held = stripe.lock();
            // SAFETY: the lock is held; loom panics where another thread is in here.
            shared.entries.with_mut(|entries| unsafe { *entries += 1 });
            held.bump();
            drop(held);
            assert!(!stripe.validate(before), "an advance of our own was not seen");
        };
        let other = {
            let shared = shared.clone();
            thread::spawn(move || enter(&shared))
        };
        enter(&shared);
        other.join().unwrap();
        // SAFETY: the other thread has been joined.
        assert_eq!(shared.entries.with(|entries| unsafe { *entries }), 2);
        seen.note("done");
    });
}

/// The advances of two holders are two, and a reader's epoch never goes back.
#[test]
fn its_epoch_only_grows() {
    check("stripe_epoch", 284, &["still", "advanced"], |seen| {
        let stripes = Arc::new(Stripes::new(2));
        let fingerprint = Fingerprint::new(1);
        let writers = [0, 1].map(|_| {
            let stripes = stripes.clone();
            thread::spawn(move || stripes.of(fingerprint).lock().bump())
        });
        let stripe = stripes.of(fingerprint);
        let first = stripe.version();
        seen.note_if(stripe.validate(first), "still", "advanced");
        for writer in writers {
            writer.join().unwrap();
        }
        stripe.lock().bump();
        assert_eq!(format!("{:?}", stripe.version()), "Epoch(3)");
    });
}
