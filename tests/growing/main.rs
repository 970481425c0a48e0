//! What only filters that grow do: the target rate holds at every size, whatever is inserted, and
//! readers and clones go on beside growth.

#[path = "../common/mod.rs"]
mod common;
mod reads;
mod shrink;
mod splitting;
mod steps;

use std::thread;

use common::{
    kind::{BuilderOf, GrowingExpiringSets, GrowingMaps, GrowingSets, Kind, Of, new},
    rng, scaled, settings,
    suite::on_kinds,
};
use guira::{GrowingExpiringFilter, GrowingFilter, GrowingMap, InsertError, kind::Growing};
use rand::RngExt;

on_kinds! {
    [sets: GrowingSets, maps: GrowingMaps, expiring: GrowingExpiringSets]
    {
        it_grows_a_hundredfold_from_four_threads_at_the_target_rate,
        the_rate_holds_at_every_length,
        copies_of_one_item_do_not_make_it_grow,
        copies_of_many_items_do_not_make_it_grow,
        churn_does_not_make_it_grow,
        unique_items_are_added_once_by_several_threads,
    }
}

/// A kind of filter that grows.
trait Grows: Kind<Growth = Growing> {
    /// Builders for the long test, with their target rates.
    fn builders() -> Vec<(BuilderOf<Self>, f64)>;
}

impl Grows for GrowingSets {
    fn builders() -> Vec<(BuilderOf<Self>, f64)> {
        [0.01, 0.001].map(|rate| (GrowingFilter::builder(), rate)).into()
    }
}

impl Grows for GrowingMaps {
    fn builders() -> Vec<(BuilderOf<Self>, f64)> {
        let of = |(bits, rate)| (GrowingMap::builder().value_bits(bits), rate);
        [(2, 0.03), (8, 0.003), (16, 0.005)].map(of).into()
    }
}

impl Grows for GrowingExpiringSets {
    fn builders() -> Vec<(BuilderOf<Self>, f64)> {
        let of = |(window, rate)| (GrowingExpiringFilter::builder().window(window), rate);
        [(1, 0.02), (13, 0.005), (253, 0.005)].map(of).into()
    }
}

/// A builder with default settings.
fn builder<K: Kind<Growth = Growing>>() -> BuilderOf<K> {
    new::<K>()
}

/// A filter for a few items at first, with a high rate.
fn small<K: Grows>(capacity: usize, rate: f64) -> Of<K> {
    let builder = builder::<K>().capacity(capacity).false_positive_rate(rate).seed(7);
    builder.build().expect("a small filter")
}

/// Inserts keys.
fn add_all<K: Kind<Growth = Growing>>(filter: &Of<K>, keys: impl IntoIterator<Item = u64>) {
    keys.into_iter().for_each(|key| K::add(filter, key).expect("room to grow"));
}

/// How large a filter is, and that it has not grown much.
struct Grown {
    slots: usize,
}

impl Grown {
    fn of<K: Grows>(filter: &Of<K>) -> Self {
        Self { slots: filter.slots() }
    }

    /// It has split few buckets.
    fn check<K: Grows>(&self, filter: &Of<K>) {
        let slots = filter.slots();
        assert!(slots <= self.slots + self.slots / 16 + 320, "{} {filter:?}", self.slots);
    }
}

/// Checks that the share of absent keys that are found is within the bound, and returns by how
/// much of it.
fn check_rate<K: Grows>(filter: &Of<K>, bound: f64, queries: f64) -> f64 {
    let absent = 1_u64 << 50..;
    let positives = absent.take(queries as usize).filter(|key| filter.contains(key)).count();
    let expected = bound * queries;
    let most = expected + 6.0 * expected.sqrt() + 6.0;
    assert!((positives as f64) < most, "{filter:?}: {positives}, not {expected}");
    positives as f64 / expected
}

