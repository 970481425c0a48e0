//! Memory while a snapshot is loaded: the bytes read so far and at most a megabyte more, whatever
//! its header says.

#![cfg(all(feature = "std", target_os = "linux"))]

mod common;

use std::io::Read;

use common::forge::{HEADER, amend_header};
use guira::{CuckooFilter, LoadError};

const MEGABYTE: usize = 1 << 20;

/// Returns the resident memory of this process in bytes.
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").expect("Linux provides it");
    let pages: usize = text.split(' ').nth(1).expect("a second field").parse().expect("a number");
    // SAFETY: `sysconf` has no preconditions.
    pages * usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).expect("a size")
}

/// A reader of a header and zeros, which measures the memory at every read.
struct Measuring {
    header: Vec<u8>,
    zeros: usize,
    /// Bytes returned so far.
    read: usize,
    /// Resident memory before loading.
    before: usize,
    /// Largest growth of the resident memory beyond the bytes returned.
    max_excess: usize,
}

impl Read for &mut Measuring {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let excess = resident().saturating_sub(self.before + self.read);
        self.max_excess = self.max_excess.max(excess);
        let read = if self.read < self.header.len() {
            (&self.header[self.read..]).read(buffer)?
        } else {
            let zeros = buffer.len().min(self.header.len() + self.zeros - self.read);
            buffer[..zeros].fill(0);
            zeros
        };
        self.read += read;
        Ok(read)
    }
}

#[test]
fn memory_grows_with_the_bytes_read() {
    let filter = CuckooFilter::with_capacity(1_000);
    // The first load allocates what later ones reuse, such as buffers of the allocator.
    CuckooFilter::from_bytes(&filter.to_bytes()).expect("a snapshot");
    for buckets in [1_u64 << 20, 1 << 28, 1 << 32] {
        for zeros in [0, 1, 100_000, 3 * MEGABYTE, 8 * MEGABYTE - 1] {
            let mut header = filter.to_bytes()[..HEADER].to_vec();
            header[16..24].copy_from_slice(&buckets.to_le_bytes());
            amend_header(&mut header);
            let before = resident();
            let mut reader = Measuring { header, zeros, read: 0, before, max_excess: 0 };
            match CuckooFilter::load(&mut reader) {
                Err(LoadError::Truncated { received, .. }) => {
                    assert_eq!(received, (HEADER + zeros) as u64);
                }
                // Some systems refuse this much address space.
                Err(LoadError::OutOfMemory { bytes, .. }) => assert_eq!(bytes, 8 * buckets),
                other => panic!("{other:?}"),
            }
            assert!(
                reader.max_excess < MEGABYTE,
                "{buckets} buckets, {zeros} bytes of them read: {} bytes more in memory",
                reader.max_excess
            );
        }
    }
}
