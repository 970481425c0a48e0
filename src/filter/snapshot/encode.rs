//! From words to the bytes of a snapshot: all at once, or from any offset.

use alloc::vec::Vec;
use core::iter;
use std::io::{self, Write};

use rapidhash::v3::{RapidSecrets, rapidhash_v3_seeded};
use wide::bytemuck::cast_slice;

use super::{
    header::{Header, HeaderBytes, PlannedSegment},
    validate::census,
};
use crate::table::{Buckets, TableLoader};

/// Bytes of a full block of words. A checksum follows each block.
const BLOCK: usize = TableLoader::CHUNK;
/// Words of a full block.
pub(super) const BLOCK_WORDS: usize = BLOCK / 8;
/// Bytes of a checksum.
pub(super) const CHECKSUM: usize = 8;

// The format fixes the size of a block.
const _: () = assert!(BLOCK == 64 << 10);

/// The words of a segment, which nobody changes while they are encoded.
pub(crate) trait Words: Copy {
    /// The number of words.
    fn len(self) -> usize;

    /// Returns words from an index on, as many as the buffer has room for. They are either copied
    /// to the buffer and returned from there, or returned from where they are.
    fn words<'a>(self, from: usize, buffer: &'a mut [u64]) -> &'a [u64]
    where
        Self: 'a;
}

impl Words for &[u64] {
    fn len(self) -> usize {
        self.len()
    }

    fn words<'a>(self, from: usize, buffer: &'a mut [u64]) -> &'a [u64]
    where
        Self: 'a,
    {
        &self[from..from + buffer.len()]
    }
}

impl Words for &Buckets {
    fn len(self) -> usize {
        self.len()
    }

