//! Statistics: relocations, eviction paths, retries and waits. Without the feature `stats` nothing
//! is counted, and none of this takes a byte or an instruction.
#![cfg_attr(not(feature = "stats"), allow(unused, clippy::pedantic, reason = "nothing is counted"))]

use super::ShardedCounter;
use crate::sync::{Lock, LockGuard, Tally};

/// Index of the last place of a histogram. It counts inserts with this many relocations or more.
const MAX: usize = 15;

/// Number of shards of the counter of inserts: 2 KiB.
const SHARDS: usize = 16;

/// Statistics of a filter since it was built, loaded or cloned, as
/// [`stats`](crate::Filter::stats) returns them.
///
/// Exact when no other thread uses the filter, like [`len`](crate::Filter::len). Requires the
/// feature `stats`.
///
/// ```
/// let filter = guira::CuckooFilter::with_capacity(1_000);
/// filter.insert_batch(0..1_000)?;
/// let stats = filter.stats();
/// assert_eq!(stats.inserts, 1_000);
/// assert_eq!(stats.lock_waits + stats.lookup_retries, 0);
/// println!("{stats:?}");
/// # Ok::<(), guira::InsertBatchError>(())
/// ```
#[cfg(feature = "stats")]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Items added.
    pub inserts: u64,
    /// Fingerprints that moved to their alternate bucket to make room.
    pub relocations: u64,
    /// Inserts by the number of relocations that each made. The last place counts inserts with
    /// 15 relocations or more.
    pub relocations_per_insert: [u64; MAX + 1],
    /// Eviction paths that searches found, by their length in relocations. The length is zero
    /// if a slot had become empty meanwhile. Not every path is followed to its end, since it
    /// may be stale by then.
    pub path_lengths: [u64; MAX + 1],
    /// Searches that found no empty slot.
    pub failed_searches: u64,
    /// How often a lookup retried, because another thread moved, replaced or removed an item of
    /// the same stripe meanwhile, cleared the filter, or began a generation. Includes retries
    /// of inserts that count copies because of a limit on them. Not counted: items that a vector
    /// kernel looks up again one by one.
    pub lookup_retries: u64,
    /// How often a thread waited for the lock of a stripe.
    pub lock_waits: u64,
}

/// The counters of a table.
#[derive(Debug)]
pub struct Counters {
    #[cfg(feature = "stats")]
    inserts: ShardedCounter,
    #[cfg(feature = "stats")]
    rare: crossbeam_utils::CachePadded<Rare>,
}

/// Counters of events that are rare or slow.
#[derive(Debug, Default)]
struct Rare {
    relocations: Tally,
    relocating: [Tally; MAX + 1],
    paths: [Tally; MAX + 1],
    failed: Tally,
    retries: Tally,
}

impl Counters {
    pub(crate) fn new() -> Option<Self> {
        Some(Self {
            #[cfg(feature = "stats")]
            inserts: ShardedCounter::new(SHARDS)?,
            #[cfg(feature = "stats")]
            rare: Rare::default().into(),
        })
    }

    /// Bytes that the counters allocate.
    pub(crate) fn bytes() -> usize {
        if cfg!(feature = "stats") { ShardedCounter::bytes_for(SHARDS) } else { 0 }
    }

    /// A fingerprint was added.
    #[inline]
    pub(crate) fn inserted(&self) {
        #[cfg(feature = "stats")]
        self.inserts.add(1);
    }

    /// An insert that searched for room has added its fingerprint.
    pub(crate) fn insert_relocated(&self, relocations: &RelocationCount) {
        #[cfg(feature = "stats")]
        self.rare.relocating[relocations.0.get().min(MAX)].add(1);
    }

    /// A fingerprint was moved to its alternate bucket.
    #[inline]
    pub(crate) fn relocated(&self) {
        #[cfg(feature = "stats")]
        self.rare.relocations.add(1);
    }

    /// A search found an eviction path of these moves.
    pub(crate) fn found_path(&self, moves: impl Iterator) {
        #[cfg(feature = "stats")]
        self.rare.paths[moves.count().min(MAX)].add(1);
    }

    /// A search found no empty slot.
    pub(crate) fn search_failed(&self) {
        #[cfg(feature = "stats")]
        self.rare.failed.add(1);
    }

    /// A lookup retries.
    #[inline]
    pub(crate) fn lookup_retried(&self) {
        #[cfg(feature = "stats")]
        self.rare.retries.add(1);
    }

    /// Returns the statistics, given the number of waits.
    #[cfg(feature = "stats")]
    pub(crate) fn read(&self, waits: u64) -> Stats {
        let number = |tally: &Tally| tally.get() as u64;
        let inserts = self.inserts.sum() as u64;
        let mut per_insert = self.rare.relocating.each_ref().map(number);
        // Those that needed no search, too. While writers run, the sum may lag.
        per_insert[0] = inserts.saturating_sub(per_insert[1..].iter().sum());
        Stats {
            inserts,
            relocations: number(&self.rare.relocations),
            relocations_per_insert: per_insert,
            path_lengths: self.rare.paths.each_ref().map(number),
            failed_searches: number(&self.rare.failed),
            lookup_retries: number(&self.rare.retries),
            lock_waits: waits,
        }
    }
}

/// The number of relocations that one insert has made.
#[derive(Debug, Default)]
pub struct RelocationCount(#[cfg(feature = "stats")] core::cell::Cell<usize>);

impl RelocationCount {
    pub(crate) fn zero() -> Self {
        Self::default()
    }

    #[inline]
    pub(crate) fn increment(&self) {
        #[cfg(feature = "stats")]
        self.0.set(self.0.get() + 1);
    }
}

/// How often a thread waited for a stripe's lock.
#[derive(Debug, Default)]
pub(crate) struct Waits(#[cfg(feature = "stats")] Tally);

impl Waits {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Acquires the lock, and counts a wait if it was held.
    #[inline]
    pub(crate) fn lock<'a>(&self, lock: &'a Lock) -> LockGuard<'a> {
        #[cfg(feature = "stats")]
        match lock.try_lock() {
            Some(guard) => return guard,
            None => self.0.add(1),
        }
        lock.lock()
    }

    #[cfg(feature = "stats")]
    pub(crate) fn read(&self) -> u64 {
        self.0.get() as u64
    }
}
