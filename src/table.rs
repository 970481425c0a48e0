//! The buckets in memory: one allocation of words, aligned to cache lines, on huge pages where
//! the system has them.

use core::{mem::MaybeUninit, ops::Range};

use crate::sync::Word;
use storage::Storage;

/// Size of a huge page on x86-64 and aarch64; tables from this size up are aligned to it.
const HUGE_PAGE: usize = 2 << 20;

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

    /// Empties every bucket.
    pub(crate) fn clear(&mut self) {
        for word in self.as_mut_slice() {
            word.set(0);
        }
    }

    /// Bytes of the buckets.
    pub(crate) fn size_in_bytes(&self) -> usize {
        self.words.size_in_bytes()
    }
}

/// A table whose buckets arrive one after the other, or not.
#[derive(Debug)]
pub(crate) struct Arriving {
    table: Storage,
    /// Buckets that are there.
    arrived: usize,
    /// Where the first ones of a huge page wait for it to be taken, if there are huge pages and they must wait.
    waiting: Option<Storage>,
}

impl Arriving {
    /// Bytes that are taken together. They stay in a second-level cache.
    pub(crate) const CHUNK: usize = 64 << 10;
    /// Bytes that must have arrived of a huge page before it is taken: of the rest, less than a megabyte, some may
    /// never come.
    const ENOUGH: usize = 9 * HUGE_PAGE / 16;

    /// Where no memory is to be taken for what does not arrive, but for a megabyte, as far as the system can do
    /// that (Linux). `None` when it refuses the memory.
    pub(crate) fn slowly(buckets: u64) -> Option<Self> {
        let mut table = Storage::mapped(usize::try_from(buckets).ok()?)?;
        let whole = table.size_in_bytes() / HUGE_PAGE * HUGE_PAGE;
        let mut waiting = None;
        if whole > 0 && table.is_mapped() {
            waiting = Some(Storage::mapped(Self::ENOUGH / size_of::<Word>())?);
            table.onto_huge_pages(0..whole);
        }
        Some(Self { table, arrived: 0, waiting })
    }

    /// Where all buckets are known to come.
    pub(crate) fn at_once(buckets: u64) -> Option<Self> {
        let table = Storage::zeroed(usize::try_from(buckets).ok()?, true)?;
        Some(Self { table, arrived: 0, waiting: None })
    }

    /// Whether buckets are still to come.
    pub(crate) fn is_incomplete(&self) -> bool {
        self.arrived < self.table.as_slice().len()
    }

    /// Takes a chunk, or what is still to come, by its bytes, little-endian: what `fill` leaves in there.
    pub(crate) fn next<R>(&mut self, fill: impl FnOnce(&mut [u8]) -> R) -> R {
        const WORD: usize = size_of::<u64>();
        let from = self.arrived * WORD;
        let until = self.table.size_in_bytes().min(from + Self::CHUNK);
        let used = from % HUGE_PAGE;
        let start = from - used;
        match &mut self.waiting {
            Some(waiting)
                if used < Self::ENOUGH && start + HUGE_PAGE <= self.table.size_in_bytes() =>
            {
                // (Asking for it costs less than a page fault every 4 KiB.)
                waiting.populate(used..used + Self::CHUNK);
                let result = waiting.with_bytes(used..used + Self::CHUNK, fill);
                if used + Self::CHUNK == Self::ENOUGH {
                    waiting.with_bytes(0..Self::ENOUGH, |waiting| {
                        let place = start..start + Self::ENOUGH;
                        self.table.with_bytes(place, |place| place.copy_from_slice(waiting));
                    });
                    waiting.release();
                }
                self.arrived = until / WORD;
                result
            }
            _ => {
                let result = self.table.with_bytes(from..until, fill);
                // Only now: should `fill` panic, they are still to come.
                self.arrived = until / WORD;
                result
            }
        }
    }

    /// The table.
    ///
    /// # Panics
    /// If buckets are still to come.
    pub(crate) fn finish(self) -> Table {
        assert!(!self.is_incomplete(), "the last ones may be waiting");
        Table { words: self.table }
    }
}

/// The words that some bytes are.
fn words(bytes: &Range<usize>) -> Range<usize> {
    const WORD: usize = size_of::<u64>();
    assert!(bytes.start.is_multiple_of(WORD) && bytes.end.is_multiple_of(WORD), "half a word");
    bytes.start / WORD..bytes.end / WORD
}

