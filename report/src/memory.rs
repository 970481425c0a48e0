//! The allocator of the report: the system's, on huge pages, so that every peer's table has the pages
//! that guira's has; and a count of what each thread has taken, to tell sizes by.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

use crate::common::advise_huge_pages;

/// Asks for huge pages for allocations that are large enough to matter.
struct HugePages;

#[global_allocator]
static ALLOCATOR: HugePages = HugePages;

/// Allocations from this size up get the advice, in bytes.
const LARGE: usize = 4 << 20;

thread_local! {
    /// Bytes that this thread has taken less those that it has given back.
    static TAKEN: Cell<isize> = const { Cell::new(0) };
}

/// Bytes that this thread has taken from the allocator less those that it has given back.
pub fn taken() -> isize {
    TAKEN.get()
}

fn count(bytes: isize) {
    // A thread that is about to end no longer counts.
    let _ = TAKEN.try_with(|taken| taken.set(taken.get() + bytes));
}

fn advised(memory: *mut u8, bytes: usize) -> *mut u8 {
    if !memory.is_null() {
        count(bytes as isize);
    }
    if bytes >= LARGE && !memory.is_null() {
        advise_huge_pages(memory.addr(), bytes);
    }
    memory
}

// SAFETY: every call is the system allocator's; the advice changes no contents.
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
