//! Inserts, batches and merges if the system refuses memory, and all calls that allocate nothing.

use std::{collections::HashMap, thread};

use guira::{
    CuckooFilter, CuckooMap, ExpiringFilter, GrowingExpiringFilter, GrowingFilter, GrowingMap,
    Hashed, InsertBatchError, InsertError, MergeError, kind::Growing,
};

use super::{
    allocations,
    common::{
        kind::{Kind, Of, new},
        shrink,
        suite::on_kinds,
    },
    refuse_all, refuse_each, with_limit,
};

on_kinds! {
    [growing_sets: GrowingSets, growing_maps: GrowingMaps, growing_expiring: GrowingExpiringSets]
    {growth_without_memory_is_not_full}
}

on_kinds! {
    [sets: Sets, maps: Maps, expiring: ExpiringSets]
    {a_batch_ends_when_its_failures_take_no_memory}
}

/// A set whose memory comes from the allocator.
fn allocated(capacity: usize) -> GrowingFilter {
    let builder = GrowingFilter::builder().capacity(capacity).seed(1);
    builder.reserve_address_space(false).build().expect("memory")
}

/// Checks that inserts grow a filter only if each allocation succeeds, and change nothing
/// otherwise. Returns it.
fn grow<K: Kind<Growth = Growing>>(
    insert: impl Fn(&Of<K>, u64) -> Result<(), InsertError>,
) -> Of<K> {
    let builder = new::<K>().capacity(1_000).seed(1);
    let filter: Of<K> = builder.reserve_address_space(false).build().expect("memory");
    let mut keys = 0..;
    for _ in 0..3 {
        let refused = keys.by_ref().find(|&key| refuse_all(|| insert(&filter, key)).is_err());
        let (key, len, bytes) =
            (refused.expect("it is full"), filter.len(), filter.size_in_bytes());
        assert_eq!(refuse_all(|| insert(&filter, key)), Err(InsertError::OutOfMemory));
        assert_eq!(filter.len(), len);
        assert_eq!(filter.size_in_bytes(), bytes, "what was allocated was freed");
        // An insert tries to split several buckets. So one that splits may do without the first
        // allocation.
        insert(&filter, key).expect("memory");
        assert_eq!(filter.len(), len + 1);
        assert!(filter.size_in_bytes() > bytes);
    }
    filter
}

/// A growing filter without memory for another step keeps its items and says so, and grows when
/// there is memory. At its cap it is full.
fn growth_without_memory_is_not_full<K: Kind<Growth = Growing>>() {
    grow::<K>(|filter, key| K::add_unique(filter, key).map(drop));
    let filter = grow::<K>(K::add);
    filter.set_max_bytes(Some(filter.size_in_bytes()));
    let refused = (1_000_000_u64..).find_map(|key| K::add(&filter, key).err());
    assert_eq!(refused, Some(InsertError::Full));
    assert!(!InsertError::OutOfMemory.to_string().is_empty());
}

/// Every allocation of a merge can be refused, also those of the steps in which the filter grows.
#[test]
fn a_merge_without_memory_is_an_error() {
    let is_expected = |error: &MergeError| matches!(error, MergeError::OutOfMemory { .. });
    let filter = CuckooFilter::with_capacity(100);
    assert!(refuse_each(|| filter.merge(&filter), is_expected) >= 2);
    let grown = allocated(100);
    grown.insert_batch(0..8_000).expect("memory");
    // An insert tries to split several buckets, so not each refusal leads to an error. Without any
    // memory it does.
    let target = allocated(100);
    target.insert_batch(10_000..10_300).expect("room");
    let outcome = refuse_all(|| target.merge(&grown));
    assert!(matches!(outcome, Err(MergeError::OutOfMemory { .. })), "{outcome:?}");
    assert_eq!(target.len(), 300);
    // With memory for a copy of the other filter, and for no further step.
    let target = allocated(100);
    target.set_max_bytes(Some(target.size_in_bytes()));
    let outcome = target.merge(&grown);
    assert!(matches!(outcome, Err(MergeError::Full { .. })), "{outcome:?}");
    assert!(target.is_empty());
    target.set_max_bytes(None);
    assert_eq!(target.merge(&grown), Ok(()));
    assert!((0..8_000).all(|key| target.contains(&key)));
}

