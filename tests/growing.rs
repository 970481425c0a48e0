//! The filter that grows: that segments nest, that removal takes no stranger's last copy, and what the chain promises.

mod common;

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    thread,
};

use common::{rng, runner, scaled};
use guira::{
    BuildError, CuckooFilter, GrowingFilter, InsertError, Layout,
    raw::{Chain, Fingerprint, Nested, Pair, Placement},
};
use proptest::prelude::*;
use rand::{Rng, RngExt, rngs::SmallRng};

/// Two equal items, as far as a segment can tell.
fn aliases(a: Pair, b: Pair) -> bool {
    a == b || (a.fingerprint == b.fingerprint && a.buckets == [b.buckets[1], b.buckets[0]])
}

/// First buckets, the level, the first fingerprints and the bits more of a segment and of a finer one.
fn two_segments() -> impl Strategy<Value = (Nested, Nested)> {
    let first_buckets = prop_oneof![1..=9_u64, 1..=5_000_u64, 1..=1_u64 << 32];
    let fingerprints =
        prop_oneof![Just((1, 7)), Just((1, 255)), Just((4, 1_020)), Just((16, 4_080))];
    (first_buckets, fingerprints, 0..=10_u32, 0..=10_u32, 0..=32_u32, 0..=32_u32).prop_map(
        |(first_buckets, fingerprints, bits, more_bits, level, more_levels)| {
            let most = ((1_u64 << 32) / first_buckets).ilog2();
            let level = level % (most + 1);
            let finer = level + more_levels % (most - level + 1);
            (
                Nested::new(first_buckets, level, fingerprints, bits),
                Nested::new(first_buckets, finer, fingerprints, bits + more_bits),
            )
        },
    )
}

#[test]
fn what_a_finer_segment_knows_determines_what_a_coarser_one_does() {
    let hash = any::<u64>();
    runner(scaled(20_000, 500_000), 1)
        .run(&(two_segments(), hash), |((coarse, fine), hash)| {
            let (in_coarse, in_fine) = (coarse.pair(hash), fine.pair(hash));
            for (nested, pair) in [(coarse, in_coarse), (fine, in_fine)] {
                prop_assert!(
                    pair.buckets.iter().all(|&bucket| u64::from(bucket) < nested.buckets())
                );
                prop_assert_eq!(
                    nested.alt_bucket(pair.fingerprint, pair.buckets[0]),
                    pair.buckets[1]
                );
                prop_assert_eq!(
                    nested.alt_bucket(pair.fingerprint, pair.buckets[1]),
                    pair.buckets[0]
                );
            }
            let shorter = fine.fingerprints().ilog2() - coarse.fingerprints().ilog2();
            prop_assert_eq!(in_fine.fingerprint.get() >> shorter, in_coarse.fingerprint.get());
            prop_assert_eq!(
                fine.of_stripe(in_fine.fingerprint),
                coarse.of_stripe(in_coarse.fingerprint)
            );
            let halvings = (fine.buckets() / coarse.buckets()).ilog2();
            let halved = in_fine.buckets.map(|bucket| (u64::from(bucket) >> halvings) as u32);
            prop_assert_eq!(halved, in_coarse.buckets);
            Ok(())
        })
        .unwrap();
}

/// A hash that is an alias of `hash` in this segment, from either of its buckets.
fn alias_of(hash: u64, nested: &Nested, rng: &mut SmallRng) -> u64 {
    let pair = nested.pair(hash);
    loop {
        // The fingerprint comes from the low half, the bucket from the high one: try both by themselves.
        let same_fingerprint = ((1_u64 << 32) / u64::from(nested.fingerprints())) as u32;
        let step = rng.random_range(0..=same_fingerprint);
        let (up, low) = (rng.random::<bool>(), hash as u32);
        let low = if up { low.wrapping_add(step) } else { low.wrapping_sub(step) };
        let candidate = hash & !u64::from(u32::MAX) | u64::from(low);
        if nested.pair(candidate).fingerprint != pair.fingerprint {
            continue;
        }
        let target = u64::from(pair.buckets[usize::from(rng.random::<bool>())]);
        let high = (target << 32).div_ceil(nested.buckets()) + rng.random_range(0..=1);
        let candidate = high << 32 | u64::from(low);
        if aliases(nested.pair(candidate), pair) {
            return candidate;
        }
    }
}

