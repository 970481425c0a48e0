//! Merging a filter into another one: sums of counts, refusals, and what other threads may do
//! meanwhile.

mod common;

use std::{
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    thread,
};

use common::{Subject, rng, scaled, suite::on_both_engines};
use guira::{
    CuckooFilter, Filter, FilterBuilder, GrowingFilter, Layout, MergeError, StableHashBuilder,
    kind::Set,
};
use rand::{RngExt, seq::SliceRandom};

on_both_engines! {
    counts_are_sums,
    a_merge_with_itself_doubles_all_counts,
    merged_items_can_be_removed,
    filters_that_differ_are_refused,
    a_refusal_for_lack_of_room_changes_nothing,
    a_refusal_because_of_copies_changes_nothing,
    every_layout_can_be_merged,
    writers_and_readers_go_on,
    opposite_merges_end,
}

/// The settings of the filters, apart from the capacity.
fn builder<E: Subject>() -> FilterBuilder<Set, E> {
    Filter::<Set, E>::builder().seed(7)
}

/// An empty filter.
fn filter<E: Subject>(capacity: usize) -> Filter<Set, E> {
    builder().capacity(capacity).build().unwrap()
}

/// A filter with these items.
fn holding<E: Subject>(capacity: usize, keys: impl IntoIterator<Item = u64>) -> Filter<Set, E> {
    let filter = filter(capacity);
    filter.insert_batch(keys).unwrap();
    filter
}

/// The counts of keys.
fn counts<E: Subject>(filter: &Filter<Set, E>, keys: u64) -> Vec<usize> {
    (0..keys).map(|key| filter.count(&key)).collect()
}

fn counts_are_sums<E: Subject>() {
    let target = holding::<E>(10_000, (0..3_000).chain(0..100));
    let source = holding::<E>(10_000, (2_000..5_000).chain(2_000..2_050).chain(0..10));
    let sums: Vec<usize> = counts(&target, 6_000)
        .into_iter()
        .zip(counts(&source, 6_000))
        .map(|(a, b)| a + b)
        .collect();
    let (before, len) = (counts(&source, 6_000), target.len() + source.len());
    target.merge(&source).unwrap();
    assert_eq!(counts(&target, 6_000), sums);
    assert_eq!(counts(&source, 6_000), before, "the source has changed");
    assert_eq!(target.len(), len);
    assert_eq!(target.clone().len(), len);
    // Nothing from an empty filter.
    target.merge(&filter::<E>(10_000)).unwrap();
    assert_eq!(counts(&target, 6_000), sums);
}

fn a_merge_with_itself_doubles_all_counts<E: Subject>() {
    let filter = holding::<E>(10_000, (0..4_000).chain(0..100));
    let doubled: Vec<usize> = counts(&filter, 5_000).iter().map(|count| 2 * count).collect();
    filter.merge(&filter).unwrap();
    assert_eq!((counts(&filter, 5_000), filter.len()), (doubled, 8_200));
}

fn merged_items_can_be_removed<E: Subject>() {
    let (target, source) = (holding::<E>(10_000, 0..4_000), holding::<E>(10_000, 3_000..8_000));
    target.merge(&source).unwrap();
    let mut keys: Vec<u64> = (0..4_000).chain(3_000..8_000).collect();
    keys.shuffle(&mut rng(1));
    while let Some(key) = keys.pop() {
        assert!(target.remove(&key));
        if keys.len().is_multiple_of(500) {
            assert!(keys.iter().all(|key| target.contains(key)), "missed");
        }
    }
    assert!(target.is_empty() && target.clone().is_empty());
}

/// The error of a merge that must be refused before anything is added.
fn refused<E: Subject>(target: &Filter<Set, E>, source: &Filter<Set, E>) -> MergeError {
    source.insert("item").unwrap();
    let error = target.merge(source).expect_err("an error");
    assert!(target.is_empty() && !target.contains("item"));
    let _: &dyn std::error::Error = &error;
    error
}