fn it_grows_a_hundredfold_from_four_threads_at_the_target_rate<K: Grows>() {
    const THREADS: u64 = 4;
    let first = scaled(1_000, 10_000);
    for (builder, rate) in K::builders() {
        let builder = builder.capacity(first).false_positive_rate(rate).seed(4);
        let filter: Of<K> = builder.build().expect("a small filter");
        let each = 100 * first as u64 / THREADS;
        let key = |thread: u64, nth: u64| nth * 2 * THREADS + thread;
        thread::scope(|scope| {
            for thread in 0..THREADS {
                let filter = &filter;
                scope.spawn(move || {
                    let mut rng = rng(thread);
                    for nth in 0..each {
                        let new = key(thread, nth);
                        // Half of the items get their tags later.
                        let [tag, want] = [new, !new].map(|key| K::usual_want(filter, key));
                        let early = if nth % 2 == 0 { tag } else { want };
                        let early = K::insert(filter, &new, early).expect("room to grow");
                        let _ = nth % 2 == 1 && K::retag(filter, new, early, tag).is_some();
                        let old = key(thread, rng.random_range(0..=nth));
                        assert!(K::holds(filter, old, &[K::tag_of(filter, old)]));
                        // Other items come and go.
                        let other = key(thread + THREADS, nth & !3);
                        if nth % 4 == 0 {
                            K::add(filter, other).expect("room to grow");
                        } else if nth % 4 == 2 {
                            assert!(K::take(filter, other));
                        }
                    }
                });
            }
        });
        let keys = (0..each).flat_map(|nth| (0..THREADS).map(move |thread| key(thread, nth)));
        assert!(keys.clone().all(|key| K::holds(&filter, key, &[K::tag_of(&filter, key)])));
        // Where items expire, slots that belong to no item count.
        let (len, items) = (filter.len() as u64, THREADS * each);
        assert!(len == items || !K::IS_PERMANENT && len > items, "{len}");
        assert!(filter.slots() > 80 * first);
        let bound = filter.false_positive_rate();
        assert!(bound <= rate);
        // The table is at its target load. With long fingerprints there are hardly any positives.
        let queries = scaled(200.0, 2_000.0) / rate;
        let share = check_rate::<K>(&filter, bound, queries);
        assert!(share > 0.3 || bound * queries < 30.0, "{share} of the bound");
        assert!(keys.into_iter().all(|key| K::take(&filter, key)));
        assert!(filter.is_empty() || !K::IS_PERMANENT);
    }
}

/// At every size, all items are found, and the measured rate is at most the promised one, which is
/// at most the target. In sets, it is close to the promised one.
fn the_rate_holds_at_every_length<K: Grows>() {
    let of_target = |(rate, fastest)| {
        let builder = builder::<K>().capacity(300).false_positive_rate(rate).seed(5);
        (if fastest { builder.fastest() } else { builder }, rate)
    };
    let builders = [(0.03, false), (0.03, true), (0.3, false)].map(of_target).into_iter();
    let of_layout = |layout| (settings::<K>(1, layout, 3), 1.0);
    for (builder, target) in builders.chain(K::layouts().into_iter().map(of_layout)) {
        for comes_and_goes in if K::IS_PERMANENT { vec![false] } else { vec![false, true] } {
            let filter = builder.clone().build().expect("a small filter");
            check_doublings::<K>(&filter, target, comes_and_goes);
        }
    }
}

/// Checks a filter at every doubling. Its items may expire, if there are more of them than it has
/// room for.
fn check_doublings<K: Grows>(filter: &Of<K>, target: f64, comes_and_goes: bool) {
    let (first, slots_per_bucket) = (filter.slots(), filter.layout().slots_per_bucket() as usize);
    let value_bits = filter.layout().value_bits();
    let mut keys = 0..;
    for doubling in 1..=scaled(4, if value_bits == 0 { 11 } else { 6 }) {
        while filter.slots() < first << doubling {
            let each = (filter.capacity() * 5 / 2) >> value_bits;
            for key in keys.by_ref().take(if comes_and_goes { each + 1 } else { 1 }) {
                add_all::<K>(filter, [key]);
                if filter.slots() >= first << doubling {
                    break;
                }
            }
            if comes_and_goes {
                K::advance(filter);
            }
        }
        // Several buckets are split at a time.
        let excess = filter.slots() - (first << doubling);
        assert!(excess <= 64 * slots_per_bucket, "{excess} slots more");
        let (bound, capacity) = (filter.false_positive_rate(), filter.capacity() as u64);
        assert!(bound <= target);
        let queries = (scaled(400.0, 10_000.0) / bound).min(scaled(1e6, 4e6));
        let share = check_rate::<K>(filter, bound, queries);
        if !comes_and_goes {
            assert!((0..keys.start).all(|key| filter.contains(&key)), "{filter:?} misses an item");
        }
        if value_bits == 0 {
            // Ghosts take room, too, and it may be that buckets are split for want of room.
            assert!((capacity * 6 / 10..=capacity + 200).contains(&keys.start), "{filter:?}");
            let chance = 5.0 / (bound * queries).sqrt();
            assert!(share > 0.88 - chance, "{filter:?}: {share} of the promised rate");
        }
    }
    // No slot that belongs to no item is left, or counted.
    filter.clear();
    assert_eq!(filter.len(), 0);
    #[cfg(feature = "std")]
    assert_eq!(common::forge::number(&filter.to_bytes(), common::forge::GHOSTS), 0);
}

