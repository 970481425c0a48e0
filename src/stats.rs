//! What goes on inside a filter, counted. Without the feature `stats` nothing is, and none of this takes a byte or
//! an instruction.

#[cfg(feature = "stats")]
pub use on::Stats;
pub(crate) use on_or_off::{Counters, Made, Waits};

#[cfg(feature = "stats")]
use on as on_or_off;

#[cfg(not(feature = "stats"))]
use off as on_or_off;

#[cfg(feature = "stats")]
mod on {
    use alloc::sync::Arc;
    use core::{cell::Cell, fmt};

    use crossbeam_utils::CachePadded;

    use crate::{
        counter::ShardedCounter,
        sync::{Lock, LockGuard, Tally},
    };

    /// Relocations of an insert, and lengths of a path, that are told apart; the last stands for itself and more.
    const MOST: usize = 15;

    /// What went on inside a filter since it was made or loaded, as [`CuckooFilter::stats`](crate::CuckooFilter::stats) has counted it.
    ///
    /// Exact when nobody else uses the filter, like [`len`](crate::CuckooFilter::len). Only with the feature `stats`.
    ///
    /// ```
    /// let filter = guira::CuckooFilter::with_capacity(1_000);
    /// filter.try_extend(0..1_000)?;
    /// let stats = filter.stats();
    /// assert_eq!(stats.inserts, 1_000);
    /// assert_eq!(stats.lock_waits + stats.look_up_retries, 0);
    /// println!("{stats:?}");
    /// # Ok::<(), guira::InsertBatchError>(())
    /// ```
    #[derive(Clone, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct Stats {
        /// Items added.
        pub inserts: u64,
        /// Items that moved to their other bucket, to make room for others.
        pub relocations: u64,
        /// Inserts by the relocations that each made: none, one, two and so on; the last place counts all that
        /// made 15 or more.
        pub relocations_per_insert: [u64; MOST + 1],
        /// Paths to a free lane that searches found, by their length in relocations: of none where room had come
        /// by itself, and so on, as above. Not every path is followed to its end: it may be stale by then.
        pub path_lengths: [u64; MOST + 1],
        /// Searches that found no free lane.
        pub failed_searches: u64,
        /// Rounds that look-ups made again, since another thread had moved or removed an item of the same stripe
        /// meanwhile. (In semi-sorted layouts also where a closer look found a glance to be wrong.)
        pub look_up_retries: u64,
        /// Locks of a stripe that were taken when a thread wanted them, so that it waited.
        pub lock_waits: u64,
    }

    impl fmt::Debug for Stats {
        /// The numbers, and the histograms without the places that are zero.
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            /// A histogram's places that are not zero.
            struct Places<'a>(&'a [u64; MOST + 1]);
            impl fmt::Debug for Places<'_> {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    let places = self.0.iter().enumerate();
                    f.debug_map().entries(places.filter(|(_, number)| **number > 0)).finish()
                }
            }
            f.debug_struct("Stats")
                .field("inserts", &self.inserts)
                .field("relocations", &self.relocations)
                .field("relocations_per_insert", &Places(&self.relocations_per_insert))
                .field("path_lengths", &Places(&self.path_lengths))
                .field("failed_searches", &self.failed_searches)
                .field("look_up_retries", &self.look_up_retries)
                .field("lock_waits", &self.lock_waits)
                .finish()
        }
    }

    /// The counters of a filter; clones are the same counters.
    #[derive(Clone, Debug)]
    pub(crate) struct Counters(Arc<All>);

    #[derive(Debug)]
    struct All {
        inserts: ShardedCounter,
        rare: CachePadded<Rare>,
    }

    /// Counters of what is rare, or slow anyway.
    #[derive(Debug)]
    struct Rare {
        relocations: Tally,
        crowded: [Tally; MOST + 1],
        paths: [Tally; MOST + 1],
        failed: Tally,
        retries: Tally,
    }

    impl Counters {
        pub(crate) fn new() -> Self {
            let histogram = || [(); MOST + 1].map(|()| Tally::new());
            let rare = Rare {
                relocations: Tally::new(),
                crowded: histogram(),
                paths: histogram(),
                failed: Tally::new(),
                retries: Tally::new(),
            };
            let inserts = ShardedCounter::new(usize::MAX >> 1);
            Self(Arc::new(All { inserts, rare: CachePadded::new(rare) }))
        }

        pub(crate) fn size_in_bytes(&self) -> usize {
            size_of::<All>() + self.0.inserts.size_in_bytes()
        }

        /// An item was added.
        pub(crate) fn inserted(&self) {
            self.0.inserts.add(1);
        }

        /// It was added, or will be, by an insert that searched for room.
        pub(crate) fn settled(&self, made: &Made) {
            // Those that made none are known from the others.
            if made.0.get() > 0 {
                self.0.rare.crowded[made.0.get().min(MOST)].add(1);
            }
        }

        /// A fingerprint was moved to its other bucket.
        pub(crate) fn relocated(&self) {
            self.0.rare.relocations.add(1);
        }

        /// A search found a path of so many moves.
        pub(crate) fn found_path(&self, moves: impl Iterator) {
            self.0.rare.paths[moves.count().min(MOST)].add(1);
        }

        /// A search found none.
        pub(crate) fn found_none(&self) {
            self.0.rare.failed.add(1);
        }

        /// A look-up goes another round.
        pub(crate) fn retried(&self) {
            self.0.rare.retries.add(1);
        }

        /// What has been counted, with the waits for so many locks.
        pub(crate) fn read(&self, waits: u64) -> Stats {
            let number = |tally: &Tally| tally.get() as u64;
            let inserts = self.0.inserts.sum() as u64;
            let mut per_insert = self.0.rare.crowded.each_ref().map(number);
            // Beside writers the sum may be behind.
            per_insert[0] = inserts.saturating_sub(per_insert[1..].iter().sum());
            Stats {
                inserts,
                relocations: number(&self.0.rare.relocations),
                relocations_per_insert: per_insert,
                path_lengths: self.0.rare.paths.each_ref().map(number),
                failed_searches: number(&self.0.rare.failed),
                look_up_retries: number(&self.0.rare.retries),
                lock_waits: waits,
            }
        }
    }

    /// How many relocations one insert has made.
    #[derive(Debug, Default)]
    pub(crate) struct Made(Cell<usize>);

    impl Made {
        pub(crate) fn none() -> Self {
            Self::default()
        }

        pub(crate) fn one_more(&self) {
            self.0.update(|made| made + 1);
        }
    }

    /// How often a stripe's lock was waited for.
    #[derive(Debug)]
    pub(crate) struct Waits(Tally);

    impl Waits {
        pub(crate) fn new() -> Self {
            Self(Tally::new())
        }

        /// Takes the lock, and counts if that took waiting.
        pub(crate) fn lock<'a>(&self, lock: &'a Lock) -> LockGuard<'a> {
            lock.try_lock().unwrap_or_else(|| {
                self.0.add(1);
                lock.lock()
            })
        }

        pub(crate) fn read(&self) -> u64 {
            self.0.get() as u64
        }
    }
}

