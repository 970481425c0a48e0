//! Lookups in a table that grows: how a location is found.

use core::hint::select_unpredictable;

use super::{
    GrowingAddressing, GrowingSpace, GrowingTable, GrowingWords, Item, Place, Seen, Side, Size,
    Words, address::Probe,
};
#[cfg(guira_vectors)]
use crate::table::Kernel;
use crate::{
    bucket::{
        BothWords,
        leveled::{Compared, level},
    },
    sync::{Acquire, Word},
};

/// The first bucket of a table whose buckets lie behind one another: vectors load words from there.
#[cfg(guira_vectors)]
type Near<'a> = core::ptr::NonNull<Word>;
#[cfg(not(guira_vectors))]
type Near<'a> = &'a GrowingSpace;

/// Loads the words of these buckets, which follow from the hint.
///
/// Acquire: pairs with the Release of whoever changed the word, a split included.
#[expect(clippy::inline_always, reason = "so that it gets the instructions of its caller")]
#[inline(always)]
fn load_near<const AVX: bool>(near: Near<'_>, first: u64, second: u64) -> BothWords {
    #[cfg(guira_vectors)]
    // SAFETY: as in `GrowingSpace::bucket`. The words lie behind one another.
    return unsafe { BothWords::load_from::<AVX>(near.as_ptr(), [first, second]) };
    #[cfg(not(guira_vectors))]
    BothWords::load_by(near.bucket(first as u32), near.bucket(second as u32))
}

/// Calls a lookup of a mixed hash with the instructions of the table's kernel.
macro_rules! with_kernel {
    ($table:expr, $lookup:ident($mixed:expr)) => {
        match $table.kernel {
            // SAFETY: the processor has the instructions of the kernel of a table.
            #[cfg(guira_vectors)]
            Kernel::Avx512 => unsafe { avx512::$lookup($table, $mixed) },
            // SAFETY: as above.
            #[cfg(guira_vectors)]
            Kernel::Avx2 => unsafe { avx2::$lookup($table, $mixed) },
            _ => $table.$lookup::<false>($mixed),
        }
    };
}

/// What is looked up: an item, or what leads to one.
pub(super) trait Target: Copy {
    /// What the first round needs in a table of this size.
    fn seek(self, addressing: &GrowingAddressing, size: Size) -> Probe;

    fn item(self, addressing: &GrowingAddressing) -> Item;
}

impl Target for Item {
    fn seek(self, addressing: &GrowingAddressing, size: Size) -> Probe {
        addressing.seek_item(&self, size)
    }

    fn item(self, _growth: &GrowingAddressing) -> Item {
        self
    }
}

/// A mixed hash.
impl Target for u64 {
    #[expect(clippy::inline_always, reason = "so that it gets the instructions of its caller")]
    #[inline(always)]
    fn seek(self, addressing: &GrowingAddressing, size: Size) -> Probe {
        addressing.seek(self, size)
    }

    fn item(self, addressing: &GrowingAddressing) -> Item {
        addressing.item(self)
    }
}

impl GrowingTable {
    /// Returns whether a slot that matches the item is on one of its sides.
    #[must_use]
    pub fn contains(&self, item: Item) -> bool {
        self.contains_in::<false>(item)
    }

    /// As [`contains`](Self::contains), for a mixed hash.
    #[inline]
    pub(crate) fn contains_mixed(&self, mixed: u64) -> bool {
        with_kernel!(self, contains_in(mixed))
    }

    /// The first round: both words are compared with what is expected in a table of the size of the
    /// hint.
    #[expect(clippy::inline_always, reason = "so that it gets the instructions of its caller")]
    #[inline(always)]
    fn contains_in<const AVX: bool>(&self, target: impl Target) -> bool {
        let Some(near) = self.near() else { return self.contains_again(target, true) };
        let Round { compared: Compared { found, settled, .. }, unchanged } =
            self.first_round::<AVX, false>(near, target);
        let is_right = found | unchanged;
        if settled & is_right { found } else { self.contains_again(target, unchanged) }
    }

