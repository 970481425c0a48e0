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
#[cfg(not(any(loom, shuttle)))]
mod system;

use alloc::{boxed::Box, vec::Vec};
use core::{hint::black_box, mem::MaybeUninit};

use crate::sync::Word;
#[cfg(feature = "std")]
use crate::sync::load_all;
#[cfg(guira_in_place)]
pub(crate) use borrowed::Borrowed;
pub(crate) use growing::GrowingBuckets;
#[cfg(feature = "std")]
pub(crate) use loader::{
    LOADED_CHUNK, LoaderMemory, LoaderPosition, TableLoader, swap_if_big_endian,
};
#[cfg(any(loom, shuttle))]
pub(crate) use model::Buckets;
#[cfg(not(any(loom, shuttle)))]
pub(crate) use system::Buckets;

/// Size of a huge page on x86-64 and aarch64. Tables of this size and larger that request huge
/// pages are aligned to it.
#[cfg(not(any(loom, shuttle)))]
const HUGE_PAGE: usize = 2 << 20;

/// Words of a page on most systems. It is larger on some.
const PAGE_WORDS: usize = (4 << 10) / size_of::<u64>();

impl Buckets {
    /// Returns empty buckets, or `None` if the system refuses the memory.
    ///
    /// This touches no page, nor does the allocator if its memory is fresh from the system (glibc's
    /// always is for more than 32 MiB). Memory is then taken only as buckets come into use.
    pub(crate) fn new(buckets: u64, huge_pages: bool) -> Option<Self> {
        Self::zeroed(usize::try_from(buckets).ok()?, huge_pages)
    }

    /// The number of buckets.
    #[cfg(feature = "std")]
    pub(crate) fn len(&self) -> usize {
        self.as_slice().len()
    }

    /// Copies words from an index on. Words that other threads change meanwhile are copied before
    /// or after the change.
    #[cfg(feature = "std")]
    pub(crate) fn copy_words_from(&self, from: usize, copy: &mut [u64]) {
        load_all(&self.as_slice()[from..from + copy.len()], copy);
    }
}

/// Bytes of this many buckets. `None` if that is more than an object can have.
pub(crate) fn bucket_bytes(buckets: u64) -> Option<usize> {
    Buckets::bytes_for(usize::try_from(buckets).ok()?)
}

/// Collects values into one allocation, or returns `None` if the system refuses the memory.
pub(crate) fn try_boxed<T>(values: impl ExactSizeIterator<Item = T>) -> Option<Box<[T]>> {
    let mut collected = Vec::new();
    collected.try_reserve_exact(values.len()).ok()?;
    collected.extend(values);
    Some(collected.into_boxed_slice())
}

/// Returns zeroed words in memory that the system has provided, on huge pages where it has them, or
/// `None` if it refuses the memory.
pub(crate) fn touched_words(len: usize) -> Option<Vec<u64>> {
    let mut words = Vec::new();
    words.try_reserve_exact(len).ok()?;
    advise_huge_pages(words.spare_capacity_mut(), true);
    // This writes every word, so the system provides every page.
    words.resize(len, 0);
    Some(words)
}

/// Has the system provide the memory of words that are zero, page by page.
pub(crate) fn touch_pages(words: &mut [u64]) {
    for page in words.chunks_mut(PAGE_WORDS) {
        // The compiler must not know that this is zero: it could omit the store to new memory.
        page[0] = black_box(0);
    }
}

/// Advises the system to back untouched memory with huge pages, as far as whole ones fit into it,
/// or not to, where it does by default.
pub(crate) fn advise_huge_pages<T>(memory: &mut [MaybeUninit<T>], enabled: bool) {
    #[cfg(all(target_os = "linux", not(any(loom, shuttle, miri))))]
    {
        let core::ops::Range { start, end } = memory.as_mut_ptr_range();
        let first = start.addr().next_multiple_of(HUGE_PAGE);
        let bytes = (end.addr() / HUGE_PAGE * HUGE_PAGE).saturating_sub(first);
        if bytes > 0 {
            let first = start.with_addr(first).cast();
            let advice = if enabled { libc::MADV_HUGEPAGE } else { libc::MADV_NOHUGEPAGE };
            // SAFETY: these are whole pages of memory that belongs to the caller alone, and the
            // advice changes nothing in it.
            unsafe { libc::madvise(first, bytes, advice) };
        }
    }
    #[cfg(not(all(target_os = "linux", not(any(loom, shuttle, miri)))))]
    let _ = (memory, enabled);
}
