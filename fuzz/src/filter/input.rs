//! Inputs of the target `filter`, and the filters that they describe.

use arbitrary::Arbitrary;
use guira::{Filter, Layout, Membership};

use crate::items::{Batch, HASHES, Identity, Operations, Tested};

/// A filter and the operations on it.
#[derive(Arbitrary, Debug)]
pub struct Input {
    pub(super) grows: bool,
    pub(super) layout: u8,
    pub(super) capacity: u8,
    pub(super) seed: u64,
    pub(super) operations: Operations<Operation>,
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

/// Builds the filter of an input.
pub(super) fn build<E: Membership>(input: &Input) -> Tested<E> {
    Filter::<E>::builder()
        .layout(Layout::ALL[usize::from(input.layout) % Layout::ALL.len()])
        // Above the rate of every layout: a growing filter's default is below some.
        .false_positive_rate(0.9)
        .capacity(1 + usize::from(input.capacity) % HASHES as usize)
        .seed(input.seed)
        .hasher(Identity::builder())
        .build()
        .expect("a small filter")
}
