//! Snapshots: saving a filter and loading it again.

mod error;
mod format;
mod header;
#[cfg(feature = "serde")]
mod serde;
mod validate;

use alloc::vec::Vec;
use core::hash::BuildHasher;
use std::io::{self, Read, Write};

use super::{CuckooFilter, DefaultHashBuilder, Fixed, hasher::hasher_seed};
use crate::{
    bucket::with_layout,
    table::{TableLoader, advise_huge_pages, occupied},
};
pub use error::LoadError;
use header::{Header, OVERHEAD, hasher_check};

impl CuckooFilter {
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
    /// Reads 64 KiB at a time, so the reader needs no buffer. The header is validated, by a
    /// checksum of its own and field by field, before anything is allocated. Then, on Linux, memory
    /// is taken as bytes arrive, at most two megabytes in advance. (On other systems the allocator
    /// decides.)
    ///
    /// # Errors
    /// As [`from_bytes`](Self::from_bytes).
    ///
    /// ```no_run
    /// use guira::CuckooFilter;
    ///
    /// let filter = CuckooFilter::load(std::fs::File::open("seen.guira")?)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn load(reader: impl Read) -> Result<Self, LoadError> {
        Self::load_with(reader, DefaultHashBuilder::with_seed)
    }
}

impl<S: BuildHasher> CuckooFilter<S> {
    /// Returns a snapshot of the filter as bytes: see [`save`](Self::save).
    ///
    /// # Panics
    /// If the system refuses the memory that the call needs, which is twice that of the buckets.
    ///
    /// ```
    /// let filter = guira::CuckooFilter::with_capacity(1_000);
    /// assert_eq!(filter.to_bytes()[..8], *b"guira cf");
    /// ```
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let reserved = bytes.try_reserve_exact(
            self.core.engine.table.addressing().buckets() as usize * 8 + OVERHEAD,
        );
        reserved.expect("memory for the bytes of the filter");
        advise_huge_pages(bytes.spare_capacity_mut());
        self.save(&mut bytes).expect("memory for a copy of the filter");
        bytes
    }

    /// Writes a snapshot of the filter, while other threads use it.
    ///
    /// **Every item that is in the filter from before the call until it returns is in the
    /// snapshot**, whatever is relocated meanwhile. Items that are inserted or removed meanwhile
    /// may be in it or not, each on its own: of two inserts, one after the other, the second may be
    /// in the snapshot and the first not. So the [contract](crate::Filter#the-contract-of-removal)
    /// has an addition for a loaded filter: **remove only items that were in the saved filter from
    /// before the call until it returned.** Another item may be missing, and an alias of it
    /// present.
    ///
    /// The buckets are copied first, with all stripes locked. Removals, relocations, `count`,
    /// `insert_unique`, inserts that are about to fail with `TooManyCopies`, and other operations
    /// on the whole filter wait for the copy (some 35 ms for 128 MiB). Lookups and inserts into
    /// buckets with an empty slot do not. No lock is held while the snapshot is written. The copy
    /// takes as much memory as the buckets until the call returns. (A thread that is suspended
    /// while it holds a stripe delays the save, and with it possibly every operation that needs a
    /// stripe.)
    ///
    /// The [format](crate::docs::snapshots) is the same on every platform. The hasher itself is not
    /// saved.
    ///
    /// # Errors
    /// The errors of the writer, and [`OutOfMemory`](io::ErrorKind::OutOfMemory) if the system
    /// refuses the memory for the copy. What has been written by then cannot be loaded: write to a
    /// temporary file, and rename it.
    ///
    /// ```no_run
    /// let filter = guira::CuckooFilter::with_capacity(1_000);
    /// filter.save(std::fs::File::create("seen.guira")?)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn save(&self, writer: impl Write) -> io::Result<()> {
        let Some(words) = self.core.engine.table.copy_words() else {
            return Err(io::ErrorKind::OutOfMemory.into());
        };
        // Counted in the copy: beside writers `len` may be of another moment.
        let layout = self.core.engine.layout;
        let items = with_layout!(layout, L => occupied::<L>(&words));
        let header = Header {
            layout,
            max_copies: self.core.engine.max_copies,
            buckets: words.len() as u64,
            seed: self.core.seed,
            capacity: self.core.engine.capacity as u64,
            items,
            hasher_check: hasher_check(&self.hasher),
        };
        format::write(&header, &words, writer)
    }

    /// Loads a filter with this hasher from all the bytes of a snapshot.
    ///
    /// # Errors
    /// As [`from_bytes`](CuckooFilter::from_bytes); [`LoadError::OtherHasher`] if the items were
    /// hashed by another hasher, or with another seed of it.
    ///
    /// ```
    /// use guira::{CuckooFilter, LoadError, StableHashBuilder};
    ///
    /// let hasher = StableHashBuilder::with_seed(7);
    /// let bytes = CuckooFilter::builder().capacity(1_000).hasher(hasher).build().unwrap().to_bytes();
    /// assert!(CuckooFilter::from_bytes_with_hasher(&bytes, hasher)?.is_empty());
    /// assert!(matches!(CuckooFilter::from_bytes(&bytes), Err(LoadError::OtherHasher)));
    /// # Ok::<(), LoadError>(())
    /// ```
    pub fn from_bytes_with_hasher(bytes: &[u8], hasher: S) -> Result<Self, LoadError> {
        Self::from_bytes_with(bytes, |_| hasher)
    }

    /// Loads a filter with this hasher from a reader, as [`load`](CuckooFilter::load) does.
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
        Self::load_with(reader, |_| hasher)
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
        let mut rest = bytes;
        let header = Header::read(&mut rest)?;
        header.check_length(bytes.len())?;
        Self::from_header(&header, &mut rest, hasher, TableLoader::at_once)
    }

    /// Loads a filter from a reader, as [`load`](CuckooFilter::load) does, with the hasher that
    /// `hasher` makes from a seed: see [`from_bytes_with`](Self::from_bytes_with).
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
    pub fn load_with(
        mut reader: impl Read,
        hasher: impl FnOnce(u64) -> S,
    ) -> Result<Self, LoadError> {
        let header = Header::read(&mut reader)?;
        Self::from_header(&header, &mut reader, hasher, TableLoader::incremental)
    }

    /// Reads what follows the header. `hasher` makes the hasher from the seed of the hasher.
    fn from_header(
        header: &Header,
        reader: &mut impl Read,
        hasher: impl FnOnce(u64) -> S,
        loader: impl FnOnce(u64) -> Option<TableLoader>,
    ) -> Result<Self, LoadError> {
        let hasher = hasher(hasher_seed(header.seed));
        if hasher_check(&hasher) != header.hasher_check {
            return Err(LoadError::OtherHasher);
        }
        let capacity = usize::try_from(header.capacity).map_err(|_| header.out_of_memory())?;
        let table = validate::read_table(header, loader(header.buckets), reader)?;
        let Header { layout, max_copies, .. } = *header;
        let engine = Fixed::new(table, layout, capacity, true, max_copies);
        let filter = Self::from_parts(engine, header.seed, header.items, hasher);
        filter.ok_or_else(|| header.out_of_memory())
    }
}
