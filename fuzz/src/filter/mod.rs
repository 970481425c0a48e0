//! The public methods of both filters against a multiset of hashes.
//!
//! [`Checker`] first finds out by experiment which hashes are aliases, so it knows the exact result
//! of each operation, false positives included.

mod input;

use guira::{Fixed, Growing, InsertBatchError, InsertError, Membership};

use crate::items::{Batch, HASHES, Tested};
pub use input::Input;
use input::{Action, Operation, build};

/// Largest number of hashes in a mask.
const MAX_MASK: usize = 64;

/// Calls a method of the filter, or of its view by hash.
macro_rules! call {
    ($self:ident, $by_hash:expr, $method:ident, item $hash:expr) => {
        if $by_hash { $self.filter.by_hash().$method($hash) } else { $self.filter.$method(&$hash) }
    };
    ($self:ident, $by_hash:expr, $method:ident, $($argument:expr),+) => {
        if $by_hash {
            $self.filter.by_hash().$method($($argument),+)
        } else {
            $self.filter.$method($($argument),+)
        }
    };
}

/// Runs an input.
///
/// # Panics
/// If the filter and the multiset disagree.
pub fn run(input: &Input) {
    if input.grows {
        Checker::<Growing>::new(input).run(&input.operations.0);
    } else {
        Checker::<Fixed>::new(input).run(&input.operations.0);
    }
}

/// A filter beside a multiset.
///
/// In a [`Fixed`] filter aliases are indistinguishable, so they share one count. In a [`Growing`]
/// filter aliases of the first segment may be distinct in a later one. There, the operations use
/// only the first hash of each class of aliases.
struct Checker<E> {
    filter: Tested<E>,
    grows: bool,
    /// For each hash, the first hash that is an alias of it or equal to it.
    first_alias: Vec<usize>,
    /// The number of copies of each hash and its aliases, at the index of the first alias.
    copies: Vec<usize>,
    /// The filter before the last `Clone`, which must not change any more, and its copies.
    cloned: Option<(Tested<E>, Vec<usize>)>,
}

impl<E: Membership> Checker<E> {
    fn new(input: &Input) -> Self {
        Self {
            filter: build(input),
            grows: input.grows,
            first_alias: first_aliases(&build::<E>(input)),
            copies: vec![0; HASHES as usize],
            cloned: None,
        }
    }

    fn run(mut self, operations: &[Operation]) {
        for &operation in operations {
            self.apply(operation);
            let Self { filter, copies, .. } = &self;
            assert_eq!(filter.len(), copies.iter().sum::<usize>(), "{operation:?}");
            assert!(filter.len() <= filter.slots(), "{operation:?}");
        }
        (0..HASHES).for_each(|hash| self.check(hash));
        self.check_cloned();
    }