fn filters_that_differ_are_refused<E: Subject>() {
    let target = filter::<E>(1_000);
    let build = |builder: FilterBuilder<Set, E>| builder.build().unwrap();
    let layout = Layout::SemiSorted6x12;
    let of_layout = build(builder().capacity(1_000).layout(layout).false_positive_rate(0.02));
    let error = refused(&target, &of_layout);
    assert_eq!(
        error.to_string(),
        "the filters have different layouts: Plain4x16 and SemiSorted6x12"
    );
    assert!(matches!(error, MergeError::Layout { .. }));

    let error = refused(&target, &filter(2_000));
    let MergeError::Buckets { this, other, .. } = error else { panic!("{error:?}") };
    let buckets = [1_000, 2_000].map(|capacity| filter::<E>(capacity).slots() as u64 / 4);
    assert_eq!([this, other], buckets);
    let expected = format!("the filters have different numbers of buckets: {this} and {other}");
    assert_eq!(error.to_string(), expected);

    let error = refused(&target, &build(builder().capacity(1_000).seed(8)));
    assert_eq!(
        (error, error.to_string()),
        (MergeError::Seed, "the filters have different seeds".into())
    );

    // Of one type, but with other seeds.
    let other = builder::<E>().capacity(1_000).hasher(StableHashBuilder::with_seed(9));
    let error = refused(&target, &other.build().unwrap());
    assert_eq!(error, MergeError::Hasher);
    assert!(error.to_string().starts_with("the filters have different hashers"));

    // Clones agree, also with random seeds; and so do filters that share a hasher and a seed.
    let random = Filter::<Set, E>::with_capacity(100);
    random.clone().merge(&random).unwrap();
    let shared = || builder::<E>().capacity(100).hasher(StableHashBuilder::with_seed(3)).build();
    shared().unwrap().merge(&shared().unwrap()).unwrap();
}

/// Filters of which the first has no room for the items of the second, and the number of keys.
fn too_full<E: Subject>() -> (Filter<Set, E>, Filter<Set, E>, u64) {
    if !E::GROWS {
        return (holding(2_000, 0..1_500), holding(2_000, 1_500..3_000), 3_000);
    }
    // The first segments of both are full.
    (holding(500, 0..2_000), holding(500, 2_000..4_000), 4_000)
}

fn a_refusal_for_lack_of_room_changes_nothing<E: Subject>() {
    let (target, source, keys) = too_full::<E>();
    let (before, len) = (counts(&target, 2 * keys), target.len());
    let error = target.merge(&source).expect_err("no room");
    let MergeError::Full { fitted, items, .. } = error else { panic!("{error:?}") };
    assert_eq!(items, source.len() as u64);
    assert!(fitted > 0 || E::GROWS, "a test in which something is undone");
    let expected = format!(
        "there is not enough room: {fitted} of the {items} items of the other filter fitted"
    );
    assert_eq!(error.to_string(), expected);
    assert_eq!((counts(&target, 2 * keys), target.len()), (before, len));
    assert_eq!(target.clone().len(), len);
    // What it had removed again can be inserted.
    if E::GROWS {
        assert!((0..keys / 2).all(|key| target.remove(&key)));
        target.merge(&source).unwrap();
        assert!((keys / 2..keys).all(|key| target.contains(&key)));
    }
}

fn a_refusal_because_of_copies_changes_nothing<E: Subject>() {
    let build = |limit: usize| builder::<E>().capacity(3_000).max_copies(limit).build().unwrap();
    let (target, source) = (build(3), build(6));
    target.insert_batch((0..200_u64).chain(0..200)).unwrap();
    source.insert_batch(100..300_u64).unwrap();
    target.merge(&source).unwrap();
    let before = counts(&target, 1_000);
    assert_eq!((before[50], before[150], before[250]), (2, 3, 1));
    let error = target.merge(&source).expect_err("more than three copies");
    assert_eq!(error, MergeError::TooManyCopies);
    assert!(error.to_string().contains("too many copies"));
    assert_eq!((counts(&target, 1_000), target.len()), (before, 600));
    // The limit is that of the filter that is added to.
    let before = source.len();
    source.merge(&target).unwrap();
    assert_eq!(source.len(), before + 600);

    // Without a limit, copies fill their slots.
    let (target, source) = (filter::<E>(1_000), filter::<E>(1_000));
    while target.insert("again").is_ok() {}
    source.insert_batch(["once", "again"]).unwrap();
    let before = target.len();
    assert_eq!(target.merge(&source), Err(MergeError::TooManyCopies));
    assert_eq!((target.len(), target.count("once"), target.count("again")), (before, 0, before));
}

fn every_layout_can_be_merged<E: Subject>() {
    for &layout in Layout::ALL {
        let build = || {
            let rate = (4.0 * layout.false_positive_rate()).max(0.001);
            let builder = builder::<E>().capacity(1_000).false_positive_rate(rate);
            builder.layout(layout).build().unwrap()
        };
        let (target, source) = (build(), build());
        target.insert_batch(0..400).unwrap();
        source.insert_batch(400..900).unwrap();
        target.merge(&source).unwrap();
        assert!((0..900).all(|key| target.contains(&key)) && target.len() == 900, "{layout:?}");
        assert!((0..900).all(|key| target.remove(&key)) && target.is_empty(), "{layout:?}");
    }
}

