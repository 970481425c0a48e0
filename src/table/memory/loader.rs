//! The table loader: buckets that arrive in order, in memory that is taken as they arrive.

use super::{Buckets, HUGE_PAGE, Words};
use crate::sync::Word;

/// A table whose buckets arrive one chunk after the other.
#[derive(Debug)]
pub(crate) struct TableLoader {
    table: Words,
    /// Number of buckets that have arrived.
    arrived: usize,
    /// Staging memory for the first bytes of a huge page, until enough of them have arrived to take
    /// the page. `None` if bytes go straight to the table.
    staging: Option<Words>,
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
        Some(Self { table, arrived: 0, staging })
    }

    /// Returns a loader for buckets that are all known to arrive.
    pub(crate) fn at_once(buckets: u64) -> Option<Self> {
        let table = Words::zeroed(usize::try_from(buckets).ok()?, true)?;
        Some(Self { table, arrived: 0, staging: None })
    }

    /// Returns whether buckets are still missing.
    pub(crate) fn is_incomplete(&self) -> bool {
        self.arrived < self.table.as_slice().len()
    }

    /// Receives the next chunk, as the little-endian bytes that `fill` writes. The final chunk is
    /// only as long as the missing buckets.
    pub(crate) fn next<R>(&mut self, fill: impl FnOnce(&mut [u8]) -> R) -> R {
        const WORD: usize = size_of::<u64>();
        let from = self.arrived * WORD;
        let until = self.table.size_in_bytes().min(from + Self::CHUNK);
        let used = from % HUGE_PAGE;
        let start = from - used;
        let result = match &mut self.staging {
            Some(staging)
                if used < Self::STAGED && start + HUGE_PAGE <= self.table.size_in_bytes() =>
            {
                // Populating costs less than a page fault every 4 KiB.
                staging.populate(used..used + Self::CHUNK);
                let result = staging.with_bytes(used..used + Self::CHUNK, fill);
                if used + Self::CHUNK == Self::STAGED {
                    staging.with_bytes(0..Self::STAGED, |staged| {
                        let place = start..start + Self::STAGED;
                        self.table.with_bytes(place, |place| place.copy_from_slice(staged));
                    });
                    staging.release();
                }
                result
            }
            _ => self.table.with_bytes(from..until, fill),
        };
        // Not earlier: if `fill` panics, these buckets are still missing.
        self.arrived = until / WORD;
        result
    }

    /// Returns the buckets.
    ///
    /// # Panics
    /// If some are missing.
    pub(in crate::table) fn finish(self) -> Buckets {
        assert!(!self.is_incomplete(), "the last buckets may be in the staging memory");
        Buckets { words: self.table }
    }
}
