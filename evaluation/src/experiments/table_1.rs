//! Table 1: what filters cost in space and in cache misses, and which allow removal.

use guira_report::table::{Table, cell};

use super::{
    Outcome, Progress, Row, Verdict,
    space::{Space, all},
};
use crate::Options;

/// Name here; space as a multiple of a Bloom filter's, from and to; cache misses of a look-up; removal.
const PAPER: [(&str, f64, f64, &str, bool); 6] = [
    ("BF", 1.0, 1.0, "k", false),
    ("blocked BF", 1.0, 1.0, "1", false),
    ("CBF", 3.0, 4.0, "k", true),
    ("dl-CBF", 1.5, 2.0, "d", true),
    ("QF", 1.0, 1.2, "1 or more", true),
    ("CF", 0.0, 1.0, "2", true),
];

/// Reproduces the table.
pub fn run(_: &Options, progress: &Progress) -> Outcome {
    let head = [
        "filter",
        "from",
        "bits per item",
        "false positives %",
        "× Bloom of that rate",
        "in the paper",
        "lines, present",
        "lines, absent",
        "in the paper",
        "removal",
    ];
    let mut table = Table::new("table-1", &head);
    let mut rows = Vec::new();
    for space in all(progress) {
        let paper = PAPER.iter().find(|paper| paper.0 == space.name);
        let range = paper.map_or("–".into(), |&(_, from, to, ..)| said(from, to));
        table.push(vec![
            space.name.clone(),
            space.source.into(),
            format!("{:.2}", space.bits),
            format!("{:.3}", 100.0 * space.rate),
            format!("{:.2}", space.relative()),
            range,
            cell(space.lines.map(|lines| lines[0]), 2),
            cell(space.lines.map(|lines| lines[1]), 2),
            paper.map_or("–".into(), |paper| paper.3.into()),
            if space.removes { "yes" } else { "no" }.into(),
        ]);
        if let Some(&(name, from, to, misses, removes)) = paper {
            rows.push(row(space, from, to));
            rows.extend(lines(space, misses));
            assert_eq!(space.removes, removes, "{name} allows removal, or not");
        }
    }
    let notes = vec![
        "The paper's table gives the space of each filter as a multiple of a Bloom filter's of the same rate, and \
         the cache misses of a look-up. Here both are counted on full filters: the lines of 64 bytes that a look-up \
         reads, not the misses of a machine. For the multiple the Bloom filter is the best of the measured rate, \
         1.44 log2(1/rate) bits; a filter whose number of hash functions is a whole one is a little larger."
            .into(),
        "A Bloom filter stops at the first zero bit, so an absent key costs it about two lines, and a present one k."
            .into(),
    ];
    Outcome { rows, tables: vec![table], charts: Vec::new(), notes }
}

/// The range of the paper's table, in words.
fn said(from: f64, to: f64) -> String {
    if from == 0.0 {
        format!("at most {to}")
    } else if from < to {
        format!("{from} to {to}")
    } else {
        format!("{to}")
    }
}

fn row(space: &Space, from: f64, to: f64) -> Row {
    let here = space.relative();
    // One digit is what the table has.
    let verdict = if here > to + 0.1 {
        Verdict::Differs
    } else if here < from - 0.1 {
        Verdict::Better
    } else {
        Verdict::Reproduced
    };
    let why = match verdict {
        Verdict::Differs if space.name == "blocked BF" => {
            "the table leaves out what one line for all bits of a key costs in rate; the bits and rates of the \
             paper's own Table 3 come to 1.15, too"
        }
        _ => "a tenth of rounding allowed",
    };
    Row {
        place: format!("Table 1, {}", space.name),
        what: "space at equal rate, as a multiple of a Bloom filter's".into(),
        // The end of the range that is nearest.
        paper: Some(if here < f64::midpoint(from, to) && from > 0.0 { from } else { to }),
        here,
        unit: "×",
        verdict,
        why: format!("the paper: {}; {why}", said(from, to)),
    }
}

fn lines(space: &Space, misses: &str) -> Option<Row> {
    let [present, absent] = space.lines?;
    let (paper, holds) = match misses {
        "k" => (Some(-space.rate.log2()), (present + space.rate.log2()).abs() < 1.5),
        "d" => (Some(4.0), (present - 4.0).abs() < 0.8),
        "1" => (Some(1.0), (present - 1.0).abs() < 0.05),
        "2" => (Some(2.0), (present - 2.0).abs() < 0.3),
        _ => (Some(1.0), present >= 1.0),
    };
    Some(Row {
        place: format!("Table 1, {}", space.name),
        what: "cache lines of a look-up of a present key".into(),
        paper,
        here: present,
        unit: "lines",
        verdict: if holds { Verdict::Reproduced } else { Verdict::Differs },
        why: format!(
            "the paper: {misses}{}; {absent:.2} for an absent key; what straddles two lines counts twice",
            if misses == "k" { ", which is log2(1/rate)" } else { "" }
        ),
    })
}
