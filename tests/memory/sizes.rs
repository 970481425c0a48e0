//! Builds, clones, snapshots and loads if the system refuses memory. A filter's size is what it
//! allocated.

#[cfg(feature = "std")]
use guira::LoadError;
use guira::{
    BuildError, CuckooFilter, CuckooMap, ExpiringFilter, Filter, FilterBuilder,
    GrowingExpiringFilter, GrowingFilter, GrowingMap, Layout,
    kind::{Contents, Growing, Growth},
};

use super::{
    common::{
        Subject,
        kind::{GrowingExpiringSets, GrowingMaps, GrowingSets, Kind, Of, new},
        suite::on_all_kinds,
    },
    live_bytes, refuse_each,
};

on_all_kinds! {
    every_allocation_can_be_refused,
}

/// Bytes of the header of a snapshot.
#[cfg(feature = "std")]
const HEADER: usize = 320;

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

/// Returns what an operation returns, and the bytes that it allocated and did not free.
fn allocated<T>(operation: impl FnOnce() -> T) -> (T, usize) {
    let before = live_bytes();
    let value = operation();
    (value, usize::try_from(live_bytes() - before).expect("nothing older was freed"))
}

/// Checks that a filter has as many bytes on the heap as it says. What aligns a large table of a
/// fixed size to a huge page is never accessed, and does not count.
fn assert_size<C: Contents, G: Growth>(filter: &Filter<C, G>, on_heap: usize) {
    let beside = on_heap + size_of_val(filter) - filter.size_in_bytes();
    let is_large = filter.size_in_bytes() > HUGE_PAGE;
    assert!(beside == 0 || is_large && beside == HUGE_PAGE - 64, "{beside} beside {filter:?}");
}

const HUGE_PAGE: usize = 2 << 20;

/// The size counts all that was allocated: stripes and counters, too.
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
                let load = || CuckooFilter::loader().bytes(&bytes).expect("its own bytes");
                let (copy, on_heap) = allocated(load);
                assert_size(&copy, on_heap);
            }
        }
        for capacity in [1, 100, 10_000, 400_000] {
            grown_size_is_what_was_allocated::<GrowingSets>(capacity, huge_pages);
            grown_size_is_what_was_allocated::<GrowingMaps>(capacity, huge_pages);
            grown_size_is_what_was_allocated::<GrowingExpiringSets>(capacity, huge_pages);
        }
    }
}

fn grown_size_is_what_was_allocated<K: Kind<Growth = Growing>>(capacity: usize, huge_pages: bool) {
    // Addresses that are reserved are not on the heap.
    let builder = new::<K>().capacity(capacity).huge_pages(huge_pages).reserve_address_space(false);
    let (mut filter, on_heap) = allocated(|| {
        let filter: Of<K> = builder.seed(1).build().expect("memory");
        (0..4 * capacity as u64 + 4_000).for_each(|key| K::add(&filter, key).expect("memory"));
        filter
    });
    assert!(filter.slots() > 4_000);
    assert_size(&filter, on_heap);
    let (copy, copied) = allocated(|| filter.clone());
    assert_size(&copy, copied);
    // What is removed, or has expired, is given back.
    filter.clear();
    let before = live_bytes();
    let released = K::Growth::shrink(&mut filter);
    assert_eq!(usize::try_from(before - live_bytes()), Ok(released));
    assert_size(&filter, on_heap - released);
}

fn is_build_error(error: &BuildError) -> bool {
    matches!(error, BuildError::OutOfMemory { .. })
}

/// Buckets, stripes, counters, boxes, and all else: each allocation can be refused, of any size.
fn every_allocation_can_be_refused<K: Kind>() {
    for (capacity, keys) in [(10, 5), (100_000, 50_000), (1_000, 20_000)] {
        if keys > capacity && !K::GROWS {
            continue;
        }
        let build = || new::<K>().capacity(capacity).seed(1).build();
        // Without std a single counter, which needs no allocation, serves all threads.
        assert!(refuse_each(build, is_build_error) >= 3);
        let filter: Of<K> = build().expect("memory");
        (0..keys as u64).for_each(|key| K::add(&filter, key).expect("room"));
        let least = if keys > capacity { 5 } else { 3 };
        assert!(refuse_each(|| filter.try_clone(), is_build_error) >= least);
        #[cfg(feature = "std")]
        check_snapshots(&filter);
        assert_eq!(filter.len(), keys);
        assert!((0..keys as u64).all(|key| filter.contains(&key)));
    }
}

