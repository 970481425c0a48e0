//! The accesses to replay: those of a real trace, or drawn from Zipf's law.

use std::{
    collections::HashMap,
    fs::File,
    io::{self, BufReader, ErrorKind, Read},
    path::Path,
};

use lzma_rust2::XzReader;
use rand::{Rng, RngExt, SeedableRng, distr::Distribution, rngs::SmallRng};
use rand_distr::Zipf;

use crate::{Failure, unusable};

/// Accesses that are drawn where there is no trace, the keys that they are of, and the exponent of the law.
const DRAWN: usize = 2_000_000;
const DRAWN_KEYS: u32 = 100_000;
const EXPONENT: f64 = 0.9;
/// Spreads ranks over the keys, each rank to a key of its own since it is odd.
const SPREAD: u32 = 0x9e37_79b1;
/// The most accesses that are read, a gigabyte of keys.
const ACCESSES_MOST: u64 = 1 << 28;
/// The most memory for the decoder, in KiB: what the highest preset of xz takes, twice.
const DECODER_MOST: u32 = 128 << 10;
/// The share of the keys that are in the store at the start.
const PRESENT: f64 = 0.5;
/// Where the random choices start from.
const SEED: u64 = 0x0067_7569_7261;

/// What an access does to its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Read,
    /// Creates the key, or overwrites it.
    Write,
    Delete,
}

/// One access, of the key at a place in [`Trace::keys`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    pub at: u32,
    pub action: Action,
}

/// The accesses, and what the store holds before the first.
pub struct Trace {
    pub name: String,
    pub keys: Vec<u32>,
    pub present: Vec<bool>,
    pub accesses: Vec<Access>,
}

impl Trace {
    /// Reads a trace: xz of little-endian `u32` keys, one for each access.
    pub fn read(path: &Path, changes: f64) -> Result<Self, Failure> {
        let at = |fault: String| unusable(format!("{}: {fault}", path.display()));
        let file = File::open(path).map_err(|error| at(error.to_string()))?;
        let sequence = decode(file).map_err(at)?;
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        Ok(Self::new(name, &sequence, changes))
    }

    /// Draws a trace, the same one every time.
    pub fn draw(changes: f64) -> Self {
        let sequence = draw(DRAWN, &mut SmallRng::seed_from_u64(SEED));
        Self::new(format!("drawn, Zipf {EXPONENT}"), &sequence, changes)
    }

    /// Numbers the keys, and decides which are present and which accesses are changes.
    fn new(name: String, sequence: &[u32], changes: f64) -> Self {
        let mut random = SmallRng::seed_from_u64(SEED + 1);
        let (mut places, mut keys) = (HashMap::new(), Vec::new());
        let mut access = |&key| {
            let at = *places.entry(key).or_insert_with(|| {
                keys.push(key);
                keys.len() as u32 - 1
            });
            let action = match (random.random_bool(changes), random.random_bool(0.5)) {
                (false, _) => Action::Read,
                (true, false) => Action::Write,
                (true, true) => Action::Delete,
            };
            Access { at, action }
        };
        let accesses = sequence.iter().map(&mut access).collect();
        let present = keys.iter().map(|_| random.random_bool(PRESENT)).collect();
        Self { name, keys, present, accesses }
    }
}

/// The keys in an xz stream, or what is wrong with it.
fn decode(compressed: impl Read) -> Result<Vec<u32>, String> {
    let decoder = XzReader::new_mem_limit(BufReader::new(compressed), true, DECODER_MOST);
    let (mut bytes, most) = (Vec::new(), ACCESSES_MOST * 4);
    decoder.take(most + 1).read_to_end(&mut bytes).map_err(|error| fault(&error))?;
    if bytes.len() as u64 > most {
        return Err(format!("holds more than {ACCESSES_MOST} accesses"));
    }
    let (keys, rest) = bytes.as_chunks();
    match (keys, rest) {
        ([], []) => Err("holds no access".into()),
        (_, []) => Ok(keys.iter().map(|&key| u32::from_le_bytes(key)).collect()),
        _ => Err("ends in the middle of a key".into()),
    }
}

