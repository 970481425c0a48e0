//! Throughput profiles, the basis of Table 3 and Figures 5 to 8: each filter is filled and emptied
//! on one core, in several rounds.

mod round;

use std::{fmt, sync::OnceLock};

use self::round::Round;
use super::{
    space::Space,
    timing::{self, ROUNDS, Timed, interleaved, pinned},
};
use crate::{
    Options,
    filters::{Kind, PAPERS, all},
};

/// guira's plain layout of 12 bits, the fingerprint size of the paper's cuckoo filter.
pub const GUIRA: &str = "guira Plain5x12";
/// The same layout in batches.
pub const GUIRA_BATCHES: &str = "guira Plain5x12, batches";

/// The curves of a profile: million operations per second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Curve {
    /// Lookups in the full filter, by share of present keys in per cent.
    ByShare,
    /// Lookups of absent keys, by load in per cent.
    Absent,
    /// Lookups of present keys, by load in per cent.
    Present,
    /// Inserts, by load in per cent at the middle of each band.
    Inserts,
    /// Removals until the filter is empty, by load in per cent; empty without support for removal.
    Removals,
}

impl Curve {
    const ALL: [Self; 5] =
        [Self::ByShare, Self::Absent, Self::Present, Self::Inserts, Self::Removals];
}

impl fmt::Display for Curve {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ByShare => "lookups by share of present keys",
            Self::Absent => "lookups of absent keys by load",
            Self::Present => "lookups of present keys by load",
            Self::Inserts => "inserts by load",
            Self::Removals => "removals by load",
        })
    }
}

/// The points of a curve.
pub type Points = Vec<(f64, Timed)>;

/// Measurements of one kind of filter.
#[derive(Clone, Debug)]
pub struct Profile {
    /// Measurements of the full filter.
    pub space: Space,
    /// Million inserts per second until the filter is full.
    pub construction: Timed,
    /// The points of each curve, in the order of [`Curve::ALL`].
    curves: [Points; 5],
}

impl Profile {
    pub fn name(&self) -> &str {
        &self.space.name
    }

    /// Returns the points of a curve.
    pub fn curve(&self, curve: Curve) -> &Points {
        &self.curves[curve as usize]
    }

    /// Combines the rounds of one kind.
    fn of(rounds: &[Round]) -> Self {
        let first = &rounds[0];
        let timed = |curve: Curve| -> Points {
            let of = |round: &Round, point: usize| round.curves[curve as usize][point];
            let point = |point| {
                let speeds = rounds.iter().map(|round| of(round, point).1);
                (of(first, point).0, Timed::of(speeds))
            };
            (0..first.curves[curve as usize].len()).map(point).collect()
        };
        Self {
            space: first.space.clone().expect("the first round measures it"),
            construction: Timed::of(rounds.iter().map(|round| round.construction)),
            curves: Curve::ALL.map(timed),
        }
    }
}

/// Returns the profile of the filter with a name.
///
/// # Panics
/// If there is none.
pub fn find<'a>(profiles: &'a [Profile], name: &str) -> &'a Profile {
    profiles.iter().find(|profile| profile.name() == name).expect("a filter has this name")
}

/// Says how filters of a size were measured.
pub fn method(bytes: usize) -> String {
    format!("Each filter takes about {} MiB. {}", rounded(bytes) >> 20, timing::method())
}

/// Rounds a size down to one that the paper's cuckoo filter with a power of two of buckets takes
/// exactly.
fn rounded(bytes: usize) -> usize {
    6 << (bytes / 6).max(1).ilog2()
}

/// Measures all filters by load on the first call, and returns the same profiles on each call.
pub fn profiles(options: &Options) -> &'static [Profile] {
    static PROFILES: OnceLock<Vec<Profile>> = OnceLock::new();
    PROFILES.get_or_init(|| pinned(|| measure(&kinds(), rounded(options.bytes()), ROUNDS, true)))
}

/// Measures all filters at the size of Table 3 on the first call, and returns the same profiles on
/// each call. They have no curves by load.
pub fn large_profiles(options: &Options) -> &'static [Profile] {
    static PROFILES: OnceLock<Vec<Profile>> = OnceLock::new();
    let bytes = rounded(options.large_bytes());
    PROFILES.get_or_init(|| pinned(|| measure(&kinds(), bytes, ROUNDS, false)))
}