    /// The rest of [`contains`](Self::contains), if its first round leaves the answer open.
    #[cold]
    #[inline(never)]
    pub(super) fn contains_again(&self, target: impl Target, unchanged: bool) -> bool {
        self.count_retry(unchanged);
        let item = target.item(&self.addressing);
        let is_in = |words| self.is_in(&item, words).then_some(());
        self.look_up::<GrowingWords, _>(&item, is_in).is_some()
    }

    /// Returns the value of a slot that matches the item, with any value, or `None` if there is
    /// none. Of several slots, it is the one that knows most.
    #[must_use]
    pub fn get(&self, item: Item) -> Option<u16> {
        self.get_in::<false>(item)
    }

    /// As [`get`](Self::get), for a mixed hash.
    #[inline]
    pub(crate) fn get_mixed(&self, mixed: u64) -> Option<u16> {
        with_kernel!(self, get_in(mixed))
    }

    /// The first round, as in `contains_in`.
    #[expect(clippy::inline_always, reason = "as above")]
    #[inline(always)]
    fn get_in<const AVX: bool>(&self, target: impl Target) -> Option<u16> {
        let Some(near) = self.near() else { return self.get_again(target, true) };
        let Round { compared: Compared { found, settled, value }, unchanged } =
            self.first_round::<AVX, true>(near, target);
        let is_right = found | unchanged;
        if settled & is_right { found.then_some(value) } else { self.get_again(target, unchanged) }
    }

    /// The rest of [`get`](Self::get), as `contains_again`.
    #[cold]
    #[inline(never)]
    pub(super) fn get_again(&self, target: impl Target, unchanged: bool) -> Option<u16> {
        self.count_retry(unchanged);
        let item = target.item(&self.addressing);
        let value_in = |words| GrowingWords::value_in(&self.space, &item, (), words);
        self.look_up::<GrowingWords, _>(&item, value_in)
    }

    /// Returns whether a visible slot matches the item.
    #[must_use]
    pub fn is_visible(&self, item: Item) -> bool {
        self.is_visible_in::<false>(item)
    }

    /// As [`is_visible`](Self::is_visible), for a mixed hash.
    #[inline]
    pub(crate) fn is_mixed_visible(&self, mixed: u64) -> bool {
        with_kernel!(self, is_visible_in(mixed))
    }

    /// The first round, as in `contains_in`.
    #[expect(clippy::inline_always, reason = "as above")]
    #[inline(always)]
    fn is_visible_in<const AVX: bool>(&self, target: impl Target) -> bool {
        let Some(near) = self.near() else { return self.is_visible_again(target, true) };
        let now = self.clock.look();
        let Round { compared: Compared { found, settled, value }, unchanged } =
            self.first_round::<AVX, true>(near, target);
        let shows = self.clock.shows(now, value.into());
        let is_miss = unchanged & self.clock.validate(now);
        let is_right = select_unpredictable(found, shows, is_miss);
        if settled & is_right {
            if found & self.clock.has_times() {
                return self.is_visible_in_time(target, now, value.into());
            }
            return found;
        }
        self.is_visible_again(target, found | is_miss)
    }

    /// The rest of [`is_visible`](Self::is_visible), if its first round has found a slot in the
    /// window of the clock's word `now`, and items have a time to live.
    #[inline(never)]
    fn is_visible_in_time(&self, target: impl Target, now: u64, slot: u32) -> bool {
        self.clock.is_alive(now, slot) || self.is_visible_again(target, true)
    }

    /// The rest of [`is_visible`](Self::is_visible), as `contains_again`.
    #[cold]
    #[inline(never)]
    fn is_visible_again(&self, target: impl Target, unchanged: bool) -> bool {
        self.count_retry(unchanged);
        self.look_for_visible::<GrowingWords>(&target.item(&self.addressing))
    }