/// Says in one line why an xz stream cannot be read.
fn fault(error: &io::Error) -> String {
    match error.kind() {
        _ if error.raw_os_error().is_some() => error.to_string(),
        ErrorKind::UnexpectedEof => "is cut short".into(),
        _ => format!("is no xz file, or damaged: {error}"),
    }
}

/// Keys drawn by Zipf's law.
fn draw(count: usize, random: &mut impl Rng) -> Vec<u32> {
    let law = Zipf::new(f64::from(DRAWN_KEYS), EXPONENT).expect("keys, and a finite exponent");
    let key = |rank: f64| (rank as u32).wrapping_mul(SPREAD);
    law.sample_iter(random).take(count).map(key).collect()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use lzma_rust2::{XzOptions, XzWriter};

    use super::*;

    /// Compresses bytes as `xz` does.
    fn compress(bytes: &[u8]) -> Vec<u8> {
        let mut writer = XzWriter::new(Vec::new(), XzOptions::default()).expect("options");
        writer.write_all(bytes).expect("a vector takes everything");
        writer.finish().expect("a vector takes everything")
    }

    #[test]
    fn keys_are_little_endian() {
        let compressed = compress(&[1, 0, 0, 0, 0, 2, 0, 0xff]);
        assert_eq!(decode(&*compressed), Ok(vec![1, 0xff00_0200]));
    }

    #[test]
    fn streams_follow_one_another() {
        let streams = [compress(&[1, 0, 0, 0]), compress(&[2, 0, 0, 0])].concat();
        assert_eq!(decode(&*streams), Ok(vec![1, 2]));
    }

    #[test]
    fn half_a_key_is_refused() {
        assert_eq!(decode(&*compress(&[1, 0, 0, 0, 2])), Err("ends in the middle of a key".into()));
        assert_eq!(decode(&*compress(&[])), Err("holds no access".into()));
    }

    #[test]
    fn damage_anywhere_is_refused() {
        let keys: Vec<u8> = (0..1_000_u32).flat_map(u32::to_le_bytes).collect();
        let compressed = compress(&keys);
        for length in 0..compressed.len() {
            assert!(decode(&compressed[..length]).is_err(), "cut at {length}");
        }
        for at in 0..compressed.len() {
            let mut damaged = compressed.clone();
            damaged[at] ^= 0x55;
            assert!(decode(&*damaged).is_err(), "damaged at {at}");
        }
        for not_xz in [&b"not an xz file at all"[..], &[0; 64]] {
            assert!(decode(not_xz).is_err());
        }
    }

    #[test]
    fn a_trace_is_its_sequence() {
        let trace = Trace::new(String::new(), &[7, 9, 7, 7], 0.0);
        assert_eq!(trace.keys, [7, 9]);
        let reads = [0, 1, 0, 0].map(|at| Access { at, action: Action::Read });
        assert_eq!(trace.accesses, reads);
    }

    #[test]
    fn a_drawn_trace_is_skewed_and_always_the_same() {
        let [first, second] = [(); 2].map(|()| draw(100_000, &mut SmallRng::seed_from_u64(1)));
        assert_eq!(first, second);
        let trace = Trace::new(String::new(), &first, 0.01);
        let most = first.iter().filter(|&&key| key == SPREAD).count();
        assert!(most > first.len() / 100, "{most} accesses of the first rank");
        assert!(trace.keys.len() > 10_000);
        let changes = trace.accesses.iter().filter(|access| access.action != Action::Read).count();
        assert!((800..1_200).contains(&changes), "{changes} changes");
        let present = trace.present.iter().filter(|&&present| present).count();
        let half = trace.keys.len() / 2;
        assert!(present.abs_diff(half) < half / 10, "{present} present");
    }
}
