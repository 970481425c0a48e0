//! From a mixed hash to the two sides of an item, and from a side to its bucket at a level.
//!
//! ```text
//! mixed hash:   core | extension (lowest bit first) | fraction (32 bits)
//! ```
//!
//! The fraction chooses the bucket i at level 0, one of n. The extension e chooses, bit by bit, the
//! half to which each split sends the item: at level l its bucket is `i + n * (e mod 2^l)`. On the
//! other side these are `t - i` modulo n and `e ^ s`, where t and s depend on the core alone. So
//! each side leads to the other one, at every level, and from a slot as far as it knows the
//! extension.
//!
//! In a table with values, the core of a [`Code`] is followed by a value, on which no bucket
//! depends.

use core::{hint::select_unpredictable, ops::Deref};

#[cfg(guira_vectors)]
use crate::bucket::{Twice, leveled::LEVEL_SHIFT};
use crate::{
    bucket::{
        Code, Expected, Leveled,
        leveled::{empty, level},
    },
    table::mix::{SCATTER, spread},
};

/// Most bits of a core. Tests have words with longer cores, and so with shorter tails.
const MAX_CORE: u32 = if cfg!(feature = "raw") { 10 } else { 8 };
/// For each core, the product from which both halves of its reflection follow. To load it takes
/// less time than to compute it, but for whole blocks.
static SCATTERED: [u64; 1 << MAX_CORE] = {
    let mut products = [0; 1 << MAX_CORE];
    let mut core = 0;
    while core < products.len() {
        products[core] = Formulas::scatter(core as u32) as u64 * SCATTER[1] as u64;
        core += 1;
    }
    products
};

/// One side of an item, or of what a slot knows of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Side {
    /// The bucket at level 0.
    pub start: u32,
    /// What a slot on this side holds.
    pub code: Code,
}

/// An item: both sides of it. The core is the same on both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// The sides.
    pub sides: [Side; 2],
}

impl Item {
    /// An item whose number is zero throughout.
    pub(crate) const NONE: Self = {
        let code = Code { core: 0, extension: 1 };
        Self { sides: [Side { start: 0, code }; 2] }
    };

    /// The item with this value, given the item with the value zero.
    #[inline]
    #[must_use]
    pub fn with_value(self, value: u16) -> Self {
        let [first, second] = self.sides;
        let with = |side: Side| {
            let code = Code { core: side.code.core | u64::from(value), ..side.code };
            Side { code, ..side }
        };
        Self { sides: [with(first), with(second)] }
    }
}

/// A bucket, and a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The number of the bucket.
    pub bucket: u32,
    /// The level.
    pub level: u32,
}

/// A bucket of which a search follows the slots.
#[derive(Clone, Copy, Debug)]
pub(super) struct Root {
    pub(super) bucket: u32,
    pub(super) word: u64,
    /// The bucket at level 0.
    pub(super) start: u32,
    /// The bits of the extension that the number of the bucket tells.
    pub(super) low: u64,
}

/// How far the table has grown: `level` rounds are complete, and in the present one the first
/// `split` buckets have been split. Rounds are ordered by their packed form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size {
    /// The level of the buckets that have not been split in this round.
    pub level: u32,
    /// The number of buckets that have been split in this round. All of them have a lower number
    /// than the others.
    pub split: u64,
}

impl Size {
    /// The size in one word.
    #[inline]
    pub(crate) fn pack(self) -> u64 {
        u64::from(self.level) << 32 | self.split
    }

    #[inline]
    pub(crate) fn unpack(word: u64) -> Self {
        Self { level: (word >> 32) as u32, split: word & u64::from(u32::MAX) }
    }
}

/// The mapping from mixed hashes to sides and buckets.
#[derive(Debug)]
pub struct GrowingAddressing {
    formulas: Formulas,
    #[cfg(guira_vectors)]
    registers: Registers,
}

/// The constants of the mapping, and what follows from them alone.
#[derive(Clone, Copy, Debug)]
pub struct Formulas {
    /// The number of buckets at level 0.
    first: u64,
    leveled: Leveled,
}

/// Numbers as registers of SSE2 take them: twice each.
#[cfg(guira_vectors)]
#[derive(Clone, Copy, Debug)]
struct Registers {
    first: Twice,
    /// The bits below a core.
    below_core: Twice,
    /// By how many bits the low part of an extension is shifted down and up.
    low_from: Twice,
    low_to: Twice,
    /// The numbers of bits of a value, and of a core and a value.
    value_bits: Twice,
    below_tail: Twice,
    lane: Twice,
    /// The bits of half a word.
    half: Twice,
}

