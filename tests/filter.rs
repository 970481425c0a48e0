//! What filters of every engine do with the default hasher, and what only a filter of one table
//! does.

mod common;

use std::{hash::BuildHasher, process::Command, sync::Arc, thread};

use common::{Subject, rng, scaled, suite::on_both_engines};
use guira::{
    Filter, Hashed, InsertMask, Insertion, Layout, StableHashBuilder,
    kind::{Fixed, Set},
};
use rand::RngExt;

on_both_engines! {
    a_filter_can_be_sent_and_shared,
    items_are_their_hashes,
    batches_of_items_are_batches_of_their_hashes,
    masks_report_what_batches_report,
    an_iterator_of_any_length_is_added,
    a_batch_may_be_empty,
    statistics_agree_with_one_another,
    a_clone_is_a_filter_of_its_own,
    seeds_make_filters_reproducible,
    unseeded_filters_differ,
    the_seed_seeds_the_mixing,
    huge_pages_change_nothing,
    measured_false_positives_stay_below_the_bound,
}

/// A filter with the default hasher.
fn filter<E: Subject>(capacity: usize, seed: u64) -> Filter<Set, E> {
    Filter::builder().capacity(capacity).seed(seed).build().expect("a small filter")
}

fn a_filter_can_be_sent_and_shared<E: Subject>() {
    let filter = Arc::new(filter::<E>(100, 0));
    let theirs = Arc::clone(&filter);
    thread::spawn(move || theirs.insert(&1)).join().expect("no panic").expect("room");
    assert!(filter.contains(&1));
}

/// Every operation on an item is the same operation on its hash.
fn items_are_their_hashes<E: Subject>() {
    let filter = filter::<E>(1_000, 3);
    let hash = |item: &str| filter.hasher().hash_one(item);
    filter.insert("a").expect("room");
    assert!(filter.contains(&Hashed(hash("a"))));
    filter.insert(&Hashed(hash("b"))).expect("room");
    assert!(filter.contains("b"));
    assert_eq!(filter.insert_unique(&Hashed(hash("a"))), Ok(Insertion::Found(())));
    assert_eq!(filter.insert_unique(&Hashed(hash("c"))), Ok(Insertion::New(())));
    assert_eq!(filter.insert_unique("c"), Ok(Insertion::Found(())));
    filter.insert("c").expect("room");
    assert_eq!((filter.count(&Hashed(hash("c"))), filter.count("c")), (2, 2));
    assert!(filter.remove(&Hashed(hash("c"))));
    assert!(filter.remove("c"));
    assert!(!filter.remove(&Hashed(hash("c"))));
    assert_eq!(filter.len(), 2);
}

fn batches_of_items_are_batches_of_their_hashes<E: Subject>() {
    let filter = filter::<E>(1_000, 4);
    let items: Vec<String> = (0..100).map(|number| format!("item {number}")).collect();
    let hashes: Vec<u64> = items.iter().map(|item| filter.hasher().hash_one(item)).collect();
    let all = [true; 100];
    let mut answers = [false; 100];
    let check = |what: &str, total: usize, answers: &mut [bool; 100]| {
        assert_eq!((total, &*answers), (100, &all), "{what}");
        answers.fill(false);
    };

    filter.insert_batch(Hashed::slice(&hashes)).expect("room");
    check("found by item", filter.contains_batch(&items, &mut answers), &mut answers);
    check("removed by item", filter.remove_batch(&items, &mut answers), &mut answers);
    filter.insert_batch(&items).expect("room");
    check(
        "found by hash",
        filter.contains_batch(Hashed::slice(&hashes), &mut answers),
        &mut answers,
    );
    check(
        "removed by hash",
        filter.remove_batch(Hashed::slice(&hashes), &mut answers),
        &mut answers,
    );
    let added = filter.insert_unique_batch(Hashed::slice(&hashes), &mut answers).expect("room");
    check("added by hash", added, &mut answers);
    assert_eq!(filter.insert_unique_batch(&items, &mut answers), Ok(0));
    assert_eq!((answers, filter.len()), ([false; 100], 100));
}

