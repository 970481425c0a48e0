//! A dump: a snapshot in short steps, without a copy of the buckets and without a lock.

use core::{fmt, hash::BuildHasher};
use std::io;

use super::{HasherChecks, Saved, encode::Encoder};
use crate::{
    Filter,
    kind::{Contents, Growth},
};

/// A snapshot that is made in short steps, from a filter that nobody changes meanwhile:
/// [`Filter::dump`].
///
/// It holds the header and the checksums, which take one byte for each 8192 bytes of the buckets
/// (and in a filter that grows four bytes for each of the few buckets that were split ahead of
/// their turn), and no reference to the filter. Every call gets the filter again. So a server with
/// one thread can serve other requests between two calls, and other threads can look items up.
///
/// ```
/// use guira::CuckooFilter;
///
/// let filter = CuckooFilter::with_capacity(100_000);
/// let mut dump = filter.dump();
/// while !dump.prepare(&filter, 2).unwrap() {} // at most two blocks of 64 KiB at a time
/// let (mut bytes, mut chunk) = (Vec::<u8>::new(), [0; 4096]);
/// loop {
///     match dump.read_at(&filter, bytes.len() as u64, &mut chunk) {
///         0 => break,
///         read => bytes.extend_from_slice(&chunk[..read]),
///     }
/// }
/// assert_eq!(bytes, filter.to_bytes());
/// ```
///
/// # Changes
///
/// **From [`dump`](Filter::dump) to the last [`read_at`](Self::read_at), nobody may change the
/// filter.** Lookups are no changes. If somebody changes it, nothing panics:
///
/// - If the filter has grown or shrunk, [`prepare`](Self::prepare) returns an error, and `read_at`
///   returns zero.
/// - Otherwise the checksums of changed buckets are wrong, so a load refuses the bytes. But if a
///   bucket is changed and then changed back, a load may accept a filter that lacks items.
pub struct Dump {
    encoder: Encoder,
}

#[expect(clippy::len_without_is_empty, reason = "no snapshot is empty")]
impl Dump {
    /// Goes over the next buckets, at most `max_blocks` blocks of 64 KiB, to count
    /// items and to compute checksums. Returns whether it has gone over all of them, so that the
    /// dump can be read.
    ///
    /// Allocates 64 KiB meanwhile, and the memory of all checksums at the first call.
    ///
    /// # Errors
    /// [`OutOfMemory`](io::ErrorKind::OutOfMemory) if the system refuses this memory, and
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) if the filter has another size than the one
    /// that was to be dumped.
    ///
    /// ```
    /// let filter = guira::GrowingFilter::with_capacity(1_000_000);
    /// let mut dump = filter.dump();
    /// assert!(!dump.prepare(&filter, 1).unwrap() && dump.prepare(&filter, usize::MAX).unwrap());
    /// ```
    pub fn prepare<C: Contents, G: Growth, S>(
        &mut self,
        filter: &Filter<C, G, S>,
        max_blocks: usize,
    ) -> io::Result<bool> {
        self.encoder.prepare(filter.engine.words(), max_blocks)
    }

    /// Returns the number of bytes of the whole snapshot, which is known from the start.
    ///
    /// ```
    /// assert!(guira::CuckooFilter::with_capacity(1_000).dump().len() > 1_000);
    /// ```
    #[must_use]
    pub fn len(&self) -> u64 {
        self.encoder.len()
    }

    /// Copies bytes from an offset on, and returns their number. It is smaller than the buffer only
    /// at the end of the snapshot, and zero from there on.
    ///
    /// It is also zero before [`prepare`](Self::prepare) has returned `true`, and if the filter has
    /// another size than the one that was to be dumped.
    ///
    /// ```
    /// let filter = guira::CuckooFilter::with_capacity(1_000);
    /// let (mut dump, mut buffer) = (filter.dump(), [0; 8]);
    /// assert!(dump.prepare(&filter, usize::MAX).unwrap());
    /// assert_eq!((dump.read_at(&filter, 0, &mut buffer), &buffer), (8, b"guira cf"));
    /// ```
    #[must_use]
    pub fn read_at<C: Contents, G: Growth, S>(
        &self,
        filter: &Filter<C, G, S>,
        offset: u64,
        buffer: &mut [u8],
    ) -> usize {
        self.encoder.read_at(filter.engine.words(), offset, buffer)
    }
}

impl fmt::Debug for Dump {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dump").field("len", &self.len()).finish_non_exhaustive()
    }
}

impl<C: Contents, G: Growth, S: BuildHasher> Filter<C, G, S> {
    /// Returns a dump of the filter, from which the bytes that [`write_to`](Self::write_to) would
    /// write are read in short steps.
    ///
    /// Nothing is copied. This call reads no bucket, and acquires no lock. **Nobody may change the
    /// filter until the dump is read: see [`Dump`](crate::Dump#changes).** For a snapshot while
    /// other threads write, see [`write_to`](Self::write_to).
    ///
    /// ```
    /// let filter = guira::GrowingFilter::with_capacity(1_000);
    /// assert_eq!(filter.dump().len(), filter.to_bytes().len() as u64);
    /// ```
    #[must_use]
    pub fn dump(&self) -> Dump {
        let header = self.header(HasherChecks::of(&self.hasher), self.engine.form());
        Dump { encoder: Encoder::new(header) }
    }
}
