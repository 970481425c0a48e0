//! Sets that grow: one table, whose buckets split.

use guira::{GrowingFilter, InsertError, Layout};

use crate::common::scaled;

/// The capacity is the number of items at the target load of the present size. The number of items
/// stays close to it while they are inserted.
#[test]
fn the_capacity_is_that_of_the_present_size() {
    let loads = Layout::GROWING.iter().zip([218, 216, 210, 190]);
    // The least size, and one with an odd number of buckets in most layouts.
    for ((&layout, load), capacity) in loads.flat_map(|of| [1, 2_003].map(|size| (of, size))) {
        let builder = GrowingFilter::builder().capacity(capacity).layout(layout).seed(1);
        let filter = builder.build().expect("a small filter");
        let mut keys = 0_u64..;
        // Less than the capacity until it is first reached.
        let first = (filter.slots(), filter.capacity());
        while filter.len() + 32 < filter.capacity() {
            filter.insert(&keys.next().expect("a key")).expect("room");
            assert_eq!((filter.slots(), filter.capacity()), first);
        }
        for _ in 0..scaled(5_000, 50_000) {
            filter.insert(&keys.next().expect("a key")).expect("room to grow");
            let capacity = filter.capacity();
            assert_eq!(capacity, filter.slots() * load / 256);
            // A check after 32 inserts, which splits up to 64 buckets. Ghosts are few.
            assert!(filter.len() <= capacity + 64, "{filter:?}");
            let fewer = 64 * 5 + 64 + filter.len() / 50;
            assert!(filter.len() + fewer >= capacity, "{filter:?}");
        }
    }
}

/// Without a target the filter takes the layout that keeps 0.1 % to the end of its growth, and with
/// a small `max_capacity` one with fewer bits.
#[test]
fn the_builder_chooses_for_the_end_of_the_growth() {
    let filter = GrowingFilter::with_capacity(1_000);
    assert_eq!(filter.layout(), Layout::GROWING[2]);
    let builder = GrowingFilter::builder().capacity(1_000);
    let limited = builder.max_capacity(2_000).build().expect("a small filter");
    assert_eq!(limited.layout(), Layout::GROWING[1]);
    // No capacity: 4,096 slots.
    let slots = GrowingFilter::builder().build().expect("a small filter").slots();
    assert!((4_096..4_100).contains(&slots), "{slots}");
    let least = GrowingFilter::with_capacity(1).slots();
    assert!((1_024..1_030).contains(&least), "{least}");
}

/// A filter with a `max_capacity` holds as many items, and then says why it holds no more. So does
/// each kind of insert, and nothing changes.
#[test]
fn the_largest_capacity_is_reached() {
    for &layout in Layout::GROWING {
        for most in [500, 1_000, 5_000, 30_000] {
            let builder = GrowingFilter::builder().capacity(100).layout(layout).seed(2);
            let filter = builder.max_capacity(most).build().expect("a small filter");
            let refused =
                (0_u64..u64::MAX).find(|key| filter.insert(key).is_err()).expect("an end");
            assert!(filter.len() >= most, "{filter:?}");
            assert!(filter.slots() <= 2 * most.max(1_024), "{filter:?}");
            assert_eq!(filter.next_growth(), None, "{filter:?}");
            let before = (filter.len(), filter.slots(), filter.size_in_bytes());
            assert_eq!(filter.insert(&refused), Err(InsertError::FullyGrown));
            assert_eq!(filter.insert_unique(&refused), Err(InsertError::FullyGrown));
            let error = filter.insert_batch([refused]).expect_err("it is full");
            assert!(error.failures().eq([(0, InsertError::FullyGrown)]));
            let mut added = [true];
            let error = filter.insert_unique_batch(&[refused], &mut added);
            let error = error.expect_err("it is full");
            assert!(error.failures().eq([(0, InsertError::FullyGrown)]) && !added[0]);
            assert_eq!(filter.insert_unique_mask(&[refused]).refused, 1);
            assert_eq!((filter.len(), filter.slots(), filter.size_in_bytes()), before);
            assert!((0..refused).all(|key| filter.contains(&key)));
            // Items that come and go find room there.
            let mut present: Vec<u64> = (0..refused).collect();
            for (place, key) in (refused..2 * refused).enumerate() {
                assert!(filter.remove(&present[place]));
                present[place] = if filter.insert(&key).is_ok() { key } else { key + refused };
            }
            present.retain(|&key| key < 2 * refused);
            assert!(present.len() * 10 > refused as usize * 9, "{} of {refused}", present.len());
            assert_eq!(filter.slots(), before.1);
            assert!(present.iter().all(|key| filter.remove(key)) && filter.is_empty());
        }
    }
}

