//! The steps of the chain's protocol: each operation over all segments.

use super::{Chain, Entries, Segment};
use crate::{
    InsertError,
    bucket::Fingerprint,
    sync::full_fence,
    table::{Addition, BothWords, Fastest, Pair, RelocationCount},
};

impl<V: Entries> Chain<V> {
    /// Prefetches what an insert reads first.
    #[inline]
    pub(crate) fn prefetch_last(&self, mixed: u64) {
        self.last_and_rest().1.prefetch(mixed);
    }

    /// Prefetches what a lookup reads.
    #[inline]
    pub(crate) fn prefetch_all(&self, mixed: u64) {
        self.segments().for_each(|segment| segment.prefetch(mixed));
    }

    /// Returns whether a copy that matches the hash is in one of the segments.
    #[inline]
    #[must_use]
    pub fn contains(&self, mixed: u64) -> bool {
        let finest = self.finest.pair(mixed);
        // mutant: chain-lookup-wrong-version
        let stripe = self.stripes.of(self.finest.stripe_fingerprint(finest.fingerprint));
        loop {
            // mutant: chain-lookup-early-segments
            // mutant: chain-lookup-late-version, chain-lookup-version-relaxed
            // mutant: chain-lookup-per-segment, chain-lookup-per-segment-from-finest
            let version = stripe.version();
            // mutant: chain-lookup-last-only
            // mutant: chain-lookup-from-first, chain-lookup-segments-relaxed
            if self.matches(finest, mixed) {
                return true;
            }
            // mutant: chain-lookup-no-validation
            if stripe.validate(version) {
                return false;
            }
            self.counters.lookup_retried();
        }
    }

    /// Returns whether a word in one of the segments holds the item's fingerprint, without reading
    /// the version.
    #[inline]
    fn matches(&self, finest: Pair, mixed: u64) -> bool {
        // No branch depends on a word before all words were read, so the reads overlap.
        let (mut matches, mut open) = (Fastest::ZERO, 0_u64);
        for (number, segment) in self.each_segment().enumerate() {
            let (marks, certain) = segment.marks::<Fastest>(finest);
            if certain {
                matches = matches.or(marks);
            } else {
                open |= u64::from(!marks.is_zero()) << number;
            }
        }
        !matches.is_zero() || open != 0 && self.matches_fully(open, mixed)
    }

    /// The rest of `matches`: fully probes the segments whose bits are set, the finest first.
    fn matches_fully(&self, mut open: u64, mixed: u64) -> bool {
        while open != 0 {
            let number = open.ilog2();
            let segment = self.segment(number as usize);
            if segment.contains_unvalidated(mixed) {
                return true;
            }
            open ^= 1 << number;
        }
        false
    }

    /// Counts the copies that match the hash, in all segments together.
    #[must_use]
    pub fn count(&self, mixed: u64) -> usize {
        // mutant: chain-count-no-lock
        // mutant: chain-count-wrong-lock
        let guard = self.lock(mixed);
        // mutant: chain-count-relaxed
        // mutant: chain-count-segments-relaxed
        self.segments().map(|segment| segment.count(&guard, mixed)).sum()
    }

    /// Adds a copy, and a segment if there is no room for it.
    ///
    /// # Errors
    /// `TooManyCopies` if copies of the item take half of the slots of its two buckets in the last
    /// segment; `Full` if no segment can be added.
    #[inline]
    pub fn insert(&self, item: V::Item) -> Result<(), InsertError> {
        // mutant: chain-insert-segments-relaxed
        let (_, last, _) = self.last_and_rest();
        // mutant: chain-insert-relaxed
        if last.add_up_to_half(item)? { Ok(()) } else { self.insert_into_full(item) }
    }

    /// As [`insert`](Self::insert), unless there are `limit` copies in all segments together.
    ///
    /// # Errors
    /// As `insert`, and `TooManyCopies` if there were `limit` copies.
    pub fn insert_up_to(&self, limit: usize, item: V::Item) -> Result<(), InsertError> {
        if self.holds(limit, V::mixed(item)) {
            return Err(InsertError::TooManyCopies);
        }
        self.insert(item)
    }

    /// Returns whether an insert must be refused, as the step of the same name in
    /// [`table`](crate::table) does.
    fn holds(&self, limit: usize, mixed: u64) -> bool {
        full_fence();
        let stripe = self.stripe(mixed);
        loop {
            // mutant: chain-limit-version-relaxed
            let version = stripe.version();
            // mutant: chain-limit-last-only
            let seen: usize = self.segments().map(|segment| segment.count_unvalidated(mixed)).sum();
            if seen >= limit {
                // mutant: chain-limit-no-lock, chain-limit-estimate
                return self.count(mixed) >= limit;
            }
            // mutant: chain-limit-no-validation
            if stripe.validate(version) {
                return false;
            }
            self.counters.lookup_retried();
        }
    }

