//! Random sequences of operations against a multiset.

use std::hash::BuildHasher;

use guira::{Hashed, InsertBatchError, InsertError, Insertion, Layout};
use rand::{Rng, RngExt};

use super::SIZES;
use crate::common::{
    self, Subject, capacity_of_kind,
    items::Items,
    kind::{Kind, Maker, Of},
    positions, scaled, settings,
};

/// Number of distinct keys, aliases aside.
const KEYS: usize = 30;

/// What an insert of an absent key returns.
type Unique<T> = Result<Insertion<T, Option<T>>, InsertError>;

/// A filter, and what it should hold.
///
/// A key has exactly the items of its class of aliases. A filter whose buckets were split can
/// distinguish some of these aliases: then a key has at least its own items, and at most those of
/// its class.
pub struct Checker<K: Kind, S, R> {
    pub filter: Of<K, S>,
    pub items: Items<K::Tag>,
    max_copies: Option<usize>,
    /// The number of slots at first.
    pub first_slots: usize,
    /// Decides what is done.
    pub rng: R,
    /// Inserts that were refused.
    refused: usize,
}

/// Calls an operation with the keys at these places, as items or as their hashes.
macro_rules! call {
    ($self:ident, $places:expr, |$keys:ident| $call:expr) => {{
        let names: Vec<u64> = $places.iter().map(|&key| $self.items.keys[key]).collect();
        if $self.rng.random() {
            let $keys = &names[..];
            $call
        } else {
            let hashes: Vec<u64> = names.iter().map(|key| $self.filter.hash_key(key).0).collect();
            let $keys = Hashed::slice(&hashes);
            $call
        }
    }};
}

impl<K: Kind, S: BuildHasher + Clone, R: Rng> Checker<K, S, R> {
    pub fn new(make: Maker<K, S>, layout: Layout, buckets: usize, seed: u64, rng: R) -> Self {
        // Copies are limited in every other case.
        let max_copies = (K::IS_PERMANENT && seed % 2 == 1).then_some(1 + seed as usize % 3);
        let capacity = capacity_of_kind::<K>(layout, buckets);
        let builder = make(settings::<K>(capacity, layout, seed));
        let builder = max_copies.into_iter().fold(builder, K::limited);
        let filter = builder.build().expect("a small filter");
        let tries = scaled(300, 3_000);
        let mut keys = common::rng(seed);
        let items = Items::draw::<K, S>(&filter, (KEYS, tries), seed, &mut keys);
        let first_slots = filter.slots();
        Self { filter, items, max_copies, first_slots, rng, refused: 0 }
    }

    /// A key. A third of the draws go to three keys, so that they get many copies.
    pub fn key(&mut self) -> usize {
        let most = if self.rng.random_ratio(1, 3) { 3 } else { self.items.keys.len() };
        self.rng.random_range(0..most)
    }

    pub fn keys(&mut self, most: usize) -> Vec<usize> {
        (0..self.rng.random_range(0..=most)).map(|_| self.key()).collect()
    }

    pub fn want(&mut self) -> u16 {
        K::want(&self.filter, &mut self.rng)
    }

    /// Whether a key has exactly the items of its class.
    pub fn is_exact(&self) -> bool {
        self.filter.slots() == self.first_slots && !self.items.is_disturbed()
    }

    /// Records an insert that succeeded, or judges the refusal.
    fn record(
        &mut self,
        key: usize,
        expected: Result<K::Tag, InsertError>,
        outcome: Result<K::Tag, InsertError>,
    ) {
        let count = self.items.of_class(key).len();
        let [same_bucket, most] = K::Growth::copy_limits(self.filter.layout());
        let limit = self.max_copies.unwrap_or(usize::MAX);
        match (expected, outcome) {
            (Ok(tag), Ok(got)) => {
                assert_eq!(got, tag);
                assert!(count < most.min(limit) || !self.is_exact(), "more copies than the limit");
                self.items.add(key, tag);
            }
            (Err(error), outcome) => assert_eq!(outcome, Err(error)),
            // Nobody knows how many copies there are.
            (Ok(_), Err(InsertError::TooManyCopies | InsertError::Full | InsertError::Crowded))
                if self.items.is_disturbed() =>
            {
                self.refused += 1;
            }
            (Ok(_), Err(InsertError::TooManyCopies)) => {
                assert!(count >= same_bucket.min(limit), "{count} are not too many");
                // Shrinking brings aliases together that a larger table distinguished.
                let at_limit = K::GROWS || [same_bucket, most].contains(&count) || count >= limit;
                assert!(at_limit || !self.is_exact(), "{count} are not too many");
                self.refused += 1;
            }
            (Ok(_), Err(error)) => {
                // In a table that splits: copies of others have filled both buckets, among them
                // those of aliases, which few splits tell apart.
                assert!(matches!(error, InsertError::Full | InsertError::Crowded), "{error:?}");
                // Expired items may be in the way until they are swept.
                let is_filled = self.items.len() >= same_bucket || !K::IS_PERMANENT;
                let is_possible = is_filled && (count < most || !self.is_exact());
                assert!(is_possible, "full with {} items", self.items.len());
                self.refused += 1;
            }
        }
    }

