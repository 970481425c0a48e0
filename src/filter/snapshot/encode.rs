//! From words to the bytes of a snapshot: all at once, or from any offset.

use alloc::{collections::TryReserveError, vec::Vec};
use core::ops::Range;
use std::io::{self, Write};

use bytemuck::cast_slice;

use super::{
    checksums::{BLOCK, BLOCK_WORDS, Checksums, blocks},
    header::{Header, LEN},
    validate::census,
};
use crate::table::Buckets;

/// The words of a filter, which nobody changes while they are encoded.
pub(crate) trait SavedWords {
    /// The number of words.
    fn len(&self) -> u64;

    /// As [`words`](Self::words), for one who goes over all words in order. Adds to `found` what
    /// must be known of these words to read the last ones: in a table that grows, the children of
    /// buckets that were split ahead of their turn.
    fn find_words<'a>(
        &'a self,
        from: u64,
        _found: &mut Vec<u32>,
        buffer: &'a mut [u64],
    ) -> Result<&'a [u64], TryReserveError> {
        Ok(self.words(from, &[], buffer))
    }

    /// Returns words from an index on, as many as the buffer has room for, given what was
    /// [found](Self::find_words) in all of them. They are either copied to the buffer and returned
    /// from there, or returned from where they are.
    fn words<'a>(&'a self, from: u64, ahead: &[u32], buffer: &'a mut [u64]) -> &'a [u64];
}

impl SavedWords for [u64] {
    fn len(&self) -> u64 {
        self.len() as u64
    }

    fn words<'a>(&'a self, from: u64, _ahead: &[u32], buffer: &'a mut [u64]) -> &'a [u64] {
        &self[from as usize..][..buffer.len()]
    }
}

impl SavedWords for Buckets {
    fn len(&self) -> u64 {
        self.len() as u64
    }

    fn words<'a>(&'a self, from: u64, _ahead: &[u32], buffer: &'a mut [u64]) -> &'a [u64] {
        self.copy_words_from(from as usize, buffer);
        buffer
    }
}

/// The bytes of a snapshot, which are made from the words when they are read.
///
/// It holds no words. Each call gets them, and they must be the same each time.
pub(super) struct Encoder {
    /// Its number of occupied slots is that in the blocks that were prepared.
    header: Header,
    /// The checksums of the blocks that were prepared.
    checksums: Checksums,
    /// What was found in them: see [`SavedWords::find_words`].
    ahead: Vec<u32>,
}

impl Encoder {
    /// Returns the encoder of a filter with this header. The first pass over the words is still to
    /// be made: see [`prepare`](Self::prepare).
    pub(super) fn new(header: Header) -> Self {
        let checksums = Checksums::new(Header::block_seed(&header.encode()));
        Self { header, checksums, ahead: Vec::new() }
    }

