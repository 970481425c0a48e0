//! A filter's meaning, spelled out: a multiset of pairs, each item in one of its two buckets.

use guira::{InsertError, raw::Pair};
use std::collections::HashMap;

/// A pair without order: what items that are aliases have in common.
type Key = (u32, u32, u32);

/// A multiset of pairs that knows how many fit.
///
/// It keeps an assignment of items to buckets of its own. Whether one more item fits depends on the
/// multiset alone, not on who stands where (augmenting paths lead from every assignment to a
/// larger one if there is one), so its verdict is exact for any table whose search is exhaustive.
pub struct Oracle {
    lanes: usize,
    buckets: Vec<Vec<Key>>,
    counts: HashMap<Key, usize>,
}

impl Oracle {
    /// Nothing in so many buckets.
    pub fn new(buckets: u64, lanes: u32) -> Self {
        let buckets = vec![Vec::new(); buckets as usize];
        Self { lanes: lanes as usize, buckets, counts: HashMap::new() }
    }

    /// The pair without order.
    fn key(pair: Pair) -> Key {
        let [a, b] = pair.buckets;
        (pair.fingerprint.get(), a.min(b), a.max(b))
    }

    /// The bucket of a key that is not `bucket`, or `bucket` if both are.
    fn other((_, a, b): Key, bucket: u32) -> u32 {
        if bucket == a { b } else { a }
    }

    /// Copies of a pair.
    pub fn count(&self, pair: Pair) -> usize {
        self.counts.get(&Self::key(pair)).copied().unwrap_or(0)
    }

    /// Items in all.
    pub fn len(&self) -> usize {
        self.counts.values().sum()
    }

    /// Takes everything out.
    pub fn clear(&mut self) {
        self.counts.clear();
        self.buckets.iter_mut().for_each(Vec::clear);
    }

    /// Adds a copy if there is a way; what `insert` is to return.
    pub fn insert(&mut self, pair: Pair) -> Result<(), InsertError> {
        let key = Self::key(pair);
        let places = if key.1 == key.2 { 1 } else { 2 };
        if self.count(pair) == places * self.lanes {
            return Err(InsertError::TooManyCopies);
        }
        let mut visited = vec![false; self.buckets.len()];
        for bucket in pair.buckets {
            if self.make_room(bucket, &mut visited) {
                self.buckets[bucket as usize].push(key);
                *self.counts.entry(key).or_default() += 1;
                return Ok(());
            }
        }
        Err(InsertError::Full)
    }

    /// Adds a copy if there is none and a way; what `insert_unique` is to return.
    pub fn insert_unique(&mut self, pair: Pair) -> Result<bool, InsertError> {
        if self.count(pair) > 0 {
            return Ok(false);
        }
        self.insert(pair).map(|()| true)
    }

    /// Frees a place in a bucket, by moving one of its items to its other bucket if need be.
    fn make_room(&mut self, bucket: u32, visited: &mut [bool]) -> bool {
        if std::mem::replace(&mut visited[bucket as usize], true) {
            return false;
        }
        if self.buckets[bucket as usize].len() < self.lanes {
            return true;
        }
        for place in 0..self.lanes {
            let key = self.buckets[bucket as usize][place];
            let other = Self::other(key, bucket);
            if self.make_room(other, visited) {
                self.buckets[bucket as usize].swap_remove(place);
                self.buckets[other as usize].push(key);
                return true;
            }
        }
        false
    }

    /// Takes a copy out, and says whether there was one.
    pub fn remove(&mut self, pair: Pair) -> bool {
        let key = Self::key(pair);
        for bucket in pair.buckets {
            let bucket = &mut self.buckets[bucket as usize];
            if let Some(place) = bucket.iter().position(|&held| held == key) {
                bucket.swap_remove(place);
                *self.counts.get_mut(&key).expect("counted") -= 1;
                return true;
            }
        }
        false
    }
}
