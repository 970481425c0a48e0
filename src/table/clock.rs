//! Clocks: the generation in which a table with ages is, and which of its slots have expired.
//!
//! See `table/expiry.rs` for the protocol.

use alloc::boxed::Box;
use core::fmt::Debug;

use super::{ShardedCounter, try_boxed};
use crate::{
    bucket::{BucketLayout, Fingerprint},
    sync::{Acquire, Lock, Relaxed, Release, Tally, Word, number_of_this_thread},
};

/// What a table knows about the age of its slots. The implementation for `()` is that of tables
/// whose slots never expire: it does nothing, at compile time.
pub trait Clock: Debug + Send + Sync {
    /// Whether a slot can be swept while another thread holds its stripe.
    const SWEEPS: bool;

    /// The current generation. A holder of a lock, which it acquired before, may decide by it what
    /// has expired.
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
    fn len(&self) -> Option<i64>;

    /// The window and the generation, if slots expire.
    fn read(&self) -> Option<(u32, u64)>;

    /// Holds up sweeps, and the next tick, until the result is dropped.
    fn pause(&self) -> impl Sized + '_;

    /// Sets the generation, and counts the slots of these words, which are all there are.
    fn start<L: BucketLayout>(&mut self, now: u64, words: &[u64]);

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
    fn len(&self) -> Option<i64> {
        None
    }

    #[inline]
    fn read(&self) -> Option<(u32, u64)> {
        None
    }

    #[inline]
    fn pause(&self) -> impl Sized + '_ {}

    #[inline]
    fn start<L: BucketLayout>(&mut self, _now: u64, _words: &[u64]) {}

    #[inline]
    fn size_in_bytes(&self) -> usize {
        0
    }
}

/// The clock of a table whose slots expire. It counts generations, and ticks when
/// [`advance`](super::Table::advance) is called.
///
/// A slot has a *stamp*: the generation of its insert, modulo `2^stamp_bits`. Its *age* is the
/// difference between the current generation and the stamp, modulo the same. With a window of w
/// generations, a slot is *visible* up to the age w, and has *expired* from the age w + 1 on. At
/// the last possible age, `2^stamp_bits - 1`, it is neither: it may have been stamped in the
/// generation that is just beginning.
#[derive(Debug)]
pub struct Generations {
    now: Word,
    /// Largest age of a visible slot, at most `2^stamp_bits - 3`.
    window: u32,
    stamp_bits: u32,
    /// Held while the clock ticks.
    pub(super) advancing: Lock,
    /// Held while buckets are swept, for one chunk of them.
    pub(super) sweeping: Lock,
    /// The buckets that have been swept in this generation. Holders of `sweeping` access it.
    swept: Word,
    counts: StampCounts,
}

impl Generations {
    /// Returns a clock that starts in the generation `now`, or `None` if the system refuses the
    /// memory for its counters.
    pub(crate) fn new(now: u64, (window, stamp_bits): (u32, u32), stripes: usize) -> Option<Self> {
        debug_assert!((1..=(1_u32 << stamp_bits) - 3).contains(&window));
        Some(Self {
            now: Word::new(now),
            window,
            stamp_bits,
            advancing: Lock::new(),
            sweeping: Lock::new(),
            swept: Word::new(0),
            counts: StampCounts::new(stamp_bits, stripes)?,
        })
    }

    /// The largest age of a visible slot.
    pub fn window(&self) -> u32 {
        self.window
    }

    /// The current generation, at the start of a lookup or an insert.
    #[inline]
    pub fn generation(&self) -> u64 {
        // Acquire: pairs with the Release of `tick`. The words that the caller reads next show what
        // was swept before the tick.
        self.now.load(Acquire)
    }

    /// Returns whether the generation is unchanged, at the end of a lookup that read the words with
    /// Acquire.
    #[inline]
    pub(super) fn validate(&self, now: u64) -> bool {
        // Relaxed is enough, for the reason given in `Stripe::validate`.
        self.now.load(Relaxed) == now
    }

    /// Begins the next generation. The caller holds `advancing`.
    pub(super) fn tick(&self) {
        // Relaxed: the lock orders this load.
        let now = self.now.load_to_change(Relaxed);
        // Release: pairs with the Acquire of `generation`.
        // mutant: tick-relaxed
        self.now.store(now + 1, Release);
    }

    /// The stamp of a generation, or of a fingerprint.
    #[inline]
    pub(crate) fn stamp(&self, generation: u64) -> u16 {
        (generation & self.mask()) as u16
    }

    #[inline]
    fn mask(&self) -> u64 {
        (1 << self.stamp_bits) - 1
    }

    /// Returns whether a generation is visible.
    #[inline]
    pub(super) fn is_visible(&self, now: u64, generation: u64) -> bool {
        generation <= now && now - generation <= self.window.into()
    }

    /// The age of a slot with this stamp.
    #[inline]
    pub(super) fn age(&self, now: u64, stamp: u16) -> u32 {
        (now.wrapping_sub(stamp.into()) & self.mask()) as u32
    }

    /// The ages of all slots of a word, empty ones included, in the lowest bits of each lane.
    #[inline]
    fn ages<L: BucketLayout>(&self, now: u64, word: u64) -> u64 {
        let stamps = L::LANES.broadcast(self.mask() as u32);
        // The bit above each stamp lends to the subtraction, so that no lane borrows from another.
        let minuend = L::LANES.broadcast((now & self.mask()) as u32 | 1 << self.stamp_bits);
        (minuend - (word & stamps)) & stamps
    }

