//! A packed array of buckets of up to seven bytes, and the fields of a bucket of four 12-bit ones.

use super::zeroed;

/// An array of buckets of `BYTES` bytes; their number is a power of two.
pub struct Buckets<const BYTES: usize = 6> {
    memory: Vec<u8>,
    /// Number of buckets minus one.
    mask: usize,
}

impl<const BYTES: usize> Buckets<BYTES> {
    /// Selects a bucket's bits in the word that holds it.
    const MASK: u64 = (1 << (8 * BYTES)) - 1;

    /// Creates empty buckets.
    ///
    /// # Panics
    /// If `buckets` is not a power of two.
    pub fn new(buckets: usize) -> Self {
        assert!(buckets.is_power_of_two());
        // Reading the last bucket as eight bytes needs padding.
        Self { memory: zeroed(buckets * BYTES + 8 - BYTES), mask: buckets - 1 }
    }

    /// Maps the bits of a hash to a bucket.
    #[inline]
    pub fn reduce(&self, hash: u32) -> usize {
        hash as usize & self.mask
    }

    /// Returns the number of buckets.
    pub fn count(&self) -> usize {
        self.mask + 1
    }

    /// Returns the size of all buckets in bytes, without padding.
    pub fn bytes(&self) -> usize {
        self.count() * BYTES
    }

    /// Reads a bucket into the low bits; the bits above belong to the next bucket.
    #[inline]
    pub fn read(&self, bucket: usize) -> u64 {
        let from = bucket * BYTES;
        u64::from_le_bytes(self.memory[from..from + 8].try_into().expect("eight bytes"))
    }

    /// Writes the low bits of a word to a bucket.
    #[inline]
    pub fn write(&mut self, bucket: usize, bits: u64) {
        let word = self.read(bucket) & !Self::MASK | bits & Self::MASK;
        self.memory[bucket * BYTES..][..8].copy_from_slice(&word.to_le_bytes());
    }

    /// Returns the first and the last byte that `read` touches.
    pub fn byte_span(bucket: usize) -> [usize; 2] {
        [bucket * BYTES, bucket * BYTES + 7]
    }
}

/// Operations on the four 12-bit fields in the low 48 bits of a word.
pub mod fields {
    /// The lowest bit of each field.
    const LOW: u64 = 0x0010_0100_1001;
    /// The highest bit of each field.
    const HIGH: u64 = LOW << 11;

    /// Repeats a value in all four fields.
    #[inline]
    pub const fn spread(value: u64) -> u64 {
        value * LOW
    }

    /// Marks fields that are zero by their highest bits.
    ///
    /// The lowest mark is exact. Marks above it may be wrong, because of borrows.
    #[inline]
    pub const fn zero(word: u64) -> u64 {
        word.wrapping_sub(LOW) & !word & HIGH
    }

    /// Returns the first bit of the lowest marked field.
    #[inline]
    pub const fn lowest(marks: u64) -> u32 {
        marks.trailing_zeros() - 11
    }

    /// Counts the fields that are zero.
    #[inline]
    pub const fn zeros(word: u64) -> u32 {
        // The highest bits are clear, so no sum carries into the next field.
        let rest = (word & !HIGH & (LOW * 0xfff)) + (HIGH - LOW);
        (!(rest | word) & HIGH).count_ones()
    }
}

#[cfg(test)]
mod tests {
    use super::{Buckets, fields};

    const MASK: u64 = Buckets::<6>::MASK;

    #[test]
    fn a_bucket_holds_48_bits_and_leaves_its_neighbours_alone() {
        let mut buckets: Buckets = Buckets::new(4);
        for (bucket, bits) in [(1, !0), (3, 0x1234_5678_9abc), (2, 0x0fed_cba9_8765), (1, 7)] {
            buckets.write(bucket, bits);
            assert_eq!(buckets.read(bucket) & MASK, bits & MASK);
        }
        let read: Vec<u64> = (0..4).map(|bucket| buckets.read(bucket) & MASK).collect();
        assert_eq!(read, [0, 7, 0x0fed_cba9_8765, 0x1234_5678_9abc]);
        assert_eq!(buckets.bytes(), 24);
    }

    #[test]
    fn fields_match_as_one_by_one() {
        let values = [0_u64, 1, 0x800, 0x801, 0xfff, 5];
        for code in 0..6_usize.pow(4) {
            let four: Vec<u64> = (0..4).map(|slot| values[code / 6_usize.pow(slot) % 6]).collect();
            let word = (0..4).fold(0, |word, slot| word | four[slot] << (12 * slot));
            // The bits above belong to the next bucket and must not matter.
            for word in [word, word | 0xffff << 48] {
                for value in values {
                    let marks = fields::zero(word ^ fields::spread(value));
                    let place = four.iter().position(|&slot| slot == value);
                    assert_eq!(place, (marks != 0).then(|| fields::lowest(marks) as usize / 12));
                }
                let zeros = four.iter().filter(|&&slot| slot == 0).count();
                assert_eq!(fields::zeros(word) as usize, zeros);
            }
        }
    }
}