    /// Goes over the next `max_blocks` blocks: counts their occupied slots, and computes their
    /// checksums. Returns whether it has gone over all of them.
    ///
    /// The slots are counted here because the filter's own count may be of another moment, if there
    /// are writers.
    ///
    /// # Errors
    /// `InvalidInput` if the words are more or fewer than the header says; `OutOfMemory` if the
    /// system refuses the memory of a block and of all checksums.
    pub(super) fn prepare(
        &mut self,
        words: &(impl SavedWords + ?Sized),
        max_blocks: usize,
    ) -> io::Result<bool> {
        let Self { header: Header { form, occupied, .. }, checksums, ahead, .. } = self;
        if words.len() != form.words {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let (done, all) = (checksums.table().len(), blocks(form.words));
        if done > all {
            return Ok(true);
        }
        checksums.try_reserve_for(form.words)?;
        let mut buffer = zeros::<u64>(BLOCK_WORDS).ok_or(io::ErrorKind::OutOfMemory)?;
        let swapped = if cfg!(target_endian = "little") { 0 } else { BLOCK_WORDS };
        let mut swapped = zeros::<u64>(swapped).ok_or(io::ErrorKind::OutOfMemory)?;
        let numbers = form.numbers();
        for block in (done..all).take(max_blocks) {
            let from = (block * BLOCK_WORDS) as u64;
            let len = (form.words - from).min(BLOCK_WORDS as u64) as usize;
            let block = words.find_words(from, ahead, &mut buffer[..len])?;
            *occupied += census(form.layout, &numbers, from, block).occupied;
            if cfg!(target_endian = "little") {
                checksums.add(cast_slice(block))?;
            } else {
                swapped[..len].copy_from_slice(block);
                checksums.add(to_little_endian(&mut swapped[..len]))?;
            }
        }
        let complete = checksums.table().len() == all;
        if complete {
            checksums.complete();
        }
        Ok(complete)
    }

    /// The number of bytes.
    pub(super) fn len(&self) -> u64 {
        self.header.snapshot_len()
    }

    /// Writes all bytes, if all blocks were prepared.
    pub(super) fn write(
        &self,
        words: &(impl SavedWords + ?Sized),
        mut out: impl Write,
    ) -> io::Result<()> {
        let mut buffer = zeros(BLOCK).ok_or(io::ErrorKind::OutOfMemory)?;
        let mut offset = 0;
        loop {
            match self.read_at(words, offset, &mut buffer) {
                0 => return out.flush(),
                read => out.write_all(&buffer[..read])?,
            }
            offset += buffer.len() as u64;
        }
    }

    /// Copies bytes from an offset on. Returns their number, which is smaller than the buffer only
    /// at the end. It is zero if the words are more or fewer than the header says, or if there are
    /// blocks that were not prepared.
    pub(super) fn read_at(
        &self,
        words: &(impl SavedWords + ?Sized),
        offset: u64,
        buffer: &mut [u8],
    ) -> usize {
        let (form, table) = (&self.header.form, self.checksums.table());
        if table.len() <= blocks(form.words) || words.len() != form.words {
            return 0;
        }
        let words_start = LEN as u64;
        let table_start = words_start + self.header.word_bytes();
        let mut read = 0;
        // Copies what is wanted of one part, by a function of an offset in the part.
        let mut part = |place: Range<u64>, copy: &dyn Fn(u64, &mut [u8])| {
            let at = offset.saturating_add(read as u64);
            if place.contains(&at) {
                let some = (place.end - at).min((buffer.len() - read) as u64) as usize;
                copy(at - place.start, &mut buffer[read..read + some]);
                read += some;
            }
        };
        part(0..words_start, &|from, bytes| {
            bytes.copy_from_slice(&self.header.encode()[from as usize..][..bytes.len()]);
        });
        part(words_start..table_start, &|from, bytes| copy_words(words, &self.ahead, from, bytes));
        part(table_start..self.len(), &|from, bytes| copy_words(table, &[], from, bytes));
        read
    }
}

/// Converts words to little-endian, in place, and returns their bytes.
pub(super) fn to_little_endian(words: &mut [u64]) -> &[u8] {
    for word in words.iter_mut() {
        *word = word.to_le();
    }
    cast_slice(words)
}

/// Zeros, or `None` if the system refuses the memory.
pub(super) fn zeros<T: Copy + Default>(len: usize) -> Option<Vec<T>> {
    let mut zeros = Vec::new();
    zeros.try_reserve_exact(len).ok()?;
    zeros.resize(len, T::default());
    Some(zeros)
}

/// Copies bytes of words, from an offset on, given what was found in all of them.
pub(super) fn copy_words(
    words: &(impl SavedWords + ?Sized),
    ahead: &[u32],
    mut offset: u64,
    mut buffer: &mut [u8],
) {
    // Stays in a first-level cache.
    let mut part = [0; 512];
    while !buffer.is_empty() {
        let skipped = (offset % 8) as usize;
        let is_partial = skipped > 0 || buffer.len() < 8;
        let count = if is_partial { 1 } else { part.len().min(buffer.len() / 8) };
        let (now, later) = buffer.split_at_mut(buffer.len().min(8 * count - skipped));
        let copied = words.words(offset / 8, ahead, &mut part[..count]);
        if is_partial {
            now.copy_from_slice(&copied[0].to_le_bytes()[skipped..][..now.len()]);
        } else {
            for (bytes, word) in now.as_chunks_mut().0.iter_mut().zip(copied) {
                *bytes = word.to_le_bytes();
            }
        }
        offset += now.len() as u64;
        buffer = later;
    }
}
