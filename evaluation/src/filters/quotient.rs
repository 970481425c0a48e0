//! The paper's quotient filter (Bender et al. 2012): slots of a 9-bit remainder and three flags,
//! filled to 90 %.
//!
//! A fingerprint consists of a quotient, which is its home slot, and a remainder, which is stored.
//! Remainders with the same quotient form a sorted run. Runs follow one another in the order of
//! their quotients, and a run shifts to the right if its home slot is taken. A cluster is a
//! sequence of runs that starts with an unshifted remainder.

use std::iter::successors;

use super::{Filter, count_cache_lines, hash, power_of_two, zeroed};

/// Bits per remainder.
const REMAINDER: u32 = 9;
/// The maximum load in the cuckoo filter paper.
const LOAD: f64 = 0.9;

/// A run has this slot as its home; the flag belongs to the slot, not to the remainder in it.
const OCCUPIED: u16 = 1;
/// The remainder is not the first of its run.
const CONTINUES: u16 = 2;
/// The remainder is not in its home slot.
const SHIFTED: u16 = 4;
/// Number of flags, which are the lowest bits of a slot and all clear if the slot is empty.
const FLAG_BITS: u32 = 3;

fn is_empty(slot: u16) -> bool {
    slot & (OCCUPIED | CONTINUES | SHIFTED) == 0
}

fn remainder(slot: u16) -> u16 {
    slot >> FLAG_BITS
}

/// The filter: a packed ring of slots of 12 bits, whose number is a power of two.
pub struct Quotient {
    memory: Vec<u8>,
    slots: usize,
    items: usize,
}

pub fn build(bytes: usize) -> (Quotient, usize) {
    let slots = power_of_two(bytes, (REMAINDER + FLAG_BITS) as usize).max(8);
    let filter = Quotient { memory: zeroed(slots / 2 * 3), slots, items: 0 };
    let items = filter.max_items();
    (filter, items)
}

impl Quotient {
    fn max_items(&self) -> usize {
        (LOAD * self.slots as f64) as usize
    }

    fn next(&self, slot: usize) -> usize {
        (slot + 1) & (self.slots - 1)
    }

    /// Returns the two bytes that a slot is in, and its offset in them in bits.
    #[inline]
    fn locate(&self, slot: usize) -> (u16, usize) {
        let byte = slot * 3 / 2;
        (u16::from_le_bytes([self.memory[byte], self.memory[byte + 1]]), slot % 2 * 4)
    }

    #[inline]
    fn get(&self, slot: usize) -> u16 {
        let (pair, shift) = self.locate(slot);
        pair >> shift & 0xfff
    }

    #[inline]
    fn set(&mut self, slot: usize, value: u16) {
        let (pair, shift) = self.locate(slot);
        let pair = pair & !(0xfff << shift) | value << shift;
        self.memory[slot * 3 / 2..][..2].copy_from_slice(&pair.to_le_bytes());
    }

    /// Returns the quotient and the remainder of a key.
    #[inline]
    fn split(&self, key: u64) -> (usize, u16) {
        let hash = hash(key);
        let quotient = (hash >> 32) as usize & (self.slots - 1);
        (quotient, hash as u16 & ((1 << REMAINDER) - 1))
    }

    fn has_flag(&self, slot: usize, bits: u16) -> bool {
        self.get(slot) & bits != 0
    }

    /// Returns the next slot with such flags.
    #[inline]
    fn next_with(&self, mut slot: usize, is_wanted: impl Fn(u16) -> bool) -> usize {
        loop {
            slot = self.next(slot);
            if is_wanted(self.get(slot)) {
                return slot;
            }
        }
    }

    /// Returns the first slot of the cluster that a slot is in.
    #[inline]
    fn cluster_start(&self, mut slot: usize) -> usize {
        while self.has_flag(slot, SHIFTED) {
            slot = slot.wrapping_sub(1) & (self.slots - 1);
        }
        slot
    }

