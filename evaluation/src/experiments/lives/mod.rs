//! The life of each filter, from empty to full and back, which Table 3 and Figures 5 to 8 are read
//! off: measured once, on one core, in a few rounds.

mod read;
mod round;

use std::sync::OnceLock;

pub use self::read::{
    FALLS, FASTER, SLOWER, STABLE, at, chart, claim, find, layouts, least_ratio, mean, table, trend,
};
use self::round::Round;
use super::Progress;
use crate::{
    Options,
    common::Cores,
    filters::{Kind, all},
};

/// A curve: loads, or shares of present keys, against millions of operations a second.
pub type Curve = Vec<(f64, f64)>;

/// One of a life's curves.
pub type Which = fn(&Life) -> &Curve;

/// What was seen of one kind of filter: medians over the rounds.
#[derive(Clone, Debug)]
pub struct Life {
    pub name: String,
    pub source: &'static str,
    /// Keys that went in.
    pub items: usize,
    pub bits_per_item: f64,
    /// False positives of the full filter, in per cent.
    pub rate: f64,
    /// Keys that went in, over the time that took, in millions a second.
    pub construction: f64,
    /// Look-ups of the full filter, by per cent of present keys.
    pub by_share: Curve,
    /// Look-ups of absent keys, by load in per cent.
    pub absent: Curve,
    /// Look-ups of present keys, by load in per cent.
    pub present: Curve,
    /// Inserts, by load in per cent at the middle of the band that they filled.
    pub inserts: Curve,
    /// Removals from the full filter until it is empty, by load in per cent; none where it cannot.
    pub removals: Curve,
}

/// Bytes of each filter: the most that are asked for of those that a power of two of buckets of the
/// paper's cuckoo filter fills exactly, as 192 MiB do.
pub fn bytes(options: &Options) -> usize {
    6 << (options.bytes() / 6).max(1).ilog2()
}

/// Every filter's life, measured when first asked for.
pub fn lives(options: &Options, progress: &Progress) -> &'static [Life] {
    static LIVES: OnceLock<Vec<Life>> = OnceLock::new();
    LIVES.get_or_init(|| {
        let (kinds, cores) = (all(), Cores::list());
        // On a thread of its own, as it is pinned.
        std::thread::scope(|scope| {
            let measured = scope.spawn(|| {
                cores.pin(cores.count() - 1);
                measure(&kinds, bytes(options), if options.full { 7 } else { 3 }, progress)
            });
            measured.join().expect("the filters' lives")
        })
    })
}

/// Rounds of all filters in turn, so that a busy moment of the machine meets no filter twice.
fn measure(kinds: &[Kind], bytes: usize, rounds: usize, progress: &Progress) -> Vec<Life> {
    progress.expect(rounds * kinds.len());
    let mut all: Vec<Vec<Round>> = kinds.iter().map(|_| Vec::new()).collect();
    for round in 1..=rounds {
        for (kind, rounds_of_kind) in kinds.iter().zip(&mut all) {
            progress.say(format!("{}, round {round}", kind.name));
            rounds_of_kind.push(Round::measure(kind, bytes));
            progress.step();
        }
    }
    kinds.iter().zip(&all).map(|(kind, rounds)| life(kind, rounds)).collect()
}

fn life(kind: &Kind, rounds: &[Round]) -> Life {
    let first = &rounds[0];
    let middle = |curve: fn(&Round) -> &Curve| -> Curve {
        let point = |nth: usize| {
            let (x, _) = curve(first)[nth];
            (x, median(rounds.iter().map(|round| curve(round)[nth].1)))
        };
        (0..curve(first).len()).map(point).collect()
    };
    Life {
        name: kind.name.clone(),
        source: kind.source,
        items: first.items,
        bits_per_item: 8.0 * first.bytes as f64 / first.items as f64,
        rate: first.rate,
        construction: median(rounds.iter().map(|round| round.construction)),
        by_share: middle(|round| &round.by_share),
        absent: middle(|round| &round.absent),
        present: middle(|round| &round.present),
        inserts: middle(|round| &round.inserts),
        removals: middle(|round| &round.removals),
    }
}

/// The middle one, or of an even count the upper of the two in the middle.
fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::{Progress, all, measure, median};

    #[test]
    fn a_life_goes_from_empty_to_full_and_back() {
        let kinds: Vec<_> = all()
            .into_iter()
            .filter(|kind| ["CF", "BF", "QF"].contains(&kind.name.as_str()))
            .collect();
        let lives = measure(&kinds, 6 << 10, 3, &Progress::new());
        for (life, full) in lives.iter().zip([95.0, 100.0, 90.0]) {
            let last = |curve: &super::Curve| curve.last().expect("points").0;
            assert!((last(&life.absent) - full).abs() < 4.0, "{life:?}");
            assert!(life.inserts.iter().all(|&(load, speed)| load < full + 4.0 && speed > 0.0));
            assert_eq!(life.by_share.len(), 5);
            assert_eq!(life.absent.len(), life.inserts.len());
            if life.name == "BF" {
                assert!(life.removals.is_empty());
            } else {
                assert_eq!(life.removals.len(), life.inserts.len());
                assert!(life.removals[0].0 > last(&life.removals) && last(&life.removals) < 5.0);
            }
        }
    }

    #[test]
    fn the_median_is_the_middle() {
        assert!((median([3.0, 1.0, 2.0].into_iter()) - 2.0).abs() < 1e-9);
    }
}
