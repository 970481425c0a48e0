//! Maps.

use std::hash::BuildHasher;

use guira::{InsertBatchError, InsertError, Insertion, Key, Layout, MergeError, kind::Map};
use rand::{Rng, RngExt};

use super::{BuilderOf, Kind, Of, permanent};
use crate::common::Subject;

/// The largest value that fits.
pub fn max_value(layout: Layout) -> u16 {
    ((1_u32 << layout.value_bits()) - 1) as u16
}

impl<G: Subject> Kind for (Map, G) {
    type Contents = Map;
    type Growth = G;
    type Tag = u16;

    const IS_MAP: bool = true;

    permanent!();

    /// Each number of slots, with values of no bits, of few, and of most.
    fn layouts() -> Vec<Layout> {
        let layout = if Self::GROWS { Layout::growing } else { Layout::with_values };
        let of =
            |slots| [0, 1, 2, 4, 8, 13, 16].into_iter().filter_map(move |bits| layout(slots, bits));
        (2..=6).flat_map(of).collect()
    }

    /// Often one of few values.
    fn want<S>(filter: &Of<Self, S>, rng: &mut dyn Rng) -> u16 {
        let max = max_value(filter.layout());
        match rng.random_range(0..8) {
            0 => rng.random(),
            1..5 => rng.random_range(0..=max.min(2)),
            _ => rng.random_range(0..=max),
        }
    }

    fn any_tag<S>(filter: &Of<Self, S>, rng: &mut dyn Rng) -> u16 {
        Self::want(filter, rng)
    }

    fn tag<S>(filter: &Of<Self, S>, want: u16) -> Result<u16, InsertError> {
        if want <= max_value(filter.layout()) { Ok(want) } else { Err(InsertError::ValueTooLarge) }
    }

    fn usual_want<S>(filter: &Of<Self, S>, key: u64) -> u16 {
        (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48) as u16 & max_value(filter.layout())
    }

    fn insert<Q: Key + ?Sized, S: BuildHasher>(
        filter: &Of<Self, S>,
        key: &Q,
        want: u16,
    ) -> Result<u16, InsertError> {
        filter.insert(key, want).map(|()| want)
    }

    fn insert_unique<Q: Key + ?Sized, S: BuildHasher>(
        filter: &Of<Self, S>,
        key: &Q,
        want: u16,
    ) -> Result<Insertion<u16, Option<u16>>, InsertError> {
        Ok(match filter.insert_unique(key, want)? {
            Insertion::New(()) => Insertion::New(want),
            Insertion::Found(found) => Insertion::Found(Some(found)),
        })
    }

    fn insert_batch<Q: Key + Copy, S: BuildHasher>(
        filter: &Of<Self, S>,
        keys: &[Q],
        wants: &[u16],
    ) -> Result<Option<u16>, InsertBatchError> {
        filter.insert_batch(keys, wants).map(|()| None)
    }

    fn remove<Q: Key + ?Sized, S: BuildHasher>(filter: &Of<Self, S>, key: &Q, tag: u16) -> bool {
        filter.remove(key, tag)
    }

    fn remove_batch<Q: Key, S: BuildHasher>(
        filter: &Of<Self, S>,
        keys: &[Q],
        tags: &[u16],
        removed: &mut [bool],
    ) -> usize {
        filter.remove_batch(keys, tags, removed)
    }

    fn tags<Q: Key + ?Sized, S: BuildHasher>(filter: &Of<Self, S>, key: &Q) -> Option<Vec<u16>> {
        Some(filter.values(key).collect())
    }

    fn get_each<S: BuildHasher>(
        filter: &Of<Self, S>,
        keys: &[u64],
        choice: u16,
    ) -> Option<Vec<Option<u16>>> {
        let mut found = vec![None; keys.len()];
        match choice {
            0 => keys.iter().zip(&mut found).for_each(|(key, found)| *found = filter.get(key)),
            1 => assert_eq!(filter.get_batch(keys, &mut found), found.iter().flatten().count()),
            _ => {
                let mut values = vec![0; keys.len()];
                let mask = filter.get_mask(keys, &mut values);
                let is_found = |(at, value)| (mask >> at & 1 == 1).then_some(value);
                found = values.into_iter().enumerate().map(is_found).collect();
            }
        }
        Some(found)
    }

    fn contains_tag<S: BuildHasher>(filter: &Of<Self, S>, key: u64, tag: u16) -> Option<bool> {
        Some(filter.contains_value(&key, tag))
    }

    fn holds<S: BuildHasher>(filter: &Of<Self, S>, key: u64, tags: &[u16]) -> bool {
        // One that is not changed is found by either way to ask for it.
        filter.values(&key).any(|value| tags.contains(&value))
            && (tags.len() > 1 || filter.contains_value(&key, tags[0]))
            && filter.get(&key).is_some()
            && filter.contains(&key)
    }

    fn finds_all<S: BuildHasher>(filter: &Of<Self, S>, keys: &[u64]) -> bool {
        let first = &keys[..keys.len().min(64)];
        let values = &mut [0; 64][..first.len()];
        filter.contains_batch(keys, &mut vec![false; keys.len()]) == keys.len()
            && filter.get_batch(keys, &mut vec![None; keys.len()]) == keys.len()
            && filter.contains_mask(first).count_ones() as usize == first.len()
            && filter.get_mask(first, values) == filter.contains_mask(first)
    }

    fn retag<S: BuildHasher>(filter: &Of<Self, S>, key: u64, tag: u16, want: u16) -> Option<u16> {
        let replaced = filter.replace(&key, tag, want);
        assert_eq!(replaced, want <= max_value(filter.layout()), "{tag} by {want}");
        Some(if replaced { want } else { tag })
    }

    /// All lookups of values agree with `values`, and in one burst with one another.
    fn check_lookups<S: BuildHasher>(filter: &Of<Self, S>, keys: &[u64], rng: &mut dyn Rng) {
        for key in keys {
            let (values, got) = (filter.values(key), filter.get(key));
            assert_eq!((got.is_some(), values.len()), (values.len() > 0, filter.count(key)));
            assert!(got.is_none_or(|got| values.clone().any(|value| value == got)));
            let hash = filter.hash_key(key);
            assert_eq!((filter.get(&hash), filter.values(&hash).len()), (got, values.len()));
            for value in [0, 1, max_value(filter.layout()), rng.random()] {
                let expected = values.clone().any(|other| other == value);
                assert_eq!(filter.contains_value(key, value), expected);
            }
        }
        let len = rng.random_range(0..=keys.len().min(64));
        let keys = &keys[..len];
        let single: Vec<_> = keys.iter().map(|key| filter.get(key)).collect();
        let expected: Vec<_> = single.iter().map(|value| value.unwrap_or(0)).collect();
        let mut values = vec![Some(7); len];
        let count = filter.get_batch(keys, &mut values);
        assert_eq!((&values, count), (&single, single.iter().flatten().count()));
        let mut numbers = vec![7; len];
        assert_eq!(filter.get_mask(keys, &mut numbers), filter.contains_mask(keys));
        assert_eq!(numbers, expected);
    }
}
