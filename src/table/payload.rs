//! What slots hold beside a fingerprint.

use super::Clock;

/// What the slots of a table hold beside a fingerprint: a number of bits, none in sets. They are a
/// value, or if slots expire, the stamp of a generation; then it also tells how slots age.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Payload {
    value_bits: u32,
    ages: Option<Ages>,
}

/// How slots age.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ages {
    /// The largest age of a visible slot.
    window: u32,
    /// The first generation of a new table.
    start: u64,
}

impl Payload {
    /// Fingerprints alone.
    pub const NONE: Self = Self::values(0);

    /// Values of this many bits, at most 16.
    #[must_use]
    pub const fn values(bits: u32) -> Self {
        Self { value_bits: bits, ages: None }
    }

    /// Stamps of this many bits. Slots are visible up to the age `window`, which must be at most
    /// `2^bits - 3`. A new table starts in the generation `start`, which must be at least `window`.
    #[must_use]
    pub fn stamps(bits: u32, window: u32, start: u64) -> Self {
        debug_assert!(window <= (1_u32 << bits) - 3);
        Self { value_bits: bits, ages: Some(Ages { window, start }) }
    }

    /// Returns the clock of a new table with this many stripes, or `None` if the system refuses the
    /// memory.
    pub(super) fn clock(self, stripes: usize) -> Option<Clock> {
        match self.ages {
            None => Some(Clock::none()),
            Some(Ages { window, start }) => Clock::new(start, (window, self.value_bits), stripes),
        }
    }

    /// The number of bits of a value, or of a stamp.
    #[inline]
    #[must_use]
    pub fn value_bits(self) -> u32 {
        self.value_bits
    }

    /// The mask of these bits.
    #[inline]
    #[must_use]
    pub fn value_mask(self) -> u32 {
        (1 << self.value_bits) - 1
    }
}
