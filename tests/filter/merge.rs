//! Merging a filter into another one: refusals, growth, and what other threads may do meanwhile.
//! (The suite compares merged filters with sums of multisets.)

use std::{
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    thread,
};

use crate::common::{
    Subject,
    kind::{BuilderOf, Kind, Of, new},
    scaled, settings,
    suite::{on_kinds, on_permanent_kinds},
};
use guira::{CuckooFilter, Filter, Layout, MergeError, StableHashBuilder, kind::Permanent};

on_permanent_kinds! {
    filters_that_differ_are_refused,
    a_refusal_for_lack_of_room_changes_nothing,
    a_refusal_because_of_copies_changes_nothing,
    opposite_merges_end,
}

on_kinds! {
    [splitting: GrowingSets, splitting_maps: GrowingMaps]
    {
        a_merge_makes_the_filter_grow,
        a_small_filter_is_merged_into_a_large_one_if_it_knows_enough,
        only_the_first_sizes_must_agree,
    }
}

/// A kind of filter that can be merged.
trait Merges: Kind<Contents: Permanent> {}

impl<K: Kind<Contents: Permanent>> Merges for K {}

/// The settings of the filters, apart from the capacity.
fn builder<K: Merges>() -> BuilderOf<K> {
    new::<K>().seed(7)
}

/// An empty filter.
fn filter<K: Merges>(capacity: usize) -> Of<K> {
    builder::<K>().capacity(capacity).build().unwrap()
}

/// A layout with enough slots for four copies, and few aliases.
fn wide<K: Merges>() -> Layout {
    let is_wide = |layout: &Layout| layout.slots_per_bucket() > 3 && layout.fingerprint_bits() > 10;
    K::layouts().into_iter().find(is_wide).expect("a layout")
}

/// Inserts keys.
fn add_all<K: Merges>(filter: &Of<K>, keys: impl IntoIterator<Item = u64>) {
    keys.into_iter().for_each(|key| K::add(filter, key).expect("room"));
}

/// Inserts keys, in a map with other values than above.
fn add_with_other_tags<K: Merges>(filter: &Of<K>, keys: impl IntoIterator<Item = u64>) {
    for key in keys {
        K::insert(filter, &key, K::usual_want(filter, !key)).expect("room");
    }
}

/// A filter with these items.
fn holding<K: Merges>(capacity: usize, keys: impl IntoIterator<Item = u64>) -> Of<K> {
    let filter = filter::<K>(capacity);
    add_all::<K>(&filter, keys);
    filter
}

/// Whether all these keys are found, with their tags.
fn has_all<K: Merges>(filter: &Of<K>, mut keys: impl Iterator<Item = u64>) -> bool {
    keys.all(|key| K::holds(filter, key, &[K::tag_of(filter, key)]))
}

/// Whether all these keys can be removed.
fn take_all<K: Merges>(filter: &Of<K>, mut keys: impl Iterator<Item = u64>) -> bool {
    keys.all(|key| K::take(filter, key))
}

/// A key of which there are many copies, or one.
const AGAIN: u64 = 1 << 40;
/// A key of which there is one copy.
const ONCE: u64 = 1 << 41;

/// The counts of keys.
fn counts<K: Merges>(filter: &Of<K>, keys: u64) -> Vec<usize> {
    (0..keys).map(|key| filter.count(&key)).collect()
}

/// The error of a merge that must be refused before anything is added.
fn refused<K: Merges>(target: &Of<K>, source: &Of<K>) -> MergeError {
    K::add(source, AGAIN).unwrap();
    let error = target.merge(source).expect_err("an error");
    assert!(target.is_empty() && !target.contains(&AGAIN));
    let _: &dyn std::error::Error = &error;
    error
}