    /// The rest of `insert`, once both buckets in the last segment were full.
    #[cold]
    fn insert_into_full(&self, item: V::Item) -> Result<(), InsertError> {
        loop {
            // mutant: chain-append-segments-relaxed
            let (number, last, mut rest) = self.last_and_rest();
            // mutant: chain-append-relaxed
            if last.add_up_to_half(item)? || rest.any(|segment| segment.add(item)) {
                return Ok(());
            }
            // mutant: chain-relocate-no-lock, chain-relocate-no-bump, chain-relocate-early-bump
            // mutant: chain-relocate-late-bump
            // mutant: chain-relocate-wrong-lock, chain-relocate-bump-relaxed
            // mutant: chain-relocate-clear-relaxed, chain-relocate-read-relaxed
            // mutant: chain-relocate-copy-relaxed, chain-append-set-relaxed
            match last.insert_by_relocating(item) {
                Err(InsertError::Full) => self.append(number + 1)?,
                outcome => return outcome,
            }
        }
    }

    /// Adds a copy unless there is one, with this or another value. Returns `None` if it was added,
    /// and otherwise a copy that was found.
    ///
    /// # Errors
    /// `Full` if the item is absent, there is no room for it, and no segment can be added.
    #[inline]
    pub(super) fn find_or_insert(&self, item: V::Item) -> Result<Option<Fingerprint>, InsertError> {
        let mixed = V::mixed(item);
        let (mut made_room, mut relocations) = (Ok(()), RelocationCount::zero());
        loop {
            // mutant: chain-unique-no-lock, chain-unique-early-segments
            // mutant: chain-unique-wrong-lock
            let guard = self.lock(mixed);
            // Not earlier: a previous holder of the stripe may have added the item to a new
            // segment.
            // mutant: chain-unique-segments-relaxed
            let (number, last, mut rest) = self.last_and_rest();
            let mut found = rest.clone().map(|segment| segment.find_unvalidated(mixed));
            // mutant: chain-unique-last-only, chain-unique-scan-relaxed
            if let Some(copy) = found.find_map(|found| found) {
                return Ok(Some(copy));
            }
            // mutant: chain-unique-relaxed, chain-unique-two-reads, chain-unique-lock-gap
            // mutant: chain-unique-read-relaxed
            let mut addition = last.add_if_absent(&guard, item);
            // mutant: chain-unique-rest-relaxed, chain-unique-rest-read-relaxed
            while addition == Addition::NoRoom {
                let Some(segment) = rest.next() else { break };
                addition = segment.add_if_absent(&guard, item);
            }
            match addition {
                Addition::Found(copy) => return Ok(Some(copy)),
                Addition::Added => {
                    self.counters.insert_relocated(&relocations);
                    return Ok(None);
                }
                Addition::NoRoom => {}
            }
            // mutant: chain-unique-lock-kept
            drop(guard);
            // As in a table: the error is returned only now, and room is made without the lock.
            made_room?;
            // mutant: chain-unique-no-second-scan, chain-unique-no-last-scan
            // mutant: chain-unique-no-append
            // mutant: chain-unique-relocate-wrong-lock, chain-unique-relocate-no-bump
            // mutant: chain-unique-relocate-early-bump, chain-unique-relocate-late-bump
            // mutant: chain-unique-relocate-bump-relaxed, chain-unique-relocate-clear-relaxed
            // mutant: chain-unique-relocate-read-relaxed, chain-unique-relocate-copy-relaxed
            // mutant: chain-unique-set-relaxed
            made_room = last.make_room(item, &mut relocations).or_else(|_| self.append(number + 1));
        }
    }

    /// Removes one copy that matches the hash and has the item's value. Returns whether there was
    /// one.
    #[must_use]
    pub fn remove(&self, item: V::Item) -> bool {
        // mutant: chain-remove-no-lock
        // mutant: chain-remove-wrong-lock
        let guard = self.lock(V::mixed(item));
        // From the finest: see "Why removal starts with the finest segment".
        // mutant: chain-remove-first-segment, chain-remove-no-bump, chain-remove-late-bump
        // mutant: chain-remove-bump-relaxed, chain-remove-clear-relaxed, chain-remove-not-cleared
        // mutant: chain-remove-read-relaxed, chain-remove-segments-relaxed
        self.segments().rev().any(|segment| segment.remove(&guard, item))
    }

    /// Removes every copy. Returns the number of slots that were cleared. The segments stay.
    #[must_use]
    pub fn clear(&self) -> u64 {
        // mutant: chain-clear-no-locks
        // mutant: chain-clear-one-lock-fewer
        let stripes = self.stripes.lock_all();
        // mutant: chain-clear-no-bump, chain-clear-late-bump, chain-clear-bump-relaxed
        stripes.bump();
        // mutant: chain-clear-last-only
        // mutant: chain-clear-early-unlock, chain-clear-segments-relaxed, chain-clear-swap-acquire
        // mutant: chain-clear-swap-release
        self.segments().map(|segment: &Segment<V>| segment.clear_locked(&stripes)).sum()
    }
}

impl Chain {
    /// Adds a copy if there is none. Returns whether it was added.
    ///
    /// # Errors
    /// `Full` if the item is absent, there is no room for it, and no segment can be added.
    pub fn insert_unique(&self, mixed: u64) -> Result<bool, InsertError> {
        self.find_or_insert(mixed).map(|found| found.is_none())
    }
}
