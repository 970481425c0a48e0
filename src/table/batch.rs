//! Batches: their hashes, and the window of items whose cache lines are prefetched.
//!
//! Each item's cache lines are prefetched a window of items before the item is processed.
//! A lone lookup waits for one cache miss, because the loads of its two buckets overlap; in a batch
//! dozens of misses are in flight. The window rolls: each item that is processed makes room for the
//! next one. (A window that is filled and then drained leaves the memory idle at each turn: it
//! takes 1.2 times as long as the bare memory accesses, the rolling window 1.0 times.)

use super::{Aged, Answers, Clock as _, FixedTable, Kernel, KeyProbe, Mixer, Pair, Payload};
use crate::{
    bucket::{BucketLayout, Fingerprint},
    sync::Word,
};

/// The batch window, in items. 12, 16, 24, 48 and 64 measured the same. Two under loom and shuttle,
/// so that small batches exceed it.
pub(crate) const WINDOW: usize = if cfg!(any(loom, shuttle)) { 2 } else { 32 };

/// The hashes of a batch, in order.
///
/// Operations on batches take their hashes in this form, so that they are compiled once, and not
/// once per type of item. One call of the function in [`Source::Blocks`] writes a whole block of
/// hashes, so it costs little per item.
pub struct Hashes<'a> {
    source: Source<'a>,
    mixer: Mixer,
}

/// Where hashes come from.
pub(crate) enum Source<'a> {
    /// A slice.
    Slice(&'a [u64]),
    /// A function that writes the next hashes to the start of a block, and returns their number. It
    /// is less than the length of the block only if there are no more.
    Blocks(&'a mut dyn FnMut(&mut [u64]) -> usize),
}

impl<'a> Hashes<'a> {
    pub(crate) fn new(source: Source<'a>, mixer: Mixer) -> Self {
        Self { source, mixer }
    }

    /// The mixer of the filter.
    #[cfg(guira_vectors)]
    pub(super) fn mixer(&self) -> Mixer {
        self.mixer
    }

    /// Returns the hashes of a burst. They are in the block, which is made if it is needed, or in
    /// the slice from which they come.
    #[cfg(guira_vectors)]
    #[inline]
    pub(super) fn burst<'b>(&mut self, block: &'b mut Option<[u64; MAX_BURST]>) -> &'b [u64]
    where
        'a: 'b,
    {
        match &mut self.source {
            Source::Slice(burst) => core::mem::take(burst),
            Source::Blocks(_) => self.next(block.insert([0; MAX_BURST])),
        }
    }

    /// Writes the next hashes to the start of a block, and returns their number. It is less than
    /// the length of the block only if there are no more.
    #[inline]
    pub(super) fn fill(&mut self, block: &mut [u64]) -> usize {
        match &mut self.source {
            Source::Slice(rest) => {
                let next = first(rest, block.len());
                block[..next.len()].copy_from_slice(next);
                next.len()
            }
            Source::Blocks(write) => write(block),
        }
    }

    /// As [`fill`](Self::fill), but returns the hashes themselves. If they come from a slice, they
    /// stay there.
    #[inline]
    pub(super) fn next<'b>(&mut self, block: &'b mut [u64]) -> &'b [u64]
    where
        'a: 'b,
    {
        match &mut self.source {
            Source::Slice(rest) => first(rest, block.len()),
            Source::Blocks(write) => {
                let arrived = write(block);
                &block[..arrived]
            }
        }
    }
}

/// Takes the first hashes of a slice: `len` of them, or all.
#[inline]
fn first<'a>(rest: &mut &'a [u64], len: usize) -> &'a [u64] {
    let (first, later) = rest.split_at(rest.len().min(len));
    *rest = later;
    first
}

