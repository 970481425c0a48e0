//! The clock of an expiring filter: its time to live, its generations, and the sweep.

use alloc::sync::Arc;
use core::time::Duration;

use crate::{
    FilterBuilder,
    filter::{Filter, engine::Engine},
    kind::{Expiring, Growth},
    table::TimeSource,
};

impl<G: Growth, S> Filter<Expiring, G, S> {
    /// Begins the next generation, and returns it, in a filter without a
    /// [`ttl`](FilterBuilder::ttl). Items that are older than the [`window`](Self::window) are no
    /// longer found. With a `ttl`, writes begin the generations: this begins none, and returns the
    /// current one.
    ///
    /// The generation that is returned began after the call did, unless it is the last one that a
    /// clock has, which stays. Each call begins at most one
    /// generation, and calls that overlap may share one: if a call waits for another one that has
    /// not yet begun its generation, both return that generation.
    ///
    /// First acquires and releases every lock of the filter, one after the other, and frees what
    /// has expired in those buckets that were not [swept](Self::sweep) in this generation: reads
    /// each of them, and writes those in which something has expired. Lookups and inserts go on
    /// meanwhile.
    ///
    /// ```
    /// let seen = guira::ExpiringFilter::builder().capacity(1_000).window(1).build().unwrap();
    /// let generation = seen.insert("nonce").unwrap();
    /// assert_eq!(seen.advance(), generation + 1);
    /// assert!(seen.contains("nonce"));
    /// assert_eq!(seen.advance(), generation + 2);
    /// assert!(!seen.contains("nonce"));
    /// ```
    pub fn advance(&self) -> u64 {
        self.engine.advance()
    }

    /// Frees what has expired in the next buckets that were not swept in this generation, at most
    /// `buckets` of them. Returns the number of buckets that are left. With a
    /// [`ttl`](FilterBuilder::ttl), also begins the generation that is due, as a write does, and
    /// goes on with the pass over the buckets that has begun, or begins the next one.
    ///
    /// Never necessary: [`advance`](Self::advance) sweeps what is left, with a `ttl` writes do, and
    /// an insert whose two buckets are full sweeps the one that it adds to. A sweep spreads the
    /// work, and makes room earlier. It waits for each stripe in turn, and for 1,024 buckets at a
    /// time, it holds a lock for which only other sweeps, copies of the filter, and `advance` wait.
    ///
    /// ```
    /// let seen = guira::ExpiringFilter::builder().capacity(10_000).window(13).build().unwrap();
    /// while seen.sweep(100) > 0 {} // Between two calls, do something else.
    /// seen.advance(); // has nothing left to sweep
    /// ```
    #[doc(alias = "purge")]
    #[doc(alias = "shrink")]
    pub fn sweep(&self, buckets: u64) -> u64 {
        self.engine.sweep(buckets)
    }

    /// Returns the current generation. It increases by one whenever [`advance`](Self::advance)
    /// begins one, or with a [`ttl`](FilterBuilder::ttl), a write or a [`sweep`](Self::sweep). A
    /// new filter starts in some generation that is not less than its window.
    ///
    /// ```
    /// let seen = guira::ExpiringFilter::builder().capacity(1_000).window(13).build().unwrap();
    /// assert!(seen.generation() >= 13);
    /// ```
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.engine.clock().generation()
    }

    /// Returns the window: an item is found in the generation of its insert, and in this many
    /// further ones. With a [`ttl`](FilterBuilder::ttl), it is 6, and an item is found until its
    /// generation has ended and the time to live has passed.
    ///
    /// ```
    /// let seen = guira::ExpiringFilter::builder().capacity(1_000).window(13).build().unwrap();
    /// assert_eq!(seen.window(), 13);
    /// ```
    #[must_use]
    pub fn window(&self) -> u32 {
        self.engine.clock().window()
    }

    /// Returns the time to live, or `None` in a filter whose generations the caller begins.
    ///
    /// ```
    /// let seen = guira::ExpiringFilter::builder().capacity(1_000).window(13).build().unwrap();
    /// assert_eq!(seen.ttl(), None);
    /// ```
    #[must_use]
    pub fn ttl(&self) -> Option<Duration> {
        self.engine.clock().time_to_live().map(Duration::from_nanos)
    }
}