/// What a lookup needs of an item in a table of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::table) struct Located {
    /// The buckets of both sides.
    pub(in crate::table) buckets: [u32; 2],
    /// What the slots of each side are compared with: see [`Leveled::compare`].
    pub(in crate::table) expected: [u32; 2],
    /// The number that selects the stripe.
    pub(in crate::table) stripe: u32,
}

/// What a lookup of one item needs in a table of one size.
#[derive(Clone, Copy, Debug)]
pub(in crate::table) struct Probe {
    /// The buckets of both sides.
    pub(in crate::table) first: u64,
    pub(in crate::table) second: u64,
    /// What their words are compared with.
    pub(in crate::table) expected: Expected,
    /// The number that selects the stripe.
    pub(in crate::table) stripe: u32,
}

impl Deref for GrowingAddressing {
    type Target = Formulas;

    #[inline]
    fn deref(&self) -> &Formulas {
        &self.formulas
    }
}

impl GrowingAddressing {
    /// The addressing of a table with `first` buckets at level 0, `1 .. 2^32`, and words of this
    /// kind.
    #[must_use]
    pub fn new(first: u64, leveled: Leveled) -> Self {
        debug_assert!((1..1 << 32).contains(&first));
        debug_assert!(leveled.core <= MAX_CORE, "each core has its product");
        Self {
            formulas: Formulas { first, leveled },
            #[cfg(guira_vectors)]
            registers: Registers::new(first, &leveled),
        }
    }

    /// What a core determines: t and s.
    #[expect(clippy::inline_always, reason = "so that it gets the instructions of its caller")]
    #[inline(always)]
    fn entry(&self, core: u64) -> (u32, u32) {
        self.reflection(SCATTERED[core as usize % SCATTERED.len()])
    }

    /// The number of buckets at level 0.
    #[inline]
    #[must_use]
    pub fn first(&self) -> u64 {
        self.first
    }

    /// The constants of a word.
    #[inline]
    #[must_use]
    pub fn leveled(&self) -> &Leveled {
        &self.leveled
    }

    /// The number of bits of a value.
    #[inline]
    pub(super) fn value_bits(&self) -> u32 {
        self.leveled.value_bits
    }

    /// The number of buckets of a table of this size.
    #[inline]
    #[must_use]
    pub fn buckets(&self, size: Size) -> u64 {
        (self.first << size.level) + size.split
    }

    /// What a lookup of an item needs in a table of this size.
    pub(super) fn seek_item(&self, item: &Item, size: Size) -> Probe {
        let places = item.sides.map(|side| self.place_of_item(side, size));
        let pattern = |index: usize| {
            let pattern = self.leveled.pattern(item.sides[index].code, places[index].level);
            self.leveled.lanes.broadcast(pattern as u32)
        };
        let levels = places.map(|place| empty(place.level));
        let starts = item.sides.map(|side| side.start);
        let [first, second] = places.map(|place| place.bucket.into());
        Probe {
            first,
            second,
            expected: Expected::new([pattern(0), pattern(1)], levels),
            stripe: self.stripe(item.sides[0].code.core, starts) as u32,
        }
    }

    /// As [`seek_item`](Self::seek_item), for a mixed hash.
    #[cfg(not(guira_vectors))]
    #[inline]
    pub(super) fn seek(&self, mixed: u64, size: Size) -> Probe {
        self.seek_item(&self.item(mixed), size)
    }

