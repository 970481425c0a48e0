//! The schedule of a table whose slots expire: when the next generation is due, by the caller's
//! clock.
//!
//! The clock is a function of the caller, in nanoseconds. It may stand still, go back, or begin
//! anew in another process: only the steps forward between two readings are counted. So the time
//! that was counted exceeds the time that has passed only if the clock is set forward.
//!
//! # Why a generation is never too short
//!
//! A generation is due when the *elapsed* time has reached the interval. Each reading that is
//! counted was taken after the one before it had been counted: the number of counted readings is
//! noted before the clock is read, and the reading is discarded if that number has changed. So the
//! sum of all steps is at most the time from the first of them to the last. The first reading of a
//! generation counts nothing, and was taken after the generation had begun, because its number was
//! read before the clock was. A number that is older than the generation that was counted last is
//! discarded, with its reading: it would undo the count of the later generation. So `elapsed` is at
//! most the age of the generation, and a generation that `tick_by` begins ends one that has lasted
//! for an interval: it begins from the very generation that was measured.
//!
//! `advance_to` counts from one generation to the next, as if each had begun when it was due. So
//! the one that it ends with may be short. That shortens no item's life: an item that is inserted
//! in it is found in the window of whole generations that follow.
//!
//! # Locks
//!
//! The lock of the schedule is held while a generation begins, and so while waiting for
//! `advancing`, `sweeping`, and stripes. So nobody waits for it with one of these held. No lock is
//! held while the caller's clock is read.

use core::cmp::Ordering;

use crate::sync::{Acquire, Lock, LockGuard, Relaxed, Release, Word};

/// A clock of nanoseconds that never goes back. Any two are equal, because no copy contains one: it
/// contains that there is one.
#[derive(Clone, Copy, Debug)]
pub struct TimeSource(pub fn() -> u64);

impl TimeSource {
    /// That of the system.
    #[cfg(feature = "std")]
    pub(crate) fn system() -> Self {
        Self(super::system_time::now)
    }

    /// Reads the clock.
    #[inline]
    pub(super) fn now(self) -> u64 {
        (self.0)()
    }
}

impl PartialEq for TimeSource {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

impl Eq for TimeSource {}

/// Largest reading of a clock in nanoseconds: 584 years. What is stored is a reading plus one.
pub(crate) const MAX_READING: u64 = u64::MAX - 1;

/// A clock as snapshots and clones contain it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockState {
    /// Largest age of a visible slot, in generations.
    pub window: u32,
    /// The present generation.
    pub generation: u64,
    /// Least nanoseconds of a generation, or zero if none is ever due.
    pub interval: u64,
    /// The clock of a table that keeps time itself.
    pub time: Option<TimeSource>,
    /// Nanoseconds of the present generation that were counted.
    pub elapsed: u64,
    /// The last reading of the caller's clock, in nanoseconds, plus one; or zero if the next
    /// reading counts nothing.
    pub latest: u64,
}

impl ClockState {
    /// The clock of a new table.
    #[must_use]
    pub fn new(window: u32, generation: u64, interval: u64) -> Self {
        Self { window, generation, interval, time: None, elapsed: 0, latest: 0 }
    }

    /// A clock of this generation by which those slots are visible that this clock shows, and that
    /// will not have expired in a later generation.
    #[cfg(feature = "std")]
    pub(crate) fn looked_at_from(self, generation: u64) -> Self {
        let later = generation.saturating_sub(self.generation);
        match u64::from(self.window).checked_sub(later) {
            Some(window) => Self { window: window as u32, ..self },
            // No slot has the stamp of the next generation, but perhaps one of a late insert.
            None => Self { window: 0, generation: self.generation + 1, ..self },
        }
    }
}

/// The time of the present generation that was counted, and the last reading.
#[derive(Debug)]
pub(super) struct Schedule {
    /// As in [`ClockState`].
    pub(super) interval: u64,
    /// The number of counted readings. Written under the lock.
    readings: Word,
    counting: Lock,
    /// The generation that `elapsed` belongs to. This and what follows is accessed under the lock.
    generation: Word,
    /// As in [`ClockState`].
    elapsed: Word,
    /// As in [`ClockState`].
    latest: Word,
}

/// The schedule, locked.
#[derive(Debug)]
pub(super) struct Counting<'a> {
    schedule: &'a Schedule,
    _guard: LockGuard<'a>,
}

impl Schedule {
    pub(super) fn new(state: ClockState) -> Self {
        Self {
            interval: state.interval,
            readings: Word::new(0),
            counting: Lock::new(),
            generation: Word::new(state.generation),
            elapsed: Word::new(state.elapsed),
            latest: Word::new(state.latest),
        }
    }

