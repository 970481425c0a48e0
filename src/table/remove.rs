//! Removal, replacement of a value, and the step that clears a slot, which moves use too.

use super::{Seen, Space, StripeGuard, Table, Words};
use crate::sync::{Relaxed, Release};

/// Why a slot was not changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gone {
    /// It was swept.
    Swept,
    /// Its bucket was split.
    Split,
}

impl<S: Space> Table<S> {
    /// Removes one copy of an item: of the slots that match it and have its value, one that knows
    /// most. Returns whether there was one.
    #[inline]
    #[must_use]
    pub fn remove<L>(&self, item: S::Item) -> bool
    where
        S: Words<L>,
    {
        // The caller has prefetched the words. They may still be on their way while the lock is
        // held: waiting for them first would make a removal take a tenth longer, and there are so
        // many stripes that hardly any other thread wants this one.
        // mutant: remove-no-lock, remove-wrong-lock
        let guard = self.stripe::<L>(&item).lock();
        // mutant: remove-by-key
        let removed = self.clear_one::<L>(&guard, &item, None);
        drop(guard);
        if removed {
            // mutant: split-remove-uncounted
            self.space.count(-1);
        }
        removed
    }

    /// Replaces the value of one copy of an item that has the item's value, one that knows most.
    /// Returns whether there was one.
    #[must_use]
    pub fn replace<L>(&self, item: S::Item, new: u16) -> bool
    where
        S: Words<L>,
    {
        // mutant: replace-no-lock, replace-wrong-lock
        let guard = self.stripe::<L>(&item).lock();
        // mutant: replace-load-relaxed, replace-no-bump, replace-late-bump, replace-bump-relaxed
        // mutant: replace-not-again, replace-plain-store, replace-clear-relaxed, replace-by-key
        // mutant: replace-not-stored
        self.clear_one::<L>(&guard, &item, Some(new))
    }

    /// Clears one slot that matches an item and has its value, or stores another value in it, under
    /// the lock. Returns whether there was one.
    #[inline]
    pub(super) fn clear_one<L>(
        &self,
        guard: &StripeGuard,
        item: &S::Item,
        value: Option<u16>,
    ) -> bool
    where
        S: Words<L>,
    {
        let mut bumped = false;
        loop {
            // Acquire, so that the removal happens after the insert of a copy that it found, also
            // if that is an alias. (It cannot know which copy it takes.)
            // mutant: remove-load-relaxed
            let words = self.space.load_both_to_change(item);
            let Some((Seen { bucket, word }, new)) = self.space.changed(item, words, value) else {
                debug_assert!(!bumped, "only the holder of its stripe clears a slot");
                return false;
            };
            // mutant: remove-no-bump, remove-late-bump
            if !bumped {
                // mutant: remove-bump-relaxed
                guard.bump();
                bumped = true;
            }
            // Release: pairs with the Acquire of whoever loads the word: a lookup that sees the
            // slot cleared sees the version bumped. Relaxed on failure: both locations are found
            // again, since the bucket may have been split.
            // mutant: remove-not-again, remove-plain-store, remove-clear-relaxed
            // mutant: remove-not-cleared
            if self.space.bucket(bucket).compare_exchange(word, new, Release, Relaxed).is_ok() {
                return true;
            }
        }
    }

    /// Clears a slot, or replaces it.
    ///
    /// The caller holds the slot's stripe, has found it in this word, and has bumped the version
    /// since, unless the slot has expired. So the slot is still there, whatever else the word holds
    /// by now, with two exceptions: the bucket may have been split, and slots that expire may have
    /// been swept.
    ///
    /// # Errors
    /// Why it is no longer there.
    #[inline]
    pub(super) fn change_slot<L>(
        &self,
        _guard: &StripeGuard,
        Seen { bucket, mut word }: Seen,
        slot: u32,
        new: Option<u32>,
    ) -> Result<(), Gone>
    where
        S: Words<L>,
    {
        let level = S::level(word);
        // A slot has a meaning at one level only.
        // mutant: change-level-ignored
        while S::level(word) == level {
            // mutant: change-drops-new
            let Some(changed) = S::with_changed(word, slot, new) else {
                assert!(Self::SWEEPS, "only the holder of its stripe clears a slot");
                return Err(Gone::Swept);
            };
            // Release: pairs with the Acquire of whoever loads the word: a lookup that sees the
            // slot cleared sees the version bumped. It also publishes an incoming item. Relaxed on
            // failure: the word is looked at again.
            // mutant: change-plain-store
            match self.space.bucket(bucket).compare_exchange(word, changed, Release, Relaxed) {
                Ok(()) => return Ok(()),
                // mutant: change-retry-drops-new
                Err(now) => word = now,
            }
        }
        Err(Gone::Split)
    }
}