    /// Counts a retry. If the version was unchanged, the lookup goes on for another reason.
    fn count_retry(&self, unchanged: bool) {
        if !unchanged {
            self.counters.lookup_retried();
        }
    }

    /// Reads the version of an item, the words in the places that follow from the hint, and the
    /// version again.
    #[expect(clippy::inline_always, reason = "as above")]
    #[inline(always)]
    fn first_round<const AVX: bool, const VALUES: bool>(
        &self,
        near: Near<'_>,
        target: impl Target,
    ) -> Round {
        let Probe { first, second, expected, stripe } = target.seek(&self.addressing, self.hint());
        let stripe = self.stripes.at(stripe as usize);
        let version = stripe.version();
        let words = load_near::<AVX>(near, first, second);
        let compared = words.compare::<VALUES>(self.leveled(), expected);
        Round { compared, unchanged: stripe.validate(version) }
    }
}

/// Lookups of mixed hashes, compiled for a set of instructions.
#[cfg(guira_vectors)]
macro_rules! compile {
    ($module:ident, $features:literal) => {
        mod $module {
            use super::GrowingTable;

            #[target_feature(enable = $features)]
            pub(super) fn contains_in(table: &GrowingTable, mixed: u64) -> bool {
                table.contains_in::<true>(mixed)
            }

            #[target_feature(enable = $features)]
            pub(super) fn get_in(table: &GrowingTable, mixed: u64) -> Option<u16> {
                table.get_in::<true>(mixed)
            }

            #[target_feature(enable = $features)]
            pub(super) fn is_visible_in(table: &GrowingTable, mixed: u64) -> bool {
                table.is_visible_in::<true>(mixed)
            }
        }
    };
}
#[cfg(guira_vectors)]
compile!(avx2, "avx2,bmi1,bmi2");
#[cfg(guira_vectors)]
compile!(avx512, "avx512f,avx512dq,avx512vl,avx512bw,bmi1,bmi2");

/// What the first round of a lookup has found.
struct Round {
    compared: Compared,
    /// Whether the version was unchanged meanwhile.
    unchanged: bool,
}

impl GrowingSpace {
    /// A size that the table has reached. The words of its buckets have at least the levels that
    /// follow from it.
    #[inline]
    pub(super) fn hint(&self) -> Size {
        // Acquire: pairs with the Release in `advance_size`. So the splits up to this size happened
        // before, and their buckets are committed.
        Size::unpack(self.hint.load(Acquire))
    }

    /// A bucket.
    ///
    /// Every number that is passed here comes from `GrowingAddressing::place` with a size that was loaded by
    /// Acquire, from the level in a word that was loaded by Acquire, or from the commit of its
    /// memory by this thread.
    #[inline]
    pub(super) fn bucket(&self, bucket: u32) -> &Word {
        // SAFETY: the memory of a bucket is committed before a size or a level is published that
        // leads to it. In an image, only sizes lead here.
        unsafe { self.buckets.bucket(bucket) }
    }

    /// Where first rounds find words, if that serves this table.
    #[cfg_attr(not(guira_vectors), expect(clippy::unnecessary_wraps, reason = "as vectors do"))]
    #[expect(clippy::inline_always, reason = "so that it gets the instructions of its caller")]
    #[inline(always)]
    fn near(&self) -> Option<Near<'_>> {
        #[cfg(guira_vectors)]
        return self.buckets.base();
        #[cfg(not(guira_vectors))]
        Some(self)
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
        let [first, second] = [
            self.addressing.place_of_item(first, size),
            self.addressing.place_of_item(second, size),
        ];
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
        levels[0] != levels[1] && self.addressing.is_one_bucket(buckets, levels[0].min(levels[1]))
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
                return Some(Place { bucket: self.addressing.child(bucket, at - 1), level: at });
            }
        }
        Some(Place { bucket, level })
    }
}
