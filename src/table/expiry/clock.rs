//! The clock of a table: its word, the times of its generations, and what it does for the steps of
//! every table. `mod.rs` has the protocol.

use alloc::boxed::Box;

use super::{
    stamp_counts::StampCounts,
    time::{ClockState, TimeSource, TimeState, WINDOW_OF_TTL, ZERO, interval},
    try_boxed,
};
use crate::{
    bucket::Lanes,
    sync::{AcqRel, Acquire, Lock, Relaxed, Release, Word},
};

/// Largest number of bits of a stamp.
const MAX_STAMP_BITS: u32 = 8;
/// The last generation, after which none begins: so a table that was loaded from a snapshot can be
/// saved again. Only forged snapshots come near it.
pub(crate) const MAX_GENERATION: u64 = u64::MAX >> 1;
/// The nanoseconds in which the word of a clock counts, and the number of generations that it tells
/// apart, at least as many as there are stamps.
pub(super) const UNIT: u64 = 1 << MAX_STAMP_BITS;
/// The number of generations whose ends are known, at least as many as there are stamps.
const ENTRIES: usize = if cfg!(loom) { 4 } else { 16 };
/// A late write extends a generation by this part of an interval, so that the next ones need not
/// extend it again.
const EXTENSION: u64 = 8;

/// The smallest number of bits of stamps for a window, or `None` if there is none. An age is
/// visible, expired, or the last one, which is neither.
pub(crate) fn stamp_bits(window: u32) -> Option<u32> {
    (2..=MAX_STAMP_BITS).find(|bits| (1..=(1 << bits) - 3).contains(&window))
}

/// The clock of a table. If slots expire, it counts generations. A caller begins them
/// ([`advance`](crate::table::Table::advance)), or if items have a time to live, writes do. If
/// slots never expire, it stands still at the generation 0.
///
/// The *word* of the clock is the generation. With a time to live, only its lowest 8 bits are those
/// of the generation; the others are the time at which that is due to end, in units of 256 ns. So
/// the lowest bits are a stamp in both cases.
///
/// Words are passed with their slots alone, without the level that words of tables that grow have.
/// A slot is passed as a number that ends with its stamp.
#[derive(Debug)]
pub struct Clock {
    /// Whether slots expire.
    sweeps: bool,
    /// Largest age of a visible slot, at most `2^stamp_bits - 3`.
    window: u32,
    stamp_bits: u32,
    /// The bits of a stamp.
    mask: u64,
    /// The word of the clock.
    word: Word,
    /// The last generation that may begin: the current one or the next one. A whole number.
    limit: Word,
    /// The generations before it have ended and expired. A whole number.
    oldest: Word,
    counts: StampCounts,
    /// In a table that grows, the last generation in which a refresh restamped a slot, or zero.
    /// Written under the stripe of the slot.
    refreshed: Word,
    /// One, if items have a time to live; otherwise empty.
    timing: Box<[Timing]>,
    pub(super) sweep: Sweep,
}

/// The times of generations.
#[derive(Debug)]
pub(super) struct Timing {
    source: TimeSource,
    time_to_live: u64,
    /// How long the items of a generation are found after it has ended: the time to live, and the
    /// lag of the clock.
    life: u64,
    /// The least time of a generation, in whole units. The life is at most a window of intervals.
    pub(super) interval: u64,
    /// When each generation that has ended expires, by the lowest bits of its number.
    ends: [Word; ENTRIES],
    /// When the next part of the sweep is due. A hint: no more than the time of the work depends
    /// on it.
    pub(super) next: Word,
}

/// How far a table is swept. Holders of `lock` access the rest.
#[derive(Debug)]
pub(super) struct Sweep {
    pub(super) lock: Lock,
    /// The generation in which stripes are passed, and the number of those that were.
    pub(super) passed_in: Word,
    pub(super) passed: Word,
    /// The generation before which all had expired when this passing of the stripes began.
    pub(super) floor: Word,
    /// The generation before which the present pass over the buckets clears all slots.
    pub(super) bound: Word,
    /// The buckets that it has swept, and, in a table that grows, the number of those to be swept.
    pub(super) swept: Word,
    pub(super) end: Word,
    /// No slot is of an earlier generation than this.
    pub(super) clean: Word,
}

