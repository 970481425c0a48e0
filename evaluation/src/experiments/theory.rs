//! Section 4: how often 2b + 1 items share both buckets and the fingerprint, by formula and by
//! experiment.

use std::collections::HashMap;

use rand::{RngExt, SeedableRng, rngs::SmallRng};
use rayon::prelude::*;

use super::{Outcome, Row, row::number};
use crate::Options;

/// Slots per bucket, fingerprint bits, binary logarithm of buckets, and load of tables in which
/// groups of 2b + 1 items are neither rare nor common.
const CASES: [(usize, u32, u32, f64); 5] =
    [(1, 4, 10, 0.5), (1, 8, 12, 0.5), (2, 3, 10, 0.84), (2, 5, 10, 0.84), (4, 2, 10, 0.95)];
/// Random tables per case.
const TRIALS: u64 = 4000;

/// Returns the natural logarithm of the binomial coefficient.
fn ln_choose(n: f64, k: u32) -> f64 {
    (0..k).map(|i| (n - f64::from(i)).ln() - f64::from(i + 1).ln()).sum()
}

/// Returns the size of the smallest group that does not fit into two buckets.
fn group_size(slots: usize) -> u32 {
    2 * slots as u32 + 1
}

/// Returns the expected number of groups of 2b + 1 items that share both buckets and the
/// fingerprint, among `n` items in `m` buckets, by section 4: C(n, 2b+1) (2 / (2^f m))^(2b).
fn expected(slots: usize, bits: u32, m: f64, n: f64) -> f64 {
    let q = group_size(slots);
    let ln_collision = (2.0 / (f64::from(bits).exp2() * m)).ln();
    (ln_choose(n, q) + f64::from(q - 1) * ln_collision).exp()
}

/// Counts such groups in one table of random items.
fn count(slots: usize, bits: u32, log_buckets: u32, items: usize, seed: u64) -> f64 {
    let mut rng = SmallRng::seed_from_u64(seed);
    // As in the formula, all values are fingerprints, and their hashes are independent.
    let hashes: Vec<u32> = (0..1 << bits).map(|_| rng.random_range(1..1 << log_buckets)).collect();
    let mut groups: HashMap<(u32, u32), u32> = HashMap::new();
    for _ in 0..items {
        let fingerprint: u32 = rng.random_range(0..1 << bits);
        let first: u32 = rng.random_range(0..1 << log_buckets);
        let pair = first.min(first ^ hashes[fingerprint as usize]);
        *groups.entry((fingerprint, pair)).or_default() += 1;
    }
    let q = group_size(slots);
    groups.values().filter(|&&items| items >= q).map(|&n| ln_choose(n.into(), q).exp()).sum()
}

/// Reproduces the section.
pub fn run(_: &Options) -> Outcome {
    let row = |&(slots, bits, log_buckets, load): &(usize, u32, u32, f64)| {
        let m = f64::from(log_buckets).exp2();
        let n = (m * slots as f64 * load) as usize;
        let count = |seed| count(slots, bits, log_buckets, n, seed);
        let counts: Vec<f64> = (0..TRIALS).map(count).collect();
        group_row((slots, bits, log_buckets), expected(slots, bits, m, n as f64), &counts)
    };
    let note =
        "More than 2b items that share both buckets and the fingerprint never fit, whatever \
        is relocated. By section 4, q items share them with probability (2 / (m 2^f))^(q-1), so a \
        table of n items holds about C(n, 2b+1) (2 / (2^f m))^(2b) such groups. Fingerprints must \
        therefore grow with the logarithm of the table size divided by b."
            .into();
    Outcome { rows: CASES.par_iter().map(row).collect(), note, ..Outcome::default() }
}

/// Compares the mean of the counted groups with the formula.
fn group_row((slots, bits, log_buckets): (usize, u32, u32), paper: f64, counts: &[f64]) -> Row {
    let trials = counts.len() as f64;
    let measured = counts.iter().sum::<f64>() / trials;
    let variance = counts.iter().map(|count| (count - measured).powi(2)).sum::<f64>() / trials;
    let error = 3.0 * (variance / trials).sqrt() + 0.02 * paper;
    let location = format!("Section 4, b = {slots}, f = {bits}, 2^{log_buckets} buckets");
    let quantity = format!("groups of {} indistinguishable items per table", 2 * slots + 1);
    Row::new(location, quantity, measured, "groups")
        .formula(paper)
        .within(error)
        .note(format!("equation 3; mean of {trials} random tables; tolerance {}", number(error)))
}

#[cfg(test)]
mod tests {
    use super::{expected, group_row, ln_choose};
    use crate::experiments::row::assert_each_row_can_change;

    #[test]
    fn each_row_can_change() {
        let inputs = [[2.0, 1.0, 3.0, 2.0], [4.0, 5.0, 4.0, 5.0], [0.0, 0.0, 0.0, 0.5]];
        assert_each_row_can_change(&inputs, |counts| vec![group_row((1, 4, 10), 2.0, counts)]);
    }

    #[test]
    fn binomial_coefficients_are_correct() {
        assert!((ln_choose(10.0, 3).exp() - 120.0).abs() < 1e-9);
        assert!((ln_choose(5.0, 5).exp() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn the_formula_matches_a_computation_by_hand() {
        // C(128, 3) = 341,376 groups of three, each with probability (2 / 2^12)^2.
        let groups = 341_376.0 * (2.0 / 4096.0_f64).powi(2);
        assert!((expected(1, 4, 256.0, 128.0) / groups - 1.0).abs() < 1e-9);
    }
}
