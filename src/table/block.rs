//! Batches, in blocks of items: from hashes to what the operation needs by columns, which the
//! compiler turns into vectors, and then one item after another, while the cache lines of a later
//! block are prefetched.
//!
//! The window of lines in flight rolls: each item that is processed makes room for the next one. (A
//! window that is filled and then drained leaves the memory idle at each turn: it takes 1.2 times
//! as long as the bare memory accesses, the rolling window 1.0 times.)
//!
//! A lookup in a block is a round as `table/mod.rs` has it: for each item, the version, both words,
//! and the version again. Then all words are compared at once. What that leaves open is looked up
//! item by item.

use arrayvec::ArrayVec;

#[cfg(guira_vectors)]
use super::Kernel;
use super::{Answers, Hashes, Mixer, Space, Stripe, Table, stripes::StripesReader};
use crate::sync::Word;

/// The number of items of a block. It is so small that the processor overlaps the work on two
/// blocks.
/// Two under loom and shuttle, so that small batches exceed it.
pub const BLOCK: usize = if cfg!(any(loom, shuttle)) { 2 } else { 16 };
/// How many blocks ahead cache lines are prefetched, if the table does not stay in a second-level
/// cache.
const AHEAD: usize = if cfg!(any(loom, shuttle)) { 1 } else { 3 };

/// Largest table, in bytes, for which batches prefetch nothing, because it stays in a second-level
/// cache. There the window costs a tenth of the time of a batch, and prefetches gain nothing.
const MAX_CACHED: u64 = if cfg!(any(loom, shuttle)) { 0 } else { 512 << 10 };

/// Returns whether a table with this many buckets is so small that it stays in a second-level
/// cache.
pub(super) const fn is_in_second_level(buckets: u64) -> bool {
    buckets * size_of::<Word>() as u64 <= MAX_CACHED
}

/// Both words of each item of a block, and the answers, by columns. (The order is given, so that no
/// column of words crosses cache lines.)
#[repr(C, align(64))]
pub struct Lookups {
    pub(super) words: [[u64; BLOCK]; 2],
    pub(super) found: [bool; BLOCK],
    /// Whether the comparison leaves the answer open.
    pub(super) open: [bool; BLOCK],
    /// Meaningless for an item that was not found.
    pub(super) values: [u16; BLOCK],
}

impl Lookups {
    const EMPTY: Self = Self {
        words: [[0; BLOCK]; 2],
        found: [false; BLOCK],
        open: [false; BLOCK],
        values: [0; BLOCK],
    };
}

/// What blocks need of a space.
pub trait Blocks: Space {
    /// What operations need of the items of a block, by columns.
    type Columns: Copy;
    /// Columns without a meaning.
    const EMPTY: Self::Columns;
    /// The words, for many reads: fields of a table would be loaded again after each Acquire.
    type Reader<'a>: Copy
    where
        Self: 'a;

    /// Whether the table is taken to stay in a second-level cache, so that batches prefetch
    /// nothing.
    fn is_in_second_level(&self) -> bool;

    /// Writes the columns of these hashes, at most [`BLOCK`].
    fn locate(&self, mixer: Mixer, hashes: &[u64], columns: &mut Self::Columns);

    /// As [`locate`](Self::locate), by loops that the compiler turns into vectors. Inlined always.
    #[cfg(guira_vectors)]
    fn locate_all(&self, mixer: Mixer, hashes: &[u64; BLOCK], columns: &mut Self::Columns);

    /// An item.
    fn item_at(&self, columns: &Self::Columns, place: usize) -> Self::Item;

    /// Prefetches both buckets of an item.
    fn prefetch_at(&self, columns: &Self::Columns, place: usize);

    /// The words of the space.
    fn reader(&self) -> Self::Reader<'_>;

    /// The stripe of an item.
    fn stripe_at<'a>(
        stripes: StripesReader<'a>,
        columns: &Self::Columns,
        place: usize,
    ) -> &'a Stripe;

    /// Loads both words of an item by Acquire.
    fn words_at(reader: Self::Reader<'_>, columns: &Self::Columns, place: usize) -> [u64; 2];

    /// Tells for each item whether its words have it, and with `VALUES` what its value is, by a
    /// loop that the compiler turns into vectors. Inlined always.
    fn compare<const VALUES: bool>(&self, columns: &Self::Columns, lookups: &mut Lookups);

    /// Settles an answer that is open, or nothing if the version has changed, given the words that
    /// were read.
    fn settle<const VALUES: bool>(
        table: &Table<Self>,
        columns: &Self::Columns,
        place: usize,
        words: [u64; 2],
        unchanged: bool,
    ) -> Option<u16>;

    /// Looks for a visible copy of an item, by rounds of its own.
    fn look_for_visible_at(table: &Table<Self>, columns: &Self::Columns, place: usize) -> bool;
}

