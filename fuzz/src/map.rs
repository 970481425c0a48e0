//! The public methods of both maps against a multimap of hashes and values.
//!
//! In one segment, a hash has exactly the values of its class of aliases. Several segments can
//! distinguish some aliases of the first: then a hash has at least its own values, and at most
//! those of its class.

use arbitrary::Arbitrary;
use guira::{Filter, Fixed, Growing, InsertBatchError, InsertError, Layout, Mappable, Mapped};

use crate::items::{Batch, HASHES, Identity, Operations, Tested};

/// A map and the operations on it.
#[derive(Arbitrary, Debug)]
pub struct Input {
    grows: bool,
    slots: u8,
    value_bits: u8,
    capacity: u8,
    max_copies: u8,
    seed: u64,
    /// A quarter of the number of hashes among which aliases are searched for.
    tries: u8,
    operations: Operations<Operation>,
}

/// An operation. Numbers select hashes.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Operation {
    Insert(u8, u8),
    GetOrInsert(u8, u8),
    /// Replaces one of the hash's own values, if it has any.
    Replace(u8, u8),
    /// Removes one of the hash's own values, if it has any.
    Remove(u8),
    /// Removes and replaces a value, if no alias has it.
    RemoveOther(u8, u8),
    InsertBatch(Batch, u8),
    RemoveBatch(Batch),
    Clear,
    Clone,
    Save,
    /// Merges the map with itself.
    Merge,
}

/// Runs an input.
///
/// # Panics
/// If the map and the multimap disagree.
pub fn run(input: &Input) {
    if input.grows {
        Checker::<Growing>::new(input).run(&input.operations.0);
    } else {
        Checker::<Fixed>::new(input).run(&input.operations.0);
    }
}

/// A map beside a multimap.
struct Checker<E: Mappable> {
    map: Tested<Mapped<E>>,
    hashes: Vec<u64>,
    /// For each hash, the numbers of its aliases and its own.
    members: Vec<Vec<usize>>,
    /// The values of each hash that were inserted and not yet removed.
    owned: Vec<Vec<u16>>,
    max_value: u16,
}

impl<E: Mappable> Checker<E> {
    fn new(input: &Input) -> Self {
        let slots = 2 + u32::from(input.slots) % 5;
        let mut bits = (0..=u32::from(input.value_bits) % 17).rev();
        let layout = bits.find_map(|bits| Layout::with_values(slots, bits));
        let layout = layout.expect("a layout with values of no bits");
        let builder = Filter::<Mapped<E>>::builder()
            .layout(layout)
            // A growing map that starts with this layout needs a rate some way above it.
            .false_positive_rate((4.0 * layout.false_positive_rate()).max(0.003))
            .capacity(1 + usize::from(input.capacity) % HASHES as usize)
            .seed(input.seed)
            .hasher(Identity::builder());
        let limit = (input.max_copies % 2 == 1).then(|| 1 + usize::from(input.max_copies) / 2 % 8);
        let builder = limit.into_iter().fold(builder, guira::FilterBuilder::max_copies);
        let map = builder.build().expect("a small map");
        let mut hashes: Vec<u64> = (0..HASHES).collect();
        let others = HASHES..HASHES + 4 * u64::from(input.tries);
        for first in 0..3 {
            hashes.extend(aliases(&map, first, others.clone()).into_iter().take(2));
        }
        let members = hashes.iter().map(|&hash| {
            let aliases = aliases(&map, hash, hashes.iter().copied());
            (0..hashes.len()).filter(|&number| aliases.contains(&hashes[number])).collect()
        });
        let members = members.collect();
        let owned = vec![Vec::new(); hashes.len()];
        let max_value = ((1_u32 << map.value_bits()) - 1) as u16;
        Self { map, hashes, members, owned, max_value }
    }

    fn run(mut self, operations: &[Operation]) {
        for &operation in operations {
            self.apply(operation);
            let owned = self.owned.iter().map(Vec::len).sum::<usize>();
            assert_eq!(self.map.len(), owned, "{operation:?}");
            assert!(self.map.len() <= self.map.slots(), "{operation:?}");
        }
        self.check_all();
    }