#[test]
fn aliases_of_a_finer_segment_are_aliases_of_a_coarser_one() {
    let segments = (two_segments(), any::<(u64, u64)>());
    runner(scaled(500, 20_000), 2)
        .run(&segments, |((coarse, fine), (hash, seed))| {
            let other = alias_of(hash, &fine, &mut rng(seed));
            prop_assert!(aliases(fine.pair(hash), fine.pair(other)));
            prop_assert!(aliases(coarse.pair(hash), coarse.pair(other)));
            Ok(())
        })
        .unwrap();
}

/// The order in which a removal goes through the segments.
#[derive(Clone, Copy, PartialEq)]
enum Order {
    FinestFirst,
    CoarsestFirst,
}

/// What a segment keeps of an item, without the order of its buckets.
type Key = (Fingerprint, u32, u32);

/// Chains of segments as plain multisets of what each keeps, of which a removal takes the first match.
struct Segments {
    nested: Vec<Nested>,
    copies: Vec<HashMap<(u32, u32, u32), usize>>,
}

impl Segments {
    fn key(&self, segment: usize, hash: u64) -> (u32, u32, u32) {
        let Pair { fingerprint, buckets: [a, b] } = self.nested[segment].pair(hash);
        (fingerprint.get(), a.min(b), a.max(b))
    }

    fn contains(&self, hash: u64) -> bool {
        (0..self.copies.len()).any(|s| self.copies[s].contains_key(&self.key(s, hash)))
    }

    fn insert(&mut self, segment: usize, hash: u64) {
        let key = self.key(segment, hash);
        *self.copies[segment].entry(key).or_default() += 1;
    }

    fn remove(&mut self, hash: u64, order: Order) {
        let mut segments: Vec<usize> = (0..self.copies.len()).collect();
        if order == Order::FinestFirst {
            segments.reverse();
        }
        for segment in segments {
            let key = self.key(segment, hash);
            if let Some(copies) = self.copies[segment].get_mut(&key) {
                *copies -= 1;
                if *copies == 0 {
                    self.copies[segment].remove(&key);
                }
                return;
            }
        }
        panic!("a removal that was paid for finds a copy");
    }
}

/// How many items are missed over so many removals, by three segments that an adversary of no skill fills as he likes.
fn missed(removals: usize, order: Order) -> usize {
    let mut rng = rng(3);
    let nested = vec![
        Nested::new(5, 0, (1, 7), 0),
        Nested::new(5, 1, (1, 7), 1),
        Nested::new(5, 2, (1, 7), 3),
    ];
    let copies = vec![HashMap::new(); nested.len()];
    let (mut segments, mut items) = (Segments { nested, copies }, Vec::<u64>::new());
    let mut missed = 0;
    for _ in 0..removals {
        while items.len() < 40 || rng.random_bool(0.5) {
            items.push(rng.random());
            segments.insert(rng.random_range(0..3), *items.last().expect("just pushed"));
        }
        let item = items.swap_remove(rng.random_range(0..items.len()));
        if !segments.contains(item) {
            // It was missed before; removing it would break the contract of whoever believes the filter.
            continue;
        }
        segments.remove(item, order);
        let before = items.len();
        items.retain(|&item| segments.contains(item));
        missed += before - items.len();
    }
    missed
}

#[test]
fn removal_from_the_finest_segment_on_misses_nothing() {
    assert_eq!(missed(scaled(20_000, 500_000), Order::FinestFirst), 0);
}

/// The order that one would write first, kept to see it fail.
#[test]
fn removal_from_the_first_segment_on_misses_items() {
    let missed = missed(scaled(20_000, 100_000), Order::CoarsestFirst);
    assert!(missed > 100, "{missed}: the tests above could not have failed");
}