    fn apply(&mut self, Operation { by_hash, action }: Operation) {
        match action {
            Action::Insert(number) => {
                let hash = self.hash(number);
                let outcome = call!(self, by_hash, insert, item hash);
                self.inserted(hash, outcome.map(|()| true));
                self.check(hash);
            }
            Action::InsertUnique(number) => {
                let hash = self.hash(number);
                let outcome = call!(self, by_hash, insert_unique, item hash);
                self.inserted_unique(hash, outcome);
                self.check(hash);
            }
            Action::Remove(number) => {
                let hash = self.hash(number);
                let removed = call!(self, by_hash, remove, item hash);
                self.removed(&[hash], &[removed]);
            }
            Action::InsertBatch(batch) => {
                let hashes = self.hashes(batch);
                let outcome = call!(self, by_hash, insert_batch, &hashes);
                let added = vec![true; hashes.len()];
                self.inserted_batch(&hashes, &added, outcome.map(|()| hashes.len()));
            }
            Action::TryExtend(batch) => {
                let hashes = self.hashes(batch);
                let outcome = call!(self, by_hash, try_extend, hashes.iter().copied());
                let added = vec![true; hashes.len()];
                self.inserted_batch(&hashes, &added, outcome.map(|()| hashes.len()));
            }
            Action::InsertUniqueBatch(batch) => {
                let hashes = self.hashes(batch);
                let mut added = vec![false; hashes.len()];
                let outcome = call!(self, by_hash, insert_unique_batch, &hashes, &mut added);
                self.inserted_unique_batch(&hashes, &added, outcome);
            }
            Action::InsertUniqueMask(batch) => {
                let hashes = self.hashes_of_mask(batch);
                let outcome = call!(self, by_hash, insert_unique_mask, &hashes);
                let added = bools(outcome.added, hashes.len());
                let refused = bools(outcome.refused, hashes.len());
                // The library processes the hashes in this order.
                for ((&hash, added), refused) in hashes.iter().zip(added).zip(refused) {
                    assert!(!(added && refused), "{hash} is both added and refused");
                    let outcome = if refused { Err(InsertError::Full) } else { Ok(added) };
                    self.inserted_unique(hash, outcome);
                }
                self.check_all(&hashes);
            }
            Action::RemoveBatch(batch) => {
                let hashes = self.hashes(batch);
                let mut removed = vec![false; hashes.len()];
                let number = call!(self, by_hash, remove_batch, &hashes, &mut removed);
                assert_eq!(number, removed.iter().filter(|&&removed| removed).count());
                self.removed(&hashes, &removed);
            }
            Action::RemoveMask(batch) => {
                let hashes = self.hashes_of_mask(batch);
                let removed = call!(self, by_hash, remove_mask, &hashes);
                self.removed(&hashes, &bools(removed, hashes.len()));
            }
            Action::ContainsBatch(batch) => {
                let hashes = self.hashes(batch);
                let mut found = vec![false; hashes.len()];
                let number = call!(self, by_hash, contains_batch, &hashes, &mut found);
                assert_eq!(number, found.iter().filter(|&&found| found).count());
                self.found(&hashes, &found);
            }
            Action::ContainsMask(batch) => {
                let hashes = self.hashes_of_mask(batch);
                let found = call!(self, by_hash, contains_mask, &hashes);
                self.found(&hashes, &bools(found, hashes.len()));
            }
            Action::Clear => {
                self.filter.clear();
                self.copies.fill(0);
            }
            Action::Clone => {
                let clone = self.filter.try_clone().expect("a small filter");
                self.check_cloned();
                let original = std::mem::replace(&mut self.filter, clone);
                self.cloned = Some((original, self.copies.clone()));
                (0..HASHES).for_each(|hash| self.check(hash));
            }
        }
    }

    /// The hash that a number selects.
    fn hash(&self, number: u8) -> u64 {
        let hash = u64::from(number) % HASHES;
        if self.grows { self.first_alias[hash as usize] as u64 } else { hash }
    }

    /// The hashes of a batch.
    fn hashes(&self, batch: Batch) -> Vec<u64> {
        batch.numbers().map(|number| self.hash(number)).collect()
    }

    /// The hashes of a batch, as many as a mask has bits.
    fn hashes_of_mask(&self, batch: Batch) -> Vec<u64> {
        let mut hashes = self.hashes(batch);
        hashes.truncate(MAX_MASK);
        hashes
    }

    /// Copies of a hash and its aliases.
    fn copies(&mut self, hash: u64) -> &mut usize {
        &mut self.copies[self.first_alias[hash as usize]]
    }

    /// Records the outcome of an insertion, and checks it.
    fn inserted(&mut self, hash: u64, outcome: Result<bool, InsertError>) {
        let slots = self.filter.layout().slots_per_bucket() as usize;
        let grows = self.grows;
        let copies = self.copies(hash);
        match outcome {
            Ok(added) => *copies += usize::from(added),
            // The limit holds for the last segment, and is half as large if both buckets are one.
            Err(InsertError::TooManyCopies) if grows => {
                assert!(*copies >= slots.div_ceil(2), "{copies} copies are not too many");
            }
            Err(InsertError::TooManyCopies) => {
                assert!(*copies == slots || *copies == 2 * slots, "{copies} are not too many");
            }
            Err(_) => assert!(!grows && *copies < 2 * slots, "full with {copies} copies"),
        }
    }

    /// Records the outcome of the insertion of a unique hash, and checks it.
    fn inserted_unique(&mut self, hash: u64, outcome: Result<bool, InsertError>) {
        let present = *self.copies(hash) > 0;
        match outcome {
            Ok(added) => assert_ne!(added, present, "unique {hash}"),
            Err(error) => {
                assert!(!present, "unique {hash}: {error} though present");
                assert_eq!(error, InsertError::Full);
            }
        }
        self.inserted(hash, outcome);
    }

