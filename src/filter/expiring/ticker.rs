//! The ticker: advances a filter by the caller's clock, so that its items live for a time.

use core::time::Duration;

use super::ExpiringFilter;

/// Advances an [`ExpiringFilter`] so that its items live for a time: returned by
/// [`ticker`](crate::ExpiringFilter#method.ticker).
///
/// The filter has no clock, and neither has a ticker: the caller passes one that never goes back,
/// such as [`Instant::elapsed`]. One thread has the ticker, and calls [`tick`](Self::tick) again
/// and again. The first call only reads the clock.
///
/// A generation lasts for at least the [`interval`](Self::interval): the time to live divided by
/// the window w. So an item that was inserted with the full life is found
///
/// - for at least the time to live, however late the calls of `tick` come;
/// - for at most (w + 1) × (interval + delay), where the delay is the longest time that passes
///   between the moment at which a generation is due and the return of the call of `tick` that
///   begins it. With a window of 13 and a call ten times in an interval, that is about 1.2 times
///   the time to live.
///
/// (The lower bound counts from the beginning of the insert, the upper one from its return, or from
/// the first call of `tick` if that comes later.)
///
/// # Pauses
///
/// If [`tick`](Self::tick) is not called for a while (a pause), the ticker does not advance the
/// filter several times to catch up, because an item that was inserted during the pause would be
/// forgotten too early. So after a pause, old items are found for the rest of their generations. If
/// the filter was not used during the pause, let it catch up before it is
/// used again, by as many advances as [`resume`](Self::resume) returns: at most the window + 1,
/// after which nothing is left.
///
/// ```
/// use std::time::Duration;
///
/// # #[cfg(feature = "std")] {
/// let saved = guira::ExpiringFilter::builder().capacity(1_000).window(5).build()?;
/// saved.insert("nonce").unwrap();
///
/// // Two seconds later, in another process:
/// let filter = guira::ExpiringFilter::from_bytes(&saved.to_bytes()).unwrap();
/// let mut ticker = filter.ticker(Duration::from_secs(1));
/// for _ in 0..ticker.resume(Duration::from_secs(2)) {
///     filter.advance();
/// }
/// assert!(filter.is_empty());
/// # }
/// # Ok::<(), guira::BuildError>(())
/// ```
///
/// [`Instant::elapsed`]: https://doc.rust-lang.org/std/time/struct.Instant.html#method.elapsed
#[derive(Clone, Debug)]
pub struct Ticker {
    interval: Duration,
    window: u32,
    /// The reading of the clock at which the next generation is due, once it has been read.
    due: Option<Duration>,
}

impl Ticker {
    pub(super) fn new(time_to_live: Duration, window: u32) -> Self {
        let rounded_down = time_to_live / window;
        let is_exact = rounded_down * window == time_to_live;
        let rest = Duration::from_nanos(u64::from(!is_exact || time_to_live.is_zero()));
        let interval = rounded_down + rest;
        Self { interval, window, due: None }
    }

    /// Begins the next generation of the filter if it is due, and returns it. The filter should be
    /// the one for which the ticker was made, or one with the same window.
    ///
    /// A generation is due when the interval has passed since the return of the call that began the
    /// last one, or since the first call.
    ///
    /// Reads the clock once if nothing is due, and costs an
    /// [`advance`](crate::ExpiringFilter#method.advance) otherwise. Call it several times in an
    /// interval.
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    ///
    /// let filter = guira::ExpiringFilter::with_capacity(1_000);
    /// let start = Instant::now();
    /// let mut ticker = filter.ticker(Duration::from_millis(13));
    /// let first = filter.generation();
    /// while filter.generation() < first + 3 {
    ///     ticker.tick(&filter, || start.elapsed());
    ///     std::thread::sleep(ticker.interval() / 10);
    /// }
    /// assert!(start.elapsed() >= Duration::from_millis(3));
    /// ```
    pub fn tick<S>(
        &mut self,
        filter: &ExpiringFilter<S>,
        clock: impl Fn() -> Duration,
    ) -> Option<u64> {
        let now = clock();
        let due = *self.due.get_or_insert(now.saturating_add(self.interval));
        if now < due {
            return None;
        }
        let generation = filter.advance();
        // The clock is read again: the generation began at some moment of the advance.
        self.due = Some(clock().saturating_add(self.interval));
        Some(generation)
    }

    /// Returns the least time that a generation lasts: the time to live divided by the window,
    /// rounded up.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let filter = guira::ExpiringFilter::with_capacity(1_000);
    /// assert_eq!(filter.ticker(Duration::from_secs(130)).interval(), Duration::from_secs(10));
    /// ```
    #[must_use]
    pub fn interval(&self) -> Duration {
        self.interval
    }

    /// Returns the number of advances that make up for a pause during which the filter was not
    /// used, and lets the next generation be due an interval after the next call of
    /// [`tick`](Self::tick).
    ///
    /// The number is rounded down, so that no item is forgotten early. It is at most the window +
    /// 1: see [Pauses](Self#pauses).
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let filter = guira::ExpiringFilter::with_capacity(1_000);
    /// let mut ticker = filter.ticker(Duration::from_secs(130));
    /// assert_eq!(ticker.resume(Duration::from_secs(29)), 2);
    /// assert_eq!(ticker.resume(Duration::from_secs(86_400)), 14);
    /// ```
    #[must_use = "the caller makes the advances"]
    pub fn resume(&mut self, pause: Duration) -> u64 {
        self.due = None;
        let advances = pause.as_nanos() / self.interval.as_nanos();
        advances.min(u128::from(self.window) + 1) as u64
    }
}
