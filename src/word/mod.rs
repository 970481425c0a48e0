//! A bucket as a value: pure functions on one `u64`, without atomics and without concurrency.
//!
//! A word holds a multiset of fingerprints in a fixed number of lanes. Everything the filter ever
//! asks of a bucket is in [`WordLayout`]: is this fingerprint there, how often, how many lanes are
//! occupied, and the word with one fingerprint more, less, or another.

mod layout;
mod nibbles;
mod plain;
mod semi_sorted;
mod swar;

pub use layout::Layout;
pub(crate) use layout::with_layout;
pub use plain::Plain;
pub use semi_sorted::SemiSorted;

/// A fingerprint: up to `2^f - 1` for a layout of f bits, from its smallest on; zero stands for an empty lane
/// and never occurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fingerprint(u32);

impl Fingerprint {
    /// Wraps a value that the caller knows to be a fingerprint of the layout in use.
    ///
    /// # Panics
    /// In debug builds, if the value is zero.
    #[inline]
    #[must_use]
    pub fn new(value: u32) -> Self {
        debug_assert!(value != 0, "zero marks an empty lane");
        Self(value)
    }

    /// The value, never zero.
    #[inline]
    #[must_use]
    pub fn get(self) -> u32 {
        self.0
    }
}

/// What some numbers are, as words of a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Census {
    /// How many of their lanes are occupied.
    pub occupied: u64,
    /// Whether the layout's functions can work with every one of them: it is a word as they make them, or
    /// differs from one in nothing that matters to them.
    pub valid: bool,
}

/// How a word holds its fingerprints.
///
/// The functions see a word as a multiset: in which lane a fingerprint stands has no meaning, and
/// a layout may reorder lanes as it likes. `0` is the empty word of every layout, and all others are made
/// from it by these functions, or pass the [`census`](Self::census): a layout may keep to a form of its own,
/// and expect it.
pub trait WordLayout: 'static {
    /// Lanes in a word: the most fingerprints it holds.
    const LANES: u32;
    /// Bits of a fingerprint.
    const BITS: u32;
    /// The smallest fingerprint, never zero.
    const LEAST_FINGERPRINT: u32;
    /// The largest fingerprint, `2^BITS - 1`.
    const MOST_FINGERPRINT: u32 = u32::MAX >> (32 - Self::BITS);
    /// How many fingerprints there are.
    const FINGERPRINTS: u32 = Self::MOST_FINGERPRINT - Self::LEAST_FINGERPRINT + 1;

    /// A fingerprint made ready for comparison with many words.
    type Pattern: Copy;

    /// Makes a fingerprint ready for comparison.
    fn pattern(fingerprint: Fingerprint) -> Self::Pattern;

    /// Whether the word holds the fingerprint.
    fn contains(word: u64, pattern: Self::Pattern) -> bool;

    /// Whether one of two words holds the fingerprint, or both.
    #[inline]
    fn either_contains(words: [u64; 2], pattern: Self::Pattern) -> bool {
        // No branch between them: which one does, no branch could guess.
        Self::contains(words[0], pattern) | Self::contains(words[1], pattern)
    }

    /// The same at first sight, and whether that is certain. A *no* always is.
    #[inline]
    fn glance(words: [u64; 2], pattern: Self::Pattern) -> (bool, bool) {
        (Self::either_contains(words, pattern), true)
    }

    /// How many copies of the fingerprint the word holds, `0 ..= LANES`.
    fn count(word: u64, pattern: Self::Pattern) -> u32;

    /// Whether the word holds fewer fingerprints than the other; either answer where they hold as many.
    fn is_emptier(word: u64, other: u64) -> bool;

    /// Whether every lane is occupied.
    fn is_full(word: u64) -> bool;

    /// The word with one copy of the fingerprint more; `None` when it is full.
    fn with(word: u64, fingerprint: Fingerprint) -> Option<u64>;

    /// The word with one copy of the fingerprint less; `None` when it holds none.
    fn without(word: u64, pattern: Self::Pattern) -> Option<u64>;

    /// The word with one copy of `old` turned into `new`; `None` when it holds no `old`.
    fn replace(word: u64, old: Self::Pattern, new: Fingerprint) -> Option<u64>;

    /// What these numbers are together. At its best by the hundred and while they are in a first-level cache.
    fn census(words: &[u64]) -> Census;

    /// The fingerprints in the word, each as often as it occurs.
    fn fingerprints(word: u64) -> impl Iterator<Item = Fingerprint>;
}
