//! Copies of items: what they cost others, and the limit of `max_copies`.

use crate::common::{
    kind::{Kind, Of},
    rng, settings,
    suite::on_permanent_kinds,
};
use guira::{BuildError, CuckooFilter, Hashed, InsertError, Layout};
use rand::RngExt;

on_permanent_kinds! {
    a_batch_in_full_buckets_keeps_the_limit,
    a_limit_of_zero_is_an_error,
}

fn limited<K: Kind>(layout: Layout, capacity: usize, limit: usize) -> Of<K> {
    K::limited(settings::<K>(capacity, layout, 11), limit).build().expect("a small filter")
}

/// Near the capacity, most inserts of a batch search for room, those of one item too.
fn a_batch_in_full_buckets_keeps_the_limit<K: Kind>() {
    let layouts = K::layouts().into_iter().filter(|layout| layout.fingerprint_bits() >= 12);
    for (layout, limit) in layouts.take(2).zip([1, 2]) {
        let filter = limited::<K>(layout, 20_000, limit);
        let others: Vec<u64> = (0..19_500).collect();
        // With the lowest limit, aliases are refused.
        let _ = K::add_batch(&filter, &others);
        let keys: Vec<u64> = (0..400).flat_map(|key| [100_000 + key; 10]).collect();
        let rejected =
            K::add_batch(&filter, &keys).map_or_else(|error| error.failures().len(), |()| 0);
        // A few items are aliases of others.
        assert!(rejected >= 400 * (10 - limit), "{rejected} copies were rejected");
        assert!(rejected <= 400 * (10 - limit) + 150, "{rejected} copies were rejected");
        assert!(keys.iter().all(|key| filter.count(key) <= limit));
    }
}

fn a_limit_of_zero_is_an_error<K: Kind>() {
    let builder = K::limited(settings::<K>(10, K::layouts()[0], 1), 0);
    assert_eq!(builder.build().err(), Some(BuildError::ZeroMaxCopies));
}

/// The share of fresh items that are refused once copies fill a share of all buckets, with and
/// without a limit on copies.
fn refused(layout: Layout, share: f64, limit: usize) -> f64 {
    let filter = CuckooFilter::builder().capacity(400_000).layout(layout).seed(3);
    let filter = filter.copies(1).max_copies(limit).build().expect("some megabytes");
    let slots = filter.slots() as f64;
    let mut rng = rng(4);
    while (filter.len() as f64) < share * filter.slots() as f64 {
        let hot: u64 = rng.random();
        while filter.insert(&Hashed(hot)).is_ok() {}
    }
    let fresh = (slots * 0.02) as usize;
    // Aliases of items at the limit are refused as well, rightly.
    let mut insert = || filter.insert(&Hashed(rng.random()));
    let refused = (0..fresh).filter(|_| insert() == Err(InsertError::Full)).count();
    refused as f64 / fresh as f64
}

/// Copies fill both buckets of an item, and cannot move: an item whose two buckets are filled with
/// copies is refused. If copies fill a share of the buckets, the square of this share is refused.
#[test]
fn copies_refuse_the_square_of_their_share() {
    for layout in [Layout::Plain4x16, Layout::Plain6x10] {
        for share in [0.1, 0.2, 0.3, 0.5] {
            let without = refused(layout, share, usize::MAX);
            let with = refused(layout, share, layout.slots_per_bucket() as usize / 2);
            println!(
                "{layout:?}, {:.0} % of the slots hold copies: {:.2} % of fresh items refused, \
                 {:.2} % with a limit",
                100.0 * share,
                100.0 * without,
                100.0 * with,
            );
            let expected = share * share;
            assert!((0.75..1.25).contains(&(without / expected)), "{without}, not {expected}");
            assert!(with == 0.0, "{with} with a limit");
        }
    }
}