    fn apply(&mut self, operation: Operation) {
        match operation {
            Operation::Insert(number, value) => {
                let (number, value) = (self.number(number), self.value(value));
                let outcome = self.map.insert(&self.hashes[number], value);
                self.inserted(number, value, outcome);
                self.check(number);
            }
            Operation::GetOrInsert(number, value) => {
                let (number, value) = (self.number(number), self.value(value));
                self.get_or_insert(number, value);
                self.check(number);
            }
            Operation::Replace(number, value) => {
                let (number, new) = (self.number(number), self.value(value));
                let Some(&old) = self.owned[number].first() else { return };
                let fits = new <= self.max_value;
                assert_eq!(self.map.replace(&self.hashes[number], old, new), fits, "{old}");
                if fits {
                    self.owned[number][0] = new;
                    self.owned[number].rotate_left(1);
                }
                self.check(number);
            }
            Operation::Remove(number) => {
                let number = self.number(number);
                let Some(value) = self.owned[number].pop() else { return };
                assert!(self.map.remove(&self.hashes[number], value), "{value} is there");
                self.check(number);
            }
            Operation::RemoveOther(number, value) => {
                let (number, value) = (self.number(number), self.value(value));
                if !self.of_class(number).contains(&value) {
                    let hash = &self.hashes[number];
                    assert!(!self.map.remove(hash, value) && !self.map.replace(hash, value, 0));
                }
                self.check(number);
            }
            Operation::InsertBatch(batch, first) => self.insert_batch(batch, first),
            Operation::RemoveBatch(batch) => self.remove_batch(batch),
            Operation::Clear => {
                self.map.clear();
                self.owned.iter_mut().for_each(Vec::clear);
            }
            Operation::Clone => {
                let clone = self.map.try_clone().expect("a small map");
                let original = std::mem::replace(&mut self.map, clone);
                self.check_all();
                // The map from here on shares nothing with the original.
                original.clear();
                self.check_all();
            }
            Operation::Save => {
                let bytes = self.map.to_bytes();
                let loaded = Filter::from_bytes_with_hasher(&bytes, Identity::builder());
                self.map = loaded.expect("its own bytes");
                assert_eq!(self.map.to_bytes(), bytes);
                self.check_all();
            }
            Operation::Merge => {
                if self.map.merge(&self.map).is_ok() {
                    self.owned.iter_mut().for_each(|values| values.extend(values.clone()));
                }
                self.check_all();
            }
        }
    }

    /// The place of the hash that a number selects.
    fn number(&self, number: u8) -> usize {
        usize::from(number) % self.hashes.len()
    }

    /// The value that a number selects: one of a few, or the first that does not fit.
    fn value(&self, number: u8) -> u16 {
        (u32::from(number) % (u32::from(self.max_value) + 2)) as u16
    }

    fn is_exact(&self) -> bool {
        self.map.segments().len() == 1
    }

    /// The values of a hash and its aliases, sorted.
    fn of_class(&self, number: usize) -> Vec<u16> {
        let members = self.members[number].iter();
        let mut values: Vec<u16> =
            members.flat_map(|&member| &self.owned[member]).copied().collect();
        values.sort_unstable();
        values
    }

    /// Records the outcome of an insert.
    fn inserted(&mut self, number: usize, value: u16, outcome: Result<(), InsertError>) {
        let fits = value <= self.max_value;
        assert_eq!(outcome == Err(InsertError::ValueTooLarge), !fits, "insert of {value}");
        if outcome.is_ok() {
            self.owned[number].push(value);
        }
    }

    fn get_or_insert(&mut self, number: usize, value: u16) {
        let class = self.of_class(number);
        let is_absent = self.owned[number].is_empty() && (class.is_empty() || !self.is_exact());
        match self.map.get_or_insert(&self.hashes[number], value) {
            Ok(Some(found)) => assert!(class.contains(&found), "{found} is not there"),
            Ok(None) => {
                assert!(is_absent, "{number} is there");
                self.inserted(number, value, Ok(()));
            }
            Err(InsertError::ValueTooLarge) => assert!(value > self.max_value),
            Err(error) => assert!(is_absent && error == InsertError::Full, "{error}"),
        }
    }

    fn insert_batch(&mut self, batch: Batch, first: u8) {
        let numbers: Vec<usize> = batch.numbers().map(|number| self.number(number)).collect();
        let value = |place| self.value(first.wrapping_add(place as u8));
        let values: Vec<u16> = (0..numbers.len()).map(value).collect();
        let hashes: Vec<u64> = numbers.iter().map(|&number| self.hashes[number]).collect();
        let outcome = self.map.by_hash().insert_batch(&hashes, &values);
        let mut outcomes = vec![Ok(()); numbers.len()];
        let error = outcome.err();
        for (place, reason) in error.iter().flat_map(InsertBatchError::failures) {
            outcomes[place] = Err(reason);
        }
        for ((&number, value), outcome) in numbers.iter().zip(values).zip(outcomes) {
            self.inserted(number, value, outcome);
        }
        self.check_batch(&hashes);
        numbers.into_iter().step_by(8).for_each(|number| self.check(number));
    }

