//! Zeroed, aligned words, from the allocator or straight from the system.

use alloc::alloc::{alloc_zeroed, dealloc};
use core::{alloc::Layout, ptr::NonNull, slice};

#[cfg(guira_in_place)]
use super::Borrowed;
use super::{HUGE_PAGE, Word, advise_huge_pages, touch_pages};
use crate::table::prefetch;

/// Alignment of tables without huge pages, in bytes: a cache line, so that eight buckets share one.
const CACHE_LINE: usize = 64;
/// Smallest table, in bytes, that is aligned to a cache line: in smaller ones the alignment would
/// cost more bytes than the one saved cache line is worth.
const MIN_ALIGNED: usize = 4 << 10;

/// The buckets of a table of a fixed size, zeroed at first: words that are aligned within memory
/// from the allocator.
///
/// The allocator is not told the alignment. If it were asked for a larger alignment than its own,
/// std's system allocator on Unix would take memory and clear it, which touches every page. So this
/// requests zeroed memory without alignment, which comes fresh from the system untouched, and takes
/// as much more as the alignment may need.
#[derive(Debug)]
pub(crate) struct Buckets {
    first: NonNull<Word>,
    len: usize,
    memory: NonNull<u8>,
    /// The layout of the memory. `None` if it belongs to somebody else, who keeps it.
    layout: Option<Layout>,
    huge_pages: bool,
}

// SAFETY: `Buckets` owns its memory as a `Box<[Word]>` would, and `Word` is `Send` and `Sync`.
unsafe impl Send for Buckets {}
// SAFETY: as above; `&Buckets` gives access to `&[Word]` only.
unsafe impl Sync for Buckets {}

impl Buckets {
    /// Returns `len` zeroed words, or `None` if the system refuses the memory.
    ///
    /// # Panics
    /// If `len` is zero.
    pub(super) fn zeroed(len: usize, huge_pages: bool) -> Option<Self> {
        let (align, padded) = sizes(len, huge_pages)?;
        let layout = Layout::array::<u8>(padded).ok()?;
        let layout = layout.align_to(align_of::<Word>()).ok()?;
        // SAFETY: the layout's size is not zero.
        let memory = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        let padding = memory.as_ptr().addr().next_multiple_of(align) - memory.as_ptr().addr();
        // SAFETY: `padding` is a multiple of a word below `align`, and the memory is longer than
        // the words by `align` minus a word.
        let first = unsafe { memory.add(padding) }.cast::<Word>();
        // SAFETY: new memory for this many words, which nobody uses yet.
        let words = unsafe { slice::from_raw_parts_mut(first.as_ptr().cast(), len) };
        advise_huge_pages::<Word>(words, huge_pages);
        Some(Self { first, len, memory, layout: Some(layout), huge_pages })
    }

    /// Returns words that somebody else owns.
    #[cfg(guira_in_place)]
    pub(crate) fn borrowed(words: Borrowed) -> Self {
        let (first, len) = (words.first(), words.as_slice().len());
        Self { first, len, memory: first.cast(), layout: None, huge_pages: false }
    }

    /// Takes memory for all words now, except perhaps for those in the last page. All words must
    /// still be zero.
    pub(crate) fn touch(&mut self) {
        // Not every system knows this advice, and it is refused if the words do not begin with a
        // page. Then a page is taken when it is first written.
        // SAFETY: the range is part of our own memory, whose content the advice does not change.
        #[cfg(all(target_os = "linux", not(miri)))]
        unsafe {
            let bytes = self.len * size_of::<Word>();
            libc::madvise(self.first.as_ptr().cast(), bytes, libc::MADV_POPULATE_WRITE)
        };
        self.with_words(touch_pages);
    }

    /// The words.
    #[inline]
    pub(in crate::table) fn as_slice(&self) -> &[Word] {
        // SAFETY: `first` points to `len` words of our own memory, aligned by `zeroed`, at most
        // `isize::MAX` bytes by `sizes`. All-zero bytes are a valid `Word`. They live as long as
        // `self`. Or they are `Borrowed`.
        unsafe { slice::from_raw_parts(self.first.as_ptr(), self.len) }
    }

    /// Returns a bucket.
    ///
    /// # Panics
    /// If there is no such bucket.
    #[inline]
    pub(in crate::table) fn bucket(&self, bucket: u32) -> &Word {
        &self.as_slice()[bucket as usize]
    }

    /// Prefetches a bucket's cache line.
    #[inline]
    pub(in crate::table) fn prefetch(&self, bucket: u32) {
        prefetch(self.first.as_ptr().wrapping_add(bucket as usize).cast());
    }

    /// Calls a function with the values of all words, which it may change.
    pub(crate) fn with_words<R>(&mut self, change: impl FnOnce(&mut [u64]) -> R) -> R {
        // SAFETY: as in `as_slice`, and `&mut self` makes the access exclusive. A `Word` is an
        // atomic, which has the size, the alignment and the valid values of its integer.
        change(unsafe { slice::from_raw_parts_mut(self.first.as_ptr().cast(), self.len) })
    }

    /// Bytes of the memory that can become resident: without what aligns it to a huge page, which
    /// is never accessed.
    pub(in crate::table) fn size_in_bytes(&self) -> usize {
        self.layout.map_or(0, |layout| layout.size().min(small_size(self.len)))
    }

    /// Whether huge pages were requested.
    pub(in crate::table) fn huge_pages(&self) -> bool {
        self.huge_pages
    }

    /// The size of this many words. `None` if that is more than an object can have.
    pub(super) fn bytes_for(len: usize) -> Option<usize> {
        sizes(len, true).map(|_| small_size(len))
    }
}

impl Drop for Buckets {
    fn drop(&mut self) {
        if let Some(layout) = self.layout {
            // SAFETY: allocated in `zeroed` with this very layout. Words need no drop.
            unsafe { dealloc(self.memory.as_ptr(), layout) };
        }
    }
}

/// The bytes of this many words that are allocated without alignment to a huge page.
fn small_size(len: usize) -> usize {
    sizes(len, false).map_or(usize::MAX, |(_, padded)| padded)
}

/// Returns the alignment of `len` words, and the bytes to allocate: those of the words, and as many
/// more as their alignment may need. `None` if that is more than an object can have.
fn sizes(len: usize, huge_pages: bool) -> Option<(usize, usize)> {
    assert!(len > 0, "a table has at least one bucket");
    let bytes = len.checked_mul(size_of::<Word>())?;
    let align = match bytes {
        HUGE_PAGE.. if huge_pages => HUGE_PAGE,
        MIN_ALIGNED.. => CACHE_LINE,
        _ => align_of::<Word>(),
    };
    // The memory itself is aligned to a word.
    let padded = bytes.checked_add(align - align_of::<Word>())?;
    isize::try_from(padded).ok()?;
    Some((align, padded))
}