/// Calls `operation` with each item's position and the value that `prefetch` made of its hash a
/// window earlier, in order. `unset` fills the window at first.
#[inline]
pub(crate) fn for_each_prefetched<P: Copy>(
    hashes: &mut Hashes<'_>,
    unset: P,
    prefetch: impl Fn(u64) -> P,
    mut operation: impl FnMut(usize, P),
) {
    let (mut block, mut window) = ([0; WINDOW], [unset; WINDOW]);
    let (mut first, mut waiting) = (0, 0);
    let mixer = hashes.mixer;
    loop {
        let arrived = hashes.fill(&mut block);
        for (place, &hash) in block[..arrived].iter().enumerate().skip(waiting) {
            window[place] = prefetch(mixer.mix(hash));
        }
        for place in 0..waiting {
            let prefetched = window[place];
            if place < arrived {
                window[place] = prefetch(mixer.mix(block[place]));
            }
            operation(first + place, prefetched);
        }
        first += waiting;
        waiting = arrived;
        if arrived == 0 {
            return;
        }
    }
}

/// Number of items of a stage.
const STAGE: usize = if cfg!(any(loom, shuttle)) { 1 } else { 16 };

/// Calls `operation` with each item's position and the value that `prefetch` made of its hash, in
/// order. A stage earlier, when the cache lines of the first prefetches have arrived, it calls
/// `prefetch_more`. `unset` fills the stages at first.
#[inline]
pub(crate) fn for_each_in_stages<P: Copy>(
    hashes: &mut Hashes<'_>,
    unset: P,
    prefetch: impl Fn(u64) -> P,
    prefetch_more: impl Fn(&P),
    mut operation: impl FnMut(usize, P),
) {
    let (mut block, mixer) = ([0; STAGE], hashes.mixer);
    let (mut first, mut second) = (([unset; STAGE], 0), ([unset; STAGE], 0));
    let mut position = 0;
    loop {
        let arrived = hashes.fill(&mut block);
        let last = second;
        second = first;
        for (item, &hash) in first.0.iter_mut().zip(&block[..arrived]) {
            *item = prefetch(mixer.mix(hash));
        }
        first.1 = arrived;
        second.0[..second.1].iter().for_each(&prefetch_more);
        for &item in &last.0[..last.1] {
            operation(position, item);
            position += 1;
        }
        if arrived + second.1 == 0 {
            return;
        }
    }
}

/// Largest number of items of a burst: a mask has a bit for each of them.
pub(crate) const MAX_BURST: usize = 64;
/// A batch of fewer items is processed one by one. The processor looks far enough ahead to overlap
/// their cache misses, and setting up a window would take longer.
pub(crate) const MIN_BATCH: usize = if cfg!(any(loom, shuttle)) { 0 } else { 6 };

/// Largest table, in bytes, for which batches prefetch nothing, because it stays in a second-level
/// cache. There the window costs a tenth of the time of a batch, and prefetches gain nothing.
const MAX_CACHED: usize = if cfg!(any(loom, shuttle)) { 0 } else { 512 << 10 };

/// Returns whether a table with these words is so small that it stays in a second-level cache.
pub(super) const fn is_cached(words: &[Word]) -> bool {
    size_of_val(words) <= MAX_CACHED
}

impl<P: Payload> FixedTable<P> {
    /// Calls `operation` with each item's position and pair, in order. The item's buckets and
    /// stripe were prefetched one batch window earlier, unless the table is cached.
    #[inline]
    pub(crate) fn for_each_pair<L: BucketLayout>(
        &self,
        hashes: &mut Hashes<'_>,
        mut operation: impl FnMut(usize, Pair),
    ) {
        if is_cached(self.buckets.as_slice()) {
            let (mut block, mut first, mixer) = ([0; WINDOW], 0, hashes.mixer);
            loop {
                let next = hashes.next(&mut block);
                for (place, &hash) in next.iter().enumerate() {
                    operation(first + place, self.addressing.pair::<L>(mixer.mix(hash)));
                }
                first += next.len();
                if next.is_empty() {
                    return;
                }
            }
        }
        let prefetch = |mixed| self.fetched_with_stripe::<L>(mixed);
        let unset = Pair { fingerprint: Fingerprint::new(1), buckets: [0; 2] };
        for_each_prefetched(hashes, unset, prefetch, operation);
    }

