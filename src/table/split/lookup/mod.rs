//! Lookups in a table that grows: how a location is found.

#[cfg(guira_vectors)]
mod vectors;

use super::{GrowingSpace, GrowingTable, GrowingWords, Item, Place, Seen, Side};
use crate::{bucket::leveled::level, sync::Word};

impl GrowingTable {
    /// Returns whether a slot that matches the item is on one of its sides.
    #[inline]
    #[must_use]
    pub fn contains(&self, item: Item) -> bool {
        let is_in = |words| self.is_in(&item, words).then_some(());
        self.look_up::<GrowingWords, _>(&item, is_in).is_some()
    }
}

impl GrowingSpace {
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
