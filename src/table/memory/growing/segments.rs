//! Chunks as segments: blocks from the allocator.
//!
//! The places of the chunks are in tables of 64, each allocated with the first of its chunks. The
//! allocator is asked for powers of two, which some allocators align by themselves, and for no
//! alignment: std's would then clear, and so touch, what comes fresh from the system as zeros.

use alloc::{
    alloc::{alloc_zeroed, dealloc},
    boxed::Box,
    vec::Vec,
};
use core::{
    alloc::Layout,
    cell::UnsafeCell,
    mem,
    ops::Range,
    ptr::{self, NonNull},
    slice,
};

use super::{
    super::{HUGE_PAGE, advise_huge_pages},
    BITS, Word, try_boxed,
};

/// The places of chunks whose numbers follow one another: where bucket 0 would be if it were behind
/// the chunk's first bucket by as many words as its number is. (A place is not to be accessed. To
/// find a bucket, nothing more than its own number is added.)
type Places = [UnsafeCell<*mut Word>; BITS];

/// The segments of a table, if it has any.
#[derive(Debug)]
pub(super) struct Segments {
    tables: Box<[UnsafeCell<Option<Box<Places>>>]>,
    huge_pages: bool,
}

impl Segments {
    /// Number of buckets in the smallest segments: few enough for a table of a few hundred buckets,
    /// and enough beside 8 bytes for its place and about 16 that the allocator needs.
    pub(super) const MIN_BUCKETS: usize = 64;

    /// Returns no segments, for a table that has none.
    pub(super) fn none() -> Self {
        Self { tables: Box::default(), huge_pages: false }
    }

    /// Returns room for this many chunks, or `None` if the system refuses the memory.
    pub(super) fn new(chunks: usize, huge_pages: bool) -> Option<Self> {
        let tables = (0..chunks.div_ceil(BITS)).map(|_| UnsafeCell::new(None));
        Some(Self { tables: try_boxed(tables)?, huge_pages })
    }

    /// The address of a bucket, which is in this chunk.
    ///
    /// # Safety
    /// The chunk was published, and that happened before this call.
    #[inline]
    pub(super) unsafe fn word(&self, number: usize, bucket: u64) -> NonNull<Word> {
        debug_assert!(number / BITS < self.tables.len());
        // SAFETY: the table was created before the chunk was published, and changes only through
        // an exclusive reference. So did the place, which leads to the bucket's address.
        unsafe {
            let table = &*self.tables.get_unchecked(number / BITS).get();
            let place = *table.as_ref().unwrap_unchecked()[number % BITS].get();
            NonNull::new_unchecked(place.wrapping_add(bucket as usize))
        }
    }

    /// Allocates blocks, and the tables that they need, for those of these chunks that `has` does
    /// not name, with the buckets that `chunk` returns. Returns `None` if the system refuses the
    /// memory.
    pub(super) fn allocate(
        &self,
        numbers: Range<usize>,
        has: impl Fn(usize) -> bool,
        chunk: impl Fn(usize) -> Range<u64>,
    ) -> Option<Fresh> {
        let mut fresh = Fresh { blocks: Vec::new(), tables: Vec::new() };
        let groups = numbers.start / BITS..numbers.end.div_ceil(BITS);
        fresh.blocks.try_reserve_exact(numbers.len()).ok()?;
        fresh.tables.try_reserve_exact(groups.len()).ok()?;
        for group in groups {
            // A table is there as soon as one of its chunks is.
            if !(group * BITS..(group + 1) * BITS).any(&has) {
                let places = try_boxed((0..BITS).map(|_| UnsafeCell::new(ptr::null_mut())))?;
                fresh.tables.push((group, places.try_into().ok()));
            }
        }
        for number in numbers.filter(|number| !has(*number)) {
            let Range { start, end } = chunk(number);
            let (start, len) = (start as usize, (end - start) as usize);
            let first = allocate(len)?;
            fresh.blocks.push(Block { number, start, len, first: Some(first) });
            if len * size_of::<Word>() >= HUGE_PAGE {
                // SAFETY: a new block of this length, which nobody uses yet.
                let block = unsafe { slice::from_raw_parts_mut(first.as_ptr().cast(), len) };
                advise_huge_pages::<Word>(block, self.huge_pages);
            }
        }
        Some(fresh)
    }

