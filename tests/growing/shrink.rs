//! Shrinking a growing filter: the memory that is left, the items, and the rate.

use guira::{GrowingFilter, Layout, Shrinking};

use crate::common::{scaled, shrink};

/// Inserts many items, removes 90 % of them, shrinks, and compares with a filter that was built for
/// what is left.
fn shrinks_after_removals(items: u64, rate: f64) {
    let builder = || GrowingFilter::builder().false_positive_rate(rate).seed(3);
    let mut filter = builder().capacity(10_000).build().unwrap();
    for key in 0..items {
        filter.insert(&key).unwrap();
    }
    let stays = |key: &u64| key.is_multiple_of(10);
    assert!((0..items).filter(|key| !stays(key)).all(|key| filter.remove(&key)));
    let (before, slots) = (filter.size_in_bytes(), filter.slots());

    let start = std::time::Instant::now();
    let released = shrink(&mut filter);
    let time = start.elapsed();
    assert_eq!(released, before - filter.size_in_bytes());

    let left = items / 10;
    assert_eq!(filter.len() as u64, left);
    assert!((0..items).filter(stays).all(|key| filter.contains(&key)), "missed");
    let built = builder().capacity(left as usize).build().unwrap();
    let ratio = filter.size_in_bytes() as f64 / built.size_in_bytes() as f64;
    let queries = (scaled(200.0, 4_000.0) / rate) as u64;
    let positives = (items..items + queries).filter(|key| filter.contains(key)).count();
    println!(
        "{items} items, rate {rate}: {before} bytes for {slots} slots, then {} for {} \
         ({ratio:.2} of a filter built for the rest), {time:.1?}; measured rate {:.5}",
        filter.size_in_bytes(),
        filter.slots(),
        positives as f64 / queries as f64,
    );
    assert!(ratio <= 1.5, "{ratio}");
    let capacity = filter.capacity() as u64;
    assert!(capacity <= (left + left / 8).max(10_100), "{capacity} for {left}");
    assert!(filter.false_positive_rate() <= rate);
    let expected = rate * queries as f64;
    assert!((positives as f64) < expected + 5.0 * expected.sqrt(), "{positives} {expected}");
    // The aliases of the items that are left are so few that almost all removals can be checked.
    assert!((0..items).filter(stays).all(|key| filter.remove(&key)));
    assert!(filter.is_empty());
}

#[test]
fn it_takes_little_more_memory_than_a_filter_built_for_what_is_left() {
    for rate in [0.01, 0.003, 0.001] {
        shrinks_after_removals(scaled(100_000, 1_000_000), rate);
    }
}

/// As the test before, for 20 million items.
#[test]
#[ignore = "long: 20 million items at three rates; run it in release mode"]
fn it_takes_little_more_memory_after_20_million_inserts() {
    for rate in [0.01, 0.003, 0.001] {
        shrinks_after_removals(20_000_000, rate);
    }
}

/// An empty filter shrinks to its first size, and grows as a new one does.
#[test]
fn an_empty_filter_shrinks_to_its_first_size() {
    for rate in [0.3, 0.01, 0.001] {
        let build = || {
            GrowingFilter::builder()
                .capacity(100)
                .false_positive_rate(rate)
                .seed(1)
                .build()
                .unwrap()
        };
        let (mut filter, new) = (build(), build());
        assert_eq!(shrink(&mut filter), 0);
        filter.insert_batch(0..20_000_u64).unwrap();
        filter.clear();
        assert!(shrink(&mut filter) > 0 && filter.is_empty());
        assert_eq!(filter.size_in_bytes(), new.size_in_bytes());
        for filter in [&filter, &new] {
            filter.insert_batch(0..20_000_u64).unwrap();
            assert!((0..20_000_u64).all(|key| filter.contains(&key)));
        }
        assert_eq!((filter.slots(), filter.size_in_bytes()), (new.slots(), new.size_in_bytes()));
        assert_eq!(filter.capacity(), new.capacity());
    }
}

