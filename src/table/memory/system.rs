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
/// Smallest table, in bytes, that gets a mapping of its own when it is loaded incrementally.
#[cfg(all(target_os = "linux", not(miri)))]
const MIN_MAPPING: usize = 512 << 10;

/// The buckets of a table of a fixed size, zeroed at first: words that are aligned within memory
/// from the allocator or from a mapping.
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
    source: Source,
}

/// Where memory came from, and where it is returned to.
#[derive(Clone, Copy, Debug)]
enum Source {
    /// The allocator, with this layout.
    Allocator(Layout),
    /// A mapping of this many bytes.
    #[cfg(all(target_os = "linux", not(miri)))]
    Mapping(usize),
    /// Somebody else, who keeps it.
    #[cfg(guira_in_place)]
    Owner,
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
        let storage = unsafe { Self::within(memory, len, align, Source::Allocator(layout)) };
        if huge_pages && bytes >= HUGE_PAGE {
            storage.advise(0..bytes, Advice::HugePages);
        }
        Some(storage)
    }

    /// Returns `len` zeroed words on memory fresh from the system, if there are enough of them and
    /// the system is Linux: no page is taken before it is touched. Otherwise as
    /// [`zeroed`](Self::zeroed).
    ///
    /// An allocator does not promise this for any size. glibc's provides it for more than 32 MiB.
    /// Smaller blocks may come from memory that was used before, which it clears.
    pub(super) fn mapped(len: usize) -> Option<Self> {
        #[cfg(all(target_os = "linux", not(miri)))]
        if len >= MIN_MAPPING / size_of::<Word>() {
            let (_, align, padded) = sizes(len, true)?;
            let (protection, flags) = (
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
            );
            // SAFETY: a new mapping at an address of the system's choice affects no memory of ours.
            let memory =
                unsafe { libc::mmap(core::ptr::null_mut(), padded, protection, flags, -1, 0) };
            if memory == libc::MAP_FAILED {
                return None;
            }
            let memory = NonNull::new(memory.cast())?;
            // SAFETY: anonymous memory is zeroed and starts at a page.
            let storage = unsafe { Self::within(memory, len, align, Source::Mapping(padded)) };
            // Where the system uses huge pages by default, the first byte could take 2 MiB.
            storage.advise(0..len * size_of::<Word>(), Advice::SmallPages);
            return Some(storage);
        }
        Self::zeroed(len, false)
    }

    /// Returns words that somebody else owns.
    #[cfg(guira_in_place)]
    pub(crate) fn borrowed(words: Borrowed) -> Self {
        let (first, len) = (words.first(), words.as_slice().len());
        Self { first, len, memory: first.cast(), source: Source::Owner }
    }

    /// Returns words in this memory, from its first multiple of `align` on.
    ///
    /// # Safety
    /// The memory is zeroed, aligned to a word, came from this source, and is longer than the words
    /// by `align` minus a word.
    unsafe fn within(memory: NonNull<u8>, len: usize, align: usize, source: Source) -> Self {
        let padding = memory.as_ptr().addr().next_multiple_of(align) - memory.as_ptr().addr();
        // SAFETY: `padding` is a multiple of a word below `align`, and the memory is longer than
        // the words by `align` minus a word.
        let first = unsafe { memory.add(padding) }.cast::<Word>();
        Self { first, len, memory, source }
    }

    /// Returns whether the memory is a mapping, of which no page is taken before it is touched.
    pub(super) fn is_mapped(&self) -> bool {
        match self.source {
            #[cfg(all(target_os = "linux", not(miri)))]
            Source::Mapping(_) => true,
            _ => false,
        }
    }

    /// Takes memory for some bytes now.
    pub(super) fn populate(&mut self, bytes: Range<usize>) {
        self.advise(bytes, Advice::Populate);
    }

    /// Takes memory for all words now, except perhaps for those in the last page. All words must
    /// still be zero.
    pub(crate) fn touch(&mut self) {
        self.populate(0..self.size_in_bytes());
        // Not every system knows this advice, and it is refused if the words do not begin with a
        // page. Then a page is taken when it is first written.
        for page in self.as_mut_slice().chunks_mut(SMALL_PAGE / size_of::<Word>()) {
            // The compiler must not know that this is zero: it could omit the store to new memory.
            page[0].set(black_box(0));
        }
    }

    /// Backs some bytes with huge pages, each when it is first touched.
    pub(super) fn use_huge_pages(&mut self, bytes: Range<usize>) {
        self.advise(bytes, Advice::HugePages);
    }

    /// Returns the memory of some bytes of a mapping, from the start of a page on, to the system.
    /// They may be zero afterwards, and so may be the rest of their last page.
    pub(super) fn release(&mut self, bytes: Range<usize>) {
        if self.is_mapped() && !bytes.is_empty() {
            self.advise(bytes, Advice::Unused);
        }
    }

    /// Advises the system how to back some bytes. A refusal costs speed and nothing else.
    fn advise(&self, bytes: Range<usize>, advice: Advice) {
        assert!(bytes.end <= self.size_in_bytes());
        #[cfg(all(target_os = "linux", not(miri)))]
        {
            let advice = match advice {
                Advice::SmallPages => libc::MADV_NOHUGEPAGE,
                Advice::HugePages => libc::MADV_HUGEPAGE,
                Advice::Populate => libc::MADV_POPULATE_WRITE,
                Advice::Unused => libc::MADV_DONTNEED,
            };
            let start = self.first.as_ptr().cast::<u8>().wrapping_add(bytes.start);
            // SAFETY: the range is part of our own memory. Only `Advice::Unused` changes its
            // content, to zeros. Only `release` gives this advice, with exclusive access. What the
            // last page has beyond the range is part of the same mapping.
            unsafe { libc::madvise(start.cast(), bytes.len(), advice) };
        }
        #[cfg(not(all(target_os = "linux", not(miri))))]
        let _ = (advice, Advice::SmallPages);
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

    /// Bytes of the words.
    pub(super) fn size_in_bytes(&self) -> usize {
        self.len * size_of::<Word>()
    }

    /// Bytes of the memory, of which the words are a part.
    pub(in crate::table) fn allocated_bytes(&self) -> usize {
        match self.source {
            Source::Allocator(layout) => layout.size(),
            #[cfg(all(target_os = "linux", not(miri)))]
            Source::Mapping(bytes) => bytes,
            #[cfg(guira_in_place)]
            Source::Owner => 0,
        }
    }

    /// Bytes that [`zeroed`](Self::zeroed) allocates for this many words. `None` if that is more
    /// than an object can have.
    pub(super) fn bytes_for(len: usize, huge_pages: bool) -> Option<usize> {
        sizes(len, huge_pages).map(|(_, _, padded)| padded)
    }
}

impl Drop for Buckets {
    fn drop(&mut self) {
        match self.source {
            // SAFETY: allocated in `zeroed` with this very layout. Words need no drop.
            Source::Allocator(layout) => unsafe { dealloc(self.memory.as_ptr(), layout) },
            #[cfg(all(target_os = "linux", not(miri)))]
            // SAFETY: mapped in `mapped` with this many bytes, for nothing else.
            Source::Mapping(bytes) => unsafe {
                libc::munmap(self.memory.as_ptr().cast(), bytes);
            },
            #[cfg(guira_in_place)]
            Source::Owner => {}
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
    /// With small pages, until there is other advice.
    SmallPages,
    /// With huge pages, each when it is first touched.
    HugePages,
    /// With memory for all of it, now.
    Populate,
    /// With nothing: the content is no longer needed.
    Unused,
}
