//! Memory that the system refuses is an error, not a panic. The global allocator of this test
//! refuses more than a gigabyte at once.

use std::{
    alloc::{GlobalAlloc, Layout as Memory, System},
    cell::Cell,
    ptr::null_mut,
};

use guira::{BuildError, CuckooFilter, GrowingFilter, InsertError, Layout};

thread_local! {
    /// Largest allocation of this thread, in bytes.
    static MAX_BYTES: Cell<usize> = const { Cell::new(1 << 30) };
}

/// The system's allocator with a limit per allocation.
struct Limited;

// SAFETY: all calls go to the system's allocator, except refusals, which the contract allows.
unsafe impl GlobalAlloc for Limited {
    unsafe fn alloc(&self, memory: Memory) -> *mut u8 {
        // SAFETY: the caller's contract is the system allocator's.
        if memory.size() > MAX_BYTES.get() { null_mut() } else { unsafe { System.alloc(memory) } }
    }

    unsafe fn alloc_zeroed(&self, memory: Memory) -> *mut u8 {
        if memory.size() > MAX_BYTES.get() {
            return null_mut();
        }
        // SAFETY: the caller's contract is the system allocator's.
        unsafe { System.alloc_zeroed(memory) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, memory: Memory) {
        // SAFETY: the pointer came from `System`, because `alloc` returns no others.
        unsafe { System.dealloc(pointer, memory) }
    }
}

#[global_allocator]
static ALLOCATOR: Limited = Limited;

#[test]
fn refused_memory_is_an_error() {
    for &layout in Layout::ALL {
        for huge_pages in [false, true] {
            let slots = layout.slots_per_bucket() as usize;
            let capacity = slots << 28;
            let builder = CuckooFilter::builder().layout(layout).huge_pages(huge_pages);
            let error = builder.clone().capacity(capacity).build().expect_err("2 GiB and more");
            let BuildError::OutOfMemory { bytes, .. } = error else { panic!("{error:?}") };
            assert!(bytes >= 2 << 30, "{bytes} bytes for {capacity} items");
            assert!(error.to_string().contains(&bytes.to_string()));
            // This is below the limit. Only the pages of a few buckets are touched.
            let filter = builder.capacity(slots << 25).build().expect("a quarter of a gigabyte");
            filter.insert(&1).expect("an empty slot");
            assert!(filter.contains(&1));
        }
    }
}

#[test]
fn refused_memory_is_an_error_with_a_target_rate() {
    let builder = CuckooFilter::builder().capacity(1 << 31).false_positive_rate(0.01);
    assert!(matches!(builder.build(), Err(BuildError::OutOfMemory { .. })));
}

#[test]
#[should_panic(expected = "the system refused")]
fn with_capacity_panics_if_memory_is_refused() {
    let _ = CuckooFilter::with_capacity(1 << 30);
}

/// A growing filter without memory for another segment is full. It keeps its items, and grows again
/// when there is memory.
#[test]
fn a_filter_that_cannot_grow_is_full() {
    let filter = GrowingFilter::with_capacity(1_000);
    // Enough for a search, whose memory must not be refused: its allocations abort.
    MAX_BYTES.set(100_000);
    let mut keys = 0..200_000;
    let error = keys.by_ref().find_map(|key| filter.insert(&key).err());
    // Other keys may still find an empty slot.
    let unique = (1..).find_map(|key| filter.insert_unique(&-key).err());
    // A failed assertion needs memory for its message.
    MAX_BYTES.set(1 << 30);
    assert_eq!((error, unique), (Some(InsertError::Full), Some(InsertError::Full)));
    let inserted = keys.start - 1;
    assert!(inserted > 10_000 && filter.len() >= inserted as usize, "{inserted} {filter:?}");
    assert!((0..inserted).all(|key| filter.contains(&key)));
    assert_eq!(filter.insert_unique(&0), Ok(false));
    assert!(filter.remove(&0));
    filter.try_extend(keys.clone()).expect("memory");
    assert!((1..inserted).chain(keys).all(|key| filter.contains(&key)));
}
