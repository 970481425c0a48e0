//! Lookups of one item, by its *key*: the fingerprint without a value. In plain words the only
//! branch of the first round is almost always taken, for hits and misses alike; in semi-sorted
//! ones, for misses. What it leaves open is out of line.
//!
//! | words | first round | rest |
//! |---|---|---|
//! | plain | `contains_by` | `contains_again` |
//! | semi-sorted | `contains_semi_sorted`, `semi_sorted_contain` | `contains_rest`, `contains_again` |
//! | with values | `get_key` | `get_again` |
//! | that expire | `is_key_visible` | `is_visible_again` |

use core::hint::select_unpredictable;

use super::{FixedTable, FixedWords, Pair};
use crate::{
    bucket::{BothWords, Fingerprint, Slots},
    sync::{Acquire, Word},
};

impl FixedTable {
    /// Returns whether the pair's fingerprint is in one of its buckets, with any value. The value
    /// of the pair must be zero.
    ///
    /// # Panics
    /// If there is no such bucket. So do the other lookups of pairs.
    #[must_use]
    pub fn contains(&self, pair: Pair) -> bool {
        let key = self.key_of(pair);
        if self.slots.is_semi_sorted() {
            self.semi_sorted_contain(key, pair.buckets)
        } else {
            self.contains_key(key, pair.buckets, BothWords::hold_plain)
        }
    }

    /// As [`contains`](Self::contains), for a mixed hash.
    ///
    /// Each form of words has a function of its own, which is compiled once: a loop over lookups
    /// has fewer instructions than with the code of all forms in it, so the processor overlaps more
    /// of them.
    #[inline]
    pub(crate) fn contains_mixed(&self, mixed: u64) -> bool {
        if self.slots.is_4x16() {
            self.contains_by(mixed, BothWords::hold_4x16)
        } else if self.slots.is_8x8() {
            self.contains_by(mixed, BothWords::hold_8x8)
        } else if self.slots.is_semi_sorted() {
            self.contains_semi_sorted(mixed)
        } else {
            self.contains_by(mixed, BothWords::hold_plain)
        }
    }

    /// The lookup in plain words, by a comparison that knows their form.
    #[inline(never)]
    fn contains_by(&self, mixed: u64, find: impl Fn(BothWords, &Slots, u32) -> bool) -> bool {
        let (key, buckets) = self.addressing.locate(mixed);
        self.contains_key(key, buckets, find)
    }

    /// The first round in plain words.
    #[expect(clippy::inline_always, reason = "one function for each form")]
    #[inline(always)]
    fn contains_key(
        &self,
        key: u32,
        buckets: [u32; 2],
        find: impl Fn(BothWords, &Slots, u32) -> bool,
    ) -> bool {
        let Round { words, unchanged } = self.round(key, buckets);
        let found = find(words, &self.slots, key);
        if found | unchanged {
            return found;
        }
        self.contains_again(key, buckets[0], buckets[1])
    }

    #[inline(never)]
    fn contains_semi_sorted(&self, mixed: u64) -> bool {
        let (key, buckets) = self.addressing.locate(mixed);
        self.semi_sorted_contain(key, buckets)
    }

    /// The first round in semi-sorted words.
    #[inline]
    fn semi_sorted_contain(&self, key: u32, buckets: [u32; 2]) -> bool {
        let Round { words, unchanged } = self.round(key, buckets);
        let may_hold = words.may_hold(&self.slots, key);
        // One branch, which is almost always taken for misses.
        if select_unpredictable(may_hold, false, unchanged) {
            return false;
        }
        let [first, second] = words.words();
        if unchanged {
            return self.slots.semi_sorted_in_any(first, second, key);
        }
        self.contains_rest(key, buckets[0], buckets[1], first, second)
    }

    /// The rest of a lookup that has read these semi-sorted words while the version changed. The
    /// arguments are passed as in `contains_again`.
    #[cold]
    #[inline(never)]
    fn contains_rest(&self, key: u32, one: u32, other: u32, first: u64, second: u64) -> bool {
        self.slots.semi_sorted_in_either(first, second, key) || self.contains_again(key, one, other)
    }

    /// The rest of [`contains`](Self::contains), after a round that missed while the version
    /// changed: more such rounds, in words of every layout.
    ///
    /// Each argument is passed in a register. If the item was passed as a whole, it would be
    /// written to memory before every first round.
    #[cold]
    #[inline(never)]
    pub(super) fn contains_again(&self, key: u32, first: u32, second: u32) -> bool {
        loop {
            self.counters.lookup_retried();
            let Round { words, unchanged } = self.round(key, [first, second]);
            let found = words.may_hold(&self.slots, key) && {
                let [first, second] = words.words();
                !self.slots.is_semi_sorted() || self.slots.semi_sorted_in_either(first, second, key)
            };
            if found | unchanged {
                return found;
            }
        }
    }

    /// Returns a value of the pair's fingerprint, or `None` if the fingerprint is absent. The value
    /// of the pair must be zero.
    ///
    /// Only in plain words. As for [`contains`](Self::contains), a match is an answer, whatever the
    /// versions are.
    #[inline]
    #[must_use]
    pub fn get(&self, pair: Pair) -> Option<u16> {
        self.get_key(self.key_of(pair), pair.buckets)
    }

    /// As [`get`](Self::get), for a mixed hash.
    #[inline]
    pub(crate) fn get_mixed(&self, mixed: u64) -> Option<u16> {
        let (key, buckets) = self.addressing.locate(mixed);
        self.get_key(key, buckets)
    }

