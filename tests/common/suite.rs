//! The tests of a filter that hold with any hasher, however bad.

use std::hash::BuildHasher;

use guira::{CuckooFilter, InsertError, Layout};
use proptest::prelude::*;
use rand::RngExt;

use super::{Checked, Maker, build, capacity_of, rng, runner, scaled};

/// Numbers of buckets to try.
pub const SIZES: [usize; 5] = [1, 2, 3, 8, 40];
/// Different keys in the game.
const KEYS: usize = 40;

/// Something done to a filter; the numbers stand for keys.
#[derive(Clone, Debug)]
enum Op {
    Insert(usize),
    InsertUnique(usize),
    Remove(usize),
    InsertBatch(Vec<usize>),
    InsertUniqueBatch(Vec<usize>),
    RemoveBatch(Vec<usize>),
    Clear,
}

fn op() -> impl Strategy<Value = Op> {
    // A third of the draws go to three keys, so that copies pile up.
    let key = || prop_oneof![2 => 0..KEYS, 1 => 0..3_usize];
    let keys = || prop::collection::vec(key(), 0..70);
    prop_oneof![
        8 => key().prop_map(Op::Insert),
        4 => key().prop_map(Op::InsertUnique),
        6 => key().prop_map(Op::Remove),
        2 => keys().prop_map(Op::InsertBatch),
        1 => keys().prop_map(Op::InsertUniqueBatch),
        1 => keys().prop_map(Op::RemoveBatch),
        1 => Just(Op::Clear),
    ]
}

/// A filter, and a multiset that knows which keys are aliases.
struct Checker<S> {
    filter: CuckooFilter<S>,
    keys: Vec<u64>,
    /// The class of aliases that each key belongs to.
    class: Vec<usize>,
    /// Copies in each class.
    copies: Vec<usize>,
}

impl<S: BuildHasher> Checker<S> {
    /// An empty filter. Aliases are found by experiment: what an otherwise empty filter with one key
    /// answers to.
    fn new(make: Maker<S>, layout: Layout, buckets: usize, seed: u64) -> Self {
        let mut filter = build(make, capacity_of(layout, buckets), layout, seed);
        let mut rng = rng(seed);
        let keys: Vec<u64> = (0..KEYS).map(|_| rng.random()).collect();
        let mut class = vec![usize::MAX; KEYS];
        for first in 0..KEYS {
            if class[first] == usize::MAX {
                filter.clear();
                filter.insert(&keys[first]).expect("the filter is empty");
                (first..KEYS).filter(|&k| filter.contains(&keys[k])).for_each(|k| class[k] = first);
            }
        }
        filter.clear();
        Self { filter, keys, class, copies: vec![0; KEYS] }
    }

    fn len(&self) -> usize {
        self.copies.iter().sum()
    }

    fn count(&self, key: usize) -> usize {
        self.copies[self.class[key]]
    }

    /// Takes down an insertion that succeeded, or judges the refusal.
    fn note(&mut self, key: usize, outcome: Result<(), InsertError>) -> Checked {
        let lanes = self.filter.layout().slots_per_bucket() as usize;
        let count = self.count(key);
        match outcome {
            Ok(()) => {
                prop_assert!(count < 2 * lanes, "a copy more than there are lanes");
                self.copies[self.class[key]] += 1;
            }
            Err(InsertError::TooManyCopies) => {
                prop_assert!(count == lanes || count == 2 * lanes, "{count} are not too many");
            }
            Err(_) => {
                prop_assert!(self.len() >= lanes, "full with {} items", self.len());
                prop_assert!(count < 2 * lanes);
            }
        }
        Ok(())
    }

    /// As `note`, for an insertion of what must not be there.
    fn note_unique(&mut self, key: usize, outcome: Result<bool, InsertError>) -> Checked {
        prop_assert_ne!(outcome, Err(InsertError::TooManyCopies));
        match outcome {
            Ok(added) => {
                prop_assert_eq!(added, self.count(key) == 0);
                self.copies[self.class[key]] += usize::from(added);
                Ok(())
            }
            Err(reason) => {
                prop_assert_eq!(self.count(key), 0, "refused, but it is there");
                self.note(key, Err(reason))
            }
        }
    }