/// Writes the columns of these hashes by the table's kernel.
#[inline]
fn locate<S: Blocks>(table: &Table<S>, mixer: Mixer, hashes: &[u64], columns: &mut S::Columns) {
    #[cfg(guira_vectors)]
    if let Ok(all) = hashes.try_into() {
        match table.kernel {
            Kernel::Scalar => {}
            // SAFETY: the processor has the instructions of the kernel of a table.
            Kernel::Avx2 => return unsafe { avx2::locate(&table.space, mixer, all, columns) },
            // SAFETY: as above.
            Kernel::Avx512 => return unsafe { avx512::locate(&table.space, mixer, all, columns) },
        }
    }
    table.space.locate(mixer, hashes, columns);
}

/// Compares the words of a block by the table's kernel.
#[inline]
fn compare<S: Blocks, const VALUES: bool>(
    table: &Table<S>,
    columns: &S::Columns,
    lookups: &mut Lookups,
) {
    match table.kernel {
        // SAFETY: as above.
        #[cfg(guira_vectors)]
        Kernel::Avx2 => unsafe { avx2::compare::<S, VALUES>(&table.space, columns, lookups) },
        // SAFETY: as above.
        #[cfg(guira_vectors)]
        Kernel::Avx512 => unsafe { avx512::compare::<S, VALUES>(&table.space, columns, lookups) },
        _ => table.space.compare::<VALUES>(columns, lookups),
    }
}

/// Compiles the loops over columns for a set of instructions.
#[cfg(guira_vectors)]
macro_rules! compile {
    ($module:ident, $features:literal) => {
        mod $module {
            use super::{BLOCK, Blocks, Lookups, Mixer};

            #[target_feature(enable = $features)]
            pub(super) fn locate<S: Blocks>(
                space: &S,
                mixer: Mixer,
                hashes: &[u64; BLOCK],
                columns: &mut S::Columns,
            ) {
                space.locate_all(mixer, hashes, columns);
            }

            #[target_feature(enable = $features)]
            pub(super) fn compare<S: Blocks, const VALUES: bool>(
                space: &S,
                columns: &S::Columns,
                lookups: &mut Lookups,
            ) {
                space.compare::<VALUES>(columns, lookups);
            }
        }
    };
}
#[cfg(guira_vectors)]
compile!(avx2, "avx2,bmi1,bmi2");
#[cfg(guira_vectors)]
compile!(avx512, "avx512f,avx512dq,avx512vl,avx512bw,bmi1,bmi2");

/// The first items of a block.
struct Block<C> {
    columns: C,
    len: usize,
}

/// Calls `operation` for each block with the position of its first item, its columns and their
/// number, and those of a later block that are to be prefetched meanwhile: none if the table stays
/// in a second-level cache. Those of the first `AHEAD` blocks are prefetched here.
#[inline]
fn for_each_block<S: Blocks>(
    table: &Table<S>,
    hashes: &mut Hashes<'_>,
    prefetch: impl Fn(&S::Columns, usize),
    mut operation: impl FnMut(usize, (&S::Columns, usize), (&S::Columns, usize)),
) {
    let (mixer, mut room) = (hashes.mixer(), [0; BLOCK]);
    let mut locate = |block: &mut Block<S::Columns>| {
        let next = hashes.next(&mut room);
        locate(table, mixer, next, &mut block.columns);
        block.len = next.len();
        block.len == BLOCK && !hashes.are_taken()
    };
    let prefetches = !table.space.is_in_second_level();
    let ahead = if prefetches { AHEAD } else { 1 };
    let (mut blocks, mut has_more) = (ArrayVec::<_, { AHEAD + 1 }>::new(), true);
    // One more than those ahead, if there is one.
    while has_more && blocks.len() <= ahead {
        blocks.push(Block { columns: S::EMPTY, len: 0 });
        let last = blocks.len() - 1;
        has_more = locate(&mut blocks[last]);
        let Block { columns, len } = &blocks[last];
        if prefetches && last < ahead {
            (0..*len).for_each(|place| prefetch(columns, place));
        }
    }
    let (mut now, mut position) = (0, 0);
    let count = blocks.len();
    while blocks[now].len > 0 {
        // The last block of the window, whose lines are not on their way yet.
        let last = if now == 0 { count - 1 } else { now - 1 };
        let (items, next) = (&blocks[now], &blocks[last]);
        let ahead = if prefetches && count > ahead { next.len } else { 0 };
        operation(position, (&items.columns, items.len), (&next.columns, ahead));
        position += items.len;
        blocks[now].len = 0;
        if has_more {
            has_more = locate(&mut blocks[now]);
        }
        now = if now + 1 == count { 0 } else { now + 1 };
    }
}

impl<S: Blocks> Table<S> {
    /// Calls `operation` with each item's position and the item, in order. Its buckets and its
    /// stripe were prefetched `AHEAD` blocks earlier, unless the table stays in a second-level
    /// cache.
    #[inline]
    pub(crate) fn for_each_item(
        &self,
        hashes: &mut Hashes<'_>,
        mut operation: impl FnMut(usize, S::Item),
    ) {
        let prefetch = |columns: &S::Columns, place| {
            self.space.prefetch_at(columns, place);
            S::stripe_at(self.stripes.reader(), columns, place).prefetch();
        };
        for_each_block(self, hashes, prefetch, |position, (now, len), (next, ahead)| {
            // (At most a block: so no place is checked.)
            for place in 0..len.min(BLOCK) {
                if place < ahead {
                    prefetch(next, place);
                }
                operation(position + place, self.space.item_at(now, place));
            }
        });
    }

