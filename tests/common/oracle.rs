//! The specification of a table: a multiset of pairs, each item in one of its two buckets.

use guira::{
    InsertError,
    raw::{Fingerprint, Pair},
};
use std::collections::HashMap;

/// A pair with its buckets in ascending order: equal for aliases.
type Key = (u32, u32, u32);

/// A multiset of pairs that decides exactly whether another one fits.
///
/// It keeps an assignment of items to buckets of its own. Whether one more item fits depends on the
/// multiset alone, not on where each item is (augmenting paths lead from every assignment to a
/// larger one if there is one), so its answer is exact for any table whose search is exhaustive.
pub struct Oracle {
    slots_per_bucket: usize,
    buckets: Vec<Vec<Key>>,
    counts: HashMap<Key, usize>,
}

impl Oracle {
    /// An empty multiset over this many buckets.
    pub fn new(buckets: u64, slots_per_bucket: u32) -> Self {
        let buckets = vec![Vec::new(); buckets as usize];
        Self { slots_per_bucket: slots_per_bucket as usize, buckets, counts: HashMap::new() }
    }

    /// The key of a pair.
    fn key(pair: Pair) -> Key {
        let [a, b] = pair.buckets;
        (pair.fingerprint.get(), a.min(b), a.max(b))
    }

    /// The alternate bucket of a key.
    fn alt_bucket((_, a, b): Key, bucket: u32) -> u32 {
        if bucket == a { b } else { a }
    }

    /// Copies of a pair.
    pub fn count(&self, pair: Pair) -> usize {
        self.counts.get(&Self::key(pair)).copied().unwrap_or(0)
    }

    /// The number of items.
    pub fn len(&self) -> usize {
        self.counts.values().sum()
    }

    /// Removes everything.
    pub fn clear(&mut self) {
        self.counts.clear();
        self.buckets.iter_mut().for_each(Vec::clear);
    }

    /// Adds a copy if there is room. Returns what `insert` must return.
    pub fn insert(&mut self, pair: Pair) -> Result<(), InsertError> {
        let key = Self::key(pair);
        let places = if key.1 == key.2 { 1 } else { 2 };
        if self.count(pair) == places * self.slots_per_bucket {
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

    /// Adds as many copies of each item as there are.
    ///
    /// # Panics
    /// If they do not fit.
    pub fn double(&mut self) {
        for (key, copies) in self.counts.clone() {
            let (fingerprint, first, second) = key;
            let fingerprint = Fingerprint::new(fingerprint);
            let pair = Pair { fingerprint, value: 0, buckets: [first, second] };
            (0..copies).for_each(|_| self.insert(pair).expect("room"));
        }
    }

    /// Adds a copy if there is none and there is room. Returns what `insert_unique` must return.
    pub fn insert_unique(&mut self, pair: Pair) -> Result<bool, InsertError> {
        if self.count(pair) > 0 {
            return Ok(false);
        }
        self.insert(pair).map(|()| true)
    }

    /// Frees a slot in a bucket, if necessary by a move of one of its items to its alternate
    /// bucket.
    fn make_room(&mut self, bucket: u32, visited: &mut [bool]) -> bool {
        if std::mem::replace(&mut visited[bucket as usize], true) {
            return false;
        }
        if self.buckets[bucket as usize].len() < self.slots_per_bucket {
            return true;
        }
        for place in 0..self.slots_per_bucket {
            let key = self.buckets[bucket as usize][place];
            let alternate = Self::alt_bucket(key, bucket);
            if self.make_room(alternate, visited) {
                self.buckets[bucket as usize].swap_remove(place);
                self.buckets[alternate as usize].push(key);
                return true;
            }
        }
        false
    }

    /// Removes a copy. Returns whether there was one.
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
