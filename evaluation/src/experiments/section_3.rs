//! Section 3: loads without hashing the fingerprint before the XOR, copies of one item (3.1), and
//! the false-positive rate after removals (3.3).

use guira_harness::{Keys, table::Table};
use rayon::prelude::*;

use super::{
    Outcome, Row, Subject,
    loads::{Loads, measure},
    profiles::GUIRA,
};
use crate::{
    Options,
    filters::{Filter, Kind, all},
    simulation::{Shape, max_copies},
};

/// Fingerprint sizes of the loads without hashing; section 3.1 has eight bits as its example.
const BITS: [u32; 4] = [6, 8, 12, 16];
/// Binary logarithm of the number of buckets.
const LOG_BUCKETS: u32 = 20;
/// Size of the filters with removals in bytes.
const BYTES: usize = 6 << 18;
/// Absent keys whose false positives are counted.
const QUERIES: u64 = 8_000_000;

/// Reproduces the section.
pub fn run(options: &Options) -> Outcome {
    let (mut rows, loads) = unhashed(options);
    rows.extend([2, 4, 8].map(|slots| {
        copies_row(slots, max_copies(Shape::new(10, slots, 12), Keys::new(1).key(0)))
    }));
    let mut kinds = all();
    kinds.retain(|kind| ["CF", "ss-CF", GUIRA].contains(&&*kind.name));
    let queries = if options.smoke { QUERIES / 20 } else { QUERIES };
    let counts = kinds.par_iter().map(|kind| count(kind, queries)).collect::<Vec<_>>();
    rows.extend(counts.iter().flat_map(removal_rows));
    let note = format!(
        "Section 3.1 hashes the fingerprint before the XOR, because otherwise an item's second \
        bucket lies within 2^f buckets of its first, and clusters of full buckets have no way out. \
        The paper gives no figures; here are the loads at the first refusal with and without the \
        hash, in 2^{LOG_BUCKETS} buckets of four.\n\n\
        Two buckets have slots for 2b copies of one fingerprint. On one copy more, the paper's \
        insertion relocates copies 500 times without success and declares the table full. guira \
        returns TooManyCopies without a search, and still accepts other items. Of the section's \
        remedies, guira has two: insert_unique keeps one copy per item, and says which items may \
        be present, so that only those need a query of the exact store. Counters beside the \
        buckets would take bits in every slot.\n\n\
        Section 3.3 says that the false-positive behaviour is unchanged after removals. The first \
        test fills a filter to half, counts the false positives among 8 million absent keys, fills \
        it up with other keys, removes those, and counts again with the same keys. The second \
        replaces half of the keys of a full filter."
    );
    Outcome { rows, tables: vec![loads], note, ..Outcome::default() }
}

/// Compares the loads with and without hashing the fingerprint.
fn unhashed(options: &Options) -> (Vec<Row>, Table) {
    let shape = |bits, hashed| Shape { hashed, ..Shape::new(options.log(LOG_BUCKETS), 4, bits) };
    let runs = options.runs_or(2);
    let specs = BITS.map(|bits| [true, false].map(|hashed| (shape(bits, hashed), runs)));
    let loads: Vec<f64> = measure(specs.as_flattened()).iter().map(Loads::mean).collect();
    let head = ["fingerprint bits", "load %, hashed", "load %, not hashed"];
    let mut table = Table::new("section-3-1-hashing", &head);
    let mut rows = Vec::new();
    for (bits, loads) in BITS.into_iter().zip(loads.chunks(2)) {
        table.push(vec![bits.to_string(), format!("{:.2}", loads[0]), format!("{:.2}", loads[1])]);
        // Longer fingerprints reach buckets that are far enough away.
        if bits <= 8 {
            rows.push(hashing_row(bits, loads[0], loads[1]));
        }
    }
    (rows, table)
}

