//! Inputs of the target `filter`, and the filters that they describe.

use std::hash::{BuildHasherDefault, Hasher};

use arbitrary::Arbitrary;
use guira::{Filter, Layout, Membership};

/// Number of distinct hashes.
pub(super) const HASHES: u64 = 32;
/// Largest number of hashes in a batch: more than three windows of the library.
const MAX_BATCH: u8 = 100;

/// A filter and the operations on it.
#[derive(Arbitrary, Debug)]
pub struct Input {
    pub(super) grows: bool,
    pub(super) layout: u8,
    pub(super) capacity: u8,
    pub(super) seed: u64,
    pub(super) operations: Vec<Operation>,
}

/// An operation on items, or on hashes.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub(super) struct Operation {
    pub(super) by_hash: bool,
    pub(super) action: Action,
}

/// What an operation does. A number selects a hash.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub(super) enum Action {
    Insert(u8),
    InsertUnique(u8),
    Remove(u8),
    InsertBatch(Batch),
    TryExtend(Batch),
    InsertUniqueBatch(Batch),
    InsertUniqueMask(Batch),
    RemoveBatch(Batch),
    RemoveMask(Batch),
    ContainsBatch(Batch),
    ContainsMask(Batch),
    Clear,
    Clone,
}

/// An arithmetic sequence of numbers, so that few bytes describe a long batch.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub(super) struct Batch {
    pub(super) start: u8,
    pub(super) step: u8,
    pub(super) length: u8,
}

impl Batch {
    /// The numbers of the batch.
    pub(super) fn numbers(self) -> impl Iterator<Item = u8> {
        let Self { start, step, length } = self;
        (0..length % (MAX_BATCH + 1)).map(move |index| start.wrapping_add(step.wrapping_mul(index)))
    }
}

/// Hashes a `u64` to itself, so that a filter treats hashes and items alike.
#[derive(Default)]
pub(super) struct Identity(u64);

impl Hasher for Identity {
    fn write(&mut self, _: &[u8]) {
        unreachable!("only `u64` is hashed");
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

pub(super) type Tested<E> = Filter<E, BuildHasherDefault<Identity>>;

/// Builds the filter of an input.
pub(super) fn build<E: Membership>(input: &Input) -> Tested<E> {
    Filter::<E>::builder()
        .layout(Layout::ALL[usize::from(input.layout) % Layout::ALL.len()])
        // Above the rate of every layout: a growing filter's default is below some.
        .false_positive_rate(0.9)
        .capacity(1 + usize::from(input.capacity) % HASHES as usize)
        .seed(input.seed)
        .hasher(BuildHasherDefault::default())
        .build()
        .expect("a small filter")
}
