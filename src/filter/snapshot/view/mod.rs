//! Views: lookups in the bytes of a snapshot.

mod lookups;

use core::{fmt, hash::BuildHasher, time::Duration};
#[cfg(not(guira_in_place))]
use std::io::Read;

#[cfg(guira_in_place)]
use bytemuck::cast_slice;

use super::{
    LoadError, Loader, Saved,
    checksums::{BLOCK, BLOCK_WORDS, Checksums},
    header::Header,
    validate::{EMPTY_CENSUS, add_census},
};
#[cfg(guira_in_place)]
use crate::table::Borrowed;
#[cfg(not(guira_in_place))]
use crate::table::TableLoader;
use crate::{
    Filter, StableHashBuilder,
    kind::{Contents, Expiring, Growth},
};

/// Stripes of a view: nobody changes a word, so only [`count`](View::count) locks them.
#[cfg(guira_in_place)]
const STRIPES: usize = 8;

/// Looks up items in the bytes of a snapshot, wherever these are: in a mapped file, in the program,
/// or in a buffer that was received. [`Loader::view`] makes one.
///
/// A view has the lookups of a [`Filter`], and they have the same answers, by the same code, as
/// those of a loaded filter. It copies no bucket, and takes a few kilobytes for a snapshot of any
/// size. (This holds on little-endian machines of 64 bits. On others it copies the buckets
/// when it is made, as a load does.)
///
/// To be made, it validates the header, the hasher, and the number of bytes, in microseconds. It
/// reads no bucket. **So of bytes from elsewhere, any answer may be wrong until
/// [`verify`](Self::verify) has succeeded**, which reads them all. Whatever the bytes are, a view
/// reads nothing outside of them, and does not panic.
///
/// The bytes must not change while they are borrowed, as everywhere in Rust. Who maps a file
/// promises that to the compiler, so a file that may be mapped must never be written to: replace
/// it as a whole, by a rename, as [`save`](Filter::save) does. Then a view of the old file goes on
/// with the old bytes, which the system keeps as long as they are mapped. See
/// [the guide](crate::docs::snapshots#views) for the recipe.
///
/// ```
/// use guira::CuckooFilter;
///
/// let filter = CuckooFilter::with_capacity(1_000);
/// filter.insert("tyto alba").unwrap();
/// let bytes = filter.to_bytes();
/// let view = CuckooFilter::loader().view(&bytes)?;
/// assert!(view.contains("tyto alba"));
/// view.verify()?;
/// # Ok::<(), guira::LoadError>(())
/// ```
pub struct View<'a, C: Contents, G: Growth, S = StableHashBuilder> {
    /// The filter, whose words are in the bytes. Nothing but lookups is called on it.
    filter: Filter<C, G, S>,
    bytes: &'a [u8],
    /// The generation of the lookups, if items expire.
    generation: u64,
}

impl<C: Contents, G: Growth, S: BuildHasher> Loader<C, G, S> {
    /// Returns a view of a snapshot, which looks up items in all its bytes. Forgets bytes that were
    /// pushed.
    ///
    /// # Errors
    /// [`LoadError`], with a variant for each possible cause. [`Unaligned`](LoadError::Unaligned)
    /// if the first byte is not at a multiple of 8: those of a mapped file are, and in practice
    /// those of a large `Vec`. The buckets are not validated: [`View::verify`] does that.
    ///
    /// ```
    /// use guira::{GrowingFilter, LoadError};
    ///
    /// let bytes = GrowingFilter::with_capacity(1_000).to_bytes();
    /// let view = GrowingFilter::loader().view(&bytes)?;
    /// assert!(!view.contains("tyto alba"));
    /// assert!(matches!(GrowingFilter::loader().view(&bytes[1..]), Err(LoadError::Unaligned)));
    /// # Ok::<(), LoadError>(())
    /// ```
    #[doc(alias = "mmap")]
    pub fn view(mut self, bytes: &[u8]) -> Result<View<'_, C, G, S>, LoadError> {
        if !bytes.as_ptr().addr().is_multiple_of(size_of::<u64>()) {
            return Err(LoadError::Unaligned);
        }
        self.terms.len = Some(bytes.len() as u64);
        let mut header = self.accept(Header::split(bytes)?.0)?;
        let generation = header.generation();
        header.stop_clock(0);
        let hasher = self.hasher.make(header.seed);
        View::new(bytes, &header, generation, hasher)
    }
}

impl<'a, C: Contents, G: Growth, S: BuildHasher> View<'a, C, G, S> {
    /// The view of a snapshot with this header, which is valid.
    fn new(
        bytes: &'a [u8],
        header: &Header,
        generation: u64,
        hasher: S,
    ) -> Result<Self, LoadError> {
        let words = &Header::split(bytes)?.1[..header.word_bytes() as usize];
        let engine = engine::<G::Engine>(header, words)?;
        let items = header.form.items(header.occupied);
        let filter = Filter::from_parts(engine, header.seed, items, hasher);
        let filter = filter.ok_or_else(|| header.out_of_memory())?;
        Ok(Self { filter, bytes, generation })
    }

