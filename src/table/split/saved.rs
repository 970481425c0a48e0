//! What a snapshot has of a table that grows: copied, validated, and restored.

use alloc::vec::Vec;

use super::{
    GrowingTable, Limits, Size,
    whole::{Occupied, SLACK},
};
use crate::{
    bucket::{
        GrowingLayout,
        leveled::{MAX_LEVEL, level, slots},
    },
    sync::{Relaxed, acquire_fence, load_all},
    table::{Clock, ClockState, Payload, SweepState, memory::touched_words},
};

/// Words that are handled together. They stay in a first-level cache.
const BLOCK: usize = 512;

/// A table that grows, without its words. Its words are those of the buckets
/// in use, in this order: see `GrowingTable::for_each_in_use`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grown {
    /// The number of buckets at level 0.
    pub first: u64,
    /// How far the table has grown.
    pub size: Size,
    /// Slots that belong to no item.
    pub ghosts: u64,
    /// The limits.
    pub limits: Limits,
    /// How far the table is swept, if slots expire.
    pub sweep: Option<SweepState>,
}

impl Grown {
    /// The number of buckets that follows from the size.
    #[must_use]
    pub fn buckets(&self) -> u64 {
        (self.first << self.size.level) + self.size.split
    }

    /// Returns the name and the value of a number that no table can have, if there is one, given
    /// the number of words.
    #[must_use]
    pub fn invalid(&self, words: u64) -> Option<(&'static str, u64)> {
        let &Self { first, size: Size { level, split }, limits: Limits { buckets, load }, .. } =
            self;
        // No overflow: at most 2^32 buckets, doubled at most 15 times.
        let round = || first << level;
        let numbers: [(_, _, &dyn Fn() -> bool); 6] = [
            ("first buckets", first, &|| (1..=1 << 32).contains(&first)),
            ("level", level.into(), &|| level <= MAX_LEVEL),
            ("split buckets", split, &|| split < round()),
            // The table reserves addresses for as many.
            ("largest number of buckets", buckets, &|| {
                (self.buckets()..=(first << MAX_LEVEL).min(1 << 32)).contains(&buckets)
            }),
            ("load", load.into(), &|| (1..=256).contains(&load)),
            ("buckets", words, &|| (self.buckets()..=2 * round()).contains(&words)),
        ];
        numbers.into_iter().find(|(_, _, valid)| !valid()).map(|(name, value, _)| (name, value))
    }

    /// Returns whether the level of each word is one that a bucket at its place can have. `read`
    /// copies words from an index on.
    #[must_use]
    pub fn has_levels(&self, words: u64, mut read: impl FnMut(u64, &mut [u64])) -> bool {
        let Size { level: at, split } = self.size;
        let (round, end) = (self.first << at, self.buckets());
        let (mut block, mut ahead) = ([0; BLOCK], 0);
        for start in (0..words).step_by(BLOCK) {
            let block = &mut block[..BLOCK.min((words - start) as usize)];
            read(start, block);
            for (bucket, &word) in (start..).zip(&*block) {
                let is_split = match level(word).checked_sub(at) {
                    Some(0) => false,
                    Some(1) => true,
                    _ => return false,
                };
                let may_be_ahead = (split..round).contains(&bucket);
                if may_be_ahead && is_split {
                    // Its child is beyond the end. If it were the next one in turn, the size would
                    // be larger.
                    ahead += 1;
                    if bucket == split || round + bucket >= self.limits.buckets {
                        return false;
                    }
                } else if is_split == may_be_ahead {
                    return false;
                }
            }
        }
        words - end == ahead
    }

    /// Divides the occupied slots of the table into items and ghosts. (The ghosts may be fewer than
    /// were counted, if items were removed that had not been added.)
    #[must_use]
    pub fn items(&self, occupied: u64) -> u64 {
        Occupied::new(occupied, signed(self.ghosts)).items
    }
}

/// A number of ghosts, of which a snapshot may claim any.
fn signed(ghosts: u64) -> i64 {
    i64::try_from(ghosts).unwrap_or(i64::MAX)
}

impl<P: Payload> GrowingTable<P> {
    /// Everything but the words. The caller knows that nobody changes the table, or holds all
    /// stripes and has settled the size.
    #[must_use]
    pub fn grown(&self) -> Grown {
        self.grown_with(self.clock_of_copy().1)
    }

    /// As [`grown`](Self::grown), with the state of the sweep in the generation of the copy.
    fn grown_with(&self, sweep: Option<SweepState>) -> Grown {
        let Self { limits, .. } = *self;
        let ghosts = self.ghosts_in(sweep.as_ref()).max(0) as u64;
        Grown { first: self.growth.first(), size: self.size(), ghosts, limits, sweep }
    }

    /// The number of buckets in use, for a caller that knows that nobody changes the table.
    #[must_use]
    pub fn in_use(&self) -> u64 {
        self.growth.first() + self.occupancy.splits() as u64
    }

