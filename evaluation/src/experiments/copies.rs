//! Section 3.1: at most 2b copies of one item, and three remedies.

use std::time::Instant;

use guira::{CuckooFilter, InsertError, Layout};
use guira_report::table::Table;

use super::{Outcome, Progress, Row, Verdict};
use crate::{
    Options,
    common::Keys,
    placement::{Rule, Shape, Zero, copies_of_one},
};

/// Items of the filters that the remedies are tried on.
const ITEMS: u64 = 1 << 20;

/// Reproduces the section.
pub fn run(_: &Options, _: &Progress) -> Outcome {
    let mut rows: Vec<Row> = [2, 4, 8].into_iter().map(papers).collect();
    rows.extend(Layout::ALL.iter().map(|&layout| library(layout)));
    let (table, costs) = remedies();
    rows.extend(costs);
    let notes = vec![
        "A pair of buckets has room for 2b copies of one fingerprint. The paper's insertion relocates copies in circles \
         then, 500 times, and declares the table full; this library says TooManyCopies at once, and refuses nothing else."
            .into(),
        "Three remedies stand in section 3.1. One copy each, where nothing is ever removed: that is insert_unique, at \
         no bits. Counters beside the buckets: not offered; they would take some bits in every slot, for copies that \
         most sets do not have, and count() says how many copies there are up to 2b. Asking the exact store before an \
         item goes in: insert_unique says false for an item that seems to be there, so that only those need asking, \
         as rarely as the filter is wrong."
            .into(),
    ];
    Outcome { rows, tables: vec![table], charts: Vec::new(), notes }
}

fn row(place: String, paper: usize, here: usize, why: &str) -> Row {
    Row {
        place,
        what: "copies of one item".into(),
        paper: Some(paper as f64),
        here: here as f64,
        unit: "copies",
        verdict: if paper == here { Verdict::Reproduced } else { Verdict::Differs },
        why: why.into(),
    }
}

/// Copies that fit by the paper's placement.
fn papers(slots: usize) -> Row {
    let shape = Shape { buckets: 1 << 10, slots, bits: 12 };
    let here = copies_of_one(Rule::Papers(Zero::BecomesOne), shape, Keys::new(1).key(0));
    let why = "2b; one more is relocated 500 times in vain";
    row(format!("Section 3.1, b = {slots}, paper's placement"), 2 * slots, here, why)
}

/// Copies that fit into guira, beside other items.
fn library(layout: Layout) -> Row {
    let filter =
        CuckooFilter::builder().capacity(10_000).layout(layout).seed(1).build().expect("memory");
    let (others, item) = (Keys::new(1).range(0..5_000), Keys::new(2).key(0));
    filter.insert_hash_batch(&others).expect("room");
    let mut copies = 0;
    let refusal = loop {
        match filter.insert_hash(item) {
            Ok(()) => copies += 1,
            Err(refusal) => break refusal,
        }
    };
    assert_eq!(refusal, InsertError::TooManyCopies);
    assert!(others.iter().all(|&other| filter.contains_hash(other)));
    let why = "one more is TooManyCopies at once; 5 000 others beside them stay";
    row(format!("Section 3.1, guira {layout:?}"), 2 * layout.lanes() as usize, copies, why)
}

/// Nanoseconds of one of `ITEMS` steps.
fn each(step: impl FnMut(u64)) -> f64 {
    let start = Instant::now();
    (0..ITEMS).for_each(step);
    start.elapsed().as_secs_f64() * 1e9 / ITEMS as f64
}

/// What the remedies cost with this library.
fn remedies() -> (Table, Vec<Row>) {
    let head = ["remedy of section 3.1", "in this library", "bits per item", "cost"];
    let mut table = Table::new("section-3-1-remedies", &head);
    let mut rows = Vec::new();
    for &layout in Layout::ALL {
        let empty = || {
            let builder = CuckooFilter::builder().capacity(ITEMS as usize).layout(layout).seed(1);
            let mut filter = builder.build().expect("memory");
            // Has the system hand over the pages.
            filter.clear();
            filter
        };
        let keys = Keys::new(3);
        let (plain, unique) = (empty(), empty());
        let insert = each(|index| plain.insert_hash(keys.key(index)).expect("room"));
        let mut asked = 0_u64;
        let once = each(|index| {
            asked += u64::from(!unique.insert_unique_hash(keys.key(index)).expect("room"));
        });
        let mut added = 0_u64;
        let again = each(|index| {
            added += u64::from(unique.insert_unique_hash(keys.key(index)).expect("room"));
        });
        assert_eq!(added, 0, "all were there");
        let bits = 8.0 * plain.size_in_bytes() as f64 / ITEMS as f64;
        table.push(vec![
            "one copy each".into(),
            format!("insert_unique, {layout:?}"),
            format!("+0 ({bits:.2})"),
            format!(
                "{once:.0} ns each for new items and {again:.0} ns for those that are there, insert {insert:.0} ns"
            ),
        ]);
        let share = 100.0 * asked as f64 / ITEMS as f64;
        table.push(vec![
            "asking the exact store".into(),
            format!("insert_unique's false, {layout:?}"),
            "+0".into(),
            format!("the store is asked for {share:.4} % of new items"),
        ]);
        let rate = 100.0 * mean_rate(layout, ITEMS as f64 / plain.slots() as f64);
        rows.push(Row {
            place: format!("Section 3.1, asking the store, guira {layout:?}"),
            what: "new items that seem to be there while the filter fills".into(),
            paper: Some(rate),
            here: share,
            unit: "%",
            verdict: if (share - rate).abs() < 0.1 * rate + 0.002 {
                Verdict::Reproduced
            } else {
                Verdict::Differs
            },
            why: "the paper's is section 5.1's rate, averaged over the filling; within a tenth"
                .into(),
        });
    }
    table.push(vec![
        "counters beside the buckets".into(),
        "not offered; count() tells up to 2b copies".into(),
        "+4 × slots/items, for counters of 4 bits".into(),
        "a second read-modify-write where a counter does not lie in the bucket's word".into(),
    ]);
    (table, rows)
}

/// The false-positive rate averaged over loads from zero up.
fn mean_rate(layout: Layout, load: f64) -> f64 {
    (0..100).map(|step| layout.rate_at(load * (f64::from(step) + 0.5) / 100.0)).sum::<f64>() / 100.0
}

#[cfg(test)]
mod tests {
    use super::mean_rate;
    use guira::Layout;

    #[test]
    fn the_mean_rate_is_about_half_of_the_last() {
        for &layout in Layout::ALL {
            let ratio = mean_rate(layout, 0.9) / layout.rate_at(0.9);
            assert!((0.5..0.52).contains(&ratio), "{layout:?} {ratio}");
        }
    }
}
