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

use crate::{
    bucket::{Code, Leveled},
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
    /// The number of buckets at level 0.
    first: u64,
    /// For each core: t in the low half, and s in the high half.
    scatter: Box<[u64]>,
    leveled: Leveled,
}

impl Growth {
    /// The addressing of a table with `first` buckets at level 0, `1 ..= 2^32`, and words of this
    /// kind, or `None` if the system refuses the memory.
    #[must_use]
    pub fn new(first: u64, leveled: Leveled) -> Option<Self> {
        debug_assert!((1..=1 << 32).contains(&first));
        let entry = |core: u32| {
            let scattered = scatter(core.into());
            let t = ((scattered & u64::from(u32::MAX)) * first) >> 32;
            let s = scattered >> 32 & mask(32 - leveled.core);
            s << 32 | t
        };
        Some(Self { first, scatter: try_boxed((0..1 << leveled.core).map(entry))?, leveled })
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

    /// Bytes on the heap.
    #[must_use]
    pub fn size_in_bytes(&self) -> usize {
        size_of_val(&*self.scatter)
    }

    /// For each core: t in the low half, and s in the high half.
    #[cfg(guira_vectors)]
    pub(in crate::table) fn scatter(&self) -> &[u64] {
        &self.scatter
    }

    /// The number of buckets of a table of this size.
    #[inline]
    #[must_use]
    pub fn buckets(&self, size: Size) -> u64 {
        (self.first << size.level) + size.split
    }

    /// The item with this mixed hash, and the value zero.
    #[inline]
    #[must_use]
    pub fn item(&self, mixed: u64) -> Item {
        let mixed = spread(mixed);
        let core = mixed >> (u64::BITS - self.leveled.core) << self.value_bits();
        let product = (mixed & u64::from(u32::MAX)) * self.first;
        let start = (product >> 32) as u32;
        let entry = self.entry(core);
        let low = (product & u64::from(u32::MAX)) >> (32 - self.leveled.low_bits)
            << (32 - self.leveled.core);
        let above = 1 << self.leveled.extension | low;
        let extension = |bits: u64| bits >> 32 & mask(32 - self.leveled.core) | above;
        let side = |start, bits| Side { start, code: Code { core, extension: extension(bits) } };
        Item { sides: [side(start, mixed), side(self.reflect(start, entry), mixed ^ entry)] }
    }

    /// The other side of a slot.
    #[inline]
    #[must_use]
    pub fn other(&self, side: Side) -> Side {
        let Side { start, code: Code { core, extension } } = side;
        let entry = self.entry(core);
        let known = (1 << extension.ilog2()) - 1;
        let extension = extension ^ (entry >> 32 & known);
        Side { start: self.reflect(start, entry), code: Code { core, extension } }
    }

    /// As [`other`](Self::other), with any bits from the marker on, and the extension of `side`,
    /// which has the marker.
    #[inline]
    pub(super) fn other_unmarked(&self, side: Side) -> (Side, u64) {
        let Side { start, code: Code { core, extension } } = side;
        let entry = self.entry(core);
        let code = Code { core, extension: extension ^ entry >> 32 };
        (Side { start: self.reflect(start, entry), code }, extension)
    }

    /// What the core of a code determines.
    #[inline]
    fn entry(&self, core: u64) -> u64 {
        self.scatter[(core >> self.value_bits()) as usize]
    }

    /// The bucket at level 0 on the other side.
    #[inline]
    fn reflect(&self, start: u32, entry: u64) -> u32 {
        let (difference, wraps) = (entry as u32).overflowing_sub(start);
        // For 2^32 buckets the subtraction wraps at the right number by itself.
        difference.wrapping_add(if wraps { self.first as u32 } else { 0 })
    }

    /// The place of a side of an item in a table of this size. Items are known at every level.
    #[inline]
    #[must_use]
    pub fn place_of_item(&self, side: Side, size: Size) -> Place {
        let Side { start, code: Code { extension, .. } } = side;
        let bucket = u64::from(start) + self.first * (extension & mask(size.level));
        // No branch: half of the buckets have been split, and nobody knows which ones come next.
        let is_split = u64::from(bucket < size.split);
        let goes = is_split & extension >> size.level;
        let child = (self.first << size.level) & goes.wrapping_neg();
        Place { bucket: (bucket + child) as u32, level: size.level + is_split as u32 }
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
        let core = core >> self.value_bits();
        (u64::from(starts[0].min(starts[1])) << self.leveled.core | core) as usize
    }
}

/// Spreads a core over 64 bits. As in tables of a fixed size, it must not be linear.
#[inline]
fn scatter(core: u64) -> u64 {
    let x = ((core + 1) * u64::from(SCATTER[0])) & u64::from(u32::MAX);
    (x ^ (x >> 15)) * u64::from(SCATTER[1])
}

/// A mask of this many bits, fewer than 64.
#[inline]
pub(super) fn mask(bits: u32) -> u64 {
    (1 << bits) - 1
}
