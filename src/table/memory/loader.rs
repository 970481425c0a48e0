//! The table loader: buckets that arrive in order, in memory that is taken as they arrive.

use super::{Buckets, HUGE_PAGE, Words};
use crate::sync::{Word, load_all};

/// Bytes of a word.
const WORD: usize = size_of::<u64>();

/// A table whose buckets arrive one chunk after the other.
#[derive(Debug)]
pub(crate) struct TableLoader {
    table: Words,
    /// Number of buckets in complete chunks.
    arrived: usize,
    /// Bytes of the current chunk, the one after these, that have arrived.
    filled: usize,
    /// Staging memory for the first bytes of a huge page, until enough of them have arrived to take
    /// the page. `None` if bytes go straight to the table.
    staging: Option<Words>,
}

/// A position up to which a table has arrived.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoaderPosition {
    arrived: usize,
    filled: usize,
}

impl TableLoader {
    /// Bytes per chunk. A chunk stays in a second-level cache.
    pub(crate) const CHUNK: usize = 64 << 10;
    /// Bytes of a huge page that must have arrived before the page is taken. The rest, less than a
    /// megabyte, is taken in advance. (While staged bytes are copied, they take memory twice. Then
    /// two megabytes are taken in advance.)
    const STAGED: usize = 9 * HUGE_PAGE / 16;

    /// Returns a loader that takes memory as bytes arrive, at most two megabytes in advance, as far
    /// as the system allows it (Linux). `None` if the system refuses the memory.
    pub(crate) fn incremental(buckets: u64) -> Option<Self> {
        let mut table = Words::mapped(usize::try_from(buckets).ok()?)?;
        let whole = table.size_in_bytes() / HUGE_PAGE * HUGE_PAGE;
        let mut staging = None;
        if whole > 0 && table.is_mapped() {
            staging = Some(Words::mapped(Self::STAGED / size_of::<Word>())?);
            table.use_huge_pages(0..whole);
        }
        Some(Self { table, arrived: 0, filled: 0, staging })
    }

    /// Returns a loader that requests the memory of all buckets from the allocator at once.
    pub(crate) fn at_once(buckets: u64) -> Option<Self> {
        let table = Words::zeroed(usize::try_from(buckets).ok()?, true)?;
        Some(Self { table, arrived: 0, filled: 0, staging: None })
    }

    /// The place up to which the table has arrived.
    pub(crate) fn position(&self) -> LoaderPosition {
        LoaderPosition { arrived: self.arrived, filled: self.filled }
    }

    /// Goes back to a former position. Later bytes overwrite those after it.
    ///
    /// Huge pages after it that were taken since are returned to the system.
    pub(crate) fn go_back(&mut self, LoaderPosition { arrived, filled }: LoaderPosition) {
        let (before, was_staged) = (self.from(), self.is_staged());
        (self.arrived, self.filled) = (arrived, filled);
        if !was_staged || before / HUGE_PAGE != self.from() / HUGE_PAGE {
            if self.is_staged() {
                // The bytes that were staged are in the table now. Later ones go there, too.
                self.staging = None;
            } else if let Some(staging) = &mut self.staging {
                staging.release(0..Self::STAGED);
            }
        }
        let taken = (self.from() + self.filled).next_multiple_of(HUGE_PAGE);
        self.table.release(taken..self.table.size_in_bytes());
    }

    /// Number of buckets in complete chunks.
    pub(crate) fn arrived(&self) -> usize {
        self.arrived
    }

    /// Bytes of the current chunk that have arrived.
    pub(crate) fn filled(&self) -> usize {
        self.filled
    }

    /// Copies words that have arrived, from an index on. They are part of one chunk.
    pub(crate) fn copy_words_from(&self, from: usize, copy: &mut [u64]) {
        // No chunk is in two huge pages.
        let page = self.from() / HUGE_PAGE * HUGE_PAGE / WORD;
        let (words, from) = match &self.staging {
            Some(staging) if self.is_staged() && from >= page => (staging, from - page),
            _ => (&self.table, from),
        };
        load_all(&words.as_slice()[from..from + copy.len()], copy);
    }

