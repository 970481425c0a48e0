//! The image of a table that grows: where its words are in a snapshot, and which can be there.
//!
//! ```text
//! buckets 0 .. end | children ahead: their numbers | their words
//! ```
//!
//! The buckets of all rounds lie behind one another, as in memory. So the code that looks up a
//! table looks up an image in place. The children of buckets that were split ahead of their turn
//! are beyond the end of the table. Their numbers, in ascending order, tell which word is whose.

#[cfg(feature = "std")]
use super::{Grown, Size};
#[cfg(feature = "std")]
use crate::bucket::leveled::level;

/// The image of a table. Places in it are counted in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Image {
    /// The number of buckets below the end: each is at the place of its number.
    pub(super) end: u64,
    /// The number of buckets that were split ahead of their turn.
    pub(super) ahead: u64,
}

impl Image {
    /// The place of the words of the children ahead. Before it are as many numbers of children.
    pub(super) fn children(self) -> u64 {
        self.end + self.ahead
    }

    /// The number of words.
    pub(super) fn len(self) -> u64 {
        self.children() + self.ahead
    }

    /// How many of the places from one on, of this many, hold buckets below the end.
    pub(super) fn buckets_in(self, from: u64, len: usize) -> usize {
        self.end.saturating_sub(from).min(len as u64) as usize
    }
}

/// What is known of buckets below the end of an image.
#[derive(Clone, Copy, Debug)]
#[cfg(feature = "std")]
pub struct Known {
    /// Whether each has a level that is possible there.
    levels_are_valid: bool,
    /// The number of those that were split ahead of their turn.
    ahead: u64,
}

#[cfg(feature = "std")]
impl Known {
    /// What is known of no bucket.
    pub(super) const NOTHING: Self = Self { levels_are_valid: true, ahead: 0 };

    /// Adds what the words of consecutive buckets tell, of which this is the first.
    pub(super) fn add(&mut self, grown: &Grown, first: u64, words: impl Iterator<Item = u64>) {
        let Size { level: at, split } = grown.size;
        let unsplit = split..grown.first << at;
        for (bucket, word) in (first..).zip(words) {
            let (is_unsplit, above) = (unsplit.contains(&bucket), level(word).wrapping_sub(at));
            self.levels_are_valid &= above == 1 || is_unsplit && above == 0;
            self.ahead += u64::from(is_unsplit && above == 1);
        }
    }

    /// Returns whether all words of an image can be at their places, given its children ahead, each
    /// with its word. This is known of the buckets below the end, whose words `word` returns.
    pub(super) fn fits(
        self,
        grown: &Grown,
        children: impl ExactSizeIterator<Item = (u64, u64)>,
        word: impl Fn(u64) -> u64,
    ) -> bool {
        let Size { level: at, split } = grown.size;
        let (round, mut before) = (grown.first << at, split);
        // As many as were split ahead of their turn, ascending, and each one of those: so all of
        // them. If the next one in turn were among them, the size would be larger.
        self.levels_are_valid
            && self.ahead == children.len() as u64
            && children.into_iter().all(|(child, of_child)| {
                let is_next = child < grown.limits.buckets
                    && (before + 1..round).contains(&child.wrapping_sub(round));
                if is_next {
                    before = child - round;
                }
                is_next && level(word(before)) == at + 1 && level(of_child) == at + 1
            })
    }
}
