//! The paper's Bloom filter (section 7): 13 bits per item, nine hash functions, and the positions
//! `h1 + i × h2` of Kirsch and Mitzenmacher. With a 4-bit counter in place of each bit, it is the
//! counting Bloom filter (Fan, Cao, Almeida and Broder 2000), which allows removal.

use super::{Filter, count_cache_lines, hash, zeroed};

/// Bits, or counters, of the table per item (section 7.1).
pub const BITS_PER_ITEM: usize = 13;
/// Bits that each item sets (section 7.1).
pub const HASHES: u32 = 9;

/// The filter, with counters of `BITS` bits: one in a Bloom filter.
pub struct Bloom<const BITS: usize> {
    memory: Vec<u8>,
}

pub fn build<const BITS: usize>(bytes: usize) -> (Bloom<BITS>, usize) {
    let filter = Bloom { memory: zeroed(bytes) };
    let items = filter.slots();
    (filter, items)
}

impl<const BITS: usize> Bloom<BITS> {
    /// A counter at this value stays there: decrementing it could lose other keys.
    const SATURATED: u8 = (1 << BITS) - 1;
    /// Counters per byte.
    const PER_BYTE: usize = 8 / BITS;

    /// Returns the positions of a key: `h1 + i × h2`, scaled to the table. No position depends on
    /// another one, so a processor computes and reads several at a time.
    #[inline]
    fn counters(&self, key: u64) -> impl Iterator<Item = usize> + use<BITS> {
        let count = (self.memory.len() * Self::PER_BYTE) as u64;
        let start = hash(key);
        let step = start.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        (0..HASHES).map(move |index| {
            let hash = start.wrapping_add(u64::from(index).wrapping_mul(step));
            ((u128::from(hash) * u128::from(count)) >> 64) as usize
        })
    }

    #[inline]
    fn get(&self, counter: usize) -> u8 {
        self.memory[counter / Self::PER_BYTE] >> (counter % Self::PER_BYTE * BITS) & Self::SATURATED
    }

    #[inline]
    fn set(&mut self, counter: usize, count: u8) {
        let shift = counter % Self::PER_BYTE * BITS;
        let byte = &mut self.memory[counter / Self::PER_BYTE];
        *byte = *byte & !(Self::SATURATED << shift) | count << shift;
    }
}

impl<const BITS: usize> Filter for Bloom<BITS> {
    #[inline]
    fn insert(&mut self, key: u64) -> bool {
        for counter in self.counters(key) {
            self.set(counter, (self.get(counter) + 1).min(Self::SATURATED));
        }
        true
    }

    #[inline]
    fn contains(&self, key: u64) -> bool {
        self.counters(key).all(|counter| self.get(counter) > 0)
    }

    #[inline]
    fn remove(&mut self, key: u64) -> Option<bool> {
        if BITS == 1 || !self.contains(key) {
            return (BITS > 1).then_some(false);
        }
        for counter in self.counters(key) {
            match self.get(counter) {
                0 => {}
                count if count == Self::SATURATED => {}
                count => self.set(counter, count - 1),
            }
        }
        Some(true)
    }

    fn bytes(&self) -> usize {
        self.memory.len()
    }

    fn slots(&self) -> usize {
        self.memory.len() * Self::PER_BYTE / BITS_PER_ITEM
    }

    fn cache_lines(&self, key: u64) -> Option<usize> {
        let counted = self.counters(key).take_while(|&counter| self.get(counter) > 0).count();
        // A lookup also reads the first counter that is zero.
        let read = self.counters(key).take(counted + 1);
        Some(count_cache_lines(read.map(|counter| counter / Self::PER_BYTE)))
    }
}

#[cfg(test)]
mod tests {
    use super::{Bloom, Filter, build};

    #[test]
    fn a_saturated_counter_stays() {
        let (mut filter, _): (Bloom<4>, _) = build(1 << 10);
        assert_eq!(filter.cache_lines(7), Some(1));
        (0..20).for_each(|_| assert!(filter.insert(7)));
        assert!(filter.counters(7).all(|counter| filter.get(counter) == 15));
        assert!((0..20).all(|_| filter.remove(7) == Some(true)));
        assert!(filter.contains(7), "a removal decremented a saturated counter");
    }
}