    /// As [`seek_item`](Self::seek_item), for a mixed hash, in registers of SSE2: see
    /// `Addressing::locate`. Both sides are halves of one register.
    #[cfg(guira_vectors)]
    #[inline(always)]
    pub(super) fn seek(&self, mixed: u64, size: Size) -> Probe {
        use core::arch::x86_64::{
            __m128i, _mm_add_epi64, _mm_and_si128, _mm_cvtsi32_si128, _mm_cvtsi64_si128,
            _mm_cvtsi128_si64, _mm_mul_epu32, _mm_or_si128, _mm_set1_epi64x, _mm_shuffle_epi32,
            _mm_sll_epi64, _mm_slli_epi64, _mm_srai_epi32, _mm_srl_epi32, _mm_srl_epi64,
            _mm_srli_epi64, _mm_sub_epi64, _mm_unpackhi_epi64, _mm_unpacklo_epi64, _mm_xor_si128,
        };
        // Both starts by scalar instructions: vectors have enough to do.
        let mixed = spread(mixed);
        let core = mixed >> (u64::BITS - self.leveled.core);
        let (t, s) = self.entry(core);
        let product = lower(mixed) * lower(self.first);
        let start = (product >> 32) as u32;
        let other = self.reflect(start, t);
        let stripe = self.stripe_of(core as u32, [start, other]);
        let get = |twice: &Twice| -> __m128i { bytemuck::cast(twice.load()) };
        let Registers { first, below_core, low_from, low_to, .. } = &self.registers;
        let Registers { value_bits, below_tail, lane, half, .. } = &self.registers;
        // SAFETY: the target has SSE2.
        unsafe {
            let number = |x: u32| _mm_cvtsi32_si128(x as i32);
            // All ones where a difference is negative.
            let negative = |x| _mm_shuffle_epi32::<0b1111_0101>(_mm_srai_epi32::<31>(x));
            let first = get(first);
            let upper = number((mixed >> 32) as u32);
            let product = _mm_cvtsi64_si128(product as i64);
            let [core, s, start, other] = [core as u32, s, start, other].map(number);
            // The lower half of the product has the lower bits of the extension. What comes above
            // them, no pattern has.
            let low = _mm_sll_epi64(_mm_srl_epi32(product, get(low_from)), get(low_to));
            let extension = _mm_or_si128(_mm_and_si128(upper, get(below_core)), low);
            let starts = _mm_unpacklo_epi64(start, other);
            let extensions = _mm_unpacklo_epi64(extension, _mm_xor_si128(extension, s));
            // The buckets, and what has been split.
            let level = number(size.level);
            let one = _mm_set1_epi64x(1);
            let next = _mm_sll_epi64(one, level);
            let known = _mm_sub_epi64(next, one);
            let at = |bits| _mm_mul_epu32(_mm_and_si128(extensions, bits), first);
            let buckets = _mm_add_epi64(starts, at(known));
            let split = _mm_set1_epi64x(size.split as i64);
            let is_split = negative(_mm_sub_epi64(buckets, split));
            let buckets = _mm_add_epi64(buckets, _mm_and_si128(at(next), is_split));
            // The patterns in every lane, by products of halves.
            let tails = _mm_srl_epi64(extensions, level);
            let shorter = _mm_srli_epi64::<1>(tails);
            let differences = _mm_and_si128(_mm_xor_si128(tails, shorter), is_split);
            let tails = _mm_sll_epi64(_mm_xor_si128(tails, differences), get(below_tail));
            let cores = _mm_sll_epi64(_mm_unpacklo_epi64(core, core), get(value_bits));
            let pattern = _mm_and_si128(_mm_or_si128(tails, cores), get(lane));
            let lower = get(&self.leveled.twice[2]);
            let upper = _mm_srli_epi64::<32>(lower);
            let patterns = _mm_add_epi64(
                _mm_mul_epu32(pattern, lower),
                _mm_sll_epi64(_mm_mul_epu32(pattern, upper), get(half)),
            );
            let levels = _mm_sub_epi64(_mm_unpacklo_epi64(level, level), is_split);
            let levels = _mm_slli_epi64::<{ LEVEL_SHIFT as i32 }>(levels);
            let second = _mm_unpackhi_epi64(buckets, buckets);
            Probe {
                first: _mm_cvtsi128_si64(buckets) as u64,
                second: _mm_cvtsi128_si64(second) as u64,
                expected: Expected {
                    patterns: bytemuck::cast(patterns),
                    levels: bytemuck::cast(levels),
                },
                stripe,
            }
        }
    }

    /// The item with this mixed hash, and the value zero.
    #[inline]
    #[must_use]
    pub fn item(&self, mixed: u64) -> Item {
        let Leveled { core: core_bits, low_bits, extension, value_bits, .. } = self.leveled;
        let mixed = spread(mixed);
        let core = mixed >> (u64::BITS - core_bits);
        let (t, s) = self.entry(core);
        let (start, fraction) = self.start(mixed as u32);
        let low = u64::from(fraction) >> (32 - low_bits) << (32 - core_bits);
        let extension = mixed >> 32 & mask(32 - core_bits) | low | 1 << extension;
        let core = core << value_bits;
        let side = |start, extension| Side { start, code: Code { core, extension } };
        let other = side(self.reflect(start, t), extension ^ u64::from(s));
        Item { sides: [side(start, extension), other] }
    }

