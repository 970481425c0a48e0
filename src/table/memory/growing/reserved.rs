//! Addresses that are reserved at once, and whose memory is committed later: Linux, 64 bits.
//!
//! A reservation takes no memory, and no commit charge either, also where the system never promises
//! more memory than it has: memory that may not be written is not charged. Such a system charges a
//! chunk when it is made writable, and refuses it then if need be.

use core::{mem::MaybeUninit, ptr::NonNull};

use super::{super::HUGE_PAGE, Range, Word};

/// Largest page that the system may have, in bytes.
const MAX_PAGE: usize = 64 << 10;

/// Addresses for the buckets of a table, in a mapping of their own. No page that was not committed
/// can be accessed.
#[derive(Debug)]
pub(super) struct Reservation {
    /// The address of the first bucket.
    pub(super) base: NonNull<Word>,
    /// Bytes of the mapping, whole pages.
    bytes: usize,
    /// Bytes of a page.
    pub(super) page: usize,
    /// Whether memory is to be backed by huge pages.
    huge_pages: bool,
}

impl Reservation {
    /// Reserves addresses for this many buckets, or returns `None` if the system refuses them.
    pub(super) fn new(buckets: u64, huge_pages: bool) -> Option<Self> {
        // SAFETY: a question that has no effect.
        let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).ok()?;
        if !page.is_power_of_two() || page > MAX_PAGE || addresses_are_limited() {
            return None;
        }
        let bytes = usize::try_from(buckets).ok()?.checked_mul(size_of::<Word>())?;
        let bytes = bytes.checked_next_multiple_of(page)?;
        let huge_pages = huge_pages && bytes >= HUGE_PAGE;
        let align = if huge_pages { HUGE_PAGE } else { page };
        let padded = bytes.checked_add(align - page)?;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a new mapping at an address of the system's choice affects no memory of ours.
        let memory =
            unsafe { libc::mmap(core::ptr::null_mut(), padded, libc::PROT_NONE, flags, -1, 0) };
        if memory == libc::MAP_FAILED {
            return None;
        }
        let memory = memory.cast::<u8>();
        let before = memory.addr().next_multiple_of(align) - memory.addr();
        let first = memory.wrapping_add(before);
        let after = padded - before - bytes;
        for (start, bytes) in [(memory, before), (first.wrapping_add(bytes), after)] {
            if bytes > 0 {
                // SAFETY: whole pages at an end of the mapping, which nobody uses. (A refusal would
                // leave addresses reserved, and nothing else.)
                unsafe { libc::munmap(start.cast(), bytes) };
            }
        }
        // Small pages, unless huge ones are requested: where the system uses them by default, an
        // insert would wait until it has cleared one.
        let advice = if huge_pages { libc::MADV_HUGEPAGE } else { libc::MADV_NOHUGEPAGE };
        // SAFETY: our own mapping. The advice changes no content, and a refusal costs speed only.
        unsafe { libc::madvise(first.cast(), bytes, advice) };
        Some(Self { base: NonNull::new(first)?.cast(), bytes, page, huge_pages })
    }

    /// The pages of these buckets, of which the first one begins a page: an address, and bytes.
    fn pages(&self, buckets: &Range<u64>) -> (*mut libc::c_void, usize) {
        let start = buckets.start as usize * size_of::<Word>();
        let end = (buckets.end as usize * size_of::<Word>()).next_multiple_of(self.page);
        assert!(start.is_multiple_of(self.page), "part of a page");
        assert!(start < end && end <= self.bytes, "beyond the reservation");
        (self.base.as_ptr().wrapping_byte_add(start).cast(), end - start)
    }

    /// Makes the pages of these buckets accessible, or returns `None` if the system refuses. Then
    /// some of them may be accessible, and those that were before still are. The first bucket
    /// begins a page.
    pub(super) fn commit(&self, buckets: &Range<u64>) -> Option<()> {
        #[cfg(all(test, feature = "std"))]
        super::tests::refusal::allows()?;
        let (start, bytes) = self.pages(buckets);
        // SAFETY: whole pages of our own mapping. To make them accessible, perhaps again, changes
        // no content, and disturbs no access by other threads.
        let result = unsafe { libc::mprotect(start, bytes, libc::PROT_READ | libc::PROT_WRITE) };
        (result == 0).then_some(())
    }

    /// Has the system move the 2 MiB before this bucket to a huge page, if the bucket begins one.
    /// All of them are committed.
    ///
    /// Chunks of less than a huge page are taken from small pages, since a huge one would reach
    /// beyond them. The system copies the memory, beside threads that use it.
    pub(super) fn collapse_before(&self, bucket: u64) {
        let end = bucket as usize * size_of::<Word>();
        if self.huge_pages && end >= HUGE_PAGE && end.is_multiple_of(HUGE_PAGE) {
            let start = self.base.as_ptr().wrapping_byte_add(end - HUGE_PAGE).cast();
            // SAFETY: whole pages of our own mapping. The advice changes no content, and a refusal
            // costs speed only.
            unsafe { libc::madvise(start, HUGE_PAGE, libc::MADV_COLLAPSE) };
        }
    }

    /// Returns the memory of these buckets to the system. They are empty when they are committed
    /// again.
    ///
    /// # Safety
    /// The buckets are whole chunks, which are committed, and are used no more.
    pub(super) unsafe fn release(&mut self, buckets: &Range<u64>) {
        let (start, bytes) = self.pages(buckets);
        // SAFETY: whole pages of our own mapping, which nobody uses any more.
        if unsafe { libc::madvise(start, bytes, libc::MADV_DONTNEED) } != 0 {
            // The system keeps pages that are locked in memory.
            // SAFETY: as above, and they are accessible.
            unsafe { start.cast::<u8>().write_bytes(0, bytes) };
        }
        // SAFETY: as above. If the system refuses, the pages stay accessible, and are zero. (Not a
        // new mapping in place of these pages: if that failed, the addresses could be lost. For
        // that, pages remain charged where the system charges them.)
        unsafe { libc::mprotect(start, bytes, libc::PROT_NONE) };
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        // SAFETY: our own mapping, for nothing else.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.bytes) };
    }
}

/// Returns whether the process may have only so many addresses. Then those of a reservation could
/// be missing elsewhere.
fn addresses_are_limited() -> bool {
    let mut limit = MaybeUninit::<libc::rlimit>::uninit();
    // SAFETY: the call writes the limit, if it succeeds.
    unsafe {
        libc::getrlimit(libc::RLIMIT_AS, limit.as_mut_ptr()) != 0
            || limit.assume_init().rlim_cur != libc::RLIM_INFINITY
    }
}
