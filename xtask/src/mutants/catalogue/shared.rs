//! Mutants of what several operations share: probes, stripes, locks, and the number of items.

use super::super::change::{
    Change::{Before, Condition, Delete, Instead},
    Fault, fault,
};

/// Why two mutants survive.
const OWN_PROBE: &str =
    "semi-sorted words have a probe of their own, which `tests/buckets.rs` checks";

pub(super) const FAULTS: &[Fault] = &[
    fault(
        "probe-first-only",
        "the second word is not probed",
        Instead("Self::contains(words[0], pattern)"),
    )
    .survives_in_semi_sorted_words(OWN_PROBE),
    fault(
        "probe-second-only",
        "the first word is not probed",
        Instead("Self::contains(words[1], pattern)"),
    )
    .survives_in_semi_sorted_words(OWN_PROBE),
    fault(
        "bump-same-version",
        "a bump stores the version that it read",
        Instead(
            "{
                 // For the mutants that take another stripe's lock.
                 impl Stripes {
                     pub(crate) fn under_another_lock(&self, of: &Stripe) -> StripeGuard<'_> {
                         let stripes = &self.stripes;
                         let is_it = |stripe: &Stripe| core::ptr::eq(stripe, of);
                         let number = stripes.iter().position(is_it).unwrap();
                         let other = &stripes[(number + 1) % stripes.len()];
                         StripeGuard { stripe: &stripes[number], _guard: other.lock()._guard }
                     }

                     pub(crate) fn another(&self, than: &Stripe) -> &Stripe {
                         let is_it = |stripe: &Stripe| core::ptr::eq(stripe, than);
                         let number = self.stripes.iter().position(is_it).unwrap();
                         &self.stripes[(number + 1) % self.stripes.len()]
                     }
                 }
                 self.version.store(version, Release)
             }",
        ),
    ),
    fault(
        "lock-skipped",
        "no stripe's lock is taken",
        // A lock that no other thread knows.
        Instead("LockGuard(Box::leak(Box::new(sync::Mutex::new(()))).lock().unwrap())"),
    ),
    fault(
        "all-but-one-lock",
        "whoever takes all locks takes all but one",
        Instead("self.stripes[1..].iter().map(Stripe::lock)"),
    ),
    fault(
        "locks-in-no-order",
        "whoever takes all locks takes them in no fixed order",
        Before(
            "use std::sync::atomic::{AtomicBool, Ordering};
             static TURN: AtomicBool = AtomicBool::new(false);
             if TURN.fetch_xor(true, Ordering::Relaxed) {
                 let guards = self.stripes.iter().rev().map(Stripe::lock);
                 return AllStripes { stripes: self, guards: guards.collect() };
             }",
        ),
    ),
    fault(
        "lock-refused-opens",
        "a thread that does not get the lock opens it",
        Instead("{ let guard = $; guard.or_else(|| { drop(LockGuard(self)); None }) }"),
    ),
    // The number of items.
    fault("insert-uncounted", "`insert` does not count the item", Delete),
    fault(
        "unique-counts-always",
        "`insert_unique` counts an item that it did not add",
        Condition("true"),
    ),
    fault(
        "remove-counts-always",
        "`remove` counts an item that it did not remove",
        Condition("true"),
    ),
    fault("clear-uncounted", "`clear` does not count what it removes", Delete),
    fault(
        "tally-load-store",
        "the number of items changes by a load and a store",
        // The load is a read-modify-write for the sake of loom, as in `load_to_change`.
        Instead(
            "{ let old = self.0.fetch_add(0, Relaxed); self.0.store(old + change, Relaxed); old }",
        ),
    ),
    fault(
        "tally-owned-by-two",
        "a thread that owns no shard changes one as its owner does",
        Instead("self.shards[number & (self.shards.len() - 1)].owned.add_alone(change)"),
    ),
    fault(
        "lease-twice",
        "a number is leased by a load and a store",
        // The load is a read-modify-write, as above.
        Instead(
            "match place.fetch_or(0, Relaxed) {
                 0 => { place.store(owner.get(), Relaxed); Ok(0) }
                 other => Err(other),
             }",
        ),
    ),
];