    /// The other side of a slot.
    #[inline]
    #[must_use]
    pub fn other(&self, side: Side) -> Side {
        let known = (1 << side.code.extension.ilog2()) - 1;
        self.other_by(side, known)
    }

    /// As [`other`](Self::other), with any bits from the marker on.
    #[inline]
    fn other_unmarked(&self, side: Side) -> Side {
        self.other_by(side, u64::MAX)
    }

    /// The other side of a slot, of whose extension these bits are known.
    #[inline]
    fn other_by(&self, Side { start, code: Code { core, extension } }: Side, known: u64) -> Side {
        let (t, s) = self.entry(core >> self.value_bits());
        let code = Code { core, extension: extension ^ u64::from(s) & known };
        Side { start: self.reflect(start, t), code }
    }

    /// Calls `visit` with the lane of each slot of a full word, and the place of its other side in
    /// a table of this size: of those slots that know that place, and of which it is another
    /// bucket.
    #[expect(clippy::inline_always, reason = "so that it gets the instructions of its caller")]
    #[inline(always)]
    pub(super) fn for_each_other(
        &self,
        Root { bucket, word, start, low }: Root,
        size: Size,
        mut visit: impl FnMut(u32, Place),
    ) {
        let level = level(word);
        for lane in 0..self.leveled.slots {
            let code = self.leveled.decode(self.leveled.slot(word, lane), level, low);
            let place = self.place_of_item(self.other_unmarked(Side { start, code }), size);
            // A slot that does not know which bucket this is stays where it is.
            if code.extension >> place.level != 0 && place.bucket != bucket {
                visit(lane, place);
            }
        }
    }

    /// The place of a side of an item in a table of this size. Items are known at every level.
    #[inline]
    #[must_use]
    pub fn place_of_item(&self, side: Side, size: Size) -> Place {
        let Side { start, code: Code { extension, .. } } = side;
        let (bucket, is_split) = self.place_of(start, extension as u32, size);
        Place { bucket, level: size.level + u32::from(is_split) }
    }

    /// The place of a side in a table of this size, or `None` if the side is not known so far.
    #[inline]
    #[must_use]
    pub fn place(&self, side: Side, size: Size) -> Option<Place> {
        let place = self.place_of_item(side, size);
        // What is left above the level is the marker at least.
        (side.code.extension >> place.level != 0).then_some(place)
    }

    /// The bucket of a side at a level, or `None` if the side is not known so far.
    #[inline]
    #[must_use]
    pub fn bucket(&self, side: Side, level: u32) -> Option<u32> {
        self.place(side, Size { level, split: 0 }).map(|place| place.bucket)
    }

    /// The child of a bucket of this level, which exists. (In an image it may not: then it is any.)
    #[inline]
    #[must_use]
    pub fn child(&self, bucket: u32, level: u32) -> u32 {
        self.future_child(bucket, level) as u32
    }

    /// The child that a bucket of this level would get. It may be beyond the last possible bucket.
    #[inline]
    #[must_use]
    pub fn future_child(&self, bucket: u32, level: u32) -> u64 {
        u64::from(bucket) + (self.first << level)
    }

    /// Whether two buckets were one at this level, which both have reached.
    #[inline]
    pub(super) fn is_one_bucket(&self, [first, second]: [u32; 2], level: u32) -> bool {
        u64::from(first.abs_diff(second)) % (self.first << level) == 0
    }

    /// A number that both sides of an item have in common, at every level: it selects the stripe.
    #[inline]
    #[must_use]
    pub fn stripe(&self, core: u64, starts: [u32; 2]) -> usize {
        self.stripe_of((core >> self.value_bits()) as u32, starts) as usize
    }
}

impl Formulas {
    /// Scatters a core, by half. As in tables of a fixed size, the function must not be linear.
    #[expect(clippy::inline_always, reason = "so that it gets the instructions of its caller")]
    #[inline(always)]
    pub(super) const fn scatter(core: u32) -> u32 {
        let x = (core + 1).wrapping_mul(SCATTER[0]);
        x ^ x >> 15
    }

    /// The product of a scattered core.
    #[expect(clippy::inline_always, reason = "as above")]
    #[inline(always)]
    pub(super) fn product(scattered: u32) -> u64 {
        u64::from(scattered) * u64::from(SCATTER[1])
    }

    /// What the product of a scattered core determines: t and s.
    #[expect(clippy::inline_always, reason = "as above")]
    #[inline(always)]
    pub(super) fn reflection(&self, product: u64) -> (u32, u32) {
        let t = (lower(product) * lower(self.first)) >> 32;
        (t as u32, (product >> 32) as u32 & self.below_core())
    }

