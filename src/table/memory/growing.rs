//! The buckets of a table that grows at its end: memory in small steps, of which none moves.
//!
//! Buckets are committed in *chunks*, each at most a 64th of the table: see `chunks.rs`. They are
//! parts of one range of reserved addresses (`reserved.rs`), or blocks of the allocator
//! (`segments.rs`).
//!
//! # Publication
//!
//! A thread that commits a chunk first has its memory: it made the addresses accessible, or holds a
//! new block. Then it takes the lock, and publishes the chunk, unless another thread has done so,
//! by setting its bit by a Release. A bit is never cleared while the table is shared. Whoever uses
//! a chunk learned, by a chain of synchronization that starts at this store, that the chunk is
//! committed. So its memory and its place in the table of segments were written before. No place
//! is written twice, so reads of places, which are not atomic, overlap no write.
//!
//! The lock is held for a few stores, never over a call of the system or of the allocator. Two
//! threads may both obtain memory for one chunk. To make addresses accessible twice changes
//! nothing, and a block that came second goes back to the allocator.
//!
//! The buckets of a view are in an image that somebody else owns, for lookups alone: `image.rs`.
//!
//! After a fork both processes have the buckets, as they have any other private memory.

mod chunks;
#[cfg(guira_in_place)]
mod image;
#[cfg(all(target_os = "linux", target_pointer_width = "64", not(miri)))]
mod reserved;
#[cfg(not(all(target_os = "linux", target_pointer_width = "64", not(miri))))]
#[path = "growing/unreserved.rs"]
mod reserved;
mod segments;
#[cfg(all(test, feature = "std"))]
mod tests;

use alloc::boxed::Box;
use core::{ops::Range, ptr::NonNull, slice};

#[cfg(guira_in_place)]
use super::Borrowed;
use super::{HUGE_PAGE, try_boxed};
use crate::{
    sync::{Acquire, Lock, Relaxed, Release, Word},
    table::prefetch,
};
use chunks::Chunks;
use reserved::Reservation;
use segments::Segments;

/// Number of bits of a word: of chunks whose bits share one.
const BITS: usize = u64::BITS as usize;

/// The buckets of a table that grows at its end. All are empty at first.
#[derive(Debug)]
pub(crate) struct GrowingBuckets {
    /// The address of the first bucket, if all buckets below the end of the table lie behind one
    /// another.
    base: Option<NonNull<Word>>,
    /// The addresses of all buckets, if they are reserved. Otherwise the chunks are segments.
    reservation: Option<Reservation>,
    /// The image that has the buckets, if there is one, and the number of those below its end.
    #[cfg(guira_in_place)]
    image: Option<(Borrowed, usize)>,
    chunks: Chunks,
    /// One bit for each chunk: whether it is committed.
    committed: Box<[Word]>,
    segments: Segments,
    /// Held while chunks are published.
    publishing: Lock,
}

// SAFETY: it owns its memory as a `Box<[Word]>` would, or it is `Borrowed`, and `Word` is `Send`
// and `Sync`.
unsafe impl Send for GrowingBuckets {}
// SAFETY: as above. What is not atomic, the places of segments, is written under the lock, before
// it is published, and only once: see the head of this file.
unsafe impl Sync for GrowingBuckets {}

// What a panic interrupts is an atomic access, or comes before a publication: see the head of this
// file.
impl core::panic::UnwindSafe for GrowingBuckets {}
impl core::panic::RefUnwindSafe for GrowingBuckets {}

