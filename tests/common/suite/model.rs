//! Random sequences of operations against a multiset.

use std::hash::BuildHasher;

use guira::{Filter, Hashed, InsertBatchError, InsertError, Insertion, Layout, kind::Set};
use proptest::prelude::*;
use rand::RngExt;

use super::SIZES;
use crate::common::{
    Checked, Maker, Subject, build_on, capacity_of, positions, rng, runner, scaled,
};

/// Number of distinct keys.
const KEYS: usize = 40;

/// How an operation is called.
#[derive(Clone, Copy, Debug)]
enum Form {
    Items,
    Hashes,
}

/// An operation; the numbers stand for keys.
#[derive(Clone, Debug)]
enum Op {
    Insert(usize),
    InsertUnique(usize),
    Remove(usize),
    InsertBatch(Vec<usize>),
    TryExtend(Vec<usize>),
    InsertUniqueBatch(Vec<usize>),
    InsertUniqueMask(Vec<usize>),
    RemoveBatch(Vec<usize>),
    Clone,
    Clear,
}

fn op() -> impl Strategy<Value = (Form, Op)> {
    // A third of the draws go to three keys, so that they get many copies.
    let key = || prop_oneof![2 => 0..KEYS, 1 => 0..3_usize];
    let keys = |most: usize| prop::collection::vec(key(), 0..=most);
    let op = prop_oneof![
        8 => key().prop_map(Op::Insert),
        4 => key().prop_map(Op::InsertUnique),
        6 => key().prop_map(Op::Remove),
        1 => keys(70).prop_map(Op::InsertBatch),
        1 => keys(70).prop_map(Op::TryExtend),
        1 => keys(70).prop_map(Op::InsertUniqueBatch),
        1 => keys(64).prop_map(Op::InsertUniqueMask),
        1 => keys(70).prop_map(Op::RemoveBatch),
        1 => Just(Op::Clone),
        1 => Just(Op::Clear),
    ];
    (prop_oneof![Just(Form::Items), Just(Form::Hashes)], op)
}

/// Calls a method on items or on their hashes: the same method name on both.
macro_rules! call {
    ($self:ident, $form:expr, $method:ident($keys:expr $(, $answers:expr)?)) => {
        match $form {
            Form::Items => {
                let keys: Vec<u64> = $keys.iter().map(|&key| $self.keys[key]).collect();
                $self.filter.$method(&keys $(, $answers)?)
            }
            Form::Hashes => {
                let keys: Vec<u64> = $keys.iter().map(|&key| $self.hash(key)).collect();
                $self.filter.$method(Hashed::slice(&keys) $(, $answers)?)
            }
        }
    };
}

/// A filter, and a multiset that knows which keys are aliases.
///
/// With one segment a key has exactly the copies of its class of aliases. Classes are those of the
/// first segment, which are the coarsest. A filter of several segments can distinguish some of
/// these aliases: then a key has at least its own copies, and at most those of its class.
struct Checker<E: Subject, S> {
    filter: Filter<Set, E, S>,
    keys: Vec<u64>,
    /// The class of each key.
    class: Vec<usize>,
    /// Copies that were inserted by each key and not yet removed.
    owned: Vec<usize>,
}

impl<E: Subject, S: BuildHasher + Clone> Checker<E, S> {
    /// An empty filter. Aliases are what a filter that holds one key answers to.
    fn new(make: Maker<S, E>, layout: Layout, buckets: usize, seed: u64) -> Self {
        let filter = build_on(make, capacity_of(layout, buckets), layout, seed);
        let mut rng = rng(seed);
        let keys: Vec<u64> = (0..KEYS).map(|_| rng.random()).collect();
        let mut class = vec![usize::MAX; KEYS];
        for first in 0..KEYS {
            if class[first] == usize::MAX {
                filter.insert(&keys[first]).expect("the filter is empty");
                (first..KEYS).filter(|&k| filter.contains(&keys[k])).for_each(|k| class[k] = first);
                filter.clear();
            }
        }
        Self { filter, keys, class, owned: vec![0; KEYS] }
    }

