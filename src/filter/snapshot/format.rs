//! Writing a snapshot: the header, the buckets, and a checksum of the buckets.
//!
//! [`docs::snapshots`](crate::docs::snapshots) describes the format.

use std::io::{self, Write};

use rapidhash::v3::{RapidSecrets, RapidStreamHasherV3};

use super::header::Header;

/// Bytes that are written at a time. They stay in a second-level cache.
const CHUNK: usize = 64 << 10;

/// Writes a snapshot with these buckets.
pub(super) fn write(header: &Header, words: &[u64], mut out: impl Write) -> io::Result<()> {
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