impl GrowingBuckets {
    /// Returns buckets of which `first` are about to be committed, and up to `max` can be. `None`
    /// if the system refuses the memory.
    ///
    /// If they are to be reserved, the addresses of all of them are, if the system can do that and
    /// does not refuse. Otherwise each chunk is a segment from the allocator.
    ///
    /// # Panics
    /// Unless `1 <= first <= max <= 2^32`.
    pub(crate) fn new(first: u64, max: u64, (reserve, huge_pages): (bool, bool)) -> Option<Self> {
        assert!(0 < first && first <= max && max <= 1 << 32, "too few or too many buckets");
        let reservation = reserve.then(|| Reservation::new(max, huge_pages)).flatten();
        let smallest = match &reservation {
            Some(reservation) => reservation.page / size_of::<Word>(),
            None => Segments::MIN_BUCKETS,
        };
        let chunks = Chunks::new(first, max, smallest.ilog2());
        let segments = match reservation {
            Some(_) => Segments::none(),
            None => Segments::new(chunks.count(), huge_pages)?,
        };
        let committed = try_boxed((0..chunks.count().div_ceil(BITS)).map(|_| Word::new(0)))?;
        Some(Self {
            base: reservation.as_ref().map(|reservation| reservation.base),
            reservation,
            #[cfg(guira_in_place)]
            image: None,
            chunks,
            committed,
            segments,
            publishing: Lock::new(),
        })
    }

    /// Returns a bucket.
    ///
    /// # Safety
    /// The bucket was committed, and that happened before this call.
    #[inline]
    pub(crate) unsafe fn bucket(&self, bucket: u32) -> &Word {
        // Not where steps are counted: this takes one.
        debug_assert!(
            cfg!(guira_steps)
                || self.reservation.is_none() && self.base.is_some()
                || self.is_committed(u64::from(bucket)..u64::from(bucket) + 1)
        );
        // SAFETY: the caller promises what `word` needs. A committed bucket is a valid word, which
        // is accessed as an atomic only while `self` is borrowed.
        unsafe { self.word(bucket.into()).as_ref() }
    }

    /// The address of a bucket.
    ///
    /// # Safety
    /// The bucket was committed, and that happened before this call.
    #[inline]
    unsafe fn word(&self, bucket: u64) -> NonNull<Word> {
        if let Some(base) = self.base() {
            // SAFETY: the bucket is one of the reserved ones, or in an image, below its end.
            return unsafe { base.add(bucket as usize) };
        }
        // SAFETY: the caller promises it.
        unsafe { self.word_in_segment(bucket) }
    }

    /// The address of a bucket in a segment. (Out of line, so that the paths of reserved buckets
    /// are short.)
    ///
    /// # Safety
    /// As [`word`](Self::word).
    #[cold]
    #[inline(never)]
    unsafe fn word_in_segment(&self, bucket: u64) -> NonNull<Word> {
        // SAFETY: the bucket is committed, so its chunk was published before.
        unsafe { self.segments.word(self.chunks.find(bucket), bucket) }
    }

    /// Prefetches a bucket's cache line, if it has one. Any bucket below the maximum is valid.
    #[inline]
    pub(crate) fn prefetch(&self, bucket: u32) {
        if let Some(base) = self.base() {
            prefetch(base.as_ptr().wrapping_add(bucket as usize).cast());
        } else {
            self.prefetch_in_segment(bucket);
        }
    }

    /// Prefetches a bucket in a segment.
    #[cold]
    #[inline(never)]
    fn prefetch_in_segment(&self, bucket: u32) {
        if self.is_committed(bucket.into()..u64::from(bucket) + 1) {
            // SAFETY: the bucket is committed, as the Acquire in `has` found.
            prefetch(unsafe { self.word(bucket.into()) }.as_ptr().cast_const().cast());
        }
    }

    /// The address of the first bucket, if all buckets below the end of the table lie behind one
    /// another.
    #[inline]
    pub(crate) fn base(&self) -> Option<NonNull<Word>> {
        self.base
    }

    /// Returns whether these buckets are committed. If so, that happened before the return.
    #[inline]
    pub(crate) fn is_committed(&self, buckets: Range<u64>) -> bool {
        if buckets.end > self.chunks.max() {
            return buckets.is_empty();
        }
        self.chunks.numbers(&buckets).all(|number| self.has(number))
    }

    /// The committed chunks, each as the buckets that it holds, in order.
    pub(crate) fn committed(&self) -> impl DoubleEndedIterator<Item = Range<u64>> {
        let chunks = (0..self.chunks.count()).filter(|number| self.has(*number));
        chunks.map(|number| self.chunks.chunk(number))
    }

