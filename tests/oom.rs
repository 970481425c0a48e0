//! An allocation that the system refuses: an error, not a panic. The system here is an allocator that
//! refuses more than a gigabyte at once, as others do when they please.

use std::{
    alloc::{GlobalAlloc, Layout as Memory, System},
    cell::Cell,
    ptr::null_mut,
};

use guira::{BuildError, CuckooFilter, GrowingFilter, InsertError, Layout};

thread_local! {
    /// The most bytes that this thread is granted at once.
    static MOST: Cell<usize> = const { Cell::new(1 << 30) };
}

/// The system's allocator, with a limit.
struct Stingy;

// SAFETY: everything is the system's allocator, but for refusals, which the contract allows.
unsafe impl GlobalAlloc for Stingy {
    unsafe fn alloc(&self, memory: Memory) -> *mut u8 {
        // SAFETY: the caller's contract is the system allocator's.
        if memory.size() > MOST.get() { null_mut() } else { unsafe { System.alloc(memory) } }
    }

    unsafe fn alloc_zeroed(&self, memory: Memory) -> *mut u8 {
        // SAFETY: as above.
        if memory.size() > MOST.get() { null_mut() } else { unsafe { System.alloc_zeroed(memory) } }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, memory: Memory) {
        // SAFETY: the pointer came from `System`, as `alloc` hands out no others.
        unsafe { System.dealloc(pointer, memory) }
    }
}

#[global_allocator]
static ALLOCATOR: Stingy = Stingy;

#[test]
fn memory_that_is_refused_is_an_error() {
    for &layout in Layout::ALL {
        for huge_pages in [false, true] {
            let lanes = layout.slots_per_bucket() as usize;
            let capacity = lanes << 28;
            let builder = CuckooFilter::builder().layout(layout).huge_pages(huge_pages);
            let error = builder.clone().capacity(capacity).build().expect_err("2 GiB and more");
            let BuildError::OutOfMemory { bytes, .. } = error else { panic!("{error:?}") };
            assert!(bytes >= 2 << 30, "{bytes} bytes for {capacity} items");
            assert!(error.to_string().contains(&bytes.to_string()));
            // Below the limit it is granted: a megabyte at most is touched.
            let filter = builder.capacity(lanes << 25).build().expect("a quarter of a gigabyte");
            filter.insert(&1).expect("room");
            assert!(filter.contains(&1));
        }
    }
}

#[test]
fn refused_memory_is_an_error_with_a_rate_too() {
    let builder = CuckooFilter::builder().capacity(1 << 31).false_positive_rate(0.01);
    assert!(matches!(builder.build(), Err(BuildError::OutOfMemory { .. })));
}

#[test]
#[should_panic(expected = "the system refused")]
fn with_capacity_panics_where_memory_is_refused() {
    let _ = CuckooFilter::with_capacity(1 << 30);
}

/// A filter that cannot grow for want of memory is full, and has lost nothing; once there is memory it goes on.
#[test]
fn a_filter_that_cannot_grow_is_full() {
    let filter = GrowingFilter::with_capacity(1_000);
    // More than a search needs, which is not refused like that.
    MOST.set(100_000);
    let mut keys = 0..200_000;
    let error = keys.by_ref().find_map(|key| filter.insert(&key).err());
    // Its neighbours may still have found room.
    let unique = (1..).find_map(|key| filter.insert_unique(&-key).err());
    // A failed assertion needs memory to say so.
    MOST.set(1 << 30);
    assert_eq!((error, unique), (Some(InsertError::Full), Some(InsertError::Full)));
    let inside = keys.start - 1;
    assert!(inside > 10_000 && filter.len() >= inside as usize, "{inside} {filter:?}");
    assert!((0..inside).all(|key| filter.contains(&key)));
    assert_eq!(filter.insert_unique(&0), Ok(false));
    assert!(filter.remove(&0));
    filter.try_extend(keys.clone()).expect("memory");
    assert!((1..inside).chain(keys).all(|key| filter.contains(&key)));
}
