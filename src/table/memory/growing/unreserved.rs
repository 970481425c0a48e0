//! Reserved addresses, where the system cannot reserve any.

use core::ptr::NonNull;

use super::{Range, Word};

/// There is none.
#[derive(Debug)]
pub(super) enum Reservation {}

impl Reservation {
    pub(super) fn new(_buckets: u64, _huge_pages: bool) -> Option<Self> {
        None
    }

    #[inline]
    pub(super) fn base(&self) -> NonNull<Word> {
        match *self {}
    }

    pub(super) fn page(&self) -> usize {
        match *self {}
    }

    pub(super) fn commit(&self, _buckets: &Range<u64>) -> Option<()> {
        match *self {}
    }

    pub(super) fn collapse_before(&self, _bucket: u64) {
        match *self {}
    }

    #[cfg(feature = "std")]
    pub(super) unsafe fn clear(&mut self, _buckets: &Range<u64>) {
        match *self {}
    }

    pub(super) unsafe fn release(&mut self, _buckets: &Range<u64>) {
        match *self {}
    }
}