    /// Returns whether a chunk is committed.
    #[inline]
    fn has(&self, chunk: usize) -> bool {
        // Acquire: pairs with the Release in `publish`. A later store of this word, under the same
        // lock, publishes the earlier ones' chunks, too.
        // mutant-ok: not compiled for models, whose buckets are all committed
        self.committed[chunk / BITS].load(Acquire) >> (chunk % BITS) & 1 == 1
    }

    /// Commits the chunks that hold these buckets, as far as they are not. If the system refuses
    /// the memory, returns `None`, and commits none of them.
    ///
    /// # Panics
    /// If there are fewer buckets at most.
    pub(crate) fn commit(&self, buckets: Range<u64>) -> Option<()> {
        if buckets.is_empty() || self.is_committed(buckets.clone()) {
            return Some(());
        }
        assert!(buckets.end <= self.chunks.max(), "buckets beyond the maximum");
        let numbers = self.chunks.numbers(&buckets);
        if let Some(reservation) = &self.reservation {
            let (first, last) = (numbers.start, numbers.end - 1);
            reservation.commit(&(self.chunks.chunk(first).start..self.chunks.chunk(last).end))?;
            let guard = self.publishing.lock();
            numbers.clone().for_each(|number| self.publish(number));
            drop(guard);
            // Chunks are committed in order, mostly: the huge page before is complete by now.
            for chunk in numbers.map(|number| self.chunks.chunk(number)) {
                let words = (HUGE_PAGE / size_of::<Word>()) as u64;
                let before = chunk.start.saturating_sub(words)..chunk.start;
                if chunk.end - chunk.start < words && self.is_committed(before) {
                    reservation.collapse_before(chunk.start);
                }
            }
            return Some(());
        }
        let has = |number| self.has(number);
        let mut fresh = self.segments.allocate(numbers, has, |number| self.chunks.chunk(number))?;
        // After the lock is released, `fresh` frees what another thread was faster to provide.
        let _guard = self.publishing.lock();
        for index in 0..fresh.len() {
            let number = fresh.number(index);
            // Relaxed: bits are set under the lock.
            if self.committed[number / BITS].load(Relaxed) >> (number % BITS) & 1 == 0 {
                // SAFETY: the lock is held, and the chunk is not published.
                unsafe { self.segments.place(&mut fresh, index) };
                self.publish(number);
            }
        }
        Some(())
    }

    /// Marks a chunk as committed. The caller holds the lock.
    fn publish(&self, chunk: usize) {
        let word = &self.committed[chunk / BITS];
        // Relaxed: bits are set under the lock. Release: pairs with the Acquire in `has`.
        // mutant-ok: as in `has`
        word.store(word.load(Relaxed) | 1 << (chunk % BITS), Release);
    }

    /// Bytes that a commit of these buckets would add to the [size](Self::size_in_bytes), at most
    /// `usize::MAX`.
    ///
    /// # Panics
    /// If there are fewer buckets at most.
    pub(crate) fn bytes_to_commit(&self, buckets: Range<u64>) -> usize {
        assert!(buckets.end <= self.chunks.max(), "buckets beyond the maximum");
        let numbers = self.chunks.numbers(&buckets);
        let groups = numbers.start / BITS..numbers.end.div_ceil(BITS);
        // Relaxed: no memory is accessed because of the result.
        let new = groups.filter(|group| self.committed[*group].load(Relaxed) == 0).count();
        let tables = new * self.segments.table_bytes();
        let missing = numbers.filter(|number| !self.has(*number));
        missing.map(|number| self.chunk_bytes(number)).fold(tables, usize::saturating_add)
    }

    /// Bytes of a chunk, once it is committed.
    fn chunk_bytes(&self, number: usize) -> usize {
        let bytes = self.chunks.len(number) * size_of::<Word>();
        // The last chunk may end within a page.
        bytes.next_multiple_of(self.reservation.as_ref().map_or(1, |reservation| reservation.page))
    }