    /// Returns a copy of the words of all buckets in use, which contains every item that is in the
    /// table throughout the call, the rest of the table, and its clock if slots expire; or `None` if
    /// the system refuses the memory.
    #[must_use]
    pub fn copy_words(&self) -> Option<(Grown, Option<ClockState>, Vec<u64>)> {
        let mut slack = 0;
        loop {
            let prepared = self.in_use() + slack;
            let mut copy = touched_words(usize::try_from(prepared).ok()?)?;
            // mutant: split-copy-no-pause
            let paused = self.clock.pause();
            // mutant: split-copy-no-locks, split-copy-one-lock-fewer, split-copy-any-order
            let stripes = self.stripes.lock_all();
            let size = self.settle(&stripes);
            let in_use = self.in_use();
            // mutant: split-copy-early-unlock, split-copy-despite-growth
            if in_use <= prepared {
                copy.truncate(in_use as usize);
                let (below, beyond) = copy.split_at_mut(self.growth.buckets(size) as usize);
                self.copy_words_from(0, below);
                let mut beyond = beyond.iter_mut();
                // mutant: split-copy-none-ahead
                self.for_each_ahead(size, |_, word| {
                    // There are as many as are ahead.
                    if let Some(copied) = beyond.next() {
                        // Relaxed: as in `copy_words_from`.
                        *copied = word.load(Relaxed);
                    }
                });
                // Pairs with the Release of whoever changed a word that was loaded.
                // mutant: split-copy-no-fence
                acquire_fence();
                // The clock may tick at any time, so the generation is read once.
                // mutant: split-copy-late-ghosts, split-copy-early-now, split-copy-two-generations
                let (now, sweep) = self.clock_of_copy();
                let grown = self.grown_with(sweep);
                // Before the lock of the schedule is taken: see "Copies" in `table/clock.rs`.
                // mutant: split-copy-late-resume
                drop((stripes, paused));
                return Some((grown, now.and_then(|now| self.clock.read(now)), copy));
            }
            drop((stripes, paused));
            // The table has grown meanwhile: see `try_clone`.
            slack += prepared / SLACK + 1;
        }
    }

    /// Copies words of buckets below the end, from a bucket on. Words that other threads change
    /// meanwhile are copied before or after the change.
    fn copy_words_from(&self, from: u64, mut copy: &mut [u64]) {
        self.buckets.for_each_run(from..from + copy.len() as u64, |words| {
            let (now, later) = core::mem::take(&mut copy).split_at_mut(words.len());
            // Relaxed: what must be in the copy happened before the locks were acquired, or before
            // the call.
            load_all(words, now);
            copy = later;
        });
    }

    /// Copies words of buckets in use, from an index on, for a caller that knows that nobody
    /// changes the table.
    pub fn words_from(&self, from: u64, copy: &mut [u64]) {
        let size = self.size();
        let end = self.growth.buckets(size);
        let below = end.saturating_sub(from).min(copy.len() as u64);
        let (below, beyond) = copy.split_at_mut(below as usize);
        self.copy_words_from(from, below);
        if !beyond.is_empty() {
            let (mut at, mut beyond) = (end, beyond.iter_mut());
            self.for_each_ahead(size, |_, word| {
                if at >= from
                    && let Some(copied) = beyond.next()
                {
                    // Relaxed: nobody changes it.
                    *copied = word.load(Relaxed);
                }
                at += 1;
            });
        }
    }

    /// Returns the table with these words, of which `read` copies some from an index on, and with
    /// stripes and counters of its own; or `None` if the system refuses the memory.
    ///
    /// The numbers and the levels must be [valid](Grown::has_levels).
    #[must_use]
    pub fn restore<L: GrowingLayout>(
        payload: P,
        clock: Option<ClockState>,
        grown: &Grown,
        words: u64,
        stripes: usize,
        memory: (bool, bool),
        mut read: impl FnMut(u64, &mut [u64]),
    ) -> Option<Self> {
        let &Grown { first, size, ghosts, limits, ref sweep } = grown;
        let mut table = Self::holding::<L>(payload, first, limits, stripes, memory)?;
        table.set_clock(clock);
        if let Some(sweep) = sweep {
            table.clock.set_sweep(sweep);
        }
        let (end, mut occupied) = (grown.buckets(), 0);
        let count =
            |words: &[u64]| words.iter().map(|&word| u64::from(L::occupied(word))).sum::<u64>();
        table.buckets.commit(0..end)?;
        let mut at = 0;
        table.buckets.with_values(0..end, |run| {
            read(at, run);
            at += run.len() as u64;
            occupied += count(run);
        });
        table.set_size(size);
        table.occupancy.start(0, 0, (words - first) as i64);
        // The children of buckets that were split ahead of their turn. Their number is that of the
        // parents, which have the level of the next round.
        let (mut block, mut parents) = ([0; BLOCK], end..words);
        for start in table.unsplit(size).step_by(BLOCK) {
            if parents.is_empty() {
                break;
            }
            let block = &mut block[..BLOCK.min((table.unsplit(size).end - start) as usize)];
            read(start, block);
            for (bucket, &word) in (start..).zip(&*block) {
                if level(word) > size.level
                    && let Some(index) = parents.next()
                {
                    let child = u64::from(table.growth.child(bucket as u32, size.level));
                    table.buckets.commit(child..child + 1)?;
                    table.buckets.with_values(child..child + 1, |run| {
                        read(index, run);
                        occupied += count(run);
                    });
                }
            }
        }
        let Occupied { items, ghosts } = Occupied::new(occupied, signed(ghosts));
        table.occupancy.start(items as i64, ghosts as i64, 0);
        if P::Clock::SWEEPS {
            table.for_each_in_use(|_, word| {
                // Relaxed: the table is not shared.
                table.clock.count_all(L::LANES, &[slots(word.load(Relaxed))]);
            });
        }
        Some(table)
    }
}