    /// Marks the lanes whose ages are at least this one, an age of at least 1.
    #[inline]
    fn at_least<L: BucketLayout>(&self, ages: u64, age: u32) -> u64 {
        // The sum has the bit above the stamp if it reaches `2^stamp_bits`. No lane overflows.
        let sums = ages + L::LANES.broadcast((1 << self.stamp_bits) - age);
        sums << (L::BITS - 1 - self.stamp_bits) & L::LANES.highs()
    }

    /// Marks the slots of a word whose stamp is visible. Empty slots may be marked, too.
    #[inline]
    pub(super) fn visible<L: BucketLayout>(&self, now: u64, word: u64) -> u64 {
        let ages = self.ages::<L>(now, word);
        L::LANES.highs() & !self.at_least::<L>(ages, self.window + 1)
    }

    /// The number of buckets swept in this generation, for a holder of `sweeping`.
    pub(super) fn swept(&self) -> u64 {
        // Relaxed: the lock orders all accesses.
        self.swept.load(Relaxed)
    }

    /// Sets the number of buckets swept in this generation, for a holder of `sweeping`.
    pub(super) fn set_swept(&self, buckets: u64) {
        self.swept.store(buckets, Relaxed);
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
    fn expired<L: BucketLayout>(&self, now: u64, word: u64) -> u64 {
        let ages = self.ages::<L>(now, word);
        let past = self.at_least::<L>(ages, self.window + 1);
        // The last age is spared: see `Generations`.
        // mutant: sweep-last-age
        let last = self.at_least::<L>(ages, self.mask() as u32);
        past & !last & !L::LANES.zeros(word)
    }

    fn count_swept<L: BucketLayout>(&self, word: u64, mut marks: u64) {
        while marks != 0 {
            let slot = word >> L::LANES.lowest(marks);
            self.counts.add(self.stamp(slot), -1);
            marks &= marks - 1;
        }
    }

    #[inline]
    fn count_added(&self, fingerprint: Fingerprint) {
        self.counts.add(self.stamp(fingerprint.get().into()), 1);
    }

    fn count_removed(&self, fingerprint: Fingerprint) {
        self.counts.add(self.stamp(fingerprint.get().into()), -1);
    }

    #[inline]
    fn count_cleared<L: BucketLayout>(&self, word: u64) {
        self.count_swept::<L>(word, L::LANES.highs() & !L::LANES.zeros(word));
    }

    fn len(&self) -> Option<i64> {
        let now = self.generation();
        Some((0..=self.window.into()).map(|age| self.counts.sum(self.stamp(now - age))).sum())
    }

    fn read(&self) -> Option<(u32, u64)> {
        Some((self.window, self.generation()))
    }

    fn pause(&self) -> impl Sized + '_ {
        self.sweeping.lock()
    }

    fn start<L: BucketLayout>(&mut self, now: u64, words: &[u64]) {
        self.now.set(now);
        for &word in words {
            for fingerprint in L::fingerprints(word) {
                self.count_added(fingerprint);
            }
        }
    }

    fn size_in_bytes(&self) -> usize {
        size_of_val(&*self.counts.lines)
    }
}

/// Largest number of bits of a stamp.
const MAX_STAMP_BITS: u32 = 8;

/// The smallest number of bits of stamps for a window, or `None` if there is none. An age is
/// visible, expired, or the last one, which is neither.
pub(crate) fn stamp_bits(window: u32) -> Option<u32> {
    (2..=MAX_STAMP_BITS).find(|bits| (1..=(1 << bits) - 3).contains(&window))
}

/// Stamps whose counters share two cache lines.
const STAMPS_PER_LINE: usize = 16;
/// Most counters: 32 KiB of them.
const MAX_COUNTERS: usize = 4096;

/// The number of slots with each stamp, in shards: threads that run at once seldom write to the
/// same cache line.
#[derive(Debug)]
struct StampCounts {
    /// The lines of the first shard, then those of the next one. A power of two.
    lines: Box<[Line]>,
    lines_per_shard: usize,
}

/// Counters of consecutive stamps, aligned as processors fetch cache lines in pairs.
#[derive(Debug)]
#[repr(align(128))]
struct Line([Tally; STAMPS_PER_LINE]);

impl StampCounts {
    fn new(stamp_bits: u32, stripes: usize) -> Option<Self> {
        let lines_per_shard = (1 << stamp_bits) / STAMPS_PER_LINE.min(1 << stamp_bits);
        let most = MAX_COUNTERS / STAMPS_PER_LINE / lines_per_shard;
        let shards = ShardedCounter::shards_beside(stripes).min(most);
        let line = |_| Line([(); STAMPS_PER_LINE].map(|()| Tally::new()));
        let lines = try_boxed((0..shards * lines_per_shard).map(line))?;
        Some(Self { lines, lines_per_shard })
    }

    /// Adds to the counter of a stamp.
    #[inline]
    fn add(&self, stamp: u16, change: i64) {
        let shards = self.lines.len() / self.lines_per_shard;
        let first = (number_of_this_thread() & (shards - 1)) * self.lines_per_shard;
        self.of(first, stamp).add(change);
    }

    /// The sum of a stamp's counters.
    fn sum(&self, stamp: u16) -> i64 {
        let firsts = (0..self.lines.len()).step_by(self.lines_per_shard);
        firsts.map(|first| self.of(first, stamp).get()).sum()
    }

    /// The counter of a stamp in the shard that begins with this line.
    #[inline]
    fn of(&self, first: usize, stamp: u16) -> &Tally {
        let stamp = usize::from(stamp);
        &self.lines[first + stamp / STAMPS_PER_LINE].0[stamp % STAMPS_PER_LINE]
    }
}
