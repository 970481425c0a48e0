//! The loader: builds a filter from chunks of a snapshot that are pushed to it.

use core::{fmt, hash::BuildHasher};
use std::io::{self, Read, Write};

use super::{
    LoadError,
    receive::{Checkpoint, Hasher, Receiver, Source},
};
use crate::{DefaultHashBuilder, Engine, Filter};

/// A filter that is being loaded from chunks of a snapshot: [`Filter::loader`].
///
/// It suits bytes that arrive from elsewhere, such as a socket or a module's callbacks. A loader
/// holds the bytes that it received and at most two megabytes more, unless it is told to
/// [allocate at once](Self::allocate_at_once). (On systems other than Linux, the allocator
/// decides.) Dropping it abandons the load.
///
/// ```
/// use guira::{CuckooFilter, LoadError};
///
/// let filter = CuckooFilter::with_capacity(1_000);
/// filter.insert("tyto alba").unwrap();
///
/// let mut loader = CuckooFilter::loader(1 << 20);
/// for chunk in filter.to_bytes().chunks(100) {
///     loader.push(chunk)?;
/// }
/// assert!(loader.finish()?.contains("tyto alba"));
/// # Ok::<(), LoadError>(())
/// ```
pub struct Loader<E, S = DefaultHashBuilder> {
    receiver: Receiver<E, S, fn(u64) -> S>,
}

impl<E: Engine, S: BuildHasher> Loader<E, S> {
    pub(super) fn new(limit_bytes: usize, hasher: Hasher<S, fn(u64) -> S>) -> Self {
        let source = Source::Stream { limit: limit_bytes as u64, at_once: false };
        Self { receiver: Receiver::new(source, hasher) }
    }

    /// Requests the buckets of each segment from the global allocator, as a whole, when the bytes
    /// of the segment begin to arrive. So a program that counts memory in its allocator counts a
    /// loaded filter as it does a built one.
    ///
    /// The limit of the loader is checked first, as always. If the allocator refuses the memory,
    /// [`push`](Self::push) returns [`OutOfMemory`](LoadError::OutOfMemory).
    ///
    /// ```
    /// use guira::{CuckooFilter, LoadError};
    ///
    /// let mut loader = CuckooFilter::loader(1 << 20).allocate_at_once();
    /// loader.push(&CuckooFilter::with_capacity(1_000).to_bytes())?;
    /// assert_eq!(loader.finish()?.capacity(), 1_000);
    /// # Ok::<(), LoadError>(())
    /// ```
    #[must_use]
    pub fn allocate_at_once(mut self) -> Self {
        self.receiver.allocate_at_once();
        self
    }

    /// Receives the next bytes of the snapshot, however many: all of them or, if it returns an
    /// error, none.
    ///
    /// The header is validated when it is complete, before anything is allocated for the buckets.
    /// Each block of 64 KiB is validated when its checksum arrives. With the last block of a
    /// segment, the number of its items is validated too. So a push may accept wrong bytes, and a
    /// later one is refused because of them. If the right bytes are refused too, the load must
    /// start again with a new loader.
    ///
    /// # Errors
    /// [`LoadError`], with a variant for each possible cause. After an error, or a panic of the
    /// hasher, the loader is as before the call, and other bytes can be pushed.
    ///
    /// ```
    /// use guira::{CuckooFilter, LoadError};
    ///
    /// let bytes = CuckooFilter::with_capacity(1_000).to_bytes();
    /// let mut loader = CuckooFilter::loader(1 << 20);
    /// loader.push(&bytes[..500])?;
    /// let mut damaged = bytes[500..].to_vec();
    /// damaged[9] ^= 1;
    /// assert!(matches!(loader.push(&damaged), Err(LoadError::DamagedBuckets)));
    /// assert_eq!(loader.received(), 500);
    /// loader.push(&bytes[500..])?;
    /// assert!(loader.finish()?.is_empty());
    /// # Ok::<(), LoadError>(())
    /// ```
    pub fn push(&mut self, mut bytes: &[u8]) -> Result<(), LoadError> {
        let attempt = Attempt::new(&mut self.receiver);
        while !bytes.is_empty() {
            if attempt.receiver.is_complete() {
                return Err(LoadError::TrailingBytes { more: bytes.len() as u64 });
            }
            let read = attempt.receiver.receive(|buffer| bytes.read(buffer))?;
            debug_assert!(read > 0, "an incomplete piece has room");
        }
        attempt.succeed();
        Ok(())
    }