    /// Bytes of the committed chunks, and of what keeps track of them on the heap.
    pub(crate) fn size_in_bytes(&self) -> usize {
        let mut bytes = size_of_val(&*self.committed) + self.segments.heap_bytes();
        for (group, word) in self.committed.iter().enumerate() {
            // Relaxed: no memory is accessed because of the result.
            let bits = word.load(Relaxed);
            let numbers = (0..BITS).filter(|bit| bits >> bit & 1 == 1);
            bytes += numbers.map(|bit| self.chunk_bytes(group * BITS + bit)).sum::<usize>();
            bytes += if bits == 0 { 0 } else { self.segments.table_bytes() };
        }
        bytes
    }

    /// Releases all chunks that hold no bucket below this one. Buckets from it on that stay
    /// committed keep their values. Released ones are empty when they are committed again.
    pub(crate) fn truncate(&mut self, buckets: u64) {
        if buckets >= self.chunks.max() {
            return;
        }
        for number in self.chunks.numbers(&(0..buckets)).end..self.chunks.count() {
            let word = &mut self.committed[number / BITS];
            // Relaxed: `&mut self` makes the access exclusive, here and below.
            let bits = word.load(Relaxed);
            if bits >> (number % BITS) & 1 == 0 {
                continue;
            }
            word.set(bits & !(1 << (number % BITS)));
            // SAFETY: a committed chunk, all of it. Its bit was cleared, so it is used no more.
            unsafe {
                match &mut self.reservation {
                    Some(reservation) => reservation.release(&self.chunks.chunk(number)),
                    None => self.segments.free(number, &self.chunks.chunk(number)),
                }
            }
        }
        self.segments.free_tables(|group| self.committed[group].load(Relaxed) == 0);
    }

    /// Calls a function with consecutive runs of words that hold these buckets, in order.
    ///
    /// # Panics
    /// If some of them are not committed.
    pub(crate) fn for_each_run(&self, buckets: Range<u64>, mut each: impl FnMut(&[Word])) {
        self.runs(buckets, |first, len| {
            // SAFETY: `runs` found these words to be committed. They are accessed as atomics only
            // while `self` is borrowed.
            each(unsafe { slice::from_raw_parts(first.as_ptr(), len) });
        });
    }

    /// Calls a function with consecutive runs of the values of these buckets, in order. It may
    /// change them.
    ///
    /// # Panics
    /// If some of them are not committed.
    pub(crate) fn with_values(&mut self, buckets: Range<u64>, mut each: impl FnMut(&mut [u64])) {
        self.runs(buckets, |first, len| {
            // SAFETY: `runs` found these words to be committed, and `&mut self` makes the access
            // exclusive. A `Word` is an atomic, which has the size, the alignment and the valid
            // values of its integer.
            each(unsafe { slice::from_raw_parts_mut(first.as_ptr().cast(), len) });
        });
    }

    /// Calls a function with the address and the length of each run of words that holds some of
    /// these buckets, after it found all of them to be committed.
    fn runs(&self, buckets: Range<u64>, mut each: impl FnMut(NonNull<Word>, usize)) {
        if buckets.is_empty() {
            return;
        }
        assert!(self.is_committed(buckets.clone()), "buckets are not committed");
        if let Some(base) = self.base() {
            let Range { start, end } = buckets;
            // SAFETY: the bucket is one of the reserved ones, or in an image, below its end.
            let first = unsafe { base.add(start as usize) };
            return each(first, (end - start) as usize);
        }
        for number in self.chunks.numbers(&buckets) {
            let chunk = self.chunks.chunk(number);
            let (start, end) = (chunk.start.max(buckets.start), chunk.end.min(buckets.end));
            // SAFETY: the bucket is committed, as the Acquire in `has` found.
            each(unsafe { self.word(start) }, (end - start) as usize);
        }
    }
}

impl Drop for GrowingBuckets {
    fn drop(&mut self) {
        if self.base.is_none() {
            self.truncate(0);
        }
    }
}
