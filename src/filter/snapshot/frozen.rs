//! A frozen copy of a filter.

use std::io::{self, Write};

use super::{encode::Encoder, header::Header};

/// A frozen copy of a filter, which is to be written.
pub(super) struct Snapshot {
    encoder: Encoder,
    words: Vec<u64>,
}

impl Snapshot {
    /// Returns the snapshot with this header and these words.
    ///
    /// # Errors
    /// If the system refuses the memory of a block and of all checksums.
    pub(super) fn new(header: Header, words: Vec<u64>) -> io::Result<Self> {
        let mut encoder = Encoder::new(header);
        encoder.prepare(&words[..], usize::MAX)?;
        Ok(Self { encoder, words })
    }

    /// Writes all bytes.
    pub(super) fn write(&self, writer: impl Write) -> io::Result<()> {
        self.encoder.write(&self.words[..], writer)
    }

    /// The number of bytes.
    pub(super) fn len(&self) -> u64 {
        self.encoder.len()
    }
}