#[cfg(not(feature = "stats"))]
#[expect(clippy::unused_self, reason = "as where it is counted")]
mod off {
    use crate::sync::{Lock, LockGuard};

    #[derive(Clone, Debug)]
    pub(crate) struct Counters;

    impl Counters {
        pub(crate) fn new() -> Self {
            Self
        }

        #[inline]
        pub(crate) fn size_in_bytes(&self) -> usize {
            0
        }

        #[inline]
        pub(crate) fn inserted(&self) {}

        #[inline]
        pub(crate) fn settled(&self, _made: &Made) {}

        #[inline]
        pub(crate) fn relocated(&self) {}

        #[inline]
        pub(crate) fn found_path(&self, _moves: impl Iterator) {}

        #[inline]
        pub(crate) fn found_none(&self) {}

        #[inline]
        pub(crate) fn retried(&self) {}
    }

    #[derive(Debug, Default)]
    pub(crate) struct Made;

    impl Made {
        #[inline]
        pub(crate) fn none() -> Self {
            Self
        }

        #[inline]
        pub(crate) fn one_more(&self) {}
    }

    #[derive(Debug)]
    pub(crate) struct Waits;

    impl Waits {
        pub(crate) fn new() -> Self {
            Self
        }

        #[inline]
        pub(crate) fn lock<'a>(&self, lock: &'a Lock) -> LockGuard<'a> {
            lock.lock()
        }
    }
}