    /// As [`get`](Self::get), for a key. Its buckets are those of this table.
    #[inline]
    fn get_key(&self, key: u32, buckets: [u32; 2]) -> Option<u16> {
        let Round { words, unchanged } = self.round(key, buckets);
        let (found, slot) = words.first_match(&self.slots, key);
        if found | unchanged {
            return found.then_some((slot & self.slots.value_mask()) as u16);
        }
        self.get_again(key, buckets[0], buckets[1])
    }

    /// The rest of [`get`](Self::get), after a round that missed while the version changed: more
    /// such rounds. The arguments are passed as in `contains_again`.
    #[cold]
    #[inline(never)]
    pub(super) fn get_again(&self, key: u32, first: u32, second: u32) -> Option<u16> {
        loop {
            self.counters.lookup_retried();
            let Round { words, unchanged } = self.round(key, [first, second]);
            let (found, slot) = words.first_match(&self.slots, key);
            if found | unchanged {
                return found.then_some((slot & self.slots.value_mask()) as u16);
            }
        }
    }

    /// The key of a pair.
    ///
    /// # Panics
    /// If its buckets are not those of this table.
    #[inline]
    fn key_of(&self, Pair { fingerprint, buckets: [first, second], .. }: Pair) -> u32 {
        assert!((first.max(second) as usize) < self.buckets.as_slice().len(), "no such bucket");
        fingerprint.get()
    }

    /// Reads the version of an item, both words, and the version again.
    ///
    /// The buckets are those of this table: those that its addressing has returned, or those of a
    /// pair that was checked.
    #[inline]
    fn round(&self, key: u32, buckets: [u32; 2]) -> Round {
        let stripe = self.stripes.of(Fingerprint::new(key));
        let version = stripe.version();
        // Acquire, twice: pairs with the Release of `try_add` (and of `copy` and `change_slot`,
        // which also add), so that a hit happens after the insert that it found; and with that of
        // `change_slot` and `clear`, so that a lookup that sees a cleared slot also sees the
        // version bumped.
        // SAFETY: see above.
        let words = unsafe { BothWords::load(self.buckets.as_slice(), buckets) };
        Round { words, unchanged: stripe.validate(version) }
    }
}

/// The words of a table, for many reads.
#[derive(Clone, Copy)]
pub struct Reader<'a> {
    pub(super) words: &'a [Word],
}

/// Both words of an item, as they were read once.
#[derive(Clone, Copy)]
struct Round {
    words: BothWords,
    /// Whether the version was unchanged meanwhile. If so, a key that is not in the words is
    /// absent. One that is found in them is present.
    unchanged: bool,
}

impl Reader<'_> {
    /// Loads each word of an item by itself. The buckets are those that the addressing of the table
    /// has returned.
    #[inline]
    pub(super) fn words_of(self, buckets: [u32; 2]) -> [u64; 2] {
        // SAFETY: see above.
        let word = |bucket: u32| unsafe { self.words.get_unchecked(bucket as usize) };
        // Acquire: as in `round`.
        buckets.map(|bucket| word(bucket).load(Acquire))
    }
}

impl FixedTable {
    /// Returns whether a visible copy of the pair's fingerprint is in one of its buckets. The value
    /// of the pair must be zero.
    #[inline]
    #[must_use]
    pub fn is_visible(&self, pair: Pair) -> bool {
        self.is_key_visible(self.key_of(pair), pair.buckets)
    }

    /// As [`is_visible`](Self::is_visible), for a mixed hash.
    #[inline]
    pub(crate) fn is_mixed_visible(&self, mixed: u64) -> bool {
        let (key, buckets) = self.addressing.locate(mixed);
        self.is_key_visible(key, buckets)
    }

    /// As [`is_visible`](Self::is_visible), for a key. Its buckets are those of this table.
    ///
    /// The first round is open if it missed while the version or the generation changed, or if the
    /// first copy has expired, so that another one may be visible.
    #[inline]
    fn is_key_visible(&self, key: u32, buckets: [u32; 2]) -> bool {
        let now = self.clock.look();
        let Round { words, unchanged } = self.round(key, buckets);
        let (found, slot) = words.first_match(&self.slots, key);
        let is_visible = self.clock.shows(now, slot);
        let is_miss = unchanged & self.clock.validate(now);
        // One branch, which is almost always taken, for hits and misses alike.
        if select_unpredictable(found, is_visible, is_miss) {
            if found & self.clock.has_times() {
                return self.is_visible_in_time(key, buckets[0], buckets[1], now, slot);
            }
            return found;
        }
        self.is_visible_again(key, buckets[0], buckets[1], found)
    }

    /// The rest of `is_visible`, if its first round has found a slot in the window of the clock's
    /// word `now`, and items have a time to live.
    #[inline(never)]
    fn is_visible_in_time(&self, key: u32, first: u32, second: u32, now: u64, slot: u32) -> bool {
        self.clock.is_alive(now, slot) || self.is_visible_again(key, first, second, true)
    }

    /// The rest of `is_visible`, if its first round is open. The arguments are passed as in
    /// `contains_again`.
    #[cold]
    #[inline(never)]
    fn is_visible_again(&self, key: u32, first: u32, second: u32, found: bool) -> bool {
        // To look for another copy is no retry.
        if !found {
            self.counters.lookup_retried();
        }
        let (fingerprint, buckets) = (Fingerprint::new(key), [first, second]);
        self.look_for_visible::<FixedWords>(&Pair { fingerprint, value: 0, buckets })
    }
}
