//! guira compared with published filters by bits per item and false-positive rate.

use super::{
    Outcome, Progress, Row, Subject,
    space::{self, Space},
};
use crate::{
    Options,
    report::{Chart, Look, Marker, Series, Table},
};

/// Measurements of a published filter, or the values of its formula.
struct Published {
    name: &'static str,
    /// Bits per item.
    bits: f64,
    /// False positives in per cent.
    rate: f64,
    source: &'static str,
    supports_removal: bool,
    /// Whether items can be inserted one by one; a static filter needs them all at once.
    supports_insertion: bool,
}

/// The machine was an AMD Zen 4, and the keys were random.
const MEASURED: &str = "measured by this project: 60 million keys, the authors' programs";
const FORMULA: &str = "formula of its paper";

const fn measured(
    name: &'static str,
    bits: f64,
    rate: f64,
    supports_removal: bool,
    supports_insertion: bool,
) -> Published {
    Published { name, bits, rate, source: MEASURED, supports_removal, supports_insertion }
}

/// A filter that supports insertion and removal.
const fn dynamic(name: &'static str, bits: f64, rate: f64, source: &'static str) -> Published {
    Published { name, bits, rate, source, supports_removal: true, supports_insertion: true }
}

const PUBLISHED: &[Published] = &[
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
    // (r + 2.125) / 0.95 bits per item at a rate of 0.95 / 2^r.
    dynamic("rank-select quotient filter, r = 9 (Pandey et al. 2017)", 11.71, 0.185_546_9, FORMULA),
    // 1.06 (k + 2) bits per item at a rate of 2^-k.
    dynamic(
        "windowed cuckoo filter, k = 8 (Schmitz et al. 2025, arXiv 2505.05847)",
        10.6,
        0.390_625,
        FORMULA,
    ),
    dynamic("windowed cuckoo filter, k = 10", 12.72, 0.097_656_25, FORMULA),
    dynamic("windowed cuckoo filter, k = 13", 15.9, 0.012_207_03, FORMULA),
    dynamic("cuckoo filter of the paper, Table 3", 12.60, 0.19, "the paper"),
    dynamic("semi-sorted cuckoo filter of the paper, Table 3", 12.58, 0.09, "the paper"),
    dynamic("quotient filter of the paper, Table 3", 13.33, 0.18, "the paper"),
    dynamic("d-left counting Bloom filter of the paper, Table 3", 15.51, 0.76, "the paper"),
];

/// Returns the bits per item above the information limit, for a rate in per cent.
fn above_limit(bits: f64, rate: f64) -> f64 {
    bits + (rate / 100.0).log2()
}

/// Returns the published filter with insertion and removal that is closest to the limit.
fn best() -> Option<&'static Published> {
    let dynamic =
        PUBLISHED.iter().filter(|filter| filter.supports_removal && filter.supports_insertion);
    dynamic.min_by(|a, b| above_limit(a.bits, a.rate).total_cmp(&above_limit(b.bits, b.rate)))
}

/// Compares guira's layouts with the published filters.
pub fn run(_: &Options, progress: &Progress) -> Outcome {
    let guiras = space::all(progress).iter().filter(|space| space.name.starts_with("guira"));
    let guiras: Vec<_> = guiras.collect();
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
        let above = above_limit(bits, rate);
        let numbers = [format!("{bits:.2}"), format!("{rate:.4}"), format!("{above:.2}")];
        let [bits, rate, above_cell] = numbers;
        let cells = vec![name.into(), bits, rate, above_cell, removal.into(), source.into()];
        lines.push((above, cells));
    };
    for filter in PUBLISHED {
        let removal = match (filter.supports_removal, filter.supports_insertion) {
            (true, _) => "yes",
            (false, true) => "no",
            (false, false) => "no, static",
        };
        line(filter.name, filter.bits, filter.rate, removal, filter.source);
    }
    for space in &guiras {
        line(&space.name, space.bits, 100.0 * space.rate, "yes", "this report, at capacity");
    }
    lines.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (_, cells) in lines {
        table.push(cells);
    }

    let points = |chosen: fn(&Published) -> bool| {
        let chosen = PUBLISHED.iter().filter(|filter| chosen(filter));
        chosen.map(|filter| (filter.rate / 100.0, above_limit(filter.bits, filter.rate))).collect()
    };
    let layouts = |plain: bool| {
        let layouts = guiras.iter().filter(|space| space.name.contains("Plain") == plain);
        layouts.map(|space| (space.rate, space.bits - space.limit())).collect()
    };
    let chart = Chart::new("literature", "Bits per item above the information limit")
        .x("false-positive rate")
        .y("bits per item − log2(1/rate)")
        .log_x()
        .with(Series::line(0, "guira, plain layouts", layouts(true)))
        .with(Series::new(
            Look::GUIRA.marker(Marker::SQUARE).variant(),
            "guira, semi-sorted layouts",
            layouts(false),
        ))
        .with(Series::points(
            11,
            "published, with removal",
            points(|filter| filter.supports_removal),
        ))
        .with(Series::points(
            12,
            "published, without removal",
            points(|filter| !filter.supports_removal && filter.supports_insertion),
        ))
        .with(Series::points(13, "static", points(|filter| !filter.supports_insertion)));
    let notes = vec![
        "Filters differ both in rate and in space, so this comparison uses the bits per item above \
         the information limit log2(1/rate). The table is sorted by them. guira's layouts are \
         filled to their capacity."
            .into(),
    ];
    let rows = guiras.iter().map(|space| row(space)).collect();
    Outcome { rows, tables: vec![table], charts: vec![chart], notes, ..Outcome::default() }
}

fn row(space: &Space) -> Row {
    let best = best();
    let paper = best.map_or(f64::NAN, |best| above_limit(best.bits, best.rate));
    let quantity = "bits per item above the information limit, at capacity";
    let measured = space.bits - space.limit();
    let row = Row::of(
        format!("Literature, {}", space.name),
        quantity,
        measured,
        "bits",
        Subject::GuiraLess,
    );
    let row = match best {
        Some(best) if best.source == FORMULA => row.formula(paper),
        Some(best) if best.source == MEASURED => row.measured_here(paper),
        _ => row.printed(paper),
    };
    row.within(0.05)
        .note(format!(
            "compared with the smallest published filter that supports removal, the {}; tolerance \
             0.05 bits",
            best.map_or("", |best| best.name)
        ))
        .reason(match &space.name {
            name if name.contains("Plain") => "plain layouts trade space for speed",
            name if name.contains("4x17") || name.contains("3x22") => {
                "with fewer slots per bucket, more of the table stays empty"
            }
            _ => "",
        })
}

#[cfg(test)]
mod tests {
    use super::row;
    use crate::experiments::{row::assert_each_row_can_change, space::variants};

    #[test]
    fn each_row_can_change() {
        assert_each_row_can_change(&variants(), |spaces| {
            spaces.iter().filter(|space| space.name.starts_with("guira")).map(row).collect()
        });
    }
}
