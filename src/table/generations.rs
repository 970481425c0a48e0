//! What a clock of generations does for the steps of every table, and its sweeps.

use arrayvec::ArrayVec;

use super::{
    Clock, ClockState, Generations, clock::MAX_STAMPS, keeper::Keeper, schedule::Schedule,
};
use crate::{
    bucket::Lanes,
    sync::{Relaxed, Tally},
};

/// What depends on the buckets of a table that grows, as clones and snapshots contain it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SweepState {
    /// The number of buckets that were swept in this generation.
    pub swept: u64,
    /// The number of buckets to be swept in this generation.
    pub end: u64,
    /// The last generation in which a refresh restamped a slot, or zero.
    pub refreshed: u64,
    /// For each stamp, the number of visible slots that belong to no item.
    pub ghosts: ArrayVec<u64, MAX_STAMPS>,
}

/// A clock, and how far its table, which grows, is swept.
pub type ClockAndSweep = (ClockState, SweepState);

impl Generations {
    /// Sweeps at most `buckets` of the next buckets that were not swept in this generation, for a
    /// holder of `sweeping` that has read the generation and the end since: see
    /// [`Clock::try_sweep`]. Returns the number of buckets that are left.
    pub(super) fn sweep_locked(
        &self,
        (now, end): (u64, u64),
        buckets: u64,
        mut sweep: impl FnMut(u64, u32, u64),
    ) -> u64 {
        // Relaxed, here and below: the lock orders all accesses.
        let start = self.swept.load(Relaxed);
        let next = end.min(start.saturating_add(buckets));
        for bucket in start..next {
            sweep(now, bucket as u32, end);
        }
        self.swept.store(next, Relaxed);
        end - next
    }

    /// The number of buckets to be swept in this generation, in a table that grows, for a holder of
    /// `sweeping`.
    pub(super) fn end(&self) -> u64 {
        // Relaxed: the lock orders all accesses.
        self.end.load(Relaxed)
    }

    /// Lets the sweep of the present generation begin. `next` is called before, with the
    /// generation, and returns the number of buckets of the sweep, in a table that grows.
    pub(super) fn begin_sweep(&self, next: impl FnOnce(u64) -> Option<u64>) {
        let _sweeping = self.sweeping.lock();
        let now = self.now();
        self.begin_sweep_locked(now, next(now));
    }

    /// As [`begin_sweep`](Self::begin_sweep), for a holder of `sweeping` that has completed the
    /// former sweep.
    pub(super) fn begin_sweep_locked(&self, now: u64, end: Option<u64>) {
        // Relaxed: the lock orders all accesses.
        if let Some(end) = end {
            self.end.store(end, Relaxed);
        }
        self.swept.store(0, Relaxed);
        self.clean.store(self.begun.load(Relaxed), Relaxed);
        self.begun.store(now, Relaxed);
    }

    /// Lets the sweep of the present generation begin if one of an earlier generation, now
    /// complete, was in its place, for a holder of `sweeping`. Returns whether it has.
    pub(super) fn begin_missed_sweep(&self, end: impl FnOnce() -> Option<u64>) -> bool {
        // Relaxed: a sweep that is not missed yet is begun later.
        if self.begun.load(Relaxed) == self.now() {
            return false;
        }
        // Whoever begins a generation holds this until it has passed all locks, and an `advance`
        // until it has begun this sweep.
        let Some(_advancing) = self.advancing.try_lock() else { return false };
        self.begin_sweep_locked(self.now(), end());
        true
    }

    /// What expires with the beginning of the generation `now` no longer counts as ghosts. Returns
    /// their number. The caller holds `sweeping`, and nobody decides by the generation before.
    pub(super) fn retire_ghosts(&self, now: u64) -> i64 {
        self.ghosts[usize::from(self.expired_with(now))].swap(0)
    }

    /// The stamp of what expires when a generation begins.
    pub(super) fn expired_with(&self, generation: u64) -> u16 {
        self.stamp(generation.wrapping_sub(u64::from(self.window) + 1))
    }
}

impl Clock for Generations {
    const SWEEPS: bool = true;

    #[inline]
    fn now(&self) -> u64 {
        // Relaxed: if a tick has passed the lock that the caller holds, the lock orders this load.
        self.now.load(Relaxed)
    }

    #[inline]
    fn validate(&self, now: u64) -> bool {
        // Relaxed is enough, for the reason given in `Stripe::validate`.
        self.now.load(Relaxed) == now
    }

    #[inline]
    fn stamp(&self, generation: u64) -> u16 {
        (generation & self.mask()) as u16
    }

    #[inline]
    fn visible(&self, lanes: Lanes, now: u64, word: u64) -> u64 {
        let ages = self.ages(lanes, now, word);
        lanes.highs() & !self.at_least(lanes, ages, self.window + 1)
    }