/// A chain of small segments with so few fingerprints that everything is an alias of something.
fn chain_of_aliases(first_buckets: u64) -> Chain {
    let layouts = [
        (Layout::Plain8x8, 0),
        (Layout::Plain8x8, 0),
        (Layout::Plain6x10, 2),
        (Layout::SemiSorted6x12, 4),
        (Layout::Plain4x16, 8),
        (Layout::SemiSorted3x22, 14),
    ];
    let plan = layouts
        .into_iter()
        .zip(0..)
        .map(|((layout, extra), level)| (layout, Nested::new(first_buckets, level, (1, 7), extra)));
    Chain::new(plan.collect(), false).expect("memory for a few words")
}

/// Millions of removals, each after which all that may have been hit is looked up.
#[test]
fn the_chain_misses_nothing_over_millions_of_removals() {
    let first = Nested::new(3, 0, (1, 7), 0);
    let class = |hash: u64| {
        let Pair { fingerprint, buckets: [a, b] } = first.pair(hash);
        (fingerprint, a.min(b), a.max(b))
    };
    let mut removals = 0;
    for seed in 0.. {
        let (chain, mut rng) = (chain_of_aliases(3), rng(seed));
        // By what the first segment knows of them: only these can be hit by one another's removals.
        let mut items: HashMap<Key, Vec<u64>> = HashMap::new();
        let (mut count, mut swell) = (0_usize, true);
        for _ in 0..scaled(20_000, 100_000) {
            // In tides, so that all segments are filled, and emptied from all sides.
            swell = if count > 600 { false } else { swell || count < 50 };
            if rng.random_bool(if swell { 0.7 } else { 0.3 }) {
                let hash = rng.next_u64();
                let inserted = if rng.random() {
                    chain.insert_unique(hash)
                } else {
                    chain.insert(hash).map(|()| true)
                };
                if inserted == Ok(true) {
                    items.entry(class(hash)).or_default().push(hash);
                    count += 1;
                }
            } else if let Some(of_class) = items.get_mut(&class(rng.next_u64())) {
                if of_class.is_empty() {
                    continue;
                }
                let item = of_class.swap_remove(rng.random_range(0..of_class.len()));
                assert!(chain.remove(item), "nothing to remove for an item that is in");
                assert!(of_class.iter().all(|&item| chain.contains(item)), "missed");
                count -= 1;
                removals += 1;
            }
        }
        assert_eq!(chain.layouts().len(), 6);
        let all: Vec<u64> = items.into_values().flatten().collect();
        assert!(all.iter().all(|&item| chain.contains(item)));
        assert!(all.iter().all(|&item| chain.remove(item)));
        assert!(!(0..10_000).any(|_| chain.contains(rng.next_u64())), "something is left");
        if removals > scaled(30_000, 3_000_000) {
            return;
        }
    }
}

#[test]
fn it_grows_a_hundredfold_from_four_threads_at_the_rate_asked_for() {
    const THREADS: u64 = 4;
    let (first, rates) = (scaled(1_000, 10_000), [0.01, 0.001]);
    for rate in rates {
        let builder = CuckooFilter::builder().capacity(first).false_positive_rate(rate).seed(4);
        let filter = builder.build_growing().unwrap();
        let each = 100 * first as u64 / THREADS;
        thread::scope(|scope| {
            for thread in 0..THREADS {
                let filter = &filter;
                scope.spawn(move || {
                    let mut rng = rng(thread);
                    for key in 0..each {
                        filter.insert(&(thread, key)).unwrap();
                        assert!(filter.contains(&(thread, rng.random_range(0..=key))));
                        // Strangers come and go.
                        if key % 4 == 0 {
                            filter.insert(&(thread + THREADS, key)).unwrap();
                        } else if key % 4 == 2 {
                            assert!(filter.remove(&(thread + THREADS, key - 2)));
                        }
                    }
                });
            }
        });
        for (thread, key) in (0..THREADS).flat_map(|thread| (0..each).map(move |key| (thread, key)))
        {
            assert!(filter.contains(&(thread, key)), "missed");
        }
        assert_eq!(filter.len() as u64, THREADS * each);
        assert!(filter.segments().len() >= 6, "{filter:?}");
        assert!(filter.false_positive_rate() <= rate);
        let queries = (scaled(200.0, 2_000.0) / rate) as u64;
        let positives = (0..queries).filter(|key| filter.contains(&(THREADS * 2, key))).count();
        let expected = rate * queries as f64;
        assert!((positives as f64) < expected + 5.0 * expected.sqrt(), "{positives} {expected}");
        assert!(positives as f64 > expected / 4.0, "{positives}: no measurement");
    }
}

