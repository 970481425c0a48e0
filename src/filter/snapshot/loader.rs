//! The loader: builds a filter from a snapshot, from bytes, a reader, a file, or pushed chunks.

use alloc::sync::Arc;
use core::{fmt, hash::BuildHasher, marker::PhantomData, mem};
use std::{
    fs::File,
    io::{self, Read, Seek},
    path::Path,
};

use super::{
    LoadError,
    checksums::Checksums,
    error::FileError,
    header::{Header, HeaderBytes},
    receive::{Checkpoint, Memory, Piece, ReadNext, ReceiveState, Terms},
};
use crate::{
    Filter, KeyTypes, StableHashBuilder,
    filter::builder::HasherSource,
    kind::{Contents, Expiring, Growing, Growth},
    table::{TableLoader, TimeSource},
};

/// Makes a filter from a snapshot: [`Filter::loader`] returns one.
///
/// [`bytes`](Self::bytes), [`reader`](Self::reader) and [`file`](Self::file) load it as a whole.
/// [`push`](Self::push) receives it in chunks that arrive from elsewhere, such as a socket or a
/// module's callbacks. By default, the hasher is made from the seed in the snapshot.
/// [`docs::snapshots`](crate::docs::snapshots#what-a-load-checks) says what is checked, and when.
///
/// The words go to the memory of the filter as they arrive, so that the last chunk takes no longer
/// than others. (An expiring filter counts its stamps at the end.)
///
/// The buckets of a fixed filter are allocated once the header has arrived, and those of a filter
/// that grows as they arrive, in the steps in which it grows. [`limit`](Self::limit) is the largest
/// size that they may have. Dropping a loader abandons the load.
///
/// ```
/// use guira::CuckooFilter;
///
/// let filter = CuckooFilter::with_capacity(1_000);
/// filter.insert("tyto alba").unwrap();
/// let mut loader = CuckooFilter::loader().limit(1 << 20);
/// for chunk in filter.to_bytes().chunks(100) {
///     loader.push(chunk).unwrap();
/// }
/// assert!(loader.finish().unwrap().contains("tyto alba"));
/// ```
#[must_use = "a loader does nothing until it gets bytes"]
pub struct Loader<C: Contents, G: Growth, S = StableHashBuilder> {
    pub(super) terms: Terms,
    pub(super) hasher: HasherSource<S>,
    pub(super) progress: ReceiveState,
    /// The bytes of the header: of its start, until that has arrived.
    pub(super) header_bytes: HeaderBytes,
    /// The header and the words, once the header has arrived.
    pub(super) body: Option<(Header, TableLoader<Memory<G>>)>,
    /// The checksums of the blocks that have arrived, and of the table when it is next.
    pub(super) checksums: Checksums,
    pub(super) kind: PhantomData<fn() -> (C, G)>,
}

impl<C: Contents, G: Growth> Loader<C, G> {
    pub(in crate::filter) fn new() -> Self {
        let terms = Terms {
            limit: u64::MAX,
            reserve: true,
            huge_pages: true,
            len: None,
            clock: None,
            ignored: KeyTypes::NONE,
        };
        Self::with(terms, HasherSource::Seeded(StableHashBuilder::from_seed))
    }
}

impl<C: Contents, G: Growth, S: BuildHasher> Loader<C, G, S> {
    /// Sets the hasher: the one that the saved filter had. With another one, or another seed of it,
    /// the load fails with [`LoadError::OtherHasher`]. Call this before any bytes are pushed: it
    /// forgets them.
    ///
    /// ```
    /// use guira::{CuckooFilter, StableHashBuilder};
    ///
    /// let hasher = StableHashBuilder::from_seed(7);
    /// let builder = CuckooFilter::builder().capacity(1_000).hasher(hasher.clone());
    /// let bytes = builder.build().unwrap().to_bytes();
    /// assert!(CuckooFilter::loader().bytes(&bytes).is_err());
    /// assert!(CuckooFilter::loader().hasher(hasher).bytes(&bytes).is_ok());
    /// ```
    pub fn hasher<S2: BuildHasher>(self, hasher: S2) -> Loader<C, G, S2> {
        Loader::with(self.terms, HasherSource::Given(hasher))
    }

    /// Accepts that the keys of some types have other hashes here than where the snapshot was made:
    /// no key of the filter is of these types. Otherwise the load fails with
    /// [`LoadError::OtherHashes`], because the filter would miss such keys.
    /// [`docs::snapshots`](crate::docs::snapshots#which-keys-are-one-key) says what may differ.
    ///
    /// ```
    /// use guira::{CuckooFilter, KeyTypes};
    ///
    /// let bytes = CuckooFilter::with_capacity(1_000).to_bytes();
    /// let loader = CuckooFilter::loader().ignore_types(KeyTypes::ADDRESSES | KeyTypes::PATHS);
    /// assert!(loader.bytes(&bytes).is_ok());
    /// ```
    pub fn ignore_types(mut self, types: KeyTypes) -> Self {
        self.terms.ignored = types;
        self
    }

