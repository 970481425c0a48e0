//! The clock of generations: what it counts, and what it does for the steps of every table.

use super::{
    keeper::Keeper,
    schedule::{ClockState, Schedule},
    stamp_counts::StampCounts,
};
use crate::{
    bucket::Lanes,
    sync::{Acquire, Lock, Relaxed, Release, Word},
};

/// Largest number of bits of a stamp.
const MAX_STAMP_BITS: u32 = 8;
/// The last generation, in which the clock stands still: so a table that was loaded from a snapshot
/// can be saved again. Only forged snapshots come near it.
pub(crate) const MAX_GENERATION: u64 = u64::MAX >> 1;

/// The smallest number of bits of stamps for a window, or `None` if there is none. An age is
/// visible, expired, or the last one, which is neither.
pub(crate) fn stamp_bits(window: u32) -> Option<u32> {
    (2..=MAX_STAMP_BITS).find(|bits| (1..=(1 << bits) - 3).contains(&window))
}

/// How far a table that grows is swept, as clones and snapshots contain it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SweepState {
    /// The number of buckets that were swept in this generation.
    pub swept: u64,
    /// The number of buckets to be swept in this generation.
    pub end: u64,
    /// The last generation in which a refresh restamped a slot, or zero.
    pub refreshed: u64,
}

/// A clock, and how far its table, which grows, is swept.
pub type ClockAndSweep = (ClockState, SweepState);

/// The clock of a table. If slots expire, it counts generations. It ticks when a caller says so
/// ([`advance`](crate::table::Table::advance)), or by a clock of the caller or of the table. If
/// slots never expire, it stands still at the generation 0.
///
/// Words are passed with their slots alone, without the level that words of tables that grow have.
/// A slot is passed as a number that ends with its stamp.
#[derive(Debug)]
pub struct Generations {
    /// Whether slots expire.
    sweeps: bool,
    pub(super) now: Word,
    /// Largest age of a visible slot, at most `2^stamp_bits - 3`.
    pub(super) window: u32,
    pub(super) stamp_bits: u32,
    /// The bits of a stamp.
    pub(super) mask: u64,
    /// Held while the clock ticks.
    pub(super) advancing: Lock,
    /// Held while buckets are swept, for one chunk of them.
    pub(super) sweeping: Lock,
    /// The buckets that have been swept by the sweep that has begun, and the number of those to be
    /// swept. Holders of `sweeping` access them.
    pub(super) swept: Word,
    pub(super) end: Word,
    /// The generation in which that sweep began: the present one, except between a tick and the
    /// beginning of its sweep. In a table that keeps time itself, it can be several
    /// generations old.
    pub(super) begun: Word,
    /// The generation in which the last complete sweep before that one began.
    pub(super) clean: Word,
    pub(super) counts: StampCounts,
    /// In a table that grows, the last generation in which a refresh restamped a slot, or zero.
    /// Written under the stripe of the slot.
    pub(super) refreshed: Word,
    pub(super) schedule: Schedule,
    /// If the table keeps time itself: see `keeper.rs`.
    pub(super) keeper: Option<Keeper>,
}

impl Generations {
    /// Returns a clock that starts in the generation `now`, or `None` if the system refuses the
    /// memory for its counters. Of a table that grows, the first `grows` buckets are to be swept.
    pub(crate) fn new(
        now: u64,
        (window, stamp_bits): (u32, u32),
        stripes: usize,
        grows: Option<u64>,
    ) -> Option<Self> {
        debug_assert!(window <= (1_u32 << stamp_bits) - 3);
        let counts = StampCounts::new(stamp_bits, stripes)?;
        let mut clock = Self::with_counts(now, (window, stamp_bits), counts);
        clock.end.set(grows.unwrap_or(0));
        Some(Self { sweeps: true, ..clock })
    }

    /// The clock of a table whose slots never expire. It allocates nothing.
    pub(crate) fn none() -> Self {
        Self::with_counts(0, (0, 0), StampCounts::none())
    }

