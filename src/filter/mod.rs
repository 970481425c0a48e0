//! The front end: one implementation of every public operation, whatever the engine.

mod batch;
mod builder;
mod contains;
mod engine;
mod expiring;
mod growth;
mod hasher;
mod info;
mod key;
pub mod kind;
mod lookup;
mod map;
mod merge;
mod outcome;
mod set;
#[cfg(feature = "std")]
mod snapshot;

use core::marker::PhantomData;

use crate::{
    BuildError,
    table::{Mixer, ShardedCounter},
};
pub use builder::FilterBuilder;
pub use contains::{Contains, Dedup};
use engine::Engine;
pub use expiring::{ExpiringFilter, GrowingExpiringFilter, Life};
#[cfg(feature = "std")]
pub use hasher::KeyTypes;
use hasher::mixing_seed;
pub use hasher::{StableHashBuilder, StableHasher};
pub use key::{Hashed, Key};
use kind::{Contents, Growing, Growth, Permanent};
pub use map::{CuckooMap, GrowingMap, Values};
pub use outcome::{InsertMask, Insertion};
pub use set::{CuckooFilter, GrowingFilter};
#[cfg(feature = "std")]
pub use snapshot::{Dump, LoadError, Loader, View};

/// A set of items that takes a few bits per item and is shared by any number of threads.
///
/// `C` is what it keeps of each key, `G` whether it grows, and `S` its hasher. Users write one of
/// [six names](crate#two-axes), whose pages list the methods that they have. An *item* is a key in
/// a set, a key with a value in a map, and a key with the generation of its insert in an expiring
/// filter. What follows holds for all of them, with what the pages of maps and expiring filters
/// add. Code can be generic over filters by their [`kind`], or by the trait [`Contains`].
///
/// [`contains`](Self::contains) never returns `false` for an item that is in the filter, whatever
/// other threads insert, relocate and remove meanwhile. For an item that is not in the filter, it
/// returns `true` with a probability of at most [`false_positive_rate`](Self::false_positive_rate),
/// as long as the filter holds no more than its [`capacity`](Self::capacity). Items can be removed.
/// Lookups acquire no lock and write nothing.
///
/// All operations but those that shrink take `&self`: share the filter by reference or in an
/// [`Arc`](alloc::sync::Arc). After a `fork` beside writers, the child [may only look items
/// up](crate::docs::limits#threads).
///
/// # The contract of removal
///
/// **Remove only what you inserted, once, and after it was inserted.** In full: every call of
/// [`remove`](CuckooFilter#method.remove) must be paid for by a call of
/// [`insert`](CuckooFilter#method.insert) with an equal item that returned `Ok(())`, or of
/// [`insert_unique`](CuckooFilter#method.insert_unique) that returned [`New`](Insertion::New). That
/// call happened before the removal, and pays for no other removal. No call of
/// [`clear`](Self::clear) came between the two, or overlapped one of them.
///
/// The filter knows items by their fingerprints alone. Two items with the same fingerprint and the
/// same buckets are *aliases*. Removing an item that was never inserted can take a copy that
/// belongs to an alias, whose lookups then miss it. The caller's own records (the cache, the store
/// behind the filter) tell what was inserted; the filter cannot.
///
/// An `insert_unique` that returned `Found` inserted nothing. What it found may be an alias.
/// **Its caller owns no copy, and must not remove one.** If several callers may add and remove the
/// same item, each on its own account, use `insert`, which counts.
///
/// # What overlapping calls may observe
///
/// - Every operation on an item takes effect at one moment between its call and its return. For one
///   item (and its aliases) the filter behaves like a multiset behind a lock. Exceptions: `len` and
///   the other statistics may miss changes that overlap them, and `clear` is not one moment.
/// - Calls on different items are ordered only by happens-before, as acquire and release establish
///   it: there is no single order of all calls. If two threads each insert one item and then look
///   up the other's, both may miss on processors with weak ordering (not on x86-64).
/// - A `contains` that returns `true` *happens after* the insert that it found: what the inserting
///   thread wrote before is visible. The same holds for a `remove` that returns `true`, an
///   `insert_unique` that returns `Found`, and the copies that `count` counts. It does not hold
///   in a filter that was loaded from a snapshot, for inserts that overlapped the saving.
/// - A thread that stops in the middle of an operation never delays a lookup, nor an insert into a
///   bucket with an empty slot, apart from the exceptions that
///   [`insert`](CuckooFilter#method.insert) names. It can delay the operations that need the lock
///   that it holds. Each lock is part of a *stripe*, which serves some of the fingerprints:
///   [`writers`](FilterBuilder::writers) says how many stripes there are. Operations on the whole
///   filter (`clear`, `clone`, `write_to`) that wait for the lock can delay all operations that
///   take a lock. ([All operations](crate::docs::verification#progress).)
///
/// # Panics
///
/// No operation panics unless its documentation says so. A filter remains usable after a panic in
/// user code (such as an item's `Hash`): no user code runs while a lock is held.
pub struct Filter<C: Contents, G: Growth, S = StableHashBuilder> {
    engine: G::Engine,
    /// The seed that the user gave, or that was drawn. The others are derived from it.
    seed: u64,
    mixer: Mixer,
    items: ShardedCounter,
    hasher: S,
    contents: PhantomData<fn() -> C>,
}

