//! Copies of items: what they cost others, and the limit of `max_copies`.

use std::{
    sync::{
        Barrier,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    thread,
};

use crate::common::{
    Watchdog,
    kind::{Kind, Of},
    rng, scaled, settings,
    suite::on_permanent_kinds,
};
use guira::{BuildError, CuckooFilter, Hashed, InsertError, Layout};
use rand::RngExt;

on_permanent_kinds! {
    a_batch_in_full_buckets_keeps_the_limit,
    overlapping_inserts_exceed_the_limit_by_one_per_thread,
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

/// The copies of an item never exceed the limit by as many as there are threads, whatever else is
/// relocated meanwhile. No insert is refused below the limit.
fn overlapping_inserts_exceed_the_limit_by_one_per_thread<K: Kind>() {
    const THREADS: usize = 4;
    let _watchdog = Watchdog::new("overlapping_inserts");
    let mut layouts = K::layouts().into_iter();
    let layout =
        layouts.find(|layout| layout.slots_per_bucket() > 4 && layout.fingerprint_bits() >= 8);
    let layout = layout.expect("a layout");
    let mut beyond = 0;
    for round in 0..scaled(20, 200) {
        let limit = 1 + round % 3;
        // Nearly full, so that other inserts relocate.
        let filter = limited::<K>(layout, 400, limit);
        let (start, accepted) = (Barrier::new(THREADS + 1), AtomicUsize::new(0));
        thread::scope(|scope| {
            let others = scope.spawn(|| {
                let mut rng = rng(round as u64);
                start.wait();
                (0..360).for_each(|_| _ = K::insert(&filter, &Hashed(rng.random()), 0));
            });
            for _ in 0..THREADS {
                scope.spawn(|| {
                    start.wait();
                    let inserted =
                        (0..20).filter(|_| K::insert(&filter, &Hashed(5), 0).is_ok()).count();
                    accepted.fetch_add(inserted, Relaxed);
                });
            }
            others.join().expect("no panic");
        });
        let (copies, accepted) = (filter.count(&Hashed(5)), accepted.into_inner());
        // Aliases among the others count too.
        assert!((limit..limit + THREADS + 1).contains(&copies), "{copies} copies, limit {limit}");
        assert!(copies >= accepted);
        assert_eq!(K::insert(&filter, &Hashed(5), 0), Err(InsertError::TooManyCopies));
        beyond += usize::from(copies > limit);
    }
    println!("{beyond} of the rounds exceeded the limit");
}

fn a_limit_of_zero_is_an_error<K: Kind>() {
    let builder = K::limited(settings::<K>(10, K::layouts()[0], 1), 0);
    assert_eq!(builder.build().err(), Some(BuildError::ZeroMaxCopies));
}

/// The share of fresh items that are refused once copies fill a share of all buckets, with and
/// without a limit on copies.
fn refused(layout: Layout, share: f64, limit: usize) -> f64 {
    let filter = CuckooFilter::builder().capacity(400_000).layout(layout).seed(3);
    let filter = filter.max_copies(limit).build().expect("some megabytes");
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