    #[inline]
    fn expired(&self, lanes: Lanes, now: u64, word: u64) -> u64 {
        let ages = self.ages(lanes, now, word);
        let past = self.at_least(lanes, ages, self.window + 1);
        // The last age is spared: see the documentation of this module.
        let last = self.at_least(lanes, ages, self.mask() as u32);
        past & !last & !lanes.zeros(word)
    }

    fn count_swept(&self, lanes: Lanes, word: u64, mut marks: u64) {
        while marks != 0 {
            let slot = word >> lanes.lowest(marks);
            self.counts.add(self.stamp(slot), -1);
            marks &= marks - 1;
        }
    }

    #[inline]
    fn count_added(&self, slot: u32) {
        self.counts.add(self.stamp(slot.into()), 1);
    }

    fn count_removed(&self, slot: u32) {
        self.counts.add(self.stamp(slot.into()), -1);
    }

    fn count_ghosts(&self, slot: u32, change: i64) {
        self.ghosts[usize::from(self.stamp(slot.into()))].add(change);
    }

    #[inline]
    fn count_cleared(&self, lanes: Lanes, word: u64) {
        self.count_swept(lanes, word, lanes.nonzeros(word));
    }

    fn clear_ghosts(&self) {
        for ghosts in &self.ghosts {
            ghosts.swap(0);
        }
    }

    fn visible_slots(&self) -> Option<i64> {
        let now = self.generation();
        let items = |stamp: u16| {
            let ghosts = self.ghosts.get(usize::from(stamp)).map_or(0, Tally::get);
            self.counts.sum(stamp) - ghosts
        };
        Some((0..=self.window.into()).map(|age| items(self.stamp(now - age))).sum())
    }

    fn read(&self, generation: u64) -> Option<ClockState> {
        let state = self.schedule.read(self.window, generation);
        let Some(keeper) = &self.keeper else { return Some(state) };
        let elapsed = keeper.elapsed(state.interval);
        Some(ClockState { time: Some(keeper.time()), elapsed, ..state })
    }

    fn pause(&self) -> impl Sized + '_ {
        self.sweeping.lock()
    }

    fn set(&mut self, state: ClockState) {
        self.now.set(state.generation);
        self.begun.set(state.generation);
        // Slots may have expired long ago, so all buckets are swept before the next generation
        // begins. In the first generation of a table, none have.
        let clean = state.generation.saturating_sub(self.slack());
        self.clean.set(clean.max(self.window.into()));
        self.keeper = state.time.map(|time| Keeper::new(state, time));
        self.schedule = Schedule::new(state);
    }

    fn read_sweep(&self, generation: u64, buckets: u64) -> Option<SweepState> {
        // Relaxed, here and below: the caller holds the locks that order these loads.
        let refreshed = self.refreshed.load(Relaxed);
        let mut ghosts: ArrayVec<u64, MAX_STAMPS> =
            self.ghosts.iter().map(|ghosts| ghosts.get().max(0) as u64).collect();
        if self.begun.load(Relaxed) == generation {
            return Some(SweepState {
                swept: self.swept.load(Relaxed),
                end: self.end(),
                refreshed,
                ghosts,
            });
        }
        // The generation has been published, and its sweep has not begun. In the copy it begins
        // now.
        ghosts[usize::from(self.expired_with(generation))] = 0;
        Some(SweepState { swept: 0, end: buckets, refreshed, ghosts })
    }

    fn set_sweep(&mut self, state: &SweepState) {
        self.swept.set(state.swept);
        self.end.set(state.end);
        self.refreshed.set(state.refreshed);
        for (ghosts, &number) in self.ghosts.iter().zip(&state.ghosts) {
            ghosts.swap(number as i64);
        }
    }

    fn limit_sweep(&mut self, buckets: u64) {
        self.end.set(self.end().min(buckets));
        // Relaxed: the table is not shared.
        self.swept.set(self.swept.load(Relaxed).min(buckets));
    }

    fn count_all(&self, lanes: Lanes, words: &[u64]) {
        for &word in words {
            let mut marks = lanes.nonzeros(word);
            while marks != 0 {
                self.count_added((word >> lanes.lowest(marks)) as u32);
                marks &= marks - 1;
            }
        }
    }

    fn try_sweep(&self, all: u64, buckets: u64, sweep: impl FnMut(u64, u32, u64)) {
        if let Some(_sweeping) = self.sweeping.try_lock() {
            let now = self.now();
            if self.sweep_locked((now, self.end()), buckets, sweep) == 0 {
                self.begin_missed_sweep(|| Some(all));
            }
        }
    }

    fn size_in_bytes(&self) -> usize {
        self.counts.size_in_bytes() + size_of_val(&*self.ghosts)
    }
}
