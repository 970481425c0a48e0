//! The buckets in memory: one allocation of words, aligned to cache lines, on huge pages where the
//! system has them.

#[cfg(guira_in_place)]
mod borrowed;
#[cfg(not(any(loom, shuttle)))]
mod growing;
#[cfg(any(loom, shuttle))]
#[path = "growing/model.rs"]
mod growing;
#[cfg(feature = "std")]
mod loader;
#[cfg(any(loom, shuttle))]
mod model;
#[cfg(feature = "std")]
mod staged;
#[cfg(not(any(loom, shuttle)))]
mod system;

use alloc::{boxed::Box, vec::Vec};
use core::{mem::MaybeUninit, ops::Range};

use crate::sync::Word;
#[cfg(feature = "std")]
use crate::sync::load_all;
#[cfg(guira_in_place)]
pub(crate) use borrowed::Borrowed;
pub(crate) use growing::GrowingBuckets;
#[cfg(feature = "std")]
pub(crate) use loader::{LOADED_CHUNK, LoaderMemory, LoaderPosition, TableLoader};
#[cfg(any(loom, shuttle))]
use model::Words;
#[cfg(feature = "std")]
pub(crate) use staged::StagedBuckets;
#[cfg(not(any(loom, shuttle)))]
use system::Words;

/// Size of a huge page on x86-64 and aarch64. Tables of this size and larger that request huge
/// pages are aligned to it.
const HUGE_PAGE: usize = 2 << 20;

/// The buckets of a table. All are empty at first.
#[derive(Debug)]
pub(crate) struct Buckets {
    words: Words,
}

impl Buckets {
    /// Returns empty buckets, or `None` if the system refuses the memory.
    ///
    /// This touches no page, nor does the allocator if its memory is fresh from the system (glibc's
    /// always is for more than 32 MiB). Memory is then taken only as buckets come into use.
    pub(crate) fn new(buckets: u64, huge_pages: bool) -> Option<Self> {
        Some(Self { words: Words::zeroed(usize::try_from(buckets).ok()?, huge_pages)? })
    }

    /// Returns buckets that somebody else owns.
    #[cfg(guira_in_place)]
    pub(crate) fn borrowed(words: Borrowed) -> Self {
        Self { words: Words::borrowed(words) }
    }

    /// Returns a bucket.
    ///
    /// # Panics
    /// If there is no such bucket.
    #[inline]
    pub(super) fn bucket(&self, bucket: u32) -> &Word {
        &self.words.as_slice()[bucket as usize]
    }

    /// Prefetches a bucket's cache line.
    #[inline]
    pub(super) fn prefetch(&self, bucket: u32) {
        super::prefetch(self.words.as_slice().as_ptr().wrapping_add(bucket as usize).cast());
    }

    /// All buckets.
    pub(super) fn as_slice(&self) -> &[Word] {
        self.words.as_slice()
    }

    /// Has the system provide the memory of all buckets.
    pub(crate) fn touch(&mut self) {
        self.words.touch();
    }

    /// The number of buckets.
    #[cfg(feature = "std")]
    pub(crate) fn len(&self) -> usize {
        self.words.as_slice().len()
    }

    /// Copies words from an index on. Words that other threads change meanwhile are copied before
    /// or after the change.
    #[cfg(feature = "std")]
    pub(crate) fn copy_words_from(&self, from: usize, copy: &mut [u64]) {
        load_all(&self.words.as_slice()[from..from + copy.len()], copy);
    }

    /// Calls a function with the values of all buckets, which it may change.
    pub(crate) fn with_words<R>(&mut self, change: impl FnOnce(&mut [u64]) -> R) -> R {
        self.words.with_values(change)
    }

    /// Bytes allocated for the buckets, alignment included.
    pub(super) fn allocated_bytes(&self) -> usize {
        self.words.allocated_bytes()
    }
}

/// Bytes that [`Buckets::new`] allocates, alignment included. `None` if that is more than an object
/// can have.
pub(crate) fn bucket_bytes(buckets: u64, huge_pages: bool) -> Option<usize> {
    Words::bytes_for(usize::try_from(buckets).ok()?, huge_pages)
}

/// Collects values into one allocation, or returns `None` if the system refuses the memory.
pub(crate) fn try_boxed<T>(values: impl ExactSizeIterator<Item = T>) -> Option<Box<[T]>> {
    let mut collected = Vec::new();
    collected.try_reserve_exact(values.len()).ok()?;
    collected.extend(values);
    Some(collected.into_boxed_slice())
}

/// The words that a range of bytes covers.
///
/// # Panics
/// If a word is covered in part.
fn words(bytes: &Range<usize>) -> Range<usize> {
    const WORD: usize = size_of::<u64>();
    assert!(bytes.start.is_multiple_of(WORD) && bytes.end.is_multiple_of(WORD), "half a word");
    bytes.start / WORD..bytes.end / WORD
}

/// Returns zeroed words in memory that the system has provided, on huge pages where it has them, or
/// `None` if it refuses the memory.
pub(crate) fn touched_words(len: usize) -> Option<Vec<u64>> {
    let mut words = Vec::new();
    words.try_reserve_exact(len).ok()?;
    advise_huge_pages(words.spare_capacity_mut());
    // This writes every word, so the system provides every page.
    words.resize(len, 0);
    Some(words)
}

/// Advises the system to back untouched memory with huge pages, as far as whole ones fit into it.
pub(crate) fn advise_huge_pages<T>(memory: &mut [MaybeUninit<T>]) {
    #[cfg(all(target_os = "linux", not(any(loom, shuttle, miri))))]
    {
        let Range { start, end } = memory.as_mut_ptr_range();
        let first = start.addr().next_multiple_of(HUGE_PAGE);
        let bytes = (end.addr() / HUGE_PAGE * HUGE_PAGE).saturating_sub(first);
        if bytes > 0 {
            let first = start.with_addr(first).cast();
            // SAFETY: these are whole pages of memory that belongs to the caller alone, and the
            // advice changes nothing in it.
            unsafe { libc::madvise(first, bytes, libc::MADV_HUGEPAGE) };
        }
    }
    #[cfg(not(all(target_os = "linux", not(any(loom, shuttle, miri)))))]
    let _ = memory;
}
