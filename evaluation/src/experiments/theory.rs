//! Section 4: how often 2b + 1 items share both buckets and the fingerprint, by the formula and in
//! experiment, and what that says about the shortest fingerprint.

use std::collections::HashMap;

use guira_report::table::Table;
use rand::{RngExt, SeedableRng, rngs::SmallRng};

use super::{Outcome, Progress, Row, Verdict};
use crate::report::number;
use crate::{
    Options, parallel,
    placement::{Rule, Shape, Zero, load_at_first_refusal},
};

/// A table in which groups of 2b + 1 items are neither rare nor common: slots, bits, two to so many
/// buckets, and the load.
const CASES: [(usize, u32, u32, f64); 5] =
    [(1, 4, 10, 0.5), (1, 8, 12, 0.5), (2, 3, 10, 0.84), (2, 5, 10, 0.84), (4, 2, 10, 0.95)];
/// Tables of each case.
const TRIALS: u64 = 4000;

/// The logarithm of the number of ways to choose.
fn ln_choose(n: f64, k: u32) -> f64 {
    (0..k).map(|i| (n - f64::from(i)).ln() - f64::from(i + 1).ln()).sum()
}

/// Items that are too many for two buckets.
fn too_many(slots: usize) -> u32 {
    2 * slots as u32 + 1
}

/// The expected number of groups of 2b + 1 items that share both buckets and the fingerprint, among
/// `n` items in `m` buckets, by section 4: C(n, 2b+1) (2 / (2^f m))^(2b).
fn expected(slots: usize, bits: u32, m: f64, n: f64) -> f64 {
    let q = too_many(slots);
    let alike = (2.0 / (f64::from(bits).exp2() * m)).ln();
    (ln_choose(n, q) + f64::from(q - 1) * alike).exp()
}

/// The same, counted in one table of random items.
fn count(slots: usize, bits: u32, log_buckets: u32, items: usize, seed: u64) -> f64 {
    let mut rng = SmallRng::seed_from_u64(seed);
    // As in the formula every value is a fingerprint and each has its own partner of a bucket.
    let partner: Vec<u32> = (0..1 << bits).map(|_| rng.random_range(1..1 << log_buckets)).collect();
    let mut groups: HashMap<(u32, u32), u32> = HashMap::new();
    for _ in 0..items {
        let fingerprint: u32 = rng.random_range(0..1 << bits);
        let first: u32 = rng.random_range(0..1 << log_buckets);
        let pair = first.min(first ^ partner[fingerprint as usize]);
        *groups.entry((fingerprint, pair)).or_default() += 1;
    }
    let q = too_many(slots);
    groups.values().filter(|&&items| items >= q).map(|&n| ln_choose(n.into(), q).exp()).sum()
}

/// The shortest fingerprint, a real number, with which fewer than one group is expected.
fn shortest(slots: usize, log_buckets: u32, load: f64) -> f64 {
    let m = f64::from(log_buckets).exp2();
    let n = m * slots as f64 * load;
    let q = too_many(slots);
    (ln_choose(n, q) / f64::from(q - 1) / std::f64::consts::LN_2) + 1.0 - f64::from(log_buckets)
}

/// The load at which one group is expected where one fingerprint, of a share of the items, is the
/// most frequent, by the same formula.
fn load_of_a_group(slots: usize, log_buckets: u32, shares: &[f64]) -> f64 {
    let m = f64::from(log_buckets).exp2();
    let q = too_many(slots);
    let groups = |load: f64| -> f64 {
        let n = load * slots as f64 * m;
        let of = |share: &f64| (ln_choose(n * share, q) + f64::from(q - 1) * (2.0 / m).ln()).exp();
        shares.iter().map(of).sum()
    };
    let (mut low, mut high) = (0.0, 20.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if groups(middle) < 1.0 { low = middle } else { high = middle }
    }
    low
}

/// Reproduces the section.
pub fn run(options: &Options, progress: &Progress) -> Outcome {
    let mut rows = groups(progress);
    let (more, tables) = (short_fingerprints(options, progress), vec![lengths()]);
    rows.extend(more);
    let notes = vec![
        "More than 2b items that share both buckets and the fingerprint fit nowhere, whatever moves. Section 4 puts \
         the probability that q items do at (2 / (m 2^f))^(q-1), so that about C(n, 2b+1) (2 / (2^f m))^(2b) such groups \
         are to be expected: fingerprints must grow with the logarithm of the table's size over b."
            .into(),
        "The length from which on less than one group is expected stands in the table. It is a lower bound: what \
         fills a table in practice is the search that ends, not such groups, unless fingerprints are shorter than that."
            .into(),
    ];
    Outcome { rows, tables, charts: Vec::new(), notes }
}

