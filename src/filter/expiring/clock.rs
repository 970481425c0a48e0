//! The clock of an expiring filter: its window, its generations, and the sweeps between them.

use core::time::Duration;

use super::{Expiring, Ticker};
use crate::{FilterBuilder, filter::Filter};

impl<S> Filter<Expiring, S> {
    /// Begins the next generation, and returns it. Items that are older than the
    /// [`window`](Self::window) are no longer found.
    ///
    /// First frees what has expired in those buckets that were not [swept](Self::sweep) in this
    /// generation: reads each of them, and writes those in which something has expired. Then
    /// acquires and releases every lock of the filter, one after the other. Lookups and inserts go
    /// on meanwhile. Calls that overlap wait for each other, and each of them begins a generation.
    /// A thread that is suspended while it holds a lock delays the call.
    ///
    /// ```
    /// let seen = guira::ExpiringFilter::builder().capacity(1_000).window(2).build()?;
    /// let generation = seen.insert("nonce").unwrap();
    /// assert_eq!(seen.advance(), generation + 1);
    /// assert_eq!(seen.advance(), generation + 2);
    /// assert!(seen.contains("nonce"));
    /// assert_eq!(seen.advance(), generation + 3);
    /// assert!(!seen.contains("nonce"));
    /// # Ok::<(), guira::BuildError>(())
    /// ```
    #[doc(alias = "tick")]
    pub fn advance(&self) -> u64 {
        self.core.engine.advance()
    }

    /// Frees what has expired in the next buckets that were not swept in this generation, at most
    /// `buckets` of them. Returns the number of buckets that are left.
    ///
    /// Never necessary: [`advance`](Self::advance) sweeps what is left, and an insert whose two
    /// buckets are full sweeps the one that it adds to. A sweep spreads the work of an `advance`
    /// over the generation, and makes room earlier. For 1,024 buckets at a time, it holds a lock
    /// for which only other sweeps, copies of the filter, and `advance` wait.
    ///
    /// ```
    /// let seen = guira::ExpiringFilter::with_capacity(10_000);
    /// while seen.sweep(100) > 0 {
    ///     // Something else.
    /// }
    /// seen.advance(); // has nothing left to sweep
    /// ```
    #[doc(alias = "purge")]
    #[doc(alias = "shrink")]
    pub fn sweep(&self, buckets: u64) -> u64 {
        self.core.engine.sweep(buckets)
    }

    /// Returns the present generation. It increases by one with each [`advance`](Self::advance); a
    /// new filter starts in some generation above zero.
    ///
    /// ```
    /// let seen = guira::ExpiringFilter::with_capacity(1_000);
    /// assert_eq!(seen.insert("nonce"), Ok(seen.generation()));
    /// ```
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.core.engine.generation()
    }

    /// Returns the window: an item is found in the generation of its insert, and in this many
    /// further ones.
    ///
    /// ```
    /// assert_eq!(guira::ExpiringFilter::with_capacity(1_000).window(), 13);
    /// ```
    #[must_use]
    pub fn window(&self) -> u32 {
        self.core.engine.window()
    }

    /// Returns a ticker, which advances this filter by the caller's clock so that items live for a
    /// time. See [`Ticker`] for how long exactly.
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    ///
    /// let seen = guira::ExpiringFilter::with_capacity(1_000);
    /// let (mut ticker, start) = (seen.ticker(Duration::from_secs(60)), Instant::now());
    /// // In a loop, several times per interval:
    /// ticker.tick(&seen, || start.elapsed());
    /// ```
    #[must_use]
    pub fn ticker(&self, time_to_live: Duration) -> Ticker {
        Ticker::new(time_to_live, self.window())
    }
}

impl<S> FilterBuilder<Expiring, S> {
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
    /// use guira::{BuildError, ExpiringFilter};
    ///
    /// let builder = ExpiringFilter::builder().capacity(1_000_000);
    /// let (fine, coarse) = (builder.clone().build()?, builder.clone().window(5).build()?);
    /// assert_eq!((fine.window(), fine.layout().value_bits()), (13, 4));
    /// assert_eq!((coarse.window(), coarse.layout().value_bits()), (5, 3));
    /// assert!(fine.false_positive_rate() < 0.001_9 && coarse.false_positive_rate() < 0.001);
    /// assert_eq!(builder.window(0).build().unwrap_err(), BuildError::InvalidWindow(0));
    /// # Ok::<(), BuildError>(())
    /// ```
    pub fn window(mut self, generations: u32) -> Self {
        self.settings.window = Some(generations);
        self
    }
}