    fn hash(&self, key: usize) -> u64 {
        self.filter.hasher().hash_one(self.keys[key])
    }

    fn len(&self) -> usize {
        self.owned.iter().sum()
    }

    /// Copies in the class of a key.
    fn in_class(&self, key: usize) -> usize {
        (0..KEYS).filter(|&k| self.class[k] == self.class[key]).map(|k| self.owned[k]).sum()
    }

    fn has_one_segment(&self) -> bool {
        self.filter.segments().len() == 1
    }

    /// Checks whether this number of copies of a key is possible.
    fn judge_count(&self, key: usize, count: usize) -> Checked {
        let (own, in_class) = (self.owned[key], self.in_class(key));
        prop_assert!(count <= in_class, "{count} copies, {in_class} in the class");
        prop_assert!(count >= own, "{count} copies, {own} inserted");
        prop_assert!(count == in_class || !self.has_one_segment(), "{count}, not {in_class}");
        Ok(())
    }

    /// Checks whether this answer of a lookup is possible.
    fn judge_lookup(&self, key: usize, found: bool) -> Checked {
        let in_class = self.in_class(key);
        prop_assert!(found || self.owned[key] == 0, "a false negative");
        prop_assert!(!found || in_class > 0, "found, and no alias is in the filter");
        prop_assert!(found == (in_class > 0) || !self.has_one_segment());
        Ok(())
    }

    /// Records an insert that succeeded, or judges the refusal.
    fn record(&mut self, key: usize, outcome: Result<(), InsertError>) -> Checked {
        let [same_bucket, most] = E::copy_limits(self.filter.layout());
        let count = self.in_class(key);
        match outcome {
            Ok(()) => {
                prop_assert!(count < most || !self.has_one_segment(), "more copies than the limit");
                self.owned[key] += 1;
            }
            Err(InsertError::TooManyCopies) => {
                let at_limit = count == same_bucket || count == most;
                prop_assert!(count >= same_bucket, "{count} are not too many");
                prop_assert!(at_limit || !self.has_one_segment(), "{count} are not too many");
            }
            Err(_) => {
                prop_assert!(!E::GROWS, "a filter that grows is full");
                prop_assert!(self.len() >= same_bucket, "full with {} items", self.len());
                prop_assert!(count < most);
            }
        }
        Ok(())
    }

    /// As `record`, for an insert that must not add a copy to present ones.
    fn record_unique(&mut self, key: usize, outcome: Result<bool, InsertError>) -> Checked {
        prop_assert_ne!(outcome, Err(InsertError::TooManyCopies));
        match outcome {
            // The item was found exactly if it was not added.
            Ok(added) => {
                self.judge_lookup(key, !added)?;
                self.owned[key] += usize::from(added);
                Ok(())
            }
            Err(reason) => {
                prop_assert_eq!(self.in_class(key), 0, "refused, but present");
                self.record(key, Err(reason))
            }
        }
    }

    /// Records a removal: of one of the key's own copies, or of nothing.
    fn record_removal(&mut self, key: usize, removed: bool) -> Checked {
        prop_assert_eq!(removed, self.owned[key] > 0);
        self.owned[key] -= usize::from(removed);
        Ok(())
    }

    /// The keys that the contract allows to remove together: owned ones, and absent ones.
    fn removable(&self, keys: &[usize]) -> Vec<usize> {
        let mut left = self.owned.clone();
        let mut may_remove = |&key: &usize| {
            let owned = left[key] > 0;
            left[key] -= usize::from(owned);
            owned || self.in_class(key) == 0
        };
        keys.iter().copied().filter(|key| may_remove(key)).collect()
    }

