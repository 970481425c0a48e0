//! Snapshots: a filter as bytes, and back.
//!
//! The format stands in [`docs::snapshots`](crate::docs::snapshots).

use core::hash::BuildHasher;
use std::io::{self, Read, Write};

use rapidhash::v3::{RapidSecrets, RapidStreamHasherV3, rapidhash_v3};

use crate::{
    Layout, LoadError,
    geometry::{Geometry, MAX_BUCKETS},
    hasher::mixing_seed,
    shared::Core,
    table::Arriving,
    word::{Census, WordLayout, with_layout},
};

const MAGIC: [u8; 8] = *b"guira cf";
const VERSION: u32 = 1;
/// Bytes of the header.
const HEADER: usize = 64;
/// Bytes of the header before its own checksum.
const CHECKED: usize = 56;
/// Bytes that are written at a time; they stay in a second-level cache.
const CHUNK: usize = 64 << 10;
/// Words that are looked at together; they stay in a first-level cache.
pub(crate) const BLOCK: usize = 512;

/// A filter without its buckets and its hasher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) layout: Layout,
    pub(crate) buckets: u64,
    pub(crate) seed: u64,
    pub(crate) capacity: u64,
    pub(crate) items: u64,
    pub(crate) hasher_check: u64,
}

/// What tells one hasher from another, or one release of it from the next: what it makes of integers of
/// every width and of texts of many lengths, since hashers have ways of their own for each.
///
/// Every hash is combined by XOR with what came before, rotated left by one bit.
pub(crate) fn hasher_check(hasher: &impl BuildHasher) -> u64 {
    const NUMBER: u64 = 0x0123_4567_89ab_cdef;
    // 1 026 bytes.
    let text = "guira ".repeat(171);
    let integers = [
        hasher.hash_one(NUMBER as u8),
        hasher.hash_one(NUMBER as u16),
        hasher.hash_one(NUMBER as u32),
        hasher.hash_one(NUMBER),
        hasher.hash_one(u128::from(NUMBER)),
        hasher.hash_one((NUMBER, NUMBER as usize as u32 as usize)),
        // Slices are hashed as they lie in memory: this one differs where the byte order does.
        hasher.hash_one([NUMBER as u16, 1]),
    ];
    let lengths =
        (0..=64).chain([100, 127, 128, 129, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025]);
    let texts = lengths.map(|length| hasher.hash_one(&text[..length]));
    integers.into_iter().chain(texts).fold(0, |check: u64, hash| check.rotate_left(1) ^ hash)
}

impl Header {
    /// Says what is wrong with a whole snapshot of so many bytes, before its buckets are read.
    pub(crate) fn check_length(&self, received: usize) -> Result<(), LoadError> {
        let (received, expected) = (received as u64, HEADER as u64 + 8 * self.buckets + 8);
        match received.checked_sub(expected) {
            None => Err(LoadError::Truncated { received }),
            Some(0) => Ok(()),
            Some(more) => Err(LoadError::TrailingBytes { more }),
        }
    }

    /// The error of a system that has no memory for the buckets.
    pub(crate) fn out_of_memory(&self) -> LoadError {
        LoadError::OutOfMemory { bytes: 8 * self.buckets }
    }

    /// Reads the header, and checks it.
    pub(crate) fn read(bytes: &mut impl Read) -> Result<Self, LoadError> {
        let mut header = [0; HEADER];
        fill(bytes, &mut header, &mut 0)?;
        Self::decode(&header)
    }

