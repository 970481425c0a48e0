//! Random sequences of operations against a multimap.

use guira::{Hashed, InsertError, Insertion, Layout};
use rand::{RngExt, rngs::SmallRng};

use super::super::{
    Subject,
    maps::{Map, aliases, builder, layouts, max_value},
    rng, scaled,
};

/// Number of distinct keys.
const KEYS: usize = 40;

/// A map, and a multimap that knows which keys are aliases.
///
/// In one segment, a key has exactly the values of its class of aliases. Several segments can
/// distinguish some aliases of the first: then a key has at least its own values, and at most those
/// of its class.
struct Checker<E: Subject> {
    map: Map<E>,
    keys: Vec<u64>,
    /// The class of each key.
    class: Vec<usize>,
    /// The values of each key that were inserted and not yet removed.
    owned: Vec<Vec<u16>>,
    max_value: u16,
    max_copies: Option<usize>,
    layout: Layout,
    rng: SmallRng,
    /// Inserts that succeeded and that failed.
    inserted: usize,
    refused: usize,
}

impl<E: Subject> Checker<E> {
    fn new(layout: Layout, capacity: usize, max_copies: Option<usize>, seed: u64) -> Self {
        let settings = builder::<E>(capacity, layout).seed(seed);
        let settings =
            max_copies.into_iter().fold(settings, |settings, most| settings.max_copies(most));
        let map = settings.build().expect("a small map");
        let mut rng = rng(seed);
        let mut keys: Vec<u64> = (0..KEYS - 10).map(|_| rng.random()).collect();
        for first in 0..5 {
            let tries = (0..scaled(2_000, 100_000)).map(|_| rng.random());
            let found = aliases(&map, keys[first], 2, tries);
            keys.extend(found);
        }
        let mut class = vec![usize::MAX; keys.len()];
        for first in 0..keys.len() {
            if class[first] == usize::MAX {
                let others = keys[first..].iter().copied();
                let aliases = aliases(&map, keys[first], KEYS, others);
                let is_alias = |key: &usize| aliases.contains(&keys[*key]);
                (first..keys.len()).filter(is_alias).for_each(|key| class[key] = first);
            }
        }
        let owned = vec![Vec::new(); keys.len()];
        let max_value = max_value(layout);
        let (inserted, refused) = (0, 0);
        Self { map, keys, class, owned, max_value, max_copies, layout, rng, inserted, refused }
    }

    fn key(&mut self) -> usize {
        // A third of the draws go to three keys, so that they get many copies.
        let most = if self.rng.random_ratio(1, 3) { 3 } else { self.keys.len() };
        self.rng.random_range(0..most)
    }

    /// A value that fits, often one of few.
    fn value(&mut self) -> u16 {
        let most = if self.rng.random() { self.max_value.min(2) } else { self.max_value };
        self.rng.random_range(0..=most)
    }

    /// Any value: one in eight does not fit, if there are such.
    fn any_value(&mut self) -> u16 {
        let any = if self.rng.random_ratio(1, 8) { self.rng.random() } else { self.value() };
        if any > self.max_value { any } else { self.value() }
    }

    fn exact(&self) -> bool {
        self.map.segments().len() == 1
    }

    /// The values of a key and its aliases, sorted.
    fn of_class(&self, key: usize) -> Vec<u16> {
        let members = (0..self.keys.len()).filter(|&other| self.class[other] == self.class[key]);
        let mut values: Vec<u16> = members.flat_map(|key| self.owned[key].clone()).collect();
        values.sort_unstable();
        values
    }

    /// Checks what an insert of a key returned, and takes note of it.
    fn note(&mut self, key: usize, value: u16, outcome: Result<(), InsertError>, before: usize) {
        match outcome {
            Ok(()) => {
                assert!(value <= self.max_value, "{value} does not fit");
                assert!(self.max_copies.is_none_or(|limit| before < limit || !self.exact()));
                self.owned[key].push(value);
                self.inserted += 1;
            }
            Err(InsertError::ValueTooLarge) => assert!(value > self.max_value, "{value} fits"),
            Err(error) => {
                assert!(value <= self.max_value);
                let [one, both] = E::copy_limits(self.layout);
                let limits = [Some(one), Some(both), self.max_copies];
                let too_many = error == InsertError::TooManyCopies;
                assert!(!too_many || !self.exact() || limits.contains(&Some(before)), "{before}");
                self.refused += 1;
            }
        }
    }

