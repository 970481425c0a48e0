//! Batches, in blocks of items: from hashes to keys and buckets by columns, which the compiler
//! turns into vectors, and then one item after another, while the cache lines of a later block are
//! prefetched.
//!
//! The window of lines in flight rolls: each item that is processed makes room for the next one. (A
//! window that is filled and then drained leaves the memory idle at each turn: it takes 1.2 times
//! as long as the bare memory accesses, the rolling window 1.0 times.)

#[cfg(guira_vectors)]
use super::Addressing;
use super::{FixedTable, FixedWords, Pair};
#[cfg(guira_vectors)]
use crate::table::Kernel;
use crate::{
    bucket::{Fingerprint, Slots},
    table::{Answers, Hashes, Mixer},
};

/// The number of items of a block. It is so small that the processor overlaps the work on two
/// blocks.
/// Two under loom and shuttle, so that small batches exceed it.
pub(in crate::table) const BLOCK: usize = if cfg!(any(loom, shuttle)) { 2 } else { 16 };
/// How many blocks ahead cache lines are prefetched, if the table does not stay in a second-level
/// cache.
const AHEAD: usize = if cfg!(any(loom, shuttle)) { 1 } else { 3 };

/// The items of a block, by columns.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(super) struct Block {
    keys: [u32; BLOCK],
    buckets: [[u32; BLOCK]; 2],
}

/// The first items of a block.
#[derive(Clone, Copy)]
pub(super) struct Items<'a> {
    block: &'a Block,
    len: usize,
}

/// Both words of each item of a block, and the answers, by columns.
#[repr(align(64))]
struct Lookups {
    words: [[u64; BLOCK]; 2],
    found: [bool; BLOCK],
    /// Meaningless for an item that was not found.
    values: [u16; BLOCK],
}

impl Lookups {
    const EMPTY: Self = Self { words: [[0; BLOCK]; 2], found: [false; BLOCK], values: [0; BLOCK] };
}

impl Block {
    const EMPTY: Self = Self { keys: [0; BLOCK], buckets: [[0; BLOCK]; 2] };
}

impl Items<'_> {
    /// The key at a place, and its buckets.
    #[inline]
    fn item(&self, place: usize) -> (u32, [u32; 2]) {
        let Block { keys, buckets: [first, second] } = self.block;
        (keys[place], [first[place], second[place]])
    }

    #[inline]
    fn pair(&self, place: usize) -> Pair {
        let (key, buckets) = self.item(place);
        Pair { fingerprint: Fingerprint::new(key), value: 0, buckets }
    }
}

impl FixedTable {
    /// Calls `operation` with each item's position and pair, in order. The item's buckets and
    /// stripe were prefetched `AHEAD` blocks earlier, unless the table stays in a second-level
    /// cache.
    #[inline]
    pub(crate) fn for_each_pair(
        &self,
        hashes: &mut Hashes<'_>,
        mut operation: impl FnMut(usize, Pair),
    ) {
        let prefetch = |pair: &Pair| {
            self.prefetch_pair(pair.buckets);
            self.stripes.of(pair.fingerprint).prefetch();
        };
        self.for_each_block(hashes, prefetch, |position, now, next| {
            for place in 0..now.len {
                if place < next.len {
                    prefetch(&next.pair(place));
                }
                operation(position + place, now.pair(place));
            }
        });
    }

    #[inline]
    fn prefetch_pair(&self, [first, second]: [u32; 2]) {
        self.buckets.prefetch(first);
        self.buckets.prefetch(second);
    }

    /// Calls `operation` for each block with the position of its first item, its items, and those
    /// of a later block that are to be prefetched meanwhile: none if the table stays in a
    /// second-level cache. Those of the first `AHEAD` blocks are prefetched here.
    #[inline]
    fn for_each_block(
        &self,
        hashes: &mut Hashes<'_>,
        prefetch: impl Fn(&Pair),
        mut operation: impl FnMut(usize, Items<'_>, Items<'_>),
    ) {
        let (mixer, mut room) = (hashes.mixer(), [0; BLOCK]);
        let prefetches = !self.is_in_second_level();
        let ahead = if prefetches { AHEAD } else { 1 };
        let (mut blocks, mut lens) = ([Block::EMPTY; AHEAD + 1], [0; AHEAD + 1]);
        let mut has_more = true;
        for (block, len) in blocks.iter_mut().zip(&mut lens).take(ahead) {
            if has_more {
                *len = self.locate(mixer, hashes.next(&mut room), block);
                has_more = *len == BLOCK;
            }
            if prefetches {
                let items = Items { block, len: *len };
                (0..*len).for_each(|place| prefetch(&items.pair(place)));
            }
        }
        let (mut now, mut new, mut position) = (0, ahead, 0);
        while lens[now] > 0 {
            lens[new] = 0;
            if has_more {
                lens[new] = self.locate(mixer, hashes.next(&mut room), &mut blocks[new]);
                has_more = lens[new] == BLOCK;
            }
            let [items, next] = [now, new].map(|at| Items { block: &blocks[at], len: lens[at] });
            operation(
                position,
                items,
                Items { len: if prefetches { next.len } else { 0 }, ..next },
            );
            position += items.len;
            (now, new) = ((now + 1) % blocks.len(), (new + 1) % blocks.len());
        }
    }

