//! The header of a snapshot: its fields, their encoding, and their validation.

use core::{hash::BuildHasher, num::NonZero};
use std::io::Read;

use rapidhash::v3::rapidhash_v3;

use super::{LoadError, validate::fill};
use crate::{Layout, table::MAX_BUCKETS};

const MAGIC: [u8; 8] = *b"guira cf";
const VERSION: u32 = 1;
/// Bytes of the header.
pub(super) const HEADER: usize = 64;
/// Bytes of the header that its own checksum, the last field, covers.
const CHECKED: usize = 56;
/// Bytes of a snapshot besides its buckets: the header, and the checksum of the buckets.
pub(super) const OVERHEAD: usize = HEADER + 8;

/// A filter without its buckets and its hasher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) layout: Layout,
    /// The limit on copies of an item, if it is lower than the slots of two buckets.
    pub(super) max_copies: Option<NonZero<u8>>,
    pub(super) buckets: u64,
    pub(super) seed: u64,
    pub(super) capacity: u64,
    pub(super) items: u64,
    pub(super) hasher_check: u64,
}

/// Identifies a hasher and its release by its hashes of integers of every width and of texts of
/// many lengths, since hashers treat each of these in a way of its own.
///
/// For each hash in turn, the result so far is rotated left by one bit and combined with the hash
/// by XOR.
pub(super) fn hasher_check(hasher: &impl BuildHasher) -> u64 {
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
        // Slices are hashed as they are in memory, so this hash depends on the byte order.
        hasher.hash_one([NUMBER as u16, 1]),
    ];
    let lengths =
        (0..=64).chain([100, 127, 128, 129, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025]);
    let texts = lengths.map(|length| hasher.hash_one(&text[..length]));
    integers.into_iter().chain(texts).fold(0, |check: u64, hash| check.rotate_left(1) ^ hash)
}

impl Header {
    /// Validates the length of a snapshot that is in memory as a whole, before its buckets are
    /// read.
    pub(super) fn check_length(&self, received: usize) -> Result<(), LoadError> {
        let (received, expected) = (received as u64, OVERHEAD as u64 + 8 * self.buckets);
        match received.checked_sub(expected) {
            None => Err(LoadError::Truncated { received }),
            Some(0) => Ok(()),
            Some(more) => Err(LoadError::TrailingBytes { more }),
        }
    }

    /// The error of a system that refuses the memory for the buckets.
    pub(super) fn out_of_memory(&self) -> LoadError {
        LoadError::OutOfMemory { bytes: 8 * self.buckets }
    }

    /// Reads and validates a header.
    pub(super) fn read(bytes: &mut impl Read) -> Result<Self, LoadError> {
        let mut header = [0; HEADER];
        fill(bytes, &mut header, &mut 0)?;
        Self::decode(&header)
    }

    /// The bytes of the header.
    pub(super) fn encode(&self) -> [u8; HEADER] {
        let family = u8::from(self.layout.is_semi_sorted());
        let mut bytes = [0; HEADER];
        let fields: [&[u8]; 8] = [
            &MAGIC,
            &VERSION.to_le_bytes(),
            &[
                family,
                self.layout.slots_per_bucket() as u8,
                self.layout.fingerprint_bits() as u8,
                self.max_copies.map_or(0, NonZero::get),
            ],
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

    /// Validates a header: magic, version, checksum, then every field.
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
        let [family, slots, bits, max_copies] = bytes[12..16] else { unreachable!("4 bytes") };
        let layout = Layout::ALL.iter().copied().find(|layout| {
            (
                u8::from(layout.is_semi_sorted()),
                layout.slots_per_bucket(),
                layout.fingerprint_bits(),
            ) == (family, slots.into(), bits.into())
        });
        let layout = layout.ok_or(LoadError::UnknownLayout { family, slots, bits })?;
        let header = Self {
            layout,
            max_copies: NonZero::new(max_copies),
            buckets: number(16),
            seed: number(24),
            capacity: number(32),
            items: number(40),
            hasher_check: number(48),
        };
        let field = |name, value| Err(LoadError::InvalidField { name, value });
        let slots = header.buckets.checked_mul(layout.slots_per_bucket().into());
        match header {
            _ if u32::from(max_copies) >= 2 * layout.slots_per_bucket() => {
                field("copies", max_copies.into())
            }
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
