//! What a filter should hold: a multiset of items, which knows what keys are aliases.

use std::hash::BuildHasher;

use rand::{Rng, RngExt};

use super::{
    chosen::relatives,
    kind::{Kind, Of},
};

/// Keys, and the tags of the items of each of them.
///
/// If items expire in a filter that grows, slots know different parts of them. Then it is not known
/// which of several slots a refresh took. As long as one of these can be seen, the multiset is
/// *disturbed*: it holds what must be found, and there may be more.
pub struct Items<T> {
    pub keys: Vec<u64>,
    /// The first alias of each key, at the first size, which distinguishes the fewest.
    class: Vec<usize>,
    /// The tags of each key that were inserted and not yet removed.
    owned: Vec<Vec<T>>,
    /// Those of items that must be found, and cannot be removed, since their slots are not known.
    kept: Vec<Vec<T>>,
    /// While it is disturbed: the last tag that a slot of each key may have.
    latest: Vec<Option<T>>,
    /// The last tag that such a refresh gave. Until it expires, removals may be refused.
    disturbed: Option<T>,
}

impl<T: Copy + Ord> Items<T> {
    /// Some keys, a few of which are aliases of others if such are found in so many tries. The filter
    /// must be empty, and is empty again in the end: aliases are what a filter that holds one key
    /// answers to.
    pub fn draw<K: Kind<Tag = T>, S: BuildHasher>(
        empty: &Of<K, S>,
        (count, tries): (usize, usize),
        seed: u64,
        rng: &mut dyn Rng,
    ) -> Self {
        let alone = |key: u64| {
            empty.clear();
            assert!(K::insert_unique(empty, &key, 0).expect("the filter is empty").is_new());
        };
        let mut keys: Vec<u64> = (0..count).map(|_| rng.random()).collect();
        for first in 0..5.min(count) {
            let key = keys[first];
            alone(key);
            if K::GROWS && empty.hash_key(&key).0 == key {
                let first = empty.slots() as u64 / u64::from(empty.layout().slots_per_bucket());
                keys.extend(
                    relatives(key, seed, (empty.layout(), first), 18).into_iter().flatten(),
                );
            }
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
        let none = vec![Vec::new(); keys.len()];
        let latest = vec![None; keys.len()];
        Self { keys, class, owned: none.clone(), kept: none, latest, disturbed: None }
    }

    pub fn len(&self) -> usize {
        self.owned.iter().chain(&self.kept).map(Vec::len).sum()
    }

    /// The tags of a key.
    pub fn of(&self, key: usize) -> Vec<T> {
        [&self.owned[key][..], &self.kept[key]].concat()
    }

    /// The keys of a class.
    fn members(&self, key: usize) -> impl Iterator<Item = usize> {
        (0..self.keys.len()).filter(move |&other| self.class[other] == self.class[key])
    }

    /// The tags of a key and its aliases, sorted.
    pub fn of_class(&self, key: usize) -> Vec<T> {
        let mut tags: Vec<T> = self.members(key).flat_map(|key| self.of(key)).collect();
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
        let all = self.owned.iter_mut().chain(&mut self.kept);
        all.for_each(|tags| tags.retain(|&tag| stays(tag)));
        let latest = self.latest.iter_mut().chain([&mut self.disturbed]);
        latest.for_each(|latest| *latest = latest.filter(|&tag| stays(tag)));
    }

    pub fn clear(&mut self) {
        self.owned.iter_mut().chain(&mut self.kept).for_each(Vec::clear);
        self.latest.fill(None);
    }

    pub fn is_disturbed(&self) -> bool {
        self.disturbed.is_some()
    }

    /// Whether a slot that matches a key may be there.
    pub fn may_be_found(&self, key: usize) -> bool {
        self.latest[key].is_some() || !self.of_class(key).is_empty()
    }

    /// A slot that matches a key may have this tag, although no item is known to have it.
    pub fn disturb(&mut self, key: usize, tag: T) {
        self.disturbed = self.disturbed.max(Some(tag));
        let most = self.of_class(key).into_iter().max();
        for member in self.members(key).collect::<Vec<_>>() {
            self.latest[member] = self.latest[member].max(most).max(Some(tag));
        }
    }

    /// A slot that matches a key has got this tag: it is not known which.
    pub fn refresh(&mut self, key: usize, tag: T) {
        let owned = std::mem::take(&mut self.owned[key]);
        self.kept[key].extend(owned);
        if let Some(oldest) = self.kept[key].iter_mut().min() {
            *oldest = tag;
        }
        self.disturb(key, tag);
    }
}
