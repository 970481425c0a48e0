//! Figure 4: bits per item by false-positive rate, of the papers' filters, of guira, and of filters
//! that others have published.

use std::f64::consts::LOG2_E;

use guira_harness::{
    plot::{Chart, Look, Marker, Series},
    table::Table,
};

use super::{
    Outcome, Progress, Row, Subject,
    curves::Curve,
    space::{Space, all, bloom, measure},
};
use crate::{
    Options,
    filters::{look, semi_sorted},
    simulation::{Shape, false_positives, load_at_first_refusal},
};

const BITS: std::ops::RangeInclusive<u32> = 4..=18;
const LOG_BUCKETS: u32 = 18;
/// Size of the semi-sorted filters in bytes, which gives each 2^17 or 2^18 buckets and more.
const BYTES: usize = 2 << 20;

/// Bits per item by a formula, false positives in per cent, support for removal, and name of
/// published filters. "Static" ones need all items at once.
const PUBLISHED: [(f64, f64, &str, &str); 17] = [
    // Measured by this project on an AMD Zen 4: 60 million random keys, the authors' programs.
    (13.42, 0.172, "yes", "cuckoo filter, 12 bits, power of two"),
    (17.90, 0.0114, "yes", "cuckoo filter, 16 bits, power of two"),
    (12.77, 0.093, "yes", "cuckoo filter, semi-sorted, 13 bits"),
    (12.50, 0.186, "yes", "vacuum filter, 12 bits"),
    (11.72, 0.311, "yes", "Morton filter 3,8"),
    (11.47, 0.439, "yes", "vector quotient filter, 8 bits"),
    (10.97, 0.387, "yes", "prefix quotient filter 8,53"),
    (11.86, 0.430, "yes", "prefix quotient filter 8,22"),
    (11.34, 0.351, "yes", "counting quotient filter, 8 bits"),
    (11.48, 0.396, "no", "prefix filter"),
    (10.67, 0.941, "no", "blocked Bloom filter, 32 bytes"),
    (12.00, 0.312, "no", "Bloom filter, 12 bits"),
    (9.00, 0.389, "static", "binary fuse filter, 8 bits"),
    // By the formula of its paper: (r + 2.125) / 0.95 bits at a rate of 0.95 / 2^r.
    (11.71, 0.185_546_9, "yes", "rank-select quotient filter, r = 9 (Pandey et al. 2017)"),
    // By the formula of its paper (Schmitz et al. 2025, arXiv 2505.05847): 1.06 (k + 2) bits at a
    // rate of 2^-k.
    (10.6, 0.390_625, "yes", "windowed cuckoo filter, k = 8"),
    (12.72, 0.097_656_25, "yes", "windowed cuckoo filter, k = 10"),
    (15.9, 0.012_207_03, "yes", "windowed cuckoo filter, k = 13"),
];

/// Measures bits per item and rate of the paper's filter with four slots per bucket.
fn plain(options: &Options, progress: &Progress) -> Curve {
    let bits: Vec<u32> = BITS.collect();
    Curve(progress.map(&bits, |&bits| {
        let shape = Shape::new(options.log(LOG_BUCKETS), 4, bits);
        let load = load_at_first_refusal(shape, 1);
        let (_, rate) = false_positives(shape, load - 0.005, 8_000_000, 2);
        (rate, f64::from(bits) / load)
    }))
}

/// Measures semi-sorted filters with fingerprints of several sizes: their packed tables, and the
/// rates of full ones.
fn sorted(progress: &Progress) -> Curve {
    let spaces = progress.map(&semi_sorted(), |kind| measure(kind, BYTES));
    Curve(spaces.iter().map(|space| (space.rate, space.bits)).collect())
}

