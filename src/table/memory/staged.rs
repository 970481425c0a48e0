//! Buckets of a fixed number that arrive, in memory that is taken as they arrive.

use core::ops::Range;

use super::{
    Buckets, HUGE_PAGE,
    loader::{LOADED_CHUNK, LoaderMemory, WORD},
};
use crate::sync::load_all;

/// The buckets of a fixed table, which arrive.
#[derive(Debug)]
pub(crate) struct StagedBuckets {
    words: Buckets,
    /// Staging memory for the first bytes of a huge page, until enough of them have arrived to take
    /// the page. `None` if bytes go straight to the table.
    staging: Option<Buckets>,
}

impl StagedBuckets {
    /// Bytes of a huge page that must have arrived before the page is taken. The rest, less than a
    /// megabyte, is taken in advance. (While staged bytes are copied, they take memory twice. Then
    /// two megabytes are taken in advance.)
    const STAGED: usize = 9 * HUGE_PAGE / 16;

    /// Returns buckets whose memory is taken as they arrive, at most two megabytes in advance, as
    /// far as the system allows it (Linux). `None` if the system refuses the memory.
    pub(crate) fn incremental(buckets: u64) -> Option<Self> {
        let mut words = Buckets::mapped(usize::try_from(buckets).ok()?)?;
        let whole = words.size_in_bytes() / HUGE_PAGE * HUGE_PAGE;
        let mut staging = None;
        if whole > 0 && words.is_mapped() {
            staging = Some(Buckets::mapped(Self::STAGED / WORD)?);
            words.use_huge_pages(0..whole);
        }
        Some(Self { words, staging })
    }

    /// Returns buckets whose memory is requested from the allocator at once.
    pub(crate) fn at_once(buckets: u64) -> Option<Self> {
        let words = Buckets::zeroed(usize::try_from(buckets).ok()?, true)?;
        Some(Self { words, staging: None })
    }

    /// Returns whether the chunk at this byte is staged.
    fn is_staged(&self, at: usize) -> bool {
        let used = at % HUGE_PAGE;
        let end = at - used + HUGE_PAGE;
        self.staging.is_some() && used < Self::STAGED && end <= self.words.size_in_bytes()
    }

    /// Returns the buckets, all of which have arrived.
    pub(crate) fn finish(self) -> Buckets {
        self.words
    }
}

impl LoaderMemory for StagedBuckets {
    type Known = ();

    fn words(&self) -> usize {
        self.words.as_slice().len()
    }

    fn prepare(&mut self, chunk: Range<usize>) {
        let (used, staged) = (chunk.start % HUGE_PAGE, self.is_staged(chunk.start));
        if let Some(staging) = self.staging.as_mut().filter(|_| staged) {
            // Populating costs less than a page fault every 4 KiB.
            staging.populate(used..used + LOADED_CHUNK);
        }
    }

    fn with_chunk<R>(&mut self, chunk: Range<usize>, change: impl FnOnce(&mut [u8]) -> R) -> R {
        let staged = self.is_staged(chunk.start);
        match &mut self.staging {
            Some(staging) if staged => {
                let used = chunk.start % HUGE_PAGE;
                staging.with_bytes(used..used + chunk.len(), change)
            }
            _ => self.words.with_bytes(chunk, change),
        }
    }

    fn keep(&mut self, chunk: Range<usize>) -> Option<()> {
        let start = chunk.start / HUGE_PAGE * HUGE_PAGE;
        if self.is_staged(chunk.start) && chunk.end == start + Self::STAGED {
            let staging = self.staging.as_mut().expect("the chunk is staged");
            staging.with_bytes(0..Self::STAGED, |staged| {
                let place = start..start + Self::STAGED;
                self.words.with_bytes(place, |place| place.copy_from_slice(staged));
            });
            staging.release(0..Self::STAGED);
        }
        Some(())
    }

    fn copy_words_from(&self, current: usize, from: usize, copy: &mut [u64]) {
        // No chunk is in two huge pages.
        let page = current / HUGE_PAGE * HUGE_PAGE / WORD;
        let (words, from) = match &self.staging {
            Some(staging) if self.is_staged(current) && from >= page => (staging, from - page),
            _ => (&self.words, from),
        };
        load_all(&words.as_slice()[from..from + copy.len()], copy);
    }

    fn known(&self) {}

    fn go_back(&mut self, current: usize, to: usize, filled: usize, (): ()) {
        if !self.is_staged(current) || current / HUGE_PAGE != to / HUGE_PAGE {
            if self.is_staged(to) {
                // The bytes that were staged are in the table now. Later ones go there, too.
                self.staging = None;
            } else if let Some(staging) = &mut self.staging {
                staging.release(0..Self::STAGED);
            }
        }
        let taken = (to + filled).next_multiple_of(HUGE_PAGE);
        self.words.release(taken..self.words.size_in_bytes());
    }
}
