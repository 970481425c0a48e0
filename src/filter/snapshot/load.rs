//! Loading a filter from a snapshot: from a slice, from a reader, and from pushed chunks.

use core::hash::BuildHasher;
use std::io::{self, Read};

use super::{
    LoadError, Loader,
    receive::{Hasher, Receiver, Source},
};
use crate::{DefaultHashBuilder, Engine, Filter};

impl<E: Engine> Filter<E> {
    /// Loads a filter from all the bytes of a snapshot.
    ///
    /// The default hasher may give other results in another release or on another platform. Loading
    /// a snapshot from there fails with [`LoadError::OtherHasher`]. For filters that are loaded
    /// elsewhere, use [`StableHashBuilder`](crate::StableHashBuilder).
    ///
    /// # Errors
    /// [`LoadError`], with a variant for each possible cause.
    ///
    /// ```
    /// use guira::CuckooFilter;
    ///
    /// let filter = CuckooFilter::with_capacity(1_000);
    /// filter.insert("tyto alba").unwrap();
    /// let bytes = filter.to_bytes();
    ///
    /// let copy = CuckooFilter::from_bytes(&bytes)?;
    /// assert!(copy.contains("tyto alba"));
    /// assert!(CuckooFilter::from_bytes(&bytes[1..]).is_err());
    /// # Ok::<(), guira::LoadError>(())
    /// ```
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, LoadError> {
        Self::from_bytes_with(bytes, DefaultHashBuilder::with_seed)
    }

    /// Loads a filter from a reader, which is read up to the last byte of the snapshot and no
    /// further.
    ///
    /// Reads up to 64 KiB at a time, so the reader needs no buffer. The header is validated, by a
    /// checksum of its own and field by field, before anything is allocated for the buckets. Then,
    /// on Linux, memory is taken as bytes arrive, at most two megabytes in advance. (On other
    /// systems the allocator decides.) Each block of 64 KiB is validated when it has arrived.
    ///
    /// # Errors
    /// As [`from_bytes`](Self::from_bytes).
    ///
    /// ```no_run
    /// use guira::GrowingFilter;
    ///
    /// let filter = GrowingFilter::load(std::fs::File::open("seen.guira")?)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn load(reader: impl Read) -> Result<Self, LoadError> {
        Self::load_with(reader, DefaultHashBuilder::with_seed)
    }

    /// Returns a loader, to which the bytes of a snapshot are pushed.
    ///
    /// `limit_bytes` bounds the bytes of the buckets, in all segments together. It is compared with
    /// the header before anything is allocated for them.
    ///
    /// ```
    /// use guira::{CuckooFilter, LoadError};
    ///
    /// let bytes = CuckooFilter::with_capacity(1_000_000).to_bytes();
    /// let error = CuckooFilter::loader(1 << 20).push(&bytes[..100]).unwrap_err();
    /// assert!(matches!(error, LoadError::LimitExceeded { limit: 0x10_0000, .. }));
    /// ```
    #[must_use]
    pub fn loader(limit_bytes: usize) -> Loader<E> {
        Self::loader_with(limit_bytes, DefaultHashBuilder::with_seed)
    }
}

impl<E: Engine, S: BuildHasher> Filter<E, S> {
    /// Loads a filter with this hasher from all the bytes of a snapshot.
    ///
    /// # Errors
    /// As [`from_bytes`](Filter::from_bytes); [`LoadError::OtherHasher`] if the items were hashed
    /// by another hasher, or with another seed of it.
    ///
    /// ```
    /// use guira::{CuckooFilter, LoadError, StableHashBuilder};
    ///
    /// let hasher = StableHashBuilder::with_seed(7);
    /// let filter = CuckooFilter::with_capacity_and_hasher(1_000, hasher);
    /// let bytes = filter.to_bytes();
    /// assert!(CuckooFilter::from_bytes_with_hasher(&bytes, hasher)?.is_empty());
    /// assert!(matches!(CuckooFilter::from_bytes(&bytes), Err(LoadError::OtherHasher)));
    /// # Ok::<(), LoadError>(())
    /// ```
    pub fn from_bytes_with_hasher(bytes: &[u8], hasher: S) -> Result<Self, LoadError> {
        from_slice(bytes, Hasher::<S, fn(u64) -> S>::Given(hasher))
    }

