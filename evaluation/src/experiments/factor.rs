//! The implementation in Factor (the blog post "Cuckoo Filters" of 8 August 2016), which uses any
//! checksum as the hash and keeps 32 bits of it as the fingerprint.

use guira::Layout;

use super::{
    Outcome, Progress, Row,
    loads::{Loads, Spec, measure},
};
use crate::{
    Options,
    addressing::{Scheme, Shape},
    report::number,
};

/// Slots per bucket, and bits per fingerprint.
const SLOTS: usize = 4;
const BITS: u32 = 32;
/// Binary logarithm of the number of buckets.
const LOG_BUCKETS: u32 = 16;
/// The load in per cent that the text states.
const LOAD: f64 = 95.0;

/// Measures the load of its tables.
pub fn run(options: &Options, progress: &Progress) -> Outcome {
    let shape = Shape { buckets: 1 << options.log(LOG_BUCKETS), slots: SLOTS, bits: BITS };
    let runs = options.runs_or(10);
    let loads = measure(&[Spec { scheme: Scheme::PAPER, shape, runs }], progress);
    let rate = 2.0 * SLOTS as f64 / f64::from(BITS).exp2();
    let lowest = Layout::ALL.iter().map(|layout| layout.false_positive_rate());
    let lowest = lowest.fold(f64::INFINITY, f64::min);
    let notes = vec![
        format!(
            "The vocabulary cuckoo-filters of the language Factor (blog post “Cuckoo Filters”, \
             8 August 2016) takes SHA-1 or another checksum of a byte string, with its first 32 \
             bits as the fingerprint and the next 32 bits as the bucket. It has four slots per \
             bucket and 500 relocations, and doubles the table if the capacity would exceed 96 % \
             of the slots. By section 5.1 of the paper, 32 bits give {} % false positives.",
            number(100.0 * rate)
        ),
        format!(
            "guira takes any hash in two ways: a BuildHasher for the filter, or 64 bits of a \
             checksum as a `Hashed` key. `cargo run -p guira-evaluation --example checksum` shows \
             both with SHA-1. No layout of guira keeps 32 bits: its lowest false-positive rate is \
             {} %.",
            number(100.0 * lowest)
        ),
    ];
    Outcome { rows: rows(&loads[0]), notes, ..Outcome::default() }
}

fn rows(loads: &Loads) -> Vec<Row> {
    vec![
        Row::papers(
            format!("Factor, f = {BITS}, 2^{LOG_BUCKETS} buckets of {SLOTS}"),
            "mean load at the first refusal",
            loads.mean(),
            "%",
        )
        .printed(LOAD)
        .holds(LOAD..=100.0)
        .note("loads of up to 95 % are supported; by the paper's addressing"),
    ]
}

#[cfg(test)]
mod tests {
    use super::{Loads, rows};
    use crate::experiments::row::assert_each_row_can_change;

    #[test]
    fn each_row_can_change() {
        let inputs = [95.4, 90.0].map(|load| Loads::of(&[load]));
        assert_each_row_can_change(&inputs, rows);
    }
}