/// Construction, with the default hasher.
impl<C: Permanent, G: Growth> Filter<C, G> {
    /// Creates a filter for `capacity` distinct items with default settings. A capacity of zero
    /// makes the smallest filter.
    ///
    /// [`false_positive_rate`](FilterBuilder::false_positive_rate) has the rates by default. Maps
    /// get values of 8 bits. For other settings use the [`builder`](Self::builder).
    ///
    /// # Panics
    /// If [`build`](FilterBuilder::build) returns an error: for a capacity of 2^32
    /// buckets, or if the system refuses the memory.
    ///
    /// ```
    /// let filter = guira::CuckooFilter::with_capacity(1_000);
    /// assert!(filter.is_empty());
    /// ```
    #[must_use]
    #[track_caller]
    pub fn with_capacity(capacity: usize) -> Self {
        built(Self::builder().capacity(capacity).build())
    }
}

impl<C: Contents, G: Growth> Filter<C, G> {
    /// Returns a builder, for all other settings.
    ///
    /// ```
    /// let builder = guira::CuckooFilter::builder().capacity(50_000).false_positive_rate(0.01);
    /// assert!(builder.build().unwrap().false_positive_rate() < 0.01);
    /// ```
    pub fn builder() -> FilterBuilder<C, G> {
        FilterBuilder::new()
    }

    /// Returns a loader, which makes a filter from a snapshot.
    ///
    /// ```
    /// let bytes = guira::CuckooFilter::with_capacity(1_000).to_bytes();
    /// assert!(guira::CuckooFilter::loader().bytes(&bytes).unwrap().is_empty());
    /// ```
    #[cfg(feature = "std")]
    pub fn loader() -> Loader<C, G> {
        Loader::new()
    }

    /// Loads a filter from a file that [`save`](Self::save) wrote, as
    /// [`Loader::file`] does. For a hasher, a clock, or a file from others, use
    /// the [`loader`](Self::loader).
    ///
    /// # Errors
    /// [`LoadError`], with a variant for each possible cause.
    ///
    /// ```no_run
    /// let filter = guira::CuckooFilter::load("seen.guira")?;
    /// # Ok::<(), guira::LoadError>(())
    /// ```
    #[cfg(feature = "std")]
    pub fn load(path: impl AsRef<std::path::Path>) -> Result<Self, LoadError> {
        Self::loader().file(path)
    }

    /// Loads a filter from the bytes that [`to_bytes`](Self::to_bytes) returned, as
    /// [`Loader::bytes`] does. For a hasher, a clock, or bytes from others, use the
    /// [`loader`](Self::loader).
    ///
    /// # Errors
    /// [`LoadError`], with a variant for each possible cause.
    ///
    /// ```
    /// let bytes = guira::CuckooFilter::with_capacity(1_000).to_bytes();
    /// assert!(guira::CuckooFilter::from_bytes(&bytes)?.is_empty());
    /// # Ok::<(), guira::LoadError>(())
    /// ```
    #[cfg(feature = "std")]
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, LoadError> {
        Self::loader().bytes(bytes)
    }
}

impl<C: Permanent> Default for Filter<C, Growing> {
    /// Creates an empty filter, as [`new`](Filter::new).
    fn default() -> Self {
        Self::new()
    }
}