/// Reproduces the figure.
pub fn run(options: &Options, progress: &Progress) -> Outcome {
    let (plain, sorted, spaces) = (plain(options, progress), sorted(progress), all(progress));
    let rates: Vec<f64> = (2..=16).map(|x| 0.5_f64.powi(x)).collect();
    let over = |bits: fn(f64) -> f64| rates.iter().map(|&rate| (rate, bits(rate))).collect();
    let measured = |is_wanted: fn(&Space) -> bool| {
        let wanted = spaces.iter().filter(|space| is_wanted(space) && space.bits < 30.0);
        wanted.map(|space| (space.rate, space.bits)).collect()
    };
    let published = |removal: &str| {
        let wanted = PUBLISHED.iter().filter(|filter| filter.2 == removal);
        wanted.map(|filter| (filter.1 / 100.0, filter.0)).collect()
    };
    let chart = Chart::new("figure-4", "Figure 4: bits per item by false-positive rate")
        .x("false-positive rate, measured")
        .y("bits per item")
        .log_x()
        .with(Series::line(0, "guira, plain layouts", measured(|it| it.name.contains(" Plain"))))
        .with(Series::new(
            Look::GUIRA.marker(Marker::SQUARE).variant(),
            "guira, semi-sorted layouts",
            measured(|it| it.name.contains(" Semi")),
        ))
        .with(Series::new(look("CF"), "cuckoo filter, b = 4", plain.0.clone()))
        .with(Series::new(look("ss-CF"), "semi-sorted cuckoo filter", sorted.0.clone()))
        .with(Series::new(look("BF"), "Bloom, 1.44 log2(1/ε)", over(bloom)))
        .with_all(["BF", "blocked BF", "QF", "dl-CBF"].map(|name| {
            let points = spaces.iter().filter(|space| space.name == name);
            Series::new(look(name), name, points.map(|space| (space.rate, space.bits)).collect())
        }))
        .with(Series::points(11, "published, with removal", published("yes")))
        .with(Series::points(12, "published, without removal", published("no")))
        .with(Series::points(13, "published, static", published("static")))
        .with(Series::guide("information limit", over(|rate| -rate.log2())));
    let notes = vec![
        "The loads and rates of the plain cuckoo filters are measured with 2^18 buckets of four \
         slots; the semi-sorted ones are packed tables of 2 MiB with fingerprints of 5 to 15 bits. \
         guira's layouts are filled to their capacity, and the other filters take 6 MiB. The paper \
         prints one number in this figure: the curves of the semi-sorted filter and of the Bloom \
         filter cross at 7.2 bits per item and a rate of 3 %. Plain cuckoo filters take less space \
         than Bloom filters below 0.4 %, by the formulas of Table 2."
            .into(),
        "Filters differ both in rate and in space, so the table is sorted by the bits per item \
         above the information limit log2(1/rate). The values of the published filters were \
         measured by this project with their authors' programs and 60 million random keys, except \
         those of the rank-select quotient filter and of the windowed cuckoo filter, which are \
         computed by the formulas of their papers."
            .into(),
    ];
    let rows = rows(&plain, &sorted, spaces);
    Outcome { rows, tables: vec![table(spaces)], charts: vec![chart], notes }
}

/// Returns the filters that were measured and those that are published, by bits above the limit.
fn table(spaces: &[Space]) -> Table {
    let head = ["filter", "bits per item", "false positives %", "bits above the limit", "removal"];
    let removal = |space: &Space| if space.supports_removal { "yes" } else { "no" };
    let spaces = spaces
        .iter()
        .map(|space| (space.name.clone(), space.bits, 100.0 * space.rate, removal(space)));
    let published = PUBLISHED
        .iter()
        .map(|&(bits, rate, removal, name)| (format!("{name} (published)"), bits, rate, removal));
    let mut filters: Vec<_> = spaces
        .chain(published)
        .map(|(name, bits, rate, removal)| (name, bits, rate, above_limit(bits, rate), removal))
        .collect();
    filters.sort_by(|a, b| a.3.total_cmp(&b.3));
    let mut table = Table::new("figure-4-filters", &head);
    for (name, bits, rate, above, removal) in filters {
        let numbers = [format!("{bits:.2}"), format!("{rate:.4}"), format!("{above:.2}")];
        table.push([vec![name], numbers.to_vec(), vec![removal.into()]].concat());
    }
    table
}