/// The start of a write: the word of the clock, whose generation ends after the start, and the
/// time, or zero without a time to live.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    pub(super) word: u64,
    pub(super) time: u64,
}

impl Start {
    /// The word of the clock.
    pub(crate) fn word(self) -> u64 {
        self.word
    }
}

/// When the generation of a word is due to end.
#[inline]
pub(super) fn due(word: u64) -> u64 {
    word & !(UNIT - 1)
}

/// The word of a generation that is due at a time.
fn word_of(due: u64, generation: u64) -> u64 {
    // Saturated: the last one never ends.
    due.checked_next_multiple_of(UNIT).unwrap_or(!(UNIT - 1)) | (generation % UNIT)
}

impl Timing {
    fn new(state: &TimeState, window: u32) -> Self {
        debug_assert!(window as usize + 2 <= ENTRIES, "each stamp has its end");
        let life = state.time_to_live + state.source.lag();
        Self {
            source: state.source.clone(),
            time_to_live: state.time_to_live,
            life,
            interval: interval(life, window),
            ends: [(); ENTRIES].map(|()| Word::new(0)),
            next: Word::new(0),
        }
    }

    /// Reads the time.
    #[inline]
    pub(super) fn read(&self) -> u64 {
        self.source.read()
    }

    /// Where it stands when a generation expires, by any number that ends as its own.
    #[inline]
    fn entry(&self, generation: u64) -> &Word {
        &self.ends[generation as usize % ENTRIES]
    }

    /// When the generation of an age expires, by a word that was read before.
    #[inline]
    pub(super) fn expiry(&self, word: u64, age: u32) -> u64 {
        if age == 0 {
            return self.expiry_of(word);
        }
        // It was stored before the generation of the word began. If it was replaced since, the word
        // has changed. Acquire: pairs with the Release of `begin`. Then the sweeps before that are
        // seen in the words that are read next.
        // mutant-ok: no model stops a round between its word and its times for so long
        self.entry(word.wrapping_sub(age.into())).load(Acquire)
    }

    /// When the current generation of a word expires, unless it is extended.
    #[inline]
    pub(super) fn expiry_of(&self, word: u64) -> u64 {
        due(word).saturating_add(self.life)
    }
}

impl Sweep {
    /// A pass that has come this far, as in [`ClockState`]. No stripe was passed.
    fn new(clean: u64, (bound, swept, end): (u64, u64, u64)) -> Self {
        // Without an end, it is complete, whatever the number of buckets is.
        let swept = if end == 0 { u64::MAX } else { swept };
        let [passed_in, passed, floor, bound, swept, end, clean] =
            [u64::MAX, 0, clean, bound, swept, end, clean].map(Word::new);
        Self { lock: Lock::new(), passed_in, passed, floor, bound, swept, end, clean }
    }
}

impl Clock {
    /// Returns a clock that starts in a generation, or `None` if the system refuses the memory for
    /// its counters.
    pub(crate) fn new(
        generation: u64,
        (window, stamp_bits): (u32, u32),
        stripes: usize,
    ) -> Option<Self> {
        debug_assert!(window <= (1_u32 << stamp_bits) - 3);
        let counts = StampCounts::new(stamp_bits, stripes)?;
        let clock = Self::with_counts(generation, (window, stamp_bits), counts);
        Some(Self { sweeps: true, ..clock })
    }

    /// The clock of a table whose slots never expire. It allocates nothing.
    pub(crate) fn none() -> Self {
        Self::with_counts(0, (0, 0), StampCounts::none())
    }

