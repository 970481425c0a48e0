//! Lookups in a table that grows: how a location is found.

use core::hint::select_unpredictable;

use super::{
    GrowingSpace, GrowingTable, GrowingWords, Item, Place, Seen, Side, Words, address::Sought,
};
use crate::{
    bucket::{
        BothWords,
        leveled::{Compared, level},
    },
    sync::Word,
};

impl GrowingTable {
    /// Returns whether a slot that matches the item with this mixed hash is on one of its sides.
    ///
    /// The first round is inline: both words are compared by what is expected in a table of the
    /// size of the hint.
    #[inline]
    #[must_use]
    pub fn contains(&self, mixed: u64) -> bool {
        let Round { compared: Compared { found, open, .. }, unchanged } =
            self.first_round::<false>(mixed);
        if found | (unchanged & !open) {
            return found;
        }
        self.contains_again(mixed, unchanged)
    }

    /// The rest of [`contains`](Self::contains), if the first round has left it open.
    #[cold]
    #[inline(never)]
    pub(super) fn contains_again(&self, mixed: u64, unchanged: bool) -> bool {
        self.count_retry(unchanged);
        let item = self.growth.item(mixed);
        let is_in = |words| self.is_in(&item, words).then_some(());
        self.look_up::<GrowingWords, _>(&item, is_in).is_some()
    }

    /// Returns the value of a slot that matches the item with this mixed hash, with any value, or
    /// `None` if there is none. Of several slots, it is the one that knows most.
    #[inline]
    #[must_use]
    pub fn get(&self, mixed: u64) -> Option<u16> {
        let Round { compared: Compared { found, open, value }, unchanged } =
            self.first_round::<true>(mixed);
        if !open & (found | unchanged) {
            return found.then_some(value);
        }
        self.get_again(mixed, unchanged)
    }

    /// The rest of [`get`](Self::get), if the first round has left it open.
    #[cold]
    #[inline(never)]
    pub(super) fn get_again(&self, mixed: u64, unchanged: bool) -> Option<u16> {
        self.count_retry(unchanged);
        let item = self.growth.item(mixed);
        let value_in = |words| GrowingWords::value_in(&self.space, &item, (), words);
        self.look_up::<GrowingWords, _>(&item, value_in)
    }

    /// Returns whether a visible slot matches the item with this mixed hash.
    #[inline]
    #[must_use]
    pub fn is_visible(&self, mixed: u64) -> bool {
        let now = self.clock.generation();
        let Round { compared: Compared { found, open, value }, unchanged } =
            self.first_round::<true>(mixed);
        let shows = self.clock.shows(now, value.into());
        let is_miss = unchanged & self.clock.validate(now);
        if !open & select_unpredictable(found, shows, is_miss) {
            return found;
        }
        self.is_visible_again(mixed, found | is_miss)
    }

    /// The rest of [`is_visible`](Self::is_visible), if the first round has left it open.
    #[cold]
    #[inline(never)]
    fn is_visible_again(&self, mixed: u64, unchanged: bool) -> bool {
        self.count_retry(unchanged);
        self.look_for_visible::<GrowingWords>(&self.growth.item(mixed))
    }

    /// Counts a retry. If the version was unchanged, the lookup goes on for another reason.
    fn count_retry(&self, unchanged: bool) {
        if !unchanged {
            self.counters.lookup_retried();
        }
    }

    /// Reads the version of an item, the words in the places that follow from the hint, and the
    /// version again.
    #[expect(clippy::inline_always, reason = "a call takes a tenth of the time of a lookup")]
    #[inline(always)]
    fn first_round<const VALUES: bool>(&self, mixed: u64) -> Round {
        let size = self.hint();
        let Sought { first, second, expected, stripe } = self.growth.seek(mixed, size);
        let stripe = self.stripes.at(stripe as usize);
        let version = stripe.version();
        let words = self.load_apart(first, second);
        let compared = words.compare::<VALUES>(self.leveled(), expected);
        Round { compared, unchanged: stripe.validate(version) }
    }
}

/// What the first round of a lookup has found.
struct Round {
    compared: Compared,
    /// Whether the version was unchanged meanwhile.
    unchanged: bool,
}