    /// Sets the largest number of bytes that the buckets may take. It is compared with the header
    /// before anything is allocated for them. By default there is no limit. (Forged bytes can make
    /// the buckets of a filter that grows take twice as much.)
    ///
    /// Set it for bytes from others: a few bytes of a forged header can ask for the largest table,
    /// of 32 GiB. If the system refuses that memory, the load fails with
    /// [`OutOfMemory`](LoadError::OutOfMemory). If not, pages are written only as bytes arrive, but
    /// the allocator may clear memory that was in use before, and some systems reserve all of it.
    ///
    /// ```
    /// let bytes = guira::CuckooFilter::with_capacity(1_000_000).to_bytes();
    /// let error = guira::CuckooFilter::loader().limit(1 << 20).bytes(&bytes).unwrap_err();
    /// assert!(matches!(error, guira::LoadError::LimitExceeded { limit: 0x10_0000, .. }));
    /// ```
    pub fn limit(mut self, bytes: usize) -> Self {
        self.terms.limit = bytes as u64;
        self
    }

    /// Sets whether the filter requests huge pages: see
    /// [`FilterBuilder::huge_pages`](crate::FilterBuilder::huge_pages). Default: `true`.
    ///
    /// ```
    /// let bytes = guira::CuckooFilter::with_capacity(1_000).to_bytes();
    /// assert!(guira::CuckooFilter::loader().huge_pages(false).bytes(&bytes).is_ok());
    /// ```
    pub fn huge_pages(mut self, enabled: bool) -> Self {
        self.terms.huge_pages = enabled;
        self
    }

    /// Loads a filter from all the bytes of a snapshot, or from those that follow the ones that
    /// were pushed.
    ///
    /// # Errors
    /// [`LoadError`], with a variant for each possible cause.
    ///
    /// ```
    /// let bytes = guira::CuckooFilter::with_capacity(1_000).to_bytes();
    /// assert!(guira::CuckooFilter::loader().bytes(&bytes).unwrap().is_empty());
    /// ```
    pub fn bytes(mut self, mut bytes: &[u8]) -> Result<Filter<C, G, S>, LoadError> {
        let len = self.progress.received + bytes.len() as u64;
        self.terms = Terms { len: Some(len), ..self.terms };
        self.receive_all(&mut |buffer| bytes.read(buffer))?;
        match bytes.len() as u64 {
            0 => self.finish(),
            more => Err(LoadError::TrailingBytes { more }),
        }
    }

