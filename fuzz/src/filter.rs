//! The filter that users see, single operations and batches, against a multiset of hashes.
//!
//! Which hashes are aliases of one another is found out first, with another filter of the same seed:
//! then `contains` and `count` are known exactly, false positives included.

use arbitrary::Arbitrary;
use guira::{CuckooFilter, InsertBatchError, InsertError, Layout};

/// Hashes in the game.
const HASHES: u64 = 64;
/// Most items of a batch, and one.
const MOST_IN_BATCH: u8 = 101;

/// A filter, and what to do to it.
#[derive(Arbitrary, Debug)]
pub struct Input {
    layout: u8,
    capacity: u8,
    seed: u64,
    operations: Vec<Operation>,
}

/// Something done to the filter. Numbers stand for hashes.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Operation {
    Insert(u8),
    InsertUnique(u8),
    Remove(u8),
    InsertBatch(Batch),
    InsertUniqueBatch(Batch),
    RemoveBatch(Batch),
    ContainsBatch(Batch),
    Clear,
}

/// Items of a batch: numbers with equal steps between them, so that a few bytes make a batch of
/// several of the windows that the library works in.
#[derive(Arbitrary, Clone, Copy, Debug)]
struct Batch {
    start: u8,
    step: u8,
    length: u8,
}

/// Runs an input.
///
/// # Panics
/// If the filter and the multiset disagree.
pub fn run(input: &Input) {
    let mut checker = Checker::new(input);
    for &operation in &input.operations {
        checker.apply(operation);
        assert_eq!(checker.filter.len(), checker.held.iter().sum::<usize>(), "{operation:?}");
    }
    (0..HASHES).for_each(|hash| checker.look(hash));
}

/// A filter beside a multiset.
struct Checker {
    filter: CuckooFilter,
    /// How many copies each hash and its aliases have, at the place of the first of them.
    held: Vec<usize>,
    /// For each hash the first of its aliases, perhaps itself.
    first_alias: Vec<usize>,
}

impl Checker {
    fn new(input: &Input) -> Self {
        let filter = build(input);
        let first_alias = first_aliases(&mut build(input));
        Self { filter, held: vec![0; HASHES as usize], first_alias }
    }

    /// Copies of a hash and its aliases.
    fn count(&mut self, hash: u64) -> &mut usize {
        &mut self.held[self.first_alias[hash as usize]]
    }

    fn apply(&mut self, operation: Operation) {
        match operation {
            Operation::Insert(number) => {
                let hash = hash(number);
                let outcome = self.filter.insert_hash(hash);
                self.inserted(hash, outcome.map(|()| true));
                self.look(hash);
            }
            Operation::InsertUnique(number) => {
                let hash = hash(number);
                let outcome = self.filter.insert_unique_hash(hash);
                self.inserted_unique(hash, outcome);
                self.look(hash);
            }
            Operation::Remove(number) => {
                let hash = hash(number);
                let removed = self.filter.remove_hash(hash);
                self.removed(hash, removed);
                self.look(hash);
            }
            Operation::InsertBatch(batch) => self.insert_batch(&hashes(batch)),
            Operation::InsertUniqueBatch(batch) => self.insert_unique_batch(&hashes(batch)),
            Operation::RemoveBatch(batch) => self.remove_batch(&hashes(batch)),
            Operation::ContainsBatch(batch) => self.contains_batch(&hashes(batch)),
            Operation::Clear => {
                self.filter.clear();
                self.held.fill(0);
            }
        }
    }

    /// Takes down the outcome of an insertion, and checks what can be known of it.
    fn inserted(&mut self, hash: u64, outcome: Result<bool, InsertError>) {
        let lanes = self.filter.layout().lanes() as usize;
        let count = self.count(hash);
        match outcome {
            Ok(added) => *count += usize::from(added),
            Err(InsertError::TooManyCopies) => {
                assert!(*count == lanes || *count == 2 * lanes, "{count} copies are not too many");
            }
            Err(_) => assert!(*count < 2 * lanes, "{count} copies are too many"),
        }
        let slots = self.filter.slots();
        assert!(self.held.iter().sum::<usize>() <= slots, "more items than {slots} slots");
    }

    fn inserted_unique(&mut self, hash: u64, outcome: Result<bool, InsertError>) {
        let present = *self.count(hash) > 0;
        match outcome {
            Ok(added) => assert_ne!(added, present, "unique {hash}"),
            Err(error) => {
                assert!(!present, "unique {hash}: {error} though present");
                assert_eq!(error, InsertError::Full);
            }
        }
        self.inserted(hash, outcome);
    }

    fn removed(&mut self, hash: u64, removed: bool) {
        let count = self.count(hash);
        assert_eq!(removed, *count > 0, "removal of {hash}");
        *count -= usize::from(removed);
    }

