//! Section 4: how often 2b + 1 items share both buckets and the fingerprint, by formula and by
//! experiment, and the minimum fingerprint size that follows.

use std::collections::HashMap;

use guira_harness::table::Table;
use rand::{RngExt, SeedableRng, rngs::SmallRng};

use super::{Outcome, Progress, Row, row::number};
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

/// Returns the fingerprint size, a real number, at which exactly one group is expected.
fn min_bits(slots: usize, log_buckets: u32, load: f64) -> f64 {
    let m = f64::from(log_buckets).exp2();
    let n = m * slots as f64 * load;
    let q = group_size(slots);
    (ln_choose(n, q) / f64::from(q - 1) / std::f64::consts::LN_2) + 1.0 - f64::from(log_buckets)
}

/// Reproduces the section.
pub fn run(_: &Options, progress: &Progress) -> Outcome {
    let rows = progress.map(&CASES, |&(slots, bits, log_buckets, load)| {
        let m = f64::from(log_buckets).exp2();
        let n = (m * slots as f64 * load) as usize;
        let count = |seed| count(slots, bits, log_buckets, n, seed);
        let counts: Vec<f64> = (0..TRIALS).map(count).collect();
        group_row((slots, bits, log_buckets), expected(slots, bits, m, n as f64), &counts)
    });
    let notes = vec![
        "More than 2b items that share both buckets and the fingerprint never fit, whatever is \
         relocated. By section 4, q items share them with probability (2 / (m 2^f))^(q-1), so a \
         table of n items holds about C(n, 2b+1) (2 / (2^f m))^(2b) such groups. Fingerprints must \
         therefore grow with the logarithm of the table size divided by b."
            .into(),
        "The table shows the fingerprint size at which one such group is expected. It is a lower \
         bound. With longer fingerprints, an insertion fails because the search gives up, not \
         because of such a group."
            .into(),
    ];
    Outcome { rows, tables: vec![sizes()], notes, ..Outcome::default() }
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

/// The minimum fingerprint sizes by the formula.
fn sizes() -> Table {
    let logs = [15, 20, 25, 30];
    let mut head = vec!["slots per bucket".to_string()];
    head.extend(logs.iter().map(|log| format!("bits for 2^{log} buckets")));
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    let mut table = Table::new("section-4-sizes", &head);
    for (slots, load) in [(1, 0.5), (2, 0.84), (4, 0.95), (8, 0.98)] {
        let bits = logs.map(|log| format!("{:.1}", min_bits(slots, log, load)));
        table.push(std::iter::once(slots.to_string()).chain(bits).collect());
    }
    table
}

#[cfg(test)]
mod tests {
    use super::{count, expected, group_row, ln_choose, min_bits};
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

    #[test]
    fn the_formula_matches_counted_groups() {
        let expected = expected(1, 4, 256.0, 128.0);
        let counted = (0..400).map(|seed| count(1, 4, 8, 128, seed)).sum::<f64>() / 400.0;
        assert!((counted / expected - 1.0).abs() < 0.2, "{counted} not {expected}");
    }

    #[test]
    fn one_group_is_expected_at_the_minimum_fingerprint_size() {
        let bits = min_bits(2, 20, 0.84);
        let m = 1_048_576.0;
        let above = expected(2, bits.floor() as u32, m, m * 1.68);
        let below = expected(2, bits.ceil() as u32, m, m * 1.68);
        assert!(above > 1.0 && below < 1.0, "{bits}: {above}, {below}");
    }
}
