//! The floor that a reader understands: a cuckoo filter that one thread uses, with a power of two
//! of buckets of four slots of 16 bits.

use super::peer::Single;

/// Most moves of an insert.
const MOVES: u32 = 500;
/// The lowest and the highest bit of each slot.
const LOWS: u64 = 0x0001_0001_0001_0001;
const HIGHS: u64 = LOWS << 15;

/// The filter: no versions, no locks, no atomics, no layouts, and no other sizes.
pub struct Plain {
    buckets: Vec<u64>,
    /// The number of buckets less one.
    mask: u64,
}

/// A word whose highest bits say which slots hold a fingerprint. Bits above the first may be wrong.
fn matches(word: u64, fingerprint: u64) -> u64 {
    let x = word ^ fingerprint.wrapping_mul(LOWS);
    x.wrapping_sub(LOWS) & !x & HIGHS
}

impl Plain {
    /// An empty filter.
    pub fn new(items: usize) -> Self {
        let buckets = items.div_ceil(4).next_power_of_two();
        Self { buckets: vec![0; buckets], mask: buckets as u64 - 1 }
    }

    /// The fingerprint of a key, which is not zero, and its first bucket.
    fn locate(&self, key: u64) -> (u64, u64) {
        let product = u128::from(key) * 0x9e37_79b9_7f4a_7c15;
        let mixed = product as u64 ^ (product >> 64) as u64;
        ((mixed >> 48).max(1), mixed & self.mask)
    }

    fn other(&self, fingerprint: u64, bucket: u64) -> u64 {
        (bucket ^ fingerprint.wrapping_mul(0x5bd1_e995)) & self.mask
    }

    /// Puts a fingerprint in place of another one, which is zero for an empty slot.
    fn put(&mut self, bucket: u64, old: u64, new: u64) -> bool {
        let word = &mut self.buckets[bucket as usize];
        let marks = matches(*word, old);
        if marks == 0 {
            return false;
        }
        let shift = marks.trailing_zeros() - 15;
        *word = *word & !(0xffff << shift) | new << shift;
        true
    }
}

impl Single for Plain {
    fn contains(&self, key: u64) -> bool {
        let (fingerprint, first) = self.locate(key);
        let words = [first, self.other(fingerprint, first)].map(|at| self.buckets[at as usize]);
        matches(words[0], fingerprint) | matches(words[1], fingerprint) != 0
    }

    fn insert(&mut self, key: u64) -> bool {
        let (mut fingerprint, first) = self.locate(key);
        let second = self.other(fingerprint, first);
        if self.put(first, 0, fingerprint) {
            return true;
        }
        let mut bucket = second;
        for turn in 0..MOVES {
            if self.put(bucket, 0, fingerprint) {
                return true;
            }
            // Any slot: which one depends on the fingerprint, so that paths differ.
            let shift = (fingerprint as u32 ^ turn) % 4 * 16;
            let moved = self.buckets[bucket as usize] >> shift & 0xffff;
            self.buckets[bucket as usize] ^= (moved ^ fingerprint) << shift;
            fingerprint = moved;
            bucket = self.other(fingerprint, bucket);
        }
        false
    }

    fn remove(&mut self, key: u64) -> Option<bool> {
        let (fingerprint, first) = self.locate(key);
        let second = self.other(fingerprint, first);
        Some(self.put(first, fingerprint, 0) || self.put(second, fingerprint, 0))
    }
}
