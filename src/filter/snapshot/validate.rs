//! Reading a snapshot's buckets, and validating them: length, checksum, and every word.

use std::io::{self, Read};

use rapidhash::v3::{RapidSecrets, RapidStreamHasherV3};

use super::{
    LoadError,
    header::{HEADER, Header},
};
use crate::{
    bucket::{BucketLayout, Census, with_layout},
    table::{Addressing, Table, TableLoader},
};

/// Words that are validated together. They stay in a first-level cache.
const BLOCK: usize = 512;

/// Reads the buckets, which follow the header, and returns a table of them if they are valid.
pub(super) fn read_table(
    header: &Header,
    loader: Option<TableLoader>,
    reader: &mut impl Read,
) -> Result<Table, LoadError> {
    let mut loader = loader.ok_or_else(|| header.out_of_memory())?;
    let mut received = HEADER as u64;
    let (checksum, census) = with_layout!(header.layout, L => {
        read_words::<L>(reader, &mut loader, &mut received)
    })?;
    let mut expected = [0; 8];
    fill(reader, &mut expected, &mut received)?;
    if checksum != u64::from_le_bytes(expected) {
        return Err(LoadError::DamagedBuckets);
    }
    if census != (Census { occupied: header.items, valid: true }) {
        return Err(LoadError::InvalidBuckets);
    }
    let table = Table::loaded(Addressing::new(header.buckets), loader);
    table.ok_or_else(|| header.out_of_memory())
}

/// Reads the buckets. Returns their checksum and their census.
fn read_words<L: BucketLayout>(
    reader: &mut impl Read,
    loader: &mut TableLoader,
    received: &mut u64,
) -> Result<(u64, Census), LoadError> {
    let secrets = RapidSecrets::seed_cpp(0);
    let mut checksum = RapidStreamHasherV3::new(&secrets);
    let mut all = Census { occupied: 0, valid: true };
    let mut block = [0; BLOCK];
    while loader.is_incomplete() {
        // The checksum and the census read the bytes again while they are in a cache.
        loader.next(|chunk| {
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

/// Fills a buffer, or returns an error. If the bytes end, it tells how many there were.
pub(super) fn fill(
    reader: &mut impl Read,
    buffer: &mut [u8],
    received: &mut u64,
) -> Result<(), LoadError> {
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