    /// The first bucket at level 0, and the fraction that is left, from the lower half of a mixed
    /// hash that was spread.
    #[expect(clippy::inline_always, reason = "as above")]
    #[inline(always)]
    pub(super) fn start(&self, lower_half: u32) -> (u32, u32) {
        let product = u64::from(lower_half) * lower(self.first);
        ((product >> 32) as u32, product as u32)
    }

    /// The core, from the upper half of a mixed hash.
    #[expect(clippy::inline_always, reason = "as above")]
    #[inline(always)]
    pub(super) fn core(&self, upper: u32) -> u32 {
        upper >> (32 - self.leveled.core)
    }

    /// The bits below the core in the upper half of a mixed hash.
    #[expect(clippy::inline_always, reason = "as above")]
    #[inline(always)]
    fn below_core(&self) -> u32 {
        u32::MAX >> self.leveled.core
    }

    /// The bucket at level 0 on the other side.
    #[expect(clippy::inline_always, reason = "as above")]
    #[inline(always)]
    fn reflect(&self, start: u32, t: u32) -> u32 {
        let wrap = if start > t { self.first as u32 } else { 0 };
        t.wrapping_sub(start).wrapping_add(wrap)
    }

    /// The bucket of a side in a table of this size, and whether it has been split in this round.
    /// Of the extension, only the lowest bits matter.
    #[expect(clippy::inline_always, reason = "as above")]
    #[inline(always)]
    fn place_of(&self, start: u32, extension: u32, Size { level, split }: Size) -> (u32, bool) {
        let (first, next) = (self.first as u32, 1 << level);
        let bucket = start.wrapping_add(first.wrapping_mul(extension & (next - 1)));
        // No branch: half of the buckets have been split, and nobody knows which ones come next.
        let is_split = bucket < split as u32;
        let goes = is_split && extension & next != 0;
        let child = select_unpredictable(goes, first.wrapping_mul(next), 0);
        (bucket.wrapping_add(child), is_split)
    }

    /// What a lookup needs of an item, given the upper half of its mixed hash and what follows from
    /// it. All numbers have 32 bits, so that a vector has many of them.
    #[expect(clippy::inline_always, reason = "as above")]
    #[inline(always)]
    pub(super) fn locate(
        &self,
        upper: u32,
        (start, fraction): (u32, u32),
        (t, s): (u32, u32),
        size: Size,
    ) -> Located {
        let Leveled { core: core_bits, low_bits, .. } = self.leveled;
        let core = self.core(upper);
        let other = self.reflect(start, t);
        // The bits of the extension: the lower ones, and those that may be beyond them.
        let low = fraction >> 1 >> (31 - low_bits);
        let one = upper & self.below_core() | low << (32 - core_bits);
        let beyond = low >> core_bits << (31 - size.level) << 1;
        let side = |start, extension| {
            let (bucket, is_split) = self.place_of(start, extension, size);
            let tail = extension >> size.level | beyond;
            let tail = select_unpredictable(is_split, tail >> 1, tail);
            (bucket, self.leveled.expected(core, tail, is_split))
        };
        let (first, in_first) = side(start, one);
        let (second, in_second) = side(other, one ^ s);
        Located {
            buckets: [first, second],
            expected: [in_first, in_second],
            stripe: self.stripe_of(core, [start, other]),
        }
    }

    /// What a lookup needs of the item with this mixed hash.
    #[inline]
    pub(in crate::table) fn locate_one(&self, mixed: u64, size: Size) -> Located {
        let mixed = spread(mixed);
        let upper = (mixed >> 32) as u32;
        let reflection = self.reflection(Self::product(Self::scatter(self.core(upper))));
        self.locate(upper, self.start(mixed as u32), reflection, size)
    }

    /// A number that both sides of an item have in common. (The XOR of both starts would be
    /// cheaper, and spreads badly: for one core, each of its bits tells much of the next one.)
    #[expect(clippy::inline_always, reason = "as above")]
    #[inline(always)]
    fn stripe_of(&self, core: u32, [one, other]: [u32; 2]) -> u32 {
        one.min(other) << self.leveled.core | core
    }
}