fn masks_report_what_batches_report<E: Subject>() {
    let filter = filter::<E>(1_000, 4);
    let items: Vec<String> = (0..64).map(|number| format!("item {number}")).collect();
    let hashes: Vec<u64> = items.iter().map(|item| filter.hasher().hash_one(item)).collect();
    let odd = |number: &usize| number % 2 == 1 && *number != 33;
    for burst in [0, 1, 2, 16, 31, 32, 33, 63, 64] {
        filter.clear();
        (0..64).filter(odd).for_each(|number| filter.insert(&items[number]).expect("room"));
        let (some, hashes) = (&items[..burst], &hashes[..burst]);
        let present = (0..burst).filter(odd).fold(0, |mask, number| mask | 1 << number);
        let all = u64::MAX.checked_shr(64 - burst as u32).unwrap_or(0);
        assert_eq!(filter.contains_mask(some), present, "{burst} items");
        assert_eq!(filter.contains_mask(Hashed::slice(hashes)), present, "{burst} hashes");
        let outcome = |InsertMask { added, refused, .. }| (added, refused);
        assert_eq!(outcome(filter.insert_unique_mask(some)), (all & !present, 0));
        assert_eq!(filter.remove_batch(some, &mut [false; 64][..burst]), burst, "{burst} items");
        assert_eq!(filter.contains_mask(some), 0);
        assert_eq!(outcome(filter.insert_unique_mask(Hashed::slice(hashes))), (all, 0));
        let hashes = Hashed::slice(hashes);
        assert_eq!(filter.remove_batch(hashes, &mut [false; 64][..burst]), burst);
        assert_eq!(filter.len(), (burst..64).filter(odd).count());
    }
    // An item that occurs twice is added once.
    assert_eq!(filter.insert_unique_mask(&["ani", "guira", "ani"]).added, 0b011);
}

fn an_iterator_of_any_length_is_added<E: Subject>() {
    for length in [0, 1, 1_023, 1_024, 1_025, 2_048, 5_000] {
        let filter = filter::<E>(5_000, 5);
        assert_eq!(filter.insert_batch((0..length).map(|number| format!("item {number}"))), Ok(()));
        assert_eq!(filter.len(), length);
        assert!((0..length).all(|number| filter.contains(&format!("item {number}"))));
    }
}

#[test]
fn an_iterator_that_is_too_long_is_reported_by_position() {
    let filter = filter::<Fixed>(2_000, 6);
    let error = filter.insert_batch(0..10_000_u32).expect_err("more than there are slots");
    let rejected = error.failures().map(|(position, _)| position);
    assert!(rejected.clone().is_sorted_by(|a, b| a < b));
    assert_eq!(filter.len() + rejected.len(), 10_000);
    assert_eq!((error.tried(), error.is_complete()), (10_000, true));
    assert!(filter.len() >= 2_000);
    let mut rejected = rejected.peekable();
    for item in 0..10_000_u32 {
        if rejected.next_if_eq(&(item as usize)).is_none() {
            assert!(filter.remove(&item), "{item} was not rejected, and is missing");
        }
    }
    assert!(filter.is_empty());
}

fn a_batch_may_be_empty<E: Subject>() {
    let filter = filter::<E>(10, 0);
    assert_eq!(filter.insert_batch(&[0; 0]), Ok(()));
    assert_eq!(filter.insert_unique_batch::<u64>(&[], &mut []), Ok(0));
    assert_eq!(filter.contains_batch::<u64>(&[], &mut []), 0);
    assert_eq!(filter.remove_batch::<u64>(&[], &mut []), 0);
    assert_eq!(filter.contains_mask::<u64>(&[]), 0);
    assert_eq!(filter.insert_batch(None::<u64>), Ok(()));
}