/// Merges that succeed and merges that are refused, beside threads that use the target.
fn writers_and_readers_go_on<E: Subject>() {
    let capacity = scaled(20_000, 200_000);
    let own = capacity as u64 / 4;
    let target = holding::<E>(capacity, 0..own);
    let merged = holding::<E>(capacity, own..2 * own);
    // Refused at its last items, or at the first copy too many.
    let refused = filter::<E>(capacity);
    refused.insert_batch(0..own / 2).unwrap();
    while refused.insert("again").is_ok() {}
    target.insert("again").unwrap();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let (target, done) = (&target, &done);
        scope.spawn(move || {
            while !done.load(Relaxed) {
                assert!((0..own).all(|key| target.contains(&key)), "missed");
            }
        });
        scope.spawn(move || {
            let mut rng = rng(1);
            while !done.load(Relaxed) {
                let key = 4 * own + rng.random_range(0..own / 4);
                target.insert(&key).unwrap();
                assert!(target.contains(&key) && target.remove(&key));
            }
        });
        target.merge(&merged).unwrap();
        assert!((own..2 * own).all(|key| target.contains(&key)), "missed");
        for _ in 0..scaled(3, 10) {
            assert_eq!(target.merge(&refused), Err(MergeError::TooManyCopies));
        }
        done.store(true, Relaxed);
    });
    assert_eq!(target.len() as u64, 2 * own + 1);
    assert!((0..2 * own).all(|key| target.remove(&key)) && target.remove("again"));
    assert!(target.is_empty() && target.clone().is_empty());
}

fn opposite_merges_end<E: Subject>() {
    for round in 0..scaled(20, 100) {
        let filters = [holding::<E>(2_000, 0..400), holding::<E>(2_000, 400..800)];
        thread::scope(|scope| {
            scope.spawn(|| filters[0].merge(&filters[1]).unwrap());
            filters[1].merge(&filters[0]).unwrap();
        });
        for filter in &filters {
            assert!((0..800).all(|key| filter.contains(&key)), "{round}");
            // The one that was copied last held some of its own items twice by then.
            assert!((800..=1_200).contains(&filter.len()), "{round} {}", filter.len());
            assert_eq!(filter.clone().len(), filter.len());
        }
    }
}

/// A grown filter goes into one that is smaller, and appends segments there.
#[test]
fn a_merge_appends_segments() {
    let build = |rate| GrowingFilter::builder().capacity(1_000).false_positive_rate(rate).seed(5);
    for rate in [0.01, 0.001] {
        let (target, source) = (build(rate).build().unwrap(), build(rate).build().unwrap());
        source.insert_batch(0..20_000_u64).unwrap();
        target.merge(&source).unwrap();
        assert!((0..20_000_u64).all(|key| target.contains(&key)) && target.len() == 20_000);
        assert!(target.segments().len() <= source.segments().len());
        let positives = (20_000..120_000_u64).filter(|key| target.contains(key)).count();
        assert!(positives as f64 <= 100_000.0 * rate, "{positives} at {rate}");
        assert!((0..20_000_u64).all(|key| target.remove(&key)) && target.is_empty());
        target.insert_batch(0..40_000_u64).unwrap();
    }
}

/// Filters whose segments differ, apart from the first: by the cap, and after shrinking.
#[test]
fn only_the_first_segments_must_agree() {
    let build = || GrowingFilter::builder().capacity(2_000).false_positive_rate(0.01).seed(5);
    let capped = build().max_bytes(70_000).build().unwrap();
    let mut shrunk = build().build().unwrap();
    shrunk.insert_batch(0..60_000_u64).unwrap();
    assert!((4_000..60_000_u64).all(|key| shrunk.remove(&key)));
    assert!(shrunk.shrink_to_fit() > 0);
    capped.merge(&shrunk).unwrap();
    assert!((0..4_000_u64).all(|key| capped.contains(&key)));
    let grown = build().build().unwrap();
    grown.insert_batch(10_000..10_500_u64).unwrap();
    assert!((0..3_000_u64).all(|key| capped.remove(&key)));
    grown.merge(&capped).unwrap();
    assert!((3_000..4_000_u64).chain(10_000..10_500).all(|key| grown.contains(&key)));
    assert_eq!(grown.len(), 1_500);
}

/// A refused merge into a filter of one table that other threads clear and fill again.
#[test]
fn a_refused_merge_beside_clears_takes_nothing_that_was_inserted_after_them() {
    let filter = || CuckooFilter::builder().capacity(1_000).layout(Layout::Plain8x8).seed(1);
    let (target, source) = (filter().build().unwrap(), filter().build().unwrap());
    source.insert_batch(0..900_u64).unwrap();
    while source.insert("again").is_ok() {}
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Relaxed) {
                // Refused, unless a clear comes in time.
                if target.insert("again").is_ok() {
                    let _ = target.merge(&source);
                }
            }
        });
        for _ in 0..scaled(200, 3_000) {
            target.clear();
            let mut in_it = Vec::new();
            for key in 0..60_u64 {
                if target.insert(&key).is_ok() {
                    in_it.push(key);
                }
                assert!(in_it.iter().all(|key| target.contains(key)), "removed by the merge");
            }
        }
        done.store(true, Relaxed);
    });
}
