//! Removal, and the step that clears a slot, which moves use too.

use core::hint::select_unpredictable;

use super::{Clock, Pair, Payload, StripeGuard, Table};
use crate::{
    bucket::{BucketLayout, Fingerprint},
    sync::{Acquire, Relaxed, Release},
};

impl<P: Payload> Table<P> {
    /// Removes one copy of the pair's fingerprint. Returns whether there was one.
    #[inline]
    #[must_use]
    pub fn remove<L: BucketLayout>(&self, pair: Pair) -> bool {
        // The caller has prefetched the words. They may still be on their way while the lock is
        // held: waiting for them first would make a removal take a tenth longer, and there are so
        // many stripes that hardly any other thread wants this one.
        // mutant: remove-no-lock
        // mutant: remove-wrong-lock
        let guard = self.stripe(pair.fingerprint).lock();
        self.remove_locked::<L>(&guard, pair)
    }

    /// Removes one copy of the pair's fingerprint under its lock.
    #[inline]
    pub(crate) fn remove_locked<L: BucketLayout>(&self, guard: &StripeGuard, pair: Pair) -> bool {
        self.clear_one::<L>(guard, pair, None)
    }

    /// Clears one copy of the pair's fingerprint, or replaces it by `incoming`, under its lock.
    /// Returns whether there was one.
    #[inline]
    pub(super) fn clear_one<L: BucketLayout>(
        &self,
        guard: &StripeGuard,
        pair: Pair,
        incoming: Option<Fingerprint>,
    ) -> bool {
        let pattern = L::pattern(pair.fingerprint);
        let [first, second] = pair.buckets;
        // Acquire: pairs with the Release of `try_add`, so that the removal happens after the
        // insert of a copy that it found, also if that is an alias. (It cannot know which copy it
        // takes.)
        let [first_word, second_word] = self.both(pair).map(|word| word.load_to_change(Acquire));
        let in_first = L::contains(first_word, pattern);
        if !(in_first | L::contains(second_word, pattern)) {
            return false;
        }
        // No branch: the words may still be on their way from memory. A misprediction would be
        // discovered only when they arrive, and would discard the work begun meanwhile on later
        // operations.
        let bucket = select_unpredictable(in_first, first, second);
        let word = select_unpredictable(in_first, first_word, second_word);
        // mutant: remove-no-bump, remove-late-bump, remove-bump-relaxed
        guard.bump();
        // mutant: remove-clear-relaxed, remove-not-cleared, remove-by-key
        self.clear_slot::<L>(guard, bucket, word, pattern, incoming)
    }

    /// Clears a slot that holds a fingerprint, or stores the incoming one in it. Returns `false` if
    /// the slot has been swept.
    ///
    /// The caller holds the fingerprint's stripe, has found it in this `word` of the bucket, and
    /// has bumped the version since, unless the slot has expired. So the fingerprint is still
    /// there, whatever else the word holds by now: any other thread that would clear it needs the
    /// same lock. Only a sweep does not, in a table whose slots expire.
    pub(super) fn clear_slot<L: BucketLayout>(
        &self,
        _guard: &StripeGuard,
        bucket: u32,
        mut word: u64,
        pattern: L::Pattern,
        incoming: Option<Fingerprint>,
    ) -> bool {
        loop {
            let new = match incoming {
                None => L::without(word, pattern),
                // mutant: clear-slot-drops-incoming
                Some(fingerprint) => L::replace(word, pattern, fingerprint),
            };
            let Some(new) = new else {
                assert!(P::Clock::SWEEPS, "only the holder of its stripe clears a fingerprint");
                return false;
            };
            // Release: pairs with the Acquire loads of `BothWords::load`: a lookup that sees the
            // slot cleared sees the version bumped. It also publishes an incoming fingerprint, as
            // in `try_add`. Relaxed on failure, as there.
            // mutant: clear-slot-plain-store
            match self.buckets.bucket(bucket).compare_exchange(word, new, Release, Relaxed) {
                Ok(()) => return true,
                // mutant: clear-slot-retry-drops-incoming
                Err(now) => word = now,
            }
        }
    }
}
