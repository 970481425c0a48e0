//! Table 3: space, false positives and construction speed of filters of the same size.

use guira::Layout;

use super::{
    Outcome, Progress, Row, Verdict,
    profiles::{Profile, bytes, claim, find, profiles},
};
use crate::{
    Options,
    report::{Table, cell},
};

/// A column of the paper's table.
struct Paper {
    name: &'static str,
    /// Bits per item.
    bits: f64,
    /// False positives in per cent.
    rate: f64,
    /// Million keys per second.
    speed: f64,
    /// What determines the bits and the rate.
    note: &'static str,
}

const CUCKOO: &str =
    "the paper's table of 2^25 buckets reaches a slightly lower load than a smaller one";
const BLOOM: &str = "by construction: 13 bits per key and nine hash functions";

const PAPER: [Paper; 6] = [
    Paper { name: "CF", bits: 12.60, rate: 0.19, speed: 5.00, note: CUCKOO },
    Paper { name: "ss-CF", bits: 12.58, rate: 0.09, speed: 3.13, note: CUCKOO },
    Paper { name: "BF", bits: 13.00, rate: 0.19, speed: 3.91, note: BLOOM },
    Paper {
        name: "blocked BF",
        bits: 13.00,
        rate: 0.43,
        speed: 7.64,
        note: "13 bits per key; bits at h1 + i × h2 with an odd h2 in a block of 512 bits; \
               independent hashes would give 0.28 %",
    },
    Paper {
        name: "QF",
        bits: 13.33,
        rate: 0.18,
        speed: 1.91,
        note: "by construction: slots of 12 bits, a load of 90 %, and remainders of nine bits",
    },
    Paper {
        name: "dl-CBF",
        bits: 15.51,
        rate: 0.76,
        speed: 4.78,
        note: "larger tables reach a lower load, 78 % in the paper; its rate lies between those of \
               remainders of 10 and 11 bits, 1.2 and 0.60 %, and it does not say how it divides \
               the 12 bits of a cell",
    },
];

/// Reproduces the table.
pub fn run(options: &Options, progress: &Progress) -> Outcome {
    let profiles = profiles(options, progress);
    let cf = find(profiles, "CF").construction;
    let mut rows: Vec<Row> = PAPER
        .iter()
        .flat_map(|paper| {
            let profile = find(profiles, paper.name);
            [bits(paper, profile), rate(paper, profile), speed(paper, profile, cf)]
        })
        .collect();
    rows.extend(
        profiles
            .iter()
            .filter(|profile| profile.name.starts_with("guira"))
            .flat_map(|profile| guira(profile, cf)),
    );
    let notes = vec![
        format!(
            "All filters take about {} MiB (192 MB in the paper), except RSQF, which takes less \
             for as many slots. CF, ss-CF and dl-CBF are filled until a key does not fit; BF, \
             blocked BF and CBF to one key per 13 bits; the quotient filters to 90 %; guira to its \
             capacity, which is less than what fits. Keys are random 64-bit integers. Speeds are \
             medians over several rounds on one core, in processor time.",
            bytes(options) >> 20
        ),
        "Speeds depend on the machine, so their verdicts compare the ratio to CF. The tolerance is \
         a factor of two."
            .into(),
        "A later version of the authors' program (efficient/cuckoofilter, \
         benchmarks/conext-table3.cc) measured on an i7-4790: CF 12.60 bits, 0.18 %, 5.86 million \
         keys per second; ss-CF 12.59 bits, 0.09 %, 4.10 million keys per second."
            .into(),
    ];
    Outcome { rows, tables: vec![table(profiles)], notes, ..Outcome::default() }
}

fn row(paper: &Paper, quantity: &str, (value, measured): (f64, f64), unit: &'static str) -> Row {
    Row {
        location: format!("Table 3, {}", paper.name),
        quantity: quantity.into(),
        paper: Some(value),
        measured,
        unit,
        verdict: Verdict::Reproduced,
        note: paper.note.into(),
    }
}

/// Sets the verdict of a row whose value is better if it is smaller, with a relative tolerance.
fn less_is_better(row: Row, tolerance: f64) -> Row {
    let ratio = row.measured / row.paper.unwrap_or(row.measured);
    let verdict = match ratio {
        _ if (ratio - 1.0).abs() <= tolerance => Verdict::Reproduced,
        _ if ratio < 1.0 => Verdict::Better,
        _ => Verdict::Differs,
    };
    Row { verdict, ..row }
}

fn bits(paper: &Paper, profile: &Profile) -> Row {
    less_is_better(row(paper, "bits per item", (paper.bits, profile.bits_per_item), "bits"), 0.02)
}

