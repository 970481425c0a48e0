//! Segments nest, and removal starts with the finest one: otherwise items are missed.

mod values;

use std::collections::HashMap;

use guira::{
    Layout,
    raw::{Addressing, Chain, Fingerprint, Nested, Pair, Plan},
};
use proptest::prelude::*;
use rand::{Rng, RngExt, rngs::SmallRng};

use crate::common::{rng, runner, scaled};

/// The addressing of a segment.
fn nested(
    first_buckets: u64,
    level: u32,
    fingerprints: (u32, u32),
    extra_bits: u32,
) -> Addressing<Nested> {
    Addressing::nested(first_buckets, Nested::new(level, fingerprints, extra_bits))
}

/// Whether a segment cannot distinguish two items.
fn aliases(a: Pair, b: Pair) -> bool {
    a == b || (a.fingerprint == b.fingerprint && a.buckets == [b.buckets[1], b.buckets[0]])
}

/// Two segments of one chain, the second one at least as fine as the first.
fn two_segments() -> impl Strategy<Value = (Addressing<Nested>, Addressing<Nested>)> {
    let first_buckets = prop_oneof![1..=9_u64, 1..=5_000_u64, 1..=1_u64 << 32];
    let fingerprints =
        prop_oneof![Just((1, 7)), Just((1, 255)), Just((4, 1_020)), Just((16, 4_080))];
    (first_buckets, fingerprints, 0..=10_u32, 0..=10_u32, 0..=32_u32, 0..=32_u32).prop_map(
        |(first_buckets, fingerprints, bits, more_bits, level, more_levels)| {
            let most = ((1_u64 << 32) / first_buckets).ilog2();
            let level = level % (most + 1);
            let finer = level + more_levels % (most - level + 1);
            (
                nested(first_buckets, level, fingerprints, bits),
                nested(first_buckets, finer, fingerprints, bits + more_bits),
            )
        },
    )
}

/// The number of fingerprints of a segment.
fn fingerprints(segment: &Addressing<Nested>) -> u32 {
    segment.nesting().fingerprints().1
}

#[test]
fn a_finer_segment_determines_what_a_coarser_one_keeps() {
    let hash = any::<u64>();
    runner(scaled(20_000, 300_000), 1)
        .run(&(two_segments(), hash), |((coarse, fine), hash)| {
            let (in_coarse, in_fine) = (coarse.pair(hash), fine.pair(hash));
            for (segment, pair) in [(coarse, in_coarse), (fine, in_fine)] {
                let [a, b] = pair.buckets;
                prop_assert!(pair.buckets.iter().all(|&b| u64::from(b) < segment.buckets()));
                prop_assert_eq!(segment.alt_bucket(pair.fingerprint, a), b);
                prop_assert_eq!(segment.alt_bucket(pair.fingerprint, b), a);
            }
            let shorter = fingerprints(&fine).ilog2() - fingerprints(&coarse).ilog2();
            prop_assert_eq!(in_fine.fingerprint.get() >> shorter, in_coarse.fingerprint.get());
            prop_assert_eq!(
                fine.stripe_fingerprint(in_fine.fingerprint),
                coarse.stripe_fingerprint(in_coarse.fingerprint)
            );
            let halvings = (fine.buckets() / coarse.buckets()).ilog2();
            let halved = in_fine.buckets.map(|bucket| (u64::from(bucket) >> halvings) as u32);
            prop_assert_eq!(halved, in_coarse.buckets);
            Ok(())
        })
        .unwrap();
}

