//! The module's allocator: the server's, so that the server counts the memory.

use std::{
    alloc::{GlobalAlloc, Layout},
    cell::Cell,
    ffi::c_void,
    ptr,
    sync::OnceLock,
};

use valkey_module::raw;

use crate::server::api;

/// Alignment in bytes that the server's allocator provides on every platform and in every build.
const SERVER_ALIGN: usize = 8;

type TryCalloc = unsafe extern "C" fn(usize, usize) -> *mut c_void;

/// `RedisModule_TryCalloc`, if the server offers it.
static TRY_CALLOC: OnceLock<TryCalloc> = OnceLock::new();

thread_local! {
    /// Bytes that this thread has allocated, less those that it has freed, as the server counts
    /// them.
    static HELD: Cell<isize> = const { Cell::new(0) };
}

/// Allocates with the server's functions.
///
/// A larger alignment than the server's is made here: the block is longer by the alignment, and the
/// word before the aligned address holds the address that the server returned.
pub struct ServerAllocator;

/// Looks up the function that not every server has. Called once, when the module is loaded.
pub fn init() {
    let mut function: Option<TryCalloc> = None;
    let (name, place) = (c"RedisModule_TryCalloc".as_ptr(), (&raw mut function).cast());
    // SAFETY: the interface is initialized. The server writes a function of this type or leaves
    // the place alone.
    unsafe { raw::RedisModule_GetApi.map(|get_api| get_api(name, place)) };
    function.map(|function| TRY_CALLOC.set(function));
}

/// Calls a function, and returns the bytes by which the memory that this thread holds has grown.
pub fn measured<R>(function: impl FnOnce() -> R) -> (R, isize) {
    let before = HELD.get();
    let result = function();
    (result, HELD.get() - before)
}

/// Returns a block of the server, or null. Zeroing touches no page of a large one.
fn request(bytes: usize, zeroed: bool) -> *mut u8 {
    // SAFETY: the functions are those of the interface, and have no preconditions. A block is freed
    // once.
    let block = unsafe {
        let request = api!(RedisModule_TryAlloc);
        match TRY_CALLOC.get() {
            _ if !zeroed => request(bytes),
            Some(request_zeroed) => request_zeroed(1, bytes),
            // `Calloc` ends the server if there is no memory. So ask first.
            None => {
                let probe = request(bytes);
                if probe.is_null() {
                    return ptr::null_mut();
                }
                api!(RedisModule_Free)(probe);
                api!(RedisModule_Calloc)(1, bytes)
            }
        }
    };
    count(block, 1);
    block.cast()
}

/// Adds the bytes of a block to the thread's, or subtracts them.
fn count(block: *mut c_void, sign: isize) {
    if block.is_null() {
        return;
    }
    // SAFETY: the block is one of the server's, and not yet freed.
    let bytes = unsafe { api!(RedisModule_MallocSize)(block) };
    HELD.set(HELD.get() + sign * bytes as isize);
}

/// Allocates, and aligns the block if the server's alignment is not enough.
fn allocate(layout: Layout, zeroed: bool) -> *mut u8 {
    if layout.align() <= SERVER_ALIGN {
        return request(layout.size(), zeroed);
    }
    // The padding is at least as long as the address that is kept in it.
    let block = request(layout.size() + layout.align(), zeroed);
    if block.is_null() {
        return block;
    }
    let padding = layout.align() - block.addr() % layout.align();
    let aligned = block.wrapping_add(padding);
    // SAFETY: `padding` is a positive multiple of 8 up to the alignment, so the word before
    // `aligned` is in the block, aligned, and before the bytes of the caller.
    unsafe { start_of(aligned).write(block) };
    aligned
}

/// The place of the address that the server returned, before an address that was aligned here.
#[expect(clippy::cast_ptr_alignment, reason = "the address is a multiple of 16 or more")]
fn start_of(aligned: *mut u8) -> *mut *mut u8 {
    aligned.cast::<*mut u8>().wrapping_sub(1)
}

// SAFETY: blocks have the size and the alignment of the layout, as `allocate` says, and nobody else
// has them. Nothing here panics: the module is not loaded, and allocates nothing, if a function is
// missing.
unsafe impl GlobalAlloc for ServerAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        allocate(layout, false)
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        allocate(layout, true)
    }

    unsafe fn dealloc(&self, address: *mut u8, layout: Layout) {
        let block = if layout.align() <= SERVER_ALIGN {
            address
        } else {
            // SAFETY: `allocate` wrote it there for a layout of this alignment.
            unsafe { start_of(address).read() }
        };
        count(block.cast(), -1);
        // SAFETY: the server returned the block, and the caller does not use it any more.
        unsafe { api!(RedisModule_Free)(block.cast()) };
    }
}