    fn apply(&mut self, form: Form, op: &Op) -> Checked {
        match op {
            &Op::Insert(key) => {
                let outcome = match form {
                    Form::Items => self.filter.insert(&self.keys[key]),
                    Form::Hashes => self.filter.insert(&Hashed(self.hash(key))),
                };
                self.record(key, outcome)
            }
            &Op::InsertUnique(key) => {
                let outcome = match form {
                    Form::Items => self.filter.insert_unique(&self.keys[key]),
                    Form::Hashes => self.filter.insert_unique(&Hashed(self.hash(key))),
                };
                self.record_unique(key, outcome.map(|insertion| insertion.is_new()))
            }
            &Op::Remove(key) => self.removable(&[key]).into_iter().try_for_each(|key| {
                let removed = match form {
                    Form::Items => self.filter.remove(&self.keys[key]),
                    Form::Hashes => self.filter.remove(&Hashed(self.hash(key))),
                };
                self.record_removal(key, removed)
            }),
            Op::InsertBatch(keys) => {
                let outcome = call!(self, form, insert_batch(keys));
                self.record_batch(keys, outcome)
            }
            Op::TryExtend(keys) => {
                let outcome = match form {
                    Form::Items => self.filter.insert_batch(keys.iter().map(|&k| self.keys[k])),
                    Form::Hashes => {
                        self.filter.insert_batch((keys.iter().map(|&k| self.hash(k))).map(Hashed))
                    }
                };
                self.record_batch(keys, outcome)
            }
            Op::InsertUniqueBatch(keys) => {
                let mut added = vec![true; keys.len()];
                let outcome = call!(self, form, insert_unique_batch(keys, &mut added));
                let total = outcome.as_ref().map_or_else(InsertBatchError::added, |&added| added);
                prop_assert_eq!(total, added.iter().filter(|&&added| added).count());
                let rejected = outcome.map_or_else(|error| positions(&error), |_| vec![]);
                self.record_unique_batch(keys, &added, &rejected)
            }
            Op::InsertUniqueMask(keys) => {
                let masks = call!(self, form, insert_unique_mask(keys));
                prop_assert_eq!(masks.added & masks.refused, 0);
                for (position, &key) in keys.iter().enumerate() {
                    let [added, refused] =
                        [masks.added, masks.refused].map(|mask| mask >> position & 1 == 1);
                    let outcome = if refused { Err(InsertError::Full) } else { Ok(added) };
                    self.record_unique(key, outcome)?;
                }
                let unused = u64::MAX.checked_shl(keys.len() as u32).unwrap_or(0);
                prop_assert_eq!((masks.added | masks.refused) & unused, 0);
                Ok(())
            }
            Op::RemoveBatch(keys) => {
                let keys = self.removable(keys);
                let mut removed = vec![true; keys.len()];
                let total = call!(self, form, remove_batch(keys, &mut removed));
                prop_assert_eq!(total, removed.iter().filter(|&&removed| removed).count());
                keys.iter().zip(&removed).try_for_each(|(&key, &yes)| self.record_removal(key, yes))
            }
            Op::Clone => {
                let copy = self.filter.try_clone().expect("a small filter");
                let original = std::mem::replace(&mut self.filter, copy);
                // The two share nothing.
                original.clear();
                prop_assert!(original.is_empty());
                Ok(())
            }
            Op::Clear => {
                let segments: Vec<_> = self.filter.segments().collect();
                self.filter.clear();
                prop_assert!(self.filter.segments().eq(segments));
                self.owned.fill(0);
                Ok(())
            }
        }
    }

