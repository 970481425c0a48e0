//! Reserved addresses, where the system cannot reserve any.

use core::{convert::Infallible, ptr::NonNull};

use super::{Range, Word};

/// There is none.
#[derive(Debug)]
pub(super) struct Reservation {
    pub(super) base: NonNull<Word>,
    pub(super) page: usize,
    none: Infallible,
}

impl Reservation {
    pub(super) fn new(_buckets: u64, _huge_pages: bool) -> Option<Self> {
        None
    }

    pub(super) fn commit(&self, _buckets: &Range<u64>) -> Option<()> {
        match self.none {}
    }

    pub(super) fn collapse_before(&self, _bucket: u64) {
        match self.none {}
    }

    pub(super) unsafe fn release(&mut self, _buckets: &Range<u64>) {
        match self.none {}
    }
}
