//! How long an item is found: generation by generation.

use guira::{Filter, InsertError, Insertion, kind::Expiring};

use super::{
    WINDOWS, builder,
    common::{Subject, scaled, suite::on_both_engines},
    layouts, occupied,
};

on_both_engines! {
    an_item_is_found_for_its_life_and_no_longer,
    no_item_of_a_full_window_is_missed_and_few_old_ones_are_found,
    a_full_filter_loses_nothing,
    copies_that_have_expired_make_room_for_others,
    late_copies_fill_their_buckets,
    evicting_takes_the_oldest_in_reach,
    clearing_and_cloning_keep_the_generation,
}

fn an_item_is_found_for_its_life_and_no_longer<G: Subject>() {
    for window in WINDOWS {
        for layout in layouts::<G>(window) {
            let filter =
                builder::<G>(1_000, window).layout(layout).build().expect("a small filter");
            let mut lives = vec![1, window.div_ceil(2), window];
            lives.dedup();
            for (key, &life) in lives.iter().enumerate() {
                let first = filter.generation();
                let generation = filter.insert_for(&key, life).expect("an empty slot");
                assert_eq!(generation, first - u64::from(window - life));
                for age in 0..=window + 3 {
                    assert_eq!(filter.contains(&key), age <= life, "{layout:?}: {age} of {life}");
                    assert_eq!(filter.count(&key), usize::from(age <= life));
                    assert_eq!(filter.len(), usize::from(age <= life));
                    assert_eq!(filter.advance(), first + u64::from(age) + 1);
                }
                assert_eq!(occupied(&filter), 0, "a slot leaked");
            }
        }
    }
}

/// Copies that a suspended call adds in the last generation in which their stamp is not swept: they
/// are not found, and yet no insert takes their place or looks for room for ever.
fn late_copies_fill_their_buckets<G: Subject>() {
    for layout in layouts::<G>(1) {
        let filter = builder::<G>(100, 1).layout(layout).build().expect("a small filter");
        let key = 7;
        let late_keys = (0..20).map(|number| {
            if number == 0 {
                (0..3).for_each(|_| _ = filter.advance());
            }
            key
        });
        let error = filter.insert_batch(late_keys).expect_err("more copies than slots");
        let reasons: Vec<_> = error.failures().map(|(_, reason)| reason).collect();
        assert!(reasons.iter().all(|reason| *reason == InsertError::TooManyCopies), "{layout:?}");
        assert!((2..=12).contains(&(20 - reasons.len())), "{layout:?}: {reasons:?}");
        assert_eq!(filter.count(&key), 0);
        assert_eq!(filter.insert(&key), Err(InsertError::TooManyCopies));
        // It replaces one of the late copies.
        assert!(!filter.insert_evicting(&key), "a visible item was replaced");
        assert!(filter.contains(&key));
    }
}

/// Beside many other items, which come and go.
fn no_item_of_a_full_window_is_missed_and_few_old_ones_are_found<G: Subject>() {
    for window in [1, 5, 13] {
        let filter = builder::<G>(3_000, window).build().expect("a small filter");
        let per_generation = 2_900 / (u64::from(window) + 2);
        let (mut old, mut looked_up) = (0, 0);
        for generation in 0..scaled(60, 300) {
            let first = generation * per_generation;
            for key in first..first + per_generation {
                filter.insert(&key).expect("an empty slot");
            }
            let young = first.saturating_sub(u64::from(window) * per_generation);
            assert!((young..first + per_generation).all(|key| filter.contains(&key)));
            let older = young.saturating_sub(10_000)..young;
            looked_up += older.end - older.start;
            old += older.filter(|key| filter.contains(key)).count();
            assert_eq!(filter.len() as u64, first + per_generation - young);
            filter.advance();
        }
        let expected = filter.false_positive_rate() * looked_up as f64;
        assert!((old as f64) < expected + 6.0 * expected.sqrt(), "{old} of {looked_up}");
    }
}

