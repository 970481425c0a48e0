//! When filters grow whose items expire: with the items that are found, not with those that have
//! been; and what is given back.

use guira::{GrowingExpiringFilter, kind::Growing};
use rand::RngExt;

use super::{
    builder,
    common::{rng, scaled},
    known,
};

/// The windows of most tests.
const SOME_WINDOWS: [u32; 4] = [1, 5, 13, 253];

/// A filter that grows.
fn filter(window: u32, seed: u64) -> GrowingExpiringFilter {
    builder::<Growing>(1, window).seed(seed).build().expect("a small filter")
}

/// What a filter tells about its size.
fn size(filter: &GrowingExpiringFilter) -> (usize, usize, usize, u64) {
    let rate = filter.false_positive_rate().to_bits();
    (filter.slots(), filter.capacity(), filter.size_in_bytes(), rate)
}

/// Inserts the items of one generation.
fn insert_all(filter: &GrowingExpiringFilter, first: u64, count: u64) {
    (first..first + count).for_each(|key| _ = filter.insert(&key).expect("room to grow"));
}

/// As many items come in each generation as go. What has expired is swept before buckets are split,
/// so the filter has room for the items that are found, and not for those of a further generation.
#[test]
fn a_steady_number_of_items_does_not_make_it_grow() {
    for window in SOME_WINDOWS {
        let filter = filter(window, 1);
        let found = u64::from(window) + 1;
        let each = scaled(20_000, 100_000) / found;
        let mut peak = 0;
        for generation in 0..found * 2 + 20 {
            insert_all(&filter, generation * each, each);
            if generation + 1 == found {
                peak = filter.slots();
            }
            filter.advance();
            // What was not swept in time would be visible once more.
            let visible = each * (generation + 1).min(found - 1);
            assert_eq!(filter.len() as u64, visible, "window {window}, {generation}");
        }
        let items = (each * found) as usize;
        let (slots, capacity) = (filter.slots(), filter.capacity());
        println!("window {window}: {items} items, {peak} slots at first, {slots} in the end");
        assert!(slots <= peak + peak / 64, "{slots} slots for {items} items, {peak} at first");
        assert!(capacity <= items + items / 32, "{capacity} for {items} items");
    }
}

/// The same without `advance` at the end of a generation: nothing is swept but by inserts.
#[test]
fn inserts_sweep_what_they_need() {
    for window in SOME_WINDOWS {
        let filter = filter(window, 2);
        let each = scaled(20_000, 100_000);
        insert_all(&filter, 0, each);
        let before = filter.slots();
        // They expire, and are swept by the advance at the end of the next generation.
        (0..=window).for_each(|_| _ = filter.advance());
        assert_eq!(filter.len(), 0);
        insert_all(&filter, each, each);
        assert_eq!(filter.slots(), before, "window {window}");
        assert!((each..2 * each).all(|key| filter.contains(&key)));
        assert_eq!(filter.len() as u64, each);
    }
}

/// After everything has expired, only as much memory is left as an empty filter has.
#[test]
fn what_has_expired_is_given_back() {
    for window in SOME_WINDOWS {
        for reserve in [false, true] {
            for swept in [false, true] {
                let new = builder::<Growing>(1, window).reserve_address_space(reserve);
                let new = new.build().expect("a small filter");
                let (mut filter, empty) = (new.clone(), new.size_in_bytes());
                insert_all(&filter, 0, scaled(20_000, 200_000));
                let grown = filter.size_in_bytes();
                assert_eq!(filter.shrink_to_fit(), grown - filter.size_in_bytes());
                assert!(filter.size_in_bytes() > grown - grown / 8, "little was free");
                assert!((0..scaled(20_000, 200_000_u64)).all(|key| filter.contains(&key)));
                let grown = filter.size_in_bytes();
                (0..=window).for_each(|_| _ = filter.advance());
                while swept && filter.sweep(1_000) > 0 {}
                let released = filter.shrink_to_fit();
                let left = filter.size_in_bytes();
                assert_eq!(released, grown - left);
                assert!(left <= empty + (4 << 10), "window {window}: {left}, at first {empty}");
                assert_eq!(
                    (filter.len(), filter.generation()),
                    (0, new.generation() + u64::from(window) + 1)
                );
                // It grows on.
                insert_all(&filter, 0, 5_000);
                assert!((0..5_000_u64).all(|key| filter.contains(&key)) && filter.len() == 5_000);
            }
        }
    }
}

/// Half of the items stay: they need half of the memory, keep their generations, and can be removed.
#[test]
fn what_has_not_expired_stays_when_it_shrinks() {
    for window in SOME_WINDOWS {
        let mut filter = filter(window, 3);
        let each = scaled(10_000, 50_000);
        insert_all(&filter, 0, each);
        let old = filter.generation();
        (0..window).for_each(|_| _ = filter.advance());
        insert_all(&filter, each, each);
        let (now, before) = (filter.generation(), filter.slots());
        filter.shrink_to_fit();
        assert_eq!(filter.len() as u64, 2 * each);
        assert!((0..2 * each).all(|key| filter.contains(&key)));
        assert!((0..100).all(|key| filter.remove(&key, old)));
        filter.advance();
        filter.shrink_to_fit();
        assert_eq!(filter.len() as u64, each);
        assert!(filter.slots() <= before * 5 / 8, "{} of {before}", filter.slots());
        assert!((each..2 * each).all(|key| filter.contains(&key)));
        assert!((each..2 * each).all(|key| filter.remove(&key, now)));
        assert!(filter.is_empty());
    }
}

