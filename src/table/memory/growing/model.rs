//! The buckets of a table that grows, for model checkers, whose atomics are constructed one by one.

use alloc::{boxed::Box, vec::Vec};
use core::{ops::Range, ptr::NonNull};

use crate::sync::{Relaxed, Word};

/// Buckets that are all committed: the tables of models are small, and grow to a handful of words.
#[derive(Debug)]
pub(crate) struct GrowingBuckets(Box<[Word]>);

impl GrowingBuckets {
    pub(crate) fn new(first: u64, max: u64, _memory: (bool, bool)) -> Option<Self> {
        assert!(0 < first && first <= max && max <= 1 << 32, "too few or too many buckets");
        Some(Self((0..max).map(|_| Word::new(0)).collect()))
    }

    /// Returns a bucket.
    ///
    /// # Safety
    /// As of the buckets that are not a model. This one is safe.
    pub(crate) unsafe fn bucket(&self, bucket: u32) -> &Word {
        &self.0[bucket as usize]
    }

    /// The words of models do not lie behind one another.
    pub(crate) fn base(&self) -> Option<NonNull<Word>> {
        None
    }

    pub(crate) fn prefetch(&self, _bucket: u32) {}

    pub(crate) fn is_committed(&self, buckets: Range<u64>) -> bool {
        buckets.is_empty() || buckets.end <= self.0.len() as u64
    }

    pub(crate) fn committed(&self) -> impl DoubleEndedIterator<Item = Range<u64>> {
        core::iter::once(0..self.0.len() as u64)
    }

    pub(crate) fn commit(&self, buckets: Range<u64>) -> Option<()> {
        assert!(self.is_committed(buckets), "buckets beyond the maximum");
        Some(())
    }

    pub(crate) fn bytes_to_commit(&self, _buckets: Range<u64>) -> usize {
        0
    }

    pub(crate) fn size_in_bytes(&self) -> usize {
        self.0.len() * size_of::<u64>()
    }

    /// Releases nothing: buckets that stay committed keep their values.
    pub(crate) fn truncate(&mut self, _buckets: u64) {}

    pub(crate) fn for_each_run(&self, buckets: Range<u64>, mut each: impl FnMut(&[Word])) {
        if !buckets.is_empty() {
            each(&self.0[buckets.start as usize..buckets.end as usize]);
        }
    }

    pub(crate) fn with_values(&mut self, buckets: Range<u64>, mut each: impl FnMut(&mut [u64])) {
        if buckets.is_empty() {
            return;
        }
        let words = &mut self.0[buckets.start as usize..buckets.end as usize];
        // Relaxed: `&mut self` makes the access exclusive.
        let mut values: Vec<u64> = words.iter().map(|word| word.load(Relaxed)).collect();
        each(&mut values);
        for (word, value) in words.iter_mut().zip(values) {
            word.set(value);
        }
    }
}
