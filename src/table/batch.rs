//! Batches: their hashes, and inserts in stages.

use super::{BLOCK, Blocks, Mixer, Table};

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

    /// Whether it is known that no hashes are left.
    #[inline]
    pub(super) fn are_taken(&self) -> bool {
        matches!(self.source, Source::Slice([]))
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
const MIN_BATCH: usize = if cfg!(any(loom, shuttle)) { 0 } else { 6 };
/// The same for a batch of writes: each of them is a barrier. In a table that stays in a
/// second-level cache, and in others.
const MIN_WRITES: [usize; 2] = if cfg!(any(loom, shuttle)) { [0; 2] } else { [24, 2] };

impl<S: Blocks> Table<S> {
    /// Returns how many of the last lookups of a batch are better made one by one: in a table that
    /// stays in a second-level cache, those which fill no block. (With a time to live, each would
    /// read the time.)
    #[inline]
    pub(crate) fn lookups_alone(&self, batch: usize) -> usize {
        if batch < MIN_BATCH {
            batch
        } else if self.is_quick() {
            batch % BLOCK
        } else {
            0
        }
    }

    /// Returns whether the writes of a batch are better made one by one.
    #[inline]
    pub(crate) fn are_few_writes(&self, batch: usize) -> bool {
        let [cached, others] = MIN_WRITES;
        batch < others || batch < cached && self.is_quick()
    }

    /// Whether an operation neither waits for memory nor reads the time.
    #[inline]
    fn is_quick(&self) -> bool {
        self.space.is_in_second_level() && !self.clock.has_times()
    }
}
