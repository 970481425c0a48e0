//! Memory that the system refuses is an error, not a panic, and a filter's size is what it
//! allocated. The global allocator of this test counts bytes, and refuses more than a gigabyte at
//! once, or one allocation that a test chooses.

use std::{
    alloc::{GlobalAlloc, Layout as Memory, System},
    cell::Cell,
    ptr::null_mut,
};

#[cfg(feature = "std")]
use guira::LoadError;
use guira::{
    BuildError, CuckooFilter, CuckooMap, Engine, ExpiringFilter, Filter, FilterBuilder,
    GrowingFilter, InsertError, Layout, MergeError,
};

thread_local! {
    /// Largest allocation of this thread, in bytes.
    static MAX_BYTES: Cell<usize> = const { Cell::new(1 << 30) };
    /// Bytes that this thread has allocated and not freed.
    static LIVE_BYTES: Cell<isize> = const { Cell::new(0) };
    /// Smallest size that counts as large, and the number of large allocations before the one that
    /// is refused.
    static REFUSED_SIZE: Cell<usize> = const { Cell::new(LARGE) };
    static UNTIL_REFUSAL: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// Smallest allocation, in bytes, that a test can have refused. Smaller ones do not depend on the
/// capacity, and abort.
const LARGE: usize = 1_000;
/// The same for loading, where the hasher is checked with a text of this many bytes.
const LARGE_IN_LOADING: usize = 1_027;

/// Decides on an allocation, and counts it if it is allowed.
fn allow(memory: Memory) -> bool {
    let left = UNTIL_REFUSAL.get();
    let is_large = memory.size() >= REFUSED_SIZE.get();
    if memory.size() > MAX_BYTES.get() || (is_large && left == 0) {
        return false;
    }
    if is_large && left < usize::MAX {
        UNTIL_REFUSAL.set(left - 1);
    }
    LIVE_BYTES.set(LIVE_BYTES.get() + memory.size() as isize);
    true
}

/// The system's allocator with a limit per allocation.
struct Limited;

// SAFETY: all calls go to the system's allocator, except refusals, which the contract allows.
unsafe impl GlobalAlloc for Limited {
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

/// Returns what an operation returns, and the bytes that it allocated and did not free.
fn allocated<T>(operation: impl FnOnce() -> T) -> (T, usize) {
    let before = LIVE_BYTES.get();
    let value = operation();
    (value, usize::try_from(LIVE_BYTES.get() - before).expect("nothing older was freed"))
}

/// Checks that a filter has as many bytes on the heap as it says.
fn assert_size<E: Engine>(filter: &Filter<E>, on_heap: usize) {
    assert_eq!(filter.size_in_bytes(), on_heap + size_of_val(filter), "{filter:?}");
}

/// The size counts all that was allocated: alignment, stripes, counters, and segments too.
#[test]
fn the_size_is_what_was_allocated() {
    // Values that are computed once per process.
    drop(CuckooFilter::with_capacity(1));
    for huge_pages in [false, true] {
        for capacity in [1, 100, 10_000, 1_500_000, 3_000_000] {
            let builder = CuckooFilter::builder().capacity(capacity).huge_pages(huge_pages);
            let (filter, on_heap) = allocated(|| builder.build().expect("memory"));
            assert_size(&filter, on_heap);
            // Without huge pages, hardly more than the buckets and the stripes.
            let buckets = filter.slots() / filter.layout().slots_per_bucket() as usize * 8;
            assert_eq!(on_heap > buckets + 200_000, huge_pages && buckets >= 2 << 20);
            let (copy, on_heap) = allocated(|| filter.clone());
            assert_size(&copy, on_heap);
            #[cfg(feature = "std")]
            {
                let bytes = filter.to_bytes();
                let load = || CuckooFilter::from_bytes(&bytes).expect("its own bytes");
                let (copy, on_heap) = allocated(load);
                assert_size(&copy, on_heap);
            }
        }
        for capacity in [1, 100, 10_000, 400_000] {
            let builder = GrowingFilter::builder().capacity(capacity).huge_pages(huge_pages);
            let (filter, on_heap) = allocated(|| {
                let filter = builder.build().expect("memory");
                filter.try_extend(0..4 * capacity + 40).expect("memory");
                filter
            });
            assert!(filter.segments().len() > 1);
            assert_size(&filter, on_heap);
            let (copy, on_heap) = allocated(|| filter.clone());
            assert_size(&copy, on_heap);
        }
    }
}

/// Calls an operation again and again, and refuses another one of its large allocations each time,
/// until it succeeds. Returns the number of refusals.
fn refuse_each<T, E>(operation: impl Fn() -> Result<T, E>, is_expected: fn(&E) -> bool) -> usize {
    for refused in 0.. {
        UNTIL_REFUSAL.set(refused);
        let outcome = operation();
        UNTIL_REFUSAL.set(usize::MAX);
        match outcome {
            Ok(_) => return refused,
            Err(error) => assert!(is_expected(&error), "another error"),
        }
    }
    unreachable!("it never succeeded")
}

/// Buckets, stripes, counters, and the memory to hold all locks: each of them can be refused.
#[test]
fn every_allocation_can_be_refused() {
    // Without std a single counter, which needs no allocation, serves all threads.
    let counter = usize::from(cfg!(feature = "std"));
    let is_expected = |error: &BuildError| matches!(error, BuildError::OutOfMemory { .. });
    let fixed = || CuckooFilter::builder().capacity(100_000).build();
    assert!(refuse_each(fixed, is_expected) >= 2 + counter);
    let growing = || GrowingFilter::builder().capacity(100_000).max_bytes(usize::MAX).build();
    assert!(refuse_each(growing, is_expected) >= 2 + counter);

    let filter = fixed().expect("memory");
    filter.insert(&1).expect("room");
    assert!(refuse_each(|| filter.try_clone(), is_expected) >= 3 + counter);
    let grown = growing().expect("memory");
    grown.try_extend(0..200_000).expect("memory");
    assert!(refuse_each(|| grown.try_clone(), is_expected) >= 4 + counter);
    let is_expected = |error: &MergeError| matches!(error, MergeError::OutOfMemory { .. });
    let (other_fixed, other) = (fixed().expect("memory"), growing().expect("memory"));
    other.insert(&1).expect("room");
    // The hasher check takes a text.
    REFUSED_SIZE.set(LARGE_IN_LOADING);
    assert!(refuse_each(|| other_fixed.merge(&other_fixed), is_expected) >= 2);
    assert!(refuse_each(|| other.merge(&other), is_expected) >= 2);
    REFUSED_SIZE.set(LARGE);
    assert!(filter.contains(&1) && (0..200_000).all(|key| grown.contains(&key)));

    #[cfg(feature = "std")]
    {
        let bytes = filter.to_bytes();
        REFUSED_SIZE.set(LARGE_IN_LOADING);
        let is_expected = |error: &LoadError| matches!(error, LoadError::OutOfMemory { .. });
        // The stripes are smaller.
        assert!(refuse_each(|| CuckooFilter::from_bytes(&bytes), is_expected) >= 1);
        assert!(refuse_each(|| CuckooFilter::load(&bytes[..]), is_expected) >= 1);
        let mut dump = filter.dump();
        assert!(refuse_each(|| filter.dump().prepare(&filter, 1), out_of_memory) >= 1);
        assert!(dump.prepare(&filter, usize::MAX).expect("memory"));
        let mut loader = CuckooFilter::loader(usize::MAX);
        loader.push(&bytes[..bytes.len() / 2]).expect("its own snapshot");
        assert_eq!(refuse_each(|| loader.write_received(std::io::sink()), out_of_memory), 1);
    }
}

#[cfg(feature = "std")]
fn out_of_memory(error: &std::io::Error) -> bool {
    error.kind() == std::io::ErrorKind::OutOfMemory
}

/// A loader that allocates at once has the memory of a segment from the allocator as soon as its
/// bytes begin to arrive, and reports a refusal.
#[cfg(feature = "std")]
#[test]
fn a_loader_can_allocate_at_once() {
    let filter = GrowingFilter::with_capacity(100_000);
    filter.try_extend(0..2_000_000).expect("memory");
    let bytes = filter.to_bytes();
    let header = 64 + 16 * usize::from(bytes[13]) + 8 * usize::from(bytes[14]);
    let sizes: Vec<usize> = filter
        .segments()
        .map(|segment| segment.slots / segment.layout.slots_per_bucket() as usize * 8)
        .collect();
    let before = LIVE_BYTES.get();
    let mut loader = GrowingFilter::loader(usize::MAX).allocate_at_once();
    let (mut pushed, mut allocated) = (0, 0);
    let mut until = header;
    for &size in &sizes {
        loader.push(&bytes[pushed..until]).expect("its own snapshot");
        allocated += size;
        let live = (LIVE_BYTES.get() - before) as usize;
        // The larger segments are aligned to huge pages.
        assert!((allocated..allocated + (7 << 20)).contains(&live), "{live} of {allocated} bytes");
        pushed = until;
        until += size + 8 * size.div_ceil(64 << 10);
    }
    assert_eq!(until, bytes.len());
    loader.push(&bytes[pushed..]).expect("its own snapshot");
    let (copy, size) = (loader.finish().expect("complete"), filter.size_in_bytes());
    assert_eq!(copy.size_in_bytes(), size);
    let heap = (LIVE_BYTES.get() - before) as usize;
    assert_eq!(heap, size - size_of_val(&copy), "all of it is counted");

    REFUSED_SIZE.set(LARGE_IN_LOADING);
    let load = || {
        let mut loader = GrowingFilter::loader(usize::MAX).allocate_at_once();
        loader.push(&bytes)?;
        loader.finish()
    };
    let is_expected = |error: &LoadError| matches!(error, LoadError::OutOfMemory { .. });
    assert!(refuse_each(load, is_expected) >= filter.segments().len());
    let limit = GrowingFilter::loader(header).allocate_at_once().push(&bytes);
    assert!(matches!(limit, Err(LoadError::LimitExceeded { .. })));
}

/// A growing filter never takes more than its cap, in clones neither. At the cap it is full.
#[test]
fn a_cap_on_memory_is_kept() {
    for huge_pages in [false, true] {
        for (capacity, max_bytes) in
            [(1, 9_000), (1_000, 100_000), (10_000, 1_000_000), (100_000, 3_000_000)]
        {
            let builder = GrowingFilter::builder().capacity(capacity).huge_pages(huge_pages);
            let builder = builder.max_bytes(max_bytes);
            let (filter, _) = allocated(|| builder.build().expect("the first segment fits"));
            let mut keys = 0..10_000_000_u64;
            let refused = keys.by_ref().find_map(|key| filter.insert(&key).err());
            assert_eq!(refused, Some(InsertError::Full));
            let inserted = keys.start - 1;
            assert!(filter.size_in_bytes() <= max_bytes, "{filter:?}");
            // The next segment would have twice the buckets of the last one.
            let last = filter.segments().last().expect("a segment");
            let next = 2 * last.slots / last.layout.slots_per_bucket() as usize * 8;
            assert!(filter.size_in_bytes() + next + (3 << 20) > max_bytes);
            assert!((0..inserted).all(|key| filter.contains(&key)), "nothing is lost");
            assert!(filter.insert_batch(&[u64::MAX; 50]).is_err());
            let copy = filter.clone();
            assert!(copy.size_in_bytes() <= max_bytes);
            let refused = keys.find_map(|key| copy.insert(&key).err());
            assert_eq!(refused, Some(InsertError::Full));
            assert!(copy.size_in_bytes() <= max_bytes);
            assert_eq!(copy.segments().len(), filter.segments().len());
        }
    }
}

/// The error names the lowest cap that is enough.
#[test]
fn a_cap_below_the_first_segment_is_an_error() {
    fn check<E: Engine>(builder: &FilterBuilder<E>) {
        for capacity in [1, 1_000, 1_000_000, 1 << 30] {
            let build = |cap| builder.clone().capacity(capacity).max_bytes(cap).build();
            for cap in [0, 1, 300] {
                let error = build(cap).expect_err("too little");
                let BuildError::MemoryCapTooLow { max_bytes, needed, .. } = error else {
                    panic!("{error:?}")
                };
                assert!(max_bytes == cap && needed > cap);
                assert!(error.to_string().contains(&needed.to_string()));
                if capacity < 1 << 30 {
                    let filter = build(needed).expect("the lowest cap");
                    assert_eq!(filter.size_in_bytes(), needed);
                }
                assert!(build(needed - 1).is_err());
            }
        }
    }
    check(&GrowingFilter::builder());
    check(&CuckooFilter::builder());
    check(&CuckooMap::builder());
    // Its counters of generations come on top.
    let builder = ExpiringFilter::builder().capacity(1_000);
    let size = builder.clone().build().expect("memory").size_in_bytes();
    assert!(builder.clone().max_bytes(size).build().is_ok());
    assert!(builder.max_bytes(size - 1).build().is_err());
}
