//! What the targets share that run operations: most of them on few hashes, so that these recur.

use std::hash::{BuildHasherDefault, Hasher};

use arbitrary::{Arbitrary, Result, Unstructured};
use guira::Filter;

/// Number of distinct hashes.
pub(crate) const HASHES: u64 = 32;
/// Largest number of hashes in a batch: more than three windows of the library.
const MAX_BATCH: u8 = 100;

/// Operations up to the end of the input. (A `Vec` ends after each one with probability one half.)
#[derive(Debug)]
pub(crate) struct Operations<T>(pub(crate) Vec<T>);

impl<'a, T: Arbitrary<'a>> Arbitrary<'a> for Operations<T> {
    fn arbitrary(input: &mut Unstructured<'a>) -> Result<Self> {
        let mut operations = Vec::new();
        while !input.is_empty() {
            operations.push(input.arbitrary()?);
        }
        Ok(Self(operations))
    }
}

/// An arithmetic sequence of numbers, so that few bytes describe a long batch.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub(crate) struct Batch {
    pub(crate) start: u8,
    pub(crate) step: u8,
    pub(crate) length: u8,
}

impl Batch {
    /// The numbers of the batch.
    pub(crate) fn numbers(self) -> impl Iterator<Item = u8> {
        let Self { start, step, length } = self;
        (0..length % (MAX_BATCH + 1)).map(move |index| start.wrapping_add(step.wrapping_mul(index)))
    }
}

/// Hashes a `u64` to itself, so that a filter treats hashes and items alike.
#[derive(Default)]
pub(crate) struct Identity(u64);

impl Identity {
    /// The hasher of a filter.
    pub(crate) fn builder() -> BuildHasherDefault<Self> {
        BuildHasherDefault::default()
    }
}

impl Hasher for Identity {
    /// The library hashes a text, by which a snapshot recognizes the hasher.
    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |hash, &byte| hash.rotate_left(8) ^ u64::from(byte));
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

pub(crate) type Tested<E> = Filter<E, BuildHasherDefault<Identity>>;