/// What `next_growth` says is what the size grows by next, until the filter cannot grow.
#[test]
fn the_next_growth_is_known() {
    for reserve in [true, false] {
        for huge_pages in [true, false] {
            let builder = GrowingFilter::builder().capacity(5_000).huge_pages(huge_pages);
            let builder = builder.reserve_address_space(reserve).max_capacity(60_000).seed(3);
            let filter = builder.build().expect("a small filter");
            let (mut keys, mut steps) = (0_u64.., 0);
            while let Some(growth) = filter.next_growth().filter(|&growth| growth > 0) {
                let before = filter.size_in_bytes();
                let copy = filter.clone();
                assert_eq!(copy.size_in_bytes(), before, "{reserve}, {huge_pages}");
                assert_eq!(copy.next_growth(), Some(growth));
                while filter.size_in_bytes() == before {
                    filter.insert(&keys.next().expect("a key")).expect("room to grow");
                }
                assert_eq!(filter.size_in_bytes(), before + growth, "{filter:?}");
                // At most a sixteenth of a level.
                assert!(steps < 4 || growth <= (filter.slots() * 8 / 32).max(4_096), "{growth}");
                steps += 1;
            }
            assert!(steps > 10, "{steps}");
            let refused = keys.find_map(|key| filter.insert(&key).err());
            assert_eq!(refused, Some(InsertError::FullyGrown));
        }
    }
}

/// The cap is kept, and can be changed at any time. It decides about the next step, and about
/// nothing else.
#[test]
fn the_cap_can_be_changed() {
    let mut keys = 0_u64..;
    for (capacity, cap) in [(1, 16_000), (1_000, 100_000), (10_000, 1_000_000)] {
        let capped = GrowingFilter::builder().capacity(capacity).max_bytes(cap).seed(1);
        let capped = capped.build().expect("the first buckets fit");
        for filter in [&capped, &capped.clone()] {
            let refused = keys.find_map(|key| filter.insert(&key).err());
            assert_eq!(refused, Some(InsertError::Full));
            let next = filter.next_growth().expect("another step");
            assert!(filter.size_in_bytes() <= cap && filter.size_in_bytes() + next > cap);
        }
    }
    let filter = GrowingFilter::builder().capacity(5_000).seed(1).build().expect("a small filter");
    let first = keys.start;
    for round in 0..10 {
        filter.set_max_bytes(None);
        let (size, growth) = (filter.size_in_bytes(), filter.next_growth().expect("it can grow"));
        for cap in [0, size, size + growth.max(1) - 1] {
            filter.set_max_bytes(Some(cap));
            // The next step is the same, whether or not the cap allows it.
            assert_eq!(filter.next_growth(), Some(growth));
            let refused = keys.find(|key| filter.insert(key).is_err()).expect("an end");
            let len = filter.len();
            assert_eq!(filter.insert(&refused), Err(InsertError::Full));
            assert_eq!(filter.insert_unique(&refused), Err(InsertError::Full));
            let copy = filter.clone();
            assert_eq!(copy.insert(&refused), Err(InsertError::Full));
            assert_eq!((filter.len(), filter.size_in_bytes()), (len, size), "round {round}");
        }
        filter.set_max_bytes(Some(size + 4 * growth));
        let before = filter.len();
        keys.find(|key| filter.insert(key).is_err()).expect("an end");
        assert!(filter.len() > before && filter.size_in_bytes() > size);
        assert!(filter.size_in_bytes() <= size + 4 * growth);
    }
    assert!((first..first + 1_000).all(|key| filter.contains(&key)));
}

/// Without reserved addresses a filter grows at the same calls, and holds the same.
#[test]
fn memory_from_the_allocator_makes_no_difference() {
    for &layout in Layout::GROWING {
        let [reserved, segments] = [true, false].map(|reserve| {
            let builder = GrowingFilter::builder().capacity(1_000).layout(layout).seed(5);
            builder.reserve_address_space(reserve).build().expect("a small filter")
        });
        for key in 0..scaled(20_000, 200_000_u64) {
            let outcomes = [&reserved, &segments].map(|filter| filter.insert(&key));
            assert_eq!(outcomes, [Ok(()); 2]);
            assert_eq!(reserved.slots(), segments.slots());
        }
        #[cfg(feature = "std")]
        assert!(reserved.to_bytes() == segments.to_bytes());
    }
}
