//! The accesses to replay: read from a file, or drawn from a Zipf distribution.

use std::{
    collections::HashMap,
    fs::File,
    io::{self, BufReader, ErrorKind, Read},
    path::Path,
};

use lzma_rust2::XzReader;
use rand::{
    Rng, RngExt, SeedableRng,
    distr::{Distribution, weighted::WeightedIndex},
    rngs::SmallRng,
};

use crate::Failure;

/// Number of accesses in a drawn trace.
const DRAWN: usize = 2_000_000;
/// Number of keys in the distribution of a drawn trace.
const DRAWN_KEYS: u32 = 100_000;
/// Exponent of the Zipf distribution: the key of rank r has the weight r^-EXPONENT.
const EXPONENT: f64 = 0.9;
/// Multiplier that scatters ranks over the keys. Odd, so that no two ranks get the same key.
const SCATTER: u32 = 0x9e37_79b1;
/// The largest accepted number of accesses: one gibibyte of keys.
const MAX_ACCESSES: u64 = 1 << 28;
/// Memory limit of the xz decoder in KiB: twice the need of the highest preset.
const MAX_DECODER_KIB: u32 = 128 << 10;
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
    /// Reads a trace from a file of xz-compressed little-endian `u32` keys, one for each access.
    pub fn read(path: &Path, changes: f64) -> Result<Self, Failure> {
        let unusable =
            |error: String| Failure::Unusable(format!("the trace {}: {error}", path.display()));
        let file = File::open(path).map_err(|error| unusable(error.to_string()))?;
        let sequence = decode(file).map_err(unusable)?;
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        Ok(Self::new(name, &sequence, changes))
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

/// Decodes the keys of an xz stream.
fn decode(compressed: impl Read) -> Result<Vec<u32>, String> {
    let decoder = XzReader::new_mem_limit(BufReader::new(compressed), true, MAX_DECODER_KIB);
    let (mut bytes, max_bytes) = (Vec::new(), MAX_ACCESSES * 4);
    decoder.take(max_bytes + 1).read_to_end(&mut bytes).map_err(|error| describe(&error))?;
    if bytes.len() as u64 > max_bytes {
        return Err(format!("it holds more than {MAX_ACCESSES} accesses"));
    }
    let (keys, rest) = bytes.as_chunks();
    match (keys, rest) {
        ([], []) => Err("it holds no accesses".into()),
        (_, []) => Ok(keys.iter().map(|&key| u32::from_le_bytes(key)).collect()),
        _ => Err("it ends in the middle of a key".into()),
    }
}

/// Describes in one line why an xz stream cannot be read.
fn describe(error: &io::Error) -> String {
    match error.kind() {
        _ if error.raw_os_error().is_some() => error.to_string(),
        ErrorKind::UnexpectedEof => "the file is truncated".into(),
        _ => format!("not an xz file, or a damaged one: {error}"),
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
    use std::io::Write;

    use lzma_rust2::{XzOptions, XzWriter};

    use super::*;

    /// Compresses bytes as `xz` does.
    fn compress(bytes: &[u8]) -> Vec<u8> {
        let mut writer = XzWriter::new(Vec::new(), XzOptions::default()).expect("valid options");
        writer.write_all(bytes).expect("a vector accepts every write");
        writer.finish().expect("a vector accepts every write")
    }

    #[test]
    fn keys_are_little_endian() {
        let compressed = compress(&[1, 0, 0, 0, 0, 2, 0, 0xff]);
        assert_eq!(decode(&*compressed), Ok(vec![1, 0xff00_0200]));
    }

    #[test]
    fn concatenated_streams_are_one_trace() {
        let streams = [compress(&[1, 0, 0, 0]), compress(&[2, 0, 0, 0])].concat();
        assert_eq!(decode(&*streams), Ok(vec![1, 2]));
    }

    #[test]
    fn half_a_key_is_refused() {
        let half = compress(&[1, 0, 0, 0, 2]);
        assert_eq!(decode(&*half), Err("it ends in the middle of a key".into()));
        assert_eq!(decode(&*compress(&[])), Err("it holds no accesses".into()));
    }

    #[test]
    fn damage_anywhere_is_refused() {
        let keys: Vec<u8> = (0..1_000_u32).flat_map(u32::to_le_bytes).collect();
        let compressed = compress(&keys);
        for length in 0..compressed.len() {
            assert!(decode(&compressed[..length]).is_err(), "truncated to {length} bytes");
        }
        for at in 0..compressed.len() {
            let mut damaged = compressed.clone();
            damaged[at] ^= 0x55;
            assert!(decode(&*damaged).is_err(), "damaged at byte {at}");
        }
        for not_xz in [&b"not an xz file at all"[..], &[0; 64]] {
            assert!(decode(not_xz).is_err());
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
