//! Figure 5: lookups in full filters by the share of keys that are present.

use super::{
    Outcome, Progress, Row, Subject, Timed,
    profiles::{
        Curve, CurveOf, FALLS, FASTER, GUIRA, GUIRA_BATCHES, Profile, SLOWER, STABLE, against, at,
        chart, claim, crossing, find, large_profiles, layout_chart, profiles, ratios, rounded,
        table,
    },
    timing,
};
use crate::{
    Options,
    report::{Chart, Series, machine},
};

const LOCATION: &str = "Figure 5";
/// Shares of present keys in per cent.
const SHARES: [f64; 5] = [0.0, 25.0, 50.0, 75.0, 100.0];

/// Name, look and speeds of a later version of the authors' program, on an i7-4790, at 192 MB.
const LATER: [(&str, usize, [f64; 5]); 2] = [
    ("CF", 1, [26.10, 25.92, 26.00, 25.95, 25.89]),
    ("ss-CF", 2, [10.07, 10.65, 10.65, 10.79, 10.64]),
];

/// Reproduces the figure.
pub fn run(options: &Options, progress: &Progress) -> Outcome {
    let (large, small) = (large_profiles(options, progress), profiles(options, progress));
    let curve: CurveOf = |profile| &profile.by_share;
    let sizes = [options.large_bytes(), options.bytes()].map(|bytes| rounded(bytes) >> 20);
    let axes = |name, title: String| {
        Chart::new(name, &title).x("present keys, %").y("million lookups per second")
    };
    let title = format!("Lookups by share of present keys, {} MiB (Figure 5)", sizes[0]);
    let (mut papers, mut papers_points) = chart(axes("figure-5", title), large, curve);
    for (name, look, speeds) in LATER {
        let name = format!("{name}, the authors', i7-4790");
        let points: Vec<(f64, f64)> = SHARES.into_iter().zip(speeds).collect();
        for (share, speed) in &points {
            let [share, speed] = [share, speed].map(ToString::to_string);
            papers_points.push(vec![name.clone(), share, speed, String::new(), String::new()]);
        }
        papers.push(Series::points(look, name, points));
    }
    let title = format!("Lookups by share of present keys, {} MiB", sizes[1]);
    let (smaller, smaller_points) = chart(axes("small-figure-5", title), small, curve);
    let title =
        format!("Lookups by share of present keys, {} MiB: guira's layouts, in batches", sizes[1]);
    let (guira, guira_points) = layout_chart(axes("guira-figure-5", title), small, curve);
    let notes = vec![
        format!(
            "Each filter is as full as in Table 3 and takes {} MiB, as in the paper, whose L3 \
             cache had 12 or 20 MB; this machine's caches are {}. The second plot shows all \
             filters in {} MiB. {}The paper plots this figure without numbers, so the rows check \
             the orders and trends that its text states (section 7.2).",
            sizes[0],
            machine::caches(),
            sizes[1],
            timing::method(options)
        ),
        "Hollow squares show the results that the authors publish with their program \
         (efficient/cuckoofilter, benchmarks/conext-figure5.cc)."
            .into(),
    ];
    let tables = vec![
        table("figure-5-speeds", large, &SHARES, curve),
        table("figure-5-speeds-small", small, &SHARES, curve),
    ];
    let charts = vec![papers, smaller, guira];
    let points = vec![papers_points, smaller_points, guira_points];
    Outcome { rows: rows(large), tables, charts, points, notes }
}

/// Returns the minimum, or the maximum, over the shares of the ratio of two filters' speeds.
fn over_shares(
    profiles: &[Profile],
    [name, other]: [&str; 2],
    choose: fn(Timed, Timed) -> Timed,
) -> Timed {
    let curve = |name: &str| -> &Curve { &find(profiles, name).by_share };
    let ratios = ratios(curve(name), curve(other)).into_iter().map(|(_, ratio)| ratio);
    ratios.reduce(choose).unwrap_or(Timed::NONE)
}

/// Returns the maximum over the shares of a filter's speed relative to the slowest of the others.
fn against_slowest(profiles: &[Profile], name: &str) -> Timed {
    let at_share = |share| {
        against(profiles, name, |_| true, |profile| at(&profile.by_share, share), Timed::max)
    };
    SHARES.into_iter().map(at_share).reduce(Timed::max).unwrap_or(Timed::NONE)
}

