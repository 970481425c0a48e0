//! Buckets of 48 bits, one behind another: four items of 12 bits each, without a wasted bit.

use super::zeroed;

/// Bytes of a bucket.
const BYTES: usize = 6;
/// The bits of a bucket in the word that is read for it.
const MASK: u64 = (1 << (8 * BYTES)) - 1;

/// A power of two of buckets.
pub struct Buckets {
    memory: Vec<u8>,
    /// Buckets less one.
    mask: usize,
}

impl Buckets {
    /// Empty buckets, a power of two.
    pub fn new(buckets: usize) -> Self {
        assert!(buckets.is_power_of_two());
        // Every bucket is read as eight bytes, so the last needs two more.
        Self { memory: zeroed(buckets * BYTES + 2), mask: buckets - 1 }
    }

    /// Which bucket some bits of a hash name.
    #[inline]
    pub fn reduce(&self, hash: u32) -> usize {
        hash as usize & self.mask
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.mask + 1
    }

    /// Bytes of all buckets.
    pub fn bytes(&self) -> usize {
        self.count() * BYTES
    }

    /// A bucket in the low 48 bits; those above belong to the next.
    #[inline]
    pub fn read(&self, bucket: usize) -> u64 {
        let from = bucket * BYTES;
        u64::from_le_bytes(self.memory[from..from + 8].try_into().expect("eight bytes"))
    }

    /// Puts 48 bits into a bucket.
    #[inline]
    pub fn write(&mut self, bucket: usize, bits: u64) {
        let word = self.read(bucket) & !MASK | bits & MASK;
        self.memory[bucket * BYTES..][..8].copy_from_slice(&word.to_le_bytes());
    }

    /// The first and the last byte that `read` reads.
    pub fn places(bucket: usize) -> [usize; 2] {
        [bucket * BYTES, bucket * BYTES + 7]
    }
}

/// Four lanes of 12 bits in the low 48 bits of a word, matched all at once.
pub mod lanes {
    /// One bit, the lowest, of each lane.
    const LOW: u64 = 0x0010_0100_1001;
    /// One bit, the highest, of each lane.
    const HIGH: u64 = LOW << 11;

    /// The value in all four lanes.
    #[inline]
    pub const fn spread(value: u64) -> u64 {
        value * LOW
    }

    /// The highest bits of lanes that are zero: exact as to whether there is any, and for the lowest.
    #[inline]
    pub const fn zero(word: u64) -> u64 {
        word.wrapping_sub(LOW) & !word & HIGH
    }

    /// Where the lowest lane begins whose highest bit is marked.
    #[inline]
    pub const fn lowest(marks: u64) -> u32 {
        marks.trailing_zeros() - 11
    }

    /// How many lanes are zero.
    #[inline]
    pub const fn zeros(word: u64) -> u32 {
        // Lanes do not borrow from one another where their highest bits are set first.
        let rest = (word & !HIGH & (LOW * 0xfff)) + (HIGH - LOW);
        (!(rest | word) & HIGH).count_ones()
    }
}

#[cfg(test)]
mod tests {
    use super::{Buckets, MASK, lanes};

    #[test]
    fn a_bucket_holds_48_bits_and_leaves_its_neighbours_alone() {
        let mut buckets = Buckets::new(4);
        for (bucket, bits) in [(1, !0), (3, 0x1234_5678_9abc), (2, 0x0fed_cba9_8765), (1, 7)] {
            buckets.write(bucket, bits);
            assert_eq!(buckets.read(bucket) & MASK, bits & MASK);
        }
        let read: Vec<u64> = (0..4).map(|bucket| buckets.read(bucket) & MASK).collect();
        assert_eq!(read, [0, 7, 0x0fed_cba9_8765, 0x1234_5678_9abc]);
        assert_eq!(buckets.bytes(), 24);
    }

    #[test]
    fn lanes_match_as_one_by_one() {
        let values = [0_u64, 1, 0x800, 0x801, 0xfff, 5];
        for code in 0..6_usize.pow(4) {
            let four: Vec<u64> = (0..4).map(|lane| values[code / 6_usize.pow(lane) % 6]).collect();
            let word = (0..4).fold(0, |word, lane| word | four[lane] << (12 * lane));
            // Whatever stands above belongs to the next bucket.
            for word in [word, word | 0xffff << 48] {
                for value in values {
                    let marks = lanes::zero(word ^ lanes::spread(value));
                    let place = four.iter().position(|&lane| lane == value);
                    assert_eq!(place, (marks != 0).then(|| lanes::lowest(marks) as usize / 12));
                }
                let zeros = four.iter().filter(|&&lane| lane == 0).count();
                assert_eq!(lanes::zeros(word) as usize, zeros);
            }
        }
    }
}
