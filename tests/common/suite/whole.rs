//! The model's operations on the whole filter.

use std::hash::BuildHasher;

use guira::MergeError;
use rand::{Rng, RngExt};

use super::model::Checker;
use crate::common::{Subject, items::Items, kind::Kind};

impl<K: Kind, S: BuildHasher + Clone, R: Rng> Checker<K, S, R> {
    /// Merges the filter with itself, or with another one, if there is room.
    fn merge(&mut self) {
        if self.rng.random() {
            if let Some(Ok(())) = K::merge(&self.filter, &self.filter) {
                self.items.double();
            }
            return;
        }
        let (source, mut added) = (self.filter.try_clone().expect("a small filter"), Vec::new());
        // Often it is empty.
        source.clear();
        for key in self.keys(40) {
            let want = self.want();
            if let Ok(tag) = K::insert(&source, &self.items.keys[key], want) {
                added.push((key, tag));
            }
        }
        let counts = |items: &Items<K::Tag>| -> Vec<usize> {
            items.keys.iter().map(|key| source.count(key)).collect()
        };
        let before = counts(&self.items);
        match K::merge(&self.filter, &source) {
            Some(Ok(())) => added.iter().for_each(|&(key, tag)| self.items.add(key, tag)),
            Some(Err(MergeError::Full { fitted, items, .. })) => {
                assert!(fitted < items && items == added.len() as u64);
            }
            Some(Err(error)) => assert_eq!(error, MergeError::TooManyCopies),
            None => {}
        }
        assert_eq!((source.len(), counts(&self.items)), (added.len(), before), "it has changed");
    }

    /// Makes a table split its buckets: inserts many keys, and removes them. Not so often that
    /// tails run out.
    fn split(&mut self) {
        if !K::GROWS || self.filter.slots() >= 8 * self.first_slots {
            return;
        }
        let ballast: Vec<u64> = (0..self.filter.slots()).map(|_| self.rng.random()).collect();
        // Few are refused, but with a bad hasher most are.
        let added = |key: &&u64| K::add(&self.filter, **key).is_ok();
        let added: Vec<u64> = ballast.iter().filter(added).copied().collect();
        let is_disturbed = self.items.is_disturbed();
        assert!(self.filter.len() == self.items.len() + added.len() || is_disturbed);
        for key in added {
            if !K::take(&self.filter, key) {
                assert!(is_disturbed, "one is missing");
                let tag = K::tag_of(&self.filter, key);
                (0..self.items.keys.len()).for_each(|other| self.items.disturb(other, tag));
            }
        }
    }

    /// Operations on the whole filter.
    pub fn whole(&mut self) {
        let now = K::now(&self.filter);
        match self.rng.random_range(0..9) {
            8 => self.split(),
            0 => {
                let slots = self.filter.slots();
                self.filter.clear();
                assert_eq!(self.filter.slots(), slots);
                self.items.clear();
            }
            1 => self.merge(),
            2 => {
                let before = self.filter.size_in_bytes();
                let released = K::Growth::shrink(&mut self.filter);
                assert_eq!(released, before - self.filter.size_in_bytes());
            }
            3..5 => {
                let copy = self.filter.try_clone().expect("a small filter");
                let original = std::mem::replace(&mut self.filter, copy);
                // The two share nothing.
                original.clear();
                assert!(original.is_empty());
            }
            _ => self.reload(),
        }
        assert_eq!(K::now(&self.filter), now, "another generation");
    }

    /// Saves the filter and loads it.
    fn reload(&mut self) {
        #[cfg(feature = "std")]
        {
            let (bytes, hasher) = (self.filter.to_bytes(), self.filter.hasher().clone());
            let loader = guira::Filter::<K::Contents, K::Growth>::loader().hasher(hasher);
            self.filter = loader.bytes(&bytes).expect("its own bytes");
            assert!(self.filter.to_bytes() == bytes);
        }
    }
}