    /// Returns the number of counted readings, before the clock is read.
    pub(super) fn readings(&self) -> u64 {
        // Acquire: pairs with the Release of `store`. The clock is read after the reading that was
        // counted last.
        // mutant-ok: the caller's clock is in no model
        self.readings.load(Acquire)
    }

    /// Locks the schedule to count a reading that was taken in a generation. Returns `None` if
    /// another thread is counting one, has counted one since [`readings`](Self::readings) returned
    /// `before`, or has counted one of a later generation.
    pub(super) fn try_count(&self, before: u64, generation: u64) -> Option<Counting<'_>> {
        self.counting(self.counting.try_lock()?, before, generation)
    }

    /// As [`try_count`](Self::try_count), but waits while another thread is counting.
    pub(super) fn count(&self, before: u64, generation: u64) -> Option<Counting<'_>> {
        self.counting(self.counting.lock(), before, generation)
    }

    fn counting<'a>(
        &'a self,
        guard: LockGuard<'a>,
        before: u64,
        generation: u64,
    ) -> Option<Counting<'a>> {
        // Relaxed, twice: the lock orders these loads.
        let is_in_time = self.readings.load(Relaxed) == before;
        // The number of the generation is older than that of the readings.
        let is_present = self.generation.load(Relaxed) <= generation;
        (is_in_time && is_present).then_some(Counting { schedule: self, _guard: guard })
    }

    /// The schedule as a copy that is in this generation contains it.
    pub(super) fn read(&self, window: u32, generation: u64) -> ClockState {
        let counting = Counting { schedule: self, _guard: self.counting.lock() };
        let latest = self.latest.load(Relaxed);
        let latest = match self.generation.load(Relaxed).cmp(&generation) {
            // `advance` has begun the generation, at an unknown time after the last reading.
            Ordering::Less => 0,
            // The generation of the copy has ended since. The reading came after its beginning.
            Ordering::Equal | Ordering::Greater => latest,
        };
        let elapsed = counting.elapsed_of(generation).unwrap_or(0);
        ClockState { elapsed, latest, ..ClockState::new(window, generation, self.interval) }
    }
}

// All loads and stores are Relaxed, because the lock orders them.
impl Counting<'_> {
    /// The time that was counted of a generation, if it is the one that was counted last.
    fn elapsed_of(&self, generation: u64) -> Option<u64> {
        let is_counted = self.schedule.generation.load(Relaxed) == generation;
        is_counted.then(|| self.schedule.elapsed.load(Relaxed))
    }

    /// The time from the last reading to this one, or zero if there is no last one, or if the clock
    /// went back.
    fn step(&self, reading: u64) -> u64 {
        match self.schedule.latest.load(Relaxed) {
            0 => 0,
            latest => reading.saturating_sub(latest - 1),
        }
    }

    /// The time of a generation that was counted, up to this reading. None, if no reading of it was
    /// counted before.
    fn elapsed_at(&self, reading: u64, generation: u64) -> u64 {
        let elapsed = self.elapsed_of(generation);
        elapsed.map_or(0, |elapsed| elapsed.saturating_add(self.step(reading)))
    }

    /// Counts the reading, and returns whether the next generation is due. If so, the caller begins
    /// it and calls [`began`](Self::began).
    pub(super) fn is_due(&self, reading: u64, generation: u64) -> bool {
        let interval = self.schedule.interval;
        let elapsed = self.elapsed_at(reading, generation);
        self.set(generation, elapsed, reading);
        interval != 0 && elapsed >= interval
    }

    /// Counts the reading after a time in which nobody used the table. Returns the number of
    /// generations that are due, at most `limit`, and the time that is left of it. The caller
    /// begins them and calls [`set`](Self::set).
    pub(super) fn absence(&self, reading: u64, generation: u64, limit: u64) -> (u64, u64) {
        let interval = self.schedule.interval;
        let elapsed = self.elapsed_at(reading, generation);
        match elapsed.checked_div(interval) {
            None => (0, 0),
            Some(due) if due < limit => (due, elapsed % interval),
            Some(_) => (limit, 0),
        }
    }

    /// Begins to count another generation. The next reading counts nothing, because it is not known
    /// when the generation began.
    pub(super) fn began(&self, generation: u64) {
        self.store(generation, 0, 0);
    }

    /// Goes on with this time in a generation, from this reading.
    pub(super) fn set(&self, generation: u64, elapsed: u64, reading: u64) {
        self.store(generation, elapsed, reading.saturating_add(1));
    }

    fn store(&self, generation: u64, elapsed: u64, latest: u64) {
        let schedule = self.schedule;
        schedule.generation.store(generation, Relaxed);
        schedule.elapsed.store(elapsed, Relaxed);
        schedule.latest.store(latest, Relaxed);
        // Release: pairs with the Acquire of `readings`.
        // mutant-ok: the caller's clock is in no model
        schedule.readings.store(schedule.readings.load_to_change(Relaxed) + 1, Release);
    }
}
