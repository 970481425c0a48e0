//! The limits on copies of one item.

use std::hash::BuildHasher;

use guira::{Hashed, InsertError, Layout};

use super::SIZES;
use crate::common::{
    Subject, capacity_of_kind,
    kind::{Kind, Maker},
    settings,
};

/// No limit, and limits of `max_copies`, where that can be set.
fn limits<K: Kind>(layout: Layout) -> Vec<Option<usize>> {
    if !K::IS_PERMANENT {
        return vec![None];
    }
    // In a growing filter, copies take at most half of the slots in any case.
    let least = K::Growth::copy_limits(layout)[0];
    let further = [2 * layout.slots_per_bucket() as usize, 1_000];
    [None].into_iter().chain((1..=least).chain(further).map(Some)).collect()
}

/// One item is inserted until its copies reach the limit, in every way, as a key and as a hash.
/// `insert_unique` finds it throughout.
pub fn copies_are_limited<K: Kind, S: BuildHasher + Clone>(make: Maker<K, S>) {
    for (layout, buckets) in
        K::layouts().into_iter().flat_map(|layout| SIZES.map(|buckets| (layout, buckets)))
    {
        let capacity = capacity_of_kind::<K>(layout, buckets);
        for limit in limits::<K>(layout) {
            let builder = make(settings::<K>(capacity, layout, 13));
            let builder = limit.into_iter().fold(builder, K::limited);
            let filter = builder.build().expect("a small filter");
            let (key, slots) = (0x0123_4567_89ab_cdef_u64, filter.slots());
            let hash = filter.hash_key(&key);
            let mut copies = 0;
            while K::add(&filter, key).is_ok() {
                copies += 1;
            }
            let most = limit.unwrap_or(usize::MAX);
            let expected = K::Growth::copy_limits_alone(layout).map(|copies| copies.min(most));
            assert!(expected.contains(&copies), "{copies} copies of {layout:?}, limit {limit:?}");
            assert_eq!(filter.slots(), slots, "copies made the filter grow");
            let want = K::usual_want(&filter, key);
            for filter in [&filter, &filter.clone()] {
                assert_eq!(K::add(filter, key), Err(InsertError::TooManyCopies));
                assert_eq!(K::insert(filter, &hash, want), Err(InsertError::TooManyCopies));
                assert_eq!(K::add_unique(filter, key), Ok(false));
                assert_eq!((filter.count(&key), filter.len()), (copies, copies));
            }

            let error = K::add_batch(&filter, &[key; 50]).expect_err("too many copies");
            assert!(error.failures().eq((0..50).map(|at| (at, InsertError::TooManyCopies))));
            (0..copies).for_each(|_| assert!(K::take(&filter, key)));
            assert!(!K::take(&filter, key) && filter.is_empty());

            for by_hash in [false, true] {
                let outcome = if by_hash {
                    K::insert_batch(&filter, &[hash; 50], &[want; 50]).map(drop)
                } else {
                    K::add_batch(&filter, &[key; 50])
                };
                let error = outcome.expect_err("too many copies");
                assert_eq!((error.added(), error.failures().len()), (copies, 50 - copies));
                assert_eq!(filter.count(&key), copies);
                assert_eq!(K::take_batch(&filter, &[key; 50]), copies);
            }
        }
    }
}