/// At every length of the chain the measured rate is at most the one asked for.
#[test]
fn the_rate_holds_at_every_length() {
    for (rate, fastest) in [(0.03, false), (0.03, true), (0.3, false)] {
        let builder = CuckooFilter::builder().capacity(300).false_positive_rate(rate).seed(5);
        let builder = if fastest { builder.fastest() } else { builder };
        let filter = builder.build_growing().unwrap();
        let (mut key, mut segments) = (0_u64, 1);
        while segments < 8 {
            filter.insert(&key).unwrap();
            key += 1;
            if filter.segments().len() == segments {
                continue;
            }
            segments = filter.segments().len();
            let queries = (scaled(200.0, 3_000.0) / rate) as u64;
            let positives = (0..queries).filter(|key| filter.contains(&(key, 'x'))).count();
            let expected = filter.false_positive_rate() * queries as f64;
            assert!(filter.false_positive_rate() <= rate);
            assert!(
                (positives as f64) < expected + 5.0 * expected.sqrt(),
                "{filter:?} {positives}"
            );
        }
    }
}

#[test]
fn copies_of_one_item_do_not_make_it_grow() {
    for capacity in [1, 2, 10, 100, 10_000] {
        let filter = GrowingFilter::with_capacity(capacity);
        for key in 0..capacity {
            filter.insert(&key).unwrap();
        }
        let segments = filter.segments().len();
        let mut copies = 0;
        while filter.insert("again").is_ok() {
            copies += 1;
            assert!(copies < 20);
        }
        // Four lanes, and where both buckets are one, two copies; some of them in the first segment when it was full.
        assert!((2..=8).contains(&copies), "{copies}");
        assert_eq!(filter.insert("again"), Err(InsertError::TooManyCopies));
        assert!(filter.segments().len() <= segments + 1, "{capacity}: {filter:?}");
        for _ in 0..copies {
            assert!(filter.remove("again"));
        }
        assert_eq!(filter.len(), capacity);
        assert!((0..capacity).all(|key| filter.contains(&key)));
    }
}

/// Items in demand beside ordinary ones: without a bound for copies, segments would be appended nearly empty.
#[test]
fn copies_of_many_items_do_not_make_it_grow() {
    let lengths = [0, 200].map(|hot: u64| {
        let filter = CuckooFilter::builder().capacity(1_000).false_positive_rate(0.01).seed(9);
        let (filter, mut rng) = (filter.build_growing().unwrap(), rng(9));
        for key in 0..scaled(10_000, 200_000_u64) {
            filter.insert(&(key, 'x')).unwrap();
            if hot > 0 && key % 2 == 0 {
                // Refused when there are enough of them.
                let _ = filter.insert(&rng.random_range(0..hot));
            }
        }
        (filter.segments().len(), filter.slots())
    });
    assert!(lengths[1].0 <= lengths[0].0 + 1 && lengths[1].1 <= 2 * lengths[0].1, "{lengths:?}");
}

/// Items that come and go all day, as many as at first: the chain stays as long as it is.
#[test]
fn churn_does_not_make_it_grow() {
    let filter = GrowingFilter::with_capacity(1_000);
    let at_once = 10_000;
    filter.try_extend(0..at_once).unwrap();
    let segments = filter.segments().len();
    for key in 0..scaled(50_000, 1_000_000) {
        assert!(filter.remove(&key));
        filter.insert(&(key + at_once)).unwrap();
    }
    assert!(filter.segments().len() <= segments + 1, "{filter:?}");
    assert_eq!(filter.len(), at_once);
}

/// Of calls with one item exactly one adds it, while the chain grows under them.
#[test]
fn unique_items_are_added_once_by_several_threads() {
    let filter = CuckooFilter::builder().capacity(10).seed(6).build_growing().unwrap();
    let keys = scaled(20_000, 200_000_u32);
    let added: usize = thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| (0..keys).filter(|key| filter.insert_unique(key).unwrap()).count())
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(added, filter.len());
    // All but some of those that have an alias.
    assert!(added as f64 > f64::from(keys) * 0.998 && added <= keys as usize);
    assert!((0..keys).all(|key| filter.contains(&key)));
}