impl<C: Permanent> Filter<C, Growing> {
    /// Creates an empty filter, with 4,096 slots at first. Its hasher is made from a random seed.
    ///
    /// ```
    /// let seen = guira::GrowingFilter::new();
    /// seen.insert_batch(0..10_000).unwrap();
    /// ```
    #[must_use]
    #[track_caller]
    pub fn new() -> Self {
        built(Self::builder().build())
    }
}

impl<C: Contents, G: Growth, S> Filter<C, G, S> {
    /// A filter of this engine, which holds this many items, or `None` if the system refuses the
    /// memory.
    fn from_parts(engine: G::Engine, seed: u64, items: u64, hasher: S) -> Option<Self> {
        let counter = ShardedCounter::new(ShardedCounter::limit_beside(engine.table().stripes()))?;
        counter.add(items as i64);
        let mixer = Mixer::new(mixing_seed(seed));
        Some(Self { engine, seed, mixer, items: counter, hasher, contents: PhantomData })
    }

    /// Removes every item, while other threads use the filter.
    ///
    /// Items that were inserted before the call are gone when it returns. The call is not one
    /// moment: lookups that overlap it may find some items and not others. For a single item the
    /// call is one moment, if no insert of the item or its aliases overlaps it: once a lookup has
    /// missed the item, later ones miss it too.
    ///
    /// **An item whose insert overlaps the call may remain or not.** So after a `clear`, remove
    /// only items whose insert happened after the call returned. A removal of anything inserted
    /// earlier must happen before the call. What remains of an insert that overlaps the call cannot
    /// be removed, except by another `clear`.
    ///
    /// Acquires all stripes: removals, relocations, `insert_unique` and `count` wait for the call,
    /// which writes every bucket once. Lookups do not wait, nor do those inserts that acquire no
    /// lock. No memory is released, and a filter that has grown keeps its size.
    ///
    /// ```
    /// let filter = guira::CuckooFilter::with_capacity(10);
    /// filter.insert(&1).unwrap();
    /// filter.clear();
    /// assert!(filter.is_empty() && !filter.contains(&1));
    /// ```
    #[doc(alias = "reset")]
    pub fn clear(&self) {
        let cleared = self.engine.clear();
        self.items.add(-(cleared as i64));
    }

    /// Returns a copy of the filter, made while other threads use it.
    ///
    /// **Every item that is in the filter from before the call until it returns is in the copy.**
    /// Items that are inserted or removed meanwhile may be in it or not, each on its own. **So
    /// remove from the copy only items that were in the filter from before the call until it
    /// returned.** Another item may be missing, and an alias of it present.
    ///
    /// Acquires all stripes while the buckets are copied: removals, relocations, `count` and
    /// `insert_unique` wait. Lookups do not wait, nor do those inserts that acquire no lock. The
    /// copy has the same hasher and seed, and statistics of its own.
    ///
    /// # Errors
    /// [`BuildError::OutOfMemory`] if the system refuses the memory.
    ///
    /// ```
    /// let filter = guira::CuckooFilter::with_capacity(10);
    /// filter.insert(&1).unwrap();
    /// assert!(filter.try_clone().unwrap().contains(&1));
    /// ```
    pub fn try_clone(&self) -> Result<Self, BuildError>
    where
        S: Clone,
    {
        // First, since it is the user's code: nothing is locked yet.
        let hasher = self.hasher.clone();
        let (engine, items) = self.engine.try_clone()?;
        let error = engine.out_of_memory();
        Self::from_parts(engine, self.seed, items, hasher).ok_or(error)
    }
}

/// Returns the filter, or panics with the message of the error.
#[track_caller]
fn built<C: Contents, G: Growth, S>(built: Result<Filter<C, G, S>, BuildError>) -> Filter<C, G, S> {
    match built {
        Ok(filter) => filter,
        Err(error) => panic!("{error}"),
    }
}

impl<C: Contents, G: Growth, S: Clone> Clone for Filter<C, G, S> {
    /// Returns a copy: see [`try_clone`](Filter::try_clone).
    ///
    /// # Panics
    /// If the system refuses the memory.
    fn clone(&self) -> Self {
        built(self.try_clone())
    }
}