    fn encode(&self) -> [u8; HEADER] {
        let family = u8::from(self.layout.is_semi_sorted());
        let mut bytes = [0; HEADER];
        let fields: [&[u8]; 8] = [
            &MAGIC,
            &VERSION.to_le_bytes(),
            &[family, self.layout.lanes() as u8, self.layout.bits() as u8, 0],
            &self.buckets.to_le_bytes(),
            &self.seed.to_le_bytes(),
            &self.capacity.to_le_bytes(),
            &self.items.to_le_bytes(),
            &self.hasher_check.to_le_bytes(),
        ];
        let mut at = 0;
        for field in fields {
            bytes[at..at + field.len()].copy_from_slice(field);
            at += field.len();
        }
        let checksum = rapidhash_v3(&bytes[..CHECKED]);
        bytes[CHECKED..].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    fn decode(bytes: &[u8; HEADER]) -> Result<Self, LoadError> {
        let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("8 bytes"));
        if bytes[..8] != MAGIC {
            return Err(LoadError::NotASnapshot);
        }
        let version = u32::from_le_bytes(bytes[8..12].try_into().expect("4 bytes"));
        if version != VERSION {
            return Err(LoadError::UnknownVersion(version));
        }
        if number(CHECKED) != rapidhash_v3(&bytes[..CHECKED]) {
            return Err(LoadError::DamagedHeader);
        }
        let [family, lanes, bits, zero] = bytes[12..16] else { unreachable!("4 bytes") };
        let layout = Layout::ALL.iter().copied().find(|layout| {
            (u8::from(layout.is_semi_sorted()), layout.lanes(), layout.bits())
                == (family, lanes.into(), bits.into())
        });
        let layout = layout.ok_or(LoadError::UnknownLayout { family, lanes, bits })?;
        let header = Self {
            layout,
            buckets: number(16),
            seed: number(24),
            capacity: number(32),
            items: number(40),
            hasher_check: number(48),
        };
        let field = |name, value| Err(LoadError::InvalidField { name, value });
        let slots = header.buckets.checked_mul(layout.lanes().into());
        match header {
            _ if zero != 0 => field("reserved byte", zero.into()),
            Self { buckets, .. } if !(1..=MAX_BUCKETS).contains(&buckets) => {
                field("buckets", buckets)
            }
            Self { capacity, .. } if capacity == 0 || Some(capacity) > slots => {
                field("capacity", capacity)
            }
            Self { items, .. } if Some(items) > slots => field("items", items),
            header => Ok(header),
        }
    }
}

/// Writes a snapshot with these buckets.
pub(crate) fn write(header: &Header, words: &[u64], mut out: impl Write) -> io::Result<()> {
    out.write_all(&header.encode())?;
    let secrets = RapidSecrets::seed_cpp(0);
    let mut checksum = RapidStreamHasherV3::new(&secrets);
    let mut chunk = vec![0; CHUNK];
    for words in words.chunks(CHUNK / 8) {
        let chunk = &mut chunk[..8 * words.len()];
        for (bytes, word) in chunk.as_chunks_mut().0.iter_mut().zip(words) {
            *bytes = word.to_le_bytes();
        }
        checksum.write(chunk);
        out.write_all(chunk)?;
    }
    out.write_all(&checksum.finish().to_le_bytes())?;
    out.flush()
}

/// Reads the buckets, which follow the header, into a table.
pub(crate) fn read_core(
    header: &Header,
    table: Option<Arriving>,
    reader: &mut impl Read,
) -> Result<Core, LoadError> {
    let mut table = table.ok_or_else(|| header.out_of_memory())?;
    let mut received = HEADER as u64;
    let (checksum, census) = with_layout!(header.layout, L => {
        read_words::<L>(reader, &mut table, &mut received)
    })?;
    let mut expected = [0; 8];
    fill(reader, &mut expected, &mut received)?;
    if checksum != u64::from_le_bytes(expected) {
        return Err(LoadError::DamagedBuckets);
    }
    if census != (Census { occupied: header.items, valid: true }) {
        return Err(LoadError::InvalidBuckets);
    }
    let geometry = Geometry::new(header.buckets, mixing_seed(header.seed));
    Ok(Core::with_table(geometry, table.finish()))
}

/// Reads the buckets into a table. Returns their checksum, and what they are as words.
fn read_words<L: WordLayout>(
    reader: &mut impl Read,
    table: &mut Arriving,
    received: &mut u64,
) -> Result<(u64, Census), LoadError> {
    let secrets = RapidSecrets::seed_cpp(0);
    let mut checksum = RapidStreamHasherV3::new(&secrets);
    let mut all = Census { occupied: 0, valid: true };
    let mut block = [0; BLOCK];
    while table.is_incomplete() {
        // What has come is looked at twice more while it is in a cache.
        table.next(|chunk| {
            fill(reader, chunk, received)?;
            checksum.write(chunk);
            for bytes in chunk.chunks(8 * BLOCK) {
                let words = &mut block[..bytes.len() / 8];
                for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
                    *word = u64::from_le_bytes(*bytes);
                }
                let census = L::census(words);
                all.occupied += census.occupied;
                all.valid &= census.valid;
            }
            Ok::<_, LoadError>(())
        })?;
    }
    Ok((checksum.finish(), all))
}

/// Fills a buffer, or says how much of the snapshot there was.
fn fill(reader: &mut impl Read, buffer: &mut [u8], received: &mut u64) -> Result<(), LoadError> {
    let mut filled = 0;
    while filled < buffer.len() {
        match reader.read(&mut buffer[filled..]) {
            Ok(0) => return Err(LoadError::Truncated { received: *received }),
            Ok(more) => {
                filled += more;
                *received += more as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(LoadError::Io(error)),
        }
    }
    Ok(())
}
