//! The accesses to replay: read from a file, or drawn from a Zipf distribution.

use std::{collections::HashMap, fs, path::Path};

use anyhow::{Context, Result, ensure};
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
const EXPONENT: f64 = 0.9;
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

/// One access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The index of its key in [`Trace::keys`].
    pub index: u32,
    pub action: Action,
}

/// The accesses, and the keys that the store holds before the first.
pub struct Trace {
    pub name: String,
    /// The distinct keys, in the order of their first access.
    pub keys: Vec<u32>,
    /// Whether the store has each of `keys` at the start.
    pub present: Vec<bool>,
    pub accesses: Vec<Access>,
}

impl Trace {
    /// Reads a trace from a file of little-endian `u32` keys, one for each access.
    pub fn read(path: &Path, changes: f64) -> Result<Self> {
        let bytes = fs::read(path).with_context(|| path.display().to_string())?;
        let (keys, rest) = bytes.as_chunks();
        ensure!(rest.is_empty() && !keys.is_empty(), "{}: no keys of 4 bytes", path.display());
        let sequence: Vec<u32> = keys.iter().map(|&key| u32::from_le_bytes(key)).collect();
        Ok(Self::new(path.display().to_string(), &sequence, changes))
    }

    /// Draws a trace from a Zipf distribution, the same one in every run.
    pub fn draw(changes: f64) -> Self {
        let sequence = draw(DRAWN, &mut SmallRng::seed_from_u64(SEED));
        Self::new(format!("drawn, Zipf exponent {EXPONENT}"), &sequence, changes)
    }

    /// Creates a trace from the keys of its accesses, of which a share of `changes` are no reads.
    pub fn new(name: String, sequence: &[u32], changes: f64) -> Self {
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
            Access { index, action }
        };
        let accesses = sequence.iter().map(&mut access).collect();
        let present = keys.iter().map(|_| random.random_bool(PRESENT)).collect();
        Self { name, keys, present, accesses }
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
    fn keys_are_little_endian() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        fs::write(file.path(), [1, 0, 0, 0, 0, 2, 0, 0xff]).expect("space");
        assert_eq!(Trace::read(file.path(), 0.0).expect("keys").keys, [1, 0xff00_0200]);
        for unusable in [&[][..], &[1, 0, 0, 0, 2][..]] {
            fs::write(file.path(), unusable).expect("space");
            assert!(Trace::read(file.path(), 0.0).is_err());
        }
    }

    #[test]
    fn a_trace_follows_its_sequence() {
        let trace = Trace::new(String::new(), &[7, 9, 7, 7], 0.0);
        assert_eq!(trace.keys, [7, 9]);
        let reads = [0, 1, 0, 0].map(|index| Access { index, action: Action::Read });
        assert_eq!(trace.accesses, reads);
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
        let trace = Trace::new(String::new(), &first, 0.01);
        assert!(trace.keys.len() > 10_000);
        let changes = trace.accesses.iter().filter(|access| access.action != Action::Read).count();
        assert!((800..1_200).contains(&changes), "{changes} changes");
        let present = trace.present.iter().filter(|&&present| present).count();
        let half = trace.keys.len() / 2;
        assert!(present.abs_diff(half) < half / 10, "{present} keys are present");
    }
}