/// A hash that is an alias of `hash` in this segment, from either of its buckets.
fn alias_of(hash: u64, nested: &Addressing<Nested>, rng: &mut SmallRng) -> u64 {
    let pair = nested.pair(hash);
    loop {
        // The fingerprint comes from the low half and the bucket from the high one, independently.
        let same_fingerprint = ((1_u64 << 32) / u64::from(fingerprints(nested))) as u32;
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

/// A chain as plain multisets: what each segment keeps. A removal takes the first match.
struct Segments {
    nested: Vec<Addressing<Nested>>,
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

/// The number of items that are missed over this many removals, in three segments that are filled
/// at random.
fn missed(removals: usize, order: Order) -> usize {
    let mut rng = rng(3);
    let segments = vec![nested(5, 0, (1, 7), 0), nested(5, 1, (1, 7), 1), nested(5, 2, (1, 7), 3)];
    let copies = vec![HashMap::new(); segments.len()];
    let (mut segments, mut items) = (Segments { nested: segments, copies }, Vec::<u64>::new());
    let mut missed = 0;
    for _ in 0..removals {
        while items.len() < 40 || rng.random_bool(0.5) {
            items.push(rng.random());
            segments.insert(rng.random_range(0..3), *items.last().expect("just pushed"));
        }
        let item = items.swap_remove(rng.random_range(0..items.len()));
        if !segments.contains(item) {
            // It was missed before, and to remove it would take the copy of another item.
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
    assert_eq!(missed(scaled(20_000, 100_000), Order::FinestFirst), 0);
}

/// The opposite order fails, so the test above can fail.
#[test]
fn removal_from_the_first_segment_on_misses_items() {
    let missed = missed(scaled(20_000, 100_000), Order::CoarsestFirst);
    assert!(missed > 100, "{missed}: the tests above could not have failed");
}

/// A chain of small segments with so few fingerprints that every item has aliases. From each
/// segment to the next, the number of buckets doubles `doublings` times.
fn chain_of_aliases(first_buckets: u64, segments: usize, doublings: usize) -> Chain {
    let layouts = [
        (Layout::Plain8x8, 0),
        (Layout::Plain8x8, 0),
        (Layout::Plain6x10, 2),
        (Layout::SemiSorted6x12, 4),
        (Layout::Plain4x16, 8),
        (Layout::SemiSorted3x22, 14),
    ];
    // The longest fingerprints last, whatever the number of segments.
    let layouts = [&layouts[..segments - 1], &layouts[5..]].concat();
    let plan = layouts
        .into_iter()
        .zip((0..).step_by(doublings))
        .map(|((layout, extra), level)| (layout, nested(first_buckets, level, (1, 7), extra)));
    Chain::new(Plan::new(&plan.collect::<Vec<_>>()), false).expect("memory for a few words")
}

#[test]
fn the_chain_misses_nothing_over_many_removals() {
    misses_nothing(6, 1, scaled(30_000, 1_500_000));
}

/// Segments that grow by larger factors leave out levels.
#[test]
fn chains_that_leave_out_levels_miss_nothing_over_many_removals() {
    for (segments, doublings) in [(4, 2), (3, 3), (3, 4)] {
        misses_nothing(segments, doublings, scaled(10_000, 500_000));
    }
}

/// Removes many items. After each removal, looks up all items that it may have affected.
fn misses_nothing(segments: usize, doublings: usize, removals_wanted: usize) {
    let first = nested(3, 0, (1, 7), 0);
    let class = |hash: u64| {
        let Pair { fingerprint, buckets: [a, b] } = first.pair(hash);
        (fingerprint, a.min(b), a.max(b))
    };
    let mut removals = 0;
    for seed in 0.. {
        let (chain, mut rng) = (chain_of_aliases(3, segments, doublings), rng(seed));
        // By what the first segment keeps of them: only these can be affected by one another's
        // removals.
        let mut items: HashMap<Key, Vec<u64>> = HashMap::new();
        let (mut count, mut swell) = (0_usize, true);
        for _ in 0..scaled(20_000, 100_000) {
            // The number of items rises and falls, so that all segments are filled and emptied.
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
        assert_eq!(chain.layouts().len(), segments);
        let all: Vec<u64> = items.into_values().flatten().collect();
        assert!(all.iter().all(|&item| chain.contains(item)));
        assert!(all.iter().all(|&item| chain.remove(item)));
        assert!(!(0..10_000).any(|_| chain.contains(rng.next_u64())), "something is left");
        if removals > removals_wanted {
            return;
        }
    }
}
