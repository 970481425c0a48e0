//! The papers' scheme: a power of two of buckets, `i XOR hash(fingerprint)`, and a random walk.

use std::hint::black_box;

use rand::{RngExt, SeedableRng, rngs::SmallRng};

use super::{Shape, Simulation, Slot, reduce, table::Table};

/// Relocations after which the table counts as full.
const MAX_RELOCATIONS: usize = 500;

/// How to avoid the fingerprint zero, which marks an empty slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zero {
    /// Zero becomes one, which is then twice as frequent, as in the authors' program.
    BecomesOne,
    /// All nonzero values are equally frequent.
    IsLeftOut,
}

/// A table that inserts by algorithm 1 of the paper.
pub struct Papers<T> {
    table: Table<T>,
    shape: Shape,
    zero: Zero,
    /// Whether the fingerprint is hashed before the XOR.
    hashes: bool,
    rng: SmallRng,
}

impl<T: Slot> Papers<T> {
    pub fn new(shape: Shape, zero: Zero, hashes: bool, seed: u64) -> Self {
        assert!(shape.buckets.is_power_of_two(), "XOR needs a power of two");
        let table = Table::new(shape.buckets, shape.slots);
        Self { table, shape, zero, hashes, rng: SmallRng::seed_from_u64(seed) }
    }

    fn fingerprint(&self, hash: u64) -> u32 {
        let (low, values) = (hash as u32, 1 << self.shape.bits);
        match self.zero {
            Zero::BecomesOne => reduce(low, values).max(1),
            Zero::IsLeftOut => 1 + reduce(low, values - 1),
        }
    }

    fn bucket(&self, hash: u64) -> u32 {
        (hash >> 32) as u32 & (self.shape.buckets - 1)
    }

    fn alt_bucket(&self, fingerprint: u32, bucket: u32) -> u32 {
        if !self.hashes {
            return bucket ^ (fingerprint & (self.shape.buckets - 1));
        }
        // The finalizer of MurmurHash3.
        let x = (fingerprint ^ (fingerprint >> 16)).wrapping_mul(0x85eb_ca6b);
        let x = (x ^ (x >> 13)).wrapping_mul(0xc2b2_ae35);
        bucket ^ ((x ^ (x >> 16)) & (self.shape.buckets - 1))
    }
}

impl<T: Slot> Simulation for Papers<T> {
    fn insert(&mut self, hash: u64) -> Option<u32> {
        let mut fingerprint = self.fingerprint(hash);
        let first = self.bucket(hash);
        let second = self.alt_bucket(fingerprint, first);
        if self.table.push(first, fingerprint) || self.table.push(second, fingerprint) {
            return None;
        }
        let mut bucket = if self.rng.random() { first } else { second };
        for _ in 0..MAX_RELOCATIONS {
            let slot = self.rng.random_range(0..self.shape.slots);
            fingerprint = self.table.swap(bucket, slot, fingerprint);
            bucket = self.alt_bucket(fingerprint, bucket);
            if self.table.push(bucket, fingerprint) {
                return None;
            }
        }
        Some(fingerprint)
    }

    fn contains(&self, hash: u64) -> bool {
        let (fingerprint, first) = (self.fingerprint(hash), self.bucket(hash));
        self.table.contains(first, fingerprint)
            || self.table.contains(self.alt_bucket(fingerprint, first), fingerprint)
    }

    fn prefetch(&self, hashes: &[u64]) {
        for &hash in hashes {
            let first = self.bucket(hash);
            let second = self.alt_bucket(self.fingerprint(hash), first);
            black_box((self.table.bucket(first)[0], self.table.bucket(second)[0]));
        }
    }

    #[cfg(test)]
    fn fingerprints(&self) -> Vec<u32> {
        self.table.fingerprints()
    }
}
