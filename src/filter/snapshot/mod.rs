//! Snapshots: saving a filter, as a whole or piece by piece.

mod dump;
mod encode;
mod error;
mod file;
mod frozen;
mod header;
mod load;
mod loader;
mod receive;
#[cfg(feature = "serde")]
mod serde;
mod validate;

use alloc::vec::Vec;
use core::hash::BuildHasher;
use std::io::{self, Write};

use super::{
    Engine, Expiring, Filter, Fixed, Growing, Mapped, engine::Storage, hasher_check::hasher_check,
};
use crate::{
    BuildError,
    table::{Buckets, PerSegment, advise_huge_pages},
};
pub use dump::Dump;
pub(super) use encode::Words;
pub use error::LoadError;
pub use frozen::Snapshot;
use header::Header;
pub(super) use header::{EXPIRING, Form, PlannedSegment, field};
pub use loader::Loader;

/// The names of the engines that can be saved, with their [`Saved::KIND`].
const KINDS: [(u8, &str); 5] = [
    (<Fixed as Saved>::KIND, <Fixed as Storage>::NAME),
    (<Growing as Saved>::KIND, <Growing as Storage>::NAME),
    (Mapped::<Fixed>::KIND, Mapped::<Fixed>::NAME),
    (Expiring::KIND, Expiring::NAME),
    (Mapped::<Growing>::KIND, Mapped::<Growing>::NAME),
];

/// What snapshots need of an engine.
pub(crate) trait Saved: Sized {
    /// The number of the engine in the format.
    const KIND: u8;

    /// Everything but the words.
    fn form(&self) -> Form;

    /// Returns the form and a copy of the words of each segment, or `None` if the system refuses
    /// the memory. The copy contains every item that is in the engine throughout the call.
    fn copy_words(&self) -> Option<(Form, PerSegment<Vec<u64>>)>;

    /// The words of each segment, for a caller that knows that nobody changes them.
    fn words(&self) -> impl Iterator<Item = impl Words> + Clone;

    /// Validates what is particular to this engine. All else is valid.
    fn check(form: &Form) -> Result<(), LoadError>;

    /// A lower bound on the numbers that occupied slots of a segment can hold. Such a number is a
    /// fingerprint, followed by its value in the lowest bits if there are values. In a single
    /// table, the bound is the fingerprint 1 with the value zero. In a chain, a fingerprint of a
    /// segment is one of the first segment with more bits appended. So the bound is the smallest
    /// fingerprint of the first segment, with zeros for these bits and for the value.
    fn min_fingerprint(form: &Form, number: usize) -> u32;

    /// Returns the engine with these words, or `None` if the system refuses the memory for the
    /// rest.
    fn restore(form: &Form, segments: PerSegment<Buckets>) -> Option<Self>;
}

/// Validates the kind of engine of a snapshot that is loaded into this one.
fn check_kind<E: Engine>(kind: u8) -> Result<(), LoadError> {
    let saved = KINDS.into_iter().find(|&(known, _)| known == kind);
    let (_, saved) = saved.ok_or(LoadError::UnknownKind(kind))?;
    let expected = E::NAME;
    if kind == E::KIND { Ok(()) } else { Err(LoadError::OtherKind { saved, expected }) }
}