/// Saves and loads in every way, with each allocation refused.
#[cfg(feature = "std")]
fn check_snapshots<C: Contents, G: Growth>(filter: &Filter<C, G>) {
    let bytes = filter.to_bytes();
    let is_expected = |error: &LoadError| match error {
        LoadError::OutOfMemory { .. } => true,
        LoadError::Io(error) => is_io_error(error),
        _ => false,
    };
    assert!(refuse_each(|| Filter::<C, G>::loader().bytes(&bytes), is_expected) >= 3);
    assert!(refuse_each(|| Filter::<C, G>::loader().reader(&bytes[..]), is_expected) >= 2);
    let half = bytes.len() / 2;
    let load = || {
        let mut loader = Filter::<C, G>::loader();
        loader.push(&bytes[..half])?;
        loader.push(&bytes[half..])?;
        loader.finish()
    };
    assert!(refuse_each(load, is_expected) >= 2);
    assert!(refuse_each(|| filter.write_to(std::io::sink()), is_io_error) >= 4);
    assert!(refuse_each(|| filter.dump().prepare(filter, usize::MAX), is_io_error) >= 2);
    let mut loader = Filter::<C, G>::loader();
    loader.push(&bytes[..half]).expect("its own snapshot");
    let blocks = usize::from(half >= HEADER);
    assert_eq!(refuse_each(|| loader.write_received(std::io::sink()), is_io_error), blocks);

    let name = format!("guira-oom-{}-{}", std::process::id(), bytes.len());
    let path = std::env::temp_dir().join(name);
    assert!(refuse_each(|| filter.save(&path), is_io_error) >= 5);
    assert!(refuse_each(|| Filter::<C, G>::loader().file(&path), is_expected) >= 2);
    std::fs::remove_file(&path).expect("the file is there");
}

#[cfg(feature = "std")]
fn is_io_error(error: &std::io::Error) -> bool {
    error.kind() == std::io::ErrorKind::OutOfMemory
}

/// A loader has the memory of a fixed table from the allocator as soon as its bytes begin to
/// arrive, and reports a refusal.
#[cfg(feature = "std")]
#[test]
fn a_loader_allocates_at_once() {
    let filter = CuckooMap::builder().capacity(2_000_000).seed(1).build().expect("memory");
    (0..2_000_000).for_each(|key| filter.insert(&key, 1).expect("memory"));
    let bytes = filter.to_bytes();
    let size = filter.slots() / filter.layout().slots_per_bucket() as usize * 8;
    let before = live_bytes();
    let mut loader = CuckooMap::loader();
    loader.push(&bytes[..HEADER]).expect("its own snapshot");
    let live = (live_bytes() - before) as usize;
    // It is aligned to huge pages.
    assert!((size..size + (7 << 20)).contains(&live), "{live} of {size} bytes");
    loader.push(&bytes[HEADER..]).expect("its own snapshot");
    let (copy, size) = (loader.finish().expect("complete"), filter.size_in_bytes());
    assert_eq!(copy.size_in_bytes(), size);
    let heap = (live_bytes() - before) as usize;
    let counted = size - size_of_val(&copy) + HUGE_PAGE - 64;
    assert_eq!(heap, counted, "all is counted but what aligns it");

    let load = || {
        let mut loader = CuckooMap::loader();
        loader.push(&bytes)?;
        loader.finish()
    };
    let is_expected = |error: &LoadError| matches!(error, LoadError::OutOfMemory { .. });
    assert!(refuse_each(load, is_expected) >= 1);
    let limit = CuckooMap::loader().limit(HEADER).push(&bytes);
    assert!(matches!(limit, Err(LoadError::LimitExceeded { .. })));
}

/// A set that grows and reserves no addresses has all of its memory from the allocator, too.
#[cfg(feature = "std")]
#[test]
fn a_loader_of_sets_can_take_all_from_the_allocator() {
    let builder = GrowingFilter::builder().capacity(1_000).reserve_address_space(false);
    let filter = builder.seed(1).build().expect("memory");
    filter.insert_batch(0..100_000).expect("memory");
    let bytes = filter.to_bytes();
    let before = live_bytes();
    let load = || {
        let mut loader = GrowingFilter::loader().reserve_address_space(false);
        loader.push(&bytes)?;
        loader.finish()
    };
    let copy = load().expect("memory");
    let heap = (live_bytes() - before) as usize;
    assert_eq!(heap, copy.size_in_bytes() - size_of_val(&copy), "all of it is counted");
    assert!(copy.to_bytes() == bytes);
    copy.insert_batch(100_000..300_000).expect("memory");
    let heap = (live_bytes() - before) as usize;
    assert_eq!(heap, copy.size_in_bytes() - size_of_val(&copy), "as it grows, too");
    let is_expected = |error: &LoadError| matches!(error, LoadError::OutOfMemory { .. });
    assert!(refuse_each(load, is_expected) >= 3);
}

/// The error names the lowest cap that is enough.
#[test]
fn a_cap_below_the_first_size_is_an_error() {
    fn check<C: Contents, G: Growth>(builder: &FilterBuilder<C, G>, small_parts: bool) {
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
                    // The first error of a filter that grows is about its buckets alone.
                    let needed = match build(needed) {
                        Err(BuildError::MemoryCapTooLow { needed, .. }) if small_parts => needed,
                        _ => needed,
                    };
                    let filter = build(needed).expect("the lowest cap");
                    assert_eq!(filter.size_in_bytes(), needed);
                }
                assert!(build(needed - 1).is_err());
            }
        }
    }
    check(&GrowingFilter::builder(), true);
    check(&GrowingMap::builder(), true);
    check(&GrowingExpiringFilter::builder().window(13), true);
    check(&CuckooFilter::builder(), false);
    check(&CuckooMap::builder(), false);
    // Its counters of generations come on top.
    let builder = ExpiringFilter::builder().capacity(1_000).window(13);
    let size = builder.clone().build().expect("memory").size_in_bytes();
    assert!(builder.clone().max_bytes(size).build().is_ok());
    assert!(builder.max_bytes(size - 1).build().is_err());
}
