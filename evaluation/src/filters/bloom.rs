//! The paper's Bloom filter (section 7): 13 bits per item, nine hash functions, and the positions
//! `h1 + i × h2` of Kirsch and Mitzenmacher.

use super::{Filter, count_cache_lines, hash, zeroed};

/// Bits of the table per item (section 7.1).
pub const BITS_PER_ITEM: usize = 13;
/// Bits that each item sets (section 7.1).
pub const HASHES: u32 = 9;

/// Returns the positions of a key among `count`: `h1 + i × h2`, scaled to the table. No position
/// depends on another one, so a processor computes and reads several at a time.
#[inline]
pub fn positions(key: u64, count: u64) -> impl Iterator<Item = usize> {
    let start = hash(key);
    let step = start.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    (0..HASHES).map(move |index| {
        let hash = start.wrapping_add(u64::from(index).wrapping_mul(step));
        ((u128::from(hash) * u128::from(count)) >> 64) as usize
    })
}

/// The filter.
pub struct Bloom {
    memory: Vec<u8>,
}

pub fn build(bytes: usize) -> (Bloom, usize) {
    (Bloom { memory: zeroed(bytes) }, bytes * 8 / BITS_PER_ITEM)
}

impl Bloom {
    #[inline]
    fn bits(&self, key: u64) -> impl Iterator<Item = usize> + use<> {
        positions(key, 8 * self.memory.len() as u64)
    }

    #[inline]
    fn is_set(&self, bit: usize) -> bool {
        self.memory[bit / 8] >> (bit % 8) & 1 == 1
    }
}

impl Filter for Bloom {
    #[inline]
    fn insert(&mut self, key: u64) -> bool {
        self.bits(key).for_each(|bit| self.memory[bit / 8] |= 1 << (bit % 8));
        true
    }

    #[inline]
    fn contains(&self, key: u64) -> bool {
        self.bits(key).all(|bit| self.is_set(bit))
    }

    fn bytes(&self) -> usize {
        self.memory.len()
    }

    fn slots(&self) -> usize {
        8 * self.memory.len() / BITS_PER_ITEM
    }

    fn cache_lines(&self, key: u64) -> Option<usize> {
        let set = self.bits(key).take_while(|&bit| self.is_set(bit)).count();
        // A lookup also reads the first bit that is not set.
        Some(count_cache_lines(self.bits(key).take(set + 1).map(|bit| bit / 8)))
    }
}

#[cfg(test)]
mod tests {
    use super::{Bloom, Filter, HASHES, build, positions};

    #[test]
    fn positions_are_distinct_and_lie_in_the_table() {
        for key in 0..1000 {
            let mut positions: Vec<usize> = positions(key, 1 << 40).collect();
            assert!(positions.iter().all(|&position| position < 1 << 40));
            positions.dedup();
            assert_eq!(positions.len(), HASHES as usize);
        }
    }

    fn mean_lines(filter: &Bloom, keys: std::ops::Range<u64>) -> f64 {
        let count = (keys.end - keys.start) as f64;
        keys.map(|key| filter.cache_lines(key).expect("known") as f64).sum::<f64>() / count
    }

    #[test]
    fn a_lookup_reads_nine_lines_for_a_present_key_and_two_for_an_absent_one() {
        let (mut filter, items) = build(1 << 20);
        (0..items as u64).for_each(|key| assert!(filter.insert(key)));
        let present = mean_lines(&filter, 0..10_000);
        assert!((8.95..=9.0).contains(&present), "{present}");
        // Half of the bits are set, so a lookup checks two bits on average.
        let absent = mean_lines(&filter, 1 << 40..(1 << 40) + 10_000);
        assert!((1.9..2.1).contains(&absent), "{absent}");
    }
}