    fn note_removal(&mut self, key: usize, removed: bool) -> Checked {
        prop_assert_eq!(removed, self.count(key) > 0);
        self.copies[self.class[key]] -= usize::from(removed);
        Ok(())
    }

    fn apply(&mut self, op: &Op) -> Checked {
        let hashes = |keys: &[usize]| keys.iter().map(|&k| self.keys[k]).collect::<Vec<u64>>();
        match op {
            &Op::Insert(key) => self.note(key, self.filter.insert(&self.keys[key])),
            &Op::InsertUnique(key) => {
                self.note_unique(key, self.filter.insert_unique(&self.keys[key]))
            }
            &Op::Remove(key) => self.note_removal(key, self.filter.remove(&self.keys[key])),
            Op::InsertBatch(keys) => {
                let outcome = self.filter.insert_batch(&hashes(keys));
                self.note_batch(keys, outcome)
            }
            Op::InsertUniqueBatch(keys) => {
                let mut added = vec![true; keys.len()];
                let outcome = self.filter.insert_unique_batch(&hashes(keys), &mut added);
                self.note_unique_batch(keys, &added, outcome)
            }
            Op::RemoveBatch(keys) => {
                let mut removed = vec![true; keys.len()];
                let total = self.filter.remove_batch(&hashes(keys), &mut removed);
                prop_assert_eq!(total, removed.iter().filter(|&&removed| removed).count());
                keys.iter().zip(&removed).try_for_each(|(&key, &yes)| self.note_removal(key, yes))
            }
            Op::Clear => {
                self.filter.clear();
                self.copies.fill(0);
                Ok(())
            }
        }
    }

    /// Books a batch. Which of several copies of one class are refused is the filter's business: so
    /// those accepted are booked first, and the refusals judged by how things are at the end.
    fn note_batch(
        &mut self,
        keys: &[usize],
        outcome: Result<(), guira::InsertBatchError>,
    ) -> Checked {
        let Err(error) = outcome else {
            return keys.iter().try_for_each(|&key| self.note(key, Ok(())));
        };
        prop_assert!(!error.rejected().is_empty());
        prop_assert!(error.rejected().is_sorted_by(|a, b| a < b), "{error:?}");
        prop_assert_eq!(error.reasons().len(), error.rejected().len());
        prop_assert_eq!(error.added() + error.rejected().len(), keys.len());
        for (position, &key) in keys.iter().enumerate() {
            if !error.rejected().contains(&position) {
                self.note(key, Ok(()))?;
            }
        }
        for (&position, &reason) in error.rejected().iter().zip(error.reasons()) {
            prop_assert!(position < keys.len());
            self.note(keys[position], Err(reason))?;
        }
        Ok(())
    }

    fn note_unique_batch(
        &mut self,
        keys: &[usize],
        added: &[bool],
        outcome: Result<usize, guira::InsertBatchError>,
    ) -> Checked {
        let total = added.iter().filter(|&&added| added).count();
        prop_assert_eq!(
            outcome.as_ref().map_or_else(guira::InsertBatchError::added, |&added| added),
            total
        );
        let rejected = outcome.map_or_else(|error| error.rejected().to_vec(), |_| vec![]);
        prop_assert!(rejected.is_sorted_by(|a, b| a < b));
        for (position, &key) in keys.iter().enumerate() {
            if rejected.contains(&position) {
                prop_assert!(!added[position]);
            } else if added[position] {
                prop_assert_eq!(self.count(key), 0, "added, but it was there");
                self.copies[self.class[key]] += 1;
            }
        }
        // What was neither added nor refused is there by the end.
        for (position, &key) in keys.iter().enumerate() {
            prop_assert!(rejected.contains(&position) || self.count(key) > 0);
        }
        Ok(())
    }