    /// Records a batch. It may refuse any of several copies of one class. So the accepted ones are
    /// recorded first, and the refusals are judged by the final state.
    fn record_batch(&mut self, keys: &[usize], outcome: Result<(), InsertBatchError>) -> Checked {
        let Err(error) = outcome else {
            return keys.iter().try_for_each(|&key| self.record(key, Ok(())));
        };
        let rejected = positions(&error);
        prop_assert!(!rejected.is_empty());
        prop_assert!(rejected.is_sorted_by(|a, b| a < b), "{error:?}");
        prop_assert_eq!(error.added() + rejected.len(), keys.len());
        prop_assert_eq!((error.tried(), error.is_complete()), (keys.len(), true));
        for (position, &key) in keys.iter().enumerate() {
            if !rejected.contains(&position) {
                self.record(key, Ok(()))?;
            }
        }
        for (position, reason) in error.failures() {
            prop_assert!(position < keys.len());
            self.record(keys[position], Err(reason))?;
        }
        Ok(())
    }

    fn record_unique_batch(
        &mut self,
        keys: &[usize],
        added: &[bool],
        rejected: &[usize],
    ) -> Checked {
        prop_assert!(rejected.is_sorted_by(|a, b| a < b));
        prop_assert!(!E::GROWS || rejected.is_empty());
        for (position, &key) in keys.iter().enumerate() {
            if rejected.contains(&position) {
                prop_assert!(!added[position]);
            } else if added[position] {
                self.record_unique(key, Ok(true))?;
            }
        }
        // An item that was neither added nor refused is present at the end.
        for (position, &key) in keys.iter().enumerate() {
            prop_assert!(rejected.contains(&position) || self.in_class(key) > 0);
        }
        Ok(())
    }

    /// Checks everything that a filter tells.
    fn check(&self) -> Checked {
        let filter = &self.filter;
        prop_assert_eq!(filter.len(), self.len());
        prop_assert_eq!(filter.is_empty(), self.len() == 0);
        let slots: usize = filter.segments().map(|segment| segment.slots).sum();
        prop_assert_eq!(filter.slots(), slots);
        prop_assert!(filter.slots() >= filter.len() && filter.slots() >= filter.capacity());
        prop_assert!((filter.load_factor() * slots as f64 - self.len() as f64).abs() < 1e-6);
        prop_assert_eq!(filter.segments().last().map(|last| last.layout), Some(filter.layout()));

        let mut found = vec![false; KEYS];
        let hits = filter.contains_batch(&self.keys, &mut found);
        prop_assert_eq!(hits, found.iter().filter(|&&found| found).count());
        let hashes: Vec<u64> = (0..KEYS).map(|key| self.hash(key)).collect();
        let mut found_by_hash = vec![false; KEYS];
        filter.contains_batch(Hashed::slice(&hashes), &mut found_by_hash);
        prop_assert_eq!(&found, &found_by_hash);
        let mask = filter.contains_mask(&self.keys);
        prop_assert_eq!(mask, filter.contains_mask(Hashed::slice(&hashes)));
        for (key, &found) in found.iter().enumerate() {
            let count = filter.count(&self.keys[key]);
            self.judge_count(key, count)?;
            self.judge_lookup(key, found)?;
            prop_assert_eq!(filter.count(&Hashed(hashes[key])), count);
            prop_assert_eq!(filter.contains(&self.keys[key]), found);
            prop_assert_eq!(filter.contains(&Hashed(hashes[key])), found);
            prop_assert_eq!((found, mask >> key & 1 == 1), (count > 0, count > 0));
        }
        Ok(())
    }
}

/// Random sequences of operations against a multiset.
pub fn model<E: Subject, S: BuildHasher + Clone>(make: Maker<S, E>) {
    let layout = prop::sample::select(Layout::ALL);
    let ops = prop::collection::vec(op(), 0..80);
    let strategy = (layout, prop::sample::select(&SIZES[..]), any::<u64>(), ops);
    let outcome = runner(scaled(40, 300), 11).run(&strategy, |(layout, buckets, seed, ops)| {
        let mut checker = Checker::new(make, layout, buckets, seed);
        for (form, op) in &ops {
            checker.apply(*form, op)?;
            checker.check()?;
        }
        Ok(())
    });
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
}
