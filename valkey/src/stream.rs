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

/// The settings of a filter, as `CF.RESERVE` takes them and `CF.INFO` shows them.
#[derive(Clone, Copy, Debug, PartialEq)]
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
    /// The growth factor, or 0 for a filter that does not grow.
    pub expansion: u16,
}

/// The start of a stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Preamble {
    /// The settings.
    pub settings: Settings,
    /// Items deleted since the filter was created.
    pub deleted: u64,
}

impl Preamble {
    /// The bytes.
    pub fn encode(&self) -> [u8; PREAMBLE] {
        let Self { settings, deleted } = self;
        let Settings { capacity, error_rate, bucket_size, max_iterations, expansion } = settings;
        let mut bytes = [0; PREAMBLE];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..10].copy_from_slice(&VERSION.to_le_bytes());
        bytes[10] = *bucket_size;
        bytes[12..14].copy_from_slice(&max_iterations.to_le_bytes());
        bytes[14..16].copy_from_slice(&expansion.to_le_bytes());
        let numbers = [*capacity, error_rate.to_bits(), *deleted];
        for (place, number) in bytes[16..40].as_chunks_mut::<8>().0.iter_mut().zip(numbers) {
            *place = number.to_le_bytes();
        }
        let sum = checksum(0, &bytes[..PREAMBLE - CHECKSUM]);
        bytes[PREAMBLE - CHECKSUM..].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// Reads a preamble, and validates each field.
    ///
    /// # Errors
    /// What is wrong.
    pub fn decode(bytes: &[u8; PREAMBLE]) -> Result<Self, Error> {
        let number = |at: usize| u64::from_le_bytes(*bytes[at..].first_chunk().expect("8 bytes"));
        let short = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        if bytes[..8] != MAGIC {
            return Err(Error::text("the data is not that of a cuckoo filter"));
        }
        if short(8) != VERSION {
            let text = format!("the data is of version {}, which is unknown", short(8));
            return Err(Error::text(text));
        }
        if number(PREAMBLE - CHECKSUM) != checksum(0, &bytes[..PREAMBLE - CHECKSUM]) {
            return Err(Error::text("the data is damaged: checksum of the preamble"));
        }
        let settings = Settings {
            capacity: number(16),
            error_rate: f64::from_bits(number(24)),
            bucket_size: bytes[10],
            max_iterations: short(12),
            expansion: short(14),
        };
        let valid = settings.capacity > 0
            && i64::try_from(settings.capacity.max(number(32))).is_ok()
            && ERROR_RATES.contains(&settings.error_rate)
            && settings.max_iterations > 0
            && (settings.expansion == 0 || settings.expansion.is_power_of_two());
        let zeros = bytes[11] == 0 && bytes[40..PREAMBLE - CHECKSUM].iter().all(|&byte| byte == 0);
        if !valid || !zeros {
            return Err(Error::text("the data is damaged: settings"));
        }
        Ok(Self { settings, deleted: number(32) })
    }
}

/// Returns a chunk with these bytes of the stream, the last of which is before the place `end`.
pub fn seal(mut bytes: Vec<u8>, end: u64) -> Vec<u8> {
    let sum = checksum(end, &bytes);
    bytes.extend(sum.to_le_bytes());
    bytes
}

/// Returns the place of a chunk's first byte in the stream, and its bytes.
///
/// # Errors
/// If the chunk is damaged, or does not end at this place.
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
