//! The accesses to replay, drawn from a Zipf distribution.

use std::collections::HashMap;

use rand::{
    Rng, RngExt, SeedableRng,
    distr::{Distribution, weighted::WeightedIndex},
    rngs::SmallRng,
};

/// Number of accesses in a drawn trace.
const DRAWN: usize = 2_000_000;
/// Number of keys in the distribution of a drawn trace.
const DRAWN_KEYS: u32 = 100_000;
/// Exponent of the Zipf distribution: the key of rank r has the weight r^-EXPONENT.
pub const EXPONENT: f64 = 0.9;
/// Multiplier that scatters ranks over the keys. Odd, so that no two ranks get the same key.
const SCATTER: u32 = 0x9e37_79b1;
/// Share of the keys that are in the store at the start.
const PRESENT: f64 = 0.5;
/// Seed of all random choices, so that every run replays the same accesses.
const SEED: u64 = 0x0067_7569_7261;

/// What an access does to its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Reads the key's row.
    Read,
    /// Creates the key or overwrites its row.
    Write,
    /// Deletes the key if it is present.
    Delete,
}

/// The accesses, and the keys that the store holds before the first.
pub struct Trace {
    /// The distinct keys, in the order of their first access.
    pub keys: Vec<u32>,
    /// Whether the store has each of `keys` at the start.
    pub present: Vec<bool>,
    /// The index in `keys` of each access, and what it does.
    pub accesses: Vec<(u32, Action)>,
}

impl Trace {
    /// Draws a trace from a Zipf distribution, the same one in every run.
    pub fn draw(changes: f64) -> Self {
        Self::new(&draw(DRAWN, &mut SmallRng::seed_from_u64(SEED)), changes)
    }

    /// Creates a trace from the keys of its accesses, of which a share of `changes` are no reads.
    pub fn new(sequence: &[u32], changes: f64) -> Self {
        let mut random = SmallRng::seed_from_u64(SEED + 1);
        let (mut indices, mut keys) = (HashMap::new(), Vec::new());
        let mut access = |&key| {
            let index = *indices.entry(key).or_insert_with(|| {
                keys.push(key);
                keys.len() as u32 - 1
            });
            let action = match (random.random_bool(changes), random.random_bool(0.5)) {
                (false, _) => Action::Read,
                (true, false) => Action::Write,
                (true, true) => Action::Delete,
            };
            (index, action)
        };
        let accesses = sequence.iter().map(&mut access).collect();
        let present = keys.iter().map(|_| random.random_bool(PRESENT)).collect();
        Self { keys, present, accesses }
    }
}

/// Draws keys from a Zipf distribution.
fn draw(count: usize, random: &mut impl Rng) -> Vec<u32> {
    let weights = (1..=DRAWN_KEYS).map(|rank| f64::from(rank).powf(-EXPONENT));
    let ranks = WeightedIndex::new(weights).expect("positive and finite weights");
    let key = |index: usize| (index as u32 + 1).wrapping_mul(SCATTER);
    ranks.sample_iter(random).take(count).map(key).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_follows_its_sequence() {
        let trace = Trace::new(&[7, 9, 7, 7], 0.0);
        assert_eq!(trace.keys, [7, 9]);
        assert_eq!(trace.accesses, [0, 1, 0, 0].map(|index| (index, Action::Read)));
    }

    #[test]
    fn a_drawn_trace_is_skewed_and_reproducible() {
        let [first, second] = [(); 2].map(|()| draw(100_000, &mut SmallRng::seed_from_u64(1)));
        assert_eq!(first, second);
        let count = |rank: u32| {
            let key = rank.wrapping_mul(SCATTER);
            first.iter().filter(|&&drawn| drawn == key).count() as f64
        };
        // The tolerance is four standard deviations of the rarer of the two keys.
        assert!((count(1) / count(3) / 3_f64.powf(EXPONENT) - 1.0).abs() < 0.13);
        let trace = Trace::new(&first, 0.01);
        assert!(trace.keys.len() > 10_000);
        let changes = trace.accesses.iter().filter(|access| access.1 != Action::Read).count();
        assert!((800..1_200).contains(&changes), "{changes} changes");
        let present = trace.present.iter().filter(|&&present| present).count();
        let half = trace.keys.len() / 2;
        assert!(present.abs_diff(half) < half / 10, "{present} keys are present");
    }
}
