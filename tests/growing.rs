//! What only a filter that grows does: its segments nest, removal starts with the finest one, and
//! the target rate holds for all of them.

mod chain;
mod common;

use std::{
    collections::{BTreeMap, HashSet},
    sync::atomic::{
        AtomicBool, AtomicU64,
        Ordering::{Acquire, Relaxed, Release},
    },
    thread,
};

use common::{rng, scaled};
use guira::{GrowingFilter, InsertError, Layout};
use rand::RngExt;

#[test]
fn it_grows_a_hundredfold_from_four_threads_at_the_target_rate() {
    const THREADS: u64 = 4;
    let (first, rates) = (scaled(1_000, 10_000), [0.01, 0.001]);
    for rate in rates {
        let builder = GrowingFilter::builder().capacity(first).false_positive_rate(rate).seed(4);
        let filter = builder.build().unwrap();
        let each = 100 * first as u64 / THREADS;
        thread::scope(|scope| {
            for thread in 0..THREADS {
                let filter = &filter;
                scope.spawn(move || {
                    let mut rng = rng(thread);
                    for key in 0..each {
                        filter.insert(&(thread, key)).unwrap();
                        assert!(filter.contains(&(thread, rng.random_range(0..=key))));
                        // Other items come and go.
                        if key % 4 == 0 {
                            filter.insert(&(thread + THREADS, key)).unwrap();
                        } else if key % 4 == 2 {
                            assert!(filter.remove(&(thread + THREADS, key - 2)));
                        }
                    }
                });
            }
        });
        for (thread, key) in (0..THREADS).flat_map(|thread| (0..each).map(move |key| (thread, key)))
        {
            assert!(filter.contains(&(thread, key)), "missed");
        }
        assert_eq!(filter.len() as u64, THREADS * each);
        assert!(filter.segments().len() >= 6, "{filter:?}");
        assert!(filter.false_positive_rate() <= rate);
        let queries = (scaled(200.0, 2_000.0) / rate) as u64;
        let positives = (0..queries).filter(|key| filter.contains(&(THREADS * 2, key))).count();
        let expected = rate * queries as f64;
        assert!((positives as f64) < expected + 5.0 * expected.sqrt(), "{positives} {expected}");
        assert!(positives as f64 > expected / 4.0, "{positives}: no measurement");
    }
}

/// At every length of the chain, the measured rate is at most the target.
#[test]
fn the_rate_holds_at_every_length() {
    for (rate, fastest) in [(0.03, false), (0.03, true), (0.3, false)] {
        let builder = GrowingFilter::builder().capacity(300).false_positive_rate(rate).seed(5);
        let builder = if fastest { builder.fastest() } else { builder };
        let filter = builder.build().unwrap();
        let (mut key, mut segments) = (0_u64, 1);
        while segments < 8 {
            filter.insert(&key).unwrap();
            key += 1;
            if filter.segments().len() == segments {
                continue;
            }
            segments = filter.segments().len();
            let queries = (scaled(200.0, 3_000.0) / rate) as u64;
            let positives = (0..queries).filter(|key| filter.contains(&(key, 'x'))).count();
            let expected = filter.false_positive_rate() * queries as f64;
            assert!(filter.false_positive_rate() <= rate);
            assert!(
                (positives as f64) < expected + 5.0 * expected.sqrt(),
                "{filter:?} {positives}"
            );
        }
    }
}

#[test]
fn copies_of_one_item_do_not_make_it_grow() {
    for capacity in [1, 2, 10, 100, 10_000] {
        let filter = GrowingFilter::with_capacity(capacity);
        for key in 0..capacity {
            filter.insert(&key).unwrap();
        }
        let segments = filter.segments().len();
        let mut copies = 0;
        while filter.insert("again").is_ok() {
            copies += 1;
            assert!(copies < 20);
        }
        // Up to four copies in the last segment (two if both buckets are the same one), and as many
        // in the first one if it was full.
        assert!((2..=8).contains(&copies), "{copies}");
        assert_eq!(filter.insert("again"), Err(InsertError::TooManyCopies));
        assert!(filter.segments().len() <= segments + 1, "{capacity}: {filter:?}");
        for _ in 0..copies {
            assert!(filter.remove("again"));
        }
        assert_eq!(filter.len(), capacity);
        assert!((0..capacity).all(|key| filter.contains(&key)));
    }
}

/// Items with many copies beside others: without the limit on copies, segments would be appended
/// although the last one is nearly empty.
#[test]
fn copies_of_many_items_do_not_make_it_grow() {
    let lengths = [0, 200].map(|hot: u64| {
        let filter = GrowingFilter::builder().capacity(1_000).false_positive_rate(0.01).seed(9);
        let (filter, mut rng) = (filter.build().unwrap(), rng(9));
        for key in 0..scaled(10_000, 200_000_u64) {
            filter.insert(&(key, 'x')).unwrap();
            if hot > 0 && key % 2 == 0 {
                // Refused at the limit.
                let _ = filter.insert(&rng.random_range(0..hot));
            }
        }
        (filter.segments().len(), filter.slots())
    });
    assert!(lengths[1].0 <= lengths[0].0 + 1 && lengths[1].1 <= 2 * lengths[0].1, "{lengths:?}");
}

