//! Where a table reads the time, and the state of a clock in copies and snapshots.

use alloc::sync::Arc;
use core::{
    fmt,
    panic::{RefUnwindSafe, UnwindSafe},
};

use crate::sync::acquire_fence;

/// Largest time by which the coarse clock lags behind, in nanoseconds. One processor moves it at
/// each of its ticks, at least 100 times in a second, by whole ticks: the rest, less than one,
/// stays out. Since Linux 5.18, another processor does so at the fifth tick at which it finds the
/// clock unmoved, so after six. These are seven ticks, and this is a little more. `docs/expiry.md`
/// says when that does not hold. The same on all systems, since a snapshot may be loaded on another
/// one.
const MAX_LAG: u64 = 72_000_000;
/// The shortest time to live for which the coarse clock serves: five times its lag, and what is
/// rounded. So an item is found for at most 1.2 times the time to live and two lags.
#[cfg(feature = "std")]
const MIN_COARSE: u64 = 5 * MAX_LAG + 1_000_000;
/// The shortest and the longest time to live: 20 µs, and 36 years. Intervals and ends are rounded
/// up to 256 ns each, a 30th of the former at most.
pub(crate) const TIMES_TO_LIVE: core::ops::RangeInclusive<u64> = 20_000..=1 << 60;
/// The window of a filter with a time to live: an item is found for at most seven sixths of it and
/// of what its clock lags behind. The 16 stamps of four bits leave six generations of room for a
/// pass over the buckets that takes long.
pub(crate) const WINDOW_OF_TTL: u32 = 6;
/// The time zero of every clock, as a table stores it: so there are times before it.
pub(super) const ZERO: u64 = 1 << 62;
/// Largest reading of a clock. A larger one counts as this.
const MAX_READING: u64 = 1 << 63;

/// The time that is left of the current generation, and until each one before it expires, as
/// numbers in two's complement.
#[cfg(feature = "std")]
pub(crate) type TimesLeft = [u64; 1 + WINDOW_OF_TTL as usize];

/// A time that has passed in a snapshot is at most this long ago.
#[cfg(feature = "std")]
const LONGEST_PAST: i64 = 1 << 61;

/// A function that returns the time in nanoseconds.
type Function = dyn Fn() -> u64 + Send + Sync;

/// Where a table reads the time. Any two functions are equal: no copy contains one, but that there
/// is one.
#[derive(Clone)]
pub enum TimeSource {
    /// The coarse monotonic clock of the system. It takes 3 ns where the precise one takes 20.
    Coarse,
    /// The monotonic clock of the system.
    Precise,
    /// A function of the caller.
    User(Arc<Function>),
    /// A function of another language, and what it gets. (It takes no memory.)
    Foreign(fn([usize; 2]) -> u64, [usize; 2]),
}

impl TimeSource {
    /// That of the system which serves for a time to live in nanoseconds.
    #[cfg(feature = "std")]
    pub(crate) fn system(time_to_live: u64) -> Self {
        if time_to_live < MIN_COARSE { Self::Precise } else { Self::Coarse }
    }

    /// Whether it is one of the caller.
    #[cfg(feature = "std")]
    pub(crate) fn is_of_caller(&self) -> bool {
        matches!(self, Self::User(_) | Self::Foreign(..))
    }

    /// The largest time by which it lags behind.
    pub(super) fn lag(&self) -> u64 {
        if matches!(self, Self::Coarse) { MAX_LAG } else { 0 }
    }

    /// Its number in the format of snapshots.
    #[cfg(feature = "std")]
    pub(crate) fn number(&self) -> u8 {
        match self {
            Self::Coarse => 1,
            Self::Precise => 2,
            Self::User(_) | Self::Foreign(..) => 3,
        }
    }

    /// The source with this number. A function is one that the loader replaces.
    #[cfg(feature = "std")]
    pub(crate) fn numbered(number: u8) -> Option<Self> {
        match number {
            1 => Some(Self::Coarse),
            2 => Some(Self::Precise),
            3 => Some(Self::Foreign(|_| 0, [0; 2])),
            _ => None,
        }
    }

