//! Random histories of growing filters, of inserts, removals, merges, shrinking and clearing,
//! against multisets.

mod common;

use std::collections::HashMap;

use common::{Watchdog, rng, scaled};
use guira::{GrowingFilter, InsertError, MergeError};
use rand::{RngExt, rngs::SmallRng};

/// Number of filters of a history. They can be merged with one another.
const FILTERS: usize = 3;
/// Number of distinct items. So few that some have several copies.
const KEYS: u32 = 2_000;

/// What a history has done, to see that it did everything.
#[derive(Debug, Default)]
struct Done {
    removals: usize,
    merges: usize,
    refused: usize,
    shrunk: usize,
    regrown: usize,
}

/// A filter beside the multiset of its items.
struct Checked {
    filter: GrowingFilter,
    copies: HashMap<u32, usize>,
    len: usize,
    /// The segments after the last shrinking, if that released any.
    segments: Option<usize>,
}

impl Checked {
    fn new(capacity: usize, rate: f64, segments: u32, seed: u64) -> Self {
        let builder = GrowingFilter::builder().capacity(capacity).false_positive_rate(rate);
        let one = builder.clone().seed(seed).build().unwrap().size_in_bytes();
        // So few segments that a merge is refused now and then.
        let builder = builder.max_bytes(one + (capacity << segments) * 4);
        let filter = builder.seed(seed).build().unwrap();
        Self { filter, copies: HashMap::new(), len: 0, segments: None }
    }

    fn insert(&mut self, key: u32) {
        match self.filter.insert(&key) {
            Ok(()) => {
                *self.copies.entry(key).or_default() += 1;
                self.len += 1;
            }
            Err(error) => assert!([InsertError::Full, InsertError::TooManyCopies].contains(&error)),
        }
    }

    /// Removes an item. Returns `false` if the filter is empty.
    fn remove(&mut self, rng: &mut SmallRng) -> bool {
        let start = rng.random_range(0..KEYS);
        let keys = (0..KEYS).map(|step| (start + step) % KEYS);
        let Some(key) = keys.into_iter().find(|key| self.copies.contains_key(key)) else {
            return false;
        };
        let copies = self.copies.get_mut(&key).expect("found");
        *copies -= 1;
        if *copies == 0 {
            self.copies.remove(&key);
        }
        self.len -= 1;
        assert!(self.filter.remove(&key), "nothing to remove for an item that is in");
        true
    }

    fn check(&self) {
        let Self { filter, copies, len, .. } = self;
        for (key, &copies) in copies {
            // More if there are aliases.
            assert!(filter.count(key) >= copies && filter.contains(key), "missed");
        }
        assert_eq!(filter.len(), *len);
        assert_eq!(filter.try_clone().unwrap().len(), *len, "other slots are occupied");
        assert!(filter.false_positive_rate() <= filter.target_false_positive_rate());
    }
}

/// Adds the second multiset to the first one.
fn merge(filters: &mut [Checked; FILTERS], to: usize, from: usize, done: &mut Done) {
    let (target, source) = (&filters[to], &filters[from]);
    match target.filter.merge(&source.filter) {
        Ok(()) => {
            let (copies, len) = (source.copies.clone(), source.len);
            let target = &mut filters[to];
            target.len += len;
            for (key, more) in copies {
                *target.copies.entry(key).or_default() += more;
            }
            done.merges += 1;
        }
        Err(MergeError::Full { fitted, items, .. }) => {
            assert!(fitted < items && items == source.len as u64);
            done.refused += 1;
        }
        Err(error) => assert_eq!(error, MergeError::TooManyCopies),
    }
    filters[to].check();
}

/// Runs a history. Returns what a writer with the same history must get as well.
fn history(seed: u64, rate: f64, done: &mut Done) -> Vec<Vec<u8>> {
    let mut rng = rng(seed);
    let capacity = [1, 7, 50, 300][rng.random_range(0..4)];
    let segments = rng.random_range(1..8);
    let mut filters = [(); FILTERS].map(|()| Checked::new(capacity, rate, segments, seed));
    let mut swell = true;
    for _ in 0..scaled(600, 1_500) {
        let number = rng.random_range(0..FILTERS);
        let checked = &mut filters[number];
        swell = if checked.len > 800 { false } else { swell || checked.len < 20 };
        match rng.random_range(0..40) {
            0 => merge(&mut filters, number, rng.random_range(0..FILTERS), done),
            1 | 2 => {
                let before = checked.filter.size_in_bytes();
                let released = checked.filter.shrink_to_fit();
                assert_eq!(released, before - checked.filter.size_in_bytes());
                if released > 0 {
                    checked.segments = Some(checked.filter.segments().len());
                    done.shrunk += 1;
                }
                checked.check();
            }
            3 if rng.random_bool(0.1) => {
                checked.filter.clear();
                checked.copies.clear();
                checked.len = 0;
                checked.check();
            }
            other if swell == (other < 32) => {
                // Some items get many copies.
                let keys = if rng.random_bool(0.1) { 3 } else { KEYS };
                (0..10).for_each(|_| checked.insert(rng.random_range(0..keys)));
                let segments = checked
                    .segments
                    .take_if(|&mut segments| segments < checked.filter.segments().len());
                done.regrown += usize::from(segments.is_some());
            }
            _ => {
                for _ in 0..10 {
                    done.removals += usize::from(checked.remove(&mut rng));
                }
                checked.check();
            }
        }
    }
    let describe = |Checked { filter, .. }: &Checked| {
        #[cfg(feature = "std")]
        {
            let bytes = filter.to_bytes();
            assert!(GrowingFilter::loader().bytes(&bytes).unwrap().to_bytes() == bytes);
            bytes
        }
        #[cfg(not(feature = "std"))]
        (0..2 * KEYS).map(|key| filter.count(&key) as u8).collect::<Vec<u8>>()
    };
    let descriptions = filters.iter().map(describe).collect();
    for checked in &mut filters {
        while checked.remove(&mut rng) {}
        checked.check();
        assert!((0..2 * KEYS).all(|key| checked.filter.count(&key) == 0), "something is left");
    }
    descriptions
}

/// At every rate, with many copies, and with many aliases (at a rate of 0.9): no item is missed,
/// the counts are right, and equal histories give equal filters.
#[test]
fn histories_miss_nothing_and_leave_nothing() {
    let _watchdog = Watchdog::new("histories_miss_nothing_and_leave_nothing");
    let mut done = Done::default();
    for seed in 0..scaled(32, 64) {
        for rate in [0.9, 0.3, 0.01, 0.001] {
            let first = history(seed, rate, &mut done);
            if seed % 4 == 0 {
                assert!(first == history(seed, rate, &mut Done::default()), "not the same again");
            }
        }
    }
    println!("{done:?}");
    let Done { removals, merges, refused, shrunk, regrown } = done;
    assert!([removals, merges, refused, shrunk, regrown].iter().all(|&times| times > 20));
}
