//! Payloads: what slots hold beside a fingerprint.

use super::{Clock, Generations, KeyProbe};
use crate::bucket::{BucketLayout, Fingerprint};

/// What the slots of a table hold beside a fingerprint.
pub trait Payload: Copy + core::fmt::Debug {
    /// What the table knows about the age of its slots.
    type Clock: Clock;

    /// What lookups by key keep at hand, once the layout is known.
    type Probe: Copy + core::fmt::Debug + Send + Sync;

    /// The probe of tables with this layout.
    fn probe<L: BucketLayout>(&self) -> Self::Probe;

    /// Returns the clock of a new table with this many stripes, and with this many buckets at first
    /// if it grows; or `None` if the system refuses the memory.
    fn clock(&self, stripes: usize, grows: Option<u64>) -> Option<Self::Clock>;

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

/// The payload of tables whose slots hold fingerprints alone. It has no size and no cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bare;

impl Payload for Bare {
    type Clock = ();
    type Probe = ();

    fn probe<L: BucketLayout>(&self) {}

    fn clock(&self, _stripes: usize, _grows: Option<u64>) -> Option<()> {
        Some(())
    }

    #[inline]
    fn value_bits(&self) -> u32 {
        0
    }
}

/// The payload of tables with values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Valued {
    value_bits: u32,
}

impl Valued {
    /// Values of this many bits, at most 16.
    #[must_use]
    pub fn new(value_bits: u32) -> Self {
        Self { value_bits }
    }
}

impl Payload for Valued {
    type Clock = ();
    type Probe = KeyProbe;

    fn probe<L: BucketLayout>(&self) -> KeyProbe {
        KeyProbe::new::<L>(self.value_bits)
    }

    fn clock(&self, _stripes: usize, _grows: Option<u64>) -> Option<()> {
        Some(())
    }

    #[inline]
    fn value_bits(&self) -> u32 {
        self.value_bits
    }
}

/// The payload of tables whose values are stamps: see [`Generations`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aged {
    stamp_bits: u32,
    window: u32,
    /// The generation in which a new table starts.
    start: u64,
}

impl Aged {
    /// Stamps of this many bits. Slots are visible up to the age `window`, at most
    /// `2^stamp_bits - 3`. A new table starts in the generation `start`, at least `window`.
    #[must_use]
    pub fn new(stamp_bits: u32, window: u32, start: u64) -> Self {
        debug_assert!(window <= (1_u32 << stamp_bits) - 3);
        Self { stamp_bits, window, start }
    }
}

impl Payload for Aged {
    type Clock = Generations;
    type Probe = ();

    fn probe<L: BucketLayout>(&self) {}

    fn clock(&self, stripes: usize, grows: Option<u64>) -> Option<Generations> {
        Generations::new(self.start, (self.window, self.stamp_bits), stripes, grows)
    }

    #[inline]
    fn value_bits(&self) -> u32 {
        self.stamp_bits
    }
}
