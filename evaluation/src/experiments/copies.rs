//! Section 3.1: a filter holds at most 2b copies of one item, and three remedies.

use std::time::Instant;

use guira::{InsertError, Layout};
use guira_bench::{Keys, filter};

use super::{Outcome, Progress, Row, Subject};
use crate::{
    Options,
    addressing::{Scheme, Shape, max_copies},
    report::Table,
};

/// Items in the filters that demonstrate the remedies.
const ITEMS: u64 = 1 << 20;

/// Reproduces the section.
pub fn run(_: &Options, _: &Progress) -> Outcome {
    let mut rows: Vec<Row> = [2, 4, 8].into_iter().map(papers).collect();
    rows.extend(Layout::ALL.iter().map(|&layout| guira(layout)));
    let (table, costs) = remedies();
    rows.extend(costs);
    let notes = vec![
        "Two buckets have slots for 2b copies of one fingerprint. On one copy more, the paper's \
         insertion relocates copies 500 times without success and declares the table full. guira \
         returns TooManyCopies without a search, and still accepts other items."
            .into(),
        "Section 3.1 names three remedies. One copy per item, if no item is ever removed: \
         insert_unique, which takes no additional bits. Counters beside the buckets: guira does \
         not offer them, because they would take bits in every slot; count() returns the number of \
         copies up to 2b. Querying the exact store before an insertion: insert_unique returns \
         false for an item that may be present, so only those items need a query."
            .into(),
    ];
    Outcome { rows, tables: vec![table], charts: Vec::new(), notes }
}

fn row(location: String, paper: usize, measured: usize) -> Row {
    Row::papers(location, "copies of one item", measured as f64, "copies")
        .formula(paper as f64)
        .within(0.0)
}

/// Counts the copies that fit with the paper's scheme.
fn papers(slots: usize) -> Row {
    let shape = Shape { buckets: 1 << 10, slots, bits: 12 };
    let measured = max_copies(Scheme::PAPER, shape, Keys::new(1).key(0));
    let location = format!("Section 3.1, b = {slots}, {}", Scheme::PAPER.name());
    row(location, 2 * slots, measured).note("2b; 500 relocations make no room for another copy")
}

/// Counts the copies that fit into guira besides other items.
fn guira(layout: Layout) -> Row {
    let filter = filter(10_000, layout);
    let (others, item) = (Keys::new(1).range(0..5_000), Keys::new(2).key(0));
    filter.by_hash().insert_batch(&others).expect("room");
    let mut copies = 0;
    let refusal = loop {
        match filter.by_hash().insert(item) {
            Ok(()) => copies += 1,
            Err(refusal) => break refusal,
        }
    };
    assert_eq!(refusal, InsertError::TooManyCopies);
    assert!(others.iter().all(|&other| filter.by_hash().contains(other)));
    let location = format!("Section 3.1, guira {layout:?}");
    row(location, 2 * layout.slots_per_bucket() as usize, copies)
        .note("another copy returns TooManyCopies; 5,000 other items stay present")
        .about(Subject::Guira)
}

/// Returns the mean duration of `ITEMS` steps in nanoseconds.
fn mean_nanoseconds(step: impl FnMut(u64)) -> f64 {
    let start = Instant::now();
    (0..ITEMS).for_each(step);
    start.elapsed().as_secs_f64() * 1e9 / ITEMS as f64
}

/// Measures the cost of the remedies with guira.
fn remedies() -> (Table, Vec<Row>) {
    let head = ["remedy of section 3.1", "in guira", "additional bits per item", "cost"];
    let mut table = Table::new("section-3-1-remedies", &head);
    let mut rows = Vec::new();
    for &layout in Layout::ALL {
        let empty = || {
            let filter = filter(ITEMS as usize, layout);
            // Touches all pages, so that no insert waits for the system to map one.
            filter.clear();
            filter
        };
        let keys = Keys::new(3);
        let (plain, unique) = (empty(), empty());
        let insert = mean_nanoseconds(|index| {
            plain.by_hash().insert(keys.key(index)).expect("the filter has room");
        });
        let insert_unique =
            |index| unique.by_hash().insert_unique(keys.key(index)).expect("the filter has room");
        let mut queries = 0_u64;
        let new = mean_nanoseconds(|index| queries += u64::from(!insert_unique(index)));
        let mut added = 0_u64;
        let present = mean_nanoseconds(|index| added += u64::from(insert_unique(index)));
        assert_eq!(added, 0, "all items were present");
        let bits = 8.0 * plain.size_in_bytes() as f64 / ITEMS as f64;
        table.push(vec![
            "one copy per item".into(),
            format!("insert_unique, {layout:?}"),
            format!("0 (of {bits:.2})"),
            format!(
                "{new:.0} ns per new item, {present:.0} ns per present item; insert: {insert:.0} ns"
            ),
        ]);
        let share = 100.0 * queries as f64 / ITEMS as f64;
        table.push(vec![
            "querying the exact store".into(),
            format!("insert_unique returns false, {layout:?}"),
            "0".into(),
            format!("a query for {share:.4} % of new items"),
        ]);
        let rate = 100.0 * mean_rate(layout, ITEMS as f64 / plain.slots() as f64);
        rows.push(queries_row(layout, rate, share));
    }
    table.push(vec![
        "counters beside the buckets".into(),
        "not offered; count() returns up to 2b copies".into(),
        "4 × slots/items, for 4-bit counters".into(),
        "a second read-modify-write operation if the counter is outside the bucket's word".into(),
    ]);
    (table, rows)
}

/// Compares the share of new items that need a query with the mean rate, both in per cent.
fn queries_row(layout: Layout, rate: f64, share: f64) -> Row {
    let location = format!("Section 3.1, querying the store, guira {layout:?}");
    let quantity = "false positives among new items while the filter fills";
    Row::of(location, quantity, share, "%", Subject::Guira)
        .formula(rate)
        // Four standard deviations of the count, and a tenth for the approximation.
        .within(0.1 * rate + 4.0 * (100.0 * rate / ITEMS as f64).sqrt())
        .note("section 5.1's rate, averaged over the loads; tolerance a tenth and the noise")
}

/// Returns the mean false-positive rate over loads from zero to `load`.
fn mean_rate(layout: Layout, load: f64) -> f64 {
    (0..100)
        .map(|step| layout.false_positive_rate_at(load * (f64::from(step) + 0.5) / 100.0))
        .sum::<f64>()
        / 100.0
}

#[cfg(test)]
mod tests {
    use super::{mean_rate, queries_row, row};
    use crate::experiments::row::assert_each_row_can_change;
    use guira::Layout;

    #[test]
    fn each_row_can_change() {
        assert_each_row_can_change(&[8, 7, 9], |&copies| vec![row(String::new(), 8, copies)]);
        for &layout in Layout::ALL {
            let rate = 100.0 * mean_rate(layout, 0.9);
            // Twenty items at most are few in a million, but more than the rate of any layout
            // explains.
            let inputs = [rate, 2.0 * rate + 0.002];
            assert_each_row_can_change(&inputs, |&share| vec![queries_row(layout, rate, share)]);
        }
    }

    #[test]
    fn the_mean_rate_is_about_half_of_the_final_rate() {
        for &layout in Layout::ALL {
            let ratio = mean_rate(layout, 0.9) / layout.false_positive_rate_at(0.9);
            assert!((0.5..0.52).contains(&ratio), "{layout:?} {ratio}");
        }
    }
}
