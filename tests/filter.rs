//! The public face of the filter, fact by fact.

mod common;

use std::{hash::BuildHasher, process::Command, sync::Arc, thread};

use common::rng;
use guira::{CuckooFilter, DefaultHashBuilder, Layout};
use rand::RngExt;

/// A filter with the default hasher.
fn filter(capacity: usize, seed: u64) -> CuckooFilter {
    CuckooFilter::builder().capacity(capacity).seed(seed).build().expect("a small filter")
}

#[test]
fn a_filter_can_be_sent_and_shared() {
    let filter = Arc::new(filter(100, 0));
    let theirs = Arc::clone(&filter);
    thread::spawn(move || theirs.insert(&1)).join().expect("no panic").expect("room");
    assert!(filter.contains(&1));
}

/// Every operation on an item is the same operation on its hash.
#[test]
fn items_are_their_hashes() {
    let filter = filter(1_000, 3);
    let hash = |item: &str| filter.hasher().hash_one(item);
    filter.insert("a").expect("room");
    assert!(filter.by_hash().contains(hash("a")));
    filter.by_hash().insert(hash("b")).expect("room");
    assert!(filter.contains("b"));
    assert_eq!(filter.by_hash().insert_unique(hash("a")), Ok(false));
    assert_eq!(filter.by_hash().insert_unique(hash("c")), Ok(true));
    assert_eq!(filter.insert_unique("c"), Ok(false));
    filter.insert("c").expect("room");
    assert_eq!((filter.by_hash().count(hash("c")), filter.count("c")), (2, 2));
    assert!(filter.by_hash().remove(hash("c")));
    assert!(filter.remove("c"));
    assert!(!filter.by_hash().remove(hash("c")));
    assert_eq!(filter.len(), 2);
}

#[test]
fn batches_of_items_are_batches_of_their_hashes() {
    let filter = filter(1_000, 4);
    let items: Vec<String> = (0..100).map(|number| format!("item {number}")).collect();
    let hashes: Vec<u64> = items.iter().map(|item| filter.hasher().hash_one(item)).collect();
    let all = [true; 100];
    let mut answers = [false; 100];
    let check = |what: &str, total: usize, answers: &mut [bool; 100]| {
        assert_eq!((total, &*answers), (100, &all), "{what}");
        answers.fill(false);
    };

    filter.by_hash().insert_batch(&hashes).expect("room");
    check("found by item", filter.contains_batch(&items, &mut answers), &mut answers);
    check("removed by item", filter.remove_batch(&items, &mut answers), &mut answers);
    filter.insert_batch(&items).expect("room");
    check("found by hash", filter.by_hash().contains_batch(&hashes, &mut answers), &mut answers);
    check("removed by hash", filter.by_hash().remove_batch(&hashes, &mut answers), &mut answers);
    let added = filter.by_hash().insert_unique_batch(&hashes, &mut answers).expect("room");
    check("added by hash", added, &mut answers);
    assert_eq!(filter.insert_unique_batch(&items, &mut answers), Ok(0));
    assert_eq!((answers, filter.len()), ([false; 100], 100));
}

#[test]
fn a_mask_says_what_a_batch_says() {
    let filter = filter(1_000, 4);
    let items: Vec<String> = (0..64).map(|number| format!("item {number}")).collect();
    let hashes: Vec<u64> = items.iter().map(|item| filter.hasher().hash_one(item)).collect();
    let odd = |number: &usize| number % 2 == 1 && *number != 33;
    (0..64).filter(odd).for_each(|number| filter.insert(&items[number]).expect("room"));
    for burst in [0, 1, 2, 16, 31, 32, 33, 63, 64] {
        let expected = (0..burst).filter(odd).fold(0, |mask, number| mask | 1 << number);
        assert_eq!(filter.contains_mask(&items[..burst]), expected, "{burst} items");
        assert_eq!(filter.by_hash().contains_mask(&hashes[..burst]), expected, "{burst} hashes");
    }
}

#[test]
fn an_iterator_of_any_length_is_added() {
    for length in [0, 1, 1_023, 1_024, 1_025, 2_048, 5_000] {
        let filter = filter(5_000, 5);
        assert_eq!(filter.try_extend((0..length).map(|number| format!("item {number}"))), Ok(()));
        assert_eq!(filter.len(), length);
        assert!((0..length).all(|number| filter.contains(&format!("item {number}"))));
    }
}

#[test]
fn an_iterator_too_long_is_told_which_did_not_fit() {
    let filter = filter(2_000, 6);
    let error = filter.try_extend(0..10_000_u32).expect_err("more than there are slots");
    assert!(error.rejected().is_sorted_by(|a, b| a < b));
    assert_eq!(filter.len() + error.rejected().len(), 10_000);
    assert!(filter.len() >= 2_000);
    let mut rejected = error.rejected().iter().copied().peekable();
    for item in 0..10_000_u32 {
        if rejected.next_if_eq(&(item as usize)).is_none() {
            assert!(filter.remove(&item), "{item} was not rejected, and is not in");
        }
    }
    assert!(filter.is_empty());
}

