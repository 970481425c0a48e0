//! The only door to atomics and locks: std's, or those of a model checker.
//!
//! Everything that threads share is built from [`Word`] (an atomic `u64`), [`Tally`] (an atomic
//! signed counter), [`Lock`] and [`SetOnce`]. No other module names an atomic type. Which implementation stands
//! behind them is chosen by a cfg, never by a feature, so that no dependent can switch it by accident:
//! `loom` for the models of `loom-tests/`, `shuttle` for the linearizability tests. (The feature `std` chooses between locks
//! that park and locks that spin.) A third cfg,
//! `guira_steps`, keeps std's and puts a hook before every step: see [`steps`].

#[cfg(guira_steps)]
pub mod steps;

#[cfg(not(any(loom, shuttle)))]
use core::sync;

#[cfg(loom)]
use loom::sync;

#[cfg(all(shuttle, not(loom)))]
use shuttle::sync;

use sync::atomic;

pub(crate) use core::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release};
pub(crate) use threads::{number_of_this_thread, processors};

/// Says that a step is about to be taken, to whoever listens under `--cfg guira_steps`.
macro_rules! step {
    ($step:ident) => {
        #[cfg(guira_steps)]
        steps::take(steps::Step::$step);
    };
}

mod lock;
mod set_once;
#[cfg(any(loom, not(any(feature = "std", shuttle))))]
pub(crate) mod spin;
mod threads;

pub(crate) use lock::{Lock, LockGuard};
pub(crate) use set_once::SetOnce;

/// An atomic `u64`: a bucket, or an version.
#[derive(Debug)]
#[repr(transparent)]
pub(crate) struct Word(atomic::AtomicU64);

impl Word {
    /// A word with this value.
    pub(crate) fn new(value: u64) -> Self {
        Self(atomic::AtomicU64::new(value))
    }

    /// Loads the value.
    #[inline]
    pub(crate) fn load(&self, order: Ordering) -> u64 {
        step!(Load);
        self.0.load(order)
    }

    /// Loads the value for a thread that may go on to change this very word.
    ///
    /// In a normal build this is [`load`](Self::load). Under loom it is a read-modify-write that
    /// changes nothing: loom 0.7.2 skips schedules where a thread loads an atomic and then writes
    /// the same atomic, so a plain load here would hide the races that the models are for. The
    /// price is that under loom such a load never sees a stale value.
    #[inline]
    pub(crate) fn load_to_change(&self, order: Ordering) -> u64 {
        step!(Load);
        #[cfg(not(loom))]
        return self.0.load(order);
        #[cfg(loom)]
        return self.0.fetch_or(0, order);
    }

    /// Stores a value, for the one thread that may write here.
    #[inline]
    pub(crate) fn store(&self, value: u64, order: Ordering) {
        step!(Change);
        self.0.store(value, order);
    }

    /// Changes `old` into `new`, or returns the value that stands there instead.
    #[inline]
    pub(crate) fn compare_exchange(
        &self,
        old: u64,
        new: u64,
        success: Ordering,
        failure: Ordering,
    ) -> Result<(), u64> {
        step!(Change);
        // Not the weak form: a failure costs a second look at the word, and loom has no spurious
        // failures to offer in exchange.
        self.0.compare_exchange(old, new, success, failure).map(drop)
    }

    /// Replaces the value, and returns the one before.
    pub(crate) fn swap(&self, value: u64, order: Ordering) -> u64 {
        step!(Change);
        self.0.swap(value, order)
    }

    /// Sets the value through an exclusive reference.
    pub(crate) fn set(&mut self, value: u64) {
        #[cfg(not(loom))]
        {
            *self.0.get_mut() = value;
        }
        #[cfg(loom)]
        self.0.with_mut(|word| *word = value);
    }
}

/// An atomic signed counter, of which only the sum over many is ever of interest.
#[derive(Debug)]
pub(crate) struct Tally(atomic::AtomicI64);

impl Tally {
    /// A counter at zero.
    pub(crate) fn new() -> Self {
        Self(atomic::AtomicI64::new(0))
    }

    /// Adds to the counter.
    #[inline]
    pub(crate) fn add(&self, change: i64) {
        // Relaxed: a statistic; nothing is read or freed on the strength of it. Whoever needs the
        // exact sum has joined the writers or otherwise synchronized with them.
        self.0.fetch_add(change, Relaxed);
    }

    /// The counter's value.
    pub(crate) fn get(&self) -> i64 {
        // Relaxed: see `add`.
        self.0.load(Relaxed)
    }
}