impl<G: Growth, S> FilterBuilder<Expiring, G, S> {
    /// Sets the window, from 1 to 253 generations, of a filter whose generations you begin by
    /// [`advance`](Filter::advance). An item is found in the generation of its insert and in this
    /// many further ones.
    ///
    /// Each slot stores the generation of its item in a stamp: 2 bits for a window of 1, 3 bits up
    /// to 5, 4 up to 13, 5 up to 29, 6 up to 61, 7 up to 125, and 8 up to 253. The other bits are
    /// the fingerprint, so each bit of the stamp doubles the false-positive rate. A longer window
    /// measures time more finely: an item lives between w and w + 1 generations. (With a
    /// [`layout`](Self::layout), its values must have as many bits as the stamps.)
    ///
    /// Any other window is an error of [`build`](Self::build):
    /// [`InvalidWindow`](crate::BuildError::InvalidWindow). So is a window beside a
    /// [`ttl`](Self::ttl), and neither of them:
    /// [`TtlAndWindow`](crate::BuildError::TtlAndWindow),
    /// [`NoExpiry`](crate::BuildError::NoExpiry).
    ///
    /// ```
    /// let builder = guira::ExpiringFilter::builder().capacity(1_000_000);
    /// let fine = builder.clone().window(13).build().unwrap();
    /// let coarse = builder.window(5).build().unwrap();
    /// assert_eq!((fine.window(), fine.layout().value_bits()), (13, 4));
    /// assert_eq!((coarse.window(), coarse.layout().value_bits()), (5, 3));
    /// assert!(fine.false_positive_rate() < 0.001_9 && coarse.false_positive_rate() < 0.001);
    /// ```
    pub fn window(mut self, generations: u32) -> Self {
        self.settings.window = Some(generations);
        self
    }

    /// Sets the time to live, from 20 µs to 36 years. **An item is found for the time to live after
    /// its insert or refresh began, and not after 1.2 times the time to live and two lags of the
    /// clock after that returned, whatever is written or not.** It is found for longer only while a
    /// thread that is stopped in a call, or a lack of writes that sweep, holds up the next
    /// generation: see [the guide](crate::docs::expiry#how-long-an-item-is-found).
    ///
    /// The clock is one of the system that is never set, or your own: [`clock`](Self::clock). From
    /// a time to live of 361 ms on, it is a coarse clock, which lags behind by at most 72 ms. Below
    /// that, it is a precise one, which does not, and takes longer to read. Writes read it, and so
    /// do lookups that find a copy; those that find none do not. A batch reads it once for 16 keys.
    /// [The guide](crate::docs::expiry#what-the-clock-costs) has figures.
    ///
    /// **Size.** Set a [`capacity`](Self::capacity) of a third more items than come in a time to
    /// live, at the busiest time. That is one interval, a sixth, for the generation that is filled,
    /// and one for what has expired and is not yet swept.
    ///
    /// A snapshot contains the time to live and the ages of the items. The time between two
    /// processes does not count.
    ///
    /// Any other time is an error of [`build`](Self::build):
    /// [`InvalidTtl`](crate::BuildError::InvalidTtl). So is a [`window`](Self::window) beside it:
    /// [`TtlAndWindow`](crate::BuildError::TtlAndWindow).
    ///
    /// ```
    /// # #[cfg(feature = "std")] {
    /// use std::time::Duration;
    ///
    /// let builder = guira::ExpiringFilter::builder().ttl(Duration::from_secs(600));
    /// let seen = builder.capacity(500 * 800).build().unwrap(); // 500 come in a second
    /// assert!(seen.insert_unique("nonce").unwrap().is_new());
    /// assert!(!seen.insert_unique("nonce").unwrap().is_new()); // a replay, for ten minutes
    /// # }
    /// ```
    pub fn ttl(mut self, time: Duration) -> Self {
        self.settings.time_to_live = Some(time);
        self
    }

    /// Sets the clock of a filter with a [`ttl`](Self::ttl): a function that returns the time in
    /// nanoseconds, from any start on, up to 292 years.
    ///
    /// Use it for tests, for the times of events in a stream, or where the program reads a clock
    /// anyway and keeps the time in an atomic: then lookups need not read a clock of the system.
    /// Each write calls the function, and so do lookups that find a copy, batches, `count`, `len`,
    /// sweeps and copies. No lock is held meanwhile. If it panics, a write
    /// may have been done, as far as it got.
    ///
    /// All threads should see one clock that never goes back. If it goes back by some time, or if
    /// the clocks of two threads differ by it, an item may be found for so much longer or shorter.
    ///
    /// A clone shares the function. A [`Loader`](crate::Loader::clock) needs it again.
    ///
    /// ```
    /// use std::{
    ///     sync::atomic::{AtomicU64, Ordering::Relaxed},
    ///     time::Duration,
    /// };
    ///
    /// static NOW: AtomicU64 = AtomicU64::new(0);
    /// let builder = guira::ExpiringFilter::builder().capacity(1_000).ttl(Duration::from_secs(60));
    /// let seen = builder.clock(|| NOW.load(Relaxed)).build().unwrap();
    /// seen.insert("nonce").unwrap();
    /// NOW.store(59_000_000_000, Relaxed);
    /// assert!(seen.contains("nonce"));
    /// NOW.store(73_000_000_000, Relaxed);
    /// assert!(!seen.contains("nonce"));
    /// ```
    pub fn clock(mut self, now: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        self.settings.clock = Some(TimeSource::User(Arc::new(now)));
        self
    }

    /// As [`clock`](Self::clock), for other languages: takes no memory.
    #[doc(hidden)]
    #[cfg(feature = "raw")]
    pub fn foreign_clock(mut self, now: fn([usize; 2]) -> u64, data: [usize; 2]) -> Self {
        self.settings.clock = Some(TimeSource::Foreign(now, data));
        self
    }
}