    /// Reads the time, from [`ZERO`] on.
    #[inline]
    pub(super) fn read(&self) -> u64 {
        let reading = match self {
            #[cfg(feature = "std")]
            Self::Coarse => system::coarse(),
            #[cfg(feature = "std")]
            Self::Precise => system::precise(),
            #[cfg(not(feature = "std"))]
            Self::Coarse | Self::Precise => 0,
            Self::User(function) => function().min(MAX_READING),
            Self::Foreign(function, data) => function(*data).min(MAX_READING),
        };
        // What the caller reads next comes later than this.
        acquire_fence();
        reading + ZERO
    }

    /// Reads the time without a lag, for the times of a snapshot: a lag at its save, and another
    /// one at its load, would add to those of writes and lookups.
    pub(super) fn read_precisely(&self) -> u64 {
        if matches!(self, Self::Coarse) { Self::Precise.read() } else { self.read() }
    }
}

impl fmt::Debug for TimeSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Coarse => "Coarse",
            Self::Precise => "Precise",
            Self::User(_) | Self::Foreign(..) => "User",
        })
    }
}

impl PartialEq for TimeSource {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Coarse, Self::Coarse) | (Self::Precise, Self::Precise) => true,
            (Self::Coarse | Self::Precise, _) | (_, Self::Coarse | Self::Precise) => false,
            _ => true,
        }
    }
}

// A function that panics leaves the table as it is between two steps.
impl UnwindSafe for TimeSource {}
impl RefUnwindSafe for TimeSource {}

/// A clock as snapshots and clones contain it.
#[derive(Clone, Debug, PartialEq)]
pub struct ClockState {
    /// Largest age of a visible slot, in generations.
    pub window: u32,
    /// The current generation.
    pub generation: u64,
    /// No slot is of an earlier generation than this.
    pub clean: u64,
    /// The pass over the buckets that has begun: the generation before which it clears all slots,
    /// the number of buckets that it has swept, and of those to be swept. If none has, `clean` and
    /// zeros.
    pub pass: (u64, u64, u64),
    /// The last generation in which a refresh restamped a slot, or zero.
    pub refreshed: u64,
    /// If items have a time to live.
    pub time: Option<TimeState>,
}

/// The times of a clock as snapshots and clones contain it.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeState {
    /// Where the time is read.
    pub source: TimeSource,
    /// The time to live, in nanoseconds.
    pub time_to_live: u64,
    /// When the current generation ends. This and what follows is a time as the table stores it.
    pub due: u64,
    /// When the generations before it expire, the last one first: as many as the window has, at
    /// most six. The rest is zero.
    pub expiry: [u64; WINDOW_OF_TTL as usize],
    /// When this state was read, or `None` if the time that has passed since does not count: then
    /// it was read at `ZERO`.
    pub read_at: Option<u64>,
}

/// The times of a snapshot, as those that are left when it is taken, in nanoseconds.
#[cfg(feature = "std")]
impl TimeState {
    /// The state with these times.
    pub(crate) fn saved(source: TimeSource, time_to_live: u64, left: TimesLeft) -> Self {
        let [due, expiry @ ..] = left.map(|left| ZERO.wrapping_add(left));
        Self { source, time_to_live, due, expiry, read_at: None }
    }

    /// The times that are left.
    pub(crate) fn times_left(&self) -> TimesLeft {
        let (read_at, most) = (self.read_at.unwrap_or(ZERO), self.most_left());
        let [a, b, c, d, e, f] = self.expiry;
        [self.due, a, b, c, d, e, f].map(|time| {
            // More is left if the clock went back.
            let left = time.wrapping_sub(read_at) as i64;
            left.clamp(-LONGEST_PAST, most) as u64
        })
    }

    /// Whether a snapshot can have this time.
    pub(crate) fn can_be_left(&self, left: u64) -> bool {
        (-LONGEST_PAST..=self.most_left()).contains(&(left as i64))
    }

    /// More than is left of any generation, unless the clock goes back.
    fn most_left(&self) -> i64 {
        (2 * (self.time_to_live + self.source.lag() + super::clock::UNIT)) as i64
    }
}

