//! Sequences of operations on a filter of any kind against a multiset: the checker of the tests,
//! with the input in place of a random generator.

use std::convert::Infallible;

use arbitrary::Arbitrary;
use rand::TryRng;

use crate::common::{
    hashers::{self, Part},
    kind::{
        ExpiringSets, GrowingExpiringSets, GrowingMaps, GrowingSets, Kind, Maker, Maps, Sets,
    },
    suite::Checker,
};

/// A filter and the operations on it.
#[derive(Arbitrary, Debug)]
pub struct Input {
    kind: u8,
    layout: u8,
    buckets: u8,
    seed: u8,
    /// Whether keys are their own hashes.
    is_identity: bool,
    decisions: Decisions,
}

/// A generator of numbers that come from the input. Two bytes decide the highest bits of a number,
/// on which a number in a range depends.
#[derive(Debug)]
struct Decisions {
    bytes: Vec<u8>,
    used: usize,
}

impl<'a> Arbitrary<'a> for Decisions {
    fn arbitrary(input: &mut arbitrary::Unstructured<'a>) -> arbitrary::Result<Self> {
        Ok(Self { bytes: input.bytes(input.len())?.to_vec(), used: 0 })
    }
}

impl TryRng for Decisions {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        let byte = |place| u32::from(self.bytes.get(place).copied().unwrap_or(0));
        let number = byte(self.used) << 24 | byte(self.used + 1) << 16;
        self.used += 2;
        Ok(number)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.try_next_u32().map(|number| u64::from(number) << 32)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        bytes.fill_with(|| {
            self.used += 1;
            self.bytes.get(self.used - 1).copied().unwrap_or(0)
        });
        Ok(())
    }
}

/// Runs an input.
///
/// # Panics
/// If the filter and the multiset disagree.
pub fn run(input: Input) {
    match input.kind % 6 {
        0 => run_on::<Sets>(input),
        1 => run_on::<GrowingSets>(input),
        2 => run_on::<Maps>(input),
        3 => run_on::<GrowingMaps>(input),
        4 => run_on::<ExpiringSets>(input),
        _ => run_on::<GrowingExpiringSets>(input),
    }
}

/// As [`run`], for one kind of filter.
fn run_on<K: Kind>(input: Input) {
    let layouts = K::layouts();
    let layout = layouts[usize::from(input.layout) % layouts.len()];
    let buckets = 1 + usize::from(input.buckets) % 24;
    let make: Maker<K, Part> = if input.is_identity { hashers::identity } else { hashers::good };
    let (seed, decisions) = (input.seed.into(), input.decisions);
    let mut checker = Checker::<K, Part, Decisions>::new(make, layout, buckets, seed, decisions);
    while checker.rng.used < checker.rng.bytes.len() {
        checker.step();
        checker.check();
    }
}
