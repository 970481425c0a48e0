//! The public methods of an expiring filter against a multiset of hashes and generations.

use arbitrary::Arbitrary;
use guira::{Expiring, Filter, InsertBatchError, InsertError, Layout};

use crate::{
    forge,
    items::{Batch, HASHES, Identity, Operations, Tested},
    multiset::Multiset,
};

/// A filter and the operations on it.
#[derive(Arbitrary, Debug)]
pub struct Input {
    slots: u8,
    window: u8,
    capacity: u8,
    seed: u64,
    operations: Operations<Operation>,
}

/// An operation. A number selects a hash.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Operation {
    Insert(u8),
    /// With a life, which can be invalid.
    InsertFor(u8, u8),
    InsertUnique(u8),
    InsertEvicting(u8),
    Refresh(u8),
    /// With an age: also of what has expired or never was there.
    Remove(u8, u8),
    InsertBatch(Batch),
    InsertUniqueBatch(Batch),
    InsertUniqueMask(Batch),
    RefreshMask(Batch),
    Advance,
    Sweep(u8),
    Clear,
    Clone,
    Save,
}

/// Runs an input.
///
/// # Panics
/// If the filter and the multiset disagree.
pub fn run(input: &Input) {
    let mut checker = Checker::new(input);
    for &operation in &input.operations.0 {
        checker.apply(operation);
        checker.check_len(operation);
        if !matches!(
            operation,
            Operation::Insert(_) | Operation::InsertFor(..) | Operation::Remove(..)
        ) {
            checker.check(operation);
        }
    }
    checker.check(Operation::Sweep(0));
    // What has expired leaves no slot behind.
    for _ in 0..checker.model.window + 2 {
        checker.apply(Operation::Advance);
        checker.check(Operation::Advance);
    }
    let bytes = checker.filter.to_bytes();
    assert_eq!(forge::number(&bytes, forge::items(&bytes)), 0, "occupied slots");
}

/// A filter beside a multiset.
struct Checker {
    filter: Tested<Expiring>,
    model: Multiset,
    /// The first alias of each hash. The multiset has only these.
    class: Vec<u64>,
}

impl Checker {
    fn new(input: &Input) -> Self {
        // Most windows are short, so that what is inserted expires.
        let window = match u32::from(input.window) {
            long @ 250..=253 => long,
            window @ 200.. => 1 + window % 13,
            window => 1 + window % 3,
        };
        let stamp_bits = (window + 2).ilog2() + 1;
        let layout = Layout::with_values(2 + u32::from(input.slots) % 5, stamp_bits);
        let builder = Filter::<Expiring>::builder()
            .window(window)
            .capacity(1 + usize::from(input.capacity) % HASHES as usize)
            .seed(input.seed)
            .hasher(Identity::builder());
        // Not every number of slots leaves enough bits for fingerprints.
        let builder = layout.into_iter().fold(builder, guira::FilterBuilder::layout);
        let filter = builder.build().expect("a small filter");
        let mut class: Vec<u64> = (0..HASHES).collect();
        for hash in (0..HASHES).rev() {
            filter.insert(&hash).expect("an empty filter");
            let aliases = (hash..HASHES).filter(|other| filter.contains(other));
            aliases.for_each(|other| class[other as usize] = hash);
            filter.clear();
        }
        let (window, now) = (window.into(), filter.generation());
        Self { filter, model: Multiset { window, now, items: Vec::new() }, class }
    }

    fn apply(&mut self, operation: Operation) {
        let Self { filter, model, class } = self;
        let hash_of = |number: u8| u64::from(number) % HASHES;
        let class_of = |hash: u64| class[hash as usize];
        match operation {
            Operation::Insert(number) => {
                let hash = hash_of(number);
                if let Ok(generation) = filter.insert(&hash) {
                    assert_eq!(generation, model.now);
                    model.items.push((class_of(hash), generation));
                }
            }
            Operation::InsertFor(number, life) => {
                let (hash, is_valid) = (hash_of(number), (1..=model.window).contains(&life.into()));
                let outcome = filter.insert_for(&hash, life.into());
                assert_eq!(outcome == Err(InsertError::InvalidLife), !is_valid, "{life}");
                if let Ok(generation) = outcome {
                    assert_eq!(generation + model.window, model.now + u64::from(life));
                    model.items.push((class_of(hash), generation));
                }
            }
            Operation::InsertUnique(number) => {
                let hash = hash_of(number);
                let is_present = model.contains(class_of(hash));
                match filter.insert_unique(&hash) {
                    Ok(None) => assert!(is_present),
                    Ok(Some(generation)) => {
                        assert!(!is_present && generation == model.now);
                        model.items.push((class_of(hash), generation));
                    }
                    Err(error) => assert!(!is_present && error == InsertError::Full),
                }
            }
            Operation::InsertEvicting(number) => {
                let hash = hash_of(number);
                let replaced = filter.insert_evicting(&hash);
                model.items.push((class_of(hash), model.now));
                if replaced {
                    self.find_replaced();
                }
            }
            Operation::Refresh(number) => {
                let hash = hash_of(number);
                assert_eq!(filter.refresh(&hash), model.refresh(class_of(hash)));
            }
            Operation::Remove(number, age) => {
                let hash = hash_of(number);
                let age = u64::from(age) % (model.window + 3);
                let Some(generation) = model.now.checked_sub(age) else { return };
                let expected = model.remove((class_of(hash), generation));
                assert_eq!(filter.remove(&hash, generation), expected);
            }
            Operation::InsertBatch(_)
            | Operation::InsertUniqueBatch(_)
            | Operation::InsertUniqueMask(_)
            | Operation::RefreshMask(_) => self.apply_batch(operation),
            Operation::Advance => {
                model.advance();
                assert_eq!(filter.advance(), model.now);
            }
            Operation::Sweep(buckets) => {
                filter.sweep(buckets.into());
            }
            Operation::Clear => {
                filter.clear();
                model.items.clear();
            }
            Operation::Clone => {
                let clone = filter.try_clone().expect("a small filter");
                std::mem::replace(filter, clone).clear();
            }
            Operation::Save => {
                let bytes = filter.to_bytes();
                let loaded = Filter::from_bytes_with_hasher(&bytes, Identity::builder());
                *filter = loaded.expect("its own bytes");
            }
        }
    }