    /// Takes over one of the fresh blocks, and the table that it needs.
    ///
    /// # Safety
    /// The caller holds the lock under which chunks are published, and this one is not published.
    pub(super) unsafe fn place(&self, fresh: &mut Fresh, index: usize) {
        let Block { number, start, first, .. } = &mut fresh.blocks[index];
        let table = self.tables[*number / BITS].get();
        let first = first.take().expect("a block is placed once");
        // SAFETY: only this thread, which holds the lock, creates tables. A table that has not been
        // created has no published chunk, so nobody reads it.
        if unsafe { (*table).is_none() } {
            let mut tables = fresh.tables.iter_mut();
            let found = tables.find(|(group, _)| *group == *number / BITS);
            let places = found.and_then(|(_, places)| places.take());
            // SAFETY: as above.
            unsafe { *table = places };
        }
        // SAFETY: the table is not changed once it is created, so it can be read.
        let table = unsafe { &*table }.as_ref().expect("allocated with the first of its chunks");
        // SAFETY: only this thread, which holds the lock, writes places. This chunk is not
        // published, so nobody reads its place.
        unsafe { *table[*number % BITS].get() = first.as_ptr().wrapping_sub(*start) };
    }

    /// Frees a chunk.
    ///
    /// # Safety
    /// The chunk is committed, has these buckets, and is used no more.
    pub(super) unsafe fn free(&mut self, number: usize, buckets: &Range<u64>) {
        let table = self.tables[number / BITS].get_mut().as_mut().expect("a committed chunk");
        let place = mem::replace(table[number % BITS].get_mut(), ptr::null_mut());
        let first = place.wrapping_add(buckets.start as usize);
        let layout = layout((buckets.end - buckets.start) as usize).expect("it was allocated");
        // SAFETY: allocated by `allocate` with this length.
        unsafe { dealloc(first.cast(), layout) };
    }

    /// Frees tables without chunks, as the caller knows by the number of the table.
    pub(super) fn free_tables(&mut self, is_unused: impl Fn(usize) -> bool) {
        for (group, table) in self.tables.iter_mut().enumerate() {
            if is_unused(group) {
                *table.get_mut() = None;
            }
        }
    }

    /// Bytes of a table of places. Zero if there are no segments.
    pub(super) fn table_bytes(&self) -> usize {
        if self.tables.is_empty() { 0 } else { size_of::<Places>() }
    }

    /// Bytes on the heap, apart from the chunks and the tables of their places.
    pub(super) fn heap_bytes(&self) -> usize {
        size_of_val(&*self.tables)
    }
}

/// Blocks that have been allocated, for chunks that have not been published. They are freed with
/// it, unless they are placed.
#[derive(Debug)]
pub(super) struct Fresh {
    blocks: Vec<Block>,
    tables: Vec<(usize, Option<Box<Places>>)>,
}

/// Memory for a chunk.
#[derive(Debug)]
struct Block {
    number: usize,
    /// The chunk's first bucket.
    start: usize,
    len: usize,
    /// `None` once it is placed.
    first: Option<NonNull<Word>>,
}

impl Fresh {
    /// The number of blocks.
    pub(super) fn len(&self) -> usize {
        self.blocks.len()
    }

    /// The number of the chunk that a block is for.
    pub(super) fn number(&self, index: usize) -> usize {
        self.blocks[index].number
    }
}

impl Drop for Fresh {
    fn drop(&mut self) {
        for block in &self.blocks {
            if let Some(first) = block.first {
                // SAFETY: allocated by `allocate` with this length, and not placed.
                unsafe { dealloc(first.as_ptr().cast(), layout(block.len).expect("as before")) };
            }
        }
    }
}

/// Allocates zeroed words, or returns `None` if the system refuses the memory.
fn allocate(len: usize) -> Option<NonNull<Word>> {
    #[cfg(all(test, feature = "std"))]
    super::tests::refusal::allows()?;
    assert!(len > 0, "a chunk has words");
    // SAFETY: the layout's size is not zero. All-zero bytes are a valid `Word`.
    NonNull::new(unsafe { alloc_zeroed(layout(len)?) }.cast())
}

/// The layout of a chunk, or `None` if no object can have this size.
fn layout(len: usize) -> Option<Layout> {
    Layout::array::<Word>(len).ok()
}