fn copies_of_one_item_do_not_make_it_grow<K: Grows>() {
    // With 2,000 seeds there are items whose buckets are one until a small filter has grown much.
    for (capacity, seeds) in [(1, 2_000), (2, 100), (10, 100), (100, 10), (10_000, 1)] {
        for seed in 0..seeds {
            check_copies_of_one_item::<K>(capacity, seed);
        }
    }
}

fn check_copies_of_one_item<K: Grows>(capacity: usize, seed: u64) {
    let filter = builder::<K>().capacity(capacity).seed(seed).build().expect("a small filter");
    add_all::<K>(&filter, 0..capacity as u64);
    let (grown, again) = (Grown::of::<K>(&filter), 1 << 40);
    let mut copies = 0;
    while K::add(&filter, again).is_ok() {
        copies += 1;
        assert!(copies < 20);
    }
    // At least half of the slots (half as many if both buckets are the same one), and as many more
    // as there was room for.
    assert!((2..=10).contains(&copies), "{copies}");
    assert_eq!(K::add(&filter, again), Err(InsertError::TooManyCopies), "{seed} {filter:?}");
    grown.check::<K>(&filter);
    assert!((0..copies).all(|_| K::take(&filter, again)));
    assert_eq!(filter.len(), capacity);
    assert!((0..capacity as u64).all(|key| filter.contains(&key)));
}

/// Items with many copies beside others: without the limit on copies, splits would be made that
/// separate nothing.
fn copies_of_many_items_do_not_make_it_grow<K: Grows>() {
    let lengths = [0, 200].map(|hot: u64| {
        let (filter, mut rng, mut refused) = (small::<K>(1_000, 0.01), rng(9), 0);
        for key in 0..scaled(10_000, 200_000_u64) {
            // A few are aliases of items at the limit.
            refused += usize::from(K::add(&filter, hot + key).is_err());
            if hot > 0 && key % 2 == 0 {
                // Refused at the limit.
                let _ = K::add(&filter, rng.random_range(0..hot));
            }
        }
        assert!(refused <= filter.len() / 200, "{refused} of {}", filter.len());
        filter.slots()
    });
    // There is room for the copies, of which there are up to ten for each item. With two slots in a
    // bucket, where copies may take three of four, a small table doubles.
    let most = (2 * lengths[0] + lengths[0] / 8).min(lengths[0] + scaled(15_000, 4_000));
    assert!(lengths[1] <= most, "{lengths:?}");
}

/// While items come and go at the same number, the filter keeps its size.
fn churn_does_not_make_it_grow<K: Grows>() {
    let filter = builder::<K>().capacity(1_000).seed(5).build().expect("a small filter");
    let at_once = 10_000;
    add_all::<K>(&filter, 0..at_once);
    let grown = Grown::of::<K>(&filter);
    for key in 0..scaled(50_000, 500_000) {
        assert!(K::take(&filter, key));
        add_all::<K>(&filter, [key + at_once]);
    }
    grown.check::<K>(&filter);
    assert_eq!(filter.len() as u64, at_once);
}

/// Of overlapping calls with one item exactly one adds it, while the filter grows.
fn unique_items_are_added_once_by_several_threads<K: Grows>() {
    let filter = small::<K>(10, 0.003);
    let keys = scaled(20_000, 200_000_u64);
    let added: usize = thread::scope(|scope| {
        let add = || (0..keys).filter(|key| K::add_unique(&filter, *key) == Ok(true)).count();
        let threads = [(); 4].map(|()| scope.spawn(add));
        threads.into_iter().map(|thread| thread.join().expect("no panic")).sum()
    });
    assert_eq!(added, filter.len());
    // All but some of those with an alias.
    assert!(added as f64 > keys as f64 * 0.99 && added as u64 <= keys);
    assert!((0..keys).all(|key| filter.contains(&key)));
}