    fn insert_batch(&mut self, hashes: &[u64]) {
        let outcome = self.filter.insert_hash_batch(hashes);
        let added = vec![true; hashes.len()];
        self.inserted_batch(hashes, &added, outcome.map(|()| hashes.len()));
    }

    fn insert_unique_batch(&mut self, hashes: &[u64]) {
        let mut added = vec![false; hashes.len()];
        let before = self.held.clone();
        let outcome = self.filter.insert_unique_hash_batch(hashes, &mut added);
        let rejected = outcome.as_ref().map_or_else(|error| error.rejected().to_vec(), |_| vec![]);
        self.inserted_batch(hashes, &added, outcome);
        for (position, &hash) in hashes.iter().enumerate() {
            let was = before[self.first_alias[hash as usize]];
            let is = *self.count(hash);
            assert!(is == was.max(1) || is == 0, "unique {hash}: {was} before, {is} after");
            assert_eq!(is == 0, rejected.contains(&position), "unique {hash}: {is} after");
        }
    }

    /// Takes down the outcome of a batch: whatever was not rejected is as `added` says.
    fn inserted_batch(
        &mut self,
        hashes: &[u64],
        added: &[bool],
        outcome: Result<usize, InsertBatchError>,
    ) {
        let mut outcomes: Vec<_> = added.iter().map(|&added| Ok(added)).collect();
        let number = outcome.unwrap_or_else(|error| {
            assert!(error.rejected().is_sorted_by(|a, b| a < b), "{:?}", error.rejected());
            for (&position, &reason) in error.rejected().iter().zip(error.reasons()) {
                outcomes[position] = Err(reason);
            }
            error.added()
        });
        assert_eq!(number, outcomes.iter().filter(|&&outcome| outcome == Ok(true)).count());
        // The rejected ones last: a batch may try its items in any order.
        for wanted in [true, false] {
            for (&hash, &outcome) in hashes.iter().zip(&outcomes) {
                if outcome.is_ok() == wanted {
                    self.inserted(hash, outcome);
                }
            }
        }
        self.look_at(hashes);
    }

    fn remove_batch(&mut self, hashes: &[u64]) {
        let mut removed = vec![false; hashes.len()];
        let number = self.filter.remove_hash_batch(hashes, &mut removed);
        assert_eq!(number, removed.iter().filter(|&&removed| removed).count());
        for (&hash, &removed) in hashes.iter().zip(&removed) {
            let count = self.count(hash);
            assert!(!removed || *count > 0, "removal of {hash}");
            *count -= usize::from(removed);
        }
        // As many as there were, of those asked for: whoever got none left none behind.
        for (&hash, &removed) in hashes.iter().zip(&removed) {
            assert!(removed || *self.count(hash) == 0, "{hash} left behind");
        }
        self.look_at(hashes);
    }

    fn contains_batch(&mut self, hashes: &[u64]) {
        let mut found = vec![false; hashes.len()];
        let number = self.filter.contains_hash_batch(hashes, &mut found);
        assert_eq!(number, found.iter().filter(|&&found| found).count());
        for (&hash, &found) in hashes.iter().zip(&found) {
            assert_eq!(found, *self.count(hash) > 0, "contains_batch {hash}");
        }
    }

    fn look_at(&mut self, hashes: &[u64]) {
        for &hash in hashes {
            self.look(hash);
        }
    }

    /// Checks what the filter says of a hash.
    fn look(&mut self, hash: u64) {
        let count = *self.count(hash);
        assert_eq!(self.filter.count_hash(hash), count, "count of {hash}");
        assert_eq!(self.filter.contains_hash(hash), count > 0, "contains {hash}");
    }
}

/// The filter that an input asks for.
fn build(input: &Input) -> CuckooFilter {
    let layout = Layout::ALL[usize::from(input.layout) % Layout::ALL.len()];
    let capacity = 1 + usize::from(input.capacity) % HASHES as usize;
    let builder = CuckooFilter::builder().layout(layout).capacity(capacity).seed(input.seed);
    builder.build().expect("a small filter")
}

/// For each hash the first that an empty filter with it alone mistakes it for.
fn first_aliases(filter: &mut CuckooFilter) -> Vec<usize> {
    let mut first: Vec<_> = (0..HASHES as usize).collect();
    for hash in 0..HASHES {
        if first[hash as usize] == hash as usize {
            filter.insert_hash(hash).expect("an empty filter");
            for other in hash + 1..HASHES {
                if filter.contains_hash(other) {
                    first[other as usize] = hash as usize;
                }
            }
            filter.clear();
        }
    }
    first
}

/// The hash that a number stands for.
fn hash(number: u8) -> u64 {
    u64::from(number) % HASHES
}

/// The hashes of a batch.
fn hashes(Batch { start, step, length }: Batch) -> Vec<u64> {
    let number = |place: u8| start.wrapping_add(step.wrapping_mul(place));
    (0..length % MOST_IN_BATCH).map(|place| hash(number(place))).collect()
}