/// Asks the system to back memory that has not been touched yet with huge pages, as far as they fit into it.
pub(crate) fn onto_huge_pages<T>(memory: &mut [MaybeUninit<T>]) {
    #[cfg(all(target_os = "linux", not(any(loom, shuttle, miri))))]
    {
        let Range { start, end } = memory.as_mut_ptr_range();
        let first = start.addr().next_multiple_of(HUGE_PAGE);
        let bytes = (end.addr() / HUGE_PAGE * HUGE_PAGE).saturating_sub(first);
        if bytes > 0 {
            let first = start.with_addr(first).cast();
            // SAFETY: whole pages of memory that is the caller's alone, in which this advice changes nothing.
            unsafe { libc::madvise(first, bytes, libc::MADV_HUGEPAGE) };
        }
    }
    #[cfg(not(all(target_os = "linux", not(any(loom, shuttle, miri)))))]
    let _ = memory;
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
    use core::{alloc::Layout, ops::Range, ptr::NonNull, slice};

    use super::{HUGE_PAGE, Word};

    /// Alignment of a table: a cache line, so that eight buckets share one and none straddles two.
    const CACHE_LINE: usize = 64;
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
                storage.advise(0..bytes, Advice::HugePages);
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
                // Where the system gives huge pages unasked: one could take 2 MiB for the first byte.
                storage.advise(0..len * size_of::<Word>(), Advice::SmallPages);
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

        /// Whether this is memory of the system's own, of which none is taken before it is touched.
        pub(super) fn is_mapped(&self) -> bool {
            !matches!(self.source, Source::Allocator(_))
        }

        /// Takes memory for some bytes.
        pub(super) fn populate(&mut self, bytes: Range<usize>) {
            self.advise(bytes, Advice::Now);
        }

        /// Puts some bytes on huge pages, each when it is first touched.
        pub(super) fn onto_huge_pages(&mut self, bytes: Range<usize>) {
            self.advise(bytes, Advice::HugePages);
        }

        /// Gives the memory of a mapping back. Its words may be zero from now on.
        pub(super) fn release(&mut self) {
            if self.is_mapped() {
                self.advise(0..self.size_in_bytes(), Advice::Unused);
            }
        }

        /// Asks the system to back some bytes in this way; a refusal costs speed, nothing else.
        fn advise(&self, bytes: Range<usize>, advice: Advice) {
            assert!(bytes.end <= self.size_in_bytes());
            #[cfg(all(target_os = "linux", not(miri)))]
            {
                let advice = match advice {
                    Advice::SmallPages => libc::MADV_NOHUGEPAGE,
                    Advice::HugePages => libc::MADV_HUGEPAGE,
                    Advice::Now => libc::MADV_POPULATE_WRITE,
                    Advice::Unused => libc::MADV_DONTNEED,
                };
                let start = self.words.as_ptr().cast::<u8>().wrapping_add(bytes.start);
                // SAFETY: the range is part of our own memory. Only the last advice changes what is in it, to
                // zeros, which `release` alone gives, with the memory for itself and whole pages of it.
                unsafe { libc::madvise(start.cast(), bytes.len(), advice) };
            }
            #[cfg(not(all(target_os = "linux", not(miri))))]
            let _ = (advice, Advice::SmallPages);
        }

        #[inline]
        pub(super) fn as_slice(&self) -> &[Word] {
            // SAFETY: `words` points to `len` words of our own memory, aligned by `within`, no more than
            // `isize::MAX` bytes by `sizes`; all-zero bytes are a valid `Word`; they live as long as `self`.
            unsafe { slice::from_raw_parts(self.words.as_ptr(), self.len) }
        }

        /// Gives some bytes to a function that may change them, every word little-endian.
        ///
        /// # Panics
        /// If they are not whole words.
        pub(super) fn with_bytes<R>(
            &mut self,
            bytes: Range<usize>,
            change: impl FnOnce(&mut [u8]) -> R,
        ) -> R {
            let words = super::words(&bytes);
            let words = &mut self.as_mut_slice()[words];
            // SAFETY: the bytes of these words, borrowed with them. A `Word` is an atomic, which has the size and the
            // valid values of its number: any bytes will do.
            let bytes =
                unsafe { slice::from_raw_parts_mut(words.as_mut_ptr().cast(), bytes.len()) };
            turn_if_big_endian(bytes);
            let result = change(bytes);
            turn_if_big_endian(bytes);
            result
        }

        pub(super) fn size_in_bytes(&self) -> usize {
            self.len * size_of::<Word>()
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

    /// Changes words between the machine's order of bytes and little-endian.
    fn turn_if_big_endian(bytes: &mut [u8]) {
        if cfg!(target_endian = "big") {
            for word in bytes.as_chunks_mut::<{ size_of::<Word>() }>().0 {
                word.reverse();
            }
        }
    }

    /// How the system is to back memory.
    #[derive(Clone, Copy)]
    enum Advice {
        /// On small pages, until there is other advice.
        SmallPages,
        /// On huge pages, each when it is first touched.
        HugePages,
        /// All of it now.
        Now,
        /// Not any more.
        Unused,
    }
}

#[cfg(any(loom, shuttle))]
mod storage {
    use alloc::{boxed::Box, vec::Vec};
    use core::ops::Range;

    use super::Word;
    use crate::sync::Relaxed;

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

        pub(super) fn is_mapped(&self) -> bool {
            false
        }

        pub(super) fn populate(&mut self, _bytes: Range<usize>) {}

        pub(super) fn onto_huge_pages(&mut self, _bytes: Range<usize>) {}

        pub(super) fn release(&mut self) {}

        pub(super) fn with_bytes<R>(
            &mut self,
            bytes: Range<usize>,
            change: impl FnOnce(&mut [u8]) -> R,
        ) -> R {
            let words = &mut self.0[super::words(&bytes)];
            let numbers = words.iter().flat_map(|word| word.load(Relaxed).to_le_bytes());
            let mut bytes: Vec<u8> = numbers.collect();
            let result = change(&mut bytes);
            for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
                word.set(u64::from_le_bytes(*bytes));
            }
            result
        }

        pub(super) fn size_in_bytes(&self) -> usize {
            self.0.len() * size_of::<u64>()
        }

        pub(super) fn as_slice(&self) -> &[Word] {
            &self.0
        }

        pub(super) fn as_mut_slice(&mut self) -> &mut [Word] {
            &mut self.0
        }
    }
}