    /// Validates all that a load does, the buckets and their checksums among it. Reads all bytes,
    /// and copies none.
    ///
    /// # Errors
    /// [`LoadError`], with a variant for each possible cause.
    ///
    /// ```
    /// use guira::{CuckooFilter, LoadError};
    ///
    /// let mut bytes = CuckooFilter::with_capacity(1_000).to_bytes();
    /// CuckooFilter::loader().view(&bytes)?.verify()?;
    /// bytes[1_000] ^= 1;
    /// let view = CuckooFilter::loader().view(&bytes)?;
    /// assert!(matches!(view.verify(), Err(LoadError::DamagedBuckets)));
    /// # Ok::<(), LoadError>(())
    /// ```
    pub fn verify(&self) -> Result<(), LoadError> {
        let (header_bytes, rest) = Header::split(self.bytes)?;
        let header = Header::decode::<C, G>(header_bytes)?;
        let (words, table) = rest.split_at(header.word_bytes() as usize);
        let (layout, numbers) = (header.form.layout, header.form.numbers());
        let mut checksums = Checksums::new(Header::block_seed(header_bytes));
        let mut census = EMPTY_CENSUS;
        for (from, block) in (0..).step_by(BLOCK_WORDS).zip(words.chunks(BLOCK)) {
            add_census(layout, &numbers, from, block, &mut census);
            checksums.add(block).map_err(|_| header.out_of_memory())?;
        }
        checksums.complete();
        let table = table.as_chunks().0.iter().copied().map(u64::from_le_bytes);
        if !census.valid || !table.eq(checksums.table().iter().copied()) {
            return Err(LoadError::DamagedBuckets);
        }
        let fit = header.form.grown.is_none_or(|grown| grown.fits(words.as_chunks().0));
        if census.occupied != header.occupied || !fit {
            return Err(LoadError::InvalidBuckets);
        }
        Ok(())
    }
}

impl<G: Growth, S: BuildHasher + Clone> View<'_, Expiring, G, S> {
    /// Returns a view of the same bytes in a later generation. It finds what the saved filter would
    /// find if nothing had been inserted since, and [`advance`](Filter::advance) had been called
    /// that often. In an earlier generation than that of the save, it is a view of the save. So it
    /// is with a time to live, where `advance` begins no generation: see [`after`](Self::after).
    ///
    /// This takes about a microsecond where a view copies nothing. No time passes for a view by
    /// itself.
    ///
    /// # Errors
    /// [`LoadError::OutOfMemory`].
    ///
    /// ```
    /// use guira::ExpiringFilter;
    ///
    /// let seen = ExpiringFilter::builder().capacity(1_000).window(1).build().unwrap();
    /// let generation = seen.insert("nonce").unwrap();
    /// let bytes = seen.to_bytes();
    /// let view = ExpiringFilter::loader().view(&bytes)?;
    /// assert!(view.in_generation(generation + 1)?.contains("nonce"));
    /// assert!(!view.in_generation(generation + 2)?.contains("nonce"));
    /// # Ok::<(), guira::LoadError>(())
    /// ```
    pub fn in_generation(&self, generation: u64) -> Result<Self, LoadError> {
        let mut header = Header::decode::<Expiring, G>(Header::split(self.bytes)?.0)?;
        let generation = generation.max(header.generation());
        header.form.clock = header.form.clock.map(|clock| clock.looked_at_from(generation));
        Self::new(self.bytes, &header, generation, self.filter.hasher.clone())
    }

    /// Returns a view of the same bytes at a time after the save. If the items have a time to live,
    /// it finds what the saved filter would find then if nothing had been inserted since.
    ///
    /// # Errors
    /// [`LoadError::OutOfMemory`].
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use guira::ExpiringFilter;
    ///
    /// let minute = Duration::from_secs(60);
    /// let seen = ExpiringFilter::builder().capacity(1_000).ttl(10 * minute).build().unwrap();
    /// seen.insert("nonce").unwrap();
    /// let bytes = seen.to_bytes();
    /// let view = ExpiringFilter::loader().view(&bytes)?;
    /// assert!(view.after(9 * minute)?.contains("nonce"));
    /// assert!(!view.after(13 * minute)?.contains("nonce"));
    /// # Ok::<(), guira::LoadError>(())
    /// ```
    pub fn after(&self, time: Duration) -> Result<Self, LoadError> {
        let mut header = Header::decode::<Expiring, G>(Header::split(self.bytes)?.0)?;
        header.stop_clock(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
        Self::new(self.bytes, &header, self.generation, self.filter.hasher.clone())
    }
}

impl<C: Contents, G: Growth, S> fmt::Debug for View<'_, C, G, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("View");
        debug.field("bytes", &self.bytes.len()).finish_non_exhaustive()
    }
}

/// Returns an engine that looks up these words.
#[cfg(guira_in_place)]
fn engine<E: Saved>(header: &Header, words: &[u8]) -> Result<E, LoadError> {
    // SAFETY: the words are borrowed as long as the view, which drops the engine, and calls nothing
    // on it but lookups.
    let words = unsafe { Borrowed::new(cast_slice(words)) };
    E::in_place(&header.form, words, STRIPES).ok_or_else(|| header.out_of_memory())
}

/// Returns an engine that looks up copies of these words.
#[cfg(not(guira_in_place))]
fn engine<E: Saved>(header: &Header, mut words: &[u8]) -> Result<E, LoadError> {
    let memory = E::memory(&header.form, (true, true)).ok_or_else(|| header.out_of_memory())?;
    let mut loader = TableLoader::new(memory);
    while loader.is_incomplete() {
        loader.read(|chunk| words.read(chunk))?;
        loader.accept().ok_or_else(|| header.out_of_memory())?;
    }
    if !loader.fit_together() {
        return Err(LoadError::InvalidBuckets);
    }
    let engine = E::restore(&header.form, header.occupied, loader.finish());
    engine.ok_or_else(|| header.out_of_memory())
}
