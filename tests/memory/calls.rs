//! Inserts, batches and merges if the system refuses memory, and all calls that allocate nothing.

use std::{collections::HashMap, thread};

use guira::{
    CuckooFilter, CuckooMap, ExpiringFilter, Filter, GrowingExpiringFilter, GrowingFilter,
    GrowingMap, Hashed, InsertBatchError, InsertError, MergeError,
    kind::{Contents, Growing},
};

use super::{allocations, refuse_all, refuse_each, with_limit};

/// A set whose memory comes from the allocator.
fn allocated(capacity: usize) -> GrowingFilter {
    let builder = GrowingFilter::builder().capacity(capacity).seed(1);
    builder.reserve_address_space(false).build().expect("memory")
}

/// Checks that inserts grow a filter only if each allocation succeeds, and change nothing
/// otherwise.
fn grow<C: Contents>(filter: &Filter<C, Growing>, insert: impl Fn(u64) -> Result<(), InsertError>) {
    let mut keys = 0..;
    for _ in 0..3 {
        let refused = keys.by_ref().find(|&key| refuse_all(|| insert(key)).is_err());
        let (key, len, bytes) =
            (refused.expect("it is full"), filter.len(), filter.size_in_bytes());
        assert_eq!(refuse_all(|| insert(key)), Err(InsertError::OutOfMemory));
        assert_eq!(filter.len(), len);
        assert_eq!(filter.size_in_bytes(), bytes, "what was allocated was freed");
        // An insert tries to split several buckets. So one that splits may do without the first
        // allocation.
        insert(key).expect("memory");
        assert_eq!(filter.len(), len + 1);
        assert!(filter.size_in_bytes() > bytes);
    }
}