fn statistics_agree_with_one_another<E: Subject>() {
    for &layout in Layout::ALL {
        for capacity in [1, 2, 3, 10, 1_000, 100_000] {
            let target = (layout.false_positive_rate() * 4.0).max(0.001);
            let builder = Filter::<Set, E>::builder().capacity(capacity).layout(layout).seed(5);
            let filter = builder.false_positive_rate(target).build().expect("a small filter");
            assert_eq!((filter.capacity(), filter.layout()), (capacity, layout));
            let (slots, segments) = (filter.slots(), filter.segments().collect::<Vec<_>>());
            let slots_per_bucket = layout.slots_per_bucket() as usize;
            assert!(slots >= capacity && slots.is_multiple_of(slots_per_bucket));
            assert_eq!(segments.len(), 1);
            assert_eq!((segments[0].layout, segments[0].slots), (layout, slots));
            assert!(filter.size_in_bytes() >= slots / slots_per_bucket * 8);
            let rate = filter.false_positive_rate();
            assert!(rate > 0.0 && rate <= layout.false_positive_rate() * 1.07, "{rate}");
            assert_eq!((filter.len(), filter.is_empty(), filter.load_factor()), (0, true, 0.0));

            for key in 0..capacity.min(500) as u64 {
                let _ = filter.insert(&key);
            }
            let load = filter.len() as f64 / filter.slots() as f64;
            assert!((filter.load_factor() - load).abs() < 1e-12);
            assert!(!filter.is_empty());
            let text = format!("{filter:?}");
            assert!(text.contains(&format!("{layout:?}")) && text.contains("slots"), "{text}");
            filter.clear();
            assert_eq!((filter.len(), filter.contains(&0_u64)), (0, false));
        }
    }
}

/// A clone has the items, the hasher and the size of the original, and shares nothing with it.
fn a_clone_is_a_filter_of_its_own<E: Subject>() {
    for capacity in [1, 30, 5_000] {
        let original = filter::<E>(capacity, 8);
        let keys: Vec<u64> = (0..2 * capacity as u64).collect();
        let accepted: Vec<_> = keys.iter().filter(|key| original.insert(key).is_ok()).collect();
        let copy = original.clone();
        assert_eq!((copy.len(), copy.slots()), (original.len(), original.slots()));
        assert_eq!((copy.capacity(), copy.layout()), (original.capacity(), original.layout()));
        assert!(copy.segments().eq(original.segments()));
        assert!(copy.false_positive_rate().to_bits() == original.false_positive_rate().to_bits());
        // The same false positives: the hasher and the mixing are the same.
        assert!((0..20_000_u64).all(|key| copy.contains(&key) == original.contains(&key)));
        original.clear();
        assert!(accepted.iter().all(|key| copy.contains(key)), "capacity {capacity}");
        original.insert(&"later").expect("the filter is empty");
        assert_eq!((original.len(), copy.len()), (1, accepted.len()));
        assert!(accepted.iter().all(|key| copy.remove(key)) && copy.is_empty());
        assert!(original.contains(&"later"));
    }
}

/// The measured false-positive rate is at most the one that the filter reports.
fn measured_false_positives_stay_below_the_bound<E: Subject>() {
    for target in [0.1, 0.01] {
        let builder =
            Filter::<Set, E>::builder().capacity(10_000).false_positive_rate(target).seed(9);
        let filter = builder.build().expect("a small filter");
        filter.insert_batch(0..10_000_u64).expect("room");
        let bound = filter.false_positive_rate();
        assert!(bound <= target);
        let lookups = scaled(20_000, 300_000_u64);
        let positives = (0..lookups).filter(|key| filter.contains(&(key, 'x'))).count() as f64;
        let expected = bound * lookups as f64;
        assert!(positives < expected + 5.0 * expected.sqrt(), "{positives}, not {expected}");
        assert!(positives > expected / 8.0, "{positives}: no false positives, {expected}");
    }
}

/// The memory beside the buckets is small.
#[test]
fn memory_is_what_the_buckets_need() {
    let filter = filter::<Fixed>(1_000_000, 5);
    let buckets = filter.slots() / 4 * 8;
    let beside = filter.size_in_bytes() - buckets;
    // Statistics take 32 KiB more for the stripes, and more for the counters.
    assert!(beside < 96 * 1024, "{beside} bytes beside the buckets");
    assert!(filter.slots() < 1_100_000, "{} slots for a million items", filter.slots());
}

