//! Zeroed, aligned words, from the allocator or straight from the system.

use alloc::alloc::{alloc_zeroed, dealloc};
use core::{alloc::Layout, hint::black_box, ops::Range, ptr::NonNull, slice};

#[cfg(guira_in_place)]
use super::Borrowed;
use super::{HUGE_PAGE, Word};
use crate::table::prefetch;

/// Alignment of tables without huge pages, in bytes: a cache line, so that eight buckets share one.
const CACHE_LINE: usize = 64;
/// Size of a page in bytes on most systems. It is larger on some.
const SMALL_PAGE: usize = 4 << 10;
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
        let (bytes, align, padded) = sizes(len, huge_pages)?;
        let layout = Layout::array::<u8>(padded).ok()?;
        let layout = layout.align_to(align_of::<Word>()).ok()?;
        // SAFETY: the layout's size is not zero.
        let memory = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        // SAFETY: zeroed memory of our own, `padded` bytes, aligned to a word.
        let storage = unsafe { Self::within(memory, len, align, layout) };
        if huge_pages && bytes >= HUGE_PAGE {
            storage.advise(Advice::HugePages);
        }
        Some(storage)
    }

    /// Returns words that somebody else owns.
    #[cfg(guira_in_place)]
    pub(crate) fn borrowed(words: Borrowed) -> Self {
        let (first, len) = (words.first(), words.as_slice().len());
        Self { first, len, memory: first.cast(), layout: None }
    }

    /// Returns words in this memory, from its first multiple of `align` on.
    ///
    /// # Safety
    /// The memory is zeroed, was allocated with this layout, which is aligned to a word, and is
    /// longer than the words by `align` minus a word.
    unsafe fn within(memory: NonNull<u8>, len: usize, align: usize, layout: Layout) -> Self {
        let padding = memory.as_ptr().addr().next_multiple_of(align) - memory.as_ptr().addr();
        // SAFETY: `padding` is a multiple of a word below `align`, and the memory is longer than
        // the words by `align` minus a word.
        let first = unsafe { memory.add(padding) }.cast::<Word>();
        Self { first, len, memory, layout: Some(layout) }
    }

    /// Takes memory for all words now, except perhaps for those in the last page. All words must
    /// still be zero.
    pub(crate) fn touch(&mut self) {
        self.advise(Advice::Populate);
        // Not every system knows this advice, and it is refused if the words do not begin with a
        // page. Then a page is taken when it is first written.
        for page in self.as_mut_slice().chunks_mut(SMALL_PAGE / size_of::<Word>()) {
            // The compiler must not know that this is zero: it could omit the store to new memory.
            page[0].set(black_box(0));
        }
    }

    /// Advises the system how to back the words. A refusal costs speed and nothing else.
    fn advise(&self, advice: Advice) {
        #[cfg(all(target_os = "linux", not(miri)))]
        {
            let advice = match advice {
                Advice::HugePages => libc::MADV_HUGEPAGE,
                Advice::Populate => libc::MADV_POPULATE_WRITE,
            };
            let bytes = self.len * size_of::<Word>();
            // SAFETY: the range is part of our own memory, whose content the advice does not change.
            unsafe { libc::madvise(self.first.as_ptr().cast(), bytes, advice) };
        }
        #[cfg(not(all(target_os = "linux", not(miri))))]
        let _ = advice;
    }

    /// The words.
    #[inline]
    pub(in crate::table) fn as_slice(&self) -> &[Word] {
        // SAFETY: `first` points to `len` words of our own memory, aligned by `within`, at most
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

    /// The words, through an exclusive reference.
    fn as_mut_slice(&mut self) -> &mut [Word] {
        // SAFETY: as in `as_slice`, and `&mut self` makes the access exclusive.
        unsafe { slice::from_raw_parts_mut(self.first.as_ptr(), self.len) }
    }

    /// Calls a function with some bytes, which it may change. Every word is little-endian.
    ///
    /// # Panics
    /// If the bytes are not whole words.
    pub(super) fn with_bytes<R>(
        &mut self,
        bytes: Range<usize>,
        change: impl FnOnce(&mut [u8]) -> R,
    ) -> R {
        let words = super::words(&bytes);
        let words = &mut self.as_mut_slice()[words];
        // SAFETY: the bytes of these words, borrowed with them. A `Word` is an atomic, which has
        // the size and the valid values of its integer: all bytes are valid.
        let bytes = unsafe { slice::from_raw_parts_mut(words.as_mut_ptr().cast(), bytes.len()) };
        swap_bytes_if_big_endian(bytes);
        let result = change(bytes);
        swap_bytes_if_big_endian(bytes);
        result
    }

    /// Calls a function with the values of all words, which it may change.
    pub(crate) fn with_words<R>(&mut self, change: impl FnOnce(&mut [u64]) -> R) -> R {
        let words = self.as_mut_slice();
        // SAFETY: the words, borrowed exclusively. A `Word` is an atomic, which has the size, the
        // alignment and the valid values of its integer.
        change(unsafe { slice::from_raw_parts_mut(words.as_mut_ptr().cast(), words.len()) })
    }

    /// Bytes of the memory, of which the words are a part.
    pub(in crate::table) fn allocated_bytes(&self) -> usize {
        self.layout.map_or(0, |layout| layout.size())
    }

    /// Bytes that [`zeroed`](Self::zeroed) allocates for this many words. `None` if that is more
    /// than an object can have.
    pub(super) fn bytes_for(len: usize, huge_pages: bool) -> Option<usize> {
        sizes(len, huge_pages).map(|(_, _, padded)| padded)
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

/// Returns the bytes of `len` words, their alignment, and the bytes to allocate: those of the
/// words, and as many more as their alignment may need. `None` if that is more than an object can
/// have.
fn sizes(len: usize, huge_pages: bool) -> Option<(usize, usize, usize)> {
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
    Some((bytes, align, padded))
}

/// Converts words between the machine's byte order and little-endian.
fn swap_bytes_if_big_endian(bytes: &mut [u8]) {
    if cfg!(target_endian = "big") {
        for word in bytes.as_chunks_mut::<{ size_of::<Word>() }>().0 {
            word.reverse();
        }
    }
}

/// How the system should back memory.
#[derive(Clone, Copy)]
enum Advice {
    /// With huge pages, each when it is first touched.
    HugePages,
    /// With memory for all of it, now.
    Populate,
}
