//! What a filter should hold: a multiset of items, which knows what keys are aliases.

use std::hash::BuildHasher;

use rand::{Rng, RngExt};

use super::kind::{Kind, Of};

/// Keys, and the tags of the items of each of them.
pub struct Items<T> {
    pub keys: Vec<u64>,
    /// The first alias of each key, at the first size, which distinguishes the fewest.
    class: Vec<usize>,
    /// The tags of each key that were inserted and not yet removed.
    owned: Vec<Vec<T>>,
}

impl<T: Copy + Ord> Items<T> {
    /// Some keys, a few of which are aliases of others if such are found in so many tries. The
    /// filter must be empty, and is empty again in the end: aliases are what a filter that holds
    /// one key answers to.
    pub fn draw<K: Kind<Tag = T>, S: BuildHasher>(
        empty: &Of<K, S>,
        count: usize,
        tries: usize,
        rng: &mut dyn Rng,
    ) -> Self {
        let alone = |key: u64| {
            empty.clear();
            assert!(K::insert_unique(empty, &key, 0).expect("the filter is empty").is_new());
        };
        let mut keys: Vec<u64> = (0..count).map(|_| rng.random()).collect();
        for first in 0..5.min(count) {
            alone(keys[first]);
            let others = (0..tries).map(|_| rng.random::<u64>());
            keys.extend(others.filter(|other| empty.contains(other)).take(2));
        }
        let mut class = vec![usize::MAX; keys.len()];
        for first in 0..keys.len() {
            if class[first] == usize::MAX {
                alone(keys[first]);
                let is_alias = |&key: &usize| empty.contains(&keys[key]);
                (first..keys.len()).filter(is_alias).for_each(|key| class[key] = first);
            }
        }
        empty.clear();
        let owned = vec![Vec::new(); keys.len()];
        Self { keys, class, owned }
    }

    pub fn len(&self) -> usize {
        self.owned.iter().map(Vec::len).sum()
    }

    /// The tags of a key.
    pub fn of(&self, key: usize) -> &[T] {
        &self.owned[key]
    }

    /// The tags of a key and its aliases, sorted.
    pub fn of_class(&self, key: usize) -> Vec<T> {
        let members = (0..self.keys.len()).filter(|&other| self.class[other] == self.class[key]);
        let mut tags: Vec<T> = members.flat_map(|key| self.owned[key].iter().copied()).collect();
        tags.sort_unstable();
        tags
    }

    /// As above, to change them.
    pub fn of_class_mut(&mut self, key: usize) -> impl Iterator<Item = &mut T> {
        let (class, first) = (&self.class, self.class[key]);
        let of_class =
            self.owned.iter_mut().enumerate().filter(move |(key, _)| class[*key] == first);
        of_class.flat_map(|(_, tags)| tags)
    }

    pub fn add(&mut self, key: usize, tag: T) {
        self.owned[key].push(tag);
    }

    /// Takes one of the tags of a key, if there is one.
    pub fn take(&mut self, key: usize, rng: &mut dyn Rng) -> Option<T> {
        let most = self.owned[key].len();
        (most > 0).then(|| self.owned[key].swap_remove(rng.random_range(0..most)))
    }

    /// Takes a tag of a key.
    pub fn take_tag(&mut self, key: usize, tag: T) {
        let place = self.owned[key].iter().position(|&other| other == tag);
        self.owned[key].swap_remove(place.expect("the key has this tag"));
    }

    /// Adds a copy of each item.
    pub fn double(&mut self) {
        self.owned.iter_mut().for_each(|tags| tags.extend_from_within(..));
    }

    pub fn retain(&mut self, stays: impl Fn(T) -> bool) {
        self.owned.iter_mut().for_each(|tags| tags.retain(|&tag| stays(tag)));
    }
}
