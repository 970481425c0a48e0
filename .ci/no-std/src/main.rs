//! Fills filters, asks them and empties them, with nothing but `core`, `alloc` and the C library's memory.

#![no_std]
#![no_main]

use core::{
    alloc::{GlobalAlloc, Layout},
    ffi::c_int,
    panic::PanicInfo,
    ptr,
};

use guira::{CuckooFilter, GrowingFilter};

/// The C library's memory.
struct Memory;

// SAFETY: `posix_memalign` gives memory of that size and alignment or fails, and `free` takes it back.
unsafe impl GlobalAlloc for Memory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let mut memory = ptr::null_mut();
        let alignment = layout.align().max(size_of::<usize>());
        // SAFETY: the alignment is a power of two, and a multiple of a pointer's size.
        let outcome = unsafe { libc::posix_memalign(&raw mut memory, alignment, layout.size()) };
        if outcome == 0 { memory.cast() } else { ptr::null_mut() }
    }

    unsafe fn dealloc(&self, memory: *mut u8, _layout: Layout) {
        // SAFETY: it is from `alloc`.
        unsafe { libc::free(memory.cast()) };
    }
}

#[global_allocator]
static MEMORY: Memory = Memory;

#[panic_handler]
fn panic(_: &PanicInfo) -> ! {
    // SAFETY: it may be called anywhere.
    unsafe { libc::abort() }
}

/// What the precompiled `alloc` names for unwinding, which is never done here.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}

const ITEMS: u64 = 100_000;

#[unsafe(no_mangle)]
extern "C" fn main() -> c_int {
    let filter = CuckooFilter::with_capacity(ITEMS as usize);
    let growing = GrowingFilter::with_capacity(1_000);
    for item in 0..ITEMS {
        filter.insert(&item).expect("room");
        growing.insert(&item).expect("memory");
    }
    assert!((0..ITEMS).all(|item| filter.contains(&item) && growing.contains(&item)));
    assert!((0..ITEMS).all(|item| filter.remove(&item) && growing.remove(&item)));
    assert!(filter.is_empty() && growing.is_empty());
    assert!(filter.stats().inserts == ITEMS);
    0
}