    fn insert(&mut self) {
        let (key, value) = (self.key(), self.any_value());
        let before = self.of_class(key).len();
        let outcome = self.map.insert(&self.keys[key], value);
        self.note(key, value, outcome, before);
    }

    fn insert_unique(&mut self) {
        let (key, value) = (self.key(), self.any_value());
        let (class, own) = (self.of_class(key), self.owned[key].len());
        match self.map.insert_unique(&self.keys[key], value) {
            Ok(Insertion::Found(found)) => {
                assert!(value <= self.max_value && class.contains(&found))
            }
            Ok(Insertion::New(())) => {
                assert!(value <= self.max_value && own == 0);
                assert!(class.is_empty() || !self.exact());
                self.owned[key].push(value);
            }
            Err(InsertError::ValueTooLarge) => assert!(value > self.max_value),
            Err(error) => {
                assert_eq!(error, InsertError::Full);
                assert!(own == 0 && (class.is_empty() || !self.exact()));
            }
        }
    }

    /// Takes one of the values of a key, if there is one.
    fn take(&mut self, key: usize) -> Option<u16> {
        let most = self.owned[key].len();
        (most > 0).then(|| self.owned[key].swap_remove(self.rng.random_range(0..most)))
    }

    fn remove_or_replace(&mut self) {
        let (key, new) = (self.key(), self.any_value());
        let name = self.keys[key];
        let Some(old) = self.take(key) else { return };
        if self.rng.random() {
            assert!(self.map.remove(&name, old), "no {old}");
        } else if self.map.replace(&name, old, new) {
            assert!(new <= self.max_value);
            self.owned[key].push(new);
        } else {
            assert!(new > self.max_value, "{old} was not replaced by {new}");
            self.owned[key].push(old);
        }
        // What is not there cannot be removed.
        let other = self.any_value();
        if !self.of_class(key).contains(&other) {
            assert!(!self.map.remove(&name, other) && !self.map.replace(&name, other, new));
        }
    }

    fn insert_batch(&mut self) {
        let len = self.rng.random_range(0..70);
        let keys: Vec<usize> = (0..len).map(|_| self.key()).collect();
        let all_fit = self.rng.random();
        let value = |_| if all_fit { self.value() } else { self.any_value() };
        let values: Vec<u16> = (0..len).map(value).collect();
        let names: Vec<u64> = keys.iter().map(|&key| self.keys[key]).collect();
        let outcome = if self.rng.random() {
            self.map.insert_batch(&names, &values)
        } else {
            let hashes: Vec<u64> = names.iter().map(|key| self.hash(*key)).collect();
            self.map.insert_batch(Hashed::slice(&hashes), &values)
        };
        let mut reasons = vec![Ok(()); len];
        if let Err(error) = outcome {
            assert_eq!(error.added(), len - error.failures().len());
            for (position, reason) in error.failures() {
                reasons[position] = Err(reason);
            }
        }
        for ((&key, &value), reason) in keys.iter().zip(&values).zip(reasons) {
            // How many copies there were before is not known.
            assert_eq!(reason == Err(InsertError::ValueTooLarge), value > self.max_value);
            if reason.is_ok() {
                self.owned[key].push(value);
            }
        }
    }

    fn remove_batch(&mut self) {
        let len = self.rng.random_range(0..40);
        let mut batch = Vec::new();
        for _ in 0..len {
            let key = self.key();
            if let Some(value) = self.take(key) {
                batch.push((self.keys[key], value, true));
            } else if let Some(large) = self.max_value.checked_add(1) {
                batch.push((self.keys[key], large, false));
            }
        }
        let keys: Vec<u64> = batch.iter().map(|&(key, ..)| key).collect();
        let values: Vec<u16> = batch.iter().map(|&(_, value, _)| value).collect();
        let expected: Vec<bool> = batch.iter().map(|&(.., present)| present).collect();
        let mut removed = vec![true; batch.len()];
        let count = if self.rng.random() {
            self.map.remove_batch(&keys, &values, &mut removed)
        } else {
            let hashes: Vec<u64> = keys.iter().map(|key| self.hash(*key)).collect();
            self.map.remove_batch(Hashed::slice(&hashes), &values, &mut removed)
        };
        assert_eq!(removed, expected);
        assert_eq!(count, removed.iter().filter(|&&removed| removed).count());
    }

