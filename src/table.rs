//! The buckets in memory: one allocation of words, aligned to cache lines, on huge pages where
//! the system has them.

use crate::sync::Word;
use storage::Storage;

/// The buckets of a filter, all empty at first.
#[derive(Debug)]
pub(crate) struct Table {
    words: Storage,
}

impl Table {
    /// A table of empty buckets, or `None` when the system refuses the memory.
    ///
    /// No page is touched, so memory is taken only as buckets come into use.
    pub(crate) fn new(buckets: u64, huge_pages: bool) -> Option<Self> {
        Some(Self { words: Storage::zeroed(usize::try_from(buckets).ok()?, huge_pages)? })
    }

    /// A bucket.
    ///
    /// # Panics
    /// If there is no such bucket.
    #[inline]
    pub(crate) fn bucket(&self, bucket: u32) -> &Word {
        &self.words.as_slice()[bucket as usize]
    }

    /// Asks for a bucket's cache line without waiting for it.
    #[inline]
    pub(crate) fn prefetch(&self, bucket: u32) {
        prefetch(self.words.as_slice().as_ptr().wrapping_add(bucket as usize).cast());
    }

    /// All buckets.
    pub(crate) fn as_slice(&self) -> &[Word] {
        self.words.as_slice()
    }

    /// All buckets, for whoever has the table for itself.
    pub(crate) fn as_mut_slice(&mut self) -> &mut [Word] {
        self.words.as_mut_slice()
    }

    /// Asks the system to put the buckets on huge pages from now on, those in use at once.
    pub(crate) fn onto_huge_pages(&mut self) {
        self.words.onto_huge_pages();
    }

    /// Empties every bucket.
    pub(crate) fn clear(&mut self) {
        for word in self.as_mut_slice() {
            word.set(0);
        }
    }

    /// Bytes of the buckets.
    pub(crate) fn size_in_bytes(&self) -> usize {
        size_of_val(self.words.as_slice())
    }
}

/// Prefetches a line for reading. Any address will do: a prefetch never faults.
#[inline]
pub(crate) fn prefetch(word: *const u8) {
    #[cfg(all(target_arch = "x86_64", not(any(loom, shuttle, miri, guira_portable))))]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing and faults on no address, and SSE is part of x86-64.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(word.cast()) };
    }
    // Elsewhere the loads themselves, which do not depend on one another, have to do.
    #[cfg(not(all(target_arch = "x86_64", not(any(loom, shuttle, miri, guira_portable)))))]
    let _ = word;
}

#[cfg(not(any(loom, shuttle)))]
mod storage {
    use std::{
        alloc::{Layout, alloc_zeroed, dealloc},
        ptr::NonNull,
        slice,
    };

    use super::Word;

    /// Alignment of a table: a cache line, so that eight buckets share one and none straddles two.
    const CACHE_LINE: usize = 64;
    /// Size of a huge page on x86-64 and aarch64; tables from this size up are aligned to it.
    const HUGE_PAGE: usize = 2 << 20;

    /// Zeroed words with an alignment that the allocator is not told about.
    ///
    /// Asked for an alignment beyond its own, std's system allocator on Unix takes memory and
    /// clears it, which touches every page. So we ask for plain zeroed memory, which comes fresh
    /// from the system without a touch, and for as much more as the alignment may cost.
    #[derive(Debug)]
    pub(super) struct Storage {
        words: NonNull<Word>,
        len: usize,
        allocation: NonNull<u8>,
        layout: Layout,
    }

    // SAFETY: `Storage` owns its memory as a `Box<[Word]>` would, and `Word` is `Send` and `Sync`.
    unsafe impl Send for Storage {}
    // SAFETY: as above; through `&Storage` there is only `&[Word]`.
    unsafe impl Sync for Storage {}

    impl Storage {
        /// `len` zeroed words, at least one; `None` when the system refuses.
        pub(super) fn zeroed(len: usize, huge_pages: bool) -> Option<Self> {
            assert!(len > 0, "a table has a bucket");
            let bytes = len.checked_mul(size_of::<Word>())?;
            let align = if bytes >= HUGE_PAGE { HUGE_PAGE } else { CACHE_LINE };
            let layout = Layout::array::<Word>(len.checked_add(align / size_of::<Word>())?).ok()?;
            // SAFETY: the layout's size is not zero.
            let allocation = NonNull::new(unsafe { alloc_zeroed(layout) })?;
            let padding =
                allocation.as_ptr().addr().next_multiple_of(align) - allocation.as_ptr().addr();
            // SAFETY: `padding < align`, and the allocation is `align` bytes longer than the words.
            let words = unsafe { allocation.add(padding) }.cast::<Word>();
            if huge_pages && bytes >= HUGE_PAGE {
                advise(words, bytes, Advice::OnceTouched);
            }
            Some(Self { words, len, allocation, layout })
        }

        pub(super) fn onto_huge_pages(&mut self) {
            let bytes = self.len * size_of::<Word>();
            if bytes >= HUGE_PAGE {
                advise(self.words, bytes, Advice::OnceTouched);
                advise(self.words, bytes, Advice::AtOnce);
            }
        }

        #[inline]
        pub(super) fn as_slice(&self) -> &[Word] {
            // SAFETY: `words` points to `len` words of our own allocation, aligned by `zeroed`;
            // all-zero bytes are a valid `Word`; they live as long as `self`.
            unsafe { slice::from_raw_parts(self.words.as_ptr(), self.len) }
        }

        pub(super) fn as_mut_slice(&mut self) -> &mut [Word] {
            // SAFETY: as in `as_slice`, and `&mut self` makes the access exclusive.
            unsafe { slice::from_raw_parts_mut(self.words.as_ptr(), self.len) }
        }
    }

    impl Drop for Storage {
        fn drop(&mut self) {
            // SAFETY: allocated in `zeroed` with this very layout; words need no drop.
            unsafe { dealloc(self.allocation.as_ptr(), self.layout) };
        }
    }

    /// When memory is to be on huge pages.
    #[derive(Clone, Copy)]
    enum Advice {
        /// Each page when it is first touched.
        OnceTouched,
        /// What has been touched, now.
        AtOnce,
    }

    /// Asks the system to back this memory with huge pages; a refusal costs speed, nothing else.
    fn advise(words: NonNull<Word>, bytes: usize, advice: Advice) {
        #[cfg(all(target_os = "linux", not(miri)))]
        {
            let advice = match advice {
                Advice::OnceTouched => libc::MADV_HUGEPAGE,
                Advice::AtOnce => libc::MADV_COLLAPSE,
            };
            // SAFETY: the range is part of our own allocation, and this advice changes no contents.
            unsafe { libc::madvise(words.as_ptr().cast(), bytes, advice) };
        }
        #[cfg(not(all(target_os = "linux", not(miri))))]
        let _ = (words, bytes, advice);
    }
}

#[cfg(any(loom, shuttle))]
mod storage {
    use super::Word;

    /// Model checkers' atomics are built one by one; a model's table has a handful.
    #[derive(Debug)]
    pub(super) struct Storage(Box<[Word]>);

    impl Storage {
        pub(super) fn zeroed(len: usize, _huge_pages: bool) -> Option<Self> {
            Some(Self((0..len).map(|_| Word::new(0)).collect()))
        }

        pub(super) fn onto_huge_pages(&mut self) {}

        pub(super) fn as_slice(&self) -> &[Word] {
            &self.0
        }

        pub(super) fn as_mut_slice(&mut self) -> &mut [Word] {
            &mut self.0
        }
    }
}
