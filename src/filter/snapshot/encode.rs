//! From words to the bytes of a snapshot: all at once, or from any offset.

use alloc::vec::Vec;
use std::io::{self, Write};

use rapidhash::v3::{RapidSecrets, rapidhash_v3_seeded};
use wide::bytemuck::cast_slice;

use super::header::{Header, PlannedSegment};
use crate::{
    bucket::{BucketLayout, with_layout},
    table::{Nesting, Table, TableLoader},
};

/// Bytes of a full block of words. A checksum follows each block.
const BLOCK: usize = TableLoader::CHUNK;
/// Words of a full block.
const BLOCK_WORDS: usize = BLOCK / 8;
/// Bytes of a checksum.
pub(super) const CHECKSUM: usize = 8;

// The format fixes the size of a block.
const _: () = assert!(BLOCK == 64 << 10);

/// The words of a segment, which nobody changes while they are encoded.
pub(crate) trait Words {
    /// The number of words.
    fn len(&self) -> usize;

    /// Returns words from an index on, as many as the buffer has. It may hold them afterwards.
    fn words<'a>(&'a self, from: usize, buffer: &'a mut [u64]) -> &'a [u64];
}

impl Words for Vec<u64> {
    fn len(&self) -> usize {
        self.len()
    }

    fn words<'a>(&'a self, from: usize, buffer: &'a mut [u64]) -> &'a [u64] {
        &self[from..from + buffer.len()]
    }
}

impl<N: Nesting> Words for &Table<N> {
    fn len(&self) -> usize {
        self.addressing().buckets() as usize
    }

    fn words<'a>(&'a self, from: usize, buffer: &'a mut [u64]) -> &'a [u64] {
        self.copy_words_from(from, buffer);
        buffer
    }
}

/// The checksum of a block, given the one before it: see [`Header::block_seed`] for the first.
///
/// So a block is accepted only after those that preceded it when the snapshot was made.
pub(super) fn block_checksum(before: u64, bytes: &[u8]) -> u64 {
    rapidhash_v3_seeded(bytes, &RapidSecrets::seed_cpp(before))
}

/// The bytes of a snapshot, which are made from the words when they are read.
pub(super) struct Encoder<W> {
    header: Vec<u8>,
    segments: Vec<W>,
    /// The checksums of all blocks.
    checksums: Vec<u64>,
}

impl<W: Words> Encoder<W> {
    /// Prepares a snapshot of these segments. The items in the header are counted here: beside
    /// writers, the filter's own count may be of another moment.
    ///
    /// `None` if the system refuses the memory: that of a block and of all checksums.
    pub(super) fn new(mut header: Header, segments: Vec<W>) -> Option<Self> {
        let mut checksums = Vec::new();
        checksums.try_reserve_exact(segments.iter().map(|words| blocks(words.len())).sum()).ok()?;
        let mut buffer = zeros::<u64>(BLOCK_WORDS)?;
        header.items = vec![0; segments.len()];
        let mut checksum = Header::block_seed(&header.encode());
        for (words, number) in segments.iter().zip(0..) {
            let PlannedSegment { layout, .. } = header.form.plan[number];
            for from in (0..words.len()).step_by(BLOCK_WORDS) {
                let block = words.words(from, &mut buffer[..BLOCK_WORDS.min(words.len() - from)]);
                header.items[number] += with_layout!(layout, L => L::census(block).occupied);
                checksum = if cfg!(target_endian = "little") {
                    block_checksum(checksum, cast_slice(block))
                } else {
                    let block: Vec<u64> = block.iter().map(|word| word.to_le()).collect();
                    block_checksum(checksum, cast_slice(&block))
                };
                checksums.push(checksum);
            }
        }
        Some(Self { header: header.encode(), segments, checksums })
    }

    /// The number of bytes.
    pub(super) fn len(&self) -> u64 {
        let words: u64 = self.segments.iter().map(|words| encoded_len(words.len() as u64)).sum();
        self.header.len() as u64 + words
    }

