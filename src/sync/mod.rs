//! The only door to atomics and locks: core's atomics, or those of a model checker.
//!
//! Everything that threads share in a filter is built from [`Word`] (an atomic `u64`), [`Tally`]
//! (an atomic signed counter) and [`Lock`]. Outside `sync`, only tests name atomic types. A cfg,
//! never a feature, selects the implementation, so that no dependent can switch it by accident:
//! `loom` for the models of `loom-tests/`, `shuttle` for the histories of `tests/public/`. A third
//! cfg, `guira_steps`, keeps std's types and adds a hook before every step: see [`steps`]. (The
//! feature `std` selects whether a thread that waits for a lock gives way to others, and whether
//! threads have numbers.)

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
pub(crate) use threads::number_of_this_thread;

/// Calls this thread's hook before a step, under `--cfg guira_steps`. Expands to nothing otherwise.
macro_rules! step {
    ($($step:tt)*) => {
        #[cfg(guira_steps)]
        steps::take(steps::Step::$($step)*);
    };
}

#[cfg(any(loom, shuttle))]
mod checker_lock;
#[cfg(any(loom, all(feature = "std", not(shuttle))))]
pub(crate) mod leases;
#[cfg(any(loom, not(shuttle)))]
pub(crate) mod lock;
mod threads;
#[cfg(guira_vectors)]
pub(crate) mod vector;

#[cfg(any(loom, shuttle))]
pub(crate) use checker_lock::{Lock, LockGuard};
#[cfg(not(any(loom, shuttle)))]
pub(crate) use lock::{Lock, LockGuard};

/// A full fence: for other threads that call it too, this thread's accesses before the call come
/// before its accesses after the call. (Shuttle is sequentially consistent, and has no fence.)
#[inline]
pub(crate) fn full_fence() {
    #[cfg(not(all(shuttle, not(loom))))]
    atomic::fence(Ordering::SeqCst);
}

/// An Acquire fence: if an earlier Relaxed load of this thread returned what a Release stored, or a
/// later change of the same release sequence, that Release happens before what follows the call.
/// (Shuttle is sequentially consistent, and has no fence.)
#[inline]
pub(crate) fn acquire_fence() {
    #[cfg(not(all(shuttle, not(loom))))]
    atomic::fence(Acquire);
}

/// Loads words by Relaxed, as fast as memory can be copied.
///
/// # Panics
/// If there are not as many values as words.
pub(crate) fn load_all(words: &[Word], values: &mut [u64]) {
    assert_eq!(words.len(), values.len(), "a value for each word");
    #[cfg(guira_vectors)]
    if size_of_val(words) >= vector::MIN_STREAMED {
        return vector::load_all(words, values);
    }
    for (word, value) in words.iter().zip(values) {
        *value = word.load(Relaxed);
    }
}

/// An atomic `u64`, such as a bucket or a version.
#[derive(Debug)]
#[repr(transparent)]
pub struct Word(atomic::AtomicU64);

impl Word {
    /// Returns a word with this value.
    pub(crate) fn new(value: u64) -> Self {
        Self(atomic::AtomicU64::new(value))
    }

    /// Loads the value.
    #[inline]
    pub(crate) fn load(&self, order: Ordering) -> u64 {
        step!(Load);
        self.0.load(order)
    }

    /// Loads the value for a thread that may change this word next.
    ///
    /// In a normal build this is [`load`](Self::load). Under loom it is a read-modify-write that
    /// changes nothing: loom 0.7.2 skips schedules in which a thread loads an atomic and then
    /// writes the same atomic, so a plain load would hide races that the models must explore. The
    /// cost is that under loom such a load never returns a stale value.
    #[inline]
    pub(crate) fn load_to_change(&self, order: Ordering) -> u64 {
        step!(Load);
        #[cfg(not(loom))]
        return self.0.load(order);
        #[cfg(loom)]
        return self.0.fetch_or(0, order);
    }