    fn words<'a>(self, from: usize, buffer: &'a mut [u64]) -> &'a [u64]
    where
        Self: 'a,
    {
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
///
/// It holds no words. Each call gets those of all segments, which must be the same each time.
pub(super) struct Encoder {
    /// Its numbers of items are those in the blocks that were prepared.
    header: Header,
    /// The bytes of the header. They are final once all blocks were prepared.
    header_bytes: HeaderBytes,
    /// The checksums of the blocks that were prepared.
    checksums: Vec<u64>,
}

impl Encoder {
    /// Returns the encoder of a filter with this many segments. The first pass over the words is
    /// still to be made: see [`prepare`](Self::prepare).
    pub(super) fn new(mut header: Header, segments: usize) -> Self {
        header.items = iter::repeat_n(0, segments).collect();
        Self { header_bytes: header.encode(), header, checksums: Vec::new() }
    }

    /// Goes over the next `max_blocks` blocks: counts their items, and computes their checksums.
    /// Returns whether it has gone over all of them.
    ///
    /// The items are counted here because the filter's own count may be of another moment, if there
    /// are writers.
    ///
    /// # Errors
    /// `InvalidInput` if the segments are not those of the header; `OutOfMemory` if the system
    /// refuses the memory of a block and of all checksums.
    pub(super) fn prepare<W: Words>(
        &mut self,
        segments: impl Iterator<Item = W> + Clone,
        max_blocks: usize,
    ) -> io::Result<bool> {
        if !self.describes(segments.clone()) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let (done, missing) = (self.checksums.len(), self.blocks() - self.checksums.len());
        self.checksums.try_reserve_exact(missing)?;
        let mut buffer = zeros::<u64>(BLOCK_WORDS).ok_or(io::ErrorKind::OutOfMemory)?;
        let swapped = if cfg!(target_endian = "little") { 0 } else { BLOCK_WORDS };
        let mut swapped = zeros::<u64>(swapped).ok_or(io::ErrorKind::OutOfMemory)?;
        let mut checksum = match self.checksums.last() {
            Some(&last) => last,
            None => Header::block_seed(&self.header_bytes),
        };
        let of_segment = |(words, number): (W, usize)| {
            blocks(words.len()).map(move |(from, len)| (words, number, from, len))
        };
        let blocks = segments.zip(0..).flat_map(of_segment);
        for (words, number, from, len) in blocks.skip(done).take(max_blocks) {
            let PlannedSegment { layout, .. } = self.header.form.plan[number];
            let block = words.words(from, &mut buffer[..len]);
            self.header.items[number] += census(layout, block).occupied;
            checksum = if cfg!(target_endian = "little") {
                block_checksum(checksum, cast_slice(block))
            } else {
                swapped[..len].copy_from_slice(block);
                block_checksum(checksum, to_little_endian(&mut swapped[..len]))
            };
            self.checksums.push(checksum);
        }
        let complete = self.is_prepared();
        if complete {
            self.header_bytes = self.header.encode();
        }
        Ok(complete)
    }

    /// Returns whether all blocks were prepared.
    fn is_prepared(&self) -> bool {
        self.checksums.len() == self.blocks()
    }

    /// Returns whether the header describes segments of this many words.
    fn describes<W: Words>(&self, segments: impl Iterator<Item = W>) -> bool {
        let described = self.header.segments().map(|(segment, _)| segment.buckets);
        segments.map(|words| words.len() as u64).eq(described)
    }

    /// The number of blocks.
    fn blocks(&self) -> usize {
        self.header.segments().map(|(segment, _)| blocks(segment.buckets as usize).len()).sum()
    }

    /// The number of bytes.
    pub(super) fn len(&self) -> u64 {
        let words: u64 = self.header.segments().map(|(s, _)| encoded_len(s.buckets)).sum();
        self.header_bytes.len() as u64 + words
    }

    /// Writes all bytes, if all blocks were prepared.
    pub(super) fn write<W: Words>(
        &self,
        segments: &(impl Iterator<Item = W> + Clone),
        mut out: impl Write,
    ) -> io::Result<()> {
        let mut buffer = zeros(BLOCK).ok_or(io::ErrorKind::OutOfMemory)?;
        let mut offset = 0;
        loop {
            match self.read_at(segments, offset, &mut buffer) {
                0 => return out.flush(),
                read => out.write_all(&buffer[..read])?,
            }
            offset += buffer.len() as u64;
        }
    }

    /// Copies bytes from an offset on. Returns their number, which is smaller than the buffer only
    /// at the end. It is zero if the segments are not those of the header, or if there are blocks
    /// that were not prepared.
    pub(super) fn read_at<W: Words>(
        &self,
        segments: &(impl Iterator<Item = W> + Clone),
        offset: u64,
        buffer: &mut [u8],
    ) -> usize {
        if !self.is_prepared() || !self.describes(segments.clone()) {
            return 0;
        }
        let mut read = 0;
        while let Some(rest) = buffer.get_mut(read..).filter(|rest| !rest.is_empty()) {
            let offset = offset.checked_add(read as u64);
            match offset.map_or(0, |offset| self.read_part(segments.clone(), offset, rest)) {
                0 => break,
                more => read += more,
            }
        }
        read
    }

    /// Copies one part of the bytes from an offset on: of the header, of words, or of a checksum.
    fn read_part<W: Words>(
        &self,
        segments: impl Iterator<Item = W>,
        offset: u64,
        buffer: &mut [u8],
    ) -> usize {
        let Some(mut offset) = offset.checked_sub(self.header_bytes.len() as u64) else {
            return copy(&self.header_bytes[offset as usize..], buffer);
        };
        let mut first_block = 0;
        for words in segments {
            let len = encoded_len(words.len() as u64);
            if offset >= len {
                offset -= len;
                first_block += blocks(words.len()).len();
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

/// Divides this many words into blocks: returns the index of the first word of each block, and the
/// number of its words.
pub(super) fn blocks(words: usize) -> impl ExactSizeIterator<Item = (usize, usize)> {
    (0..words).step_by(BLOCK_WORDS).map(move |from| (from, BLOCK_WORDS.min(words - from)))
}

/// Converts words to little-endian, in place, and returns their bytes.
pub(super) fn to_little_endian(words: &mut [u64]) -> &[u8] {
    for word in words.iter_mut() {
        *word = word.to_le();
    }
    cast_slice(words)
}

/// Bytes of this many words and of the checksums of their blocks.
pub(super) fn encoded_len(words: u64) -> u64 {
    8 * words + CHECKSUM as u64 * words.div_ceil(BLOCK_WORDS as u64)
}

/// Zeros, or `None` if the system refuses the memory.
pub(super) fn zeros<T: Copy + Default>(len: usize) -> Option<Vec<T>> {
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
fn copy_words(words: impl Words, offset: usize, buffer: &mut [u8]) -> usize {
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
