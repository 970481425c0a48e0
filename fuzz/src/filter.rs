//! Sequences of operations on a filter of any kind against a multiset: the checker of the tests,
//! with the input in place of a random generator.

use arbitrary::Arbitrary;

use crate::{
    common::{
        hashers::{self, Part},
        kind::{
            ExpiringSets, GrowingExpiringSets, GrowingMaps, GrowingSets, Kind, Maker, Maps, Sets,
        },
        suite::Checker,
    },
    decisions::Decisions,
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
    while !checker.rng.has_ended() {
        checker.step();
        checker.check();
    }
}
