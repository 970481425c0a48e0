//! A filter whose snapshot is pushed to it.

use core::{fmt, hash::BuildHasher};

use super::{
    LoadError,
    receive::{Hasher, Receiver, Source},
};
use crate::{DefaultHashBuilder, Engine, Filter};

/// A filter that is being loaded from chunks of a snapshot: [`Filter::loader`].
///
/// It suits bytes that arrive from elsewhere, such as a socket or a module's callbacks. A loader
/// holds the bytes that it received and at most two megabytes more. (On systems other than Linux,
/// the allocator decides.) Dropping it gives up.
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
        let source = Source::Stream { limit: limit_bytes as u64 };
        Self { receiver: Receiver::new(source, hasher) }
    }

    /// Receives the next bytes of the snapshot, however many.
    ///
    /// The header is validated when it is complete, before anything is allocated for the buckets.
    /// Each block of 64 KiB is validated when its checksum arrives.
    ///
    /// # Errors
    /// [`LoadError`], with a variant for each possible cause. After an error, every further call of
    /// `push` or `finish` returns one too.
    ///
    /// ```
    /// use guira::{CuckooFilter, GrowingFilter, LoadError};
    ///
    /// let bytes = CuckooFilter::with_capacity(1_000).to_bytes();
    /// let mut loader = GrowingFilter::loader(1 << 20);
    /// assert!(matches!(loader.push(&bytes), Err(LoadError::OtherKind { .. })));
    /// assert!(matches!(loader.push(&bytes), Err(LoadError::Failed)));
    /// ```
    pub fn push(&mut self, mut bytes: &[u8]) -> Result<(), LoadError> {
        self.receiver.check_failed()?;
        while !bytes.is_empty() {
            if self.receiver.is_complete() {
                return Err(self.receiver.trailing(bytes.len() as u64));
            }
            let read = self.receiver.receive(|buffer| std::io::Read::read(&mut bytes, buffer))?;
            debug_assert!(read > 0, "an incomplete piece has room");
        }
        Ok(())
    }

    /// Returns the filter.
    ///
    /// # Errors
    /// [`LoadError::Truncated`] if bytes are missing, [`LoadError::Failed`] after another error,
    /// and [`LoadError::OutOfMemory`] if the system refuses the memory beside the buckets.
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
