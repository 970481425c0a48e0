//! Memory while a snapshot is loaded: what has arrived and a megabyte, whatever its header says.

#![cfg(all(feature = "std", target_os = "linux"))]

mod common;

use std::io::Read;

use common::forge::{HEADER, amend_header};
use guira::{CuckooFilter, LoadError};

const MEGABYTE: usize = 1 << 20;

/// Bytes of this process in memory.
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").expect("Linux has it");
    let pages: usize = text.split(' ').nth(1).expect("a second field").parse().expect("a number");
    // SAFETY: it only asks.
    pages * usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).expect("a size")
}

/// A header, zeros, and an end; watches the memory at every read.
struct Watching {
    header: Vec<u8>,
    zeros: usize,
    given: usize,
    before: usize,
    most_beyond: usize,
}

impl Read for &mut Watching {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let beyond = resident().saturating_sub(self.before + self.given);
        self.most_beyond = self.most_beyond.max(beyond);
        let given = if self.given < self.header.len() {
            (&self.header[self.given..]).read(buffer)?
        } else {
            let zeros = buffer.len().min(self.header.len() + self.zeros - self.given);
            buffer[..zeros].fill(0);
            zeros
        };
        self.given += given;
        Ok(given)
    }
}

#[test]
fn memory_is_taken_as_bytes_arrive() {
    let filter = CuckooFilter::with_capacity(1_000);
    // Whatever is needed once: buffers, symbols.
    CuckooFilter::from_bytes(&filter.to_bytes()).expect("a snapshot");
    for buckets in [1_u64 << 20, 1 << 28, 1 << 32] {
        for zeros in [0, 1, 100_000, 3 * MEGABYTE, 8 * MEGABYTE - 1] {
            let mut header = filter.to_bytes()[..HEADER].to_vec();
            header[16..24].copy_from_slice(&buckets.to_le_bytes());
            amend_header(&mut header);
            let before = resident();
            let mut reader = Watching { header, zeros, given: 0, before, most_beyond: 0 };
            match CuckooFilter::load(&mut reader) {
                Err(LoadError::Truncated { received, .. }) => {
                    assert_eq!(received, (HEADER + zeros) as u64);
                }
                // So much address space is not to be had everywhere.
                Err(LoadError::OutOfMemory { bytes, .. }) => assert_eq!(bytes, 8 * buckets),
                other => panic!("{other:?}"),
            }
            assert!(
                reader.most_beyond < MEGABYTE,
                "{buckets} buckets, {zeros} bytes of them: {} bytes beyond",
                reader.most_beyond
            );
        }
    }
}