    /// Loads a filter from a reader, which is read up to the last byte of the snapshot and no
    /// further. Reads up to 64 KiB at a time, so the reader needs no buffer.
    ///
    /// # Errors
    /// [`LoadError`], with a variant for each possible cause.
    ///
    /// ```no_run
    /// let filter = guira::GrowingFilter::loader().reader(std::fs::File::open("seen.guira")?)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn reader(mut self, mut reader: impl Read) -> Result<Filter<C, G, S>, LoadError> {
        self.receive_all(&mut |buffer| reader.read(buffer))?;
        self.finish()
    }

    /// Loads a filter from a file: the counterpart of [`save`](Filter::save), whose example runs
    /// both. Nothing may follow the snapshot.
    ///
    /// # Errors
    /// [`LoadError`], with a variant for each possible cause; [`Io`](LoadError::Io) also if the
    /// file cannot be opened.
    ///
    /// ```no_run
    /// let filter = guira::GrowingFilter::loader().file("seen.guira")?;
    /// # Ok::<(), guira::LoadError>(())
    /// ```
    pub fn file(self, path: impl AsRef<Path>) -> Result<Filter<C, G, S>, LoadError> {
        let path = path.as_ref();
        let named =
            |error: io::Error| io::Error::new(error.kind(), FileError { path: path.into(), error });
        let mut file = File::open(path).map_err(named)?;
        let loaded = self.reader(&mut file).map_err(|error| match error {
            LoadError::Io(error) => LoadError::Io(named(error)),
            other => other,
        })?;
        match file.metadata()?.len().saturating_sub(file.stream_position()?) {
            0 => Ok(loaded),
            more => Err(LoadError::TrailingBytes { more }),
        }
    }

    /// Receives bytes up to the last one of the snapshot, or until there are no more.
    fn receive_all(&mut self, read: &mut ReadNext<'_>) -> Result<(), LoadError> {
        let mut read = |buffer: &mut [u8]| loop {
            match read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(more) if more > buffer.len() => {
                    return Err(io::Error::other(
                        "a reader reports more bytes than it was asked for",
                    ));
                }
                outcome => return outcome,
            }
        };
        while !self.is_complete() && self.receive(&mut read)? > 0 {}
        Ok(())
    }

    /// Receives the next bytes of the snapshot, however many: all of them or, if it returns an
    /// error, none.
    ///
    /// The checksums follow the buckets. So a push may accept wrong bytes, and a later one is
    /// refused because of them. If the right bytes are refused too, the load must start again with
    /// a new loader.
    ///
    /// # Errors
    /// [`LoadError`], with a variant for each possible cause. After an error, or a panic of the
    /// hasher, the loader is as before the call, and other bytes can be pushed.
    ///
    /// ```
    /// let bytes = guira::CuckooFilter::with_capacity(1_000).to_bytes();
    /// let mut loader = guira::CuckooFilter::loader().limit(1 << 20);
    /// loader.push(&bytes[..500])?;
    /// let mut damaged = bytes[500..].to_vec();
    /// damaged[9] ^= 1;
    /// assert!(loader.push(&damaged).is_err());
    /// loader.push(&bytes[500..])?;
    /// assert!(loader.finish()?.is_empty());
    /// # Ok::<(), guira::LoadError>(())
    /// ```
    pub fn push(&mut self, mut bytes: &[u8]) -> Result<(), LoadError> {
        let attempt = Attempt { before: self.checkpoint(), loader: self };
        while !bytes.is_empty() {
            if attempt.loader.is_complete() {
                return Err(LoadError::TrailingBytes { more: bytes.len() as u64 });
            }
            let read = attempt.loader.receive(&mut |buffer| bytes.read(buffer))?;
            debug_assert!(read > 0, "an incomplete piece has room");
        }
        mem::forget(attempt);
        Ok(())
    }

    /// Returns whether all bytes of the snapshot have been pushed, so that [`finish`](Self::finish)
    /// returns the filter.
    ///
    /// ```
    /// let mut loader = guira::CuckooFilter::loader().limit(1 << 20);
    /// assert!(!loader.is_complete());
    /// loader.push(&guira::CuckooFilter::with_capacity(1_000).to_bytes()).unwrap();
    /// assert!(loader.is_complete());
    /// ```
    #[must_use]
    pub fn is_complete(&self) -> bool {
        matches!(self.progress.piece, Piece::Nothing)
    }
}

impl<G: Growth, S> Loader<Expiring, G, S> {
    /// Sets the clock of a filter that was built with one
    /// ([`FilterBuilder::clock`](crate::FilterBuilder::clock)): a load needs it again. No time has
    /// passed between the save and the load.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use guira::{ExpiringFilter, LoadError};
    ///
    /// let builder = ExpiringFilter::builder().capacity(100).ttl(Duration::from_secs(60));
    /// let bytes = builder.clock(|| 0).build().unwrap().to_bytes();
    /// assert!(matches!(ExpiringFilter::loader().bytes(&bytes), Err(LoadError::NoClock)));
    /// assert!(ExpiringFilter::loader().clock(|| 0).bytes(&bytes).is_ok());
    /// ```
    pub fn clock(mut self, now: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        self.terms.clock = Some(TimeSource::User(Arc::new(now)));
        self
    }

    /// As [`clock`](Self::clock), for other languages: takes no memory.
    #[doc(hidden)]
    #[cfg(feature = "raw")]
    pub fn foreign_clock(mut self, now: fn([usize; 2]) -> u64, data: [usize; 2]) -> Self {
        self.terms.clock = Some(TimeSource::Foreign(now, data));
        self
    }
}

impl<C: Contents, S> Loader<C, Growing, S> {
    /// Sets whether address space is reserved for all buckets that the filter may ever have: see
    /// [`FilterBuilder::reserve_address_space`](crate::FilterBuilder::reserve_address_space).
    /// Default: `true`.
    ///
    /// ```
    /// let mut loader = guira::GrowingFilter::loader().reserve_address_space(false);
    /// loader.push(&guira::GrowingFilter::with_capacity(1_000).to_bytes()).unwrap();
    /// ```
    pub fn reserve_address_space(mut self, reserve: bool) -> Self {
        self.terms.reserve = reserve;
        self
    }
}

impl<C: Contents, G: Growth, S> fmt::Debug for Loader<C, G, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Loader");
        debug.field("received", &self.progress.received).finish_non_exhaustive()
    }
}

/// A push. The loader goes back when this is dropped, so that a push that succeeds forgets it.
struct Attempt<'a, C: Contents, G: Growth, S> {
    loader: &'a mut Loader<C, G, S>,
    /// The state of the loader before the push. It has nothing to drop.
    before: Checkpoint<G>,
}

impl<C: Contents, G: Growth, S> Drop for Attempt<'_, C, G, S> {
    fn drop(&mut self) {
        self.loader.go_back(&self.before);
    }
}
