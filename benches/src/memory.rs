//! The allocator of every program that links this crate: the system's, on huge pages, with a count
//! of the bytes that each thread holds.
//!
//! Every compared table gets the same kind of pages as guira's own, and its size can be measured.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

/// The system's allocator with advice about huge pages.
struct HugePages;

#[global_allocator]
static ALLOCATOR: HugePages = HugePages;

/// Smallest allocation that gets the advice, in bytes: two huge pages.
const LARGE: usize = 4 << 20;

thread_local! {
    /// Bytes allocated by this thread minus bytes freed by it.
    static HELD: Cell<isize> = const { Cell::new(0) };

    /// Whether this thread's allocations get no advice.
    static SMALL_PAGES: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work` with the pages that the system's allocator gives to every program.
pub fn with_small_pages<T>(work: impl FnOnce() -> T) -> T {
    SMALL_PAGES.set(true);
    let result = work();
    SMALL_PAGES.set(false);
    result
}

/// Returns the bytes that the calling thread has allocated minus those that it has freed.
#[must_use]
pub fn held() -> isize {
    HELD.get()
}

/// Asks the system for huge pages for every whole huge page in a range of memory.
pub fn advise_huge_pages(start: usize, bytes: usize) {
    #[cfg(target_os = "linux")]
    {
        let huge = 2 << 20;
        let (from, until) = (start.next_multiple_of(huge), (start + bytes) & !(huge - 1));
        if from < until {
            // SAFETY: whole pages of memory that the caller owns; the advice changes no contents.
            unsafe { libc::madvise(from as *mut libc::c_void, until - from, libc::MADV_HUGEPAGE) };
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (start, bytes);
}

fn count(bytes: isize) {
    // The count is gone while a thread ends.
    let _ = HELD.try_with(|held| held.set(held.get() + bytes));
}

fn advised(memory: *mut u8, bytes: usize) -> *mut u8 {
    if !memory.is_null() {
        count(bytes as isize);
    }
    let is_small = SMALL_PAGES.try_with(Cell::get).unwrap_or(false);
    if bytes >= LARGE && !is_small && !memory.is_null() {
        advise_huge_pages(memory.addr(), bytes);
    }
    memory
}

// SAFETY: every call is forwarded to the system's allocator; the advice changes no contents.
unsafe impl GlobalAlloc for HugePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract, which is the same.
        advised(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        advised(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        let moved = unsafe { System.realloc(memory, layout, size) };
        if !moved.is_null() {
            count(-(layout.size() as isize));
        }
        advised(moved, size)
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) };
        count(-(layout.size() as isize));
    }
}
