//! The operations of a table against a multiset of (fingerprint, pair of buckets) that knows
//! exactly what fits: the checker of the tests, with the input in place of a random generator.

use arbitrary::Arbitrary;

use crate::{common::table::TableChecker, decisions::Decisions, some_slots};

/// Largest number of buckets. In such a table a search finds every empty slot.
const MAX_BUCKETS: u64 = 300;

/// A table and the operations on it.
#[derive(Arbitrary, Debug)]
pub struct Input {
    layout: u8,
    buckets: u16,
    seed: u64,
    decisions: Decisions,
}

/// Runs an input.
///
/// # Panics
/// If the table and the oracle disagree.
pub fn run(input: Input) {
    // A third of the tables are tiny: many items there have only one bucket.
    let buckets = match u64::from(input.buckets) {
        buckets if buckets % 3 == 0 => 1 + buckets / 3 % 4,
        buckets => 1 + buckets / 3 % MAX_BUCKETS,
    };
    let slots = some_slots(input.layout);
    let mut checker = TableChecker::new(slots, buckets, input.seed, input.decisions);
    while !checker.rng.has_ended() {
        checker.step();
    }
    checker.check_all();
}