#[cfg(guira_vectors)]
impl Registers {
    fn new(first: u64, leveled: &Leveled) -> Self {
        let Leveled { core, low_bits, value_bits, first: lane, .. } = *leveled;
        let number = |x: u32| Twice::new(x.into());
        Self {
            first: Twice::new(first),
            below_core: Twice::new(mask(32 - core)),
            low_from: number(32 - low_bits),
            low_to: number(32 - core),
            value_bits: number(value_bits),
            below_tail: number(core + value_bits),
            lane: Twice::new(lane),
            half: number(32),
        }
    }
}

/// The lower half.
#[expect(clippy::inline_always, reason = "so that it gets the instructions of its caller")]
#[inline(always)]
fn lower(x: u64) -> u64 {
    x & u64::from(u32::MAX)
}

/// A mask of this many bits, fewer than 64.
#[inline]
pub(super) const fn mask(bits: u32) -> u64 {
    (1 << bits) - 1
}

#[cfg(all(test, guira_vectors))]
mod tests {
    use super::{Formulas, GrowingAddressing, Item, Located, Probe, Size};
    use crate::{
        bucket::Leveled,
        table::{finalize, mix::spread},
    };

    /// What follows from the item and its places.
    fn located(addressing: &GrowingAddressing, mixed: u64, size: Size, lane: u32) -> Located {
        let Item { sides } = addressing.item(mixed);
        let places = sides.map(|side| addressing.place_of_item(side, size));
        let expected = [0, 1].map(|index| {
            let pattern = addressing.leveled().pattern(sides[index].code, places[index].level);
            pattern as u32 & lane | (places[index].level - size.level) << 31
        });
        let starts = sides.map(|side| side.start);
        let stripe = addressing.stripe(sides[0].code.core, starts) as u32;
        Located { buckets: places.map(|place| place.bucket), expected, stripe }
    }

    #[test]
    fn all_ways_to_locate_an_item_agree() {
        let sets = [(5, 6, 0), (4, 7, 0), (3, 8, 0), (2, 8, 0)];
        let layouts = sets.into_iter().chain([(5, 6, 3), (4, 7, 4), (3, 8, 8), (2, 8, 16)]);
        let firsts = [1, 2, 3, 1_000, 4_096, 12_289, (1 << 31) - 1, 1 << 31, (1 << 32) - 1];
        for (slots, core, value_bits) in layouts {
            for (first, level) in
                firsts.into_iter().flat_map(|n| [0, 1, 7, 14, 15].map(|level| (n, level)))
            {
                let round = first << level;
                if round > 1 << 32 {
                    continue;
                }
                let splits = [0, 1, round / 3, round - 1].map(|split| split.min((1 << 32) - round));
                let addressing =
                    GrowingAddressing::new(first, Leveled::new(slots, core, value_bits));
                // No bucket has more than 15 levels.
                let splits = if level == 15 { [0; 4] } else { splits };
                for size in splits.map(|split| Size { level, split }) {
                    let some = (0..500).map(finalize);
                    // The bits that are compared: the highest one can only be a marker.
                    let lane = u32::MAX >> (33 - addressing.leveled().width);
                    for mixed in some.chain([0, 1, u64::MAX, u32::MAX.into(), !0 << 32]) {
                        let expected = located(&addressing, mixed, size, lane);
                        let found = addressing.locate_one(mixed, size);
                        let compared = found.expected.map(|bits| bits & (lane | 1 << 31));
                        let found = Located { expected: compared, ..found };
                        assert_eq!(found, expected, "{mixed} of {size:?}");
                        let sought = addressing.seek(mixed, size);
                        let words = addressing.seek_item(&addressing.item(mixed), size);
                        let found = [sought.first, sought.second].map(|bucket| bucket as u32);
                        assert_eq!((found, sought.stripe), (expected.buckets, expected.stripe));
                        let of = |Probe { expected, .. }: Probe| {
                            let patterns = expected.patterns.to_array();
                            let compared = addressing.leveled().lanes.broadcast(lane);
                            let patterns = patterns.map(|pattern| pattern & compared);
                            (patterns, expected.levels.to_array())
                        };
                        assert_eq!(of(sought), of(words), "{mixed} of {size:?}");
                    }
                }
            }
        }
        // (What a core determines is loaded, or computed.)
        let addressing = GrowingAddressing::new(12_289, Leveled::new(3, 8, 0));
        for core in 0..1 << 8 {
            assert_eq!(
                addressing.entry(core.into()),
                addressing.reflection(Formulas::product(Formulas::scatter(core)))
            );
        }
        assert_eq!(spread(1 << 32), 1 << 32 | 1);
    }
}