/// While items come and go at the same number, the chain keeps its length.
#[test]
fn churn_does_not_make_it_grow() {
    let filter = GrowingFilter::with_capacity(1_000);
    let at_once = 10_000;
    filter.insert_batch(0..at_once).unwrap();
    let segments = filter.segments().len();
    for key in 0..scaled(50_000, 500_000) {
        assert!(filter.remove(&key));
        filter.insert(&(key + at_once)).unwrap();
    }
    assert!(filter.segments().len() <= segments + 1, "{filter:?}");
    assert_eq!(filter.len(), at_once);
}

/// Of overlapping calls with one item exactly one adds it, while the chain grows.
#[test]
fn unique_items_are_added_once_by_several_threads() {
    let filter = GrowingFilter::builder().capacity(10).seed(6).build().unwrap();
    let keys = scaled(20_000, 200_000_u32);
    let added: usize = thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    (0..keys).filter(|key| filter.insert_unique(key).unwrap().is_new()).count()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(added, filter.len());
    // All but some of those with an alias.
    assert!(added as f64 > f64::from(keys) * 0.998 && added <= keys as usize);
    assert!((0..keys).all(|key| filter.contains(&key)));
}

/// Lookups beside growth and churn find every item that is present throughout.
#[test]
fn readers_miss_nothing_while_it_grows() {
    let filter = GrowingFilter::builder().capacity(100).false_positive_rate(0.3).seed(7);
    let filter = filter.build().unwrap();
    let always = 2_000_u64;
    filter.insert_batch((0..always).map(|key| (key, true))).unwrap();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Relaxed) {
                assert!((0..always).all(|key| filter.contains(&(key, true))), "missed");
            }
        });
        let churn = scope.spawn(|| {
            for round in 0..scaled(3, 20) {
                let keys = (0..20_000_u64 << (round % 3)).map(|key| (key, false));
                filter.insert_batch(keys.clone()).unwrap();
                keys.for_each(|key| assert!(filter.remove(&key)));
            }
            done.store(true, Relaxed);
        });
        churn.join().unwrap();
    });
    assert_eq!(filter.len() as u64, always);
}

/// A clear keeps the segments and their rate. Items that are inserted afterwards are found.
#[test]
fn clear_keeps_the_segments() {
    let filter = GrowingFilter::with_capacity(50);
    filter.insert_batch(0..5_000).unwrap();
    let (segments, rate) = (filter.segments().len(), filter.false_positive_rate());
    assert!(segments > 4);
    for _ in 0..3 {
        filter.clear();
        assert!(filter.is_empty() && filter.segments().len() == segments);
        assert!((0..5_000).all(|key| !filter.contains(&key)));
        filter.insert_batch(0..5_000).unwrap();
        assert!((0..5_000).all(|key| filter.contains(&key)));
        assert!(filter.segments().len() <= segments + 1);
    }
    assert!(filter.false_positive_rate() >= rate);
    assert!(filter.false_positive_rate() <= filter.target_false_positive_rate());
}

/// Clones that are made while a chain grows contain every item that was inserted before.
#[test]
fn clones_beside_growth_miss_nothing() {
    for seed in 0..scaled(20, 200) {
        let filter = GrowingFilter::builder().capacity(10).seed(seed).build().unwrap();
        let (inserted, most) = (AtomicU64::new(0), 2_000);
        thread::scope(|scope| {
            scope.spawn(|| {
                for key in 0..most {
                    filter.insert(&key).unwrap();
                    inserted.store(key + 1, Release);
                }
            });
            while inserted.load(Acquire) < most {
                let before = inserted.load(Acquire);
                let copy = filter.clone();
                // The latest ones only, so that many clones overlap an append.
                let latest = before.saturating_sub(50)..before;
                assert!(latest.into_iter().all(|key| copy.contains(&key)), "missing in the clone");
                assert!(copy.len() as u64 >= before);
            }
        });
        let copy = filter.clone();
        assert_eq!((copy.len(), copy.slots()), (filter.len(), filter.slots()));
        // The clone grows on.
        copy.insert_batch(most..3 * most).unwrap();
        assert!(copy.segments().len() > filter.segments().len());
        assert!((0..3 * most).all(|key| copy.contains(&key)));
    }
}

