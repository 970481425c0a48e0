//! Snapshots: saving a filter, as a whole or piece by piece.

mod checksums;
mod dump;
mod encode;
mod error;
mod file;
mod header;
mod loader;
mod receive;
#[cfg(feature = "serde")]
mod serde;
mod validate;
mod view;

use alloc::vec::Vec;
use core::hash::BuildHasher;
use std::io::{self, Write};

use super::{
    Filter,
    hasher::HasherChecks,
    kind::{self, Contents, Growth, NAMES},
};
#[cfg(guira_in_place)]
use crate::table::Borrowed;
use crate::table::{LoaderMemory, advise_huge_pages};
pub use dump::Dump;
use encode::Encoder;
pub(super) use encode::SavedWords;
pub use error::LoadError;
use header::Header;
pub(super) use header::{Form, field};
pub use loader::Loader;
pub use view::View;

/// What snapshots need of an engine.
pub(crate) trait Saved: Sized {
    /// Where the words go that are loaded.
    type Memory: LoaderMemory;

    /// Everything but the words.
    fn form(&self) -> Form;

    /// Returns the form and a copy of the words, or `None` if the system refuses the memory. The
    /// copy contains every item that is in the engine throughout the call.
    fn copy_words(&self) -> Option<(Form, Vec<u64>)>;

    /// The words, for a caller that knows that nobody changes them.
    fn words(&self) -> &impl SavedWords;

    /// Validates what is particular to this engine. All else is valid.
    fn check(form: &Form) -> Result<(), LoadError>;

    /// Returns memory for the words of an engine, which are to arrive, or `None` if the system
    /// refuses it: whether an engine that grows reserves address space, and whether huge pages are
    /// requested.
    fn memory(form: &Form, memory: (bool, bool)) -> Option<Self::Memory>;

    /// Returns the engine with these words, of which this many slots are occupied, or `None` if the
    /// system refuses the memory for the rest.
    fn restore(form: &Form, occupied: u64, memory: Self::Memory) -> Option<Self>;

    /// Returns an engine for lookups alone, with these words and this many stripes, or `None` if
    /// the system refuses the memory for the rest.
    #[cfg(guira_in_place)]
    fn in_place(form: &Form, words: Borrowed, stripes: usize) -> Option<Self>;
}

/// The numbers of the contents and of the growth of a filter.
fn numbers<C: Contents, G: Growth>() -> [u8; 2] {
    [C::NUMBER, G::GROWS.into()]
}

/// Validates the kind of a snapshot that is loaded into this one.
fn check_kind<C: Contents, G: Growth>(saved: [u8; 2]) -> Result<(), LoadError> {
    let [contents, growth] = saved;
    let name = NAMES.get(usize::from(contents)).and_then(|names| names.get(usize::from(growth)));
    let name = name.ok_or(LoadError::UnknownKind { contents, growth })?;
    let expected = kind::name::<C, G>();
    if saved == numbers::<C, G>() {
        Ok(())
    } else {
        Err(LoadError::OtherKind { saved: name, expected })
    }
}

impl<C: Contents, G: Growth, S: BuildHasher> Filter<C, G, S> {
    /// Writes a snapshot of the filter, while other threads use it.
    ///
    /// **Every item that is in the filter from before the call until it returns is in the
    /// snapshot**, whatever is relocated or split meanwhile. Items that are inserted or removed
    /// meanwhile may be in it or not, each on its own: of two inserts, one after the other, the
    /// second may be in the snapshot and the first not. So the
    /// [contract](crate::Filter#the-contract-of-removal) has an addition for a loaded filter:
    /// **remove only items that were in the saved filter from before the call until it returned.**
    /// Another item may be missing, and an alias of it present.
    ///
    /// The buckets are copied first, with all stripes locked. Removals, relocations, `count`,
    /// `insert_unique`, inserts that are about to fail with `TooManyCopies`, and other operations
    /// on the whole filter wait for the copy, about as long as `memcpy` takes. Lookups and inserts
    /// into buckets with an empty slot do not. No lock is held while the snapshot is written. The
    /// copy takes as much memory as the buckets until the call returns. (A thread that is suspended
    /// while it holds a stripe delays the save, and with it possibly every operation that needs a
    /// stripe.)
    ///
    /// The [format](crate::docs::snapshots) is the same on every platform. Of the hasher, only the
    /// filter's seed is saved. If one thread makes the same operations on two new filters with the
    /// same settings, hasher and seed, their snapshots have the same bytes, unless they keep time
    /// (with a [`ttl`](crate::FilterBuilder::ttl)).
    ///
    /// # Errors
    /// The errors of the writer, and [`OutOfMemory`](io::ErrorKind::OutOfMemory) if the system
    /// refuses the memory for the copy. What has been written by then cannot be loaded: write to a
    /// temporary file, and rename it, or call [`save`](Self::save).
    ///
    /// ```no_run
    /// let filter = guira::GrowingFilter::with_capacity(1_000);
    /// filter.write_to(std::fs::File::create("seen.guira")?)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn write_to(&self, writer: impl Write) -> io::Result<()> {
        let (encoder, words) = self.snapshot()?;
        encoder.write(&words[..], writer)
    }

    /// Returns a snapshot of the filter as bytes: see [`write_to`](Self::write_to).
    ///
    /// # Panics
    /// If the system refuses the memory that the call needs, which is twice that of the buckets.
    ///
    /// ```
    /// let filter = guira::CuckooFilter::with_capacity(1_000);
    /// assert_eq!(filter.to_bytes()[..8], *b"guira cf");
    /// ```
    #[doc(alias = "export")]
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.try_to_bytes().expect("memory for a copy of the filter and for its bytes")
    }

    /// As [`to_bytes`](Self::to_bytes). Fails with `OutOfMemory`.
    fn try_to_bytes(&self) -> io::Result<Vec<u8>> {
        let (encoder, words) = self.snapshot()?;
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(encoder.len() as usize)?;
        advise_huge_pages(bytes.spare_capacity_mut(), true);
        encoder.write(&words[..], &mut bytes)?;
        Ok(bytes)
    }

    /// Returns a copy of the words, and what encodes them. Fails with `OutOfMemory`.
    fn snapshot(&self) -> io::Result<(Encoder, Vec<u64>)> {
        // First, since it runs the user's code: nothing is locked yet.
        let checks = HasherChecks::of(&self.hasher);
        let (form, words) = self.engine.copy_words().ok_or(io::ErrorKind::OutOfMemory)?;
        let mut encoder = Encoder::new(self.header(checks, form));
        encoder.prepare(&words[..], usize::MAX)?;
        Ok((encoder, words))
    }

    /// The header, without the number of occupied slots.
    fn header(&self, hasher: HasherChecks, form: Form) -> Header {
        Header { kind: numbers::<C, G>(), seed: self.seed, hasher, form, occupied: 0 }
    }
}