    /// Stores a value. Only one thread at a time may write to the word.
    #[inline]
    pub(crate) fn store(&self, value: u64, order: Ordering) {
        step!(Change);
        self.0.store(value, order);
    }

    /// Replaces `old` by `new`, or returns the current value if it is not `old`.
    #[inline]
    pub(crate) fn compare_exchange(
        &self,
        old: u64,
        new: u64,
        success: Ordering,
        failure: Ordering,
    ) -> Result<(), u64> {
        step!(Change);
        // Not the weak form: after a spurious failure the caller would compute the new word again,
        // and loom does not simulate spurious failures, so the models would not cover them.
        self.0.compare_exchange(old, new, success, failure).map(drop)
    }

    /// Replaces the value, and returns the previous one.
    pub(crate) fn swap(&self, value: u64, order: Ordering) -> u64 {
        step!(Change);
        self.0.swap(value, order)
    }

    /// Clears all bits but those of a mask, and returns the previous value.
    pub(crate) fn fetch_and(&self, mask: u64, order: Ordering) -> u64 {
        step!(Change);
        self.0.fetch_and(mask, order)
    }

    /// Raises the value to another one, unless it is larger. Returns the previous value.
    pub(crate) fn fetch_max(&self, value: u64, order: Ordering) -> u64 {
        step!(Change);
        self.0.fetch_max(value, order)
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

/// An atomic signed counter for statistics.
#[derive(Debug, Default)]
pub(crate) struct Tally(atomic::AtomicI64);

impl Tally {
    /// Returns a counter at zero.
    pub(crate) fn new() -> Self {
        Self(atomic::AtomicI64::new(0))
    }

    /// Adds to the counter. Only one thread at a time may call this, and no thread may call
    /// [`add`](Self::add). All earlier calls must have happened before this one.
    #[inline]
    pub(crate) fn add_alone(&self, change: i64) {
        // Relaxed: see `add_and_get`. Nothing comes between the load and the store, and the load
        // returns the last value: the earlier changes are this thread's own, or happened before.
        self.0.store(self.0.load(Relaxed) + change, Relaxed);
    }

    /// Adds to the counter.
    #[inline]
    pub(crate) fn add(&self, change: i64) {
        self.add_and_get(change);
    }

    /// Adds to the counter, and returns the sum.
    #[inline]
    pub(crate) fn add_and_get(&self, change: i64) -> i64 {
        // Relaxed: nothing is read or freed because of a counter's value. A caller that needs an
        // exact sum has joined the writers, or synchronized with them in another way.
        self.0.fetch_add(change, Relaxed) + change
    }

    /// Replaces the counter's value, and returns the previous one.
    pub(crate) fn swap(&self, value: i64) -> i64 {
        // Relaxed: see `add_and_get`.
        self.0.swap(value, Relaxed)
    }

    /// Returns the counter's value.
    pub(crate) fn get(&self) -> i64 {
        // Relaxed: see `add_and_get`.
        self.0.load(Relaxed)
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use alloc::{vec, vec::Vec};

    use super::{Word, load_all};

    /// Below and above the size from which values are stored past the caches.
    #[test]
    fn all_words_are_loaded_at_every_length() {
        #[cfg(guira_vectors)]
        let limit = super::vector::MIN_STREAMED / size_of::<Word>();
        #[cfg(not(guira_vectors))]
        let limit = 1 << 10;
        let words: Vec<Word> = (1..limit as u64 + 20).map(Word::new).collect();
        for len in [0, 1, limit - 1, limit, limit + 1, limit + 13] {
            // Values that begin and end within a cache line. Those beside them stay.
            let mut values = vec![0; len + 2];
            load_all(&words[3..3 + len], &mut values[1..=len]);
            let expected = (4..).take(len);
            assert!(values[1..=len].iter().copied().eq(expected), "{len} words");
            assert_eq!((values[0], values[len + 1]), (0, 0));
        }
    }
}