fn filters_that_differ_are_refused<K: Merges>() {
    let target = filter::<K>(1_000);
    let other = K::layouts().into_iter().find(|layout| *layout != target.layout());
    let of_layout = settings::<K>(1_000, other.expect("a layout"), 7).build().unwrap();
    let error = refused::<K>(&target, &of_layout);
    let [this, other] = [target.layout(), of_layout.layout()];
    let expected = format!(
        "the filters have the layouts {this:?} and {other:?}: build both with the same one"
    );
    assert_eq!(error.to_string(), expected);
    assert!(matches!(error, MergeError::Layout { .. }));

    let larger = filter::<K>(2_000);
    let error = refused::<K>(&target, &larger);
    let MergeError::Buckets { this, other, .. } = error else { panic!("{error:?}") };
    let slots = u64::from(target.layout().slots_per_bucket());
    assert_eq!([this, other], [&target, &larger].map(|filter| filter.slots() as u64 / slots));
    let expected = format!(
        "the filters began with {this} and {other} buckets: build both with the same `capacity`"
    );
    assert_eq!(error.to_string(), expected);

    let other = builder::<K>().capacity(1_000).seed(8).build().unwrap();
    let error = refused::<K>(&target, &other);
    let expected =
        "the filters have different seeds: build both with the same `seed`, or clone one";
    assert_eq!((error, error.to_string().as_str()), (MergeError::Seed, expected));

    // Of one type, but with other seeds.
    let other = builder::<K>().capacity(1_000).hasher(StableHashBuilder::from_seed(9));
    let error = refused::<K>(&target, &other.build().unwrap());
    assert_eq!(error, MergeError::Hasher);
    assert!(error.to_string().starts_with("the filters have different hashers"));

    // Clones agree, also with random seeds; and so do filters that share a hasher and a seed.
    let random = Filter::<K::Contents, K::Growth>::with_capacity(100);
    random.clone().merge(&random).unwrap();
    let shared = || builder::<K>().capacity(100).hasher(StableHashBuilder::from_seed(3)).build();
    shared().unwrap().merge(&shared().unwrap()).unwrap();
}

fn a_refusal_for_lack_of_room_changes_nothing<K: Merges>() {
    if !K::GROWS {
        check_refusal::<K>(2_000, 1_500, 1_500);
        return;
    }
    // Both have as many levels, the first one more, and the second one more.
    for (here, there) in [(2_000, 2_000), (30_000, 500), (700, 20_000)] {
        check_refusal::<K>(500, here, there);
    }
}

/// Merges a filter with so many keys into one that has no room for them, and may not grow.
fn check_refusal<K: Merges>(capacity: usize, here: u64, there: u64) {
    let keys = here + there;
    let target = holding::<K>(capacity, 0..here);
    let source = holding::<K>(capacity, here..keys);
    <K::Growth as Subject>::set_max_bytes(&target, Some(0));
    // Until it is full.
    let more = (1 << 42..).take(if K::GROWS { keys as usize } else { 0 });
    let more: Vec<u64> = more.filter(|key| K::add(&target, *key).is_ok()).collect();
    assert!(more.len() < keys as usize);
    let (before, len) = (counts::<K>(&target, 2 * keys), target.len());
    let error = target.merge(&source).expect_err("no room");
    let MergeError::Full { fitted, items, .. } = error else { panic!("{error:?}") };
    assert_eq!(items, source.len() as u64);
    assert!(fitted > 0 || K::GROWS, "a test in which something is undone");
    let expected = format!(
        "there is room for {fitted} of the {items} items of the other filter: begin with the \
         capacity of the union"
    );
    assert_eq!(error.to_string(), expected);
    assert_eq!((counts::<K>(&target, 2 * keys), target.len()), (before, len));
    assert_eq!(target.clone().len(), len);
    // What it had removed again can be inserted.
    assert!(take_all::<K>(&target, more.into_iter()));
    assert!(take_all::<K>(&target, 0..here) && target.is_empty());
    if here >= there {
        target.merge(&source).unwrap();
        assert!(has_all::<K>(&target, here..keys));
    }
}

fn a_refusal_because_of_copies_changes_nothing<K: Merges>() {
    let build = |limit| K::limited(settings::<K>(3_000, wide::<K>(), 7), limit).build().unwrap();
    let (target, source) = (build(3), build(6));
    add_all::<K>(&target, (0..200).chain(0..200));
    // Copies count with any value.
    add_with_other_tags::<K>(&source, 100..300);
    target.merge(&source).unwrap();
    let before = counts::<K>(&target, 1_000);
    assert_eq!((before[50], before[150], before[250]), (2, 3, 1));
    let error = target.merge(&source).expect_err("more than three copies");
    assert_eq!(error, MergeError::TooManyCopies);
    assert!(error.to_string().contains("more copies of an item"));
    assert_eq!((counts::<K>(&target, 1_000), target.len()), (before, 600));
    // The limit is that of the filter that is added to.
    let before = source.len();
    source.merge(&target).unwrap();
    assert_eq!(source.len(), before + 600);

    // Without a limit, copies fill their slots.
    let (target, source) = (filter::<K>(1_000), filter::<K>(1_000));
    while K::add(&target, AGAIN).is_ok() {}
    add_all::<K>(&source, [ONCE, AGAIN]);
    let before = target.len();
    assert_eq!(target.merge(&source), Err(MergeError::TooManyCopies));
    assert_eq!((target.len(), target.count(&ONCE), target.count(&AGAIN)), (before, 0, before));
}