    /// Looks up the hashes of a batch. Returns the number of items that were found. With `VALUES`,
    /// the answers have what a lookup by key returns for each item.
    pub(crate) fn look_up_each<const VALUES: bool>(
        &self,
        hashes: &mut Hashes<'_>,
        answers: &mut Answers<'_>,
    ) -> usize {
        let (mut count, mut lookups) = (0, Lookups::EMPTY);
        let prefetch = |columns: &_, place| self.space.prefetch_at(columns, place);
        for_each_block(self, hashes, prefetch, |position, now, next| {
            self.look_up_block::<VALUES>(now, next, &mut lookups);
            count += answers.put(position, &lookups.found, &lookups.values, now.1);
        });
        count
    }

    /// Looks for a visible copy of each item of a batch. Returns the number of items that have one.
    pub(crate) fn visible_each(&self, hashes: &mut Hashes<'_>, answers: &mut Answers<'_>) -> usize {
        let (mut count, mut lookups) = (0, Lookups::EMPTY);
        let prefetch = |columns: &_, place| self.space.prefetch_at(columns, place);
        for_each_block(self, hashes, prefetch, |position, now, next| {
            // First, once for the block: see `look_for_visible`.
            let time = self.clock.time();
            let clock = self.clock.look();
            let ages = self.clock.visible_ages(clock, time);
            self.look_up_block::<true>(now, next, &mut lookups);
            let unchanged = self.clock.validate(clock);
            let Lookups { found, values: stamps, .. } = &mut lookups;
            for place in 0..now.1.min(BLOCK) {
                let shows = self.clock.age(clock, stamps[place].into()) < ages;
                // Open: the copy that was found has expired, so that another one may be visible; or
                // none was found, and the clock has changed.
                if !(if found[place] { shows } else { unchanged }) {
                    // To look for another copy is no retry.
                    if !found[place] {
                        self.counters.lookup_retried();
                    }
                    found[place] = S::look_for_visible_at(self, now.0, place);
                }
            }
            count += answers.put(position, found, stamps, now.1);
        });
        count
    }

    /// As [`visible_each`](Self::visible_each), with the seed zero and an answer for each hash.
    #[cfg(loom)]
    pub fn are_visible(&self, hashes: &[u64], answers: &mut [bool]) {
        let mut hashes = Hashes::new(super::Source::Slice(hashes), Mixer::new(0));
        self.visible_each(&mut hashes, &mut Answers::Each(answers));
    }

    /// Looks up the items of a block.
    #[inline]
    fn look_up_block<const VALUES: bool>(
        &self,
        (now, len): (&S::Columns, usize),
        (next, ahead): (&S::Columns, usize),
        lookups: &mut Lookups,
    ) {
        let len = len.min(BLOCK);
        // Whole blocks with nothing to prefetch are separate: the compiler unrolls the loop.
        let unchanged = if len == BLOCK && ahead == 0 {
            self.read_block((now, BLOCK), (next, 0), lookups)
        } else {
            self.read_block((now, len), (next, ahead), lookups)
        };
        compare::<S, VALUES>(self, now, lookups);
        if len < BLOCK {
            lookups.found[len..].fill(false);
        }
        let open = lookups.open.iter().fold(false, |any, open| any | open);
        if !unchanged | open {
            self.settle_block::<VALUES>((now, len), lookups, unchanged);
        }
    }

    /// Reads the version, the words, and the version again of each of the first items of a block.
    /// Returns whether all versions were unchanged meanwhile.
    #[expect(clippy::inline_always, reason = "so that the numbers may be constants")]
    #[inline(always)]
    fn read_block(
        &self,
        (now, len): (&S::Columns, usize),
        (next, ahead): (&S::Columns, usize),
        lookups: &mut Lookups,
    ) -> bool {
        let (reader, stripes, mut changes) = (self.space.reader(), self.stripes.reader(), 0);
        let [first, second] = &mut lookups.words;
        for place in 0..len {
            if place < ahead {
                self.space.prefetch_at(next, place);
            }
            let stripe = S::stripe_at(stripes, now, place);
            let version = stripe.version();
            [first[place], second[place]] = S::words_at(reader, now, place);
            changes |= stripe.changes_since(version);
        }
        changes == 0
    }

    /// Settles what the comparison of a block leaves open, and what was not found although a
    /// version has changed.
    #[inline(never)]
    fn settle_block<const VALUES: bool>(
        &self,
        (now, len): (&S::Columns, usize),
        lookups: &mut Lookups,
        unchanged: bool,
    ) {
        let Lookups { words: [first, second], found, open, values } = lookups;
        for place in 0..len.min(BLOCK) {
            if open[place] || !(found[place] || unchanged) {
                let words = [first[place], second[place]];
                let value = S::settle::<VALUES>(self, now, place, words, unchanged);
                (found[place], values[place]) = (value.is_some(), value.unwrap_or(0));
            }
        }
    }
}
