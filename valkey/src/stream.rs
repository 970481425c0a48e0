//! The stream: the bytes of a value, in RDB files, in chunks of `CF.SCANDUMP` and in the AOF.
//!
//! A stream is a preamble, which holds what the module keeps beside the filter, and a snapshot of
//! the filter, as `guira::docs::snapshots` describes it. A chunk is a part of the stream and a
//! checksum of its bytes and their place. So a chunk that was damaged, cut, or sent out of order is
//! refused before it changes anything.

use rapidhash::v3::{RapidSecrets, rapidhash_v3_seeded};

use crate::{config::ERROR_RATES, error::Error};

const MAGIC: [u8; 8] = *b"guira vk";
const VERSION: u16 = 1;
/// Bytes of a preamble.
pub const PREAMBLE: usize = 48;
/// Bytes of a checksum.
pub const CHECKSUM: usize = 8;
/// The place of the preamble's checksum.
const SUM: usize = PREAMBLE - CHECKSUM;

/// What the module keeps beside a filter: the content of the preamble.
#[derive(Clone, Copy)]
pub struct Settings {
    /// Distinct items that fit before the filter is full or grows.
    pub capacity: u64,
    /// The false-positive rate that the filter does not exceed.
    pub error_rate: f64,
    /// Half the copies of an item that a filter without growth accepts, or 0 for as many as its
    /// buckets hold.
    pub bucket_size: u8,
    /// Kept and shown, and otherwise without effect.
    pub max_iterations: u16,
    /// Kept and shown, but for 0: a filter that does not grow.
    pub expansion: u16,
    /// Items deleted since the filter was created.
    pub deleted: u64,
}

impl Settings {
    pub fn encode(&self) -> [u8; PREAMBLE] {
        let Self { capacity, error_rate, bucket_size, max_iterations, expansion, deleted } = self;
        let mut bytes = [0; PREAMBLE];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..10].copy_from_slice(&VERSION.to_le_bytes());
        bytes[10] = *bucket_size;
        bytes[12..14].copy_from_slice(&max_iterations.to_le_bytes());
        bytes[14..16].copy_from_slice(&expansion.to_le_bytes());
        bytes[16..24].copy_from_slice(&capacity.to_le_bytes());
        bytes[24..32].copy_from_slice(&error_rate.to_le_bytes());
        bytes[32..40].copy_from_slice(&deleted.to_le_bytes());
        let sum = checksum(0, &bytes[..SUM]);
        bytes[SUM..].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// Reads the preamble of a stream, validates each field, and returns what follows as well.
    pub fn decode(stream: &[u8]) -> Result<(Self, &[u8]), Error> {
        let (bytes, rest) = stream
            .split_first_chunk::<PREAMBLE>()
            .ok_or_else(|| Error::text("the first chunk is too short"))?;
        let number = |at: usize| u64::from_le_bytes(*bytes[at..].first_chunk().expect("8 bytes"));
        let short = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        if bytes[..8] != MAGIC {
            return Err(Error::text("the data is not that of a cuckoo filter"));
        }
        if short(8) != VERSION {
            let version = short(8);
            return Err(Error::text(format_args!(
                "the data is of version {version}, which is unknown"
            )));
        }
        if number(SUM) != checksum(0, &bytes[..SUM]) {
            return Err(Error::text("the data is damaged: checksum of the preamble"));
        }
        let settings = Self {
            capacity: number(16),
            error_rate: f64::from_bits(number(24)),
            bucket_size: bytes[10],
            max_iterations: short(12),
            expansion: short(14),
            deleted: number(32),
        };
        let valid = settings.capacity > 0
            && i64::try_from(settings.capacity.max(settings.deleted)).is_ok()
            && ERROR_RATES.contains(&settings.error_rate)
            && settings.max_iterations > 0
            && (settings.expansion == 0 || settings.expansion.is_power_of_two());
        let zeros = bytes[11] == 0 && bytes[40..SUM].iter().all(|&byte| byte == 0);
        if !valid || !zeros {
            return Err(Error::text("the data is damaged: settings"));
        }
        Ok((settings, rest))
    }
}

/// Returns a chunk with these bytes of the stream, the last of which is before the place `end`.
pub fn seal(mut bytes: Vec<u8>, end: u64) -> Vec<u8> {
    let sum = checksum(end, &bytes);
    bytes.extend(sum.to_le_bytes());
    bytes
}

/// Returns the place of a chunk's first byte in the stream, and its bytes. An error if the chunk is
/// damaged, or does not end at this place.
pub fn open(chunk: &[u8], end: u64) -> Result<(u64, &[u8]), Error> {
    let damaged =
        || Error::text("the chunk is damaged, or the iterator is not the one that it came with");
    let (bytes, sum) = chunk.split_last_chunk::<CHECKSUM>().ok_or_else(damaged)?;
    if u64::from_le_bytes(*sum) != checksum(end, bytes) {
        return Err(damaged());
    }
    let start = end.checked_sub(bytes.len() as u64).ok_or_else(damaged)?;
    Ok((start, bytes))
}

/// A checksum of bytes and of a number.
pub fn checksum(seed: u64, bytes: &[u8]) -> u64 {
    rapidhash_v3_seeded(bytes, &RapidSecrets::seed_cpp(seed))
}

/// [`checksum`] for the tests, which forge streams.
///
/// # Safety
/// The pointer leads to so many bytes.
#[cfg(feature = "panics")]
#[unsafe(no_mangle)]
unsafe extern "C" fn guira_checksum(seed: u64, bytes: *const u8, len: usize) -> u64 {
    // SAFETY: as the caller guarantees.
    checksum(seed, unsafe { std::slice::from_raw_parts(bytes, len) })
}

/// Bits of an iterator that hold a place in the stream, plus one. An iterator has at most 53 bits
/// in all, since some clients keep numbers as `f64`.
pub const PLACE_BITS: u32 = 40;
const PLACE: i64 = (1 << PLACE_BITS) - 1;

/// The iterator that comes with a chunk that ends before this place.
pub fn iterator(end: u64) -> i64 {
    end as i64 + 1
}

/// The place that an iterator holds, or `None` if it holds none.
pub fn place(iterator: i64) -> Option<u64> {
    u64::try_from((iterator & PLACE) - 1).ok()
}