/// Look-ups beside growth and churn: items that are in all the time are found all the time.
#[test]
fn readers_miss_nothing_while_it_grows() {
    let filter = CuckooFilter::builder().capacity(100).false_positive_rate(0.3).seed(7);
    let filter = filter.build_growing().unwrap();
    let always = 2_000_u64;
    filter.try_extend((0..always).map(|key| (key, true))).unwrap();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Relaxed) {
                assert!((0..always).all(|key| filter.contains(&(key, true))), "missed");
            }
        });
        let churn = scope.spawn(|| {
            for round in 0..scaled(3, 20) {
                let keys = (0..20_000_u64 << (round % 3)).map(|key| (key, false));
                filter.try_extend(keys.clone()).unwrap();
                keys.for_each(|key| assert!(filter.remove(&key)));
            }
            done.store(true, Relaxed);
        });
        churn.join().unwrap();
    });
    assert_eq!(filter.len() as u64, always);
}

#[test]
fn batches_do_what_single_calls_do() {
    let filter = GrowingFilter::with_capacity(100);
    let keys: Vec<u32> = (0..5_000).collect();
    filter.insert_batch(&keys).unwrap();
    let mut answers = vec![false; keys.len()];
    assert_eq!(filter.contains_batch(&keys, &mut answers), keys.len());
    assert!(answers.iter().all(|&found| found));
    assert_eq!(filter.insert_unique_batch(&keys, &mut answers), Ok(0));
    assert_eq!(filter.contains_mask(&keys[..64]), u64::MAX);
    assert_eq!(filter.remove_batch(&keys, &mut answers), keys.len());
    assert!(filter.is_empty());
    assert_eq!(filter.contains_mask(&keys[..64]), 0);
    let added = filter.insert_unique_batch(&keys, &mut answers).unwrap();
    assert_eq!((added, filter.len()), (answers.iter().filter(|&&added| added).count(), added));
}

#[test]
fn clear_leaves_one_empty_segment() {
    let mut filter = GrowingFilter::with_capacity(50);
    for _ in 0..3 {
        filter.try_extend(0..5_000).unwrap();
        assert!(filter.segments().len() > 4);
        filter.clear();
        assert!(filter.is_empty() && filter.segments().len() == 1);
        assert!((0..5_000).all(|key| !filter.contains(&key)));
    }
}

#[test]
fn what_cannot_be_built_is_refused() {
    let builder = CuckooFilter::builder;
    assert_eq!(builder().build_growing().unwrap_err(), BuildError::NoCapacity);
    assert_eq!(builder().capacity(0).build_growing().unwrap_err(), BuildError::ZeroCapacity);
    for rate in [0.0, 1.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = builder().capacity(1).false_positive_rate(rate).build_growing().unwrap_err();
        assert!(matches!(error, BuildError::InvalidRate(_)), "{error:?}");
    }
    let low = builder().capacity(1).false_positive_rate(1e-6).build_growing().unwrap_err();
    let BuildError::RateTooLow { lowest, .. } = low else { panic!("{low:?}") };
    let above = builder().capacity(1).false_positive_rate(lowest * 1.01);
    assert!(above.build_growing().is_ok(), "{lowest}");
}

/// Every layout that a chain may begin with, named.
#[test]
fn every_layout_can_be_the_first() {
    for &layout in Layout::ALL {
        let rate = (layout.false_positive_rate() * 4.0).max(0.001);
        let builder = CuckooFilter::builder().capacity(50).layout(layout).false_positive_rate(rate);
        let filter = builder.build_growing().unwrap();
        filter.try_extend(0..3_000).unwrap();
        assert!((0..3_000).all(|key| filter.contains(&key)));
        let layouts: BTreeMap<usize, Layout> =
            filter.segments().map(|segment| (segment.slots, segment.layout)).collect();
        assert_eq!(layouts.values().next(), Some(&layout));
        assert!(layouts.len() > 3 || layouts.values().collect::<HashSet<_>>().len() > 1);
        assert!((0..3_000).all(|key| filter.remove(&key)));
    }
}
