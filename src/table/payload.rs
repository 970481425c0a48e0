//! Payloads: what slots hold beside a fingerprint. Each implements [`Payload`] beside its lookups
//! or steps.

use super::Clock;

/// What the slots of a table hold beside a fingerprint.
pub trait Payload: Copy + core::fmt::Debug {
    /// What the table knows about the age of its slots.
    type Clock: Clock;

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
}

/// The payload of tables whose slots hold fingerprints alone. It has no size and no cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bare;

impl Payload for Bare {
    type Clock = ();

    fn clock(&self, _stripes: usize, _grows: Option<u64>) -> Option<()> {
        Some(())
    }

    #[inline]
    fn value_bits(&self) -> u32 {
        0
    }
}