    /// Writes the keys and the buckets of these hashes, and returns their number.
    #[inline]
    fn locate(&self, mixer: Mixer, hashes: &[u64], block: &mut Block) -> usize {
        #[cfg(guira_vectors)]
        if let Ok(all) = hashes.try_into() {
            match self.kernel {
                Kernel::Scalar => {}
                // SAFETY: the processor has the instructions: see `set_kernel`.
                Kernel::Avx2 => unsafe {
                    avx2::locate(&self.addressing, mixer, all, block);
                    return BLOCK;
                },
                // SAFETY: as above.
                Kernel::Avx512 => unsafe {
                    avx512::locate(&self.addressing, mixer, all, block);
                    return BLOCK;
                },
            }
        }
        for (&hash, place) in hashes.iter().zip(0..BLOCK) {
            let (key, [first, second]) = self.addressing.locate(mixer.mix(hash));
            block.keys[place] = key;
            (block.buckets[0][place], block.buckets[1][place]) = (first, second);
        }
        hashes.len()
    }

    /// Looks up `len` hashes. Returns the number of items that were found. With `VALUES`,
    /// the answers have what [`get`](Self::get) returns for each item.
    pub(crate) fn look_up_each<const VALUES: bool>(
        &self,
        len: usize,
        hashes: &mut Hashes<'_>,
        answers: &mut Answers<'_>,
    ) -> usize {
        #[cfg(guira_vectors)]
        if let Some(count) = self.contains_by_kernel::<VALUES>(len, hashes, answers) {
            return count;
        }
        let _ = len;
        let (mut count, mut lookups) = (0, Lookups::EMPTY);
        let prefetch = |pair: &Pair| self.prefetch_pair(pair.buckets);
        self.for_each_block(hashes, prefetch, |position, now, next| {
            self.look_up_block::<VALUES>(now, next, &mut lookups);
            count += answers.put(position, &lookups.found, &lookups.values, now.len);
        });
        count
    }

    /// Looks up the items of a block: for each, reads the version, the words, and the version
    /// again. Then all words are compared at once.
    #[inline]
    fn look_up_block<const VALUES: bool>(
        &self,
        now: Items<'_>,
        next: Items<'_>,
        lookups: &mut Lookups,
    ) {
        let len = now.len.min(BLOCK);
        // Whole blocks with nothing to prefetch are separate: the compiler unrolls the loop.
        let unchanged = if len == BLOCK && next.len == 0 {
            self.read_block(now, next, BLOCK, lookups)
        } else {
            self.read_block(now, next, len, lookups)
        };
        self.compare::<VALUES>(&now.block.keys, lookups);
        if len < BLOCK {
            lookups.found[len..].fill(false);
        }
        if !unchanged | self.slots.is_semi_sorted() {
            self.settle::<VALUES>(now, lookups, unchanged);
        }
    }

    /// Reads the words of the first items of a block, and returns whether all versions were
    /// unchanged meanwhile.
    #[expect(clippy::inline_always, reason = "so that the number may be a constant")]
    #[inline(always)]
    fn read_block(
        &self,
        now: Items<'_>,
        next: Items<'_>,
        len: usize,
        lookups: &mut Lookups,
    ) -> bool {
        // (Fields of the table would be loaded again after each Acquire.)
        let (reader, mut changes) = (self.reader(), 0);
        let [first, second] = &mut lookups.words;
        for place in 0..len {
            if place < next.len {
                self.prefetch_pair(next.item(place).1);
            }
            let (key, buckets) = now.item(place);
            let words;
            (words, changes) = reader.read_each(key, buckets, changes);
            [first[place], second[place]] = words;
        }
        changes == 0
    }

    /// Settles what the comparison of a block leaves open: whether a semi-sorted word that has the
    /// lane of a key holds it, and what is not found although a version has changed.
    #[inline(never)]
    fn settle<const VALUES: bool>(&self, now: Items<'_>, lookups: &mut Lookups, unchanged: bool) {
        let Lookups { words: [first, second], found, values } = lookups;
        for place in 0..now.len.min(BLOCK) {
            let (key, buckets) = now.item(place);
            if self.slots.is_semi_sorted() && found[place] {
                let (first, second) = (first[place], second[place]);
                found[place] = self.slots.semi_sorted_in_either(first, second, key);
            }
            if found[place] | unchanged {
                continue;
            }
            if VALUES {
                let value = self.get_again(key, buckets[0], buckets[1]);
                (found[place], values[place]) = (value.is_some(), value.unwrap_or(0));
            } else {
                found[place] = self.contains_again(key, buckets[0], buckets[1]);
            }
        }
    }

