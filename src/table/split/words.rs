//! What the steps of the protocol need of a table that grows.

use core::hint::select_unpredictable;

use super::{
    GrowingSpace, GrowingTable, GrowingWords, Item, Seen, Side, Space, Stripe, StripeGuard,
    Stripes, Words,
    room::{Outcome, Search, Victim},
};
use crate::{
    InsertError,
    bucket::{
        Code, Lanes,
        leveled::{Found, level, slots},
    },
    sync::{Acquire, Word},
    table::Attempts,
};

impl Space for GrowingSpace {
    type Item = Item;
    type Move = Victim;
    type Incoming = Side;
    const GROWS: bool = true;

    #[inline]
    fn value_mask(&self) -> u32 {
        self.payload.value_mask()
    }

    #[inline]
    fn with_value(item: Item, value: u16) -> Item {
        item.with_value(value)
    }

    #[inline]
    fn prefetch(&self, item: &Item) {
        let size = self.hint();
        for side in item.sides {
            self.buckets.prefetch(self.addressing.place_of_item(side, size).bucket);
        }
    }

    #[inline]
    fn bucket(&self, bucket: u32) -> &Word {
        self.bucket(bucket)
    }

    #[inline]
    fn load_both(&self, item: &Item) -> [Seen; 2] {
        // Acquire: pairs with the Release of whoever changed the word, a split included.
        self.both(item, |word| word.load(Acquire))
    }

    #[inline]
    fn load_both_to_change(&self, item: &Item) -> [Seen; 2] {
        // Acquire: as above.
        self.both(item, |word| word.load_to_change(Acquire))
    }

    #[inline]
    fn level(word: u64) -> u32 {
        level(word)
    }

    #[inline]
    fn slots(word: u64) -> u64 {
        slots(word)
    }

    #[inline]
    fn count(&self, change: i64) {
        let _ = self.occupancy.count(change);
    }

    fn buckets(&self) -> u64 {
        self.buckets()
    }
}

impl Words<GrowingSpace> for GrowingWords {
    #[inline]
    fn lanes(space: &GrowingSpace) -> &Lanes {
        &space.addressing.leveled().lanes
    }

    #[inline]
    fn item(space: &GrowingSpace, mixed: u64) -> Item {
        space.addressing.item(mixed)
    }

    type Sought = ();

    #[inline]
    fn sought(_space: &GrowingSpace, _item: &Item) {}

