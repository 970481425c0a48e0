//! A bucket as a value: pure functions on one `u64`, without atomics and without concurrency.
//!
//! A word holds a multiset of slots. [`Slots`] has the constants of a layout and every operation
//! that tables of a fixed size need: is this slot there, how often, which of two words is emptier,
//! and the word with one slot more, less, or replaced.

mod both;
mod census;
mod layout;
pub(crate) mod leveled;
pub(crate) mod nibbles;
mod rates;
mod semi_sorted;
mod slots;
mod swar;

pub(crate) use both::{BothWords, Expected, Twice};
pub use layout::Layout;
pub(crate) use layout::MAX_VALUE_BITS;
pub use leveled::{Code, Leveled};
pub use slots::{Slots, Sought};
pub use swar::Lanes;

/// A fingerprint: in a layout of f bits, from the layout's smallest one to `2^f - 1`. It is never
/// zero, which marks an empty slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fingerprint(u32);

impl Fingerprint {
    /// Wraps a value that is a fingerprint of the layout in use.
    ///
    /// # Panics
    /// In debug builds, if the value is zero.
    #[inline]
    #[must_use]
    pub fn new(value: u32) -> Self {
        debug_assert!(value != 0, "zero marks an empty slot");
        Self(value)
    }

    /// Returns the value, never zero.
    #[inline]
    #[must_use]
    pub fn get(self) -> u32 {
        self.0
    }
}

/// Largest number of slots in a word of any layout.
pub(crate) const MAX_SLOTS: usize = 8;

/// A summary of all words of a slice, taken as words of one layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Census {
    /// The number of occupied slots.
    pub occupied: u64,
    /// Whether every word is one that the layout's functions could have made, or differs from such
    /// a word only in ways on which no function depends.
    pub valid: bool,
}