    /// Checks whether this answer of a lookup is possible.
    pub fn judge_lookup(&self, key: usize, found: bool) {
        let in_class = !self.items.of_class(key).is_empty();
        assert!(found || self.items.of(key).is_empty(), "a false negative");
        let may_be_found = self.items.may_be_found(key);
        assert!(!found || may_be_found, "found, and no alias is in the filter");
        assert!(found == in_class || !self.is_exact());
    }

    /// As `record`, for an insert that must not add a copy to present ones.
    fn record_unique(&mut self, key: usize, want: u16, outcome: Unique<K::Tag>) {
        let expected = K::plain_tag(&self.filter, want);
        assert_ne!(outcome, Err(InsertError::TooManyCopies));
        match (expected, outcome) {
            (Ok(tag), Ok(Insertion::New(got))) => {
                assert_eq!(got, tag);
                self.judge_lookup(key, false);
                self.items.add(key, tag);
            }
            (Ok(_), Ok(Insertion::Found(found))) => {
                self.judge_lookup(key, true);
                assert!(found.is_none_or(|tag| self.items.of_class(key).contains(&tag)));
            }
            (expected, outcome) => {
                let is_absent = self.items.of_class(key).is_empty();
                assert!(expected.is_err() || is_absent || !self.is_exact());
                let error = outcome.map(drop).expect_err("refused");
                self.record(key, expected, Err(error));
            }
        }
    }

    fn insert(&mut self) {
        let (key, want) = (self.key(), self.want());
        let expected = K::tag(&self.filter, want);
        let outcome = call!(self, [key], |keys| K::insert(&self.filter, &keys[0], want));
        self.record(key, expected, outcome);
    }

    fn insert_unique(&mut self) {
        let (key, want) = (self.key(), self.want());
        let outcome = call!(self, [key], |keys| K::insert_unique(&self.filter, &keys[0], want));
        self.record_unique(key, want, outcome);
    }

    fn remove_or_retag(&mut self) {
        let (key, want) = (self.key(), self.want());
        let (name, other) = (self.items.keys[key], K::any_tag(&self.filter, &mut self.rng));
        if let Some(tag) = self.items.take(key, &mut self.rng) {
            let retags = self.rng.random::<bool>();
            let new = retags.then(|| K::retag(&self.filter, name, tag, want)).flatten();
            if let Some(new) = new {
                self.items.add(key, new);
            } else {
                let removed = call!(self, [key], |keys| K::remove(&self.filter, &keys[0], tag));
                if !removed {
                    assert!(self.items.is_disturbed(), "no {tag:?}");
                    self.items.disturb(key, tag);
                }
            }
        }
        // What is not there cannot be removed.
        if !self.items.is_disturbed() && !self.items.of_class(key).contains(&other) {
            assert!(!K::remove(&self.filter, &name, other), "{other:?} is not there");
        }
    }

    /// A batch may refuse any of several copies of one class. So the accepted ones are recorded
    /// first, and the refusals are judged by the final state.
    fn insert_batch(&mut self) {
        let keys = self.keys(70);
        let fit = self.rng.random::<bool>();
        let wants: Vec<u16> = keys.iter().map(|_| if fit { 0 } else { self.want() }).collect();
        let expected: Vec<_> = wants.iter().map(|&want| K::plain_tag(&self.filter, want)).collect();
        let outcome = call!(self, keys, |keys| K::insert_batch(&self.filter, keys, &wants));
        let rejected = outcome.as_ref().map_or_else(positions, |_| vec![]);
        assert!(rejected.is_sorted_by(|a, b| a < b), "{outcome:?}");
        let told = outcome.as_ref().ok().copied().flatten();
        assert!(told.is_none_or(|tag| expected.iter().all(|other| *other == Ok(tag))), "{told:?}");
        for (place, &key) in keys.iter().enumerate() {
            if !rejected.contains(&place) {
                self.record(key, expected[place], Ok(expected[place].expect("it was accepted")));
            }
        }
        let Err(error) = outcome else { return };
        assert!(!rejected.is_empty() && error.added() + rejected.len() == keys.len());
        assert_eq!((error.tried(), error.is_complete()), (keys.len(), true));
        for (place, reason) in error.failures() {
            self.record(keys[place], expected[place], Err(reason));
        }
    }