impl<E: Engine, S: BuildHasher> Filter<E, S> {
    /// Writes a snapshot of the filter, while other threads use it.
    ///
    /// **Every item that is in the filter from before the call until it returns is in the
    /// snapshot**, whatever is relocated or appended meanwhile. Items that are inserted or removed
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
    /// A snapshot of an [`ExpiringFilter`](crate::ExpiringFilter#copies-and-snapshots) contains the
    /// generation in which the buckets were copied, and the loaded filter goes on from there.
    ///
    /// The [format](crate::docs::snapshots) is the same on every platform. The hasher itself is not
    /// saved. If one thread makes the same operations on two new filters with the same settings,
    /// hasher and seed, their snapshots have the same bytes.
    ///
    /// # Errors
    /// The errors of the writer, and [`OutOfMemory`](io::ErrorKind::OutOfMemory) if the system
    /// refuses the memory for the copy. What has been written by then cannot be loaded: write to a
    /// temporary file, and rename it.
    ///
    /// ```no_run
    /// let filter = guira::GrowingFilter::with_capacity(1_000);
    /// filter.save(std::fs::File::create("seen.guira")?)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn save(&self, writer: impl Write) -> io::Result<()> {
        self.snapshot().map_err(|_| io::ErrorKind::OutOfMemory)?.write(writer)
    }

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
        self.try_to_bytes().expect("memory for a copy of the filter and for its bytes")
    }

    /// As [`to_bytes`](Self::to_bytes).
    ///
    /// # Errors
    /// `OutOfMemory`.
    fn try_to_bytes(&self) -> io::Result<Vec<u8>> {
        let snapshot = self.snapshot().map_err(|_| io::ErrorKind::OutOfMemory)?;
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(snapshot.len() as usize)?;
        advise_huge_pages(bytes.spare_capacity_mut());
        snapshot.write(&mut bytes)?;
        Ok(bytes)
    }

    /// Returns a frozen copy of the filter, whose bytes can be read in order or from any offset:
    /// those that [`save`](Self::save) would have written.
    ///
    /// Acquires all stripes while the buckets are copied, as `save` does, and no lock later. The
    /// copy takes as much memory as the buckets, and one byte in 8192 for checksums. The encoded
    /// bytes are made when they are read.
    ///
    /// # Errors
    /// [`BuildError::OutOfMemory`] if the system refuses the memory.
    ///
    /// ```
    /// use guira::GrowingFilter;
    ///
    /// let filter = GrowingFilter::with_capacity(1_000);
    /// filter.insert("tyto alba").unwrap();
    /// let snapshot = filter.snapshot()?;
    /// filter.clear();
    /// let mut tail = [0; 100];
    /// assert_eq!(snapshot.read_at(snapshot.len() - 8, &mut tail), 8);
    /// assert!(GrowingFilter::load(snapshot).unwrap().contains("tyto alba"));
    /// # Ok::<(), guira::BuildError>(())
    /// ```
    pub fn snapshot(&self) -> Result<Snapshot, BuildError> {
        // First, since it runs the user's code: nothing is locked yet.
        let hasher_check = hasher_check(&self.hasher);
        let copied = self.core.engine.copy_words();
        let snapshot = copied
            .and_then(|(form, words)| Snapshot::new(self.header(hasher_check, form), words).ok());
        snapshot.ok_or_else(|| self.core.engine.out_of_memory())
    }

    /// Writes the bytes that [`save`](Self::save) would write, without a copy of the buckets and
    /// without a lock: nobody else uses the filter.
    ///
    /// For a process that is about to end, or for a forked child that saves while its parent goes
    /// on. (In such a child the locks may be held by threads that exist in the parent only. An
    /// operation that was under way in one of them is in the snapshot or not.) Allocates 64 KiB at
    /// a time, and one byte for each 8192 bytes of the buckets.
    ///
    /// # Errors
    /// As [`save`](Self::save).
    ///
    /// ```
    /// let mut filter = guira::CuckooFilter::with_capacity(1_000);
    /// let mut bytes = Vec::new();
    /// filter.save_exclusive(&mut bytes)?;
    /// assert_eq!(bytes, filter.to_bytes());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn save_exclusive(&mut self, writer: impl Write) -> io::Result<()> {
        let mut dump = self.dump();
        dump.prepare(self, usize::MAX)?;
        dump.write(self, writer)
    }

    /// The header, without the numbers of items.
    fn header(&self, hasher_check: u64, form: Form) -> Header {
        Header { kind: E::KIND, seed: self.core.seed, hasher_check, form, items: PerSegment::new() }
    }
}
