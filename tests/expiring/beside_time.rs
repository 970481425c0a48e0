//! What a generation that begins meanwhile, or growth, must not change: how long a generation is
//! measured, and where a sweep ends.

use std::{cell::Cell, time::Duration};

use guira::{Filter, kind::Expiring};
#[cfg(feature = "std")]
use guira::{GrowingExpiringFilter, kind::Growing};

use super::{
    builder,
    common::{Subject, suite::on_both_engines},
};

on_both_engines! {
    a_pause_may_end_while_a_generation_begins,
}

/// A generation that `advance` begins after `advance_to` has read the clock is not measured from
/// that reading.
fn a_pause_may_end_while_a_generation_begins<G: Subject>() {
    let builder = builder::<G>(1_000, 5).time_to_live(Duration::from_secs(50));
    let filter: Filter<Expiring, G> = builder.build().expect("a small filter");
    let tick = |seconds| filter.tick_by(|| Duration::from_secs(seconds));
    assert_eq!(tick(0), None, "time counts from here");
    let first = filter.generation();
    let reads = Cell::new(0);
    filter.advance_to(|| {
        reads.set(reads.get() + 1);
        let reading = Duration::from_secs(5);
        filter.advance();
        reading
    });
    assert_eq!((reads.get(), filter.generation()), (1, first + 1));
    // Time counts from 14 at the earliest.
    assert_eq!([14, 15, 23].map(tick), [None; 3], "the generation was too short");
    assert_eq!(tick(24), Some(first + 2));
}

/// A sweep of a generation covers the buckets that were there when it began, however far the filter
/// grows, also in a copy.
#[test]
#[cfg(feature = "std")]
fn a_sweep_ends_where_its_generation_began() {
    let filter: GrowingExpiringFilter = builder::<Growing>(1_000, 5).build().expect("memory");
    let per_bucket = filter.layout().slots_per_bucket() as usize;
    let buckets = |filter: &GrowingExpiringFilter| (filter.slots() / per_bucket) as u64;
    let grow = |keys: std::ops::Range<u64>| {
        let before = filter.slots();
        keys.for_each(|key| _ = filter.insert(&key).expect("room to grow"));
        assert!(filter.slots() > before + before / 2);
    };
    let all = buckets(&filter);
    assert_eq!(filter.sweep(0), all);
    // Growth sweeps a part.
    grow(0..3_000);
    let left = filter.sweep(0);
    assert!(left <= all, "{left} buckets are left of {all}");
    assert_eq!(filter.sweep(left), 0);
    grow(3_000..9_000);
    assert_eq!(filter.sweep(0), 0, "a sweep was complete, and goes on");
    let copy = GrowingExpiringFilter::loader().bytes(&filter.to_bytes()).expect("its own bytes");
    assert_eq!((copy.sweep(0), filter.clone().sweep(0)), (0, 0));
    assert!((0..9_000_u64).all(|key| copy.contains(&key)));
    filter.advance();
    assert_eq!(filter.sweep(0), buckets(&filter));
}

/// A sweep that was complete in a larger filter is so after the filter has shrunk, and is saved.
#[test]
#[cfg(feature = "std")]
fn a_swept_filter_is_saved_after_it_has_shrunk() {
    let mut filter: GrowingExpiringFilter = builder::<Growing>(1_000, 5).build().expect("memory");
    (0..20_000_u64).for_each(|key| _ = filter.insert(&key).expect("room to grow"));
    (0..=filter.window()).for_each(|_| _ = filter.advance());
    filter.insert(&7).expect("room");
    while filter.sweep(1_000) > 0 {}
    assert!(crate::common::shrink(&mut filter) > 0);
    let copy = GrowingExpiringFilter::loader().bytes(&filter.to_bytes()).expect("its own bytes");
    assert!(copy.contains(&7) && copy.sweep(0) == 0);
}