#[test]
fn a_batch_may_be_empty() {
    let filter = filter(10, 0);
    assert_eq!(filter.insert_batch::<u64>(&[]), Ok(()));
    assert_eq!(filter.insert_unique_batch::<u64>(&[], &mut []), Ok(0));
    assert_eq!(filter.contains_batch::<u64>(&[], &mut []), 0);
    assert_eq!(filter.remove_batch::<u64>(&[], &mut []), 0);
    assert_eq!(filter.contains_mask::<u64>(&[]), 0);
    assert_eq!(filter.try_extend(None::<u64>), Ok(()));
}

#[test]
fn statistics_agree_with_one_another() {
    for &layout in Layout::ALL {
        for capacity in [1, 2, 3, 10, 1_000, 100_000] {
            let builder = CuckooFilter::builder().capacity(capacity).layout(layout).seed(5);
            let mut filter = builder.build().expect("a small filter");
            assert_eq!((filter.capacity(), filter.layout()), (capacity, layout));
            assert!(filter.slots() >= capacity);
            assert!(filter.slots().is_multiple_of(layout.slots_per_bucket() as usize));
            assert!(
                filter.size_in_bytes() >= filter.slots() / layout.slots_per_bucket() as usize * 8
            );
            assert!(filter.false_positive_rate() <= layout.false_positive_rate());
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

/// A filter is no larger than its bits per item promise, small change aside.
#[test]
fn memory_is_what_the_buckets_need() {
    let filter = filter(1_000_000, 5);
    let buckets = filter.slots() / 4 * 8;
    let beside = filter.size_in_bytes() - buckets;
    assert!(beside < 64 * 1024, "{beside} bytes beside the buckets");
    assert!(filter.slots() < 1_100_000, "{} slots for a million items", filter.slots());
}

/// What a seeded filter does, in one number: which keys it accepts, and which others it answers to.
fn digest(seed: u64) -> u64 {
    let filter = filter(2_000, seed);
    let mut digest = 0_u64;
    let mut note =
        |yes| digest = digest.rotate_left(1).wrapping_mul(0x2545_f491_4f6c_dd1d) ^ u64::from(yes);
    (0..2_400).for_each(|key: u64| note(filter.insert(&key).is_ok()));
    (0..100_000).for_each(|key: u64| note(filter.contains(&format!("{key}"))));
    digest
}

/// Set for the process that prints a digest and nothing else.
const CHILD: &str = "GUIRA_PRINT_DIGEST";

#[test]
fn seeds_make_filters_reproducible() {
    assert_eq!(digest(1), digest(1));
    assert_ne!(digest(1), digest(2));
    assert_ne!(digest(0), digest(1));
}

#[test]
fn seeds_make_filters_reproducible_from_run_to_run() {
    if std::env::var_os(CHILD).is_some() {
        println!("digest={}", digest(77));
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
    assert!(text.contains(&format!("digest={}", digest(77))), "{text}");
}

/// Without a seed, each filter has its own: what one of them mistakes, another does not.
#[test]
fn unseeded_filters_differ() {
    let answers = || {
        let filter = CuckooFilter::builder().capacity(1_000).layout(Layout::Plain8x8).build();
        let filter = filter.expect("a small filter");
        (0..500_u64).for_each(|key| filter.insert(&key).expect("half full"));
        (500..2_000_u64).map(|key| filter.contains(&key)).collect::<Vec<_>>()
    };
    assert_ne!(answers(), answers());
    let hashers = [DefaultHashBuilder::default(), DefaultHashBuilder::default()];
    assert_ne!(hashers[0].hash_one(1), hashers[1].hash_one(1));
}

/// With a hasher of the user's own, the seed still seeds the mixing.
#[test]
fn the_seed_reaches_the_mixing() {
    let positives = |seed| {
        let builder = CuckooFilter::builder().capacity(1_000).layout(Layout::Plain8x8).seed(seed);
        let filter = builder.hasher(DefaultHashBuilder::with_seed(9)).build().expect("small");
        (0..500_u64).for_each(|key| filter.insert(&key).expect("half full"));
        (500..2_000_u64).map(|key| filter.contains(&key)).collect::<Vec<_>>()
    };
    assert_eq!(positives(1), positives(1));
    assert_ne!(positives(1), positives(2));
}

#[test]
fn equal_seeds_make_equal_hashers() {
    let [a, b] = [5, 5].map(DefaultHashBuilder::with_seed);
    let mut random = rng(5);
    for _ in 0..100 {
        let key: (u64, u8) = random.random();
        assert_eq!(a.hash_one(key), b.hash_one(key));
        assert_ne!(a.hash_one(key), DefaultHashBuilder::with_seed(6).hash_one(key));
    }
}

/// Huge pages are a matter of speed alone.
#[test]
fn huge_pages_change_nothing() {
    for wanted in [false, true] {
        let builder = CuckooFilter::builder().capacity(2_000_000).huge_pages(wanted).seed(1);
        let filter = builder.build().expect("a filter of 4 MB");
        (0..1_000_u64).for_each(|key| filter.insert(&key).expect("room"));
        assert!((0..1_000_u64).all(|key| filter.contains(&key)));
        assert_eq!(filter.len(), 1_000);
    }
}
