//! A table that grows and is loaded: its words go to its own memory as they arrive.

use alloc::vec::Vec;
use core::{mem, ops::Range};

use wide::bytemuck::cast_slice_mut;

use super::{
    GrowingBuckets, GrowingTable, Grown, Size,
    image::{Image, Piece},
    saved::signed,
    whole::Occupied,
};
use crate::{
    bucket::{GrowingLayout, leveled::level},
    table::{ClockState, LOADED_CHUNK, LoaderMemory, Payload, SweepState, memory::touched_words},
};

/// Bytes of a word.
const WORD: usize = size_of::<u64>();

/// A table that grows, whose image arrives.
#[derive(Debug)]
pub struct ImageLoader<P: Payload> {
    /// The table, of which the buckets below the end arrive. All else is set at the end.
    table: GrowingTable<P>,
    grown: Grown,
    image: Image,
    /// The current chunk. Its words are little-endian.
    chunk: Vec<u64>,
    /// The other words, in order: the gaps, and the numbers and the words of children ahead.
    others: Vec<u64>,
    known: Known,
}

/// What is known of the buckets that have arrived.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// Whether each has a level that is possible there.
    levels_are_valid: bool,
    /// The number of those that were split ahead of their turn.
    ahead: u64,
}

impl<P: Payload> ImageLoader<P> {
    /// Returns a loader of an image with this number of words, of a table with stripes and counters
    /// of its own, or `None` if the system refuses the memory. The numbers must be
    /// [valid](Grown::invalid).
    ///
    /// The memory of buckets is taken as they arrive, in the steps in which a table grows.
    #[must_use]
    pub fn new<L: GrowingLayout>(
        payload: P,
        grown: &Grown,
        words: u64,
        stripes: usize,
        memory: (bool, bool),
    ) -> Option<Self> {
        // So that the place of every byte fits, too.
        usize::try_from(words).ok()?.checked_mul(WORD)?;
        let Grown { first, limits, .. } = *grown;
        let (reserve, huge_pages) = memory;
        let buckets = GrowingBuckets::uncommitted(first, limits.buckets, reserve, huge_pages)?;
        let table =
            GrowingTable::with_buckets::<L>(payload, first, buckets, limits, stripes, memory)?;
        let chunk = touched_words(words.min((LOADED_CHUNK / WORD) as u64) as usize)?;
        let known = Known { levels_are_valid: true, ahead: 0 };
        let image = grown.image(words);
        Some(Self { table, grown: *grown, image, chunk, others: Vec::new(), known })
    }

    /// Adds the words of the image from a place on, which follow those that were added before.
    /// `None` if the system refuses the memory. Then some may have been added.
    pub fn add(&mut self, from: u64, words: &[u64]) -> Option<()> {
        let Size { level: at, split } = self.grown.size;
        let unsplit = split..self.grown.first << at;
        let mut known = self.known;
        for (places, piece) in self.image.pieces(from..from + words.len() as u64) {
            let words = &words[(places.start - from) as usize..(places.end - from) as usize];
            let Piece::Buckets(first) = piece else {
                self.others.try_reserve(words.len()).ok()?;
                self.others.extend(words);
                continue;
            };
            let buckets = first..first + words.len() as u64;
            for (bucket, &word) in buckets.clone().zip(words) {
                let (is_unsplit, above) = (unsplit.contains(&bucket), level(word).wrapping_sub(at));
                known.levels_are_valid &= above == 1 || is_unsplit && above == 0;
                known.ahead += u64::from(is_unsplit && above == 1);
            }
            self.table.buckets.commit(buckets.clone())?;
            let mut rest = words;
            self.table.buckets.with_values(buckets, |run| {
                let (now, later) = rest.split_at(run.len());
                run.copy_from_slice(now);
                rest = later;
            });
        }
        self.known = known;
        Some(())
    }

    /// Copies words that were added, from a place on.
    fn copy_added(&self, from: u64, copy: &mut [u64]) {
        for (places, piece) in self.image.pieces(from..from + copy.len() as u64) {
            let copy = &mut copy[(places.start - from) as usize..(places.end - from) as usize];
            if let Piece::Buckets(first) = piece {
                self.table.copy_words_from(first, copy);
            } else {
                let nth = others_before(self.image, places.start);
                copy.copy_from_slice(&self.others[nth..nth + copy.len()]);
            }
        }
    }

