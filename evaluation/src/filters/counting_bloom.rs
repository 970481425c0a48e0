//! The counting Bloom filter: a counter of four bits for each bit of a Bloom filter (Fan, Cao, Almeida,
//! Broder 2000), so four times its space, and removal.

use super::{
    Filter,
    bloom::{BITS_PER_ITEM, HASHES},
    distinct_lines, hash, zeroed,
};

/// What a counter that overflowed keeps for ever: from there on it says nothing, and hides nothing.
const STUCK: u8 = 15;

/// Counters, two to a byte.
pub struct CountingBloom {
    memory: Vec<u8>,
}

pub fn build(bytes: usize) -> (CountingBloom, usize) {
    let filter = CountingBloom { memory: zeroed(bytes) };
    let items = filter.slots();
    (filter, items)
}

impl CountingBloom {
    /// The counters of a key: `h1 + i × h2`, spread over the table.
    #[inline]
    fn counters(&self, key: u64) -> impl Iterator<Item = usize> + use<> {
        let (start, counters) = (hash(key), 2 * self.memory.len() as u64);
        let step = start.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        (0..HASHES).map(move |nth| {
            let hash = start.wrapping_add(u64::from(nth).wrapping_mul(step));
            ((u128::from(hash) * u128::from(counters)) >> 64) as usize
        })
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
            self.set(counter, if count == STUCK { STUCK } else { count + 1 });
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
                0 | STUCK => {}
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

    fn lines(&self, key: u64) -> Option<usize> {
        let counted = self.counters(key).take_while(|&counter| self.count(counter) > 0).count();
        // The one that was zero was read, too.
        Some(distinct_lines(self.counters(key).take(counted + 1).map(|counter| counter / 2)))
    }
}

#[cfg(test)]
mod tests {
    use super::{Filter, STUCK, build};

    #[test]
    fn a_counter_that_overflowed_stays() {
        let (mut filter, _) = build(1 << 10);
        for _ in 0..20 {
            filter.insert(7);
        }
        assert!(filter.counters(7).all(|counter| filter.count(counter) == STUCK));
        for _ in 0..20 {
            filter.remove(7);
        }
        assert!(filter.contains(7), "else another key might be lost");
    }

    #[test]
    fn what_was_taken_out_leaves_no_count() {
        let (mut filter, items) = build(1 << 10);
        let keys: Vec<u64> = (0..items as u64 / 2).collect();
        filter.inserts(&keys);
        assert!(filter.memory.iter().any(|&byte| byte != 0));
        assert_eq!(filter.removes(&keys), Some(keys.len()));
        assert!(filter.memory.iter().all(|&byte| byte == 0));
    }

    #[test]
    fn lines_end_at_the_first_empty_counter() {
        let (mut filter, _) = build(1 << 20);
        assert_eq!(filter.lines(7), Some(1));
        filter.insert(7);
        assert!(filter.lines(7) >= Some(8));
    }
}