    fn with_counts(now: u64, (window, stamp_bits): (u32, u32), counts: StampCounts) -> Self {
        Self {
            sweeps: false,
            now: Word::new(now),
            window,
            stamp_bits,
            mask: (1 << stamp_bits) - 1,
            advancing: Lock::new(),
            sweeping: Lock::new(),
            swept: Word::new(0),
            end: Word::new(0),
            begun: Word::new(now),
            clean: Word::new(now),
            counts,
            refreshed: Word::new(0),
            schedule: Schedule::new(ClockState::new(window, now, 0)),
            keeper: None,
        }
    }

    /// Whether slots expire, so that a slot can be swept while another thread holds its stripe.
    #[inline]
    #[must_use]
    pub fn sweeps(&self) -> bool {
        self.sweeps
    }

    /// The largest age of a visible slot.
    pub fn window(&self) -> u32 {
        self.window
    }

    /// The least number of nanoseconds of a generation, or zero if none is ever due.
    pub(crate) fn interval(&self) -> u64 {
        self.schedule.interval
    }

    /// The current generation, at the start of a lookup or an insert.
    #[inline]
    pub fn generation(&self) -> u64 {
        // Acquire: pairs with the Release of `tick` below. The words that the caller reads next
        // show what was swept before the tick.
        self.now.load(Acquire)
    }

    /// As [`generation`](Self::generation), for a thread that may begin the next one.
    pub(super) fn generation_to_change(&self) -> u64 {
        // Acquire: what the caller does next comes after the beginning of this generation.
        // mutant-ok: an advance validates it under a lock, and the caller's clock is in no model
        self.now.load_to_change(Acquire)
    }

    /// Begins the next generation. The caller holds `advancing`.
    pub(super) fn tick(&self) {
        // Relaxed: the lock orders this load.
        let now = self.now.load_to_change(Relaxed);
        // Release: pairs with the Acquire of `generation`. A swap only because of loom, which does
        // not know that a plain store follows a read-modify-write of `generation_to_change`.
        self.now.swap(now + 1, Release);
    }

    /// Returns whether a generation is visible.
    #[inline]
    pub(super) fn is_visible(&self, now: u64, generation: u64) -> bool {
        generation <= now && now - generation <= self.window.into()
    }

    /// Returns whether a slot that ends with a stamp is visible.
    #[inline]
    pub(in crate::table) fn shows(&self, now: u64, slot: u32) -> bool {
        self.age(now, slot) <= self.window
    }

    /// The age of a slot that ends with a stamp.
    #[inline]
    pub(super) fn age(&self, now: u64, slot: u32) -> u32 {
        (now.wrapping_sub(slot.into()) & self.mask) as u32
    }

    /// The ages of all slots of a word, empty ones included, in the lowest bits of each lane.
    #[inline]
    pub(super) fn ages(&self, lanes: Lanes, now: u64, word: u64) -> u64 {
        let stamps = lanes.broadcast(self.mask as u32);
        // The bit above each stamp is set, so that no lane borrows from the next one.
        let minuend = lanes.broadcast((now & self.mask) as u32 | 1 << self.stamp_bits);
        (minuend - (word & stamps)) & stamps
    }

    /// Marks the lanes whose age is at least `age`, which must be at least 1.
    #[inline]
    pub(super) fn at_least(&self, lanes: Lanes, ages: u64, age: u32) -> u64 {
        // The sum has the bit above the stamp if it reaches `2^stamp_bits`. No lane overflows.
        let sums = ages + lanes.broadcast((1 << self.stamp_bits) - age);
        sums << (lanes.bits() - 1 - self.stamp_bits) & lanes.highs()
    }

    /// Notes that a refresh is about to restamp a slot. The caller has acquired its stripe, and
    /// then read the generation `now`.
    pub(super) fn note_refresh(&self, now: u64) {
        // Relaxed: whoever depends on it acquires the stripe. Most refreshes of a generation only
        // read the line.
        if self.refreshed.load(Relaxed) < now {
            self.refreshed.fetch_max(now, Relaxed);
        }
    }

    /// Returns whether a slot of the caller's stripe that is still visible may have been restamped.
    /// The caller has acquired that stripe, and then read the generation `now`.
    pub(super) fn has_refreshed(&self, now: u64) -> bool {
        // Relaxed: as in `note_refresh`.
        let refreshed = self.refreshed.load(Relaxed);
        refreshed != 0 && now.saturating_sub(refreshed) <= self.window.into()
    }
}