fn a_full_filter_loses_nothing<G: Subject>() {
    for window in [1, 5, 13, 253] {
        let filter = builder::<G>(500, window).build().expect("a small filter");
        G::stop_growing(&filter);
        let most = 4 * filter.slots() as u64;
        let fitted: Vec<u64> = (0..most).filter(|key| filter.insert(key).is_ok()).collect();
        assert!((filter.capacity()..=filter.slots()).contains(&fitted.len()));
        assert_eq!(filter.len(), fitted.len());
        let absent =
            (most..9 * most).find(|key| !filter.contains(key) && filter.insert(key).is_err());
        let absent = absent.expect("a key without room");
        assert_eq!(filter.insert(&absent), Err(InsertError::Full));
        assert_eq!(filter.insert_for(&absent, 1), Err(InsertError::Full));
        assert_eq!(filter.insert_unique(&absent), Err(InsertError::Full));
        let error = filter.insert_batch([absent; 9]).expect_err("no room");
        assert!(error.failures().eq((0..9).map(|position| (position, InsertError::Full))));
        assert_eq!((error.added(), error.tried()), (0, 9));
        let error = filter.insert_unique_batch(&[0, absent], &mut [false; 2]).expect_err("no room");
        let failures: Vec<_> = error.failures().collect();
        assert_eq!(failures, [(1, InsertError::Full)], "window {window}");
        assert_eq!((error.added(), error.tried(), error.is_complete()), (0, 2, true));
        assert_eq!(filter.insert_unique_mask(&[absent, 0]).refused, 1);
        assert!(fitted.iter().all(|key| filter.contains(key)));
        // What has expired makes room, without a sweep.
        for _ in 0..=window {
            filter.advance();
        }
        assert_eq!(filter.insert(&absent), Ok(filter.generation()));
    }
}

fn copies_that_have_expired_make_room_for_others<G: Subject>() {
    let filter = builder::<G>(1_000, 1).build().expect("a small filter");
    for _ in 0..50 {
        let copies = (0..100).take_while(|_| filter.insert(&1).is_ok()).count();
        assert!(copies >= 4);
        assert_eq!(filter.insert(&1), Err(InsertError::TooManyCopies));
        assert!(filter.insert_unique(&1) == Ok(Insertion::Found(())) && filter.refresh(&1));
        assert_eq!(filter.count(&1), copies);
        filter.advance();
        filter.advance();
    }
}

fn evicting_takes_the_oldest_in_reach<G: Subject>() {
    let filter = builder::<G>(2_000, 5).build().expect("a small filter");
    G::stop_growing(&filter);
    let old = (0..2 * filter.slots()).filter(|key| filter.insert(key).is_ok()).count();
    filter.advance();
    let evicted = (10_000..10_500).filter(|key| filter.insert_evicting(key)).count();
    assert!(evicted > 400);
    assert!((10_000..10_500).all(|key| filter.contains(&key)));
    assert_eq!(filter.len(), old + 500 - evicted);
    // It never fails, and never holds more than fits.
    for key in 20_000..scaled(20_500, 30_000) {
        filter.insert_evicting(&key);
        assert!(filter.contains(&key));
    }
    assert!(filter.len() <= filter.slots() && occupied(&filter) == filter.len() as u64);
}

fn clearing_and_cloning_keep_the_generation<G: Subject>() {
    let filter = builder::<G>(1_000, 3).build().expect("a small filter");
    filter.insert(&1).expect("an empty slot");
    filter.advance();
    filter.insert(&2).expect("an empty slot");
    let copy = filter.clone();
    let now = filter.generation();
    filter.clear();
    assert_eq!((filter.len(), filter.generation(), occupied(&filter)), (0, now, 0));
    assert!(!filter.contains(&1) && !filter.contains(&2));
    filter.insert(&1).expect("an empty slot");
    assert_eq!((copy.len(), copy.generation(), copy.window()), (2, now, 3));
    assert!(copy.remove(&1, now - 1));
    copy.advance();
    copy.advance();
    assert!(copy.contains(&2) && filter.generation() == now);
    copy.advance();
    assert!(copy.contains(&2));
    copy.advance();
    assert!(copy.is_empty() && filter.len() == 1);
    let _: Filter<Expiring, G> = copy;
}
