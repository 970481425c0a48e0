//! The counting Bloom filter (Fan, Cao, Almeida and Broder 2000): a 4-bit counter replaces each bit
//! of a Bloom filter, which allows removal.

use super::{
    Filter,
    bloom::{BITS_PER_ITEM, positions},
    count_cache_lines, zeroed,
};

/// A counter at this value stays there: decrementing it could lose other keys.
const SATURATED: u8 = 15;

/// The filter, with two counters per byte.
pub struct CountingBloom {
    memory: Vec<u8>,
}

pub fn build(bytes: usize) -> (CountingBloom, usize) {
    let filter = CountingBloom { memory: zeroed(bytes) };
    let items = filter.slots();
    (filter, items)
}

impl CountingBloom {
    #[inline]
    fn counters(&self, key: u64) -> impl Iterator<Item = usize> + use<> {
        positions(key, 2 * self.memory.len() as u64)
    }

    #[inline]
    fn count(&self, counter: usize) -> u8 {
        self.memory[counter / 2] >> (4 * (counter % 2)) & 15
    }

    #[inline]
    fn set(&mut self, counter: usize, count: u8) {
        let shift = 4 * (counter % 2);
        let byte = &mut self.memory[counter / 2];
        *byte = *byte & !(15 << shift) | count << shift;
    }
}

impl Filter for CountingBloom {
    #[inline]
    fn insert(&mut self, key: u64) -> bool {
        for counter in self.counters(key) {
            let count = self.count(counter);
            self.set(counter, if count == SATURATED { SATURATED } else { count + 1 });
        }
        true
    }

    #[inline]
    fn contains(&self, key: u64) -> bool {
        self.counters(key).all(|counter| self.count(counter) > 0)
    }

    #[inline]
    fn remove(&mut self, key: u64) -> Option<bool> {
        if !self.contains(key) {
            return Some(false);
        }
        for counter in self.counters(key) {
            match self.count(counter) {
                0 | SATURATED => {}
                count => self.set(counter, count - 1),
            }
        }
        Some(true)
    }

    fn bytes(&self) -> usize {
        self.memory.len()
    }

    fn slots(&self) -> usize {
        2 * self.memory.len() / BITS_PER_ITEM
    }

    fn cache_lines(&self, key: u64) -> Option<usize> {
        let counted = self.counters(key).take_while(|&counter| self.count(counter) > 0).count();
        // A lookup also reads the first counter that is zero.
        Some(count_cache_lines(self.counters(key).take(counted + 1).map(|counter| counter / 2)))
    }
}

#[cfg(test)]
mod tests {
    use super::{Filter, SATURATED, build};

    #[test]
    fn a_saturated_counter_stays() {
        let (mut filter, _) = build(1 << 10);
        for _ in 0..20 {
            filter.insert(7);
        }
        assert!(filter.counters(7).all(|counter| filter.count(counter) == SATURATED));
        for _ in 0..20 {
            filter.remove(7);
        }
        assert!(filter.contains(7), "a removal decremented a saturated counter");
    }

    #[test]
    fn removing_all_keys_clears_all_counters() {
        let (mut filter, items) = build(1 << 10);
        let keys: Vec<u64> = (0..items as u64 / 2).collect();
        filter.insert_all(&keys);
        assert!(filter.memory.iter().any(|&byte| byte != 0));
        assert_eq!(filter.remove_all(&keys), Some(keys.len()));
        assert!(filter.memory.iter().all(|&byte| byte == 0));
    }

    #[test]
    fn a_lookup_stops_at_the_first_zero_counter() {
        let (mut filter, _) = build(1 << 20);
        assert_eq!(filter.cache_lines(7), Some(1));
        filter.insert(7);
        assert!(filter.cache_lines(7) >= Some(8));
    }
}