/// Shrinking, filling and emptying in turn. Shrinking again releases nothing.
#[test]
fn a_filter_that_has_shrunk_grows_again() {
    let mut filter =
        GrowingFilter::builder().capacity(100).false_positive_rate(0.01).seed(2).build().unwrap();
    let keep = 1_500_u64;
    filter.insert_batch(0..keep).unwrap();
    for round in 1..scaled(4, 20_u64) {
        let more = (0..20_000_u64).map(|key| (round, key));
        filter.insert_batch(more.clone()).unwrap();
        assert!(filter.false_positive_rate() <= 0.01);
        assert!(more.into_iter().all(|key| filter.remove(&key)));
        assert!(shrink(&mut filter) > 0);
        assert_eq!(shrink(&mut filter), 0);
        assert_eq!(filter.len() as u64, keep);
        assert!(filter.capacity() as u64 >= keep && filter.capacity() < 3_000, "{filter:?}");
        assert!((0..keep).all(|key| filter.contains(&key)));
    }
}

/// Items with as many copies as they can have do not fit into few buckets, and none is lost.
#[test]
fn copies_that_do_not_fit_keep_their_buckets() {
    let mut filter = GrowingFilter::builder().capacity(50).seed(3).build().unwrap();
    let (mut copies, mut keys, first) = ([0; 8], Vec::new(), filter.slots());
    for key in 0_u64.. {
        if filter.slots() >= 32 * first {
            break;
        }
        // A few find all their slots taken by copies.
        keys.extend(filter.insert(&key).is_ok().then_some(key));
        for (hot, copies) in copies.iter_mut().enumerate() {
            *copies += usize::from(filter.insert(&("hot", hot)).is_ok());
        }
    }
    assert!(copies.iter().all(|&copies| copies >= 3), "{copies:?}");
    assert!(keys.iter().all(|key| filter.remove(key)));
    let slots = filter.slots();
    assert!(shrink(&mut filter) > 0 && filter.slots() < slots);
    for (hot, &copies) in copies.iter().enumerate() {
        assert!(filter.count(&("hot", hot)) >= copies);
        (0..copies).for_each(|_| assert!(filter.remove(&("hot", hot)), "lost"));
    }
    assert!(filter.is_empty() && filter.try_clone().unwrap().is_empty());
}

/// Where two buckets cannot be joined, shrinking ends, and says so.
#[test]
fn shrinking_ends_at_copies_that_do_not_fit() {
    let layout = Layout::Growing2x30;
    let mut filter = GrowingFilter::builder().capacity(1).layout(layout).seed(5).build().unwrap();
    filter.insert_batch(0..20_000).unwrap();
    assert!((0..20_000).all(|key| filter.remove(&key)));
    let mut keys = Vec::new();
    for key in 0..400 {
        keys.extend((0..4).filter(|_| filter.insert(&("hot", key)).is_ok()).map(|_| key));
    }
    shrink(&mut filter);
    let steps = (0..100).take_while(|_| filter.shrink_step(1_000) != Shrinking::Unchanged);
    assert!(steps.count() < 100, "no end of the steps: {filter:?}");
    assert!(keys.iter().all(|key| filter.remove(&("hot", *key))), "lost");
    assert!(filter.is_empty());
}

/// What is moved was not inserted.
#[cfg(feature = "stats")]
#[test]
fn shrinking_counts_no_inserts() {
    let mut filter = GrowingFilter::builder().capacity(100).seed(4).build().unwrap();
    filter.insert_batch(0..20_000_u64).unwrap();
    assert!((1_000..20_000_u64).all(|key| filter.remove(&key)));
    assert!(shrink(&mut filter) > 0);
    let stats = filter.stats();
    assert_eq!(stats.inserts, 20_000);
    assert_eq!(stats.relocations_per_insert.iter().sum::<u64>(), 20_000);
}
