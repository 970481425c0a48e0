//! The clock of an expiring filter: its window, its generations, and the sweeps between them.

use core::time::Duration;

use crate::{
    FilterBuilder,
    filter::{
        Filter,
        engine::{Engine, reading},
    },
    kind::{Expiring, Growth},
};

impl<G: Growth, S> Filter<Expiring, G, S> {
    /// Begins the next generation, and returns it. Items that are older than the
    /// [`window`](Self::window) are no longer found.
    ///
    /// The generation that is returned began after the call did, unless it is the last one that a
    /// clock has, which stays. Each call begins at most one
    /// generation, and calls that overlap may share one: if a call waits for another one that has
    /// not yet begun its generation, both return that generation.
    ///
    /// First frees what has expired in those buckets that were not [swept](Self::sweep) in this
    /// generation: reads each of them, and writes those in which something has expired. (In a
    /// filter with a [`ttl`](FilterBuilder::ttl), it completes the sweep that has begun, which may
    /// be that of an earlier generation.) Then acquires and releases every lock of the filter, one
    /// after the other. Lookups and inserts go on meanwhile.
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
    /// `buckets` of them. Returns the number of buckets that are left. (If the sweep of an earlier
    /// generation was still to be completed, that is its number, and a later call sweeps again. So
    /// it does if another call begins a generation, or tries to, at that moment.)
    ///
    /// Never necessary: [`advance`](Self::advance) sweeps what is left, and an insert whose two
    /// buckets are full sweeps the one that it adds to. A sweep spreads the work, and makes room
    /// earlier. For 1,024 buckets at a time, it holds a lock for which only other sweeps, copies of
    /// the filter, `advance`, and `tick` wait.
    ///
    /// ```
    /// let seen = guira::ExpiringFilter::with_capacity(10_000);
    /// while seen.sweep(100) > 0 {} // Between two calls, do something else.
    /// seen.advance(); // has nothing left to sweep
    /// ```
    #[doc(alias = "purge")]
    #[doc(alias = "shrink")]
    pub fn sweep(&self, buckets: u64) -> u64 {
        self.engine.sweep(buckets)
    }