    /// Checks every answer that a filter can give.
    fn check(&self) -> Checked {
        prop_assert_eq!(self.filter.len(), self.len());
        prop_assert_eq!(self.filter.is_empty(), self.len() == 0);
        let mut found = vec![false; KEYS];
        let hits = self.filter.contains_batch(&self.keys, &mut found);
        prop_assert_eq!(hits, found.iter().filter(|&&found| found).count());
        for (key, &found) in found.iter().enumerate() {
            let count = self.count(key);
            prop_assert_eq!(self.filter.count(&self.keys[key]), count);
            prop_assert_eq!(self.filter.contains(&self.keys[key]), count > 0);
            prop_assert_eq!(found, count > 0);
        }
        Ok(())
    }
}

/// Random sequences of operations against a multiset.
pub fn model<S: BuildHasher>(make: Maker<S>) {
    let layout = prop::sample::select(Layout::ALL);
    let ops = prop::collection::vec(op(), 0..80);
    let strategy = (layout, prop::sample::select(&SIZES[..]), any::<u64>(), ops);
    let outcome = runner(scaled(40, 400), 11).run(&strategy, |(layout, buckets, seed, ops)| {
        let mut checker = Checker::new(make, layout, buckets, seed);
        for op in &ops {
            checker.apply(op)?;
            checker.check()?;
        }
        Ok(())
    });
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
}

/// `Full` and `TooManyCopies` change nothing: whatever was there is there as often as before, and
/// can be taken out.
pub fn refusals_change_nothing<S: BuildHasher>(make: Maker<S>) {
    for &layout in Layout::ALL {
        for buckets in SIZES {
            let filter = build(make, capacity_of(layout, buckets), layout, 12);
            let mut rng = rng(12);
            let mut accepted = Vec::new();
            for _ in 0..3 * filter.slots() + 50 {
                let key: u64 = rng.random();
                if filter.insert(&key).is_ok() {
                    accepted.push(key);
                }
            }
            let counts: Vec<usize> = accepted.iter().map(|key| filter.count(key)).collect();
            let mut refusals = 0;
            for key in accepted.iter().copied().chain((0..100).map(|_| rng.random())) {
                // A copy more may still fit here or there; then it goes at once.
                if filter.insert(&key).is_ok() {
                    assert!(filter.remove(&key));
                } else {
                    refusals += 1;
                }
            }
            assert!(refusals > 0, "{layout:?}: this filter is bottomless");
            let now: Vec<usize> = accepted.iter().map(|key| filter.count(key)).collect();
            assert_eq!(now, counts, "{layout:?}, {buckets} buckets");
            assert_eq!(filter.len(), accepted.len());
            assert!(accepted.iter().all(|key| filter.remove(key)), "{layout:?}, {buckets}");
            assert!(filter.is_empty());
        }
    }
}

/// One item again and again: exactly as many copies as its buckets have lanes, then `TooManyCopies`;
/// and `insert_unique` knows it all the time.
pub fn copies_are_limited<S: BuildHasher>(make: Maker<S>) {
    for &layout in Layout::ALL {
        for buckets in SIZES {
            let filter = build(make, capacity_of(layout, buckets), layout, 13);
            let key = 0x0123_4567_89ab_cdef_u64;
            let lanes = layout.slots_per_bucket() as usize;
            let mut copies = 0;
            while filter.insert(&key).is_ok() {
                copies += 1;
            }
            assert!(copies == 2 * lanes || copies == lanes, "{copies} copies of {layout:?}");
            assert_eq!(filter.insert(&key), Err(InsertError::TooManyCopies));
            assert_eq!(filter.insert_unique(&key), Ok(false));
            assert_eq!((filter.count(&key), filter.len()), (copies, copies));

            let error = filter.insert_batch(&[key; 50]).expect_err("too many copies");
            assert_eq!(error.rejected(), (0..50).collect::<Vec<_>>());
            assert_eq!(error.reasons(), [InsertError::TooManyCopies; 50]);
            (0..copies).for_each(|_| assert!(filter.remove(&key)));
            assert!(!filter.remove(&key) && filter.is_empty());

            let error = filter.insert_batch(&[key; 50]).expect_err("too many copies");
            assert_eq!((error.added(), error.rejected().len()), (copies, 50 - copies));
            assert_eq!(filter.count(&key), copies);
            assert_eq!(filter.remove_batch(&[key; 50], &mut [false; 50]), copies);
        }
    }
}