/// Returns the filters of the paper's Table 3, and guira's layouts with fingerprints as long as
/// those of the paper's cuckoo filter.
fn kinds() -> Vec<Kind> {
    let mut kinds = all();
    kinds.retain(|kind| PAPERS.contains(&&*kind.name) || kind.name.contains("x12"));
    kinds
}

/// Measures all filters, which take turns.
fn measure(kinds: &[Kind], bytes: usize, rounds: usize, by_load: bool) -> Vec<Profile> {
    let rounds_of_kinds = interleaved(kinds, rounds, |round, kind| {
        println!("{}, {} MiB, round {}", kind.name, bytes >> 20, round + 1);
        Round::measure(kind, bytes, by_load, round == 0)
    });
    rounds_of_kinds.iter().map(|rounds| Profile::of(rounds)).collect()
}

/// Invented profiles for tests: each number is the paper's in some of them, and deviates in others;
/// each speed is near any other one or away from it, with a narrow or a wide range.
#[cfg(test)]
pub fn variants() -> Vec<Vec<Profile>> {
    use super::table_3::PAPER;
    use rand::{RngExt, SeedableRng, rngs::SmallRng};

    let rng = std::cell::RefCell::new(SmallRng::seed_from_u64(8));
    let uniform = |from: f64, to: f64| rng.borrow_mut().random_range(from..to);
    let deviation = || if uniform(0.0, 1.0) < 0.5 { 1.0 } else { uniform(0.5, 2.0) };
    let space = |kind: &Kind| {
        let layout = guira::Layout::ALL.iter().find(|it| kind.name.contains(&format!("{it:?}")));
        let paper = PAPER.iter().find(|paper| paper.0 == kind.name);
        let (bits, percent) = match layout.map(|layout| layout.false_positive_rate()) {
            Some(rate) => ((3.0 - rate.log2()) / 0.95, 100.0 * rate),
            // The counting Bloom filter takes four times the space of the Bloom filter.
            None => paper.map_or((52.0, 0.19), |paper| (paper.1, paper.2)),
        };
        let lines = match &*kind.name {
            "BF" | "CBF" => 9.0,
            "blocked BF" => 1.0,
            "dl-CBF" => 4.0,
            _ => 2.0,
        };
        Space {
            name: kind.name.clone(),
            supports_removal: kind.supports_removal,
            items: 1000,
            bits: bits * deviation(),
            rate: percent / 100.0 * deviation(),
            lines: Some([lines * deviation(), f64::min(lines, 2.0) * deviation()]),
        }
    };
    let profile = |kind: &Kind| {
        let (full, general) = (uniform(70.0, 100.0), uniform(1.0, 2.0).powi(3));
        let speed = || {
            let median = general * uniform(0.6, 1.5);
            let width = if uniform(0.0, 1.0) < 0.9 { 1.0 } else { 10.0 };
            Timed { median, min: median / width, max: median * width }
        };
        let curve = |curve| {
            let full = if curve == Curve::ByShare { 100.0 } else { full };
            [0.0, 0.25, 0.5, 0.75, 1.0].map(|share| (share * full, speed())).into()
        };
        Profile { space: space(kind), construction: speed(), curves: Curve::ALL.map(curve) }
    };
    (0..3000).map(|_| all().iter().map(profile).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::{Curve, Points, all, measure};

    #[test]
    fn a_profile_covers_all_loads_from_empty_to_full_and_back() {
        let mut kinds = all();
        kinds.retain(|kind| ["CF", "BF", "QF"].contains(&kind.name.as_str()));
        let profiles = measure(&kinds, 6 << 10, 3, true);
        for (profile, full) in profiles.iter().zip([95.0, 100.0, 90.0]) {
            let [by_share, absent, present, inserts, removals] = &profile.curves;
            let last = |points: &Points| points.last().expect("points").0;
            assert!((last(absent) - full).abs() < 4.0, "{profile:?}");
            assert!(inserts.iter().all(|&(load, speed)| load < full + 4.0 && speed.min > 0.0));
            assert_eq!(profile.curve(Curve::ByShare), by_share);
            assert_eq!((by_share.len(), absent.len()), (5, present.len()));
            assert_eq!(absent.len(), inserts.len());
            if profile.name() == "BF" {
                assert!(removals.is_empty());
            } else {
                assert_eq!(removals.len(), inserts.len());
                assert!(removals[0].0 > last(removals) && last(removals) < 5.0);
            }
        }
    }
}
