//! A filter of which a part has been loaded.

use std::{
    alloc::{Layout, handle_alloc_error},
    io::{self, Write},
};

use guira::LoadError;

use crate::{
    allocator::measured,
    config::Limits,
    cuckoo::Cuckoo,
    error::Error,
    filter::FilterLoader,
    stream::{PREAMBLE, Preamble},
    value::Bytes,
};

/// A filter of which a part has been loaded.
pub struct Loading {
    pub bytes: Bytes,
    preamble: Preamble,
    loader: FilterLoader,
}

impl Loading {
    /// Receives the first bytes of a stream, at least the preamble.
    ///
    /// # Errors
    /// If the bytes are damaged, or the filter exceeds the limits.
    pub fn begin(bytes: &[u8], limits: Limits) -> Result<Box<Self>, Error> {
        let (preamble, rest) = bytes
            .split_first_chunk::<PREAMBLE>()
            .ok_or_else(|| Error::text("the first chunk is too short"))?;
        let preamble = Preamble::decode(preamble)?;
        let (loading, allocated) = measured(|| {
            let mut loader = FilterLoader::new(&preamble.settings, limits.of_new());
            loader.push(rest).map(|()| Box::new(Self { bytes: Bytes::new(), preamble, loader }))
        });
        let mut loading = loading.map_err(|error| match error {
            LoadError::LimitExceeded { needed, .. } => limits.exceeded(needed),
            error => Error::text(error.to_string()),
        })?;
        loading.bytes.add(allocated);
        Ok(loading)
    }

    /// Bytes that have arrived.
    pub fn received(&self) -> u64 {
        PREAMBLE as u64 + self.loader.received()
    }

    /// Whether all bytes have arrived.
    pub fn is_complete(&self) -> bool {
        self.loader.is_complete()
    }

    /// Receives bytes, from this place in the stream on.
    ///
    /// # Errors
    /// If they are not the next ones, or damaged. Nothing has changed.
    pub fn push(&mut self, start: u64, bytes: &[u8]) -> Result<(), Error> {
        let received = self.received();
        if start != received {
            let text =
                format!("the chunk begins at byte {start}, but {received} bytes have arrived");
            return Err(Error::text(text));
        }
        let Self { bytes: counted, loader, .. } = self;
        let pushed = counted.try_count(|| loader.push(bytes));
        pushed.map_err(|error| Error::text(error.to_string()))
    }

    /// Returns the filter, all of which has arrived.
    ///
    /// Ends the process if the server refuses the few kilobytes beside the buckets, as it does
    /// itself when it is out of memory.
    pub fn finish(self: Box<Self>) -> Cuckoo {
        let ((filter, mut bytes, preamble), allocated) = measured(|| {
            let Self { bytes, preamble, loader } = *self;
            (loader.finish(), bytes, preamble)
        });
        bytes.add(allocated);
        let filter = filter.unwrap_or_else(|_| handle_alloc_error(Layout::new::<Cuckoo>()));
        Cuckoo::with_filter(filter, preamble.settings, preamble.deleted, bytes)
    }

    /// Writes what has arrived of the stream.
    ///
    /// # Errors
    /// Those of the writer, and if the server refuses the memory: a block of 64 KiB.
    pub fn write_stream(&self, writer: &mut impl Write) -> io::Result<()> {
        writer.write_all(&self.preamble.encode())?;
        self.loader.write_received(writer)
    }
}