/// What the steps of every table ask of its clock. Functions that are meant for tables whose slots
/// expire say so.
impl Generations {
    /// The current generation, or 0. A thread that acquired a lock before this call, and holds it,
    /// may decide by the result what has expired.
    #[inline]
    #[must_use]
    pub fn now(&self) -> u64 {
        // Relaxed: if a tick has passed the lock that the caller holds, the lock orders this load.
        if self.sweeps { self.now.load(Relaxed) } else { 0 }
    }

    /// Returns whether the generation is unchanged, after the caller has read words by Acquire.
    /// Only where slots expire.
    #[inline]
    #[must_use]
    pub fn validate(&self, now: u64) -> bool {
        debug_assert!(self.sweeps, "a table whose slots expire");
        // Relaxed is enough, for the reason given in `Stripe::changes_since`.
        self.now.load(Relaxed) == now
    }

    /// The stamp of a generation, or of a slot.
    #[inline]
    #[must_use]
    pub fn stamp(&self, generation: u64) -> u16 {
        (generation & self.mask) as u16
    }

    /// Marks the slots of a word whose stamp is visible. Empty slots may be marked, too. Only where
    /// slots expire.
    #[inline]
    pub(in crate::table) fn visible(&self, lanes: Lanes, now: u64, word: u64) -> u64 {
        let ages = self.ages(lanes, now, word);
        lanes.highs() & !self.at_least(lanes, ages, self.window + 1)
    }

    /// Marks the slots of a word that have expired.
    #[inline]
    pub(in crate::table) fn expired(&self, lanes: &Lanes, now: u64, word: u64) -> u64 {
        if self.sweeps { self.past(*lanes, now, word) } else { 0 }
    }

    /// As [`expired`](Self::expired), where slots expire.
    #[inline]
    fn past(&self, lanes: Lanes, now: u64, word: u64) -> u64 {
        let ages = self.ages(lanes, now, word);
        let past = self.at_least(lanes, ages, self.window + 1);
        // The last age is spared: see `mod.rs`.
        let last = self.at_least(lanes, ages, self.mask as u32);
        past & !last & !lanes.zeros(word)
    }

    /// Counts slots that were marked in this word, and have been swept.
    pub(in crate::table) fn count_swept(&self, lanes: Lanes, word: u64, mut marks: u64) {
        while marks != 0 {
            let slot = word >> lanes.lowest(marks);
            self.counts.add(self.stamp(slot), -1);
            marks &= marks - 1;
        }
    }

    /// Counts a slot that was filled.
    #[inline]
    pub(in crate::table) fn count_added(&self, slot: u32) {
        if self.sweeps {
            self.count(slot, 1);
        }
    }

    /// Counts a slot that was emptied.
    #[inline]
    pub(in crate::table) fn count_removed(&self, slot: u32) {
        if self.sweeps {
            self.count(slot, -1);
        }
    }

    /// (Out of line, so that inserts into sets have few instructions.)
    #[inline(never)]
    fn count(&self, slot: u32, change: i64) {
        self.counts.add(self.stamp(slot.into()), change);
    }

    /// Counts the slots of a word that was cleared.
    #[inline]
    pub(in crate::table) fn count_cleared(&self, lanes: Lanes, word: u64) {
        if self.sweeps {
            self.count_swept(lanes, word, lanes.nonzeros(word));
        }
    }

    /// The number of visible slots, if slots expire. Exact if no writer runs.
    #[must_use]
    pub fn visible_slots(&self) -> Option<i64> {
        self.sweeps.then(|| {
            let now = self.generation();
            (0..=self.window.into()).map(|age| self.counts.sum(self.stamp(now - age))).sum()
        })
    }

    /// The state of the clock in a copy that is in this generation, if slots expire.
    pub(crate) fn read(&self, generation: u64) -> Option<ClockState> {
        let state = self.sweeps.then(|| self.schedule.read(self.window, generation))?;
        let Some(keeper) = &self.keeper else { return Some(state) };
        let elapsed = keeper.elapsed(state.interval);
        Some(ClockState { time: Some(keeper.time), elapsed, ..state })
    }