    /// Returns the present generation. It increases by one whenever [`advance`](Self::advance),
    /// [`tick`](Self::tick), [`tick_by`](Self::tick_by), or [`advance_to`](Self::advance_to) begins
    /// one, or a write to a filter that keeps time. A new filter starts in some generation that is
    /// not less than its window.
    ///
    /// ```
    /// assert!(guira::ExpiringFilter::with_capacity(1_000).generation() >= 13);
    /// ```
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.engine.clock().generation()
    }

    /// Returns the window: an item is found in the generation of its insert, and in this many
    /// further ones.
    ///
    /// ```
    /// assert_eq!(guira::ExpiringFilter::with_capacity(1_000).window(), 13);
    /// ```
    #[must_use]
    pub fn window(&self) -> u32 {
        self.engine.clock().window()
    }

    /// Lets time pass in a filter with a [`ttl`](FilterBuilder::ttl): begins the generations that
    /// are due, and sweeps what is due. Returns the present generation if this call has begun it.
    ///
    /// Each write does a part of this, so nobody has to call it while there are writes. Call it
    /// before lookups in a filter to which nobody has written for a while, or from a timer. One
    /// call makes up for any pause. It sweeps as many buckets as are due. If that is many, writes
    /// that come when a generation is due may wait for it. If nothing is due, it only reads the
    /// clock. Another call may have begun a later generation than the one that is returned.
    ///
    /// ```
    /// # #[cfg(feature = "std")] {
    /// use std::time::Duration;
    ///
    /// let builder = guira::ExpiringFilter::builder().ttl(Duration::from_millis(5));
    /// let seen = builder.capacity(1_000).build().unwrap();
    /// seen.insert("nonce").unwrap();
    /// while seen.contains("nonce") {
    ///     seen.tick();
    /// }
    /// # }
    /// ```
    pub fn tick(&self) -> Option<u64> {
        self.engine.tick()
    }

    /// Begins the next generation if it is due by the caller's clock, and returns it.
    ///
    /// A generation is due when `clock` has moved forward by the [`interval`](Self::interval) since
    /// the generation before it began. Call this several times in an interval, from as many threads
    /// as you like: only one of them begins the generation, and the others return `None` at once.
    /// However late the calls come, each begins at most one generation, and at most two if another
    /// one falls due meanwhile. (If [`advance`] began the present one, time counts from the next
    /// call of this method. In a new filter, the first call begins nothing: time counts from it.)
    ///
    /// All calls must read one clock. It may stand still, and it may be set back: if it shows less
    /// than the last reading, no time has passed since that. Each step forward begins at most one
    /// generation too early. A reading of more than 584 years counts as 584 years.
    ///
    /// `clock` is called once, and twice if a generation begins, which costs an [`advance`]. No
    /// lock is held meanwhile. Without a [`time_to_live`](FilterBuilder::time_to_live), nothing is
    /// ever due.
    ///
    /// [`advance`]: Self::advance
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    ///
    /// let builder = guira::ExpiringFilter::builder().capacity(1_000).window(5);
    /// let seen = builder.time_to_live(Duration::from_millis(5)).build().unwrap();
    /// let start = Instant::now();
    /// while seen.tick_by(|| start.elapsed()).is_none() {}
    /// assert!(start.elapsed() >= Duration::from_millis(1));
    /// ```
    pub fn tick_by(&self, clock: impl Fn() -> Duration) -> Option<u64> {
        self.engine.tick_by(|| reading(clock().as_nanos()))
    }

    /// Makes up for a time in which nobody used the filter: begins the generations that are due by
    /// the clock that is passed to [`tick_by`](Self::tick_by). Returns the present generation.
    ///
    /// Call it after a load or a long pause, before the filter is used again. Begins as many
    /// generations as there are whole [intervals](Self::interval) since the present one began, and
    /// at most as many as let every item expire: the [`window`](Self::window) + 1. If the clock
    /// shows less than the last reading, if there is none, or if [`advance`](Self::advance) began
    /// the present generation, no time has passed. See
    /// [restarts](crate::docs::expiry#restarts) for which clock to use.
    ///
    /// An item that was inserted after the last call of `tick_by` or of this method counts as
    /// inserted at that call. So call `tick_by` right before you save a filter.
    ///
    /// `clock` is called at least once, and again whenever another call of `tick_by` or of this
    /// method has read a clock meanwhile, for which this one waits. So `clock` must call neither:
    /// this method would not return.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let builder = guira::ExpiringFilter::builder().capacity(1_000).window(5);
    /// let seen = builder.time_to_live(Duration::from_secs(50)).build().unwrap();
    /// let (noon, first) = (Duration::from_secs(1_800_000_000), seen.generation());
    /// seen.tick_by(|| noon);
    /// // After a pause of 25 seconds; the third generation is due 5 seconds later.
    /// assert_eq!(seen.advance_to(|| noon + Duration::from_secs(25)), first + 2);
    /// assert_eq!(seen.tick_by(|| noon + Duration::from_secs(30)), Some(first + 3));
    /// ```
    pub fn advance_to(&self, clock: impl Fn() -> Duration) -> u64 {
        self.engine.advance_to(|| reading(clock().as_nanos()))
    }

    /// Returns the least time that a generation lasts, if [`tick_by`](Self::tick_by) begins all of
    /// them and the clock is not set forward: the [`time_to_live`](FilterBuilder::time_to_live)
    /// divided by the window, rounded up to nanoseconds, and at least one. `None` without a time to
    /// live.
    ///
    /// ```
    /// assert_eq!(guira::ExpiringFilter::with_capacity(1_000).interval(), None);
    /// ```
    #[must_use]
    pub fn interval(&self) -> Option<Duration> {
        let interval = self.engine.clock().interval();
        (interval != 0).then(|| Duration::from_nanos(interval))
    }
}

impl<G: Growth, S> FilterBuilder<Expiring, G, S> {
    /// Sets the window, from 1 to 253 generations; 13 by default. An item is found in the
    /// generation of its insert and in this many further ones.
    ///
    /// Each slot stores the generation of its item in a stamp: 2 bits for a window of 1, 3 bits up
    /// to 5, 4 up to 13, 5 up to 29, 6 up to 61, 7 up to 125, and 8 up to 253. The other bits are
    /// the fingerprint, so each bit of the stamp doubles the false-positive rate. A longer window
    /// measures time more finely: an item lives between w and w + 1 generations. (With a
    /// [`layout`](Self::layout), its values must have as many bits as the stamps.)
    ///
    /// Any other window is an error of [`build`](Self::build):
    /// [`InvalidWindow`](crate::BuildError::InvalidWindow).
    ///
    /// ```
    /// let builder = guira::ExpiringFilter::builder().capacity(1_000_000);
    /// let (fine, coarse) = (builder.clone().build().unwrap(), builder.window(5).build().unwrap());
    /// assert_eq!((fine.window(), fine.layout().value_bits()), (13, 4));
    /// assert_eq!((coarse.window(), coarse.layout().value_bits()), (5, 3));
    /// assert!(fine.false_positive_rate() < 0.001_9 && coarse.false_positive_rate() < 0.001);
    /// ```
    pub fn window(mut self, generations: u32) -> Self {
        self.settings.window = Some(generations);
        self
    }

