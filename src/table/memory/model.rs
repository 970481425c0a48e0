//! Words for model checkers, whose atomics are constructed one by one.

use alloc::{boxed::Box, vec::Vec};

use super::Word;
use crate::sync::Relaxed;

/// A handful of words: the tables of models are small.
#[derive(Debug)]
pub(crate) struct Buckets(Box<[Word]>);

impl Buckets {
    pub(super) fn zeroed(len: usize, _huge_pages: bool) -> Option<Self> {
        Some(Self((0..len).map(|_| Word::new(0)).collect()))
    }

    pub(crate) fn touch(&mut self) {}

    pub(crate) fn with_words<R>(&mut self, change: impl FnOnce(&mut [u64]) -> R) -> R {
        let mut values: Vec<u64> = self.0.iter().map(|word| word.load(Relaxed)).collect();
        let result = change(&mut values);
        for (word, value) in self.0.iter_mut().zip(values) {
            word.set(value);
        }
        result
    }

    pub(in crate::table) fn size_in_bytes(&self) -> usize {
        size_of_val(&*self.0)
    }

    pub(in crate::table) fn huge_pages(&self) -> bool {
        false
    }

    pub(super) fn bytes_for(len: usize) -> Option<usize> {
        len.checked_mul(size_of::<Word>())
    }

    pub(in crate::table) fn as_slice(&self) -> &[Word] {
        &self.0
    }

    pub(in crate::table) fn bucket(&self, bucket: u32) -> &Word {
        &self.0[bucket as usize]
    }

    pub(in crate::table) fn prefetch(&self, _bucket: u32) {}
}