/// A growing filter without memory for another step keeps its items and says so, and grows when
/// there is memory. At its cap it is full.
#[test]
fn growth_without_memory_is_not_full() {
    let filter = allocated(1_000);
    grow(&filter, |key| filter.insert(&key));
    let filter = allocated(1_000);
    grow(&filter, |key| filter.insert_unique(&key).map(drop));
    let map = || {
        let builder = GrowingMap::builder().capacity(1_000).reserve_address_space(false);
        builder.build().expect("memory")
    };
    let one = map();
    grow(&one, |key| one.insert(&key, 1));
    let map = map();
    grow(&map, |key| map.insert_unique(&key, 1).map(drop));
    let seen = || {
        let builder = GrowingExpiringFilter::builder().capacity(1_000);
        builder.reserve_address_space(false).build().expect("memory")
    };
    let one = seen();
    grow(&one, |key| one.insert(&key).map(drop));
    let seen = seen();
    grow(&seen, |key| seen.insert_unique(&key).map(drop));

    let cap = filter.size_in_bytes();
    filter.set_max_bytes(Some(cap));
    let refused = (1_000_000_u64..).find_map(|key| filter.insert(&key).err());
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

/// What a batch says, and what the filter holds, agree: items that were tried are in the filter
/// unless they are listed, and the others are not.
fn check_batch(
    items: usize,
    outcome: Result<(), InsertBatchError>,
    is_there: impl Fn(usize) -> bool,
) -> InsertBatchError {
    let error = outcome.expect_err("there is no room for all");
    let listed: HashMap<usize, InsertError> = error.failures().collect();
    assert_eq!(listed.len(), error.failures().len(), "each is listed once");
    assert!(error.failures().is_sorted_by_key(|(position, _)| position));
    assert!(error.tried() <= items && error.is_complete() == (error.tried() == items));
    assert_eq!(error.added() + listed.len(), error.tried());
    for position in 0..items {
        let added = position < error.tried() && !listed.contains_key(&position);
        assert_eq!(is_there(position), added, "position {position} of {error:?}");
    }
    error
}

/// A batch without memory to list its failures tries no further items, and lists those that it had
/// begun. With memory for some of the list, it goes on longer.
#[test]
fn a_batch_ends_when_its_failures_take_no_memory() {
    const ITEMS: usize = 40_000;
    let hashes: Vec<u64> = (0..ITEMS as u64).collect();
    let values = vec![1; ITEMS];
    // One slot holds one item: with fingerprints of 22 bits and one table, few are aliases. So the
    // number of copies tells whether an item is there.
    let build = || CuckooFilter::builder().capacity(10_000).false_positive_rate(1e-5).seed(3);
    for limit in [0, 300, 2_000, 1 << 30] {
        let filter = build().build().expect("memory");
        let outcome = with_limit(limit, || filter.insert_batch(Hashed::slice(&hashes)));
        let count = filter.len();
        let error = check_batch(ITEMS, outcome, |at| filter.count(&Hashed(hashes[at])) > 0);
        assert_eq!(error.added(), count);
        assert_eq!(error.is_complete(), limit == 1 << 30);
        let listed = error.failures().len();
        assert!(listed > 0 && (limit > 0 || listed <= 17), "{listed}");
        assert!(error.failures().all(|(_, reason)| reason == InsertError::Full));
        assert!(error.to_string().contains("tried") != error.is_complete(), "{error}");
        assert_eq!(error, error.clone());

        let filter = build().build().expect("memory");
        let outcome = with_limit(limit, || filter.insert_batch((0..ITEMS as u64).map(Hashed)));
        check_batch(ITEMS, outcome, |at| filter.count(&Hashed(hashes[at])) > 0);

        let filter = build().build().expect("memory");
        let mut added = vec![true; ITEMS];
        let outcome =
            with_limit(limit, || filter.insert_unique_batch(Hashed::slice(&hashes), &mut added));
        let error = outcome.expect_err("there is no room for all");
        assert_eq!(error.added(), added.iter().filter(|&&added| added).count());
        assert!(added[error.tried()..].iter().all(|added| !added));
        assert_eq!(error.is_complete(), limit == 1 << 30);
        let listed: HashMap<usize, InsertError> = error.failures().collect();
        for (at, &hash) in hashes.iter().enumerate() {
            let listed = listed.contains_key(&at);
            let is_in = filter.contains(&Hashed(hash));
            assert!(if at < error.tried() { is_in != listed } else { !added[at] }, "{at}");
        }

        let map = CuckooMap::builder().capacity(10_000).value_bits(1).false_positive_rate(1e-4);
        let map = map.seed(1).build().expect("memory");
        let outcome = with_limit(limit, || map.insert_batch(Hashed::slice(&hashes), &values));
        let error = outcome.expect_err("there is no room for all");
        assert_eq!(error.added() + error.failures().len(), error.tried());
        assert_eq!((map.len(), error.is_complete()), (error.added(), limit == 1 << 30));

        let seen = ExpiringFilter::builder().capacity(10_000).build().expect("memory");
        let outcome = with_limit(limit, || seen.insert_batch(Hashed::slice(&hashes)));
        let error = outcome.expect_err("there is no room for all");
        assert_eq!(error.added() + error.failures().len(), error.tried());
        assert_eq!((seen.len(), error.is_complete()), (error.added(), limit == 1 << 30));

        // A batch that grows lists its last item, and ends.
        let growing = allocated(1_000);
        let outcome = with_limit(limit, || growing.insert_batch(Hashed::slice(&hashes)));
        if limit == 0 {
            let error = outcome.expect_err("it cannot grow");
            assert!(error.failures().eq([(error.tried() - 1, InsertError::OutOfMemory)]));
            assert_eq!((error.added(), error.is_complete()), (growing.len(), false));
        }
    }
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
    macro_rules! sets {
        ($filter:expr) => {
            let filter = $filter;
            filter.insert_batch(&keys).expect("room");
            check("lookups", || {
                assert!(filter.contains(&1_u64) && filter.count(&1_u64) > 0);
                assert_eq!(filter.contains_mask(few), u64::MAX);
                assert_eq!(filter.contains_batch(few, &mut [false; 64]), 64);
            });
            check("inserts", || more().for_each(|key| _ = filter.insert(&key)));
            check("unique inserts", || more().for_each(|key| _ = filter.insert_unique(&key)));
            check("masks", || {
                assert_eq!(filter.insert_unique_mask(few).added, 0);
                assert_eq!(filter.remove_batch(few, &mut [false; 64]), 64);
                filter.insert_batch(few).expect("room");
            });
            check("removals", || {
                assert!(filter.remove(&70_u64));
                assert_eq!(filter.remove_batch(few, &mut [false; 64]), 64);
                filter.insert_batch(few).expect("room");
                filter.insert(&70_u64).expect("room");
            });
            check("clear", || filter.clear());
        };
    }
    macro_rules! maps {
        ($map:expr) => {
            let map = $map;
            map.insert_batch(&keys, &[7; ITEMS as usize]).expect("room");
            check("lookups of keys", || {
                assert!(map.contains(&1_u64) && map.get(&1_u64).is_some() && map.count(&1_u64) > 0);
                assert!(map.values(&1_u64).count() > 0 && map.contains_value(&1_u64, 7));
                assert_eq!(map.get_mask(few, &mut [0; 64]), u64::MAX);
                assert_eq!(map.get_batch(few, &mut [None; 64]), 64);
            });
            check("inserts of keys", || more().for_each(|key| _ = map.insert(&key, 1)));
            check("unique keys", || more().for_each(|key| _ = map.insert_unique(&key, 1)));
            check("removals of keys", || {
                assert!(map.replace(&70_u64, 7, 8) && map.remove(&70_u64, 8));
                map.insert(&70_u64, 7).expect("room");
            });
            check("clear of keys", || map.clear());
        };
    }
    sets!(CuckooFilter::with_capacity(keys.len()));
    maps!(CuckooMap::with_capacity(keys.len()));
    let growing = GrowingFilter::with_capacity(keys.len());
    growing.set_max_bytes(Some(growing.size_in_bytes()));
    sets!(growing);
    let growing = GrowingMap::with_capacity(keys.len());
    growing.set_max_bytes(Some(growing.size_in_bytes()));
    maps!(growing);

    macro_rules! expiring {
        ($filter:expr) => {
            let seen = $filter;
            let generation = seen.insert_batch(&keys).expect("room");
            check("lookups of what expires", || {
                assert!(seen.contains(&1_u64) && seen.count(&1_u64) > 0);
                assert_eq!(seen.contains_mask(few), u64::MAX);
            });
            check("inserts of what expires", || {
                more().for_each(|key| _ = seen.insert(&key));
                more().for_each(|key| _ = seen.insert_unique(&key));
                more().for_each(|key| _ = seen.insert_for(&key, 1));
                more().for_each(|key| _ = seen.insert_evicting(&key));
                let _ = seen.insert_unique_mask(few);
            });
            check("refreshes", || {
                let _ =
                    (seen.refresh(&1_u64), seen.refresh_mask(few), seen.remove(&2_u64, generation));
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
    expiring!(ExpiringFilter::with_capacity(keys.len()));
    let growing = GrowingExpiringFilter::with_capacity(keys.len());
    growing.set_max_bytes(Some(growing.size_in_bytes()));
    expiring!(growing);
}

/// A set that shrinks needs no memory.
#[test]
fn a_set_shrinks_without_memory() {
    let mut filter = allocated(1_000);
    filter.insert_batch(0..30_000).expect("memory");
    assert!((2_000..30_000).all(|key| filter.remove(&key)));
    let slots = filter.slots();
    assert!(refuse_all(|| filter.shrink_to_fit()) > 0 && filter.slots() < slots);
    assert!((0..2_000).all(|key| filter.contains(&key)));
    filter.insert_batch(2_000..30_000).expect("memory");
    assert!((0..30_000).all(|key| filter.contains(&key)));
}