    /// Tells for each item whether a lane of its words is that of its key, and with `VALUES` what
    /// its value is.
    #[inline]
    fn compare<const VALUES: bool>(&self, keys: &[u32; BLOCK], lookups: &mut Lookups) {
        // (Keys alone are looked up by `contains_by_kernel`, unless the kernel is the scalar one.)
        #[cfg(guira_vectors)]
        match self.kernel {
            Kernel::Avx2 if VALUES => {
                // SAFETY: the processor has the instructions: see `set_kernel`.
                return unsafe { avx2::compare(&self.slots, keys, lookups) };
            }
            Kernel::Avx512 if VALUES => {
                // SAFETY: as above.
                return unsafe { avx512::compare(&self.slots, keys, lookups) };
            }
            _ => {}
        }
        compare::<VALUES>(&self.slots, keys, lookups);
    }
}

impl FixedTable {
    /// Looks up the hashes of a batch: [`is_visible`](Self::is_visible) for each. Returns the
    /// number of items that were found.
    pub(crate) fn visible_each(&self, hashes: &mut Hashes<'_>, answers: &mut Answers<'_>) -> usize {
        let (mut count, mut lookups) = (0, Lookups::EMPTY);
        let prefetch = |pair: &Pair| self.prefetch_pair(pair.buckets);
        self.for_each_block(hashes, prefetch, |position, now, next| {
            let generation = self.clock.generation();
            self.look_up_block::<true>(now, next, &mut lookups);
            let unchanged = self.clock.validate(generation);
            let Lookups { found, values: stamps, .. } = &mut lookups;
            for place in 0..now.len.min(BLOCK) {
                let shows = self.clock.shows(generation, stamps[place].into());
                // Open: the first copy has expired, so that another one may be visible; or none was
                // found, and the generation has changed.
                if !(if found[place] { shows } else { unchanged }) {
                    // To look for another copy is no retry.
                    if !found[place] {
                        self.counters.lookup_retried();
                    }
                    found[place] = self.look_for_visible::<FixedWords>(&now.pair(place));
                }
            }
            count += answers.put(position, found, stamps, now.len);
        });
        count
    }

    /// As [`visible_each`](Self::visible_each), with the seed zero and an answer for each hash.
    #[cfg(loom)]
    pub fn are_visible(&self, hashes: &[u64], answers: &mut [bool]) {
        use crate::table::Source;
        let mut hashes = Hashes::new(Source::Slice(hashes), Mixer::new(0));
        self.visible_each(&mut hashes, &mut Answers::Each(answers));
    }
}

/// Writes the keys and the buckets of the hashes of a block, by products of 32 bits, which vectors
/// have.
#[cfg(guira_vectors)]
#[expect(clippy::inline_always, reason = "so that it gets the instructions of its caller")]
#[inline(always)]
fn locate(addressing: &Addressing, mixer: Mixer, hashes: &[u64; BLOCK], block: &mut Block) {
    // A copy, which no store to the block can change.
    let addressing = *addressing;
    let Block { keys, buckets: [first, second] } = block;
    for place in 0..BLOCK {
        let mixed = mixer.mix_by_halves(hashes[place]);
        let (key, buckets) = addressing.locate_by_words(mixed);
        keys[place] = key;
        [first[place], second[place]] = buckets;
    }
}

/// See [`FixedTable::compare`].
#[expect(clippy::inline_always, reason = "as above")]
#[inline(always)]
fn compare<const VALUES: bool>(slots: &Slots, keys: &[u32; BLOCK], lookups: &mut Lookups) {
    // A copy, as above.
    let slots = *slots;
    let Lookups { words: [first, second], found, values } = lookups;
    for place in 0..BLOCK {
        let words = [first[place], second[place]];
        if VALUES {
            (found[place], values[place]) = slots.first_value(words, keys[place]);
        } else {
            found[place] = slots.either_may_hold(words, keys[place]);
        }
    }
}

/// Compiles the two loops over columns for a set of instructions.
#[cfg(guira_vectors)]
macro_rules! compile {
    ($module:ident, $features:literal) => {
        mod $module {
            use super::{Addressing, BLOCK, Block, Lookups, Mixer, Slots};

            #[target_feature(enable = $features)]
            pub(super) fn locate(
                from: &Addressing,
                mixer: Mixer,
                hashes: &[u64; BLOCK],
                block: &mut Block,
            ) {
                super::locate(from, mixer, hashes, block);
            }

            #[target_feature(enable = $features)]
            pub(super) fn compare(slots: &Slots, keys: &[u32; BLOCK], lookups: &mut Lookups) {
                super::compare::<true>(slots, keys, lookups);
            }
        }
    };
}
#[cfg(guira_vectors)]
compile!(avx2, "avx2");
#[cfg(guira_vectors)]
compile!(avx512, "avx512f,avx512dq,avx512vl,avx512bw");