    /// Loads a filter with this hasher from a reader, as [`load`](Filter::load) does.
    ///
    /// # Errors
    /// As [`from_bytes_with_hasher`](Self::from_bytes_with_hasher).
    ///
    /// ```no_run
    /// use guira::{CuckooFilter, StableHashBuilder};
    ///
    /// let (file, seed) = (std::fs::File::open("seen.guira")?, 7);
    /// let filter = CuckooFilter::load_with_hasher(file, StableHashBuilder::with_seed(seed))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn load_with_hasher(reader: impl Read, hasher: S) -> Result<Self, LoadError> {
        from_reader(reader, Hasher::<S, fn(u64) -> S>::Given(hasher))
    }

    /// Returns a loader for a filter with this hasher: see [`loader`](Filter::loader).
    ///
    /// ```
    /// use guira::{GrowingFilter, StableHashBuilder};
    ///
    /// let hasher = StableHashBuilder::with_seed(7);
    /// let filter = GrowingFilter::with_capacity_and_hasher(1_000, hasher);
    /// let mut loader = GrowingFilter::loader_with_hasher(1 << 20, hasher);
    /// loader.push(&filter.to_bytes())?;
    /// assert!(loader.finish()?.is_empty());
    /// # Ok::<(), guira::LoadError>(())
    /// ```
    #[must_use]
    pub fn loader_with_hasher(limit_bytes: usize, hasher: S) -> Loader<E, S> {
        Loader::new(limit_bytes, Hasher::Given(hasher))
    }

    /// Loads a filter from all the bytes of a snapshot. `hasher` makes the hasher. It gets the same
    /// seed as the function that was given to [`hasher_with`](crate::FilterBuilder::hasher_with).
    ///
    /// # Errors
    /// As [`from_bytes_with_hasher`](Self::from_bytes_with_hasher).
    ///
    /// ```
    /// use guira::{CuckooFilter, StableHashBuilder};
    ///
    /// let builder = CuckooFilter::builder().capacity(1_000);
    /// let filter = builder.hasher_with(StableHashBuilder::with_seed).build().unwrap();
    /// filter.insert("tyto alba").unwrap();
    /// let bytes = filter.to_bytes();
    ///
    /// let copy = CuckooFilter::from_bytes_with(&bytes, StableHashBuilder::with_seed)?;
    /// assert!(copy.contains("tyto alba"));
    /// # Ok::<(), guira::LoadError>(())
    /// ```
    pub fn from_bytes_with(bytes: &[u8], hasher: impl FnOnce(u64) -> S) -> Result<Self, LoadError> {
        from_slice(bytes, Hasher::Seeded(hasher))
    }

    /// Loads a filter from a reader, as [`load`](Filter::load) does, with the hasher that `hasher`
    /// makes from a seed: see [`from_bytes_with`](Self::from_bytes_with).
    ///
    /// # Errors
    /// As [`from_bytes_with`](Self::from_bytes_with).
    ///
    /// ```no_run
    /// use guira::{CuckooFilter, StableHashBuilder};
    ///
    /// let file = std::fs::File::open("seen.guira")?;
    /// let filter = CuckooFilter::load_with(file, StableHashBuilder::with_seed)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn load_with(reader: impl Read, hasher: impl FnOnce(u64) -> S) -> Result<Self, LoadError> {
        from_reader(reader, Hasher::Seeded(hasher))
    }

    /// Returns a loader for a filter with the hasher that `hasher` makes from a seed: see
    /// [`loader`](Filter::loader) and [`from_bytes_with`](Self::from_bytes_with).
    ///
    /// ```
    /// use guira::{CuckooFilter, StableHashBuilder};
    ///
    /// let builder = CuckooFilter::builder().capacity(1_000);
    /// let filter = builder.hasher_with(StableHashBuilder::with_seed).build().unwrap();
    /// let mut loader = CuckooFilter::loader_with(1 << 20, StableHashBuilder::with_seed);
    /// loader.push(&filter.to_bytes())?;
    /// assert!(loader.finish()?.is_empty());
    /// # Ok::<(), guira::LoadError>(())
    /// ```
    #[must_use]
    pub fn loader_with(limit_bytes: usize, hasher: fn(u64) -> S) -> Loader<E, S> {
        Loader::new(limit_bytes, Hasher::Seeded(hasher))
    }
}

/// Loads a filter from all the bytes of a snapshot.
fn from_slice<E: Engine, S: BuildHasher, F: FnOnce(u64) -> S>(
    mut bytes: &[u8],
    hasher: Hasher<S, F>,
) -> Result<Filter<E, S>, LoadError> {
    let source = Source::Slice(bytes.len() as u64);
    // The length is validated with the header. So the bytes end where the snapshot ends, unless
    // they end within the header.
    receive_all(Receiver::new(source, hasher), |buffer| bytes.read(buffer))
}

/// Loads a filter from a reader.
fn from_reader<E: Engine, S: BuildHasher, F: FnOnce(u64) -> S>(
    mut reader: impl Read,
    hasher: Hasher<S, F>,
) -> Result<Filter<E, S>, LoadError> {
    let source = Source::Stream { limit: u64::MAX, at_once: false };
    receive_all(Receiver::new(source, hasher), |buffer| reader.read(buffer))
}

/// Receives the bytes of a snapshot, and none that follow it.
fn receive_all<E: Engine, S: BuildHasher, F: FnOnce(u64) -> S>(
    mut receiver: Receiver<E, S, F>,
    mut read: impl FnMut(&mut [u8]) -> io::Result<usize>,
) -> Result<Filter<E, S>, LoadError> {
    let mut read = |buffer: &mut [u8]| loop {
        match read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            outcome => return outcome,
        }
    };
    while !receiver.is_complete() && receiver.receive(&mut read)? > 0 {}
    receiver.finish()
}
