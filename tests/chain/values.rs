//! Items with values nest as items do: chains of aliases with few values, against an oracle.

use std::collections::HashMap;

use guira::{
    Layout,
    raw::{Addressing, Chain, MergeRefusal, Nested, Plan, Valued},
};
use rand::{Rng, RngExt, rngs::SmallRng};

use super::{Key, nested};
use crate::common::{rng, scaled};

/// Bits of a value: so few that aliases often have equal ones.
const VALUE_BITS: u32 = 1;

/// The addressing of a segment with values.
fn valued(level: u32, extra_bits: u32) -> Addressing<Nested<Valued>> {
    let nesting = nested(3, level, (1, 7), extra_bits).nesting().with_values(VALUE_BITS);
    Addressing::nested(3, nesting)
}

/// A chain of small segments with so few fingerprints that every key has aliases.
fn chain_of_aliases(segments: usize) -> Chain<Valued> {
    let layouts = [(6, 0), (6, 1), (5, 3), (4, 6), (3, 10), (2, 14)];
    // The longest fingerprints last, whatever the number of segments.
    let layouts = [&layouts[..segments - 1], &layouts[5..]].concat();
    let plan = layouts.into_iter().zip(0..).map(|((slots, extra), level)| {
        (Layout::with_values(slots, VALUE_BITS).expect("a layout"), valued(level, extra))
    });
    Chain::new(Plan::new(&plan.collect::<Vec<_>>()), false).expect("memory for a few words")
}

/// What the first segment keeps of a key: only keys with an equal class can affect one another.
fn class(hash: u64) -> Key {
    let pair = valued(0, 0).pair(hash);
    let [a, b] = pair.buckets;
    (pair.fingerprint, a.min(b), a.max(b))
}

/// The items in a chain.
#[derive(Clone, Default)]
struct Items {
    of_class: HashMap<Key, Vec<(u64, u16)>>,
    count: usize,
}

impl Items {
    fn add(&mut self, item: (u64, u16)) {
        self.of_class.entry(class(item.0)).or_default().push(item);
        self.count += 1;
    }

    /// Takes an item of a random class.
    fn take(&mut self, rng: &mut SmallRng) -> Option<(u64, u16)> {
        let of_class = self.of_class.get_mut(&class(rng.next_u64()))?;
        let nth = (!of_class.is_empty()).then(|| rng.random_range(0..of_class.len()))?;
        self.count -= 1;
        Some(of_class.swap_remove(nth))
    }

    /// Checks every item that a change of this key may have affected.
    fn check(&self, chain: &Chain<Valued>, key: u64) {
        let of_class = self.of_class.get(&class(key)).map_or(&[][..], |items| items);
        for &(key, value) in of_class {
            let values = chain.values(key);
            let values: Vec<u16> = (0..values.len()).filter_map(|nth| values.get(nth)).collect();
            assert!(values.contains(&value), "{value} is missed");
            assert!(chain.contains_value((key, value)) && chain.contains(key));
            assert!(chain.get(key).is_some_and(|value| values.contains(&value)));
            // At least its own copies, at most those of its class.
            let own = of_class.iter().filter(|item| item.0 == key).count();
            assert!((own..=of_class.len()).contains(&chain.count(key)));
            assert_eq!(chain.count(key), values.len());
        }
    }

    /// Checks all items, and removes them: nothing may be left.
    fn empty(&self, chain: &Chain<Valued>) {
        let all: Vec<(u64, u16)> = self.of_class.values().flatten().copied().collect();
        assert!(all.iter().all(|&item| chain.contains_value(item)));
        assert!(all.iter().all(|&item| chain.remove(item)), "nothing to remove");
        assert_eq!(chain.clear(), 0, "something is left");
    }
}

/// Inserts, removes and replaces many items, and checks all that may be affected.
fn changes(segments: usize, seed: u64, steps: usize) -> (Chain<Valued>, Items) {
    let (chain, mut rng) = (chain_of_aliases(segments), rng(seed));
    let (mut items, mut swell) = (Items::default(), true);
    for _ in 0..steps {
        // The number of items rises and falls, so that all segments are filled and emptied.
        swell = if items.count > 600 { false } else { swell || items.count < 40 };
        let value = rng.random_range(0..1 << VALUE_BITS);
        if rng.random_bool(if swell { 0.6 } else { 0.2 }) {
            let item = (rng.next_u64(), value);
            let added = if rng.random() {
                chain.insert(item).is_ok()
            } else {
                chain.get_or_insert(item) == Ok(None)
            };
            if added {
                items.add(item);
            }
        } else if let Some((key, old)) = items.take(&mut rng) {
            if rng.random() {
                assert!(chain.remove((key, old)), "nothing to remove for an item that is in");
            } else {
                assert!(chain.replace((key, old), value), "nothing to replace");
                items.add((key, value));
            }
            items.check(&chain, key);
        }
    }
    (chain, items)
}

/// Fails if a removal or a replace starts with the first segment.
#[test]
fn no_value_is_missed_over_many_removals_and_replaces() {
    for seed in 0..scaled(3, 50) {
        for segments in [2, 3, 6] {
            let (chain, items) = changes(segments, seed, scaled(4_000, 50_000));
            assert_eq!(chain.layouts().len(), segments);
            items.empty(&chain);
        }
    }
}

#[test]
fn copies_and_merges_of_chains_miss_no_value() {
    for seed in 0..scaled(20, 200) {
        let (chain, items) = changes(6, seed, 1_000);
        let (copy, occupied) = chain.try_clone().expect("memory");
        assert_eq!(occupied as usize, items.count);
        items.empty(&copy);
        // Into an empty chain, in which there is room for everything.
        let (into, none) = (chain_of_aliases(6), Items::default());
        let merged = into.merge(&chain, None);
        match merged.outcome {
            Ok(()) => items.empty(&into),
            Err(refusal) => {
                assert!(refusal != MergeRefusal::OutOfMemory && merged.change == 0);
                none.empty(&into);
            }
        }
        // Into one with items of its own: both stay, or nothing changes.
        let (into, mut both) = changes(4, seed + 1_000, 200);
        if into.merge(&chain, None).outcome.is_ok() {
            items.of_class.values().flatten().for_each(|&item| both.add(item));
        }
        both.empty(&into);
        items.empty(&chain);
    }
}

#[test]
fn shrinking_misses_no_value() {
    let mut shrunk = 0;
    for seed in 0..scaled(30, 300) {
        let (mut chain, mut items) = changes(6, seed, 1_000);
        let mut rng = rng(seed);
        while items.count > 20 {
            let Some(item) = items.take(&mut rng) else { continue };
            assert!(chain.remove(item));
        }
        shrunk += usize::from(chain.shrink_to_fit() > 0);
        items.empty(&chain);
    }
    assert!(shrunk > 10);
}
