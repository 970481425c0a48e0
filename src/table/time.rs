//! What the steps of every table ask of its clock, if it has one.

use core::fmt::Debug;

use super::ClockState;
use crate::bucket::{BucketLayout, Fingerprint};

/// What a table knows about the age of its slots. The implementation for `()` is that of tables
/// whose slots never expire: it does nothing, at compile time.
pub trait Clock: Debug + Send + Sync {
    /// Whether a slot can be swept while another thread holds its stripe.
    const SWEEPS: bool;

    /// The current generation. A thread that acquired a lock before this call, and holds it, may
    /// decide by the result what has expired.
    fn now(&self) -> u64;

    /// Marks the slots of a word that have expired.
    fn expired<L: BucketLayout>(&self, now: u64, word: u64) -> u64;

    /// Counts slots that were marked in this word, and have been swept.
    fn count_swept<L: BucketLayout>(&self, word: u64, marks: u64);

    /// Counts a slot that was filled with this fingerprint.
    fn count_added(&self, fingerprint: Fingerprint);

    /// Counts a slot that held this fingerprint and was emptied.
    fn count_removed(&self, fingerprint: Fingerprint);

    /// Counts the slots of a word that was cleared.
    fn count_cleared<L: BucketLayout>(&self, word: u64);

    /// The number of visible slots, if slots expire. Exact if no writer runs.
    fn visible_slots(&self) -> Option<i64>;

    /// The state of the clock in a copy that is in this generation, if slots expire.
    fn read(&self, generation: u64) -> Option<ClockState>;

    /// Holds up sweeps until the result is dropped. The clock ticks at most once meanwhile.
    fn pause(&self) -> impl Sized + '_;

    /// Sets the clock of a table that is not shared.
    fn set(&mut self, state: ClockState);

    /// Counts the slots of these words, which are all there are.
    fn count_all<L: BucketLayout>(&self, words: &[u64]);

    /// Bytes of what the clock allocates.
    fn size_in_bytes(&self) -> usize;
}

impl Clock for () {
    const SWEEPS: bool = false;

    #[inline]
    fn now(&self) -> u64 {
        0
    }

    #[inline]
    fn expired<L: BucketLayout>(&self, _now: u64, _word: u64) -> u64 {
        0
    }

    #[inline]
    fn count_swept<L: BucketLayout>(&self, _word: u64, _marks: u64) {}

    #[inline]
    fn count_added(&self, _fingerprint: Fingerprint) {}

    #[inline]
    fn count_removed(&self, _fingerprint: Fingerprint) {}

    #[inline]
    fn count_cleared<L: BucketLayout>(&self, _word: u64) {}

    #[inline]
    fn visible_slots(&self) -> Option<i64> {
        None
    }

    #[inline]
    fn read(&self, _generation: u64) -> Option<ClockState> {
        None
    }

    #[inline]
    fn pause(&self) -> impl Sized + '_ {}

    fn set(&mut self, _state: ClockState) {}

    fn count_all<L: BucketLayout>(&self, _words: &[u64]) {}

    #[inline]
    fn size_in_bytes(&self) -> usize {
        0
    }
}