    /// Removes one value of each hash of a batch, or tries to remove one that does not fit.
    fn remove_batch(&mut self, batch: Batch) {
        let (mut hashes, mut values, mut expected) = (Vec::new(), Vec::new(), Vec::new());
        for number in batch.numbers() {
            let number = self.number(number);
            let own = self.owned[number].pop();
            let Some(value) = own.or(self.max_value.checked_add(1)) else { continue };
            hashes.push(self.hashes[number]);
            values.push(value);
            expected.push(own.is_some());
        }
        let mut removed = vec![false; hashes.len()];
        let count = self.map.by_hash().remove_batch(&hashes, &values, &mut removed);
        assert_eq!(removed, expected);
        assert_eq!(count, removed.iter().filter(|&&removed| removed).count());
        self.check_batch(&hashes);
    }

    /// Checks all hashes.
    fn check_all(&self) {
        (0..self.hashes.len()).for_each(|number| self.check(number));
        self.check_batch(&self.hashes);
    }

    /// Compares batch lookups with single ones.
    fn check_batch(&self, hashes: &[u64]) {
        let (mut values, mut found) = (vec![None; hashes.len()], vec![false; hashes.len()]);
        let single: Vec<_> = hashes.iter().map(|hash| self.map.get(hash)).collect();
        let count = self.map.get_batch(hashes, &mut values);
        assert_eq!((&values, count), (&single, single.iter().flatten().count()));
        assert_eq!(self.map.contains_batch(hashes, &mut found), count);
        assert!(found.iter().zip(&single).all(|(&found, single)| found == single.is_some()));
        let (mut numbers, mut flags) = (vec![7; hashes.len()], vec![true; hashes.len()]);
        assert_eq!(self.map.get_batch_into(hashes, &mut numbers, &mut flags), count);
        let expected: Vec<_> = single.iter().map(|value| value.unwrap_or(0)).collect();
        assert_eq!((&numbers, &flags), (&expected, &found));
        for (start, burst) in (0..).step_by(64).zip(hashes.chunks(64)) {
            let numbers = &mut numbers[start..start + burst.len()];
            numbers.fill(7);
            let mask = self.map.get_mask(burst, numbers);
            assert_eq!(*numbers, expected[start..start + burst.len()]);
            assert!((0..burst.len()).all(|at| (mask >> at & 1 == 1) == found[start + at]));
        }
    }

    /// Checks what the map returns for a hash.
    fn check(&self, number: usize) {
        let (hash, class, own) = (self.hashes[number], self.of_class(number), &self.owned[number]);
        let mut values: Vec<u16> = self.map.values(&hash).collect();
        values.sort_unstable();
        if self.is_exact() {
            assert_eq!(values, class, "values of {hash}");
        }
        let times = |values: &[u16], value| values.iter().filter(|&&other| other == value).count();
        for &value in own.iter().chain(&values) {
            let possible = times(own, value)..=times(&class, value);
            assert!(possible.contains(&times(&values, value)), "values of {hash}: {value}");
            assert!(self.map.contains_value(&hash, value), "{hash} with {value}");
        }
        for value in [0, 1, self.max_value] {
            assert_eq!(self.map.contains_value(&hash, value), values.contains(&value));
        }
        let got = self.map.get(&hash);
        assert_eq!(got.is_some(), !values.is_empty(), "get of {hash}");
        assert!(got.is_none_or(|got| values.contains(&got)), "get of {hash}");
        assert_eq!(self.map.contains(&hash), got.is_some(), "contains {hash}");
        assert_eq!(self.map.count(&hash), values.len(), "count of {hash}");
        assert_eq!(self.map.by_hash().get(hash), got, "get by hash of {hash}");
    }
}

/// The hashes that an empty map takes for this one.
fn aliases<E: Mappable>(
    empty: &Tested<Mapped<E>>,
    hash: u64,
    hashes: impl Iterator<Item = u64>,
) -> Vec<u64> {
    empty.insert(&hash, 0).expect("an empty map");
    let found = hashes.filter(|other| empty.contains(other)).collect();
    empty.clear();
    found
}
