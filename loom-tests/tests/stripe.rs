//! A lone stripe: its lock excludes and publishes, and its version only grows.

use guira::raw::{Fingerprint, Stripes};
use guira_loom_tests::{check, spawn};
use loom::{cell::UnsafeCell, sync::Arc};

/// What the lock protects in the model.
struct Protected {
    stripes: Stripes,
    entries: UnsafeCell<usize>,
}

// SAFETY: `entries` is accessed only under the stripe's lock. loom checks this.
unsafe impl Sync for Protected {}

/// Catches a stripe whose lock does not exclude, or does not publish what was done under it.
#[test]
fn lock_excludes() {
    check("stripe_lock", 24, &["done"], |seen| {
        let shared = Arc::new(Protected {
            stripes: Stripes::new(2).expect("memory"),
            entries: UnsafeCell::new(0),
        });
        let fingerprint = Fingerprint::new(1);
        let enter = move |shared: &Protected| {
            let stripe = shared.stripes.of(fingerprint);
            let before = stripe.version();
            let guard = stripe.lock();
            // SAFETY: the lock is held. loom panics if another thread is in here.
            shared.entries.with_mut(|entries| unsafe { *entries += 1 });
            guard.bump();
            drop(guard);
            assert!(!stripe.validate(before), "validated a version that this thread has bumped");
        };
        let other = spawn(&shared, enter);
        enter(&shared);
        other.join().unwrap();
        // SAFETY: the other thread has been joined.
        assert_eq!(shared.entries.with(|entries| unsafe { *entries }), 2);
        seen.note("done");
    });
}

/// Catches bumps of two holders that count as one, and a version that decreases.
#[test]
fn version_only_grows() {
    check("stripe_version", 284, &["unchanged", "bumped"], |seen| {
        let stripes = Arc::new(Stripes::new(2).expect("memory"));
        let fingerprint = Fingerprint::new(1);
        let writers =
            [(); 2].map(|()| spawn(&stripes, move |stripes| stripes.of(fingerprint).lock().bump()));
        let stripe = stripes.of(fingerprint);
        let first = stripe.version();
        seen.note_if(stripe.validate(first), "unchanged", "bumped");
        for writer in writers {
            writer.join().unwrap();
        }
        stripe.lock().bump();
        assert_eq!(format!("{:?}", stripe.version()), "Version(3)");
    });
}