fn hashing_row(bits: u32, hashed: f64, unhashed: f64) -> Row {
    let location = format!("Section 3.1, f = {bits}, 2^{LOG_BUCKETS} buckets of 4");
    let quantity = "load without hashing the fingerprint, minus the load with it";
    Row::new(location, quantity, unhashed - hashed, "points").holds(-100.0..=-1.0).note(format!(
        "hashing improves the table's utilization, by more than a point; {unhashed:.1} against \
         {hashed:.1} %"
    ))
}

fn copies_row(slots: usize, copies: usize) -> Row {
    Row::new(format!("Section 3.1, b = {slots}"), "copies of one item", copies as f64, "copies")
        .formula(2.0 * slots as f64)
        .within(0.0)
        .note("2b; 500 relocations make no room for another copy")
}

/// False positives before and after removals.
#[derive(Clone, Debug)]
struct Counts {
    name: String,
    /// In a half full filter, before other keys are inserted and after they are removed.
    half: [f64; 2],
    /// In a full filter, before and after half of its keys are replaced.
    full: [f64; 2],
}

/// Counts false positives of one kind of filter.
fn count(kind: &Kind, queries: u64) -> Counts {
    let (mut filter, items) = (kind.build)(BYTES);
    // Just below the load at which the paper's filter refuses keys.
    let items = (items as u64).min((0.94 * filter.slots() as f64) as u64);
    let keys = Keys::new(0x33);
    let absent = keys.range(1 << 63..(1 << 63) + queries);
    let found = |filter: &dyn Filter| filter.lookup_all(&absent) as f64;
    let insert = |filter: &mut dyn Filter, from, to: u64| {
        assert_eq!(filter.insert_all(&keys.range(from..to)) as u64, to - from, "room for all keys");
    };
    insert(&mut *filter, 0, items / 2);
    let before = found(&*filter);
    insert(&mut *filter, items / 2, items);
    let full = found(&*filter);
    let others = keys.range(items / 2..items);
    assert_eq!(filter.remove_all(&others), Some(others.len()), "all keys are present");
    let after = found(&*filter);
    insert(&mut *filter, 2 * items, 2 * items + items - items / 2);
    Counts { name: kind.name.clone(), half: [before, after], full: [full, found(&*filter)] }
}

fn removal_rows(Counts { name, half, full }: &Counts) -> [Row; 2] {
    let subject = if name == GUIRA { Subject::GuiraLess } else { Subject::Papers };
    let row = |quantity: &str, [before, after]: [f64; 2], tolerance: f64, note: &str| {
        Row::new(format!("Section 3.3, {name}"), quantity, after / before, "×")
            .about(subject)
            .printed(1.0)
            .within(tolerance)
            .note(format!("{after} and {before} false positives; {note}"))
    };
    // Four standard deviations of the ratio of two counts.
    let noise = 4.0 * (2.0 / full[0].max(1.0)).sqrt();
    [
        row(
            "false positives after other keys came and went / before",
            *half,
            0.001,
            "the same keys are asked for, so no noise is expected; tolerance 0.1 %",
        ),
        row(
            "false positives after half of the keys were replaced / before",
            *full,
            noise,
            "tolerance four standard deviations",
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::{Counts, copies_row, hashing_row, removal_rows};
    use crate::experiments::row::assert_each_row_can_change;

    #[test]
    fn each_row_can_change() {
        let inputs = [(95.0, 85.0), (95.0, 94.5), (85.0, 95.0)];
        assert_each_row_can_change(&inputs, |&(hashed, unhashed)| {
            vec![hashing_row(8, hashed, unhashed)]
        });
        assert_each_row_can_change(&[8, 7, 9], |&copies| vec![copies_row(4, copies)]);
        for name in ["CF", super::GUIRA] {
            let counts = |half: f64, full: f64| Counts {
                name: name.into(),
                half: [10_000.0, half],
                full: [20_000.0, full],
            };
            let inputs = [counts(1e4, 2e4), counts(10_011.0, 2e4), counts(1e4, 21_000.0)];
            assert_each_row_can_change(&inputs, |counts| removal_rows(counts).into());
        }
    }
}