impl GrowingSpace {
    /// Loads the words of these buckets.
    ///
    /// Acquire: pairs with the Release of whoever changed the word, a split included.
    #[inline]
    fn load_apart(&self, first: u32, second: u32) -> BothWords {
        #[cfg(guira_vectors)]
        if let Some(base) = self.buckets.base() {
            // SAFETY: as in `bucket`. The words lie behind one another.
            return unsafe { BothWords::load_from(base.as_ptr(), [first, second]) };
        }
        self.load_segments(first, second)
    }

    /// As above, from words that do not lie behind one another.
    #[cold]
    #[inline(never)]
    fn load_segments(&self, first: u32, second: u32) -> BothWords {
        BothWords::load_by([first, second], |bucket| self.bucket(bucket))
    }

    /// Returns whether one of the words has a slot that matches the item.
    #[inline]
    pub(super) fn is_in(&self, item: &Item, seen: [Seen; 2]) -> bool {
        // Each side has its own pattern, also if both locations are the same bucket.
        let [first, second] = item.sides;
        let matches = |seen: Seen, side: Side| self.leveled().matches(seen.word, side.code);
        matches(seen[0], first) | matches(seen[1], second) != 0
    }

    /// Loads the words of both locations of an item, by `load`, an Acquire.
    #[expect(clippy::inline_always, reason = "a call takes a twentieth of the time of a lookup")]
    #[inline(always)]
    pub(super) fn both(&self, item: &Item, load: impl Fn(&Word) -> u64 + Copy) -> [Seen; 2] {
        let (size, [first, second]) = (self.hint(), item.sides);
        let [first, second] =
            [self.growth.place_of_item(first, size), self.growth.place_of_item(second, size)];
        let at = |Place { bucket, .. }| Seen { bucket, word: load(self.bucket(bucket)) };
        let seen = [at(first), at(second)];
        let differs = (level(seen[0].word) ^ first.level) | (level(seen[1].word) ^ second.level);
        if differs == 0 { seen } else { self.follow_both(item, [first, second], load) }
    }

    /// The rest of `both`, if a bucket has been split since the size that was published.
    ///
    /// Loads again if a bucket that both sides had is split between the two loads: the words would
    /// show one slot in two locations.
    #[cold]
    #[inline(never)]
    fn follow_both(
        &self,
        item: &Item,
        places: [Place; 2],
        load: impl Fn(&Word) -> u64 + Copy,
    ) -> [Seen; 2] {
        loop {
            let [first, second] = [0, 1].map(|index| {
                let load = |bucket| load(self.found_bucket(bucket));
                let seen = self.follow(item.sides[index], places[index], load);
                seen.expect("an item is known at every level")
            });
            if !self.is_split_between([first, second]) || self.is_image() {
                return [first, second];
            }
        }
    }

    /// Whether a bucket that both sides of an item had was split between the loads of these words.
    #[inline]
    pub(super) fn is_split_between(&self, [first, second]: [Seen; 2]) -> bool {
        let levels = [level(first.word), level(second.word)];
        let buckets = [first.bucket, second.bucket];
        levels[0] != levels[1] && self.growth.is_one_bucket(buckets, levels[0].min(levels[1]))
    }

    /// Loads the word of a location, by `load` of its bucket, an Acquire. Begins at a place that
    /// the side had. Returns `None` if the side is not known far enough.
    ///
    /// The level in the word decides: if the bucket has been split since, the next bit of the
    /// extension tells whether this is still the location, or the child is.
    #[inline]
    pub(super) fn follow(
        &self,
        side: Side,
        mut place: Place,
        load: impl Fn(u32) -> u64,
    ) -> Option<Seen> {
        loop {
            let word = load(place.bucket);
            let level = level(word);
            debug_assert!(
                level >= place.level || self.is_image(),
                "a level never falls: {place:?}, {word:#x}"
            );
            let next = self.descend(side, place, level)?;
            if next.bucket == place.bucket {
                return Some(Seen { bucket: place.bucket, word });
            }
            place = next;
        }
    }

    /// The place of a side, given a place that it had and the level in the word there: the first
    /// child on the way, or the bucket itself at this level.
    #[inline]
    fn descend(&self, side: Side, place: Place, level: u32) -> Option<Place> {
        let Place { bucket, level: mut at } = place;
        while at < level {
            let next = side.code.extension >> at;
            if next <= 1 {
                return None;
            }
            at += 1;
            if next & 1 == 1 {
                return Some(Place { bucket: self.growth.child(bucket, at - 1), level: at });
            }
        }
        Some(Place { bucket, level })
    }
}
