//! Merging: adding the copies of another chain, all of them or none.
//!
//! The other chain is copied first, as a clone is. Then each fingerprint of the copy is inserted
//! into a segment of this chain, while nothing else is held. See `table/merge.rs` for what is the
//! same in a table, and "Merging" in `chain/mod.rs` for the argument.

use super::{Chain, Entries, Segment, coarse::Known, entries::with_layout_of};
use crate::{
    InsertError,
    bucket::{with_layout, with_valued_layout},
    sync::full_fence,
    table::{Addressing, Merged, Nested, Pair, StripeGuard},
};

/// The segments of a chain in which an item's pair is known, from the first to the finest.
fn coarse_enough<'a, V: Entries>(
    segments: impl DoubleEndedIterator<Item = &'a Segment<V>> + ExactSizeIterator + Clone,
    known: &Known<V>,
) -> impl DoubleEndedIterator<Item = &'a Segment<V>> + ExactSizeIterator + Clone {
    let is_coarse = |segment: &&Segment<V>| segment.is_determined_by(&known.finest);
    let count = segments.clone().take_while(is_coarse).count();
    segments.take(count)
}

impl<V: Entries> Chain<V> {
    /// Adds all copies of another chain, or none. `limit` is the largest number of copies of an
    /// item, if there is one.
    ///
    /// The fingerprints and the buckets of the first segments must be the same, and the hashes of
    /// items mixed alike. The other segments may differ.
    ///
    /// # Panics
    /// If the first segments differ.
    pub fn merge(&self, other: &Self, limit: Option<usize>) -> Merged {
        assert_eq!(self.first(), other.first(), "the first segments differ");
        let Some((copy, items)) = other.try_clone() else { return Merged::out_of_memory() };
        // mutant: chain-merge-holds-stripes
        let clears = self.stripes.clears();
        Merged::all_or_none(
            items,
            |each| copy.for_each_copy(each),
            |finest, pair| self.insert_known(limit, &Known { finest, pair }),
            |finest, pair| self.undo_known(clears, &Known { finest, pair }),
        )
    }

    /// Calls `each` with the segments and the pairs of all fingerprints until it returns `false`.
    /// Meanwhile no other thread may use the chain.
    ///
    /// The first segment comes first: its fingerprints fit into the fewest segments of the chain to
    /// which they are added.
    fn for_each_copy(&self, each: &mut dyn FnMut(Addressing<Nested<V>>, Pair) -> bool) {
        let mut go_on = true;
        let mut segments = self.segments();
        while let Some(segment) = segments.next().filter(|_| go_on) {
            let each = |pair: Pair| {
                go_on = each(*segment.addressing(), pair);
                go_on
            };
            with_layout_of!(V, segment.layout(), L => segment.table().for_each_copy::<L>(each));
        }
    }

    /// Adds a copy to a segment in which the item's pair is known: where there is an empty slot,
    /// the finest one first. Otherwise makes room in the finest one, appends a segment, or makes
    /// room in the others, whichever is possible first.
    ///
    /// # Errors
    /// `TooManyCopies` if there are `limit` copies, or if copies of the item take half of its slots
    /// in the last segment and there is no room in another one. `OutOfMemory` if there is no room,
    /// and the system refuses the memory for another segment. `Full` if there is no room.
    fn insert_known(&self, limit: Option<usize>, known: &Known<V>) -> Result<(), InsertError> {
        if limit.is_some_and(|limit| self.may_hold(limit, known)) {
            return Err(InsertError::TooManyCopies);
        }
        loop {
            let all = self.segments();
            let (count, coarse) = (all.len(), coarse_enough(all, known));
            // If all segments are coarse enough, the next one to be appended may be, too.
            let is_last = coarse.len() == count;
            let mut segments = coarse.rev();
            let finest = segments.next().expect("every segment determines the first one");
            // mutant: chain-merge-relaxed
            let added = if is_last {
                finest.add_known_in_place_up_to_half(known)
            } else {
                Ok(finest.add_known_in_place(known))
            };
            // mutant: chain-merge-rest-relaxed
            if added == Ok(true) || segments.clone().any(|segment| segment.add_known(known)) {
                return Ok(());
            }
            let outcome = added.and_then(|_| finest.insert_known_by_relocating(known));
            if outcome.is_ok() {
                return Ok(());
            }
            let mut appended = Ok(false);
            // mutant: chain-merge-no-append
            if is_last {
                appended = self.append_known(count, known);
            }
            if appended == Ok(true) {
                continue;
            }
            if segments.any(|segment| segment.insert_known_by_relocating(known).is_ok()) {
                return Ok(());
            }
            return appended.and(outcome);
        }
    }

    /// Appends the segment with this number if the item's pair would be known there, and if the
    /// limit on bytes allows it. Returns whether it exists.
    ///
    /// # Errors
    /// `OutOfMemory`.
    fn append_known(&self, number: usize, known: &Known<V>) -> Result<bool, InsertError> {
        let would_be_known = number < self.plan.len()
            && self.plan.addressing(number).is_determined_by(&known.finest);
        if !would_be_known {
            return Ok(false);
        }
        match self.append(number) {
            Err(InsertError::Full) => Ok(false),
            outcome => outcome.map(|()| true),
        }
    }

    /// Returns whether an insert must be refused because of a limit. The item to be inserted may be
    /// any item that has the known pair in the segment where that pair is known. So the copies of
    /// all of these items count.
    #[cold]
    fn may_hold(&self, limit: usize, known: &Known<V>) -> bool {
        // As in `holds`, but always under the lock. Merges with a limit are rare.
        full_fence();
        // mutant: chain-merge-limit-no-lock
        let _guard = self.lock_known(known);
        // mutant: chain-merge-limit-last-only
        let count: usize = self.segments().map(|segment| segment.count_possible(known)).sum();
        count >= limit
    }

    /// Removes a copy that matches the item where its pair is known, unless the chain was cleared
    /// since the merge began. Returns whether a copy was removed.
    fn undo_known(&self, clears: u64, known: &Known<V>) -> bool {
        // mutant: chain-merge-undo-no-lock
        let guard = self.lock_known(known);
        // From the finest of these segments: see "Merging" in `chain/mod.rs`.
        // mutant: chain-merge-undo-from-first
        // mutant: chain-merge-undo-no-bump, chain-merge-undo-despite-clear
        coarse_enough(self.segments(), known).rev().any(|s| s.undo_known(&guard, clears, known))
    }

    /// Locks the stripe of an item.
    fn lock_known(&self, known: &Known<V>) -> StripeGuard<'_> {
        let stripe = known.finest.stripe_fingerprint(known.pair.fingerprint);
        self.stripes.of(stripe).lock()
    }
}