    /// Looks up the hashes of a batch, of which there are `len`. Returns the number of items that
    /// were found. With `VALUES`, the answers have what [`get`](Self::get) returns for each item.
    pub(crate) fn look_up_each<L: BucketLayout, const VALUES: bool>(
        &self,
        kernel: Kernel,
        len: usize,
        hashes: &mut Hashes<'_>,
        answers: Answers<'_>,
    ) -> usize {
        #[cfg(guira_vectors)]
        let mut answers = answers;
        #[cfg(guira_vectors)]
        if let Some(count) = self.contains_by_kernel::<L, VALUES>(kernel, len, hashes, &mut answers)
        {
            return count;
        }
        let _ = (kernel, len);
        // A loop for each form of answers: a choice for each item takes a fifth of its
        // instructions.
        match answers {
            Answers::Each(all) => self.look_up_singly::<L, VALUES>(hashes, |position, value| {
                all[position] = value.is_some();
            }),
            Answers::Mask(mask) => self.look_up_singly::<L, VALUES>(hashes, |position, value| {
                *mask |= u64::from(value.is_some()) << position;
            }),
            Answers::Values(all) => self.look_up_singly::<L, VALUES>(hashes, |position, value| {
                all[position] = value;
            }),
            mut answers @ Answers::MaskWithValues(..) => {
                self.look_up_singly::<L, VALUES>(hashes, |position, value| {
                    answers.set(position, value);
                })
            }
        }
    }

    /// Looks up the hashes of a batch by single lookups, and passes on the answers. Returns the
    /// number of items that were found.
    #[inline]
    fn look_up_singly<L: BucketLayout, const VALUES: bool>(
        &self,
        hashes: &mut Hashes<'_>,
        mut set: impl FnMut(usize, Option<u16>),
    ) -> usize {
        let (mut count, probe) = (0, self.key_probe::<L>());
        self.for_each_pair::<L>(hashes, |position, pair| {
            let found = self.get_if::<L, VALUES>(&probe, pair);
            set(position, found);
            count += usize::from(found.is_some());
        });
        count
    }

    /// Looks up one item of a batch. Returns its value, or any number without `VALUES`.
    #[inline]
    pub(super) fn get_if<L: BucketLayout, const VALUES: bool>(
        &self,
        probe: &KeyProbe,
        pair: Pair,
    ) -> Option<u16> {
        if VALUES { self.get_by::<L>(probe, pair) } else { self.contains::<L>(pair).then_some(0) }
    }
}

/// Largest number of items between two reads of the generation.
const AGED_ROUND: usize = if cfg!(any(loom, shuttle)) { 2 } else { 512 };

impl FixedTable<Aged> {
    /// Looks up the hashes of a batch: [`is_visible`](Self::is_visible) for each. Returns the
    /// number of items that were found.
    pub(crate) fn visible_each<L: BucketLayout>(
        &self,
        kernel: Kernel,
        hashes: &mut Hashes<'_>,
        answers: &mut Answers<'_>,
    ) -> usize {
        let (mut block, mut stamps) = ([0; AGED_ROUND], [None; AGED_ROUND]);
        let (mut position, mut count, mixer) = (0, 0, hashes.mixer);
        loop {
            let round = hashes.next(&mut block);
            if round.is_empty() {
                return count;
            }
            let stamps = &mut stamps[..round.len()];
            let hashes = &mut Hashes::new(Source::Slice(round), mixer);
            let now = self.clock().generation();
            self.look_up_each::<L, true>(kernel, round.len(), hashes, Answers::Values(stamps));
            let unchanged = self.clock().validate(now);
            for (&hash, stamp) in round.iter().zip(&*stamps) {
                let found = match *stamp {
                    None if unchanged => false,
                    Some(stamp) if self.clock().shows(now, stamp.into()) => true,
                    // Another copy may be visible.
                    _ => self.is_visible::<L>(self.addressing.pair::<L>(mixer.mix(hash))),
                };
                answers.set(position, found.then_some(0));
                position += 1;
                count += usize::from(found);
            }
        }
    }

    /// As [`visible_each`](Self::visible_each), with the seed zero and an answer for each hash.
    #[cfg(loom)]
    pub fn are_visible<L: BucketLayout>(&self, hashes: &[u64], answers: &mut [bool]) {
        let mut hashes = Hashes::new(Source::Slice(hashes), Mixer::new(0));
        self.visible_each::<L>(Kernel::Scalar, &mut hashes, &mut Answers::Each(answers));
    }
}