/// The capacity is that of the segments: it grows with them, by the capacity of each.
#[test]
fn the_capacity_grows_with_the_segments() {
    let filter = GrowingFilter::with_capacity(1_000);
    assert_eq!((filter.capacity(), filter.target_false_positive_rate()), (1_000, 0.001));
    let (mut key, mut segments, mut capacity) = (0_u64, 1, 1_000);
    while segments < 6 {
        filter.insert(&key).unwrap();
        key += 1;
        if filter.segments().len() > segments {
            // A segment is appended at about the capacity, not long before it.
            assert!(key as usize > capacity * 9 / 10, "{key} of {capacity}");
            segments = filter.segments().len();
            let last = filter.segments().last().expect("a segment").slots;
            let more = filter.capacity() - capacity;
            assert!(more <= last && more * 10 >= last * 9, "{more} of {last} slots");
            capacity = filter.capacity();
        }
    }
}

/// What `next_growth` says before a segment is appended is what the size grows by, until the filter
/// cannot grow.
#[test]
fn the_next_growth_is_known() {
    for capacity in [1, 7, 100, 1_000, 3_000, 20_000] {
        for huge_pages in [true, false] {
            let builder = GrowingFilter::builder().capacity(capacity).huge_pages(huge_pages);
            let most = 40 * capacity + 100_000;
            let filter = builder.max_bytes(most).seed(1).build().unwrap();
            let (mut keys, mut appended) = (0_u64.., 0);
            while let Some(growth) = filter.next_growth() {
                let (before, segments) = (filter.size_in_bytes(), filter.segments().len());
                while filter.segments().len() == segments {
                    assert_eq!(
                        (filter.size_in_bytes(), filter.next_growth()),
                        (before, Some(growth))
                    );
                    filter.insert(&keys.next().unwrap()).unwrap();
                }
                assert_eq!(filter.segments().len(), segments + 1);
                assert_eq!(filter.size_in_bytes(), before + growth, "{filter:?}");
                let copy = filter.clone();
                assert_eq!(copy.size_in_bytes(), filter.size_in_bytes());
                assert_eq!(copy.next_growth(), filter.next_growth());
                appended += 1;
            }
            assert!(appended >= 1, "{filter:?}");
            let segments = filter.segments().len();
            assert!(keys.by_ref().any(|key| filter.insert(&key) == Err(InsertError::Full)));
            assert_eq!((filter.segments().len(), filter.next_growth()), (segments, None));
            assert!(filter.size_in_bytes() <= most);
        }
    }
}

/// The cap can be changed at any time. It decides about the next segment, and about nothing else.
#[test]
fn the_cap_can_be_changed() {
    for first_cap in [5_000, usize::MAX] {
        let builder = GrowingFilter::builder().capacity(100).max_bytes(first_cap).seed(1);
        let filter = builder.build().unwrap();
        let (mut keys, mut inserted) = (0_u64.., Vec::new());
        for segments in 1..6 {
            filter.set_max_bytes(None);
            let (size, growth) = (filter.size_in_bytes(), filter.next_growth().unwrap());
            for cap in [0, size - 1, size, size + growth - 1] {
                filter.set_max_bytes(Some(cap));
                assert_eq!(filter.next_growth(), None);
                inserted.extend(keys.by_ref().take_while(|key| filter.insert(key).is_ok()));
                let (refused, len) = (keys.start - 1, filter.len());
                assert_eq!(filter.insert(&refused), Err(InsertError::Full));
                assert_eq!(filter.insert_unique(&refused), Err(InsertError::Full));
                assert!(filter.insert_batch(&[refused]).is_err() && !filter.contains(&refused));
                let copy = filter.clone();
                assert_eq!(copy.insert(&refused), Err(InsertError::Full));
                assert_eq!((filter.len(), filter.segments().len()), (len, segments));
                assert_eq!((copy.next_growth(), filter.size_in_bytes()), (None, size));
            }
            filter.set_max_bytes(Some(size + growth));
            assert_eq!(filter.next_growth(), Some(growth));
            let more = keys.by_ref().take_while(|_| filter.segments().len() == segments);
            inserted.extend(more.inspect(|key| filter.insert(key).unwrap()));
            assert_eq!((filter.size_in_bytes(), filter.next_growth()), (size + growth, None));
        }
        assert!(inserted.iter().all(|key| filter.remove(key)) && filter.is_empty());
    }
}

/// A chain can start with every layout.
#[test]
fn every_layout_can_be_the_first() {
    for &layout in Layout::ALL {
        let rate = (layout.false_positive_rate() * 4.0).max(0.001);
        let builder =
            GrowingFilter::builder().capacity(50).layout(layout).false_positive_rate(rate);
        let filter = builder.build().unwrap();
        filter.insert_batch(0..3_000).unwrap();
        assert!((0..3_000).all(|key| filter.contains(&key)));
        let layouts: BTreeMap<usize, Layout> =
            filter.segments().map(|segment| (segment.slots, segment.layout)).collect();
        assert_eq!(layouts.values().next(), Some(&layout));
        assert!(layouts.len() > 3 || layouts.values().collect::<HashSet<_>>().len() > 1);
        assert!((0..3_000).all(|key| filter.remove(&key)));
    }
}
