//! Section 3.1: a filter holds at most 2b copies of one item, and three remedies.

use guira::{Hashed, InsertError, Layout};
use guira_harness::{Keys, filter};

use super::{
    Outcome, Progress, Row, Subject, Timed,
    timing::{self, Clock, interleaved, pinned, rounds},
};
use crate::{
    Options,
    addressing::{Scheme, Shape, max_copies},
    report::Table,
};

/// Binary logarithm of the items in the filters that demonstrate the remedies.
const LOG_ITEMS: u32 = 20;

/// Reproduces the section.
pub fn run(options: &Options, _: &Progress) -> Outcome {
    let mut rows: Vec<Row> = [2, 4, 8].into_iter().map(papers).collect();
    rows.extend(Layout::ALL.iter().map(|&layout| guira(layout)));
    let (table, costs) = remedies(options);
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
        timing::method(options),
    ];
    Outcome { rows, tables: vec![table], notes, ..Outcome::default() }
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
    filter.insert_batch(Hashed::slice(&others)).expect("room");
    let mut copies = 0;
    let refusal = loop {
        match filter.insert(&Hashed(item)) {
            Ok(()) => copies += 1,
            Err(refusal) => break refusal,
        }
    };
    assert_eq!(refusal, InsertError::TooManyCopies);
    assert!(others.iter().all(|&other| filter.contains(&Hashed(other))));
    let location = format!("Section 3.1, guira {layout:?}");
    row(location, 2 * layout.slots_per_bucket() as usize, copies)
        .note("another copy returns TooManyCopies; 5,000 other items stay present")
        .about(Subject::Guira)
}

/// One round of `insert` or of `insert_unique`.
struct Round {
    /// Nanoseconds per new item.
    new: f64,
    /// Nanoseconds per item that is present, by `insert_unique`.
    present: f64,
    /// New items for which `insert_unique` returned false.
    queries: usize,
}

impl Round {
    fn measure(layout: Layout, unique: bool, items: u64) -> Self {
        let filter = filter(items as usize, layout);
        // Touches all pages, so that no insert waits for the system to map one.
        filter.clear();
        let insert = |&&key: &&u64| {
            let added = if unique {
                filter.insert_unique(&Hashed(key)).map(|insertion| insertion.is_new())
            } else {
                filter.insert(&Hashed(key)).map(|()| true)
            };
            added.expect("the filter has room")
        };
        let insert_all = || {
            let (mut clock, mut added) = (Clock::default(), 0);
            Keys::new(3).blocks(0..items, |keys| {
                added += clock.time(keys, |keys| keys.iter().filter(insert).count());
            });
            (clock.nanoseconds(), added)
        };
        let (new, added) = insert_all();
        let (present, added_again) = if unique { insert_all() } else { (f64::NAN, 0) };
        assert_eq!(added_again, 0, "all items were present");
        Self { new, present, queries: items as usize - added }
    }
}

/// Measures the cost of the remedies with guira.
fn remedies(options: &Options) -> (Table, Vec<Row>) {
    let head = ["remedy of section 3.1", "in guira", "additional bits per item", "cost"];
    let mut table = Table::new("section-3-1-remedies", &head);
    let mut rows = Vec::new();
    let items = 1 << options.log(LOG_ITEMS);
    let systems: Vec<(Layout, bool)> =
        Layout::ALL.iter().flat_map(|&layout| [(layout, false), (layout, true)]).collect();
    let rounds = pinned(|| {
        interleaved(&systems, rounds(options), |_, &(layout, unique)| {
            Round::measure(layout, unique, items)
        })
    });
    let timed = |rounds: &[Round], of: fn(&Round) -> f64| Timed::of(rounds.iter().map(of));
    for (&layout, rounds) in Layout::ALL.iter().zip(rounds.chunks(2)) {
        let (plain, unique) = (&rounds[0], &rounds[1]);
        let empty = filter(items as usize, layout);
        let bits = 8.0 * empty.size_in_bytes() as f64 / items as f64;
        table.push(vec![
            "one copy per item".into(),
            format!("insert_unique, {layout:?}"),
            format!("0 (of {bits:.2})"),
            format!(
                "{:.0} ns per new item, {:.0} ns per present item; insert: {:.0} ns",
                timed(unique, |round| round.new),
                timed(unique, |round| round.present),
                timed(plain, |round| round.new)
            ),
        ]);
        let share = 100.0 * unique[0].queries as f64 / items as f64;
        table.push(vec![
            "querying the exact store".into(),
            format!("insert_unique returns false, {layout:?}"),
            "0".into(),
            format!("a query for {share:.4} % of new items"),
        ]);
        let rate = 100.0 * mean_rate(layout, items as f64 / empty.slots() as f64);
        rows.push(queries_row(layout, items, rate, share));
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
fn queries_row(layout: Layout, items: u64, rate: f64, share: f64) -> Row {
    let location = format!("Section 3.1, querying the store, guira {layout:?}");
    let quantity = "false positives among new items while the filter fills";
    Row::of(location, quantity, share, "%", Subject::Guira)
        .formula(rate)
        // Four standard deviations of the count, and a tenth for the approximation.
        .within(0.1 * rate + 4.0 * (100.0 * rate / items as f64).sqrt())
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
    use super::{LOG_ITEMS, mean_rate, queries_row, row};
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
            assert_each_row_can_change(&inputs, |&share| {
                vec![queries_row(layout, 1 << LOG_ITEMS, rate, share)]
            });
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
