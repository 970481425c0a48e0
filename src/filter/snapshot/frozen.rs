//! A frozen copy of a filter.

use core::fmt;
use std::io::{self, Read, Write};

use super::{encode::Encoder, header::Header};

/// A frozen copy of a filter, from which the bytes of its snapshot are read:
/// [`Filter::snapshot`](crate::Filter::snapshot).
///
/// [`Read`] reads them in order. [`read_at`](Self::read_at) reads from any offset, from any number
/// of threads, for example to send only what a receiver lacks.
///
/// ```
/// use guira::CuckooFilter;
///
/// let snapshot = CuckooFilter::with_capacity(1_000).snapshot().unwrap();
/// assert_eq!(CuckooFilter::loader().reader(snapshot).unwrap().capacity(), 1_000);
/// ```
pub struct Snapshot {
    encoder: Encoder,
    words: Vec<u64>,
    /// The offset at which [`Read`] goes on.
    position: u64,
}

#[expect(clippy::len_without_is_empty, reason = "no snapshot is empty")]
impl Snapshot {
    /// Returns the snapshot with this header and these words.
    ///
    /// # Errors
    /// If the system refuses the memory of a block and of all checksums.
    pub(super) fn new(header: Header, words: Vec<u64>) -> io::Result<Self> {
        let mut encoder = Encoder::new(header);
        encoder.prepare(&words[..], usize::MAX)?;
        Ok(Self { encoder, words, position: 0 })
    }

    /// Writes all bytes.
    pub(super) fn write(&self, writer: impl Write) -> io::Result<()> {
        self.encoder.write(&self.words[..], writer)
    }

    /// Returns the number of bytes of the whole snapshot, whatever has been read.
    ///
    /// ```
    /// let filter = guira::CuckooFilter::with_capacity(1_000);
    /// assert_eq!(filter.snapshot().unwrap().len(), filter.to_bytes().len() as u64);
    /// ```
    #[must_use]
    pub fn len(&self) -> u64 {
        self.encoder.len()
    }

    /// Copies bytes from an offset on, and returns their number. It is smaller than the buffer only
    /// at the end of the snapshot, and zero from there on.
    ///
    /// ```
    /// let snapshot = guira::CuckooFilter::with_capacity(1_000).snapshot().unwrap();
    /// let mut buffer = [0; 8];
    /// assert_eq!((snapshot.read_at(0, &mut buffer), &buffer), (8, b"guira cf"));
    /// ```
    #[must_use]
    pub fn read_at(&self, offset: u64, buffer: &mut [u8]) -> usize {
        self.encoder.read_at(&self.words[..], offset, buffer)
    }
}

impl Read for Snapshot {
    /// Reads the next bytes. Never fails.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.read_at(self.position, buffer);
        self.position += read as u64;
        Ok(read)
    }
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { encoder, position, .. } = self;
        let mut debug = f.debug_struct("Snapshot");
        debug.field("len", &encoder.len()).field("position", position).finish_non_exhaustive()
    }
}
