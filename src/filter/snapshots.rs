//! Saving a filter and loading it again.

use core::hash::BuildHasher;
use std::io::{self, Read, Write};

use super::CuckooFilter;
use crate::{
    DefaultHashBuilder, LoadError,
    hasher::hasher_seed,
    snapshot::{self, Header, hasher_check},
    table::{Arriving, onto_huge_pages},
    word::{WordLayout, with_layout},
};

impl CuckooFilter {
    /// Loads a filter from the bytes of a snapshot, all of them.
    ///
    /// The default hasher may give other results in another release or on another platform. A snapshot
    /// made there is refused, by [`LoadError::OtherHasher`]; filters that travel have a
    /// [`StableHashBuilder`](crate::StableHashBuilder).
    ///
    /// # Errors
    /// [`LoadError`], with a variant for each thing that can be wrong.
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
        Self::from_slice(bytes, default_hasher)
    }

    /// Loads a filter from a snapshot that is read from somewhere, up to its last byte and no further.
    ///
    /// It reads 64 KiB at a time, so the reader needs no buffer. Before anything is allocated the snapshot's
    /// header is checked, by a checksum of its own and field by field; then, on Linux, memory is taken as
    /// bytes arrive, and at every read no more than a megabyte besides. (For the moment in which what has been gathered
    /// moves to a huge page it is two. Elsewhere it is up to the allocator.)
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
        Self::from_reader(reader, default_hasher)
    }
}

/// The default hasher of a filter with this seed.
fn default_hasher(seed: u64) -> DefaultHashBuilder {
    DefaultHashBuilder::with_seed(hasher_seed(seed))
}

impl<S: BuildHasher> CuckooFilter<S> {
    /// The filter as bytes: see [`save`](Self::save).
    ///
    /// # Panics
    /// If the system refuses the memory: twice that of the filter, for the moment.
    ///
    /// ```
    /// let filter = guira::CuckooFilter::with_capacity(1_000);
    /// assert_eq!(filter.to_bytes()[..8], *b"guira cf");
    /// ```
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let reserved = bytes.try_reserve_exact(self.core.geometry().buckets() as usize * 8 + 72);
        reserved.expect("memory for the bytes of the filter");
        onto_huge_pages(bytes.spare_capacity_mut());
        self.save(&mut bytes).expect("memory for a copy of the filter");
        bytes
    }

    /// Writes a snapshot of the filter, while others read it and write to it.
    ///
    /// **An item that is in the filter from before the call until after it is in the snapshot**, whatever is moved
    /// meanwhile. What is inserted or removed meanwhile may be in it or not, each by itself: of two inserts
    /// one after the other the second may be in the snapshot and the first not. So [the
    /// contract](CuckooFilter#the-contract-of-removal) goes on in a loaded filter with this: **of the items in the
    /// snapshot remove only those whose insert happened before the call.** Another may not be in it, and an
    /// alias of it may.
    ///
    /// The buckets are copied first, with all stripes locked: removals, relocations, `count`, `insert_unique`, the
    /// verdict `TooManyCopies` and other saves wait for the copy (some 35 ms for 128 MiB), look-ups and inserts into
    /// buckets with room do not. Only then is anything written; no lock is held over that. The copy takes as much memory
    /// again as the buckets, for as long as the call takes. (A thread that is suspended while it holds a stripe holds up the
    /// save, and with it all that wait for a stripe.)
    ///
    /// The [format](crate::docs::snapshots) is the same on every platform. The hasher itself is not saved.
    ///
    /// # Errors
    /// Those of the writer, and [`OutOfMemory`](io::ErrorKind::OutOfMemory) when there is none for the copy. What
    /// has been written by then is no snapshot, and is refused: write to another name, and rename.
    ///
    /// ```no_run
    /// let filter = guira::CuckooFilter::with_capacity(1_000);
    /// filter.save(std::fs::File::create("seen.guira")?)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn save(&self, writer: impl Write) -> io::Result<()> {
        let Some(words) = self.core.copy_words() else {
            return Err(io::ErrorKind::OutOfMemory.into());
        };
        // Counted anew: beside writers `len` may be of another moment.
        let items = with_layout!(self.layout, L => {
            words.chunks(snapshot::BLOCK).map(|words| L::census(words).occupied).sum()
        });
        let header = Header {
            layout: self.layout,
            buckets: self.core.geometry().buckets(),
            seed: self.seed,
            capacity: self.capacity as u64,
            items,
            hasher_check: hasher_check(&self.hasher),
        };
        snapshot::write(&header, &words, writer)
    }

    /// [`from_bytes`](CuckooFilter::from_bytes) of a filter with another hasher than the default one.
    ///
    /// # Errors
    /// As there; [`LoadError::OtherHasher`] if this is not the hasher, seed included, that the items were hashed by.
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
        Self::from_slice(bytes, |_| hasher)
    }

    /// [`load`](CuckooFilter::load) of a filter with another hasher than the default one.
    ///
    /// # Errors
    /// As [`from_bytes_with_hasher`](Self::from_bytes_with_hasher).
    ///
    /// ```no_run
    /// use guira::{CuckooFilter, StableHashBuilder};
    ///
    /// let file = std::fs::File::open("seen.guira")?;
    /// let filter = CuckooFilter::load_with_hasher(file, StableHashBuilder::default())?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn load_with_hasher(reader: impl Read, hasher: S) -> Result<Self, LoadError> {
        Self::from_reader(reader, |_| hasher)
    }

    fn from_slice(bytes: &[u8], hasher: impl FnOnce(u64) -> S) -> Result<Self, LoadError> {
        let mut rest = bytes;
        let header = Header::read(&mut rest)?;
        header.check_length(bytes.len())?;
        Self::from_header(&header, &mut rest, hasher, Arriving::at_once)
    }

    fn from_reader(
        mut reader: impl Read,
        hasher: impl FnOnce(u64) -> S,
    ) -> Result<Self, LoadError> {
        let header = Header::read(&mut reader)?;
        Self::from_header(&header, &mut reader, hasher, Arriving::slowly)
    }

    /// Reads what follows the header of a filter whose hasher is made of its seed.
    fn from_header(
        header: &Header,
        reader: &mut impl Read,
        hasher: impl FnOnce(u64) -> S,
        table: impl FnOnce(u64) -> Option<Arriving>,
    ) -> Result<Self, LoadError> {
        let hasher = hasher(header.seed);
        if hasher_check(&hasher) != header.hasher_check {
            return Err(LoadError::OtherHasher);
        }
        let capacity = usize::try_from(header.capacity).map_err(|_| header.out_of_memory())?;
        let core = snapshot::read_core(header, table(header.buckets), reader)?;
        let filter = Self::from_parts(core, header.layout, capacity, header.seed, hasher);
        filter.items.add(header.items as i64);
        Ok(filter)
    }
}
