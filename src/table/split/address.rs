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

use alloc::boxed::Box;
use core::ops::Deref;

#[cfg(guira_vectors)]
use crate::bucket::Twice;
use crate::{
    bucket::{Code, Expected, Leveled, leveled::{LEVEL_SHIFT, empty, level}},
    table::{
        mix::{SCATTER, spread},
        try_boxed,
    },
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
pub struct Growth {
    formulas: Formulas,
    /// For each core: t in the low half, and s in the high half. To load them takes less time than
    /// to compute them, but for whole blocks.
    scatter: Box<[u64]>,
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
    /// By how many bits the core is shifted from the highest bits, and the mask of what follows.
    core_from: Twice,
    below_core: Twice,
    /// By how many bits the low part of an extension is shifted down and up.
    low_from: Twice,
    low_to: Twice,
    /// The numbers of bits of a value, of a core and a value, and of a core but one.
    value_bits: Twice,
    below_tail: Twice,
    core_bits: Twice,
    lane: Twice,
    /// The lowest bit of each lane, in two halves, and the bits of a half.
    ones: [Twice; 2],
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
pub(in crate::table) struct Sought {
    /// The buckets of both sides.
    pub(in crate::table) first: u64,
    pub(in crate::table) second: u64,
    /// What their words are compared with.
    pub(in crate::table) expected: Expected,
    /// The number that selects the stripe.
    pub(in crate::table) stripe: u32,
}

/// Both sides of an item, by what they have in common and what differs.
#[derive(Clone, Copy)]
struct Sides {
    core: u64,
    starts: [u64; 2],
    extensions: [u64; 2],
}

impl Deref for Growth {
    type Target = Formulas;

    #[inline]
    fn deref(&self) -> &Formulas {
        &self.formulas
    }
}

impl Growth {
    /// The addressing of a table with `first` buckets at level 0, `1 .. 2^32`, and words of this
    /// kind, or `None` if the system refuses the memory.
    #[must_use]
    pub fn new(first: u64, leveled: Leveled) -> Option<Self> {
        debug_assert!((1..1 << 32).contains(&first));
        let formulas = Formulas { first, leveled };
        let entry = |core: u32| {
            let (t, s) = formulas.scatter(core.into());
            s << 32 | t
        };
        Some(Self {
            formulas,
            scatter: try_boxed((0..1 << leveled.core).map(entry))?,
            #[cfg(guira_vectors)]
            registers: Registers::new(first, &leveled),
        })
    }

    /// Bytes on the heap.
    #[must_use]
    pub fn size_in_bytes(&self) -> usize {
        size_of_val(&*self.scatter)
    }

    /// What a core determines: t and s.
    #[expect(clippy::inline_always, reason = "so that it gets the instructions of its caller")]
    #[inline(always)]
    fn entry(&self, core: u64) -> (u64, u64) {
        let entry = self.scatter[core as usize];
        (lower(entry), entry >> 32)
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

    /// As [`locate`](Self::locate), for one lookup.
    #[cfg(not(guira_vectors))]
    #[expect(clippy::inline_always, reason = "so that it gets the instructions of its caller")]
    #[inline(always)]
    pub(in crate::table) fn seek(&self, mixed: u64, size: Size) -> Sought {
        self.seek_by_words(mixed, size)
    }

    /// As above.
    #[inline]
    fn seek_by_words(&self, mixed: u64, size: Size) -> Sought {
        let Located { buckets, expected, stripe } = self.locate(mixed, size);
        let pattern = |expected| self.leveled.lanes.broadcast(expected & u32::MAX >> 1);
        let level = |expected| empty(size.level + (expected >> 31));
        let expected = Expected::new(expected.map(pattern), expected.map(level));
        let [first, second] = buckets.map(u64::from);
        Sought { first, second, expected, stripe }
    }

    /// As [`locate`](Self::locate), for one lookup, in registers of SSE2: see
    /// `Addressing::locate`. Both sides are halves of one register.
    #[cfg(guira_vectors)]
    #[expect(clippy::inline_always, reason = "so that it gets the instructions of its caller")]
    #[inline(always)]
    pub(in crate::table) fn seek(&self, mixed: u64, size: Size) -> Sought {
        use core::arch::x86_64::{
            __m128i, _mm_add_epi64, _mm_and_si128, _mm_cvtsi32_si128, _mm_cvtsi64_si128,
            _mm_cvtsi128_si32, _mm_cvtsi128_si64, _mm_mul_epu32, _mm_or_si128, _mm_set1_epi64x, _mm_shuffle_epi32,
            _mm_sll_epi64, _mm_slli_epi64, _mm_srai_epi32, _mm_srl_epi32, _mm_srl_epi64,
            _mm_srli_epi64, _mm_sub_epi64, _mm_unpackhi_epi64, _mm_unpacklo_epi64,
            _mm_xor_si128,
        };
        let (t, s) = self.entry(mixed >> (u64::BITS - self.leveled.core));
        let get = |twice: &Twice| -> __m128i { twice.load().into() };
        let Registers { first, core_from, below_core, low_from, low_to, .. } =
            &self.registers;
        let Registers { value_bits, below_tail, core_bits, lane, ones, half, .. } = &self.registers;
        // SAFETY: the target has SSE2.
        unsafe {
            let number = |x: u32| _mm_cvtsi32_si128(x as i32);
            // All ones where a difference is negative.
            let negative = |x| _mm_shuffle_epi32::<0b1111_0101>(_mm_srai_epi32::<31>(x));
            let first = get(first);
            let mixed = _mm_cvtsi64_si128(spread(mixed) as i64);
            let upper = _mm_srli_epi64::<32>(mixed);
            let core = _mm_srl_epi64(mixed, get(core_from));
            let [t, s] = [t, s].map(|x| number(x as u32));
            let product = _mm_mul_epu32(mixed, first);
            let start = _mm_srli_epi64::<32>(product);
            let difference = _mm_sub_epi64(t, start);
            let other = _mm_add_epi64(difference, _mm_and_si128(negative(difference), first));
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
            let [lower, upper] = ones.each_ref().map(get);
            let patterns = _mm_add_epi64(
                _mm_mul_epu32(pattern, lower),
                _mm_sll_epi64(_mm_mul_epu32(pattern, upper), get(half)),
            );
            let levels = _mm_sub_epi64(_mm_unpacklo_epi64(level, level), is_split);
            let levels = _mm_slli_epi64::<{ LEVEL_SHIFT as i32 }>(levels);
            let starts = _mm_sll_epi64(_mm_xor_si128(start, other), get(core_bits));
            let stripe = _mm_xor_si128(starts, core);
            let second = _mm_unpackhi_epi64(buckets, buckets);
            Sought {
                first: _mm_cvtsi128_si64(buckets) as u64,
                second: _mm_cvtsi128_si64(second) as u64,
                expected: Expected { patterns: patterns.into(), levels: levels.into() },
                stripe: _mm_cvtsi128_si32(stripe) as u32,
            }
        }
    }

    /// The item with this mixed hash, and the value zero.
    #[inline]
    #[must_use]
    pub fn item(&self, mixed: u64) -> Item {
        let Sides { core, starts, extensions } = self.sides(mixed, |core| self.entry(core));
        let core = core << self.value_bits();
        let side = |start, extension| Side { start: start as u32, code: Code { core, extension } };
        Item { sides: [side(starts[0], extensions[0]), side(starts[1], extensions[1])] }
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
        let start = self.reflect(start.into(), t) as u32;
        Side { start, code: Code { core, extension: extension ^ s & known } }
    }

    /// Calls `visit` with the lane of each slot of a full word, and the place of its other side in a
    /// table of this size: of those slots that know that place, and of which it is another bucket.
    #[inline]
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
        let (bucket, is_split) = self.split_place(start.into(), extension, size);
        Place { bucket: bucket as u32, level: size.level + is_split as u32 }
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
        self.stripe_by(core >> self.value_bits(), starts.map(u64::from)) as usize
    }

}

impl Formulas {
    /// The number of first buckets as a factor: the compiler sees that it has 32 bits, because
    /// vectors have products of 32 bits.
    #[expect(clippy::inline_always, reason = "so that it gets the instructions of its caller")]
    #[inline(always)]
    fn factor(&self) -> u64 {
        lower(self.first)
    }

    /// Both sides of the item with this mixed hash, given what a core determines.
    #[expect(clippy::inline_always, reason = "as above")]
    #[inline(always)]
    fn sides(&self, mixed: u64, scatter: impl Fn(u64) -> (u64, u64)) -> Sides {
        let Leveled { core: core_bits, low_bits, extension, .. } = self.leveled;
        let mixed = spread(mixed);
        let core = mixed >> (u64::BITS - core_bits);
        let product = lower(mixed) * self.factor();
        let low = lower(product) >> (32 - low_bits) << (32 - core_bits);
        let one = mixed >> 32 & mask(32 - core_bits) | low | 1 << extension;
        let (t, s) = scatter(core);
        let start = product >> 32;
        Sides { core, starts: [start, self.reflect(start, t)], extensions: [one, one ^ s] }
    }

    /// What a core determines: t and s.
    ///
    /// As in tables of a fixed size, the function must not be linear.
    #[expect(clippy::inline_always, reason = "as above")]
    #[inline(always)]
    fn scatter(&self, core: u64) -> (u64, u64) {
        let [by, again] = SCATTER.map(u64::from);
        let x = lower(lower(core + 1) * by);
        let scattered = (x ^ x >> 15) * again;
        let t = (lower(scattered) * self.factor()) >> 32;
        (t, scattered >> 32 & mask(32 - self.leveled.core))
    }

    /// The bucket at level 0 on the other side.
    #[expect(clippy::inline_always, reason = "so that it gets the instructions of its caller")]
    #[inline(always)]
    fn reflect(&self, start: u64, t: u64) -> u64 {
        let wrap = if start > t { self.first } else { 0 };
        t.wrapping_sub(start).wrapping_add(wrap)
    }

    /// The bucket of a side in a table of this size, and 1 if it has been split in this round, or
    /// else 0.
    #[expect(clippy::inline_always, reason = "as above")]
    #[inline(always)]
    fn split_place(
        &self,
        start: u64,
        extension: u64,
        Size { level, split }: Size,
    ) -> (u64, u64) {
        let bucket = start + self.factor() * lower(extension & mask(level));
        // No branch: half of the buckets have been split, and nobody knows which ones come next.
        let is_split = u64::from(bucket < split);
        let goes = is_split & extension >> level;
        (bucket + (self.first << level & goes.wrapping_neg()), is_split)
    }

    /// What a lookup needs of the item with this mixed hash.
    #[expect(clippy::inline_always, reason = "as above")]
    #[inline(always)]
    pub(in crate::table) fn locate(&self, mixed: u64, size: Size) -> Located {
        let Sides { core, starts, extensions } = self.sides(mixed, |core| self.scatter(core));
        let side = |start, extension: u64| {
            let (bucket, is_split) = self.split_place(start, extension, size);
            let tail = extension >> size.level >> is_split;
            (bucket as u32, self.leveled.expected(core, tail, is_split))
        };
        let (first, in_first) = side(starts[0], extensions[0]);
        let (second, in_second) = side(starts[1], extensions[1]);
        let stripe = self.stripe_by(core, starts);
        Located {
            buckets: [first, second],
            expected: [in_first, in_second],
            stripe: stripe as u32,
        }
    }

    /// A number that both sides of an item have in common, given the core without a value.
    ///
    /// For one core, the starts are x and t - x. Their lowest bits differ or not as t has it (and
    /// the number of buckets, if the difference wraps), so that bit is combined with the core's.
    #[expect(clippy::inline_always, reason = "so that it gets the instructions of its caller")]
    #[inline(always)]
    fn stripe_by(&self, core: u64, [one, other]: [u64; 2]) -> u64 {
        (one ^ other) << (self.leveled.core - 1) ^ core
    }
}

#[cfg(guira_vectors)]
impl Registers {
    fn new(first: u64, leveled: &Leveled) -> Self {
        let Leveled { core, low_bits, value_bits, first: lane, .. } = *leveled;
        let number = |x: u32| Twice::new(x.into());
        let ones = leveled.lanes.ones();
        Self {
            first: Twice::new(first),
            core_from: number(u64::BITS - core),
            below_core: Twice::new(mask(32 - core)),
            low_from: number(32 - low_bits),
            low_to: number(32 - core),
            value_bits: number(value_bits),
            below_tail: number(core + value_bits),
            core_bits: number(core - 1),
            lane: Twice::new(lane),
            ones: [Twice::new(lower(ones)), Twice::new(ones >> 32)],
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
