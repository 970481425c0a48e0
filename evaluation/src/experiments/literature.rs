//! This library against the field: bits per item and rates of published filters.

use guira_report::{
    plot::{Chart, Series},
    table::Table,
};

use super::{Outcome, Progress, Row, Verdict, space};
use crate::Options;

/// A filter as somebody has measured it or given a formula for it.
struct Published {
    name: &'static str,
    bits: f64,
    /// False positives in per cent.
    rate: f64,
    source: &'static str,
    removes: bool,
    /// Takes items one by one; the static ones need them all beforehand.
    grows: bool,
}

/// Measured once for this project with 60 million random keys, on an AMD Zen 4 machine.
const MEASURED: &str = "measured by this project, 60 million keys, the authors' programs";
const FORMULA: &str = "formula of the paper, filled in here";

const fn measured(
    name: &'static str,
    bits: f64,
    rate: f64,
    removes: bool,
    grows: bool,
) -> Published {
    Published { name, bits, rate, source: MEASURED, removes, grows }
}

const fn formula(name: &'static str, bits: f64, rate: f64) -> Published {
    Published { name, bits, rate, source: FORMULA, removes: true, grows: true }
}

const FIELD: &[Published] = &[
    measured("cuckoo filter, 12 bits, power of two", 13.42, 0.172, true, true),
    measured("cuckoo filter, 16 bits, power of two", 17.90, 0.0114, true, true),
    measured("cuckoo filter, semi-sorted, 13 bits", 12.77, 0.093, true, true),
    measured("vacuum filter, 12 bits", 12.50, 0.186, true, true),
    measured("Morton filter 3,8", 11.72, 0.311, true, true),
    measured("vector quotient filter, 8 bits", 11.47, 0.439, true, true),
    measured("prefix quotient filter 8,53", 10.97, 0.387, true, true),
    measured("prefix quotient filter 8,22", 11.86, 0.430, true, true),
    measured("counting quotient filter, 8 bits", 11.34, 0.351, true, true),
    measured("prefix filter", 11.48, 0.396, false, true),
    measured("blocked Bloom filter, 32 bytes", 10.67, 0.941, false, true),
    measured("Bloom filter, 12 bits", 12.00, 0.312, false, true),
    measured("binary fuse filter, 8 bits", 9.00, 0.389, false, false),
    // (r + 2.125) / 0.95 bits for a rate of 0.95 / 2^r.
    formula("rank-select quotient filter, r = 9 (Pandey et al. 2017)", 11.71, 0.185_546_9),
    // 1.06 (k + 2) bits for a rate of 2^-k.
    formula(
        "windowed cuckoo filter, k = 8 (Schmitz et al. 2025, arXiv 2505.05847)",
        10.6,
        0.390_625,
    ),
    formula("windowed cuckoo filter, k = 10", 12.72, 0.097_656_25),
    formula("windowed cuckoo filter, k = 13", 15.9, 0.012_207_03),
    Published {
        name: "cuckoo filter of the paper, Table 3",
        bits: 12.60,
        rate: 0.19,
        source: "the paper",
        removes: true,
        grows: true,
    },
    Published {
        name: "semi-sorted cuckoo filter of the paper, Table 3",
        bits: 12.58,
        rate: 0.09,
        source: "the paper",
        removes: true,
        grows: true,
    },
    Published {
        name: "quotient filter of the paper, Table 3",
        bits: 13.33,
        rate: 0.18,
        source: "the paper",
        removes: true,
        grows: true,
    },
    Published {
        name: "d-left counting Bloom filter of the paper, Table 3",
        bits: 15.51,
        rate: 0.76,
        source: "the paper",
        removes: true,
        grows: true,
    },
];

/// Bits above the information limit.
fn above(bits: f64, rate: f64) -> f64 {
    bits + (rate / 100.0).log2()
}

/// The smallest filter of the field with removal, of those at most so often wrong.
fn best() -> Option<&'static Published> {
    let dynamic = FIELD.iter().filter(|filter| filter.removes && filter.grows);
    dynamic.min_by(|a, b| above(a.bits, a.rate).total_cmp(&above(b.bits, b.rate)))
}

/// Places this library among them.
pub fn run(_: &Options, progress: &Progress) -> Outcome {
    let own = space::all(progress).iter().filter(|space| space.name.starts_with("guira"));
    let own: Vec<_> = own.collect();
    let head = [
        "filter",
        "bits per item",
        "false positives %",
        "bits above the limit",
        "removal",
        "source",
    ];
    let mut table = Table::new("literature-filters", &head);
    let mut lines: Vec<(f64, Vec<String>)> = Vec::new();
    let mut line = |name: &str, bits: f64, rate: f64, removal: &str, source: &str| {
        let above = above(bits, rate);
        let cells =
            [name.into(), format!("{bits:.2}"), format!("{rate:.4}"), format!("{above:.2}")];
        let cells = cells.into_iter().chain([removal.into(), source.into()]).collect();
        lines.push((above, cells));
    };
    for filter in FIELD {
        let removal = match (filter.removes, filter.grows) {
            (true, _) => "yes",
            (false, true) => "no",
            (false, false) => "no, static",
        };
        line(filter.name, filter.bits, filter.rate, removal, filter.source);
    }
    for space in &own {
        line(&space.name, space.bits, 100.0 * space.rate, "yes", "this report, at capacity");
    }
    lines.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (_, cells) in lines {
        table.push(cells);
    }

    let rows = own.iter().map(|space| {
        let here = space.bits - space.limit();
        let best = best();
        let paper = best.map(|best| above(best.bits, best.rate));
        Row {
            place: format!("Literature, {}", space.name),
            what: "bits per item above the information limit, at capacity".into(),
            paper,
            here,
            unit: "bits",
            verdict: match paper {
                Some(paper) if here < paper - 0.02 => Verdict::Better,
                Some(paper) if here <= paper + 0.05 => Verdict::Reproduced,
                _ => Verdict::Differs,
            },
            why: format!(
                "against the smallest published filter with removal, the {}{}",
                best.map_or("", |best| best.name),
                match &space.name {
                    name if name.contains("Plain") => "; plain layouts trade space for speed",
                    name if name.contains("4x17") || name.contains("3x22") =>
                        "; the fewer the lanes, the more of the table stays empty",
                    _ => "",
                }
            ),
        }
    });
    let points = |chosen: fn(&Published) -> bool| {
        let chosen = FIELD.iter().filter(|filter| chosen(filter));
        chosen.map(|filter| (filter.rate / 100.0, above(filter.bits, filter.rate))).collect()
    };
    let ours = |plain: bool| {
        let of = own.iter().filter(|space| space.name.contains("Plain") == plain);
        of.map(|space| (space.rate, space.bits - space.limit())).collect()
    };
    let chart = Chart::new("literature", "Bits per item above the information limit")
        .x("false-positive rate")
        .y("bits per item − log2(1/rate)")
        .log_x()
        .with(Series::line(0, "guira, plain, at capacity", ours(true)))
        .with(Series::line(7, "guira, semi-sorted layouts", ours(false)))
        .with(Series::points(1, "published, with removal", points(|filter| filter.removes)))
        .with(Series::points(
            2,
            "published, without",
            points(|filter| !filter.removes && filter.grows),
        ))
        .with(Series::points(3, "static", points(|filter| !filter.grows)));
    let notes = vec![
        "Filters differ in rate and in size at once; their distance from the information limit log2(1/rate) puts \
         them in one order. The table is in that order."
            .into(),
    ];
    Outcome { rows: rows.collect(), tables: vec![table], charts: vec![chart], notes }
}
