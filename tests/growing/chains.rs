//! Maps that grow: chains of segments.

use std::collections::{BTreeMap, HashSet};

use guira::{Filter, InsertError, kind::Growing};

use super::{add_all, builder};
use crate::common::{kind::Kind, settings, suite::on_kinds};

on_kinds! {
    [maps: GrowingMaps]
    {
        the_capacity_grows_with_the_segments,
        the_next_growth_is_known,
        the_cap_can_be_changed,
        every_layout_can_be_the_first,
    }
}

/// The capacity is that of the segments: it grows with them, by the capacity of each.
fn the_capacity_grows_with_the_segments<K: Kind<Growth = Growing>>() {
    let filter = Filter::<K::Contents, Growing>::with_capacity(1_000);
    assert!((filter.target_false_positive_rate() - 0.003).abs() < 1e-12);
    let (mut keys, mut capacity) = (0.., filter.capacity());
    assert_eq!(capacity, 1_000);
    for segments in 1..6 {
        while filter.segments().len() == segments {
            add_all::<K>(&filter, keys.next());
        }
        // A segment is appended at about the capacity, not long before it.
        assert!(keys.start as usize > capacity * 9 / 10, "{} of {capacity}", keys.start);
        let last = filter.segments().last().expect("a segment").slots;
        let more = filter.capacity() - capacity;
        let percent = if filter.layout().slots_per_bucket() < 4 { 80 } else { 90 };
        assert!(more <= last && more * 100 >= last * percent, "{more} of {last} slots");
        capacity = filter.capacity();
        // Each segment has twice the buckets of the one before.
        let buckets = |nth| {
            let segment = filter.segments().nth(nth).expect("a segment");
            segment.slots / segment.layout.slots_per_bucket() as usize
        };
        assert_eq!(buckets(segments), 2 * buckets(segments - 1));
    }
}

/// What `next_growth` says before a segment is appended is what the size grows by, until the filter
/// cannot grow.
fn the_next_growth_is_known<K: Kind<Growth = Growing>>() {
    for capacity in [1, 7, 100, 1_000, 3_000, 20_000] {
        for huge_pages in [true, false] {
            let most = 40 * capacity + 100_000;
            let builder = builder::<K>().capacity(capacity).huge_pages(huge_pages);
            let filter = builder.max_bytes(most).seed(1).build().expect("a small filter");
            let (mut keys, mut segments) = (0.., 1);
            while let Some(growth) = filter.next_growth() {
                let before = filter.size_in_bytes();
                while filter.segments().len() == segments {
                    let known = (filter.size_in_bytes(), filter.next_growth());
                    assert_eq!(known, (before, Some(growth)));
                    add_all::<K>(&filter, keys.next());
                }
                segments += 1;
                assert_eq!(filter.segments().len(), segments);
                assert_eq!(filter.size_in_bytes(), before + growth, "{filter:?}");
                let copy = filter.clone();
                assert_eq!(copy.size_in_bytes(), filter.size_in_bytes());
                assert_eq!(copy.next_growth(), filter.next_growth());
            }
            assert!(segments > 1, "{filter:?}");
            assert!(keys.any(|key| K::add(&filter, key) == Err(InsertError::Full)));
            assert_eq!((filter.segments().len(), filter.next_growth()), (segments, None));
            assert!(filter.size_in_bytes() <= most);
        }
    }
}

/// The cap can be changed at any time. It decides about the next segment, and about nothing else.
fn the_cap_can_be_changed<K: Kind<Growth = Growing>>() {
    for first_cap in [5_000, usize::MAX] {
        let builder = builder::<K>().capacity(100).max_bytes(first_cap).seed(1);
        let filter = builder.build().expect("a small filter");
        let (mut keys, mut inserted) = (0_u64.., Vec::new());
        for segments in 1..6 {
            filter.set_max_bytes(None);
            let (size, growth) =
                (filter.size_in_bytes(), filter.next_growth().expect("it can grow"));
            for cap in [0, size - 1, size, size + growth - 1] {
                filter.set_max_bytes(Some(cap));
                assert_eq!(filter.next_growth(), None);
                inserted.extend(keys.by_ref().take_while(|key| K::add(&filter, *key).is_ok()));
                let (refused, len) = (keys.start - 1, filter.len());
                assert_eq!(K::add(&filter, refused), Err(InsertError::Full));
                assert_eq!(K::add_unique(&filter, refused), Err(InsertError::Full));
                let batch = K::add_batch(&filter, &[refused]);
                assert!(batch.is_err() && !filter.contains(&refused));
                let copy = filter.clone();
                assert_eq!(K::add(&copy, refused), Err(InsertError::Full));
                assert_eq!((filter.len(), filter.segments().len()), (len, segments));
                assert_eq!((copy.next_growth(), filter.size_in_bytes()), (None, size));
            }
            filter.set_max_bytes(Some(size + growth));
            assert_eq!(filter.next_growth(), Some(growth));
            let more = keys.by_ref().take_while(|_| filter.segments().len() == segments);
            inserted.extend(more.inspect(|key| add_all::<K>(&filter, [*key])));
            assert_eq!((filter.size_in_bytes(), filter.next_growth()), (size + growth, None));
        }
        assert!(inserted.iter().all(|key| K::take(&filter, *key)) && filter.is_empty());
    }
}

/// A chain can start with every layout.
fn every_layout_can_be_the_first<K: Kind<Growth = Growing>>() {
    for layout in K::layouts() {
        let filter = settings::<K>(50, layout, 1).build().expect("a small filter");
        add_all::<K>(&filter, 0..3_000);
        assert!((0..3_000_u64).all(|key| filter.contains(&key)));
        let layouts: BTreeMap<usize, _> =
            filter.segments().map(|segment| (segment.slots, segment.layout)).collect();
        assert_eq!(layouts.values().next(), Some(&layout));
        assert!(layouts.len() > 3 || layouts.values().collect::<HashSet<_>>().len() > 1);
        assert!((0..3_000).all(|key| K::take(&filter, key)));
    }
}
