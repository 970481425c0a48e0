//! STUB
use crate::sync::Word;
use core::{ops::Range, ptr::NonNull};
#[derive(Debug)]
pub(crate) struct GrowingBuckets(alloc::boxed::Box<[Word]>);
impl GrowingBuckets {
    pub(crate) fn new(_first: u64, max: u64, _reserve: bool, _huge_pages: bool) -> Option<Self> { Some(Self((0..max).map(|_| Word::new(0)).collect())) }
    #[inline] pub(crate) unsafe fn bucket(&self, bucket: u32) -> &Word { &self.0[bucket as usize] }
    #[inline] pub(crate) fn prefetch(&self, bucket: u32) { super::super::prefetch::prefetch(self.0.as_ptr().wrapping_add(bucket as usize).cast()) }
    #[inline] pub(crate) fn base(&self) -> Option<NonNull<Word>> { None }
    #[inline] pub(crate) fn is_committed(&self, _buckets: Range<u64>) -> bool { true }
    pub(crate) fn commit(&self, _buckets: Range<u64>) -> Option<()> { Some(()) }
    pub(crate) fn bytes_to_commit(&self, _buckets: Range<u64>) -> usize { 0 }
    pub(crate) fn size_in_bytes(&self) -> usize { self.0.len() * 8 }
}
