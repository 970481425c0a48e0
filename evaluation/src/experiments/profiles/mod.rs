//! Throughput profiles, the basis of Table 3 and Figures 5 to 8: each filter is filled and emptied
//! on one core, in several rounds.

mod round;
#[cfg(test)]
mod variants;
mod views;

use std::sync::OnceLock;

use self::round::Round;
#[cfg(test)]
pub use self::variants::variants;
pub use self::views::{
    FALLS, FASTER, SLOWER, STABLE, against, at, chart, claim, crossing, find, layout_chart, mean,
    ratio, ratios, table, trend,
};
use super::{
    Progress,
    timing::{self, Timed, interleaved, pinned, rounds},
};
use crate::{
    Options,
    filters::{Kind, PAPERS, all},
};

/// guira's plain layout of 12 bits, the fingerprint size of the paper's cuckoo filter.
pub const GUIRA: &str = "guira Plain5x12";
/// The same layout in batches.
pub const GUIRA_BATCHES: &str = "guira Plain5x12, batches";

/// Million operations per second by load or by share of present keys.
pub type Curve = Vec<(f64, Timed)>;

/// Selects one of a profile's curves.
pub type CurveOf = fn(&Profile) -> &Curve;

/// Measurements of one kind of filter.
#[derive(Clone, Debug)]
pub struct Profile {
    pub name: String,
    pub source: &'static str,
    /// Keys in the full filter.
    pub items: usize,
    pub bits_per_item: f64,
    /// False-positive rate of the full filter in per cent.
    pub rate: f64,
    /// Million inserts per second until the filter is full.
    pub construction: Timed,
    /// Lookups in the full filter, by share of present keys in per cent.
    pub by_share: Curve,
    /// Lookups of absent keys, by load in per cent.
    pub absent: Curve,
    /// Lookups of present keys, by load in per cent.
    pub present: Curve,
    /// Inserts, by load in per cent at the middle of each band.
    pub inserts: Curve,
    /// Removals until the filter is empty, by load in per cent; empty without support for removal.
    pub removals: Curve,
}

/// Says how the figures by load were measured.
pub fn method(options: &Options) -> String {
    let megabytes = rounded(options.bytes()) >> 20;
    format!("Each filter takes about {megabytes} MiB. {}", timing::method(options))
}

/// Rounds a size down to one that the paper's cuckoo filter with a power of two of buckets takes
/// exactly.
pub fn rounded(bytes: usize) -> usize {
    6 << (bytes / 6).max(1).ilog2()
}

/// Measures all filters by load on the first call, and returns the same profiles on each call.
pub fn profiles(options: &Options, progress: &Progress) -> &'static [Profile] {
    static PROFILES: OnceLock<Vec<Profile>> = OnceLock::new();
    PROFILES.get_or_init(|| {
        let spec = Spec { bytes: rounded(options.bytes()), rounds: rounds(options), by_load: true };
        pinned(|| measure(&all(), spec, progress))
    })
}

/// Measures the paper's filters, and guira's layout of 12 bits, at the size of Table 3 on the first
/// call, and returns the same profiles on each call. They have no curves by load.
pub fn large_profiles(options: &Options, progress: &Progress) -> &'static [Profile] {
    static PROFILES: OnceLock<Vec<Profile>> = OnceLock::new();
    PROFILES.get_or_init(|| {
        let mut kinds = all();
        let names = PAPERS.into_iter().chain([GUIRA, GUIRA_BATCHES]);
        kinds.retain(|kind| names.clone().any(|name| name == kind.name));
        let bytes = rounded(options.large_bytes());
        let spec = Spec { bytes, rounds: rounds(options), by_load: false };
        pinned(|| measure(&kinds, spec, progress))
    })
}

/// What to measure of each kind of filter.
#[derive(Clone, Copy, Debug)]
struct Spec {
    bytes: usize,
    rounds: usize,
    by_load: bool,
}

/// Measures all filters, which take turns.
fn measure(kinds: &[Kind], spec: Spec, progress: &Progress) -> Vec<Profile> {
    progress.expect(spec.rounds * kinds.len());
    let rounds_of_kinds = interleaved(kinds, spec.rounds, |round, kind| {
        progress.set_message(format!("{}, round {}", kind.name, round + 1));
        let measured = Round::measure(kind, spec.bytes, spec.by_load, round == 0);
        progress.step();
        measured
    });
    kinds.iter().zip(&rounds_of_kinds).map(|(kind, rounds)| profile(kind, rounds)).collect()
}

/// Combines the rounds of one kind.
fn profile(kind: &Kind, rounds: &[Round]) -> Profile {
    let first = &rounds[0];
    let timed = |curve: fn(&Round) -> &Vec<(f64, f64)>| -> Curve {
        let point = |index: usize| {
            let (x, _) = curve(first)[index];
            (x, Timed::of(rounds.iter().map(|round| curve(round)[index].1)))
        };
        (0..curve(first).len()).map(point).collect()
    };
    Profile {
        name: kind.name.clone(),
        source: kind.source,
        items: first.items,
        bits_per_item: 8.0 * first.bytes as f64 / first.items as f64,
        rate: first.rate,
        construction: Timed::of(rounds.iter().map(|round| round.construction)),
        by_share: timed(|round| &round.by_share),
        absent: timed(|round| &round.absent),
        present: timed(|round| &round.present),
        inserts: timed(|round| &round.inserts),
        removals: timed(|round| &round.removals),
    }
}

#[cfg(test)]
mod tests {
    use super::{Progress, Spec, all, measure};

    #[test]
    fn a_profile_covers_all_loads_from_empty_to_full_and_back() {
        let kinds: Vec<_> = all()
            .into_iter()
            .filter(|kind| ["CF", "BF", "QF"].contains(&kind.name.as_str()))
            .collect();
        let spec = Spec { bytes: 6 << 10, rounds: 3, by_load: true };
        let profiles = measure(&kinds, spec, &Progress::new());
        for (profile, full) in profiles.iter().zip([95.0, 100.0, 90.0]) {
            let last = |curve: &super::Curve| curve.last().expect("points").0;
            assert!((last(&profile.absent) - full).abs() < 4.0, "{profile:?}");
            assert!(
                profile.inserts.iter().all(|&(load, speed)| load < full + 4.0 && speed.min > 0.0)
            );
            assert_eq!(profile.by_share.len(), 5);
            assert_eq!(profile.absent.len(), profile.inserts.len());
            if profile.name == "BF" {
                assert!(profile.removals.is_empty());
            } else {
                assert_eq!(profile.removals.len(), profile.inserts.len());
                assert!(
                    profile.removals[0].0 > last(&profile.removals)
                        && last(&profile.removals) < 5.0
                );
            }
        }
    }
}
