//! What the steps of every table ask of its clock, if it has one.

use core::fmt::Debug;

use super::{ClockState, SweepState};
use crate::bucket::Lanes;

/// What a table knows about the age of its slots. What is provided is that of tables whose slots
/// never expire: it does nothing, at compile time.
///
/// Words are passed without what is beside their slots, and a slot as a number that ends with its
/// stamp.
pub trait Clock: Debug + Send + Sync {
    /// Whether a slot can be swept while another thread holds its stripe.
    const SWEEPS: bool = false;

    /// The current generation. A thread that acquired a lock before this call, and holds it, may
    /// decide by the result what has expired.
    #[inline]
    fn now(&self) -> u64 {
        0
    }

    /// Returns whether the generation is unchanged, at the end of a lookup that read the words with
    /// Acquire.
    #[inline]
    fn validate(&self, _now: u64) -> bool {
        true
    }

    /// The stamp of a generation, or of a fingerprint.
    #[inline]
    fn stamp(&self, _generation: u64) -> u16 {
        0
    }

    /// Marks the slots of a word whose stamp is visible. Empty slots may be marked, too.
    #[inline]
    fn visible(&self, _lanes: Lanes, _now: u64, _word: u64) -> u64 {
        u64::MAX
    }

    /// Marks the slots of a word that have expired.
    #[inline]
    fn expired(&self, _lanes: Lanes, _now: u64, _word: u64) -> u64 {
        0
    }

    /// Counts slots that were marked in this word, and have been swept.
    #[inline]
    fn count_swept(&self, _lanes: Lanes, _word: u64, _marks: u64) {}

    /// Counts a slot that was filled.
    #[inline]
    fn count_added(&self, _slot: u32) {}

    /// Counts a slot that was emptied.
    #[inline]
    fn count_removed(&self, _slot: u32) {}

    /// Counts the slots of a word that was cleared.
    #[inline]
    fn count_cleared(&self, _lanes: Lanes, _word: u64) {}

    /// The number of visible slots, if slots expire. Exact if no writer runs.
    #[inline]
    fn visible_slots(&self) -> Option<i64> {
        None
    }

    /// The state of the clock in a copy that is in this generation, if slots expire.
    #[inline]
    fn read(&self, _generation: u64) -> Option<ClockState> {
        None
    }

    /// Holds up sweeps of all buckets until the result is dropped. The clock ticks at most once
    /// meanwhile.
    #[inline]
    fn pause(&self) -> impl Sized + '_ {}

    /// Sets the clock of a table that is not shared.
    fn set(&mut self, _state: ClockState) {}

    /// What a copy in this generation takes over of a table that grows and has this many buckets,
    /// if slots expire. The caller has paused this clock, and holds all stripes of its table.
    #[inline]
    fn read_sweep(&self, _generation: u64, _buckets: u64) -> Option<SweepState> {
        None
    }

    /// Sets what depends on the buckets of a table that grows and is not shared.
    fn set_sweep(&mut self, _state: &SweepState) {}

    /// Counts as swept no more than this many buckets, which are all that are left of a table that
    /// shrinks.
    fn limit_sweep(&mut self, _buckets: u64) {}

    /// Counts the slots of these words.
    fn count_all(&self, _lanes: Lanes, _words: &[u64]) {}

    /// Sweeps at most `buckets` of the next buckets that were not swept in this generation, unless
    /// another thread sweeps. `sweep` is called with the generation, each of these buckets, and the
    /// end up to which buckets are swept. If a sweep of an earlier generation is complete then,
    /// that of this one may begin, for all buckets of the table, whose number `all` reads.
    #[inline]
    fn try_sweep(
        &self,
        _all: impl FnOnce() -> u64,
        _buckets: u64,
        _sweep: impl FnMut(u64, u32, u64),
    ) {
    }

    /// Bytes of what the clock allocates.
    #[inline]
    fn size_in_bytes(&self) -> usize {
        0
    }
}

impl Clock for () {}