/// One thread makes the same calls on a filter and on a clone of it: both split at the same calls.
#[test]
fn a_clone_grows_at_the_same_calls() {
    for window in SOME_WINDOWS {
        for seed in 0..scaled(1, 4) {
            let (original, mut rng) = (filter(window, seed), rng(seed));
            // Up to different places between two checks of whether the filter must grow.
            let first = 3_000 + rng.random_range(0..100);
            insert_all(&original, 0, first);
            original.advance();
            (0..1_000).for_each(|key| _ = original.refresh(&(7 * key as u64)));
            (0..500_u64).for_each(|key| _ = original.remove(&(3 * key), original.generation() - 1));
            original.sweep(rng.random_range(0..300));
            let copy = original.clone();
            let both = [&original, &copy];
            assert_eq!(size(both[0]), size(both[1]), "window {window}, seed {seed}");
            let mut grown = 0;
            for key in first..first + scaled(5_000, 40_000) {
                let before = original.slots();
                let [one, other] = match rng.random_range(0..100) {
                    0 => both.map(|filter| filter.sweep(50)),
                    1 if key % 64 == 0 => both.map(GrowingExpiringFilter::advance),
                    2..8 => both.map(|filter| u64::from(filter.refresh(&(key / 2)))),
                    8..10 => {
                        both.map(|filter| u64::from(filter.remove(&(key - 1), filter.generation())))
                    }
                    10..20 => both.map(|filter| {
                        u64::from(filter.insert_unique(&key).expect("room").is_new())
                    }),
                    20 => {
                        let keys: Vec<u64> = (0..64).map(|_| rng.random()).collect();
                        both.map(|filter| filter.insert_unique_mask(&keys).added)
                    }
                    21 => {
                        let keys: Vec<u64> = (0..100).map(|_| rng.random()).collect();
                        both.map(|filter| filter.insert_batch(&keys).expect("room"))
                    }
                    _ => both.map(|filter| filter.insert(&key).expect("room")),
                };
                assert_eq!(one, other, "window {window}, seed {seed}, {key}");
                assert_eq!(size(&original), size(&copy), "window {window}, seed {seed}, {key}");
                assert_eq!(original.len(), copy.len(), "window {window}, seed {seed}, {key}");
                grown += usize::from(original.slots() > before);
            }
            assert!(grown > 20, "it has grown {grown} times");
            let [one, other] = both.map(|filter| {
                (0..50_000_u64).filter(|key| filter.contains(key)).collect::<Vec<_>>()
            });
            assert_eq!(one, other);
        }
    }
}

/// At the limit, the oldest items in reach go.
#[test]
fn at_its_largest_size_it_evicts_the_oldest() {
    for window in [1, 5, 13] {
        let most = scaled(10_000, 100_000);
        let new = builder::<Growing>(1, window).max_capacity(most);
        let filter = new.build().expect("a small filter");
        let (mut generations, mut key) = (Vec::new(), 0);
        let mut inserted = 0;
        for _ in 0..=window {
            // Twice as many as fit, in all generations.
            let each = 2 * most / (window as usize + 1);
            let replaced = (0..each).filter(|_| {
                key += 1;
                filter.insert_evicting(&key)
            });
            let replaced = replaced.count();
            inserted += each - replaced;
            generations.push((key - each as u64 + 1, key));
            assert!(filter.contains(&key));
            // An eviction may take a slot that belongs to no item.
            assert!(filter.len().abs_diff(inserted) <= filter.len() / 100, "{filter:?}");
            filter.advance();
        }
        let shares: Vec<f64> = generations
            .iter()
            .map(|&(first, last)| {
                let found = (first..=last).filter(|key| filter.contains(key)).count();
                found as f64 / (last - first + 1) as f64
            })
            .collect();
        println!("window {window}: {shares:.2?} of the generations are found");
        assert!(shares.iter().skip(1).is_sorted(), "{shares:.2?}");
        assert!(*shares.last().expect("one") > 0.75, "{shares:.2?}");
        (0..=window).for_each(|_| _ = filter.advance());
        assert_eq!(filter.len(), 0);
    }
}

/// The share of absent keys that are found is at most the rate that the filter tells.
fn check_rate(filter: &GrowingExpiringFilter, what: &str) {
    let bound = filter.false_positive_rate();
    assert!(bound <= filter.target_false_positive_rate());
    let queries = scaled(100.0, 1_000.0) / bound;
    let absent = (1_u64 << 50..).take(queries as usize);
    let positives = absent.filter(|key| filter.contains(key)).count() as f64;
    let expected = bound * queries;
    assert!(positives <= expected + 6.0 * expected.sqrt(), "{what}: {positives}, not {expected}");
}

/// Whether all items come in one generation, or come and go.
#[test]
fn the_rate_holds_at_every_doubling() {
    for window in SOME_WINDOWS {
        for comes_and_goes in [false, true] {
            // The layout with most false positives.
            let (filter, mut keys) = (known::filter(window, known::shortest(window)), 0_u64..);
            for doubling in 1..=scaled(4, 9) {
                let before = filter.slots();
                // More than there is room for in as many generations as items are found.
                let each = filter.capacity() * 5 / 2 / (window as usize + 1) + 1;
                while filter.slots() < 2 * before {
                    for key in keys.by_ref().take(each) {
                        filter.insert(&key).expect("room to grow");
                        if filter.slots() >= 2 * before {
                            break;
                        }
                    }
                    if comes_and_goes {
                        filter.advance();
                    }
                }
                check_rate(&filter, &format!("window {window}, doubling {doubling}"));
            }
        }
    }
}