/// The positions that a batch error lists are those of the items that are not in.
pub fn batch_errors_list_positions<S: BuildHasher>(make: Maker<S>) {
    for (&layout, unique) in Layout::ALL.iter().flat_map(|layout| [(layout, false), (layout, true)])
    {
        let filter = build(make, capacity_of(layout, 30), layout, 14);
        let distinct = build(make, capacity_of(layout, 30) * 4, layout, 14);
        let mut rng = rng(14);
        // No two of them aliases in a larger table; whether in this one, their counts will tell.
        let keys: Vec<u64> = (0..20 * filter.slots())
            .map(|_| rng.random())
            .filter(|key| distinct.insert_unique(key) == Ok(true))
            .take(3 * filter.slots() / 2)
            .collect();
        let mut added = vec![false; keys.len()];
        let outcome = if unique {
            filter.insert_unique_batch(&keys, &mut added).map(drop)
        } else {
            filter.insert_batch(&keys)
        };
        let rejected = outcome.as_ref().map_or_else(guira::InsertBatchError::rejected, |()| &[]);
        let mut accepted = Vec::new();
        for (position, key) in keys.iter().enumerate() {
            if !rejected.contains(&position) && (!unique || added[position]) {
                accepted.push(*key);
                assert!(filter.contains(key), "{layout:?}: position {position} is not in");
            }
        }
        assert_eq!(filter.len(), accepted.len(), "{layout:?}");
        // Each of them takes out a copy of its own, and then nothing is left.
        assert!(accepted.iter().all(|key| filter.remove(key)), "{layout:?}: a wrong position");
        assert!(filter.is_empty());
    }
}

/// A module of tests for a hasher of `hashers`.
macro_rules! suite {
    ($make:ident) => {
        mod $make {
            use crate::common::{
                Watchdog,
                churn::{Plan, churn},
                hashers, races, scaled, suite,
            };
            use guira::Layout;

            #[test]
            fn model() {
                let _watchdog = Watchdog::new("model");
                suite::model(hashers::$make);
            }

            #[test]
            fn refusals_change_nothing() {
                let _watchdog = Watchdog::new("refusals_change_nothing");
                suite::refusals_change_nothing(hashers::$make);
            }

            #[test]
            fn copies_are_limited() {
                suite::copies_are_limited(hashers::$make);
            }

            #[test]
            fn batch_errors_list_positions() {
                suite::batch_errors_list_positions(hashers::$make);
            }

            #[test]
            fn readers_beside_writers_miss_nothing() {
                let _watchdog = Watchdog::new("readers_beside_writers_miss_nothing");
                for (number, &layout) in Layout::ALL.iter().enumerate() {
                    let plan = Plan {
                        layout,
                        buckets: 48,
                        readers: 2,
                        writers: 2,
                        reads: scaled(50_000, 200_000),
                        changes: scaled(3_000, 10_000),
                        seed: 31 + number as u64,
                    };
                    churn(hashers::$make, &plan);
                }
            }

            #[test]
            fn racing_removals_take_each_copy_once() {
                let _watchdog = Watchdog::new("racing_removals_take_each_copy_once");
                races::removals_of_one_copy(hashers::$make, Layout::Plain6x10);
                races::removals_balance(hashers::$make, Layout::Plain4x16);
            }

            #[test]
            fn insert_unique_excludes() {
                let _watchdog = Watchdog::new("insert_unique_excludes");
                races::unique_excludes(hashers::$make, Layout::Plain8x8);
                races::unique_excludes(hashers::$make, Layout::Plain4x16);
            }

            #[test]
            fn many_threads_fill_to_full() {
                let _watchdog = Watchdog::new("many_threads_fill_to_full");
                for &layout in Layout::ALL {
                    races::fill_from_many_threads(hashers::$make, layout, 100);
                }
            }
        }
    };
}
pub(crate) use suite;
