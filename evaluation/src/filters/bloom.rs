//! The standard Bloom filter with the paper's parameters (section 7), from the crate `fastbloom`.

use fastbloom::BloomFilter;

use super::{Filter, count_cache_lines, hash};

/// Bits of the table per item (section 7.1).
pub const BITS_PER_ITEM: usize = 13;
/// Bits that each item sets (section 7.1).
pub const HASHES: u32 = 9;

/// The filter.
pub struct Bloom(BloomFilter);

pub fn build(bytes: usize) -> (Bloom, usize) {
    let filter = BloomFilter::with_num_bits(bytes * 8).hashes(HASHES);
    (Bloom(filter), bytes * 8 / BITS_PER_ITEM)
}

impl Bloom {
    /// Returns the bits of a key in the order in which `fastbloom` checks them.
    fn bits(&self, key: u64) -> impl Iterator<Item = usize> + use<> {
        let (mut state, bits) = (hash(key), self.0.num_bits());
        let step = state.wrapping_mul(0x517c_c1b7_2722_0a95);
        (0..HASHES).map(move |index| {
            if index > 0 {
                state = state.rotate_left(5).wrapping_add(step);
            }
            ((u128::from(state) * bits as u128) >> 64) as usize
        })
    }

    fn is_set(&self, bit: usize) -> bool {
        self.0.as_slice()[bit / 64] >> (bit % 64) & 1 == 1
    }
}

impl Filter for Bloom {
    #[inline]
    fn insert(&mut self, key: u64) -> bool {
        self.0.insert_hash(hash(key));
        true
    }

    #[inline]
    fn contains(&self, key: u64) -> bool {
        self.0.contains_hash(hash(key))
    }

    fn bytes(&self) -> usize {
        self.0.num_bits() / 8
    }

    fn slots(&self) -> usize {
        self.0.num_bits() / BITS_PER_ITEM
    }

    fn cache_lines(&self, key: u64) -> Option<usize> {
        let set = self.bits(key).take_while(|&bit| self.is_set(bit)).count();
        // A lookup also reads the first bit that is not set.
        Some(count_cache_lines(self.bits(key).take(set + 1).map(|bit| bit / 8)))
    }
}

#[cfg(test)]
mod tests {
    use super::{Bloom, Filter, HASHES, build};

    #[test]
    fn the_computed_bits_are_those_that_the_crate_sets() {
        let (mut filter, _) = build(1 << 14);
        let mut bits: Vec<usize> = filter.bits(77).collect();
        assert_eq!(bits.len(), HASHES as usize);
        filter.insert(77);
        bits.sort_unstable();
        bits.dedup();
        let set: Vec<usize> = (0..8 << 14).filter(|&bit| filter.is_set(bit)).collect();
        assert_eq!(set, bits);
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