impl ClockState {
    /// The clock of a new table, whose generations the caller begins.
    #[must_use]
    pub fn new(window: u32, generation: u64) -> Self {
        let clean = generation.saturating_sub(window.into());
        Self { window, generation, clean, pass: (clean, 0, 0), refreshed: 0, time: None }
    }

    /// The clock of a new table whose items have a time to live, in nanoseconds.
    #[must_use]
    pub fn timed(window: u32, generation: u64, time_to_live: u64, source: TimeSource) -> Self {
        let life = time_to_live + source.lag();
        let interval = interval(life, window);
        // As if there had been earlier generations: shorter lives take them.
        let expiry = core::array::from_fn(|nth| ZERO + life - nth as u64 * interval);
        let due = ZERO + interval;
        let time = TimeState { source, time_to_live, due, expiry, read_at: None };
        Self { time: Some(time), ..Self::new(window, generation) }
    }

    /// A clock that stands still, of this generation, by which those slots are visible that this
    /// clock shows when it is read, and that will not have expired in a later generation. (With a
    /// time to live, generations do not pass by themselves.)
    #[cfg(feature = "std")]
    pub(crate) fn looked_at_from(self, generation: u64) -> Self {
        let later = generation.saturating_sub(self.generation);
        let later = if self.time.is_some() { 0 } else { later };
        let visible = u64::from(self.visible_after(0)).saturating_sub(later);
        self.stopped(visible as u32)
    }

    /// A clock that stands still, of this generation, by which those slots are visible that this
    /// clock shows when this many nanoseconds have passed since it was read.
    #[cfg(feature = "std")]
    pub(crate) fn looked_at_after(self, nanos: u64) -> Self {
        let visible = self.visible_after(nanos);
        self.stopped(visible)
    }

    /// The number of visible ages when this many nanoseconds have passed since it was read.
    #[cfg(feature = "std")]
    fn visible_after(&self, nanos: u64) -> u32 {
        let Some(state) = &self.time else { return self.window + 1 };
        let time = state.read_at.unwrap_or(ZERO).saturating_add(nanos);
        let current = state.due.saturating_add(state.time_to_live + state.source.lag());
        let ages = [current].into_iter().chain(state.expiry).take(self.window as usize + 1);
        ages.take_while(|&end| time < end).count() as u32
    }

    /// A clock that stands still, by which only this many ages are visible.
    #[cfg(feature = "std")]
    fn stopped(self, visible: u32) -> Self {
        match visible.checked_sub(1) {
            Some(window) => Self { window, time: None, ..self },
            // No slot has the stamp of the next generation, but perhaps one of a late write.
            None => Self { window: 0, generation: self.generation + 1, time: None, ..self },
        }
    }
}

/// The nanoseconds of a generation: so many that a life is at most as long as a window of them, in
/// the unit in which a clock counts.
pub(super) fn interval(life: u64, window: u32) -> u64 {
    life.div_ceil(window.into()).next_multiple_of(super::clock::UNIT)
}

#[cfg(all(feature = "std", target_os = "linux"))]
mod system {
    /// The coarse monotonic clock, in nanoseconds since the start of the machine.
    #[inline]
    pub(super) fn coarse() -> u64 {
        read(libc::CLOCK_MONOTONIC_COARSE)
    }

    /// The monotonic clock, likewise.
    #[inline]
    pub(super) fn precise() -> u64 {
        read(libc::CLOCK_MONOTONIC)
    }

    #[inline]
    fn read(clock: libc::clockid_t) -> u64 {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the pointer is that of a local variable. The call cannot fail for these clocks;
        // if it did, the clock would stand still.
        unsafe { libc::clock_gettime(clock, &raw mut time) };
        time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
    }
}

#[cfg(all(feature = "std", not(target_os = "linux")))]
mod system {
    use std::{sync::OnceLock, time::Instant};

    pub(super) use self::precise as coarse;

    /// Nanoseconds since the first call.
    pub(super) fn precise() -> u64 {
        static START: OnceLock<Instant> = OnceLock::new();
        u64::try_from(START.get_or_init(Instant::now).elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}