    fn insert_unique_batch(&mut self) {
        let keys = self.keys(70);
        let mut added = vec![true; keys.len()];
        let outcome =
            call!(self, keys, |keys| K::insert_unique_batch(&self.filter, keys, &mut added));
        let Some(outcome) = outcome else { return };
        let total = outcome.as_ref().map_or_else(InsertBatchError::added, |&added| added);
        assert_eq!(total, added.iter().filter(|&&added| added).count());
        let rejected = outcome.map_or_else(|error| positions(&error), |_| vec![]);
        assert!(rejected.is_sorted_by(|a, b| a < b));
        for (place, &key) in keys.iter().enumerate() {
            assert!(!added[place] || !rejected.contains(&place));
            if added[place] {
                let tag = K::plain_tag(&self.filter, 0).expect("a tag");
                self.record_unique(key, 0, Ok(Insertion::New(tag)));
            }
        }
        // An item that was neither added nor refused is present at the end.
        for (place, &key) in keys.iter().enumerate() {
            assert!(rejected.contains(&place) || self.items.may_be_found(key));
        }
    }

    fn insert_unique_mask(&mut self) {
        let keys = self.keys(64);
        let masks = call!(self, keys, |keys| K::insert_unique_mask(&self.filter, keys));
        let Some(masks) = masks else { return };
        assert_eq!(masks.added & masks.refused, 0);
        for (place, &key) in keys.iter().enumerate() {
            let [added, refused] = [masks.added, masks.refused].map(|mask| mask >> place & 1 == 1);
            let tag = K::plain_tag(&self.filter, 0);
            let insertion =
                if added { tag.map(Insertion::New) } else { Ok(Insertion::Found(None)) };
            self.record_unique(key, 0, if refused { Err(InsertError::Full) } else { insertion });
        }
        let unused = u64::MAX.checked_shl(keys.len() as u32).unwrap_or(0);
        assert_eq!((masks.added | masks.refused) & unused, 0);
    }

    /// Removes items that are owned, and keys that are absent.
    fn remove_batch(&mut self) {
        if self.items.is_disturbed() {
            return;
        }
        let (mut keys, mut tags, mut expected) = (Vec::new(), Vec::new(), Vec::new());
        for key in self.keys(70) {
            let absent = K::any_tag(&self.filter, &mut self.rng);
            let own = self.items.take(key, &mut self.rng);
            // What the batch removes before is not absent.
            if own.is_some()
                || !self.items.of_class(key).contains(&absent) && !tags.contains(&absent)
            {
                keys.push(key);
                tags.push(own.unwrap_or(absent));
                expected.push(own.is_some());
            }
        }
        let mut removed = vec![true; keys.len()];
        let total =
            call!(self, keys, |keys| K::remove_batch(&self.filter, keys, &tags, &mut removed));
        assert_eq!(removed, expected);
        assert_eq!(total, removed.iter().filter(|&&removed| removed).count());
    }

    pub fn step(&mut self) {
        match self.rng.random_range(0..100) {
            0..30 => self.insert(),
            30..42 => self.insert_unique(),
            42..70 => self.remove_or_retag(),
            70..76 => self.insert_batch(),
            76..80 => self.insert_unique_batch(),
            80..84 => self.insert_unique_mask(),
            84..90 => self.remove_batch(),
            90..96 => K::pass_time(&self.filter, &mut self.items, &mut self.rng),
            _ => self.whole(),
        }
    }
}

/// Runs a random sequence of operations. Returns the filter's bytes in the end.
fn run<K: Kind, S: BuildHasher + Clone>(
    make: Maker<K, S>,
    layout: Layout,
    buckets: usize,
    seed: u64,
) -> Vec<u8> {
    // For the report of a failure.
    println!("{layout:?}, {buckets} buckets, seed {seed}");
    let mut checker = Checker::<K, S, _>::new(make, layout, buckets, seed, common::rng(seed));
    // A filter that grows takes several times as long, in as many operations.
    for _ in 0..scaled(30, 300) / if K::GROWS { 3 } else { 1 } {
        (0..4).for_each(|_| checker.step());
        checker.check();
    }
    let is_small = buckets < 8 && !K::GROWS;
    assert!(checker.refused > 0 || !is_small, "nothing was refused");
    #[cfg(feature = "std")]
    let bytes = checker.filter.to_bytes();
    #[cfg(not(feature = "std"))]
    let bytes = vec![];
    // What was inserted can be removed, or expires, and nothing is left.
    if checker.items.is_disturbed() {
        (0..300).for_each(|_| K::advance(&checker.filter));
        checker.items.clear();
    }
    for key in 0..checker.items.keys.len() {
        while let Some(tag) = checker.items.take(key, &mut checker.rng) {
            assert!(K::remove(&checker.filter, &checker.items.keys[key], tag), "no {tag:?}");
        }
    }
    assert!(checker.filter.is_empty());
    bytes
}

/// Random sequences of operations in every layout and several sizes, against a multiset. Equal
/// sequences give equal filters.
pub fn model<K: Kind, S: BuildHasher + Clone>(make: Maker<K, S>) {
    for (number, layout) in K::layouts().into_iter().enumerate() {
        for (size, buckets) in SIZES.into_iter().enumerate() {
            let seed = (number * SIZES.len() + size) as u64;
            let bytes = run::<K, S>(make, layout, buckets, seed);
            assert!(!seed.is_multiple_of(8) || bytes == run::<K, S>(make, layout, buckets, seed));
        }
    }
}