    /// Returns the first slot of a quotient's run, or the slot where it would start.
    #[inline]
    fn run_start(&self, quotient: usize) -> usize {
        let mut owner = self.cluster_start(quotient);
        let mut start = owner;
        while owner != quotient {
            start = self.next_with(start, |slot| slot & CONTINUES == 0);
            owner = self.next_with(owner, |slot| slot & OCCUPIED != 0);
        }
        start
    }

    /// Returns the slot of a key's remainder and the first slot of its run.
    #[inline]
    fn find(&self, key: u64) -> Option<(usize, usize)> {
        let (quotient, wanted) = self.split(key);
        if !self.has_flag(quotient, OCCUPIED) {
            return None;
        }
        let start = self.run_start(quotient);
        let slot = self.first_not_less(start, wanted);
        let is_found = remainder(self.get(slot)) == wanted
            && (slot == start || self.has_flag(slot, CONTINUES));
        is_found.then_some((slot, start))
    }

    /// Returns the first slot of a run whose remainder is not less than another one, or the slot
    /// after the run.
    #[inline]
    fn first_not_less(&self, mut slot: usize, wanted: u16) -> usize {
        while remainder(self.get(slot)) < wanted {
            slot = self.next(slot);
            if !self.has_flag(slot, CONTINUES) {
                break;
            }
        }
        slot
    }

    /// Writes an entry to a slot, and shifts the entries from there up to the next empty slot.
    fn shift_in(&mut self, mut slot: usize, mut entry: u16) {
        loop {
            let old = self.get(slot);
            self.set(slot, entry | old & OCCUPIED);
            if is_empty(old) {
                return;
            }
            entry = old & !OCCUPIED | SHIFTED;
            slot = self.next(slot);
        }
    }

    /// Removes the entry in a slot of a quotient's run, and shifts the rest of the cluster back.
    ///
    /// `next_starts_run` is set if the entry was the first of several in its run.
    fn shift_out(&mut self, mut slot: usize, mut quotient: usize, mut next_starts_run: bool) {
        loop {
            let next = self.next(slot);
            let mut entry = self.get(next);
            if entry & SHIFTED == 0 {
                // The next slot is empty or starts another cluster.
                self.set(slot, 0);
                return;
            }
            if next_starts_run {
                entry &= !CONTINUES;
                next_starts_run = false;
            } else if entry & CONTINUES == 0 {
                // The next entry starts the run of the next occupied quotient.
                quotient = self.next_with(quotient, |slot| slot & OCCUPIED != 0);
            }
            if quotient == slot {
                entry &= !SHIFTED;
            }
            self.set(slot, entry & !OCCUPIED | self.get(slot) & OCCUPIED);
            slot = next;
        }
    }
}

impl Filter for Quotient {
    #[inline]
    fn insert(&mut self, key: u64) -> bool {
        if self.items >= self.max_items() {
            return false;
        }
        self.items += 1;
        let (quotient, new) = self.split(key);
        let (home, entry) = (self.get(quotient), new << FLAG_BITS);
        self.set(quotient, home | OCCUPIED);
        if is_empty(home) {
            self.set(quotient, entry | OCCUPIED);
            return true;
        }
        let start = self.run_start(quotient);
        let (mut slot, mut flags) = (start, 0);
        if home & OCCUPIED != 0 {
            slot = self.first_not_less(start, new);
            if slot == start {
                self.set(start, self.get(start) | CONTINUES);
            } else {
                flags = CONTINUES;
            }
        }
        flags |= if slot == quotient { 0 } else { SHIFTED };
        self.shift_in(slot, entry | flags);
        true
    }

    #[inline]
    fn contains(&self, key: u64) -> bool {
        self.find(key).is_some()
    }

