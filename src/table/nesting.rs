//! Nesting: what kinds of tables there are, by their place in a chain and by what their slots hold.

use core::borrow::Borrow;

use super::{Clock, Generations, KeyProbe, Stripes};
use crate::{
    bucket::{BucketLayout, Fingerprint},
    sync::Shared,
};

/// Where a table stands in a chain of segments, and whether its slots hold values.
pub trait Nesting: Copy + core::fmt::Debug {
    /// How a table holds its stripes. A segment shares them with its chain.
    type Stripes: Borrow<Stripes> + core::fmt::Debug;

    /// What the table knows about the age of its slots.
    type Clock: Clock;

    /// What lookups by key keep at hand, once the layout is known.
    type Probe: Copy + core::fmt::Debug + Send + Sync;

    /// The probe of tables with this layout.
    fn probe<L: BucketLayout>(&self) -> Self::Probe;

    /// Doublings of the number of buckets since the first segment: none in a table that stands
    /// alone.
    #[inline]
    fn level(&self) -> u32 {
        0
    }

    /// Bits by which a fingerprint with its value is longer here than a fingerprint without its
    /// value in the first segment. In a table that stands alone, these are the bits of a value.
    #[inline]
    fn extra_bits(&self) -> u32 {
        self.value_bits()
    }

    /// The number of bits of a value.
    fn value_bits(&self) -> u32;

    /// The mask of a value's bits.
    #[inline]
    fn value_mask(&self) -> u32 {
        (1 << self.value_bits()) - 1
    }

    /// The bits of all values in a word.
    #[inline]
    fn values<L: BucketLayout>(&self) -> u64 {
        L::LANES.broadcast(self.value_mask())
    }

    /// The fingerprint without its value.
    #[inline]
    fn key(&self, fingerprint: Fingerprint) -> Fingerprint {
        Fingerprint::new(fingerprint.get() & !self.value_mask())
    }
}

/// The nesting of a table that stands alone.
pub trait Alone: Nesting<Stripes = Stripes> {
    /// Returns the clock of a new table with this many stripes, or `None` if the system refuses the
    /// memory.
    fn clock(&self, stripes: usize) -> Option<Self::Clock>;
}

/// The nesting of a table that stands alone and has no values. It has no size and no cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Single;

impl Nesting for Single {
    type Stripes = Stripes;
    type Clock = ();
    type Probe = ();

    fn probe<L: BucketLayout>(&self) {}

    #[inline]
    fn value_bits(&self) -> u32 {
        0
    }
}

impl Alone for Single {
    fn clock(&self, _stripes: usize) -> Option<()> {
        Some(())
    }
}

/// The nesting of a table that stands alone and has values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Valued {
    value_bits: u32,
}

impl Valued {
    /// The nesting of a table with values of this many bits, at most 16.
    #[must_use]
    pub fn new(value_bits: u32) -> Self {
        Self { value_bits }
    }
}

impl Nesting for Valued {
    type Stripes = Stripes;
    type Clock = ();
    type Probe = KeyProbe;

    fn probe<L: BucketLayout>(&self) -> KeyProbe {
        KeyProbe::new::<L>(self.value_bits)
    }

    #[inline]
    fn value_bits(&self) -> u32 {
        self.value_bits
    }
}

impl Alone for Valued {
    fn clock(&self, _stripes: usize) -> Option<()> {
        Some(())
    }
}

/// The nesting of a table that stands alone and whose values are stamps: see
/// [`Generations`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aged {
    stamp_bits: u32,
    window: u32,
    /// The generation in which a new table starts.
    start: u64,
}

impl Aged {
    /// The nesting of a table whose slots have stamps of this many bits, and are visible up to the
    /// age `window`, from 1 to `2^stamp_bits - 3`. A new table starts in the generation `start`, at
    /// least `window`.
    #[must_use]
    pub fn new(stamp_bits: u32, window: u32, start: u64) -> Self {
        debug_assert!((1..=(1_u32 << stamp_bits) - 3).contains(&window));
        Self { stamp_bits, window, start }
    }
}

impl Nesting for Aged {
    type Stripes = Stripes;
    type Clock = Generations;
    type Probe = ();

    fn probe<L: BucketLayout>(&self) {}

    #[inline]
    fn value_bits(&self) -> u32 {
        self.stamp_bits
    }
}

impl Alone for Aged {
    fn clock(&self, stripes: usize) -> Option<Generations> {
        Generations::new(self.start, (self.window, self.stamp_bits), stripes)
    }
}

/// The nesting of a segment. Its slots hold the same as those of a table that stands alone and has
/// the nesting `V`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nested<V: Alone = Single> {
    level: u32,
    extra_bits: u32,
    /// The smallest fingerprint of the first segment, and the number of its fingerprints.
    first_fingerprints: (u32, u32),
    alone: V,
}

impl Nested {
    /// The nesting of the segment at a level. The first segment has `count` fingerprints, which
    /// begin at `min`; those of this segment have `extra_bits` more bits.
    #[must_use]
    pub fn new(level: u32, (min, count): (u32, u32), extra_bits: u32) -> Self {
        Self { level, extra_bits, first_fingerprints: (min, count), alone: Single }
    }

    /// This nesting, for a segment with values of this many bits, at most 16.
    #[must_use]
    pub fn with_values(self, value_bits: u32) -> Nested<Valued> {
        self.holding(Valued::new(value_bits))
    }

    /// This nesting, for a segment whose slots hold what those of `alone` do.
    pub(crate) fn holding<V: Alone>(self, alone: V) -> Nested<V> {
        let Self { level, extra_bits, first_fingerprints, .. } = self;
        let extra_bits = extra_bits + alone.value_bits();
        Nested { level, extra_bits, first_fingerprints, alone }
    }
}

impl<V: Alone> Nested<V> {
    /// Bits by which the fingerprints are longer than in the first segment.
    #[inline]
    #[must_use]
    pub fn longer(&self) -> u32 {
        self.extra_bits - self.alone.value_bits()
    }

    /// The smallest fingerprint of this segment, and the number of its fingerprints, without
    /// values.
    #[inline]
    #[must_use]
    pub fn fingerprints(&self) -> (u32, u32) {
        let (min, count) = self.first_fingerprints;
        (min << self.longer(), count << self.longer())
    }

    /// The finest nesting that both this one and another one of the same chain determine.
    pub(super) fn common(self, other: Self) -> Self {
        let level = self.level.min(other.level);
        Self { level, extra_bits: self.extra_bits.min(other.extra_bits), ..self }
    }
}

impl<V: Alone> Nesting for Nested<V> {
    type Stripes = Shared<Stripes>;
    type Clock = ();
    type Probe = ();

    fn probe<L: BucketLayout>(&self) {}

    #[inline]
    fn level(&self) -> u32 {
        self.level
    }

    #[inline]
    fn extra_bits(&self) -> u32 {
        self.extra_bits
    }

    #[inline]
    fn value_bits(&self) -> u32 {
        self.alone.value_bits()
    }
}
