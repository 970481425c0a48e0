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
    /// No page is touched here, and none by the allocator where it has memory fresh from the system (glibc's
    /// always has for tables beyond 32 MiB): then memory is taken only as buckets come into use.
    pub(crate) fn new(buckets: u64, huge_pages: bool) -> Option<Self> {
        Some(Self { words: Storage::zeroed(usize::try_from(buckets).ok()?, huge_pages)? })
    }

    /// The same for a table whose buckets are going to arrive one after the other, or not: no memory is
    /// taken for those that do not, where the system can do that (Linux).
    pub(crate) fn arriving(buckets: u64) -> Option<Self> {
        Some(Self { words: Storage::mapped(usize::try_from(buckets).ok()?)? })
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
    use alloc::alloc::{alloc_zeroed, dealloc};
    use core::{alloc::Layout, ptr::NonNull, slice};

    use super::Word;

    /// Alignment of a table: a cache line, so that eight buckets share one and none straddles two.
    const CACHE_LINE: usize = 64;
    /// Size of a huge page on x86-64 and aarch64; tables from this size up are aligned to it.
    const HUGE_PAGE: usize = 2 << 20;

    /// Size of the smallest table that is mapped by itself, where that matters.
    #[cfg(all(target_os = "linux", not(miri)))]
    const WORTH_A_MAPPING: usize = 512 << 10;

    /// Zeroed words, aligned within memory of the allocator's, or of the system's own.
    ///
    /// The allocator is not told about the alignment. Asked for one beyond its own, std's system allocator on
    /// Unix takes memory and clears it, which touches every page. So we ask for plain zeroed memory, which comes fresh
    /// from the system without a touch, and for as much more as the alignment may cost.
    #[derive(Debug)]
    pub(super) struct Storage {
        words: NonNull<Word>,
        len: usize,
        memory: NonNull<u8>,
        source: Source,
    }

    /// Where memory came from, and is to be given back to.
    #[derive(Clone, Copy, Debug)]
    enum Source {
        /// The allocator, which was asked for this.
        Allocator(Layout),
        /// The system, by a mapping of so many bytes.
        #[cfg(all(target_os = "linux", not(miri)))]
        Mapping(usize),
    }

    // SAFETY: `Storage` owns its memory as a `Box<[Word]>` would, and `Word` is `Send` and `Sync`.
    unsafe impl Send for Storage {}
    // SAFETY: as above; through `&Storage` there is only `&[Word]`.
    unsafe impl Sync for Storage {}

    impl Storage {
        /// `len` zeroed words, at least one; `None` when the system refuses.
        pub(super) fn zeroed(len: usize, huge_pages: bool) -> Option<Self> {
            let (bytes, align, padded) = sizes(len)?;
            let layout = Layout::array::<u8>(padded).ok()?;
            let layout = layout.align_to(align_of::<Word>()).ok()?;
            // SAFETY: the layout's size is not zero.
            let memory = NonNull::new(unsafe { alloc_zeroed(layout) })?;
            // SAFETY: zeroed memory of our own, of so many bytes, aligned to a word.
            let storage = unsafe { Self::within(memory, len, align, Source::Allocator(layout)) };
            if huge_pages && bytes >= HUGE_PAGE {
                advise(storage.words, bytes, Advice::OnceTouched);
            }
            Some(storage)
        }

        /// The same, on memory fresh from the system, so that no page is taken before it is touched.
        ///
        /// The allocator promises as much for none, and keeps it for tables beyond 32 MiB (glibc's): smaller ones it
        /// makes of memory that was in use before, and clears.
        pub(super) fn mapped(len: usize) -> Option<Self> {
            #[cfg(all(target_os = "linux", not(miri)))]
            if len >= WORTH_A_MAPPING / size_of::<Word>() {
                let (_, align, padded) = sizes(len)?;
                let (protection, flags) = (
                    libc::PROT_READ | libc::PROT_WRITE,
                    libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                );
                // SAFETY: a new mapping, wherever the system likes, touches nothing of ours.
                let memory =
                    unsafe { libc::mmap(core::ptr::null_mut(), padded, protection, flags, -1, 0) };
                if memory == libc::MAP_FAILED {
                    return None;
                }
                let memory = NonNull::new(memory.cast())?;
                // SAFETY: anonymous memory is zeroed, and begins with a page.
                let storage = unsafe { Self::within(memory, len, align, Source::Mapping(padded)) };
                // Where the system gives huge pages unasked.
                advise(storage.words, storage.len * size_of::<Word>(), Advice::Never);
                return Some(storage);
            }
            Self::zeroed(len, false)
        }

        /// Words in this memory, from its first multiple of `align` on.
        ///
        /// # Safety
        /// It is zeroed, aligned to a word, came from this source, and is `align` bytes longer than the words.
        unsafe fn within(memory: NonNull<u8>, len: usize, align: usize, source: Source) -> Self {
            let padding = memory.as_ptr().addr().next_multiple_of(align) - memory.as_ptr().addr();
            // SAFETY: `padding < align`, and there are `align` bytes more than the words take.
            let words = unsafe { memory.add(padding) }.cast::<Word>();
            Self { words, len, memory, source }
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
            // SAFETY: `words` points to `len` words of our own memory, aligned by `within`, no more than
            // `isize::MAX` bytes by `sizes`; all-zero bytes are a valid `Word`; they live as long as `self`.
            unsafe { slice::from_raw_parts(self.words.as_ptr(), self.len) }
        }

        pub(super) fn as_mut_slice(&mut self) -> &mut [Word] {
            // SAFETY: as in `as_slice`, and `&mut self` makes the access exclusive.
            unsafe { slice::from_raw_parts_mut(self.words.as_ptr(), self.len) }
        }
    }

    impl Drop for Storage {
        fn drop(&mut self) {
            match self.source {
                // SAFETY: allocated in `zeroed` with this very layout; words need no drop.
                Source::Allocator(layout) => unsafe { dealloc(self.memory.as_ptr(), layout) },
                #[cfg(all(target_os = "linux", not(miri)))]
                // SAFETY: mapped in `mapped`, with so many bytes; nothing else is in there.
                Source::Mapping(bytes) => unsafe {
                    libc::munmap(self.memory.as_ptr().cast(), bytes);
                },
            }
        }
    }

    /// Bytes of so many words, their alignment, and the bytes with which they can be aligned; `None` where
    /// these are more than any object can have.
    fn sizes(len: usize) -> Option<(usize, usize, usize)> {
        assert!(len > 0, "a table has a bucket");
        let bytes = len.checked_mul(size_of::<Word>())?;
        let align = if bytes >= HUGE_PAGE { HUGE_PAGE } else { CACHE_LINE };
        let padded = bytes.checked_add(align)?;
        isize::try_from(padded).ok()?;
        Some((bytes, align, padded))
    }

    /// When memory is to be on huge pages.
    #[derive(Clone, Copy)]
    enum Advice {
        /// Not until there is other advice.
        Never,
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
                Advice::Never => libc::MADV_NOHUGEPAGE,
                Advice::OnceTouched => libc::MADV_HUGEPAGE,
                Advice::AtOnce => libc::MADV_COLLAPSE,
            };
            // SAFETY: the range is part of our own allocation, and this advice changes no contents.
            unsafe { libc::madvise(words.as_ptr().cast(), bytes, advice) };
        }
        #[cfg(not(all(target_os = "linux", not(miri))))]
        let _ = (words, bytes, advice, Advice::Never);
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

        pub(super) fn mapped(len: usize) -> Option<Self> {
            Self::zeroed(len, false)
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