    /// Returns whether each word of the image, all of which have been added, is one that can be at
    /// its place.
    #[must_use]
    pub fn has_valid_places(&self) -> bool {
        let Size { level: at, split } = self.grown.size;
        let round = self.grown.first << at;
        let gaps = &self.others[..others_before(self.image, self.image.numbers().start)];
        let mut before = split;
        // As many as were split ahead of their turn, ascending, and each one of those: so all of
        // them. If the next one in turn were among them, the size would be larger.
        self.known.levels_are_valid
            && self.known.ahead == self.image.ahead
            && gaps.iter().all(|&word| word == 0)
            && children(self.image, &self.others).all(|(child, word)| {
                let mut parent = [0];
                let is_next = child < self.grown.limits.buckets
                    && (before + 1..round).contains(&child.wrapping_sub(round));
                if is_next {
                    before = child - round;
                    self.table.copy_words_from(before, &mut parent);
                }
                is_next && level(parent[0]) == at + 1 && level(word) == at + 1
            })
    }

    /// Returns the table, of which this many slots are occupied, or `None` if the system refuses
    /// the memory. The places must be [valid](Self::has_valid_places).
    #[must_use]
    pub fn finish<L: GrowingLayout>(
        self,
        occupied: u64,
        clock: Option<(ClockState, &SweepState)>,
    ) -> Option<GrowingTable<P>> {
        let Self { mut table, grown, image, others, .. } = self;
        for (child, word) in children(image, &others) {
            let child = child..child + 1;
            table.buckets.commit(child.clone())?;
            table.buckets.with_values(child, |run| run.fill(word));
        }
        table.set_size(grown.size);
        let Occupied { items, ghosts } = Occupied::new(occupied, signed(grown.ghosts));
        let splits = grown.buckets() + image.ahead - grown.first;
        table.occupancy.start(items as i64, ghosts as i64, splits as i64);
        if let Some((clock, sweep)) = clock {
            table.start_clock::<L>(clock, sweep);
        }
        Some(table)
    }
}

impl<P: Payload> LoaderMemory for ImageLoader<P> {
    type Known = Known;

    fn words(&self) -> usize {
        self.image.len() as usize
    }

    fn with_chunk<R>(&mut self, chunk: Range<usize>, change: impl FnOnce(&mut [u8]) -> R) -> R {
        change(&mut cast_slice_mut(&mut self.chunk)[..chunk.len()])
    }

    fn keep(&mut self, chunk: Range<usize>) -> Option<()> {
        let mut words = mem::take(&mut self.chunk);
        swap_if_big_endian(&mut words);
        let added = self.add((chunk.start / WORD) as u64, &words[..chunk.len() / WORD]);
        swap_if_big_endian(&mut words);
        self.chunk = words;
        added
    }

    fn copy_words_from(&self, current: usize, from: usize, copy: &mut [u64]) {
        match from.checked_sub(current / WORD) {
            Some(nth) => {
                copy.copy_from_slice(&self.chunk[nth..nth + copy.len()]);
                swap_if_big_endian(copy);
            }
            None => self.copy_added(from as u64, copy),
        }
    }

    fn known(&self) -> Known {
        self.known
    }

    fn go_back(&mut self, current: usize, to: usize, filled: usize, known: Known) {
        let place = (to / WORD) as u64;
        if to < current {
            let mut words = mem::take(&mut self.chunk);
            let arrived = &mut words[..filled.div_ceil(WORD)];
            self.copy_added(place, arrived);
            swap_if_big_endian(arrived);
            self.chunk = words;
        }
        self.known = known;
        let (before, mut others) = (others_before(self.image, place), Vec::new());
        self.others.truncate(before);
        // Otherwise the memory stays taken.
        if others.try_reserve_exact(before).is_ok() {
            others.append(&mut self.others);
            self.others = others;
        }
        self.table.buckets.discard(self.image.buckets_before(place));
    }

    fn fit_together(&self) -> bool {
        self.has_valid_places()
    }
}

/// The number of words of an image before a place that are not buckets below the end.
fn others_before(image: Image, place: u64) -> usize {
    (place - image.buckets_before(place)) as usize
}

/// The numbers of the children ahead, each with its word, among all words of an image that are not
/// buckets below the end.
fn children(image: Image, others: &[u64]) -> impl Iterator<Item = (u64, u64)> {
    let ahead = &others[others_before(image, image.numbers().start)..];
    let (numbers, words) = ahead.split_at(image.ahead as usize);
    numbers.iter().copied().zip(words.iter().copied())
}

/// Converts words between the machine's byte order and little-endian.
fn swap_if_big_endian(words: &mut [u64]) {
    for word in words {
        *word = word.to_le();
    }
}