/// What a batch says, and what the filter holds, agree: items that were tried are in the filter if
/// they are not listed, and only then, apart from aliases, which are counted.
fn check_batch(
    items: usize,
    outcome: Result<(), InsertBatchError>,
    is_there: impl Fn(usize) -> bool,
    aliases: &mut usize,
) -> InsertBatchError {
    let error = outcome.expect_err("there is no room for all");
    let listed: HashMap<usize, InsertError> = error.failures().collect();
    assert_eq!(listed.len(), error.failures().len(), "each is listed once");
    assert!(error.failures().is_sorted_by_key(|(position, _)| position));
    assert!(error.tried() <= items && error.is_complete() == (error.tried() == items));
    assert!(listed.keys().all(|&position| position < error.tried()));
    // In a table as small as these, an insert is completed before the next one begins.
    assert_eq!(error.added() + listed.len(), error.tried());
    for position in 0..items {
        let added = position < error.tried() && !listed.contains_key(&position);
        assert!(is_there(position) || !added, "position {position} of {error:?}");
        *aliases += usize::from(is_there(position) != added);
    }
    error
}

/// A batch without memory to list its failures tries no further items. With memory for some of the
/// list, it goes on longer.
fn a_batch_ends_when_its_failures_take_no_memory<K: Kind>() {
    const ITEMS: usize = 40_000;
    let hashes: Vec<u64> = (0..ITEMS as u64).collect();
    let keys = Hashed::slice(&hashes);
    // One slot holds one item: with long fingerprints in one table, few are aliases. So the number
    // of copies tells whether an item is there.
    let rate = if K::IS_PERMANENT { 1e-4 } else { 1e-3 };
    let builder = || new::<K>().capacity(10_000).false_positive_rate(rate).seed(3);
    let build = || -> Of<K> { builder().build().expect("memory") };
    for limit in [0, 300, 2_000, 1 << 30] {
        let filter = build();
        let wants = vec![K::usual_want(&filter, 0); ITEMS];
        let outcome = with_limit(limit, || K::insert_batch(&filter, keys, &wants)).map(drop);
        let count = filter.len();
        let mut errors = 0;
        let error = check_batch(ITEMS, outcome, |at| filter.count(&keys[at]) > 0, &mut errors);
        assert!(errors <= ITEMS / 200, "{errors} aliases");
        assert_eq!(error.added(), count);
        assert_eq!(error.is_complete(), limit == 1 << 30);
        let listed = error.failures().len();
        assert_eq!(listed > 0, limit > 0, "{listed}");
        assert!(error.failures().all(|(_, reason)| reason == InsertError::Full));
        assert!(error.to_string().contains("no memory") != error.is_complete(), "{error}");
        assert_eq!(error, error.clone());

        let filter = build();
        let mut added = vec![true; ITEMS];
        let outcome = with_limit(limit, || K::insert_unique_batch(&filter, keys, &mut added));
        let Some(outcome) = outcome else { continue };
        let error = outcome.expect_err("there is no room for all");
        assert_eq!(error.added(), added.iter().filter(|&&added| added).count());
        assert_eq!(error.is_complete(), limit == 1 << 30);
        let listed: HashMap<usize, InsertError> = error.failures().collect();
        for (at, key) in keys.iter().enumerate() {
            let (listed, is_in) = (listed.contains_key(&at), filter.contains(key));
            assert!(if at < error.tried() { is_in || listed } else { !added[at] }, "{at}");
        }
    }
}

/// An iterator is cut off in the same way. A batch that grows ends at its first failure.
#[test]
fn a_batch_of_an_iterator_and_one_that_grows_end_without_memory() {
    let filter = CuckooFilter::builder().capacity(1_000).seed(3).build().expect("memory");
    let outcome = refuse_all(|| filter.insert_batch((0..4_000).map(Hashed)));
    let error = outcome.expect_err("there is no room for all");
    assert_eq!((error.added(), error.is_complete()), (filter.len(), false));
    let growing = allocated(1_000);
    let outcome = refuse_all(|| growing.insert_batch((0..40_000).map(Hashed)));
    let error = outcome.expect_err("it cannot grow");
    assert_eq!((error.failures().len(), error.is_complete()), (0, false));
    assert_eq!([error.added(), error.tried()], [growing.len(); 2]);
}

