//! The limit on copies of one item.

use std::hash::BuildHasher;

use guira::InsertError;

use super::SIZES;
use crate::common::{
    Subject, build,
    kind::{Kind, Maker},
};

/// One item is inserted until its copies reach the limit of the engine. `insert_unique` finds it
/// throughout.
pub fn copies_are_limited<K: Kind, S: BuildHasher>(make: Maker<K, S>) {
    for layout in K::layouts() {
        for buckets in SIZES {
            let filter = build::<K, S>(make, buckets, layout, 13);
            let (key, slots) = (0x0123_4567_89ab_cdef_u64, filter.slots());
            let mut copies = 0;
            while K::add(&filter, key).is_ok() {
                copies += 1;
            }
            assert!(
                K::Growth::copy_limits_alone(layout).contains(&copies),
                "{copies} copies of {layout:?}"
            );
            assert_eq!(filter.slots(), slots, "copies made the filter grow");
            assert_eq!(K::add(&filter, key), Err(InsertError::TooManyCopies));
            assert_eq!(K::add_unique(&filter, key), Ok(false));
            assert_eq!((filter.count(&key), filter.len()), (copies, copies));

            let error = K::add_batch(&filter, &[key; 50]).expect_err("too many copies");
            assert!(error.failures().eq((0..50).map(|at| (at, InsertError::TooManyCopies))));
            (0..copies).for_each(|_| assert!(K::take(&filter, key)));
            assert!(!K::take(&filter, key) && filter.is_empty());

            let error = K::add_batch(&filter, &[key; 50]).expect_err("too many copies");
            assert_eq!((error.added(), error.failures().len()), (copies, 50 - copies));
            assert_eq!(filter.count(&key), copies);
            assert_eq!(K::take_batch(&filter, &[key; 50]), copies);
        }
    }
}
