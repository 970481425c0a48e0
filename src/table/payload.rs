//! Payloads: what slots hold beside a fingerprint. Each implements [`Payload`] beside its lookups
//! or steps.

use super::{Clock, FixedTable};
use crate::bucket::{BucketLayout, Fingerprint};

/// What the slots of a table hold beside a fingerprint.
pub trait Payload: Copy + core::fmt::Debug {
    /// What the table knows about the age of its slots.
    type Clock: Clock;

    /// What lookups in a table of a fixed size keep at hand, once the layout is known.
    type Probe: Copy + core::fmt::Debug + Send + Sync;

    /// The answer of a lookup in a table of a fixed size.
    type Answer;

    /// The probe of tables with this layout.
    fn probe<L: BucketLayout>(&self) -> Self::Probe;

    /// Bits of the low half of a mixed hash that are below a fingerprint without a value.
    fn key_shift<L: BucketLayout>(probe: &Self::Probe) -> u32;

    /// Looks up an item, given its fingerprint without a value, and its buckets.
    ///
    /// # Safety
    /// They are buckets of this table.
    unsafe fn look_up<L: BucketLayout>(
        table: &FixedTable<Self>,
        probe: &Self::Probe,
        key: u32,
        buckets: [u32; 2],
    ) -> Self::Answer;

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