/// Lookups, inserts, removals, bursts, sweeps, and advances, near capacity and beyond, also as the
/// first calls of a thread.
#[test]
fn most_calls_allocate_nothing() {
    const ITEMS: u64 = 3_000;
    fn check(name: &str, calls: impl Fn() + Send + Sync) {
        let count = |calls: &dyn Fn()| allocations(calls).1;
        assert_eq!(count(&calls), 0, "{name}");
        let first = thread::scope(|scope| scope.spawn(|| count(&calls)).join().expect("no panic"));
        assert_eq!(first, 0, "{name}, as the first calls of a thread");
    }
    let keys: Vec<u64> = (0..ITEMS).collect();
    let (few, more) = (&keys[..64], || ITEMS..2 * ITEMS);
    /// What all filters do. `$add` inserts a key.
    macro_rules! all {
        ($filter:ident, $add:expr) => {
            let add = $add;
            keys.iter().copied().for_each(&add);
            check("lookups", || {
                assert!($filter.contains(&1_u64) && $filter.count(&1_u64) > 0);
                assert_eq!($filter.contains_mask(few), u64::MAX);
                assert_eq!($filter.contains_batch(few, &mut [false; 64]), 64);
            });
            check("inserts", || more().for_each(&add));
        };
    }
    macro_rules! sets {
        ($filter:expr) => {
            let filter = $filter;
            all!(filter, |key: u64| _ = filter.insert(&key));
            check("unique inserts", || more().for_each(|key| _ = filter.insert_unique(&key)));
            check("masks and batches", || {
                assert_eq!(filter.insert_unique_mask(few).added, 0);
                assert_eq!(filter.remove_batch(few, &mut [false; 64]), 64);
                filter.insert_batch(few).expect("room");
            });
            check("removals", || {
                assert!(filter.remove(&70_u64));
                filter.insert(&70_u64).expect("room");
            });
            check("clear", || filter.clear());
        };
    }
    macro_rules! maps {
        ($map:expr) => {
            let map = $map;
            all!(map, |key: u64| _ = map.insert(&key, 7));
            check("lookups of values", || {
                assert!(map.get(&1_u64).is_some() && map.contains_value(&1_u64, 7));
                assert!(map.values(&1_u64).count() > 0);
                assert_eq!(map.get_mask(few, &mut [0; 64]), u64::MAX);
                assert_eq!(map.get_batch(few, &mut [None; 64]), 64);
            });
            check("unique keys", || more().for_each(|key| _ = map.insert_unique(&key, 1)));
            check("removals of keys", || {
                assert!(map.replace(&70_u64, 7, 8) && map.remove(&70_u64, 8));
                map.insert(&70_u64, 7).expect("room");
            });
            check("clear of keys", || map.clear());
        };
    }
    macro_rules! expiring {
        ($filter:expr) => {
            let seen = $filter;
            all!(seen, |key: u64| _ = seen.insert(&key));
            check("inserts of what expires", || {
                more().for_each(|key| _ = seen.insert_unique(&key));
                more().for_each(|key| _ = seen.insert_for(&key, 1));
                let _ = seen.insert_unique_mask(few);
            });
            check("refreshes", || {
                let generation = seen.generation();
                let _ = (seen.refresh(&1_u64), seen.refresh_mask(few));
                let _ = seen.remove(&2_u64, generation);
            });
            check("generations", || {
                for _ in 0..20 {
                    seen.advance();
                    seen.sweep(100);
                }
            });
            check("clear of what expires", || seen.clear());
        };
    }
    /// A filter that may not grow.
    macro_rules! capped {
        ($builder:expr) => {{
            let filter = $builder.capacity(keys.len()).seed(1).build().expect("memory");
            filter.set_max_bytes(Some(filter.size_in_bytes()));
            filter
        }};
    }
    sets!(CuckooFilter::builder().capacity(keys.len()).seed(1).build().expect("memory"));
    maps!(CuckooMap::builder().capacity(keys.len()).seed(1).build().expect("memory"));
    let builder = ExpiringFilter::builder().window(13);
    expiring!(builder.capacity(keys.len()).seed(1).build().expect("memory"));
    sets!(capped!(GrowingFilter::builder()));
    maps!(capped!(GrowingMap::builder()));
    expiring!(capped!(GrowingExpiringFilter::builder().window(13)));
}

/// A set that shrinks needs no memory.
#[test]
fn a_set_shrinks_without_memory() {
    let mut filter = allocated(1_000);
    filter.insert_batch(0..30_000).expect("memory");
    assert!((2_000..30_000).all(|key| filter.remove(&key)));
    let slots = filter.slots();
    assert!(refuse_all(|| shrink(&mut filter)) > 0 && filter.slots() < slots);
    assert!((0..2_000).all(|key| filter.contains(&key)));
    filter.insert_batch(2_000..30_000).expect("memory");
    assert!((0..30_000).all(|key| filter.contains(&key)));
}
