//! The steps in which filters grow: foretold, and within a cap.

use guira::{Filter, GrowingFilter, InsertError, Layout, kind::Growing};

/// Inserts keys until the filter takes more memory, or refuses one. Returns what it refused with.
fn grow(filter: &GrowingFilter, keys: &mut impl Iterator<Item = u64>) -> Option<InsertError> {
    let before = filter.size_in_bytes();
    keys.find_map(|key| match filter.insert(&key) {
        Err(error) => Some(Some(error)),
        Ok(()) => (filter.size_in_bytes() > before).then_some(None),
    })
    .flatten()
}

/// `next_growth` tells each step, the last one included.
#[test]
fn every_step_is_foretold() {
    for reserve in [false, true] {
        let builder = Filter::<guira::kind::Set, Growing>::builder().capacity(1_000).seed(1);
        let builder = builder.max_capacity(60_000).reserve_address_space(reserve);
        let filter = builder.build().expect("memory");
        let (mut keys, mut steps) = (0.., Vec::new());
        let error = loop {
            let (before, growth) = (filter.size_in_bytes(), filter.next_growth());
            if let Some(error) = grow(&filter, &mut keys) {
                assert_eq!(growth.unwrap_or(0), 0, "a step is left after {steps:?}");
                break error;
            }
            let step = filter.size_in_bytes() - before;
            assert_eq!(growth, Some(step), "after {steps:?}");
            steps.push(step);
        };
        assert_eq!((error, filter.next_growth()), (InsertError::FullyGrown, None));
        println!("reserved: {reserve}; steps: {steps:?}");
        // Reserved memory comes in pages. Other steps differ, which tells one from the next.
        assert!(reserve || steps.iter().any(|&step| step != steps[0]), "{steps:?}");
    }
}

/// A copy grows as the original does, at the same inserts, also if slots became copies of one item
/// when their tails ran out, or if buckets were split before their turn.
#[test]
fn a_copy_grows_as_the_original_does() {
    for &layout in Layout::GROWING {
        let builder = GrowingFilter::builder().capacity(1).layout(layout).seed(3);
        let filter = builder.build().expect("memory");
        let mut keys = 0_u64..;
        for doublings in 0..8 {
            // An alias of the item with many copies may be refused.
            let _ = filter.insert_batch(keys.by_ref().take(500 << doublings));
            // Copies of one item fill its buckets, which are split out of turn.
            while filter.insert(&1).is_ok() {}
            let copy = filter.clone();
            assert_eq!(copy.len(), filter.len());
            assert!(copy.to_bytes() == filter.to_bytes(), "the copy differs");
            for key in keys.by_ref().take(2_000) {
                assert_eq!(filter.insert(&key), copy.insert(&key));
                assert_eq!((filter.slots(), filter.len()), (copy.slots(), copy.len()), "{key}");
            }
            copy.clear();
            assert!((0..1_000).all(|key| !copy.contains(&key)), "something is left");
        }
    }
}

/// A cap counts all that `size_in_bytes` counts, and leaves out no step that it allows.
#[test]
fn a_cap_is_kept_to_the_byte() {
    let build = || -> GrowingFilter {
        let builder = GrowingFilter::builder().capacity(1_000).seed(1);
        builder.reserve_address_space(false).build().expect("memory")
    };
    let size = build().size_in_bytes();
    let growth = build().next_growth().expect("it grows");
    for cap in (size..size + 2 * growth + 2).step_by(growth / 16 - 1) {
        let filter = build();
        filter.set_max_bytes(Some(cap));
        let mut keys = 0..;
        let error = loop {
            if let Some(error) = grow(&filter, &mut keys) {
                break error;
            }
        };
        assert_eq!(error, InsertError::Full);
        let (size, growth) = (filter.size_in_bytes(), filter.next_growth().expect("it grows"));
        assert!(size <= cap && size + growth > cap, "{size} bytes, {growth} more, of {cap}");
    }
}

/// A clone has the cap of its filter, the last one that was set.
#[test]
fn a_clone_keeps_within_the_cap() {
    for reserve in [false, true] {
        let builder = GrowingFilter::builder().capacity(1_000).reserve_address_space(reserve);
        let filter = builder.max_bytes(1 << 20).build().expect("memory");
        for cap in [1 << 20, 1 << 16] {
            filter.set_max_bytes(Some(cap));
            let copy = filter.try_clone().expect("memory");
            let refused = (0_u64..).find_map(|key| copy.insert(&key).err());
            assert_eq!(refused, Some(InsertError::Full));
            assert!((cap / 2..=cap).contains(&copy.size_in_bytes()), "{copy:?}");
        }
    }
}
