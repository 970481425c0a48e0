//! Table 3: space, false positives and construction speed of filters of one size.

use guira::Layout;
use guira_report::table::{Table, cell};

use super::{
    Outcome, Progress, Row, Verdict,
    lives::{Life, bytes, claim, find, lives},
};
use crate::Options;

/// A filter's column: bits per item, false positives in per cent, million keys a second.
struct Paper {
    name: &'static str,
    bits: f64,
    rate: f64,
    speed: f64,
    /// Why bits and rate are what they are here.
    why: &'static str,
}

const CUCKOO: &str =
    "a table of 2^25 buckets, as in the paper, refuses a key a little sooner than a smaller one";
const BLOOM: &str = "by construction, 13 bits a key and nine hash functions";

const PAPER: [Paper; 6] = [
    Paper { name: "CF", bits: 12.60, rate: 0.19, speed: 5.00, why: CUCKOO },
    Paper { name: "ss-CF", bits: 12.58, rate: 0.09, speed: 3.13, why: CUCKOO },
    Paper { name: "BF", bits: 13.00, rate: 0.19, speed: 3.91, why: BLOOM },
    Paper {
        name: "blocked BF",
        bits: 13.00,
        rate: 0.43,
        speed: 7.64,
        why: "13 bits a key; the rate is that of h1 + i × h2 with an odd h2 within 512 bits, and \
              with independent hashes it would be 0.28 %",
    },
    Paper {
        name: "QF",
        bits: 13.33,
        rate: 0.18,
        speed: 1.91,
        why: "by construction, slots of 12 bits filled to 90 % and remainders of nine bits",
    },
    Paper {
        name: "dl-CBF",
        bits: 15.51,
        rate: 0.76,
        speed: 4.78,
        why: "four tables, buckets of four cells of 12 bits; the larger they are, the sooner one is \
              full, at 78 % in the paper. Its rate lies between those of remainders of 10 and 11 \
              bits, 1.2 and 0.60 %, and how it divides 12 bits it does not say",
    },
];

/// Reproduces the table.
pub fn run(options: &Options, progress: &Progress) -> Outcome {
    let lives = lives(options, progress);
    let cf = find(lives, "CF").construction;
    let mut rows: Vec<Row> = PAPER
        .iter()
        .flat_map(|paper| {
            let life = find(lives, paper.name);
            [bits(paper, life), rate(paper, life), speed(paper, life, cf)]
        })
        .collect();
    rows.extend(
        lives.iter().filter(|life| life.name.starts_with("guira")).flat_map(|life| guira(life, cf)),
    );
    let notes = vec![
        format!(
            "All filters have about {} MiB (the paper: 192 MB), except that the crate's quotient \
             filter (RSQF) needs less for as many slots. CF, ss-CF and dl-CBF take keys until they \
             refuse one; BF, blocked BF and CBF until they have a key for each 13 bits; the quotient \
             filters to 90 %; guira to the capacity that it promises, which is short of what fits. \
             Keys are random 64-bit integers. Speeds are medians of rounds on one core, in \
             processor time.",
            bytes(options) >> 20
        ),
        "Speeds are another machine's, so a verdict on them is about the ratio to CF: reproduced \
         within a factor of two of the paper's."
            .into(),
        "The authors' program in its later form, on an i7-4790 (efficient/cuckoofilter, \
         benchmarks/conext-table3.cc): CF 12.60 bits, 0.18 %, 5.86 million keys a second; ss-CF \
         12.59 bits, 0.09 %, 4.10."
            .into(),
    ];
    Outcome { rows, tables: vec![table(lives)], notes, ..Outcome::default() }
}

fn row(paper: &Paper, what: &str, (theirs, here): (f64, f64), unit: &'static str) -> Row {
    Row {
        place: format!("Table 3, {}", paper.name),
        what: what.into(),
        paper: Some(theirs),
        here,
        unit,
        verdict: Verdict::Reproduced,
        why: paper.why.into(),
    }
}

/// Less than the paper has is better; so much more or less, as a part, is the same.
fn less_is_better(row: Row, same: f64) -> Row {
    let ratio = row.here / row.paper.unwrap_or(row.here);
    let verdict = match ratio {
        _ if (ratio - 1.0).abs() <= same => Verdict::Reproduced,
        _ if ratio < 1.0 => Verdict::Better,
        _ => Verdict::Differs,
    };
    Row { verdict, ..row }
}