/// Groups counted against groups expected.
fn groups(progress: &Progress) -> Vec<Row> {
    progress.expect(CASES.len());
    parallel::map(&CASES, |&(slots, bits, log_buckets, load)| {
        let m = f64::from(log_buckets).exp2();
        let n = (m * slots as f64 * load) as usize;
        let paper = expected(slots, bits, m, n as f64);
        let counts: Vec<f64> =
            (0..TRIALS).map(|seed| count(slots, bits, log_buckets, n, seed)).collect();
        let here = counts.iter().sum::<f64>() / TRIALS as f64;
        let variance =
            counts.iter().map(|count| (count - here).powi(2)).sum::<f64>() / TRIALS as f64;
        let error = 3.0 * (variance / TRIALS as f64).sqrt() + 0.02 * paper;
        progress.step();
        Row {
            place: format!("Section 4, b = {slots}, f = {bits}, 2^{log_buckets} buckets"),
            what: format!("groups of {} alike items in one table", 2 * slots + 1),
            paper: Some(paper),
            here,
            unit: "groups",
            verdict: if (here - paper).abs() <= error {
                Verdict::Reproduced
            } else {
                Verdict::Differs
            },
            why: format!(
                "the paper's is its formula; {TRIALS} random tables, within {} is the same",
                number(error)
            ),
        }
    })
}

/// Where the first group is expected, and where the first item is refused.
fn short_fingerprints(options: &Options, progress: &Progress) -> Vec<Row> {
    const LOG_BUCKETS: u32 = 16;
    let runs = options.runs.unwrap_or(20) as u64;
    let cases: Vec<(u32, Zero)> = [2, 3]
        .into_iter()
        .flat_map(|bits| [(bits, Zero::BecomesOne), (bits, Zero::IsLeftOut)])
        .collect();
    progress.expect(cases.len());
    parallel::map(&cases, |&(bits, zero)| {
        let values = f64::from(bits).exp2();
        let (first, name) = match zero {
            Zero::BecomesOne => (2.0 / values, "zero becomes one"),
            Zero::IsLeftOut => (1.0 / (values - 1.0), "even fingerprints"),
        };
        let others = values as usize - 2;
        let rest = (1.0 - first) / others as f64;
        let shares: Vec<f64> = std::iter::once(first).chain(vec![rest; others]).collect();
        let paper = 100.0 * load_of_a_group(4, LOG_BUCKETS, &shares);
        let shape = Shape { buckets: 1 << LOG_BUCKETS, slots: 4, bits };
        let load = |run| 100.0 * load_at_first_refusal(Rule::Papers(zero), shape, run);
        let here = (0..runs).map(load).sum::<f64>() / runs as f64;
        progress.step();
        Row {
            place: format!("Section 4, f = {bits}, 2^{LOG_BUCKETS} buckets of 4, {name}"),
            what: "load at which nine alike items meet, and at the first refusal".into(),
            paper: Some(paper),
            here,
            unit: "%",
            verdict: if (here / paper - 1.0).abs() < 0.1 {
                Verdict::Reproduced
            } else {
                Verdict::Differs
            },
            why: if here < 0.9 * paper {
                "the paper's is where its formula expects one group; other sets of items too large for their \
                 buckets come first, as so few fingerprints lead to few buckets by XOR"
            } else {
                "the paper's is where its formula expects one group: such groups are what ends short \
                 fingerprints; within a tenth"
            }
            .into(),
        }
    })
}

/// The shortest fingerprints by the formula.
fn lengths() -> Table {
    let logs = [15, 20, 25, 30];
    let mut head = vec!["slots per bucket".to_string()];
    head.extend(logs.iter().map(|log| format!("bits for 2^{log} buckets")));
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    let mut table = Table::new("section-4-lengths", &head);
    for (slots, load) in [(1, 0.5), (2, 0.84), (4, 0.95), (8, 0.98)] {
        let bits = logs.map(|log| format!("{:.1}", shortest(slots, log, load)));
        table.push(std::iter::once(slots.to_string()).chain(bits).collect());
    }
    table
}

#[cfg(test)]
mod tests {
    use super::{count, expected, ln_choose, shortest};

    #[test]
    fn binomials_are_pascals() {
        assert!((ln_choose(10.0, 3).exp() - 120.0).abs() < 1e-9);
        assert!((ln_choose(5.0, 5).exp() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn the_formula_is_the_papers() {
        // C(128, 3) = 341 376 groups of three, each alike with probability (2 / 2^12)^2.
        let groups = 341_376.0 * (2.0 / 4096.0_f64).powi(2);
        assert!((expected(1, 4, 256.0, 128.0) / groups - 1.0).abs() < 1e-9);
    }

    #[test]
    fn the_formula_counts_what_is_there() {
        let expected = expected(1, 4, 256.0, 128.0);
        let counted = (0..400).map(|seed| count(1, 4, 8, 128, seed)).sum::<f64>() / 400.0;
        assert!((counted / expected - 1.0).abs() < 0.2, "{counted} not {expected}");
    }

    #[test]
    fn one_group_is_expected_at_the_shortest_fingerprint() {
        let bits = shortest(2, 20, 0.84);
        let m = 1_048_576.0;
        let above = expected(2, bits.floor() as u32, m, m * 1.68);
        let below = expected(2, bits.ceil() as u32, m, m * 1.68);
        assert!(above > 1.0 && below < 1.0, "{bits}: {above}, {below}");
    }
}
