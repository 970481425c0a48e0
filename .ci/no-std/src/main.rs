//! Fills filters of one table and of several, looks items up and removes them, with nothing but
//! `core`, `alloc` and the C library's memory. Without the feature `raw`, as users have it.

#![no_std]
#![no_main]

use core::{
    alloc::{GlobalAlloc, Layout},
    ffi::c_int,
    panic::PanicInfo,
    ptr,
};

use guira::{
    CuckooFilter, Filter, GrowingFilter,
    kind::{Growth, Set},
};

/// The allocator of the C library.
struct Memory;

// SAFETY: `posix_memalign` returns memory of this size and alignment or fails, and `free` releases
// it.
unsafe impl GlobalAlloc for Memory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let mut memory = ptr::null_mut();
        let alignment = layout.align().max(size_of::<usize>());
        // SAFETY: the alignment is a power of two, and a multiple of a pointer's size.
        let outcome = unsafe { libc::posix_memalign(&raw mut memory, alignment, layout.size()) };
        if outcome == 0 { memory.cast() } else { ptr::null_mut() }
    }

    unsafe fn dealloc(&self, memory: *mut u8, _layout: Layout) {
        // SAFETY: the memory is from `alloc`.
        unsafe { libc::free(memory.cast()) };
    }
}

#[global_allocator]
static MEMORY: Memory = Memory;

#[panic_handler]
fn panic(_: &PanicInfo) -> ! {
    // SAFETY: `abort` has no preconditions.
    unsafe { libc::abort() }
}

/// A symbol that the precompiled `alloc` requires for unwinding, which never happens here.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}

/// Does not compile if the library has a module `raw`, which only its own tests may reach: its
/// functions trust their arguments.
mod without_raw {
    mod expected {
        pub mod raw {
            pub const IS_ABSENT: bool = true;
        }
    }

    use expected::*;
    #[allow(unused_imports, reason = "the library has no `raw`, as it should be")]
    use guira::*;

    const _: () = assert!(raw::IS_ABSENT);
}

const ITEMS: u64 = 100_000;

/// Inserts, finds, clones and removes items.
fn exercise<G: Growth>(filter: &Filter<Set, G>) {
    for item in 0..ITEMS {
        filter.insert(&item).expect("room, or memory");
    }
    assert!((0..ITEMS).all(|item| filter.contains(&item)));
    let copy = filter.clone();
    assert!((0..ITEMS).all(|item| filter.remove(&item)) && filter.is_empty());
    assert!(copy.len() as u64 == ITEMS && (0..ITEMS).all(|item| copy.contains(&item)));
    copy.clear();
    assert!(copy.is_empty() && filter.stats().inserts == ITEMS);
}

#[unsafe(no_mangle)]
extern "C" fn main() -> c_int {
    exercise(&CuckooFilter::with_capacity(ITEMS as usize));
    exercise(&GrowingFilter::with_capacity(1_000));
    0
}