    /// Returns whether buckets are still missing.
    pub(crate) fn is_incomplete(&self) -> bool {
        self.arrived < self.table.as_slice().len()
    }

    /// Reads missing bytes of the current chunk: `read` writes some, little-endian, to the front of
    /// what it gets, and returns their number. The final chunk is only as long as the missing
    /// buckets.
    ///
    /// # Panics
    /// If the current chunk is complete.
    pub(crate) fn read<E>(
        &mut self,
        read: impl FnOnce(&mut [u8]) -> Result<usize, E>,
    ) -> Result<usize, E> {
        let filled = self.filled;
        assert!(filled < self.chunk_bytes(), "a complete chunk is accepted first");
        let (used, staged) = (self.from() % HUGE_PAGE, self.is_staged());
        if let Some(staging) = self.staging.as_mut().filter(|_| staged && filled == 0) {
            // Populating costs less than a page fault every 4 KiB.
            staging.populate(used..used + Self::CHUNK);
        }
        let more = self.with_chunk(|chunk| read(&mut chunk[filled..]))?;
        self.filled += more;
        assert!(self.filled <= self.chunk_bytes(), "a reader reported more bytes than given");
        Ok(more)
    }

    /// Returns whether all bytes of the current chunk have been read.
    pub(crate) fn chunk_is_complete(&self) -> bool {
        self.filled == self.chunk_bytes()
    }

    /// Calls a function with the bytes of the current chunk, which is complete, and goes on to the
    /// next one.
    ///
    /// # Panics
    /// If the chunk is not complete.
    pub(crate) fn accept<R>(&mut self, check: impl FnOnce(&[u8]) -> R) -> R {
        assert!(self.chunk_is_complete(), "an incomplete chunk");
        let result = self.with_chunk(|chunk| check(chunk));
        let (start, until) = (self.from() / HUGE_PAGE * HUGE_PAGE, self.from() + self.filled);
        if self.is_staged() && until == start + Self::STAGED {
            let staging = self.staging.as_mut().expect("the chunk is staged");
            staging.with_bytes(0..Self::STAGED, |staged| {
                let place = start..start + Self::STAGED;
                self.table.with_bytes(place, |place| place.copy_from_slice(staged));
            });
            staging.release(0..Self::STAGED);
        }
        self.arrived = until / WORD;
        self.filled = 0;
        result
    }

    /// Where the current chunk starts, in bytes.
    fn from(&self) -> usize {
        self.arrived * WORD
    }

    /// Bytes of the current chunk.
    fn chunk_bytes(&self) -> usize {
        Self::CHUNK.min(self.table.size_in_bytes() - self.from())
    }

    /// Returns whether the current chunk is staged.
    fn is_staged(&self) -> bool {
        let used = self.from() % HUGE_PAGE;
        let end = self.from() - used + HUGE_PAGE;
        self.staging.is_some() && used < Self::STAGED && end <= self.table.size_in_bytes()
    }

    /// Calls a function with the bytes of the current chunk.
    fn with_chunk<R>(&mut self, change: impl FnOnce(&mut [u8]) -> R) -> R {
        let (from, bytes) = (self.from(), self.chunk_bytes());
        let staged = self.is_staged();
        match &mut self.staging {
            Some(staging) if staged => {
                let used = from % HUGE_PAGE;
                staging.with_bytes(used..used + bytes, change)
            }
            _ => self.table.with_bytes(from..from + bytes, change),
        }
    }

    /// Returns the buckets.
    ///
    /// # Panics
    /// If some are missing.
    pub(crate) fn finish(self) -> Buckets {
        assert!(!self.is_incomplete(), "buckets are missing");
        Buckets { words: self.table }
    }
}