fn rows(profiles: &[Profile]) -> Vec<Row> {
    let curve = |name: &str| -> &Curve { &find(profiles, name).by_share };
    let ends = |name: &str| at(curve(name), 100.0) / at(curve(name), 0.0);
    let min = |name, other| over_shares(profiles, [name, other], Timed::min);
    let max = |name, other| over_shares(profiles, [name, other], Timed::max);
    let claim = |quantity: &str, measured, holds, note: &str| {
        claim(LOCATION, quantity, measured, holds, note)
    };
    let cf = |share| at(curve("CF"), share);
    let mut rows = vec![
        claim("CF / BF, minimum over the shares", min("CF", "BF"), FASTER, "two reads in parallel")
            .reason("a lookup of an absent key in BF reads two lines on average, and no more"),
        claim(
            "CF: all present / none present",
            ends("CF"),
            STABLE,
            "a lookup always reads both buckets",
        )
        .printed(1.0),
        claim(
            "CF: half present / mean of none and all",
            cf(50.0) / ((cf(0.0) + cf(100.0)) * 0.5),
            0.8..=0.98,
            "the paper: slightly slower, because of branch mispredictions",
        )
        .reason("no branch here depends on the contents of a bucket"),
        claim(
            "ss-CF / CF, maximum over the shares",
            max("ss-CF", "CF"),
            SLOWER,
            "slower, because buckets are decoded",
        ),
        claim("BF: all present / none present", ends("BF"), FALLS, "nine reads instead of two"),
        claim(
            "blocked BF: all present / none present",
            ends("blocked BF"),
            FALLS,
            "nine bits of one cache line instead of two",
        ),
        claim(
            "blocked BF / BF, minimum over the shares",
            min("blocked BF", "BF"),
            FASTER,
            "the paper: BF is about 4 million operations per second slower",
        ),
        claim(
            "QF / the slowest of the others, maximum over the shares",
            against_slowest(profiles, "QF"),
            SLOWER,
            "the slowest in the paper: clusters are long at a load of 90 %",
        )
        .reason("at some shares, another filter's lookups are slower here"),
    ];
    rows.extend(d_left(profiles));
    let from = crossing(&ratios(curve("ss-CF"), curve("BF")));
    for (location, paper) in [(LOCATION, 25.0), (";login:, Figure 3", 50.0)] {
        let quantity = "share of present keys above which ss-CF is faster than BF";
        rows.push(
            Row::timed(location, quantity, from, "%")
                .printed(paper)
                .holds(0.0..=paper + 12.5)
                .tie(paper + 12.5)
                .note("interpolated; tolerance half a step between the measured shares")
                .reason("the nine reads of BF are independent, so a modern core overlaps them"),
        );
    }
    for name in [GUIRA, GUIRA_BATCHES] {
        let quantity = format!("{name} / CF, minimum over the shares");
        rows.push(
            Row::timed(LOCATION, quantity, min(name, "CF"), "×")
                .about(Subject::GuiraMore)
                .holds(0.95..=1.05)
                .note(
                    "only guira supports concurrent use: a lookup also validates the version of \
                     its stripe; batches hide cache misses",
                ),
        );
    }
    rows
}

/// Checks what the text says about the d-left counting Bloom filter.
fn d_left(profiles: &[Profile]) -> [Row; 4] {
    let at = |name: &str, share| at(&find(profiles, name).by_share, share);
    let claim = |quantity: &str, measured, holds, note: &str| {
        claim(LOCATION, quantity, measured, holds, note)
    };
    [
        claim(
            "dl-CBF / ss-CF, minimum over the shares",
            over_shares(profiles, ["dl-CBF", "ss-CF"], Timed::min),
            FASTER,
            "four buckets, but no decoding",
        )
        .reason("a lookup reads four cache lines instead of two, and decoding costs less here"),
        claim(
            "dl-CBF / BF, none present",
            at("dl-CBF", 0.0) / at("BF", 0.0),
            SLOWER,
            "the paper: 30 % slower than BF; four cache lines instead of two",
        )
        .printed(0.7)
        .reason("the four reads are independent and without a branch"),
        claim(
            "dl-CBF / BF, maximum over the shares",
            over_shares(profiles, ["dl-CBF", "BF"], Timed::max),
            SLOWER,
            "the same claim at all shares",
        )
        .printed(0.7)
        .reason(
            "the paper's other claims exclude it: dl-CBF is faster than ss-CF, which is faster \
             than BF above a quarter present",
        ),
        claim(
            "dl-CBF: all present / none present",
            at("dl-CBF", 100.0) / at("dl-CBF", 0.0),
            STABLE,
            "a lookup always reads four buckets",
        )
        .printed(1.0),
    ]
}

#[cfg(test)]
mod tests {
    use super::{Timed, against_slowest, rows};
    use crate::experiments::{profiles::variants, row::assert_each_row_can_change};

    #[test]
    fn each_row_can_change() {
        assert_each_row_can_change(&variants(), |profiles| rows(profiles));
    }

    #[test]
    fn the_slowest_filter_is_compared_at_every_share() {
        let mut profiles = variants().swap_remove(0);
        for profile in &mut profiles {
            let speed = Timed::of([if profile.name == "QF" { 2.0 } else { 4.0 }]);
            profile.by_share.iter_mut().for_each(|point| point.1 = speed);
        }
        assert_eq!(against_slowest(&profiles, "QF"), Timed::of([0.5]));
        // One other filter that is slower at one share makes the claim false.
        let bloom = profiles.iter_mut().find(|profile| profile.name == "BF").expect("BF");
        bloom.by_share[4].1 = Timed::of([1.0]);
        assert_eq!(against_slowest(&profiles, "QF"), Timed::of([2.0]));
    }
}
