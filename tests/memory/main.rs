//! Memory that the system refuses is an error, not a panic. The global allocator of these tests
//! counts the allocations of each thread, and refuses some: those beyond a gigabyte, or those that
//! a test chooses.

mod calls;
#[path = "../common/mod.rs"]
mod common;
mod sizes;

use std::{
    alloc::{GlobalAlloc, Layout as Memory, System},
    cell::Cell,
    ptr::null_mut,
};

thread_local! {
    /// Largest allocation of this thread, in bytes.
    static MAX_BYTES: Cell<usize> = const { Cell::new(1 << 30) };
    /// Bytes that this thread has allocated and not freed.
    static LIVE_BYTES: Cell<isize> = const { Cell::new(0) };
    /// The number of allocations of this thread, refused ones included.
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
    /// The numbers of the first allocation that is refused, and of the first one after it that is
    /// not.
    static REFUSED: Cell<[usize; 2]> = const { Cell::new([0; 2]) };
}

/// Decides on an allocation, and counts it.
fn allow(memory: Memory) -> bool {
    let (number, [from, until]) = (ALLOCATIONS.get(), REFUSED.get());
    ALLOCATIONS.set(number + 1);
    let allowed = memory.size() <= MAX_BYTES.get() && !(from..until).contains(&number);
    if allowed {
        LIVE_BYTES.set(LIVE_BYTES.get() + memory.size() as isize);
    }
    allowed
}

/// The system's allocator, with limits.
struct Refusing;

// SAFETY: all calls go to the system's allocator, except refusals, which the contract allows.
unsafe impl GlobalAlloc for Refusing {
    unsafe fn alloc(&self, memory: Memory) -> *mut u8 {
        // SAFETY: the caller's contract is the system allocator's.
        if allow(memory) { unsafe { System.alloc(memory) } } else { null_mut() }
    }

    unsafe fn alloc_zeroed(&self, memory: Memory) -> *mut u8 {
        if !allow(memory) {
            return null_mut();
        }
        // SAFETY: the caller's contract is the system allocator's.
        unsafe { System.alloc_zeroed(memory) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, memory: Memory) {
        LIVE_BYTES.set(LIVE_BYTES.get() - memory.size() as isize);
        // SAFETY: the pointer came from `System`, because `alloc` returns no others.
        unsafe { System.dealloc(pointer, memory) }
    }
}

#[global_allocator]
static ALLOCATOR: Refusing = Refusing;

/// Bytes that this thread has allocated and not freed.
fn live_bytes() -> isize {
    LIVE_BYTES.get()
}

/// Calls an operation with a limit on the bytes of each allocation.
fn with_limit<T>(max_bytes: usize, operation: impl FnOnce() -> T) -> T {
    let before = MAX_BYTES.replace(max_bytes);
    let value = operation();
    MAX_BYTES.set(before);
    value
}

/// Returns what an operation returns, and how many allocations it made.
fn allocations<T>(operation: impl FnOnce() -> T) -> (T, usize) {
    let before = ALLOCATIONS.get();
    let value = operation();
    (value, ALLOCATIONS.get() - before)
}

/// Calls an operation with all memory refused.
fn refuse_all<T>(operation: impl FnOnce() -> T) -> T {
    with_limit(0, operation)
}

/// Calls an operation again and again, and refuses another one of its allocations each time, of
/// whatever size: first that one alone, and then all from it on. Stops when it succeeds. Returns
/// the number of allocations, each of which was refused twice.
fn refuse_each<T, E>(
    mut operation: impl FnMut() -> Result<T, E>,
    is_expected: fn(&E) -> bool,
) -> usize {
    let mut count = 0;
    for all in [false, true] {
        for number in 0.. {
            let first = ALLOCATIONS.get() + number;
            REFUSED.set([first, if all { usize::MAX } else { first + 1 }]);
            let outcome = operation();
            let refused = ALLOCATIONS.get() > first;
            REFUSED.set([0; 2]);
            match outcome {
                Ok(_) if !refused => {
                    count = number;
                    break;
                }
                Ok(_) => panic!("allocation {number} was refused, and nobody was told"),
                Err(error) => assert!(is_expected(&error), "another error at {number}"),
            }
        }
    }
    count
}