    /// Holds up sweeps of all buckets until the result is dropped. The clock ticks at most once
    /// meanwhile.
    pub(in crate::table) fn pause(&self) -> impl Sized + '_ {
        self.sweeps.then(|| self.sweeping.lock())
    }

    /// Sets the clock of a table that is not shared. Only where slots expire.
    pub(in crate::table) fn set(&mut self, state: ClockState) {
        self.now.set(state.generation);
        self.begun.set(state.generation);
        // Slots may have expired long ago, so all buckets are swept before the next generation
        // begins. In the first generation of a table, no slot has.
        let clean = state.generation.saturating_sub(self.slack());
        self.clean.set(clean.max(self.window.into()));
        // Without an interval, no generation is ever due.
        let time = state.time.filter(|_| state.interval != 0);
        self.keeper = time.map(|time| Keeper::new(state, time));
        self.schedule = Schedule::new(state);
    }

    /// What a copy in this generation takes over of a table that grows and has this many buckets,
    /// if slots expire. The caller has paused this clock, and holds all stripes of its table.
    pub(in crate::table) fn read_sweep(&self, generation: u64, buckets: u64) -> Option<SweepState> {
        if !self.sweeps {
            return None;
        }
        // Relaxed, here and below: the caller holds the locks that order these loads.
        let refreshed = self.refreshed.load(Relaxed);
        if self.begun.load(Relaxed) == generation {
            let swept = self.swept.load(Relaxed);
            return Some(SweepState { swept, end: self.end(), refreshed });
        }
        // The generation has been published, and its sweep has not begun. In the copy it begins
        // now.
        Some(SweepState { swept: 0, end: buckets, refreshed })
    }

    /// Sets how far a table that grows is swept. It must not be shared.
    pub(in crate::table) fn set_sweep(&mut self, state: &SweepState) {
        self.swept.set(state.swept);
        self.end.set(state.end);
        self.refreshed.set(state.refreshed);
    }

    /// Counts as swept no more than this many buckets, which are all that are left of a table that
    /// shrinks.
    pub(in crate::table) fn limit_sweep(&mut self, buckets: u64) {
        self.end.set(self.end().min(buckets));
        // Relaxed: the table is not shared.
        self.swept.set(self.swept.load(Relaxed).min(buckets));
    }

    /// Counts the slots of these words. Only where slots expire.
    pub(in crate::table) fn count_all(&self, lanes: Lanes, words: &[u64]) {
        for &word in words {
            let mut marks = lanes.nonzeros(word);
            while marks != 0 {
                self.count_added((word >> lanes.lowest(marks)) as u32);
                marks &= marks - 1;
            }
        }
    }

    /// Sweeps at most `buckets` of the next buckets that were not swept in this generation, unless
    /// another thread sweeps. `sweep` is called with the generation, each of these buckets, and the
    /// end up to which buckets are swept. If a sweep of an earlier generation is complete then,
    /// that of this one may begin, for all buckets of the table, whose number `all` reads.
    pub(in crate::table) fn try_sweep(
        &self,
        all: impl FnOnce() -> u64,
        buckets: u64,
        sweep: impl FnMut(u64, u32, u64),
    ) {
        if !self.sweeps {
            return;
        }
        if let Some(_sweeping) = self.sweeping.try_lock() {
            let now = self.now();
            if self.sweep_locked((now, self.end()), buckets, sweep) == 0 {
                self.begin_missed_sweep(|| Some(all()));
            }
        }
    }

    /// Bytes of what the clock allocates.
    pub(crate) fn size_in_bytes(&self) -> usize {
        self.counts.size_in_bytes()
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use crate::table::Payload;

    /// A removal takes a restamped slot into account as long as one can be visible.
    #[test]
    fn a_refresh_is_remembered_for_a_window() {
        const WINDOW: u32 = 5;
        let clock = Payload::stamps(3, WINDOW, 10).clock(8, Some(16)).expect("memory");
        assert!(!clock.has_refreshed(10));
        for noted in [10, 12] {
            clock.note_refresh(noted);
            let last = noted + u64::from(WINDOW);
            assert!((noted..=last).all(|now| clock.has_refreshed(now)));
            assert!(!clock.has_refreshed(last + 1));
        }
    }
}
