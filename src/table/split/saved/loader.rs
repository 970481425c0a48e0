//! A table that grows and is loaded: its words go to its own memory as they arrive.

use alloc::vec::Vec;
use core::{mem, ops::Range};

use bytemuck::cast_slice_mut;

use super::{
    GrowingTable, Grown,
    image::{Image, Known},
    touched_words,
};
use crate::{
    bucket::Leveled,
    table::{ClockState, GrowingBuckets, LOADED_CHUNK, LoaderMemory, Payload, swap_if_big_endian},
};

/// Bytes of a word.
const WORD: usize = size_of::<u64>();

/// A table that grows, whose image arrives.
#[derive(Debug)]
pub struct ImageLoader {
    /// The table, of which the buckets below the end arrive. All else is set at the end.
    table: GrowingTable,
    grown: Grown,
    image: Image,
    /// The current chunk. Its words are little-endian.
    chunk: Vec<u64>,
    /// The numbers of the children ahead, and then their words.
    ahead: Vec<u64>,
    known: Known,
}

impl ImageLoader {
    /// Returns a loader of an image with this number of words, of a table with stripes and counters
    /// of its own, or `None` if the system refuses the memory. The numbers must be
    /// [valid](Grown::invalid).
    ///
    /// The memory of buckets is taken as they arrive, in the steps in which a table grows.
    #[must_use]
    pub fn new(
        form: (Leveled, Payload),
        grown: &Grown,
        words: u64,
        stripes: usize,
        memory: (bool, bool),
    ) -> Option<Self> {
        // So that the place of every byte fits, too.
        usize::try_from(words).ok()?.checked_mul(WORD)?;
        let Grown { first, limits, .. } = *grown;
        let buckets = GrowingBuckets::new(first, limits.buckets, memory)?;
        let table = GrowingTable::with_buckets(form, first, buckets, limits, stripes, memory)?;
        let chunk = touched_words(words.min((LOADED_CHUNK / WORD) as u64) as usize)?;
        let (image, known) = (grown.image(words), Known::NOTHING);
        Some(Self { table, grown: *grown, image, chunk, ahead: Vec::new(), known })
    }

    /// Adds the words of the image from a place on, which follow those that were added before.
    /// `None` if the system refuses the memory. Then some may have been added.
    pub fn add(&mut self, from: u64, words: &[u64]) -> Option<()> {
        let (words, ahead) = words.split_at(self.image.buckets_in(from, words.len()));
        let (buckets, mut known) = (from..from + words.len() as u64, self.known);
        known.add(&self.grown, from, words.iter().copied());
        self.table.buckets.commit(buckets.clone())?;
        let mut rest = words;
        self.table.buckets.with_values(buckets, |run| {
            let (now, later) = rest.split_at(run.len());
            run.copy_from_slice(now);
            rest = later;
        });
        self.ahead.try_reserve(ahead.len()).ok()?;
        self.ahead.extend(ahead);
        self.known = known;
        Some(())
    }

    /// Copies words that were added, from a place on.
    fn copy_added(&self, from: u64, copy: &mut [u64]) {
        let (buckets, ahead) = copy.split_at_mut(self.image.buckets_in(from, copy.len()));
        self.table.copy_words_from(from, buckets);
        let nth = ahead_before(self.image, from);
        ahead.copy_from_slice(&self.ahead[nth..nth + ahead.len()]);
    }

    /// Returns whether each word of the image, all of which have been added, is one that can be at
    /// its place.
    #[must_use]
    pub fn has_valid_places(&self) -> bool {
        self.known.fits(&self.grown, children(self.image, &self.ahead), |bucket| {
            let mut word = [0];
            self.table.copy_words_from(bucket, &mut word);
            word[0]
        })
    }

    /// Returns the table, of which this many slots are occupied, or `None` if the system refuses
    /// the memory. The places must be [valid](Self::has_valid_places).
    #[must_use]
    pub fn finish(self, occupied: u64, clock: Option<&ClockState>) -> Option<GrowingTable> {
        let Self { mut table, grown, image, ahead, .. } = self;
        for (child, word) in children(image, &ahead) {
            let child = child..child + 1;
            table.buckets.commit(child.clone())?;
            table.buckets.with_values(child, |run| run.fill(word));
        }
        table.set_size(grown.size);
        let items = grown.items(occupied);
        let splits = grown.buckets() + image.ahead - grown.first;
        table.occupancy.start(items as i64, (occupied - items) as i64, splits as i64);
        table.start_clock(clock)?;
        Some(table)
    }
}

impl LoaderMemory for ImageLoader {
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
        let (before, mut ahead) = (ahead_before(self.image, place), Vec::new());
        self.ahead.truncate(before);
        // Otherwise the memory stays taken.
        if ahead.try_reserve_exact(before).is_ok() {
            ahead.append(&mut self.ahead);
            self.ahead = ahead;
        }
        self.table.buckets.truncate(place.min(self.image.end));
    }

    fn fit_together(&self) -> bool {
        self.has_valid_places()
    }
}

/// The number of words of an image before a place that are not buckets below the end.
fn ahead_before(image: Image, place: u64) -> usize {
    place.saturating_sub(image.end) as usize
}

/// The numbers of the children ahead, each with its word.
fn children(image: Image, ahead: &[u64]) -> impl ExactSizeIterator<Item = (u64, u64)> {
    let (numbers, words) = ahead.split_at(image.ahead as usize);
    numbers.iter().copied().zip(words.iter().copied())
}