/// Returns the bits per item above the information limit, for a rate in per cent.
fn above_limit(bits: f64, rate: f64) -> f64 {
    bits + (rate / 100.0).log2()
}

fn rows(plain: &Curve, sorted: &Curve, spaces: &[Space]) -> Vec<Row> {
    let below_bloom = |curve: &Curve| curve.below(|rate| Some(bloom(rate))).unwrap_or(f64::NAN);
    let crossing = |filter: &str, curve: &Curve| {
        let quantity = "rate below which it takes less space than the best Bloom filter";
        Row::new(format!("Figure 4, {filter}"), quantity, 100.0 * below_bloom(curve), "%")
            .note("tolerance a factor of 1.5")
    };
    let bits = sorted.at(below_bloom(sorted)).unwrap_or(f64::NAN);
    // Solves (log2(1/ε) + 3) / α = 1.44 log2(1/ε).
    let formulas = 100.0 * (-3.0 / (LOG2_E * 0.955 - 1.0)).exp2();
    let mut rows = vec![
        crossing("semi-sorted", sorted).printed(3.0).within_factor(1.5),
        Row::new("Figure 4, semi-sorted", "bits per item where it does", bits, "bits")
            .printed(7.2)
            .within(0.5)
            .note("tolerance 0.5 bits, for the fingerprint sizes are coarse"),
        crossing("cuckoo filter", plain).formula(formulas).within_factor(1.5),
    ];
    let removable = PUBLISHED.iter().filter(|filter| filter.2 == "yes");
    let (best, name) = removable
        .map(|&(bits, rate, _, name)| (above_limit(bits, rate), name))
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .expect("some are published");
    for space in spaces.iter().filter(|space| space.is_guira()) {
        let location = format!("Figure 4, {}", space.name);
        let reason = if space.name.contains("Plain") {
            "a plain layout spends bits on word alignment, on more than four slots per bucket, and \
             on slack"
        } else {
            "with fewer slots per bucket, more of the table stays empty"
        };
        if let Some(paper) = plain.at(space.rate) {
            let quantity = "bits per item at capacity, and of the paper's plain filter at the rate";
            rows.push(
                Row::new(&location, quantity, space.bits, "bits")
                    .about(Subject::GuiraLess)
                    .measured_here(paper)
                    .within(0.1)
                    .note(
                        "the paper's value is interpolated from its filter's curve, at the first \
                         refusal; tolerance 0.1 bits",
                    )
                    .reason(reason),
            );
        }
        let quantity = "bits per item above the information limit, at capacity";
        rows.push(
            Row::new(location, quantity, space.above_limit(), "bits")
                .about(Subject::GuiraLess)
                .formula(best)
                .within(0.05)
                .note(format!(
                    "compared with the smallest published filter that supports removal, the \
                     {name}; tolerance 0.05 bits"
                ))
                .reason(reason),
        );
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::{Curve, Space, rows};
    use crate::experiments::{row::assert_each_row_can_change, space::variants};

    #[test]
    fn each_row_can_change() {
        let curve = |extra: f64, bits: f64| {
            let point = |f: u32| {
                let rate = 8.0 / f64::from(f).exp2();
                (rate, (extra - rate.log2()) / 0.955 * bits)
            };
            Curve((4..=22).map(point).collect())
        };
        let known = variants().swap_remove(0);
        let mut inputs: Vec<_> = variants().into_iter().map(|spaces| (1.0, spaces)).collect();
        inputs.extend([0.8, 0.9, 1.05].map(|bits| (bits, known.clone())));
        assert_each_row_can_change(&inputs, |(bits, spaces)| {
            // The rates stay, so that each input gives the same rows.
            let of_rate =
                |(space, known): (&Space, &Space)| Space { rate: known.rate, ..space.clone() };
            let spaces: Vec<Space> = spaces.iter().zip(&known).map(of_rate).collect();
            rows(&curve(3.0, *bits), &curve(2.0, *bits), &spaces)
        });
    }
}