    #[inline]
    fn stripe<'a>(space: &GrowingSpace, stripes: &'a Stripes, item: &Item) -> &'a Stripe {
        space.stripe_of(stripes, item.sides)
    }

    #[inline]
    fn stripe_of_move<'a>(
        space: &GrowingSpace,
        stripes: &'a Stripes,
        Victim { side, .. }: Victim,
    ) -> &'a Stripe {
        space.stripe_of(stripes, [side, space.addressing.other(side)])
    }

    #[inline]
    fn marks(space: &GrowingSpace, item: &Item, [first, second]: [Seen; 2]) -> [u64; 2] {
        let matches = |word, side: Side| space.addressing.leveled().matches(word, side.code);
        let [in_first, in_second] =
            [matches(first.word, item.sides[0]), matches(second.word, item.sides[1])];
        // In one bucket, a slot that matches on both sides is one copy. Both loads of it must show
        // the same word then: take those of the later one.
        if first.bucket == second.bucket {
            [0, matches(second.word, item.sides[0]) | in_second]
        } else {
            [in_first, in_second]
        }
    }

    #[inline]
    fn copies_in(space: &GrowingSpace, item: &Item, (): (), words: [Seen; 2]) -> usize {
        let [first, second] = Self::marks(space, item, words);
        (first.count_ones() + second.count_ones()) as usize
    }

    #[inline]
    fn value_in(space: &GrowingSpace, item: &Item, (): (), words: [Seen; 2]) -> Option<u16> {
        if space.value_bits() == 0 {
            return space.is_in(item, words).then_some(0);
        }
        let marks = |word, code: Code| space.addressing.leveled().matches(word, code);
        let (_, Found { slot, .. }) = longest(space, item, words, marks)?;
        Some((slot & u64::from(space.value_mask())) as u16)
    }

    #[inline]
    fn changed(
        space: &GrowingSpace,
        item: &Item,
        (): (),
        words: [Seen; 2],
        value: Option<u16>,
    ) -> Option<(Seen, u64)> {
        let marks = |word, code| space.addressing.leveled().matches_with_value(word, code);
        let (seen, Found { at, slot }) = longest(space, item, words, marks)?;
        let new = match value {
            None => space.addressing.leveled().without(seen.word, at),
            Some(value) => space.addressing.leveled().replace(
                seen.word,
                at,
                slot & !u64::from(space.value_mask()) | u64::from(value),
            ),
        };
        Some((seen, new))
    }

    #[inline]
    fn knowledge(_space: &GrowingSpace, word: u64, slot: u32) -> u32 {
        // The bits that the number of the bucket tells, and the length of the slot.
        level(word) + slot.ilog2()
    }

    #[inline]
    fn slot_of(space: &GrowingSpace, item: &Item, is_second: bool, word: u64) -> u32 {
        let [first, second] = item.sides.map(|side| side.code.extension);
        let extension = select_unpredictable(is_second, second, first);
        let code = Code { extension, ..item.sides[0].code };
        space.addressing.leveled().encode(code, level(word)) as u32
    }

    #[inline]
    fn is_emptier(_space: &GrowingSpace, word: u64, other: u64) -> bool {
        slots(word) < slots(other)
    }

    #[inline]
    fn with(space: &GrowingSpace, word: u64, slot: u32) -> Option<u64> {
        space.addressing.leveled().with(word, slot.into())
    }

    #[inline]
    fn without_all(space: &GrowingSpace, word: u64, marks: u64) -> u64 {
        space.addressing.leveled().without_all(word, marks)
    }

    #[inline]
    fn with_changed(space: &GrowingSpace, word: u64, slot: u32, new: Option<u32>) -> Option<u64> {
        let at = space.addressing.leveled().find(word, slot.into())?;
        Some(match new {
            None => space.addressing.leveled().without(word, at),
            Some(new) => space.addressing.leveled().replace(word, at, new.into()),
        })
    }

    #[inline]
    fn source(space: &GrowingSpace, Victim { place, slot, .. }: Victim) -> Option<(Seen, u32)> {
        // Acquire: pairs with the Release of `try_add`. The copy passes on what its original
        // published.
        let word = space.bucket(place.bucket).load_to_change(Acquire);
        // A slot's value can recur at another level, with another meaning.
        let is_there =
            level(word) == place.level && space.addressing.leveled().find(word, slot).is_some();
        is_there.then_some((Seen { bucket: place.bucket, word }, slot as u32))
    }

    #[inline]
    fn destination(space: &GrowingSpace, Victim { side, .. }: Victim) -> Option<(Seen, u32)> {
        let other = space.addressing.other(side);
        let place = space.addressing.place(other, space.hint())?;
        // Acquire: in `follow` it pairs with the Release of a switch, so that the child is there.
        // mutant-ok: models have all memory from the start, and a load to change is the latest
        let load = |bucket| space.bucket(bucket).load_to_change(Acquire);
        let to = space.follow(other, place, load)?;
        Some((to, space.addressing.leveled().encode(other.code, level(to.word)) as u32))
    }

    #[inline]
    fn incoming_slot(space: &GrowingSpace, Victim { place, .. }: Victim, incoming: Side) -> u32 {
        space.addressing.leveled().encode(incoming.code, place.level) as u32
    }

    fn clear_elsewhere(table: &GrowingTable, guard: &StripeGuard, victim: Victim) -> bool {
        table.clear_copies(guard, victim)
    }

    fn make_room(
        table: &GrowingTable,
        item: &Item,
        attempts: &mut Attempts,
    ) -> Result<(), InsertError> {
        let mut search = Search::new();
        let outcome = table.search(item, None, &mut search, &attempts.relocations);
        table.relieve(&search);
        match outcome {
            Outcome::Exhausted => {
                table.counters.search_failed();
                table.split_within_reach(&search, &mut attempts.splits)
            }
            // The caller looks again, whether or not all moves were made.
            Outcome::Stored | Outcome::Stale | Outcome::Copies => Ok(()),
        }
    }

    #[inline]
    fn insert_by_making_room(table: &GrowingTable, item: &Item) -> Result<(), InsertError> {
        table.insert_by_making_room(item)
    }

    #[inline]
    fn count_added(table: &GrowingTable) {
        table.count_added();
    }

    fn sweep_bucket(table: &GrowingTable, now: u64, bucket: u32, end: u64) {
        table.sweep_family(now, bucket, end);
    }
}

/// The slot that knows most bits, of those that `marks` marks as matches of a code, in either of
/// two words.
#[inline]
fn longest(
    space: &GrowingSpace,
    item: &Item,
    words: [Seen; 2],
    marks: impl Fn(u64, Code) -> u64,
) -> Option<(Seen, Found)> {
    let found = |index: usize| {
        let (Seen { word, .. }, code) = (words[index], item.sides[index].code);
        let longest = space.addressing.leveled().longest(word, marks(word, code))?;
        // The bits that the number of the bucket tells, and the length of the slot.
        Some((level(word) + longest.slot.ilog2(), (words[index], longest)))
    };
    match (found(0), found(1)) {
        (Some((first, _)), Some((second, longest))) if first < second => Some(longest),
        (Some((_, longest)), _) | (None, Some((_, longest))) => Some(longest),
        (None, None) => None,
    }
}
