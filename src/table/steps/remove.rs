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
    #[expect(
        clippy::inline_always,
        reason = "the item would be stored before the lock is acquired"
    )]
    #[inline(always)]
    #[must_use]
    pub fn remove<L: Words<S>>(&self, item: S::Item) -> bool {
        // The caller has prefetched the words. They may still be on their way while the lock is
        // held: waiting for them first would make a removal take a tenth longer, and there are so
        // many stripes that hardly any other thread wants this one.
        let sought = L::sought(&self.space, &item);
        let guard = self.stripe::<L>(&item).lock();
        let removed = self.clear_one::<L>(&guard, &item, sought, None);
        drop(guard);
        if removed {
            self.space.count(-1);
        }
        removed
    }

    /// Replaces the value of one copy of an item that has the item's value, one that knows most.
    /// Returns whether there was one.
    #[expect(clippy::inline_always, reason = "as above")]
    #[inline(always)]
    #[must_use]
    pub fn replace<L: Words<S>>(&self, item: S::Item, new: u16) -> bool {
        let sought = L::sought(&self.space, &item);
        let guard = self.stripe::<L>(&item).lock();
        self.clear_one::<L>(&guard, &item, sought, Some(new))
    }

    /// Clears one slot that matches an item and has its value, or stores another value in it, under
    /// the lock. Returns whether there was one.
    #[expect(
        clippy::inline_always,
        reason = "a call takes a sixth of the instructions of a removal from a map"
    )]
    #[inline(always)]
    pub(in crate::table) fn clear_one<L: Words<S>>(
        &self,
        guard: &StripeGuard,
        item: &S::Item,
        sought: L::Sought,
        value: Option<u16>,
    ) -> bool {
        let words = self.space.load_both_to_change(item);
        let Some(found) = L::changed(&self.space, item, sought, words, value) else { return false };
        guard.bump();
        self.try_change(found) || self.clear_again::<L>(guard, *item, sought, value)
    }

    /// The rest of `clear_one`, if another thread has changed the word meanwhile. (By a reference to
    /// the item, it would be stored before the lock is acquired.)
    #[cold]
    fn clear_again<L: Words<S>>(
        &self,
        _guard: &StripeGuard,
        item: S::Item,
        sought: L::Sought,
        value: Option<u16>,
    ) -> bool {
        loop {
            // Both locations are found again, since the bucket may have been split.
            let words = self.space.load_both_to_change(&item);
            let found = L::changed(&self.space, &item, sought, words, value);
            if self.try_change(found.expect("only the holder of its stripe clears a slot")) {
                return true;
            }
        }
    }

    /// Replaces a word by another one, unless it has changed.
    #[inline]
    fn try_change(&self, (Seen { bucket, word }, new): (Seen, u64)) -> bool {
        // Release: pairs with the Acquire of whoever loads the word: a lookup that sees the slot
        // cleared sees the version bumped. Relaxed on failure: the words are loaded again.
        self.space.bucket(bucket).compare_exchange(word, new, Release, Relaxed).is_ok()
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
    pub(in crate::table) fn change_slot<L: Words<S>>(
        &self,
        _guard: &StripeGuard,
        Seen { bucket, mut word }: Seen,
        slot: u32,
        new: Option<u32>,
    ) -> Result<(), Gone> {
        let level = S::level(word);
        // A slot has a meaning at one level only.
        while S::level(word) == level {
            let Some(changed) = L::with_changed(&self.space, word, slot, new) else {
                assert!(self.clock.sweeps(), "only the holder of its stripe clears a slot");
                return Err(Gone::Swept);
            };
            // Release: pairs with the Acquire of whoever loads the word: a lookup that sees the
            // slot cleared sees the version bumped. It also publishes an incoming item. Relaxed on
            // failure: the word is looked at again.
            match self.space.bucket(bucket).compare_exchange(word, changed, Release, Relaxed) {
                Ok(()) => return Ok(()),
                Err(now) => word = now,
            }
        }
        Err(Gone::Split)
    }
}