    /// Records the outcome of a batch of insertions, and checks it.
    fn inserted_batch(
        &mut self,
        hashes: &[u64],
        added: &[bool],
        outcome: Result<usize, InsertBatchError>,
    ) {
        let mut outcomes: Vec<_> = added.iter().map(|&added| Ok(added)).collect();
        let number = outcome.unwrap_or_else(|error| {
            assert!(error.failures().is_sorted_by_key(|(position, _)| position), "{error:?}");
            for (position, reason) in error.failures() {
                outcomes[position] = Err(reason);
            }
            error.added()
        });
        assert_eq!(number, outcomes.iter().filter(|&&outcome| outcome == Ok(true)).count());
        // A batch may process its items in any order, so the rejected ones come last.
        for accepted in [true, false] {
            for (&hash, &outcome) in hashes.iter().zip(&outcomes) {
                if outcome.is_ok() == accepted {
                    self.inserted(hash, outcome);
                }
            }
        }
        self.check_all(hashes);
    }

    /// Records the outcome of a batch of insertions of unique hashes, and checks it.
    fn inserted_unique_batch(
        &mut self,
        hashes: &[u64],
        added: &[bool],
        outcome: Result<usize, InsertBatchError>,
    ) {
        let before = self.copies.clone();
        let rejected = outcome.as_ref().err().into_iter().flat_map(InsertBatchError::failures);
        let rejected: Vec<usize> = rejected.map(|(position, _)| position).collect();
        self.inserted_batch(hashes, added, outcome);
        for (position, &hash) in hashes.iter().enumerate() {
            let was = before[self.first_alias[hash as usize]];
            let is = *self.copies(hash);
            assert!(is == was.max(1) || is == 0, "unique {hash}: {was} before, {is} after");
            assert_eq!(is == 0, rejected.contains(&position), "unique {hash}: {is} after");
        }
    }

    /// Records the outcomes of removals, and checks them.
    fn removed(&mut self, hashes: &[u64], removed: &[bool]) {
        for (&hash, &removed) in hashes.iter().zip(removed) {
            let copies = self.copies(hash);
            assert!(!removed || *copies > 0, "removal of {hash}");
            *copies -= usize::from(removed);
        }
        // A removal fails only if no copy is left.
        for (&hash, &removed) in hashes.iter().zip(removed) {
            assert!(removed || *self.copies(hash) == 0, "{hash} is left");
        }
        self.check_all(hashes);
    }

    /// Checks the answers of lookups.
    fn found(&mut self, hashes: &[u64], found: &[bool]) {
        for (&hash, &found) in hashes.iter().zip(found) {
            assert_eq!(found, *self.copies(hash) > 0, "lookup of {hash}");
        }
    }

    fn check_all(&self, hashes: &[u64]) {
        for &hash in hashes {
            self.check(hash);
        }
    }

    /// Checks what the filter returns for a hash.
    fn check(&self, hash: u64) {
        self.check_in(&self.filter, &self.copies, hash);
    }

    /// Checks that the filter before the last `Clone` has not changed.
    fn check_cloned(&self) {
        if let Some((filter, copies)) = &self.cloned {
            assert_eq!(filter.len(), copies.iter().sum::<usize>(), "a clone shares its items");
            (0..HASHES).for_each(|hash| self.check_in(filter, copies, hash));
        }
    }

    fn check_in(&self, filter: &Tested<E>, copies: &[usize], hash: u64) {
        let first = self.first_alias[hash as usize];
        if self.grows && first != hash as usize {
            return;
        }
        let count = copies[first];
        assert_eq!(filter.count(&hash), count, "count of {hash}");
        assert_eq!(filter.by_hash().count(hash), count, "count by hash of {hash}");
        assert_eq!(filter.contains(&hash), count > 0, "contains {hash}");
        assert_eq!(filter.by_hash().contains(hash), count > 0, "contains by hash {hash}");
    }
}

/// For each hash, the first one that an empty filter mistakes for it.
fn first_aliases<E: Membership>(filter: &Tested<E>) -> Vec<usize> {
    let mut first: Vec<_> = (0..HASHES as usize).collect();
    for hash in 0..HASHES {
        if first[hash as usize] == hash as usize {
            filter.insert(&hash).expect("an empty filter");
            for later in hash + 1..HASHES {
                if filter.contains(&later) {
                    first[later as usize] = hash as usize;
                }
            }
            filter.clear();
        }
    }
    first
}

/// The bits of a mask.
fn bools(mask: u64, length: usize) -> Vec<bool> {
    assert!(length == MAX_MASK || mask >> length == 0, "{mask:b} has more than {length} bits");
    (0..length).map(|bit| mask >> bit & 1 == 1).collect()
}
