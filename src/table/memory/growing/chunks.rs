//! Which chunk holds a bucket: arithmetic alone.

use core::{num::NonZeroU64, ops::Range};

/// A region has at least this many chunks, unless they would be too small.
const SHARE: u64 = 64;

/// How the buckets of a table are divided into chunks.
///
/// Region 0 has the first buckets, region r the `first << (r - 1)` buckets after the earlier ones.
/// The number of buckets in a chunk is a power of two, and a chunk begins at a multiple of its
/// number of buckets. The smallest chunks, of `1 << unit` buckets, are those below `turn`, which is
/// `2 * row` of them. From there on, each time that the number of buckets doubles, another `row`
/// chunks follow, each twice as large as those before. The last chunk may be cut off.
///
/// ```text
/// |1|1|1|1|1|1| 2 | 2 | 2 |   4   |   4   |   4   |       8    ...       (row = 3)
/// 0     ^     ^           ^                       ^
///     turn/2  turn       2 * turn               4 * turn
/// ```
///
/// `turn / 2` is the end of a region, rounded up to a whole chunk: of region 0, or of a later one
/// if the table begins with few buckets. So chunks double where regions do, or a little later. The
/// region that begins there has as many buckets as all before it, and a smallest chunk is at most a
/// 64th of it. The same holds for later regions. In a table that begins with few buckets, earlier
/// regions have chunks of the smallest size that a chunk may have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chunks {
    /// Number of buckets at most.
    max: u64,
    /// The first bucket behind the smallest chunks.
    turn: NonZeroU64,
    /// Binary logarithm of `turn`, rounded down.
    turn_log: u32,
    /// Number of chunks of each larger size: 64 to 128.
    row: u32,
    /// Binary logarithm of the number of buckets in one of the smallest chunks.
    unit: u32,
}

impl Chunks {
    /// Divides up to `max` buckets, of which `first` are the first region. No chunk has fewer
    /// buckets than `1 << smallest`, apart from the last one.
    pub(super) fn new(first: u64, max: u64, smallest: u32) -> Self {
        let mut end = first;
        while end < SHARE << smallest {
            end *= 2;
        }
        let unit = (end / SHARE).ilog2();
        let row = end.div_ceil(1 << unit);
        let turn = NonZeroU64::new((2 * row) << unit).expect("a row has chunks");
        Self { max, turn, turn_log: turn.ilog2(), row: row as u32, unit }
    }

    /// The number of buckets at most.
    #[inline]
    pub(super) fn max(&self) -> u64 {
        self.max
    }

    /// The number of chunks.
    pub(super) fn count(&self) -> usize {
        self.find(self.max - 1) + 1
    }

    /// Returns the number of the chunk that holds a bucket.
    #[inline]
    pub(super) fn find(&self, bucket: u64) -> usize {
        // By how many bits the bucket's number is longer than `turn`.
        let longer = (self.turn | bucket).ilog2() - self.turn_log;
        let doublings = longer + u32::from(bucket >= self.turn.get() << longer);
        let number = u64::from(self.row * doublings) + (bucket >> (self.unit + doublings));
        number as usize
    }

    /// The numbers of the chunks that hold these buckets.
    #[inline]
    pub(super) fn numbers(&self, buckets: &Range<u64>) -> Range<usize> {
        if buckets.is_empty() {
            return 0..0;
        }
        self.find(buckets.start)..self.find(buckets.end - 1) + 1
    }

    /// The buckets that a chunk holds.
    pub(super) fn chunk(&self, number: usize) -> Range<u64> {
        let (number, row) = (number as u64, u64::from(self.row));
        let doublings = (number / row).saturating_sub(1);
        let log = u64::from(self.unit) + doublings;
        let start = (number - row * doublings) << log;
        start..self.max.min(start + (1 << log))
    }

    /// The number of buckets that a chunk holds.
    pub(super) fn len(&self, number: usize) -> usize {
        let Range { start, end } = self.chunk(number);
        (end - start) as usize
    }
}