    /// Operations on the whole map.
    fn whole(&mut self) {
        match self.rng.random_range(0..8) {
            0 => {
                self.map.clear();
                self.owned.iter_mut().for_each(Vec::clear);
            }
            1 => {
                if self.map.merge(&self.map).is_ok() {
                    self.owned.iter_mut().for_each(|values| values.extend(values.clone()));
                }
            }
            #[cfg(feature = "std")]
            2..5 => self.map = Map::loader().bytes(&self.map.to_bytes()).expect("its own bytes"),
            _ => self.map = self.map.clone(),
        }
    }

    fn hash(&self, key: u64) -> u64 {
        use std::hash::BuildHasher;
        self.map.hasher().hash_one(key)
    }

    /// Checks all lookups.
    fn check(&mut self) {
        assert_eq!(self.map.len(), self.owned.iter().map(Vec::len).sum::<usize>());
        for key in 0..self.keys.len() {
            let (name, class) = (self.keys[key], self.of_class(key));
            let mut values: Vec<u16> = self.map.values(&name).collect();
            values.sort_unstable();
            if self.exact() {
                assert_eq!(values, class);
            }
            let times = |values: &[u16], value| values.iter().filter(|&&v| v == value).count();
            for &value in self.owned[key].iter().chain(&values) {
                let own = times(&self.owned[key], value);
                assert!((own..=times(&class, value)).contains(&times(&values, value)));
            }
            let got = self.map.get(&name);
            assert_eq!(got.is_some(), !values.is_empty());
            assert!(got.is_none_or(|got| values.contains(&got)));
            assert_eq!(self.map.contains(&name), got.is_some());
            assert_eq!(self.map.count(&name), values.len());
            for value in [0, 1, self.max_value, self.any_value()] {
                assert_eq!(self.map.contains_value(&name, value), values.contains(&value));
            }
            let hash = Hashed(self.hash(name));
            assert_eq!((self.map.get(&hash), self.map.contains(&hash)), (got, got.is_some()));
            assert_eq!(self.map.values(&hash).len(), values.len());
        }
        let len = self.rng.random_range(0..=self.keys.len());
        let single: Vec<_> = self.keys[..len].iter().map(|key| self.map.get(key)).collect();
        let (mut values, mut found) = (vec![Some(7); len], vec![true; len]);
        let count = self.map.get_batch(&self.keys[..len], &mut values);
        assert_eq!((&values, count), (&single, single.iter().flatten().count()));
        let (mut numbers, mut flags) = (vec![7; len], vec![true; len]);
        assert_eq!(self.map.get_batch_into(&self.keys[..len], &mut numbers, &mut flags), count);
        assert_eq!(self.map.contains_batch(&self.keys[..len], &mut found), count);
        assert_eq!(flags, found);
        let expected: Vec<_> = single.iter().map(|value| value.unwrap_or(0)).collect();
        assert_eq!(numbers, expected);
        let mask = self.map.contains_mask(&self.keys[..len]);
        numbers.fill(7);
        assert_eq!(self.map.get_mask(&self.keys[..len], &mut numbers), mask);
        assert_eq!(numbers, expected);
        for (position, value) in single.iter().enumerate() {
            assert_eq!(found[position], value.is_some());
            assert_eq!(mask >> position & 1 != 0, value.is_some());
        }
        assert!(len == 64 || mask >> len == 0);
    }
}

/// Runs sequences of operations on maps of every layout and several sizes.
pub fn model<E: Subject>() {
    for (number, layout) in layouts().into_iter().enumerate() {
        for (capacity, max_copies) in
            [(1, None), (3, None), (8, Some(2)), (20, None), (60, Some(3)), (100, None)]
        {
            let mut checker = Checker::<E>::new(layout, capacity, max_copies, number as u64);
            // A map that grows takes several times as long, in as many operations.
            for _ in 0..scaled(60, 1_000) / if E::GROWS { 3 } else { 1 } {
                for _ in 0..10 {
                    match checker.rng.random_range(0..100) {
                        0..30 => checker.insert(),
                        30..45 => checker.insert_unique(),
                        45..85 => checker.remove_or_replace(),
                        85..91 => checker.insert_batch(),
                        91..97 => checker.remove_batch(),
                        _ => checker.whole(),
                    }
                }
                checker.check();
            }
            assert!(checker.inserted > 10, "{layout:?}, {capacity}: {}", checker.inserted);
            let refused = checker.refused > 0 || capacity > 20 || checker.map.segments().len() > 1;
            assert!(refused, "{layout:?}, {capacity}: nothing was refused");
        }
    }
}
