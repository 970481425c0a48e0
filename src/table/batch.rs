//! Batches: their hashes, and the window of items whose cache lines are prefetched.
//!
//! Each item's cache lines are prefetched a window of items before the item is processed.
//! A lone lookup waits for one cache miss, because the loads of its two buckets overlap; in a batch
//! dozens of misses are in flight. The window rolls: each item that is processed makes room for the
//! next one. (A window that is filled and then drained leaves the memory idle at each turn: it
//! takes 1.2 times as long as the bare memory accesses, the rolling window 1.0 times.)

use super::Mixer;
use crate::sync::Word;

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