fn bits(paper: &Paper, life: &Life) -> Row {
    less_is_better(row(paper, "bits per item", (paper.bits, life.bits_per_item), "bits"), 0.02)
}

fn rate(paper: &Paper, life: &Life) -> Row {
    // The paper rounds to two digits.
    let rounding = 0.005 / paper.rate;
    let row = row(paper, "false positives", (paper.rate, life.rate), "%");
    less_is_better(row, 0.03 + rounding)
}

fn speed(paper: &Paper, life: &Life, cf: f64) -> Row {
    let (theirs, here) = (paper.speed / PAPER[0].speed, life.construction / cf);
    let verdict = match here / theirs {
        _ if paper.name == "CF" && life.construction > paper.speed => Verdict::Better,
        ratio if (0.5..=2.0).contains(&ratio) => Verdict::Reproduced,
        ratio if ratio > 2.0 => Verdict::Better,
        _ => Verdict::Differs,
    };
    let why = if paper.name == "CF" {
        "another machine, and the others are measured by their ratio to this; a smaller table fills \
         further, and the last inserts cost most"
            .into()
    } else {
        let overlap = match verdict {
            Verdict::Reproduced => "",
            Verdict::Better => {
                "; reads that need not wait for one another overlap on a core of today, and CF's \
                 relocations do wait"
            }
            Verdict::Differs => "; its steps wait for one another still more than CF's relocations",
        };
        format!("{here:.2} of CF's here, {theirs:.2} in the paper{overlap}")
    };
    let row = row(paper, "construction", (paper.speed, life.construction), "million keys/s");
    Row { verdict, why, ..row }
}

/// How many bits more than the least that any filter of this rate needs.
fn above_limit(bits: f64, rate: f64) -> f64 {
    bits + (rate / 100.0).log2()
}

/// What the paper has nothing beside: space above the limit, and speed, against its cuckoo filters.
fn guira(life: &Life, cf: f64) -> Vec<Row> {
    let place = format!("Table 3, {}", life.name);
    let why = format!(
        "filled to its promised capacity: {:.2} bits per item at {:.4} %",
        life.bits_per_item, life.rate
    );
    let what = "construction against CF's";
    let speed = claim(&place, what, (None, life.construction / cf), 1.0..=1.0, &why);
    if life.name.ends_with("batches") {
        return vec![speed];
    }
    let is_semi_sorted = life.name.contains("SemiSorted");
    let paper = &PAPER[usize::from(is_semi_sorted)];
    let layout = Layout::ALL.iter().find(|layout| life.name.ends_with(&format!("{layout:?}")));
    let (lanes, bits) = layout.map_or((0, 0), |layout| (layout.lanes(), layout.bits()));
    let unused = if is_semi_sorted {
        String::new()
    } else {
        format!(" of which {} bits are unused,", 64 - lanes * bits)
    };
    let space = Row {
        place,
        what: "bits above log2(1/rate)".into(),
        paper: Some(above_limit(paper.bits, paper.rate)),
        here: above_limit(life.bits_per_item, life.rate),
        unit: "bits",
        verdict: Verdict::Differs,
        why: format!(
            "beside {}'s, by the paper's bits and rate; a bucket here is one aligned word,{unused} a \
             look-up compares {} fingerprints, and the promised capacity has slack",
            paper.name,
            2 * lanes
        ),
    };
    vec![less_is_better(space, 0.02), speed]
}

fn table(lives: &[Life]) -> Table {
    let head = [
        "filter",
        "from",
        "million keys",
        "bits per item",
        "in the paper",
        "false positives %",
        "in the paper",
        "bits above log2(1/rate)",
        "million keys/s",
        "× CF",
        "× CF in the paper",
    ];
    let mut table = Table::new("table-3", &head);
    let cf = find(lives, "CF").construction;
    for life in lives {
        let paper = PAPER.iter().find(|paper| paper.name == life.name);
        table.push(vec![
            life.name.clone(),
            life.source.into(),
            format!("{:.2}", life.items as f64 / 1e6),
            format!("{:.2}", life.bits_per_item),
            cell(paper.map(|paper| paper.bits), 2),
            format!("{:.4}", life.rate),
            cell(paper.map(|paper| paper.rate), 2),
            format!("{:.2}", above_limit(life.bits_per_item, life.rate)),
            format!("{:.2}", life.construction),
            format!("{:.2}", life.construction / cf),
            cell(paper.map(|paper| paper.speed / PAPER[0].speed), 2),
        ]);
    }
    table
}