    fn remove(&mut self, key: u64) -> Option<bool> {
        let Some((slot, start)) = self.find(key) else { return Some(false) };
        self.items -= 1;
        let (quotient, _) = self.split(key);
        let is_last = !self.has_flag(self.next(slot), CONTINUES);
        if slot == start && is_last {
            self.set(quotient, self.get(quotient) & !OCCUPIED);
        }
        self.shift_out(slot, quotient, slot == start && !is_last);
        Some(true)
    }

    fn bytes(&self) -> usize {
        self.memory.len()
    }

    fn slots(&self) -> usize {
        self.slots
    }

    fn cache_lines(&self, key: u64) -> Option<usize> {
        let (quotient, wanted) = self.split(key);
        let (mut first, mut last) = (quotient, quotient);
        if self.has_flag(quotient, OCCUPIED) {
            first = self.cluster_start(quotient);
            last = self.first_not_less(self.run_start(quotient), wanted);
        }
        // A lookup reads all slots in between.
        let read = successors(Some(first), |&slot| (slot != last).then(|| self.next(slot)));
        Some(count_cache_lines(read.flat_map(|slot| [slot * 3 / 2, slot * 3 / 2 + 1])))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use rand::{RngExt, SeedableRng, rngs::SmallRng};

    use super::{CONTINUES, Filter, OCCUPIED, Quotient, SHIFTED, build, is_empty, remainder};

    /// Decodes all fingerprints by the definition of runs and clusters.
    fn fingerprints(filter: &Quotient) -> Vec<(usize, u16)> {
        let slots = filter.slots;
        let Some(first) = (0..slots).find(|&slot| !filter.has_flag(slot, SHIFTED)) else {
            panic!("a cluster has a start")
        };
        let (mut owners, mut found) = (std::collections::VecDeque::new(), Vec::new());
        let mut owner = first;
        for slot in (first..first + slots).map(|slot| slot % slots) {
            if filter.has_flag(slot, OCCUPIED) {
                owners.push_back(slot);
            }
            let entry = filter.get(slot);
            if is_empty(entry) {
                assert_eq!((entry, owners.len()), (0, 0), "an empty slot ends a cluster");
                continue;
            }
            if entry & CONTINUES == 0 {
                owner = owners.pop_front().expect("a run has an owner");
            }
            assert_eq!(entry & SHIFTED == 0, owner == slot);
            found.push((owner, remainder(entry)));
        }
        found.sort_unstable();
        found
    }

    #[test]
    fn a_small_filter_agrees_with_a_multiset_of_fingerprints() {
        let (mut filter, max_items) = build(48);
        assert_eq!((filter.slots(), max_items), (32, 28));
        let mut rng = SmallRng::seed_from_u64(5);
        // With few keys, runs are long, copies are frequent, and clusters wrap around.
        let mut oracle: BTreeMap<(usize, u16), usize> = BTreeMap::new();
        for step in 0..60_000 {
            let key = rng.random_range(0..60_u64);
            let split = filter.split(key);
            let copies = oracle.get(&split).copied().unwrap_or(0);
            assert_eq!(filter.contains(key), copies > 0);
            // Alternate between growing and shrinking.
            if rng.random_range(0..100) < if step / 100 % 2 == 0 { 70 } else { 30 } {
                let fits = filter.items < max_items;
                assert_eq!(filter.insert(key), fits);
                if fits {
                    *oracle.entry(split).or_default() += 1;
                }
            } else {
                assert_eq!(filter.remove(key), Some(copies > 0));
                if copies > 0 {
                    oracle.insert(split, copies - 1);
                }
            }
            let copies = oracle.iter().flat_map(|(&split, &n)| std::iter::repeat_n(split, n));
            assert_eq!(fingerprints(&filter), copies.collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_lookup_in_an_empty_filter_reads_one_slot() {
        let (filter, _) = build(1 << 12);
        assert!((0..100).all(|key| matches!(filter.cache_lines(key), Some(1..=2))));
    }
}