    /// Sets how long an item is found at least, in a filter that keeps time itself. Needs `std`. A
    /// later [`time_to_live`](Self::time_to_live) changes the time, and the filter still keeps it.
    ///
    /// Each write lets time pass: it reads a clock of the system that is never set, and begins the
    /// generations that are due. If no writes come, call [`tick`](Filter::tick) before lookups,
    /// which read no clock.
    ///
    /// - An item is found **for the time to live at least**, from the beginning of the write that
    ///   inserts or refreshes it, whatever other threads do.
    /// - The first write or `tick` that comes **a time to live, one [interval](Filter::interval),
    ///   and twice the lag of the clock** after that write returned forgets it. The interval is a
    ///   sixth of the time to live and the lag.
    ///
    /// **Sweeps.** What has expired is freed by the writes of half an interval: each sweeps at most
    /// 1,024 buckets (about 20 µs) before it, and a batch as many again for every 64 items, after
    /// them. The second promise supposes that enough of them come, or a `tick`, which sweeps what
    /// is due, and that no other call sweeps or copies the filter at that moment. Otherwise items
    /// are found for longer, never shorter. See [the guide](crate::docs::expiry#a-time-to-live) for
    /// the numbers, for the lag, which both promises suppose, and for what writes wait for.
    ///
    /// **Size.** Set a [`capacity`](Self::capacity) of a third more items than come in a time to
    /// live, at the busiest time. That is one interval for the generation that is filled, and one
    /// for what has expired and is not yet swept.
    ///
    /// Another [`window`](Self::window) divides the time to live into as many intervals. The
    /// shortest windows of a number of stamp bits, such as 6, make up for a pause without a sweep.
    /// With longer ones, a write after a pause begins fewer generations, and a `tick` sweeps more.
    ///
    /// A snapshot contains the time to live, and how far the generation has come. The time between
    /// two processes does not count. [`advance`](Filter::advance) takes an interval from the items
    /// that are in the filter, for example in [a test](crate::docs::expiry#tests-of-time).
    /// [`tick_by`](Filter::tick_by) and [`advance_to`](Filter::advance_to) do nothing.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let builder = guira::ExpiringFilter::builder().ttl(Duration::from_secs(600));
    /// let seen = builder.capacity(500 * 800).build().unwrap(); // 500 come in a second
    /// assert!(seen.insert_unique("nonce").unwrap().is_new());
    /// assert!(!seen.insert_unique("nonce").unwrap().is_new()); // a replay, for ten minutes
    /// assert_eq!(seen.interval().unwrap().as_secs(), 100);
    /// ```
    #[cfg(feature = "std")]
    pub fn ttl(mut self, time: Duration) -> Self {
        self.settings.time_to_live = Some(time);
        self.settings.time =
            self.settings.time.or_else(|| Some(crate::table::TimeSource::system()));
        self
    }

    /// Sets the clock of a filter with a [`ttl`](Self::ttl), in nanoseconds. For tests. It must not
    /// call the filter.
    #[doc(hidden)]
    #[cfg(all(feature = "std", feature = "raw"))]
    pub fn clock(mut self, now: fn() -> u64) -> Self {
        self.settings.time = Some(crate::table::TimeSource(now));
        self
    }

    /// Sets how long an item that is inserted for the whole window is found at least, if
    /// [`tick_by`](Filter::tick_by) begins all generations and the clock is not set forward. With a
    /// [`ttl`](Self::ttl), the filter does so itself.
    ///
    /// [How long an item is found](crate::ExpiringFilter#how-long-an-item-is-found) says how long
    /// at most. Without a time to live, [`advance`](Filter::advance) begins each generation. An
    /// [`interval`](Filter::interval) beyond 584 years counts as 584 years.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let builder = guira::ExpiringFilter::builder().capacity(1_000).window(5);
    /// let seen = builder.time_to_live(Duration::from_secs(60)).build().unwrap();
    /// assert_eq!(seen.interval(), Some(Duration::from_secs(12)));
    /// ```
    pub fn time_to_live(mut self, time: Duration) -> Self {
        self.settings.time_to_live = Some(time);
        self
    }
}