/// The behaviour of a seeded filter as one number: the keys it accepts, and its false positives.
fn digest<E: Subject>(seed: u64) -> u64 {
    let filter = filter::<E>(2_000, seed);
    let mut digest = 0_u64;
    let mut note =
        |yes| digest = digest.rotate_left(1).wrapping_mul(0x2545_f491_4f6c_dd1d) ^ u64::from(yes);
    (0..2_400).for_each(|key: u64| note(filter.insert(&key).is_ok()));
    (0..100_000).for_each(|key: u64| note(filter.contains(&format!("{key}"))));
    digest
}

/// Set for the process that prints a digest and nothing else.
const CHILD: &str = "GUIRA_PRINT_DIGEST";

fn seeds_make_filters_reproducible<E: Subject>() {
    assert_eq!(digest::<E>(1), digest::<E>(1));
    assert_ne!(digest::<E>(1), digest::<E>(2));
    assert_ne!(digest::<E>(0), digest::<E>(1));
}

#[test]
fn seeds_make_filters_reproducible_from_run_to_run() {
    if std::env::var_os(CHILD).is_some() {
        println!("digest={}", digest::<Fixed>(77));
        return;
    }
    if cfg!(miri) {
        return;
    }
    let output = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "seeds_make_filters_reproducible_from_run_to_run", "--nocapture"])
        .env(CHILD, "1")
        .output()
        .expect("another run");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains(&format!("digest={}", digest::<Fixed>(77))), "{text}");
}

/// Without a seed, each filter draws its own: the false positives differ.
fn unseeded_filters_differ<E: Subject>() {
    let answers = || {
        let builder = Filter::<Set, E>::builder().capacity(1_000).layout(Layout::Plain8x8);
        let filter = builder.false_positive_rate(0.25).build().expect("a small filter");
        (0..500_u64).for_each(|key| filter.insert(&key).expect("half full"));
        (500..2_000_u64).map(|key| filter.contains(&key)).collect::<Vec<_>>()
    };
    assert_ne!(answers(), answers());
    let hashers = [StableHashBuilder::default(), StableHashBuilder::default()];
    assert_ne!(hashers[0].hash_one(1), hashers[1].hash_one(1));
}

/// With a given hasher, the seed still seeds the mixing.
fn the_seed_seeds_the_mixing<E: Subject>() {
    let positives = |seed| {
        let builder =
            Filter::<Set, E>::builder().capacity(1_000).layout(Layout::Plain8x8).seed(seed);
        let builder = builder.false_positive_rate(0.25);
        let filter = builder.hasher(StableHashBuilder::with_seed(9)).build().expect("small");
        (0..500_u64).for_each(|key| filter.insert(&key).expect("half full"));
        (500..2_000_u64).map(|key| filter.contains(&key)).collect::<Vec<_>>()
    };
    assert_eq!(positives(1), positives(1));
    assert_ne!(positives(1), positives(2));
}

#[test]
fn equal_seeds_make_equal_hashers() {
    let [a, b] = [5, 5].map(StableHashBuilder::with_seed);
    let mut random = rng(5);
    for _ in 0..100 {
        let key: (u64, u8) = random.random();
        assert_eq!(a.hash_one(key), b.hash_one(key));
        assert_ne!(a.hash_one(key), StableHashBuilder::with_seed(6).hash_one(key));
    }
}

/// Huge pages affect the speed alone.
fn huge_pages_change_nothing<E: Subject>() {
    for wanted in [false, true] {
        let builder = Filter::<Set, E>::builder().capacity(2_000_000).huge_pages(wanted).seed(1);
        let filter = builder.build().expect("a filter of 4 MB");
        (0..1_000_u64).for_each(|key| filter.insert(&key).expect("room"));
        assert!((0..1_000_u64).all(|key| filter.contains(&key)));
        assert_eq!(filter.len(), 1_000);
    }
}
