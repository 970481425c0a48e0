//! The image of a table that grows: where its words are in a snapshot.
//!
//! ```text
//! buckets 0 .. n | n .. 2n | 2n .. 4n | ... | children ahead: their numbers | their words
//! ```
//!
//! The buckets of level 0 come first, then those that each round has added. Each such *run* begins
//! at a multiple of 64 bytes, and zeros fill the gap before the next one. So the place of a bucket
//! follows from its number. The children of buckets that were split ahead of their turn are beyond
//! the end of the table. Their numbers, in ascending order, tell which word is whose.

use core::ops::Range;

use super::Size;

/// Words of 64 bytes, to which runs are aligned: a cache line.
const LINE: u64 = 8;

/// The image of a table. Places in it are counted in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Image {
    /// The number of buckets at level 0.
    first: u64,
    pub(super) size: Size,
    /// The number of buckets that were split ahead of their turn.
    pub(super) ahead: u64,
}

/// Consecutive buckets, below the end of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) buckets: Range<u64>,
    /// The place of the first one.
    pub(super) place: u64,
}

impl Run {
    /// The places of the buckets.
    pub(super) fn places(&self) -> Range<u64> {
        self.place..self.place + (self.buckets.end - self.buckets.start)
    }

    /// The places of zeros between these buckets and what follows them.
    pub(super) fn gap(&self) -> Range<u64> {
        let end = self.places().end;
        end..end.next_multiple_of(LINE)
    }
}

impl Image {
    /// The image of a table with this size. The numbers are [valid](super::Grown::invalid).
    pub(super) fn new(first: u64, size: Size, ahead: u64) -> Self {
        Self { first, size, ahead }
    }

    /// The runs of buckets, in order. The last one may be empty.
    pub(super) fn runs(self) -> impl Iterator<Item = Run> {
        let Self { first, size: Size { level, split }, .. } = self;
        let end = (first << level) + split;
        let mut place = 0;
        (0..=level + 1).map(move |at| {
            let start = if at == 0 { 0 } else { first << (at - 1) };
            let run = Run { buckets: start..end.min(first << at), place };
            place = run.gap().end;
            run
        })
    }

    /// The places of the numbers of the children ahead. As many words follow, which are theirs.
    pub(super) fn numbers(self) -> Range<u64> {
        let start = self.runs().last().map_or(0, |run| run.gap().end);
        start..start + self.ahead
    }

    /// The number of words.
    pub(super) fn len(self) -> u64 {
        self.numbers().end + self.ahead
    }

    /// The number of buckets below the end that are before a place.
    #[cfg(feature = "std")]
    pub(super) fn buckets_before(self, place: u64) -> u64 {
        self.runs().map(|run| place.clamp(run.place, run.places().end) - run.place).sum()
    }

    /// Divides some places into those of consecutive buckets, with the first bucket, and others:
    /// gaps, or what follows the runs.
    pub(super) fn pieces(self, places: Range<u64>) -> impl Iterator<Item = (Range<u64>, Piece)> {
        let rest = self.numbers().start..self.len();
        let runs = self.runs().flat_map(|run| {
            let buckets = (run.places(), Piece::Buckets(run.buckets.start));
            [buckets, (run.gap(), Piece::Gap)]
        });
        runs.chain([(rest, Piece::Ahead)]).filter_map(move |(all, piece)| {
            let some = all.start.max(places.start)..all.end.min(places.end);
            let piece = match piece {
                Piece::Buckets(first) => Piece::Buckets(first + some.start.wrapping_sub(all.start)),
                other => other,
            };
            (!some.is_empty()).then_some((some, piece))
        })
    }
}

/// What some places of an image hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// Consecutive buckets below the end, from this one on.
    Buckets(u64),
    /// Zeros between two runs.
    Gap,
    /// Numbers and words of children ahead.
    Ahead,
}
