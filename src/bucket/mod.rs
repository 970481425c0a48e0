//! A bucket as a value: pure functions on one `u64`, without atomics and without concurrency.
//!
//! A word holds a multiset of fingerprints in a fixed number of slots. [`BucketLayout`] has every
//! operation that the filter needs: is this fingerprint there, how often, which of two words is
//! emptier, and the word with one fingerprint more, less, or replaced.

mod census;
mod dispatch;
mod layout;
pub(crate) mod leveled;
pub(crate) mod nibbles;
mod plain;
mod rates;
mod semi_sorted;
mod swar;

pub(crate) use dispatch::{with_growing_layout, with_layout, with_set_layout, with_valued_layout};
pub use layout::Layout;
pub(crate) use layout::MAX_VALUE_BITS;
pub use leveled::{Code, GrowingLayout, Leveled};
pub use plain::Plain;
pub use semi_sorted::SemiSorted;
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

/// How a word holds its fingerprints.
///
/// The functions treat a word as a multiset: the slot of a fingerprint has no meaning, and a layout
/// may reorder slots. `0` is the empty word of every layout. All other words are made from it by
/// these functions, or pass the [`census`](Self::census), so a layout may maintain an invariant and
/// rely on it.
pub trait BucketLayout: 'static {
    /// Number of slots in a word: the largest number of fingerprints that it holds.
    const SLOTS: u32;
    /// Number of bits of a fingerprint.
    const BITS: u32;
    /// The smallest fingerprint, never zero.
    const MIN_FINGERPRINT: u32;
    /// The largest fingerprint, `2^BITS - 1`.
    const MAX_FINGERPRINT: u32 = u32::MAX >> (32 - Self::BITS);
    /// The number of fingerprints.
    const FINGERPRINTS: u32 = Self::MAX_FINGERPRINT - Self::MIN_FINGERPRINT + 1;

    /// The lanes of a word: of a fingerprint, or of a high part.
    const LANES: Lanes;
    /// Number of the lowest bits of a fingerprint that are not in its lane. If it is not zero, two
    /// different fingerprints can have equal lanes.
    const BITS_BELOW: u32;

    /// A fingerprint in the form that comparisons use.
    type Pattern: Copy;

    /// Returns the pattern of a fingerprint.
    fn pattern(fingerprint: Fingerprint) -> Self::Pattern;

    /// Returns whether the word holds the fingerprint.
    fn contains(word: u64, pattern: Self::Pattern) -> bool;

    /// Returns whether at least one of two words holds the fingerprint. Faster than two calls if the
    /// lane of the fingerprint is in one of them.
    #[inline]
    fn either_contains(words: [u64; 2], pattern: Self::Pattern) -> bool {
        // No branch between them: it would be mispredicted half of the time.
        Self::contains(words[0], pattern) | Self::contains(words[1], pattern)
    }

    /// Counts the copies of the fingerprint in the word, `0 ..= SLOTS`.
    fn count(word: u64, pattern: Self::Pattern) -> u32;

    /// Returns whether the word holds fewer fingerprints than the other one. Both answers are
    /// allowed if they hold equally many.
    fn is_emptier(word: u64, other: u64) -> bool;

    /// Returns whether every slot is occupied.
    fn is_full(word: u64) -> bool;

    /// Returns the word with one more copy of the fingerprint, or `None` if it is full.
    fn with(word: u64, fingerprint: Fingerprint) -> Option<u64>;

    /// Returns the word with one copy fewer of the fingerprint, or `None` if it holds none.
    fn without(word: u64, pattern: Self::Pattern) -> Option<u64>;

    /// Returns the word with one copy of `old` replaced by `new`, or `None` if it holds no `old`.
    fn replace(word: u64, old: Self::Pattern, new: Fingerprint) -> Option<u64>;

    /// Counts the occupied slots of words, and validates them. Fastest for hundreds of words that
    /// are in a first-level cache.
    fn census(words: &[u64]) -> Census;

    /// Returns the fingerprints in the word, each as often as it occurs, in the order of their
    /// slots.
    fn fingerprints(word: u64) -> impl Iterator<Item = Fingerprint>;
}