    /// Returns the number of bytes that have arrived.
    ///
    /// ```
    /// let mut loader = guira::CuckooFilter::loader(1 << 20);
    /// loader.push(b"guira")?;
    /// assert_eq!(loader.received(), 5);
    /// # Ok::<(), guira::LoadError>(())
    /// ```
    #[must_use]
    pub fn received(&self) -> u64 {
        self.receiver.received()
    }

    /// Returns whether all bytes of the snapshot have been pushed, so that [`finish`](Self::finish)
    /// returns the filter.
    ///
    /// ```
    /// use guira::CuckooFilter;
    ///
    /// let bytes = CuckooFilter::with_capacity(1_000).to_bytes();
    /// let mut loader = CuckooFilter::loader(1 << 20);
    /// loader.push(&bytes[..100])?;
    /// assert!(!loader.is_complete());
    /// loader.push(&bytes[100..])?;
    /// assert!(loader.is_complete());
    /// # Ok::<(), guira::LoadError>(())
    /// ```
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.receiver.is_complete()
    }

    /// Writes the bytes that have been pushed, so that another loader can go on from them. Use it
    /// to keep the state of a load over a restart of the program.
    ///
    /// The bytes are made from the buckets. Allocates one block of 64 KiB meanwhile.
    ///
    /// # Errors
    /// The errors of the writer, and [`OutOfMemory`](std::io::ErrorKind::OutOfMemory).
    ///
    /// ```
    /// use guira::CuckooFilter;
    ///
    /// let bytes = CuckooFilter::with_capacity(1_000).to_bytes();
    /// let (mut loader, mut received) = (CuckooFilter::loader(1 << 20), Vec::new());
    /// loader.push(&bytes[..1_500])?;
    /// loader.write_received(&mut received)?;
    /// assert_eq!(received, bytes[..1_500]);
    ///
    /// let mut other = CuckooFilter::loader(1 << 20);
    /// other.push(&received)?;
    /// other.push(&bytes[1_500..])?;
    /// assert!(other.finish()?.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn write_received(&self, writer: impl Write) -> io::Result<()> {
        self.receiver.write_received(writer)
    }

    /// Returns the filter.
    ///
    /// # Errors
    /// [`LoadError::Truncated`] if bytes are missing, and [`LoadError::OutOfMemory`] if the system
    /// refuses the memory for the rest.
    ///
    /// ```
    /// use guira::{CuckooFilter, LoadError};
    ///
    /// let mut loader = CuckooFilter::loader(1 << 20);
    /// loader.push(&CuckooFilter::with_capacity(1_000).to_bytes()[..100])?;
    /// assert!(matches!(loader.finish(), Err(LoadError::Truncated { received: 100, .. })));
    /// # Ok::<(), LoadError>(())
    /// ```
    pub fn finish(self) -> Result<Filter<E, S>, LoadError> {
        self.receiver.finish()
    }
}

impl<E, S> fmt::Debug for Loader<E, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Loader");
        debug.field("received", &self.receiver.received()).finish_non_exhaustive()
    }
}

/// A push. Unless it succeeds, the receiver goes back when this is dropped.
struct Attempt<'a, E, S, F> {
    receiver: &'a mut Receiver<E, S, F>,
    /// The state of the receiver before the push, until it has succeeded.
    before: Option<Checkpoint<F>>,
}

impl<'a, E, S, F: Copy> Attempt<'a, E, S, F> {
    fn new(receiver: &'a mut Receiver<E, S, F>) -> Self {
        Self { before: Some(receiver.checkpoint()), receiver }
    }

    fn succeed(mut self) {
        self.before = None;
    }
}

impl<E, S, F> Drop for Attempt<'_, E, S, F> {
    fn drop(&mut self) {
        if let Some(before) = self.before.take() {
            self.receiver.go_back(before);
        }
    }
}