    /// As [`apply`](Self::apply), for operations on batches.
    fn apply_batch(&mut self, operation: Operation) {
        let Self { filter, model, class } = self;
        let class_of = |hash: u64| class[hash as usize];
        let all = |batch: Batch| {
            batch.numbers().map(|number| u64::from(number) % HASHES).collect::<Vec<_>>()
        };
        match operation {
            Operation::InsertBatch(batch) => {
                let hashes = all(batch);
                let error = filter.by_hash().insert_batch(&hashes).err();
                let rejected = error.iter().flat_map(InsertBatchError::failures);
                let rejected: Vec<usize> = rejected.map(|(position, _)| position).collect();
                let added = (0..hashes.len()).filter(|place| !rejected.contains(place));
                model.items.extend(added.map(|place| (class_of(hashes[place]), model.now)));
            }
            Operation::InsertUniqueBatch(batch) => {
                let hashes = all(batch);
                let mut added = vec![false; hashes.len()];
                let outcome = filter.by_hash().insert_unique_batch(&hashes, &mut added);
                let error = outcome.err();
                let rejected = error.iter().flat_map(InsertBatchError::failures);
                let rejected: Vec<usize> = rejected.map(|(position, _)| position).collect();
                for (place, &hash) in hashes.iter().enumerate() {
                    if added[place] {
                        assert!(!model.contains(class_of(hash)) && !rejected.contains(&place));
                        model.items.push((class_of(hash), model.now));
                    }
                }
                for (place, &hash) in hashes.iter().enumerate() {
                    assert!(rejected.contains(&place) || model.contains(class_of(hash)));
                }
            }
            Operation::InsertUniqueMask(batch) => {
                let mut hashes = all(batch);
                hashes.truncate(64);
                let outcome = filter.insert_unique_mask(&hashes);
                // The library processes the hashes in this order.
                for (place, &hash) in hashes.iter().enumerate() {
                    let [added, refused] = [outcome.added, outcome.refused].map(|m| m >> place & 1);
                    assert_eq!(added + refused == 0, model.contains(class_of(hash)));
                    if added > 0 {
                        model.items.push((class_of(hash), model.now));
                    }
                }
            }
            Operation::RefreshMask(batch) => {
                let mut hashes = all(batch);
                hashes.truncate(64);
                let mask = filter.refresh_mask(&hashes);
                for (place, &hash) in hashes.iter().enumerate() {
                    assert_eq!(mask >> place & 1 == 1, model.refresh(class_of(hash)));
                }
            }
            _ => unreachable!("no operation on a batch"),
        }
    }

    /// Removes from the multiset what an eviction removed from the filter: the one item that is not
    /// there as often as it should be.
    fn find_replaced(&mut self) {
        let Self { filter, model, .. } = self;
        let is_lost = |&(class, generation): &(u64, u64)| {
            let clone = filter.try_clone().expect("a small filter");
            let copies = model.items.iter().filter(|&&item| item == (class, generation)).count();
            !(0..copies).all(|_| clone.remove(&class, generation))
        };
        let lost = model.items.iter().copied().find(is_lost).expect("an item was replaced");
        let oldest = model.items.iter().map(|item| item.1).min();
        // The others are in other buckets, or as young.
        assert!(oldest <= Some(lost.1) && model.remove(lost));
    }

    /// Compares the generation and the number of items.
    fn check_len(&self, operation: Operation) {
        let Self { filter, model, .. } = self;
        let expected = (model.now, model.items.len());
        assert_eq!((filter.generation(), filter.len()), expected, "{operation:?}");
    }

    /// Compares all answers.
    fn check(&self, operation: Operation) {
        let Self { filter, model, class } = self;
        self.check_len(operation);
        let hashes: Vec<u64> = (0..HASHES).collect();
        let mut copies = [0; HASHES as usize];
        model.items.iter().for_each(|&(class, _)| copies[class as usize] += 1);
        let expected = class.iter().map(|&class| copies[class as usize]);
        let (mut found, mask) = (vec![false; hashes.len()], filter.contains_mask(&hashes));
        let count = filter.contains_batch(&hashes, &mut found);
        assert_eq!(count, found.iter().filter(|&&found| found).count());
        for (&hash, copies) in hashes.iter().zip(expected) {
            let is_present = copies > 0;
            assert_eq!(filter.count(&hash), copies, "count of {hash} after {operation:?}");
            assert_eq!(filter.contains(&hash), is_present, "{hash} after {operation:?}");
            assert_eq!(filter.by_hash().contains(hash), is_present, "{hash} after {operation:?}");
            assert_eq!(found[hash as usize], is_present, "{hash} in a batch");
            assert_eq!(mask >> hash & 1 == 1, is_present, "{hash} in a mask");
        }
    }
}