fn opposite_merges_end<K: Merges>() {
    for round in 0..scaled(20, 100) {
        let filters = [holding::<K>(2_000, 0..400), holding::<K>(2_000, 400..800)];
        thread::scope(|scope| {
            scope.spawn(|| filters[0].merge(&filters[1]).unwrap());
            filters[1].merge(&filters[0]).unwrap();
        });
        for filter in &filters {
            assert!(has_all::<K>(filter, 0..800), "{round}");
            // The one that was copied last held some of its own items twice by then.
            assert!((800..=1_200).contains(&filter.len()), "{round} {}", filter.len());
            assert_eq!(filter.clone().len(), filter.len());
        }
    }
}

/// A grown filter goes into one that is smaller, which grows.
fn a_merge_makes_the_filter_grow<K: Merges>() {
    for rate in [0.01, 0.003] {
        let build = || builder::<K>().capacity(1_000).false_positive_rate(rate).build().unwrap();
        let (target, source) = (build(), build());
        add_all::<K>(&source, 0..20_000);
        target.merge(&source).unwrap();
        assert!(has_all::<K>(&target, 0..20_000) && target.len() == 20_000);
        assert!(target.slots() <= source.slots() + source.slots() / 16);
        let positives = (20_000..120_000_u64).filter(|key| target.contains(key)).count();
        assert!(positives as f64 <= 100_000.0 * rate, "{positives} at {rate}");
        assert!(take_all::<K>(&target, 0..20_000) && target.is_empty());
        add_all::<K>(&target, 0..40_000);
    }
}

/// From a small table, slots that know few bits belong into one of many buckets of a large one.
/// That merge is refused, and changes nothing. The opposite merge is not refused for that reason.
fn a_small_filter_is_merged_into_a_large_one_if_it_knows_enough<K: Merges>() {
    let (mut refused, mut merged) = (0, 0);
    for layout in K::layouts().into_iter().filter(|layout| layout.fingerprint_bits() > 10) {
        let build = || settings::<K>(1, layout, 5).build().unwrap();
        let (large, small) = (build(), build());
        let first = large.slots();
        add_all::<K>(&large, (0..).take_while(|_| large.slots() < 500 * first));
        let (len, keys) = (large.len() as u64, 1 << 40..(1 << 40) + 9);
        add_all::<K>(&small, keys.clone());
        let (target, before) = (large.clone(), counts::<K>(&large, 2 * len));
        match target.merge(&small) {
            Ok(()) => assert!(take_all::<K>(&target, keys.clone()), "{layout:?}"),
            Err(error) => {
                assert_eq!(error, MergeError::Unknown, "{layout:?}");
                assert!(!target.contains(&keys.start) && target.clone().len() as u64 == len);
                refused += 1;
            }
        }
        assert_eq!((target.len() as u64, counts::<K>(&target, 2 * len)), (len, before));
        match small.merge(&large) {
            Ok(()) => {
                assert_eq!(small.len() as u64, len + 9, "{layout:?}");
                assert!(take_all::<K>(&small, keys) && take_all::<K>(&small, 0..len));
                assert!(small.is_empty(), "{layout:?}");
                merged += 1;
            }
            // Until it has grown, slots of several items are alike.
            Err(error) => assert_eq!(error, MergeError::TooManyCopies, "{layout:?}"),
        }
    }
    assert!(refused > 0 && merged > 0, "{refused} {merged}");
}

/// Filters whose sizes differ, apart from the first: by the cap, and after shrinking.
fn only_the_first_sizes_must_agree<K: Merges>() {
    let build = || builder::<K>().capacity(2_000).false_positive_rate(0.01);
    let mut shrunk = build().build().unwrap();
    let cap = 14 * shrunk.size_in_bytes();
    let capped = build().max_bytes(cap).build().unwrap();
    add_all::<K>(&shrunk, 0..60_000);
    assert!(take_all::<K>(&shrunk, 4_000..60_000));
    assert!(K::Growth::shrink(&mut shrunk) > 0);
    capped.merge(&shrunk).unwrap();
    assert!(has_all::<K>(&capped, 0..4_000));
    let grown = build().build().unwrap();
    add_all::<K>(&grown, 10_000..10_500);
    assert!(take_all::<K>(&capped, 0..3_000));
    grown.merge(&capped).unwrap();
    assert!(has_all::<K>(&grown, (3_000..4_000).chain(10_000..10_500)));
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