    fn with_counts(generation: u64, (window, stamp_bits): (u32, u32), counts: StampCounts) -> Self {
        let mask = (1_u64 << stamp_bits) - 1;
        let clean = generation.saturating_sub(mask.saturating_sub(1));
        Self {
            sweeps: false,
            window,
            stamp_bits,
            mask,
            word: Word::new(generation),
            limit: Word::new(generation),
            oldest: Word::new(generation.saturating_sub(window.into())),
            counts,
            refreshed: Word::new(0),
            timing: Box::default(),
            sweep: Sweep::new(clean, (clean, 0, 0)),
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

    /// Whether items have a time to live.
    #[inline]
    pub(in crate::table) fn has_times(&self) -> bool {
        !self.timing.is_empty()
    }

    /// The times of generations, if items have a time to live.
    #[inline]
    pub(super) fn timing(&self) -> Option<&Timing> {
        self.timing.first()
    }

    /// The time to live in nanoseconds, if items have one.
    pub(crate) fn time_to_live(&self) -> Option<u64> {
        self.timing().map(|timing| timing.time_to_live)
    }

    /// The time, or zero without a time to live.
    #[inline]
    pub(in crate::table) fn time(&self) -> u64 {
        self.timing().map_or(0, Timing::read)
    }

    /// The time of a copy, or zero without a time to live: without a lag.
    pub(in crate::table) fn time_of_copy(&self) -> u64 {
        self.timing().map_or(0, |timing| timing.source.read_precisely())
    }

    /// A time that has passed, which is not read: no code of the caller's runs.
    pub(in crate::table) fn time_passed(&self) -> u64 {
        let word = self.look();
        self.timing().map_or(0, |timing| {
            // When the last generation ended; and when this one began, or was extended: what it is
            // due at was rounded up.
            let ended = timing.expiry(word, 1).saturating_sub(timing.life);
            ended.max(due(word).saturating_sub(timing.interval + UNIT))
        })
    }

    /// The word of the clock, at the start of a lookup or a write.
    #[inline]
    pub(in crate::table) fn look(&self) -> u64 {
        // Acquire: pairs with the Release of `tick` and of `begin`. The words that the caller reads
        // next show what was swept before the generation began, and the times of earlier
        // generations are there.
        self.word.load(Acquire)
    }

    /// As [`look`](Self::look), for a thread that may change the word next.
    pub(super) fn look_to_change(&self) -> u64 {
        // Acquire: as above.
        self.word.load_to_change(Acquire)
    }

    /// The current generation.
    pub fn generation(&self) -> u64 {
        loop {
            let word = self.look();
            let number = self.number(word);
            // So many generations may have been permitted since that a later one has its stamp.
            if !self.sweeps || self.validate(word) {
                return number;
            }
        }
    }

    /// The whole number of the generation of a word.
    #[inline]
    pub(in crate::table) fn number(&self, word: u64) -> u64 {
        if self.timing.is_empty() {
            return word;
        }
        // Relaxed: whoever began the generation had loaded a limit of at least that number.
        let limit = self.limit.load(Relaxed);
        limit - (limit.wrapping_sub(word) % UNIT)
    }

    /// Begins the next generation after that of `word`, for a holder of the lock of the sweep, of
    /// a clock without a time to live.
    pub(super) fn tick(&self, word: u64) {
        // Release: pairs with the Acquire of `look`. A swap only because of loom, which does not
        // know that a plain store follows a read-modify-write of `look_to_change`.
        self.word.swap(word + 1, Release);
    }

    /// Returns whether the generation after that of a word may begin.
    pub(super) fn may_begin_after(&self, word: u64) -> bool {
        // Acquire: pairs with the Release of `permit_after`: all slots whose stamp the next
        // generation uses are swept.
        // mutant-ok: who begins a generation takes the lock of the sweep next, unless another
        // thread holds it. No model has that twice
        self.limit.load_to_change(Acquire).wrapping_sub(word) % UNIT == 1
    }

    /// Lets the generation after `number` begin, for a holder of the lock of the sweep.
    pub(super) fn permit_after(&self, number: u64) {
        // Relaxed: the lock orders these loads.
        let is_clean = number + 1 - self.sweep.clean.load(Relaxed) < self.mask;
        if is_clean && self.limit.load_to_change(Relaxed) == number && number < MAX_GENERATION {
            // Release: pairs with the Acquire of `may_begin_after`. A swap because of loom.
            // mutant-ok: as there
            self.limit.swap(number + 1, Release);
        }
    }

    /// Begins the generation after that of `word`, which has ended by `time` and which may end, at
    /// that time. Does nothing if another thread has changed the word.
    pub(super) fn begin(&self, timing: &Timing, word: u64, time: u64) -> bool {
        let expiry = timing.entry(word);
        // Release: pairs with the Acquire of `expiry`. A maximum, since another thread may be late,
        // and store what was the end before the generation was extended.
        // mutant-ok: as there. The word publishes it, too
        expiry.fetch_max(timing.expiry_of(word), Release);
        let next = word_of(time.saturating_add(timing.interval), word + 1);
        // Release: pairs with the Acquire of `look`. Acquire: the next change of the word comes
        // after those before it.
        self.word.compare_exchange(word, next, AcqRel, Relaxed).is_ok()
    }

    /// Extends the generation of `word`, which is due, and whose end was not permitted, beyond a
    /// time. Does nothing if another thread has changed the word.
    pub(super) fn extend(&self, timing: &Timing, word: u64, time: u64) {
        let end = time.saturating_add(timing.interval / EXTENSION + 1);
        // Release: pairs with the Acquire of `look`. Acquire: as in `begin`.
        _ = self.word.compare_exchange(word, word_of(end, word), AcqRel, Relaxed);
    }

    /// The number of ages that are visible at a time: those from zero on. At most a window and one.
    #[inline]
    pub(in crate::table) fn visible_ages(&self, word: u64, time: u64) -> u32 {
        let Some(timing) = self.timing() else { return self.window + 1 };
        let oldest = timing.expiry(word, self.window);
        // (If it is that of a later generation by now, it is later than that of the current one.)
        if time < oldest && oldest <= timing.expiry_of(word) {
            return self.window + 1;
        }
        // From the youngest on, for the same reason.
        (0..=self.window).take_while(|&age| time < timing.expiry(word, age)).count() as u32
    }

    /// The oldest age that is visible for a life in nanoseconds from a start on, or zero. `None` if
    /// the life is longer than the time to live, or if there is none.
    pub(crate) fn age_for(&self, start: Start, nanos: u128) -> Option<u32> {
        let timing = self.timing()?;
        let nanos = u64::try_from(nanos).ok().filter(|&nanos| nanos <= timing.time_to_live)?;
        // A life of zero takes nothing that has expired, either.
        let end = (start.time + nanos + timing.source.lag()).max(start.time + 1);
        let lasts = |&age: &u32| timing.expiry(start.word, age) >= end;
        // Nor one that was noted as expired before a save: a clock that was loaded can be behind
        // that.
        // Relaxed: what is noted later has expired by a reading of this clock.
        let oldest = self.oldest.load(Relaxed);
        let ages = self.number(start.word).saturating_sub(oldest).min(self.window.into());
        Some((1..=ages as u32).rev().find(lasts).unwrap_or(0))
    }

    /// Notes that generations have ended and expired at a time. Returns the one before which all
    /// have. For a holder of the lock of the sweep.
    pub(super) fn let_expire(&self, word: u64, number: u64, time: u64) -> u64 {
        // Relaxed: the lock orders this load.
        let mut oldest = self.oldest.load(Relaxed).max(number.saturating_sub(self.window.into()));
        if let Some(timing) = self.timing() {
            while oldest < number && time >= timing.expiry(word, (number - oldest) as u32) {
                oldest += 1;
            }
        }
        // Relaxed: who decides by it holds a lock.
        self.oldest.store(oldest, Relaxed);
        oldest
    }

    /// The age from which slots have expired, at least one, for a holder of a lock that has read
    /// the word since.
    #[inline]
    fn first_expired(&self, word: u64) -> u32 {
        if self.timing.is_empty() {
            return self.window + 1;
        }
        // Relaxed: the lock orders this load. The generation can be one later than that of the
        // word, so that this is zero.
        let oldest = self.oldest.load(Relaxed);
        let age = (word.wrapping_sub(oldest) + 1) % UNIT;
        (age as u32).clamp(1, self.window + 1)
    }

    /// Returns whether a slot that ends with a stamp is in the window of a generation. With a time
    /// to live, it may have expired: see [`is_alive`](Self::is_alive).
    #[inline]
    pub(in crate::table) fn shows(&self, word: u64, slot: u32) -> bool {
        self.age(word, slot) <= self.window
    }

    /// Returns whether a slot that ends with a stamp and is in the window of the generation of a
    /// word has not expired: now, and while the clock has this word.
    #[inline]
    pub(in crate::table) fn is_alive(&self, word: u64, slot: u32) -> bool {
        let Some(timing) = self.timing() else { return true };
        let time = timing.read();
        // That of the oldest age in the window comes first, and does not wait for the slot.
        let is_alive = time < timing.expiry(word, self.window)
            || time < timing.expiry(word, self.age(word, slot));
        is_alive && self.validate(word)
    }

    /// The age of a slot that ends with a stamp.
    #[inline]
    pub(in crate::table) fn age(&self, now: u64, slot: u32) -> u32 {
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

    /// Marks the lanes whose age is at least `age`.
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
impl Clock {
    /// The word of the clock, or 0. A thread that acquired a lock before this call, and holds it,
    /// may decide by the result what has expired.
    #[inline]
    #[must_use]
    pub fn now(&self) -> u64 {
        // Relaxed: if the lock that the caller holds was passed in a generation, the lock orders
        // this load.
        if self.sweeps { self.word.load(Relaxed) } else { 0 }
    }

    /// Returns whether the word of the clock is unchanged, after the caller has read words by
    /// Acquire.
    /// Only where slots expire.
    #[inline]
    #[must_use]
    pub fn validate(&self, now: u64) -> bool {
        debug_assert!(self.sweeps, "a table whose slots expire");
        // Relaxed is enough, for the reason given in `Stripe::changes_since`.
        self.word.load(Relaxed) == now
    }

    /// The stamp of a generation, or of a slot.
    #[inline]
    #[must_use]
    pub fn stamp(&self, generation: u64) -> u16 {
        (generation & self.mask) as u16
    }

    /// Marks the slots of a word whose age is less than a number. Empty slots may be marked, too.
    /// Only where slots expire.
    #[inline]
    pub(in crate::table) fn younger(&self, lanes: Lanes, now: u64, age: u32, word: u64) -> u64 {
        let ages = self.ages(lanes, now, word);
        lanes.highs() & !self.at_least(lanes, ages, age)
    }

    /// Marks the slots of a word that have expired.
    #[inline]
    pub(in crate::table) fn expired(&self, lanes: &Lanes, now: u64, word: u64) -> u64 {
        if self.sweeps { self.past_of(*lanes, now, word) } else { 0 }
    }

    /// As [`past`](Self::past), out of line, so that searches of sets have few instructions.
    #[inline(never)]
    fn past_of(&self, lanes: Lanes, now: u64, word: u64) -> u64 {
        self.past(lanes, now, word)
    }

    /// As [`expired`](Self::expired), where slots expire.
    #[inline]
    pub(in crate::table) fn past(&self, lanes: Lanes, now: u64, word: u64) -> u64 {
        let ages = self.ages(lanes, now, word);
        let past = self.at_least(lanes, ages, self.first_expired(now));
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
            let time = self.time();
            let word = self.look();
            let ages = 0..self.visible_ages(word, time).into();
            ages.map(|age: u64| self.counts.sum(self.stamp(word.wrapping_sub(age)))).sum()
        })
    }

    /// The state of the clock, if slots expire. Its times are those that are left at `now`, which
    /// the caller has read before it acquired a lock: no code of users runs under one. If the clock
    /// shows that more time has passed since, they are those that are left then. For a holder of
    /// the lock of the sweep and of all stripes, who has copied the words before, or for a caller
    /// who knows that nobody changes the table.
    pub(crate) fn state(&self, now: u64) -> Option<ClockState> {
        if !self.sweeps {
            return None;
        }
        let word = self.look();
        let number = self.number(word);
        let time = self.timing().map(|timing| {
            let mut expiry = [0; WINDOW_OF_TTL as usize];
            for (age, place) in (1..=self.window).zip(&mut expiry) {
                *place = timing.expiry(word, age);
            }
            let (source, time_to_live) = (timing.source.clone(), timing.time_to_live);
            let read_at = Some(now.max(self.time_passed()));
            TimeState { source, time_to_live, due: due(word), expiry, read_at }
        });
        // Relaxed: the locks order these loads.
        let [clean, bound, swept, end, refreshed] = [
            &self.sweep.clean,
            &self.sweep.bound,
            &self.sweep.swept,
            &self.sweep.end,
            &self.refreshed,
        ]
        .map(|word| word.load(Relaxed));
        let pass = if swept < end { (bound, swept, end) } else { (clean, 0, 0) };
        Some(ClockState { window: self.window, generation: number, clean, pass, refreshed, time })
    }

    /// As [`state`](Self::state), for a caller who knows that nobody changes the table.
    pub(crate) fn state_now(&self) -> Option<ClockState> {
        self.state(self.time_of_copy())
    }

    /// Holds up the sweep until the result is dropped. At most one generation begins meanwhile.
    #[must_use]
    pub fn pause(&self) -> Option<impl Sized + '_> {
        self.sweeps.then(|| self.sweep.lock.lock())
    }

    /// Sets the clock of a table that is not shared. Only where slots expire. Returns `None` if the
    /// system refuses the memory for its times.
    #[must_use]
    pub(in crate::table) fn set(&mut self, state: &ClockState) -> Option<()> {
        let ClockState { window, generation, clean, pass, refreshed, ref time } = *state;
        let oldest = pass.0.max(generation.saturating_sub(window.into()));
        // No stripe of this table was passed.
        (self.window, self.sweep) = (window, Sweep::new(clean, pass));
        self.word.set(generation);
        self.limit.set(generation);
        self.oldest.set(oldest.min(generation));
        self.refreshed.set(refreshed);
        self.timing = try_boxed(time.iter().map(|time| Timing::new(time, window)))?;
        if let (Some(timing), Some(state)) = (self.timing.first_mut(), time) {
            // A copy goes on with the times of the original. After a load, the generation is due
            // within an interval, so that being due is not rounded up twice: see `time_passed`.
            let (shift, latest) = if state.read_at.is_some() {
                (0, u64::MAX)
            } else {
                let reading = timing.source.read_precisely();
                (reading - ZERO, reading.saturating_add(timing.interval))
            };
            self.word.set(word_of(state.due.saturating_add(shift).min(latest), generation));
            for (age, &end) in (1..=window.into()).zip(&state.expiry) {
                let place = generation.wrapping_sub(age) as usize % ENTRIES;
                timing.ends[place].set(end.saturating_add(shift));
            }
        }
        Some(())
    }

    /// Ends the pass at this many buckets, which are all that are left of a table that shrinks. It
    /// is not shared. A pass that is not complete begins again: what it had not reached may be in a
    /// bucket that it had.
    pub(in crate::table) fn limit_sweep(&mut self, buckets: u64) {
        // Relaxed, here and below: the table is not shared.
        let [swept, end] = [&self.sweep.swept, &self.sweep.end].map(|word| word.load(Relaxed));
        let last = end.min(buckets);
        self.sweep.swept.store(if swept < end { 0 } else { last }, Relaxed);
        self.sweep.end.store(last, Relaxed);
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

    /// Bytes of what the clock allocates.
    pub(crate) fn size_in_bytes(&self) -> usize {
        self.counts.size_in_bytes() + size_of_val(&*self.timing)
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use crate::{sync::Relaxed, table::Payload};

    /// A table that shrinks joins buckets: what a pass had not reached is then in one that it had.
    #[test]
    fn a_pass_begins_again_if_buckets_are_joined() {
        let payload = Payload::stamps(3, 5, 10);
        let pass_after = |pass: (u64, u64, u64), buckets: u64| {
            let mut clock = payload.clock(8).expect("memory");
            let mut state = clock.state_now().expect("a clock");
            state.pass = pass;
            clock.set(&state).expect("memory");
            clock.limit_sweep(buckets);
            let sweep = [&clock.sweep.swept, &clock.sweep.end];
            sweep.map(|word| word.load(Relaxed))
        };
        assert_eq!(pass_after((9, 176, 600), 256), [0, 256]);
        assert_eq!(pass_after((9, 400, 600), 256), [0, 256]);
        assert_eq!(pass_after((9, 600, 600), 256), [256, 256]);
    }

    /// A removal takes a restamped slot into account as long as one can be visible.
    #[test]
    fn a_refresh_is_remembered_for_a_window() {
        const WINDOW: u32 = 5;
        let clock = Payload::stamps(3, WINDOW, 10).clock(8).expect("memory");
        assert!(!clock.has_refreshed(10));
        for noted in [10, 12] {
            clock.note_refresh(noted);
            let last = noted + u64::from(WINDOW);
            assert!((noted..=last).all(|now| clock.has_refreshed(now)));
            assert!(!clock.has_refreshed(last + 1));
        }
    }
}
