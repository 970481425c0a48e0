//! The comparison of a filter with a multiset.

use std::hash::BuildHasher;

use guira::Hashed;
use rand::Rng;

use super::model::Checker;
use crate::common::kind::Kind;

impl<K: Kind, S: BuildHasher + Clone, R: Rng> Checker<K, S, R> {
    /// Checks everything that a filter tells.
    pub fn check(&mut self) {
        let (filter, items) = (&self.filter, &self.items);
        let is_disturbed = items.is_disturbed();
        assert!(filter.len() == items.len() || is_disturbed, "{} items", filter.len());
        let len = filter.len();
        assert_eq!(filter.is_empty(), len == 0);
        let slots = filter.slots();
        assert!(slots >= filter.len() && slots >= filter.capacity());

        let hashes: Vec<u64> = items.keys.iter().map(|key| filter.hash_key(key).0).collect();
        let [mut found, mut by_hash] = [true, false].map(|unset| vec![unset; hashes.len()]);
        let hits = filter.contains_batch(&items.keys, &mut found);
        assert_eq!(hits, filter.contains_batch(Hashed::slice(&hashes), &mut by_hash));
        assert_eq!((hits, &found), (found.iter().filter(|&&found| found).count(), &by_hash));
        let mask = filter.contains_mask(&items.keys);
        assert_eq!(mask, filter.contains_mask(Hashed::slice(&hashes)));
        assert_eq!(mask.count_ones() as usize, hits);
        for (place, key) in items.keys.iter().enumerate() {
            let (class, own) = (items.of_class(place), items.of(place));
            let (count, found) = (filter.count(key), found[place]);
            assert!(count >= own.len(), "{count} of {own:?}");
            assert!(count <= class.len() || is_disturbed, "{count} of {class:?}");
            assert!(count == class.len() || !self.is_exact(), "{count}, not {class:?}");
            self.judge_lookup(place, found);
            let hash = Hashed(hashes[place]);
            assert_eq!((filter.count(&hash), filter.contains(&hash)), (count, found));
            assert_eq!((filter.contains(key), mask >> place & 1 == 1), (found, found));
            assert_eq!(found, count > 0);
            if let Some(mut tags) = K::tags(filter, key) {
                tags.sort_unstable();
                let times = |tags: &[K::Tag], tag| tags.iter().filter(|&&t| t == tag).count();
                for &tag in own.iter().chain(&tags) {
                    let possible = times(&own, tag)..=times(&class, tag);
                    assert!(possible.contains(&times(&tags, tag)), "{tags:?} of {class:?}");
                }
                assert_eq!(tags.len(), count);
            }
        }
        K::check_lookups(filter, &items.keys, &mut self.rng);
    }
}
