//! Words with values: the steps that compare keys or values, against a list of the slots, for every
//! number of slots and every width of a value.

mod common;

use guira::raw::{Addressing, BucketLayout, Fingerprint, FixedTable, Pair, Plain, Valued};
use rand::{RngExt, rngs::SmallRng, seq::IndexedRandom};

/// What a slot holds: a key and a value.
type Slot = (u32, u16);

/// Two buckets whose slots are known.
struct Words {
    table: FixedTable<Valued>,
    value_bits: u32,
    /// The slots of the first bucket, then those of the second one.
    slots: Vec<Slot>,
}

impl Words {
    /// The pair of a key, with both buckets, and the value zero.
    fn pair(&self, key: u32) -> Pair {
        Pair { fingerprint: Fingerprint::new(key << self.value_bits), buckets: [0, 1] }
    }

    /// The values of a key, in the order of the slots.
    fn values(&self, key: u32) -> Vec<u16> {
        self.slots.iter().filter(|slot| slot.0 == key).map(|slot| slot.1).collect()
    }

    /// Draws slots that are likely to confuse comparisons of keys: equal, one bit or one step away,
    /// or the largest ones, with small, large and random values.
    fn draw<L: BucketLayout>(rng: &mut SmallRng, value_bits: u32, key: u32) -> Self {
        let addressing = Addressing::holding(2, Valued::new(value_bits));
        let table = FixedTable::new(addressing, false).expect("memory for two words");
        let (max, max_value) = (L::MAX_FINGERPRINT >> value_bits, (1 << value_bits) - 1);
        let mut words = Self { table, value_bits, slots: Vec::new() };
        for bucket in [0, 1] {
            for _ in 0..rng.random_range(0..=L::SLOTS) {
                let other = match rng.random_range(0..8) {
                    0..4 => key,
                    4 => key ^ 1 << rng.random_range(0..L::BITS - value_bits),
                    5 => key - 1,
                    6 => key.wrapping_add(1),
                    _ => rng.random_range(1..=max),
                };
                let other = if (1..=max).contains(&other) { other } else { max };
                let value = match rng.random_range(0..4) {
                    0 => 0,
                    1 => max_value,
                    2 => 1.min(max_value),
                    _ => rng.random_range(0..=max_value),
                } as u16;
                let pair = Pair { buckets: [bucket; 2], ..words.pair(other).with_value(value) };
                words.table.insert::<L>(pair).expect("an empty slot");
                words.slots.push((other, value));
            }
        }
        words
    }

    /// Checks all lookups of a key.
    fn check<L: BucketLayout>(&self, key: u32) {
        let (pair, values) = (self.pair(key), self.values(key));
        let slots = &self.slots;
        assert_eq!(self.table.candidates::<L>(pair).as_slice(), values, "{key} in {slots:?}");
        assert_eq!(self.table.contains::<L>(pair), !values.is_empty(), "{key} in {slots:?}");
        assert_eq!(self.table.count::<L>(pair), values.len(), "{key} in {slots:?}");
        match self.table.get::<L>(pair) {
            Some(value) => assert!(values.contains(&value), "{value} of {key} in {slots:?}"),
            None => assert!(values.is_empty(), "nothing of {key} in {slots:?}"),
        }
        for value in [0, 1, (1 << self.value_bits) - 1_u32] {
            let value = value.min((1 << self.value_bits) - 1) as u16;
            let found = self.table.contains_value::<L>(pair.with_value(value));
            assert_eq!(found, values.contains(&value), "{value} of {key} in {slots:?}");
        }
    }

    /// Checks that each key has the values of its slots, in any order.
    fn check_contents<L: BucketLayout>(&self) {
        for &(key, _) in &self.slots {
            let mut expected = self.values(key);
            expected.sort_unstable();
            let mut found = self.table.candidates::<L>(self.pair(key)).as_slice().to_vec();
            found.sort_unstable();
            assert_eq!(found, expected, "{key} in {:?}", self.slots);
        }
    }

    /// Replaces, removes and finds copies of a key by their values.
    fn change<L: BucketLayout>(&mut self, rng: &mut SmallRng, key: u32) {
        let pair = self.pair(key);
        let values = self.values(key);
        let max_value = ((1_u32 << self.value_bits) - 1) as u16;
        let old = values.choose(rng).copied().unwrap_or(max_value);
        let new = rng.random_range(0..=max_value);
        let place = self.slots.iter().position(|&slot| slot == (key, old));
        assert_eq!(self.table.replace::<L>(pair.with_value(old), new), place.is_some());
        if let Some(place) = place {
            self.slots[place].1 = new;
            let found = self.table.get_or_insert::<L>(pair.with_value(old)).expect("a copy");
            let found = found.expect("a copy");
            assert!(self.values(key).contains(&found));
        }
        self.check_contents::<L>();
        let place = self.slots.iter().position(|&slot| slot == (key, new));
        assert_eq!(self.table.remove::<L>(pair.with_value(new)), place.is_some());
        if let Some(place) = place {
            self.slots.remove(place);
        }
        self.check_contents::<L>();
    }
}

/// Checks words of a layout with values of every width that leaves two bits of the key.
fn check<L: BucketLayout>() {
    for value_bits in 0..=16.min(L::BITS - 2) {
        let mut rng = common::rng(u64::from(32 * L::SLOTS + value_bits));
        let max = L::MAX_FINGERPRINT >> value_bits;
        for _ in 0..common::scaled(200, 5_000) {
            let key = [1, max, rng.random_range(1..=max)][rng.random_range(0..3)];
            let mut words = Words::draw::<L>(&mut rng, value_bits, key);
            // The largest key may be `u32::MAX`. Zero is not a key.
            for other in [key, key ^ 1, key - 1, key.wrapping_add(1)] {
                if (1..=max).contains(&other) {
                    words.check::<L>(other);
                }
            }
            words.change::<L>(&mut rng, key);
        }
    }
}

#[test]
fn six_slots() {
    check::<Plain<6, 10>>();
}

#[test]
fn five_slots() {
    check::<Plain<5, 12>>();
}

#[test]
fn four_slots() {
    check::<Plain<4, 16>>();
}

#[test]
fn three_slots() {
    check::<Plain<3, 21>>();
}

#[test]
fn two_slots() {
    check::<Plain<2, 32>>();
}

/// An item whose two buckets are the same one is listed and counted once.
#[test]
fn one_bucket() {
    type L = Plain<2, 32>;
    let table = FixedTable::new(Addressing::holding(1, Valued::new(16)), false).expect("memory");
    let pair = Pair { fingerprint: Fingerprint::new(7 << 16), buckets: [0, 0] };
    table.insert::<L>(pair.with_value(9)).expect("an empty slot");
    assert_eq!(table.candidates::<L>(pair).as_slice(), [9]);
    assert_eq!((table.get::<L>(pair), table.count::<L>(pair)), (Some(9), 1));
}