fn rate(paper: &Paper, profile: &Profile) -> Row {
    // The paper rounds to two digits.
    let rounding = 0.005 / paper.rate;
    let row = row(paper, "false positives", (paper.rate, profile.rate), "%");
    less_is_better(row, 0.03 + rounding)
}

fn speed(paper: &Paper, profile: &Profile, cf: f64) -> Row {
    let (ratio_in_paper, ratio) = (paper.speed / PAPER[0].speed, profile.construction / cf);
    let verdict = match ratio / ratio_in_paper {
        _ if paper.name == "CF" && profile.construction > paper.speed => Verdict::Better,
        ratio if (0.5..=2.0).contains(&ratio) => Verdict::Reproduced,
        ratio if ratio > 2.0 => Verdict::Better,
        _ => Verdict::Differs,
    };
    let note = if paper.name == "CF" {
        "another machine; a smaller table reaches a higher load, where inserts are slowest".into()
    } else {
        let reason = match verdict {
            Verdict::Reproduced => "",
            Verdict::Better => {
                "; a modern core overlaps independent reads, but CF's relocations depend on one \
                 another"
            }
            Verdict::Differs => "; its reads depend on one another even more than CF's relocations",
        };
        format!("{ratio:.2} × CF, {ratio_in_paper:.2} × CF in the paper{reason}")
    };
    let row = row(paper, "construction", (paper.speed, profile.construction), "million keys/s");
    Row { verdict, note, ..row }
}

/// Returns the bits per item above the information limit at a rate in per cent.
fn above_limit(bits: f64, rate: f64) -> f64 {
    bits + (rate / 100.0).log2()
}

/// Compares a layout's space above the information limit, and its speed, with the cuckoo filters.
fn guira(profile: &Profile, cf: f64) -> Vec<Row> {
    let location = format!("Table 3, {}", profile.name);
    let note = format!(
        "filled to its capacity: {:.2} bits per item at {:.4} %",
        profile.bits_per_item, profile.rate
    );
    let quantity = "construction relative to CF";
    let speed = claim(&location, quantity, (None, profile.construction / cf), 1.0..=1.0, &note);
    if profile.name.ends_with("batches") {
        return vec![speed];
    }
    let is_semi_sorted = profile.name.contains("SemiSorted");
    let paper = &PAPER[usize::from(is_semi_sorted)];
    let layout = Layout::ALL.iter().find(|layout| profile.name.ends_with(&format!("{layout:?}")));
    let (slots, bits) =
        layout.map_or((0, 0), |layout| (layout.slots_per_bucket(), layout.fingerprint_bits()));
    let unused = 64_u32.checked_sub(slots * bits).filter(|&unused| unused > 0);
    let unused = unused.map_or(String::new(), |unused| format!(" with {unused} unused bits"));
    let space = Row {
        location,
        quantity: "bits above log2(1/rate)".into(),
        paper: Some(above_limit(paper.bits, paper.rate)),
        measured: above_limit(profile.bits_per_item, profile.rate),
        unit: "bits",
        verdict: Verdict::Differs,
        note: format!(
            "the paper's value is that of its {}; a bucket of guira is one aligned word{unused}, a \
             lookup compares {} fingerprints, and the capacity includes slack",
            paper.name,
            2 * slots
        ),
    };
    vec![less_is_better(space, 0.02), speed]
}

fn table(profiles: &[Profile]) -> Table {
    let head = [
        "filter",
        "source",
        "million keys",
        "bits per item",
        "bits per item, paper",
        "false positives %",
        "false positives %, paper",
        "bits above log2(1/rate)",
        "million keys/s",
        "speed / CF",
        "speed / CF, paper",
    ];
    let mut table = Table::new("table-3", &head);
    let cf = find(profiles, "CF").construction;
    for profile in profiles {
        let paper = PAPER.iter().find(|paper| paper.name == profile.name);
        table.push(vec![
            profile.name.clone(),
            profile.source.into(),
            format!("{:.2}", profile.items as f64 / 1e6),
            format!("{:.2}", profile.bits_per_item),
            cell(paper.map(|paper| paper.bits), 2),
            format!("{:.4}", profile.rate),
            cell(paper.map(|paper| paper.rate), 2),
            format!("{:.2}", above_limit(profile.bits_per_item, profile.rate)),
            format!("{:.2}", profile.construction),
            format!("{:.2}", profile.construction / cf),
            cell(paper.map(|paper| paper.speed / PAPER[0].speed), 2),
        ]);
    }
    table
}
