//! The checksums of a snapshot's words: one for each block, and one for all of these.

use alloc::{collections::TryReserveError, vec::Vec};

use bytemuck::cast_slice;
use rapidhash::v3::{RapidSecrets, rapidhash_v3_seeded};

use crate::table::LOADED_CHUNK;

/// Bytes of a full block of words.
pub(super) const BLOCK: usize = LOADED_CHUNK;
/// Words of a full block.
pub(super) const BLOCK_WORDS: usize = BLOCK / 8;

// The format fixes the size of a block.
const _: () = assert!(BLOCK == 64 << 10);

/// The checksums of the first blocks of words. Those of all blocks, and then the checksum of these,
/// are the table that follows the words.
pub(super) struct Checksums {
    /// The seed of the first block. That of each later block is higher by one.
    seed: u64,
    table: Vec<u64>,
}

impl Checksums {
    pub(super) fn new(seed: u64) -> Self {
        Self { seed, table: Vec::new() }
    }

    /// The checksums so far.
    pub(super) fn table(&self) -> &[u64] {
        &self.table
    }

    /// Reserves memory for the whole table of this many words.
    pub(super) fn try_reserve_for(&mut self, words: u64) -> Result<(), TryReserveError> {
        let missing = (table_len(words) / 8) as usize - self.table.len();
        self.table.try_reserve_exact(missing)
    }

    /// Adds the checksum of the next block.
    pub(super) fn add(&mut self, block: &[u8]) -> Result<(), TryReserveError> {
        self.table.try_reserve(2)?;
        let seed = self.seed.wrapping_add(self.table.len() as u64);
        self.table.push(checksum(seed, block));
        Ok(())
    }

    /// Completes the table, after the last block. There was at least one.
    pub(super) fn complete(&mut self) {
        let swap = |table: &mut [u64]| table.iter_mut().for_each(|word| *word = word.to_le());
        swap(&mut self.table);
        let last = checksum(self.seed, cast_slice(&self.table));
        swap(&mut self.table);
        self.table.push(last);
    }

    /// Forgets all checksums but the first ones.
    pub(super) fn truncate(&mut self, len: usize) {
        self.table.truncate(len);
    }
}

fn checksum(seed: u64, bytes: &[u8]) -> u64 {
    rapidhash_v3_seeded(bytes, &RapidSecrets::seed_cpp(seed))
}

/// The number of blocks of this many words.
pub(super) fn blocks(words: u64) -> usize {
    words.div_ceil(BLOCK_WORDS as u64) as usize
}

/// Bytes of the table of this many words.
pub(super) fn table_len(words: u64) -> u64 {
    8 * (blocks(words) as u64 + 1)
}