    /// Writes all bytes.
    pub(super) fn write(&self, mut out: impl Write) -> io::Result<()> {
        let mut buffer = zeros(BLOCK).ok_or(io::ErrorKind::OutOfMemory)?;
        let mut offset = 0;
        loop {
            match self.read_at(offset, &mut buffer) {
                0 => return out.flush(),
                read => out.write_all(&buffer[..read])?,
            }
            offset += buffer.len() as u64;
        }
    }

    /// Copies bytes from an offset on. Returns their number, which is smaller than the buffer only
    /// at the end.
    pub(super) fn read_at(&self, offset: u64, buffer: &mut [u8]) -> usize {
        let mut read = 0;
        while let Some(rest) = buffer.get_mut(read..).filter(|rest| !rest.is_empty()) {
            match offset.checked_add(read as u64).map_or(0, |offset| self.read_part(offset, rest)) {
                0 => break,
                more => read += more,
            }
        }
        read
    }

    /// Copies one part of the bytes from an offset on: of the header, of words, or of a checksum.
    fn read_part(&self, offset: u64, buffer: &mut [u8]) -> usize {
        let Some(mut offset) = offset.checked_sub(self.header.len() as u64) else {
            return copy(&self.header[offset as usize..], buffer);
        };
        let mut first_block = 0;
        for words in &self.segments {
            let len = encoded_len(words.len() as u64);
            if offset >= len {
                offset -= len;
                first_block += blocks(words.len());
                continue;
            }
            let block = offset as usize / (BLOCK + CHECKSUM);
            let within = offset as usize % (BLOCK + CHECKSUM);
            let from = block * BLOCK_WORDS;
            let bytes = 8 * BLOCK_WORDS.min(words.len() - from);
            return match within.checked_sub(bytes) {
                None => {
                    let len = buffer.len().min(bytes - within);
                    copy_words(words, 8 * from + within, &mut buffer[..len])
                }
                Some(at) => copy(&self.checksums[first_block + block].to_le_bytes()[at..], buffer),
            };
        }
        0
    }
}

/// The number of blocks of this many words.
fn blocks(words: usize) -> usize {
    words.div_ceil(BLOCK_WORDS)
}

/// Bytes of this many words and of the checksums of their blocks.
pub(super) fn encoded_len(words: u64) -> u64 {
    8 * words + CHECKSUM as u64 * words.div_ceil(BLOCK_WORDS as u64)
}

/// Zeros, or `None` if the system refuses the memory.
fn zeros<T: Copy + Default>(len: usize) -> Option<Vec<T>> {
    let mut zeros = Vec::new();
    zeros.try_reserve_exact(len).ok()?;
    zeros.resize(len, T::default());
    Some(zeros)
}

/// Copies as many bytes as there are and fit. Returns their number.
fn copy(from: &[u8], to: &mut [u8]) -> usize {
    let len = from.len().min(to.len());
    to[..len].copy_from_slice(&from[..len]);
    len
}

/// Copies bytes of words: a part of one word, or as many whole ones as fit. Returns their number.
fn copy_words(words: &impl Words, offset: usize, buffer: &mut [u8]) -> usize {
    // Stays in a first-level cache.
    let mut part = [0; 512];
    let (from, skipped) = (offset / 8, offset % 8);
    if skipped > 0 || buffer.len() < 8 {
        let word = words.words(from, &mut part[..1])[0];
        return copy(&word.to_le_bytes()[skipped..], buffer);
    }
    let chunks = buffer.as_chunks_mut().0;
    for (nth, chunks) in chunks.chunks_mut(part.len()).enumerate() {
        let words = words.words(from + nth * 512, &mut part[..chunks.len()]);
        for (bytes, word) in chunks.iter_mut().zip(words) {
            *bytes = word.to_le_bytes();
        }
    }
    8 * chunks.len()
}
