//! The paper's quotient filter (Bender et al. 2012), for which there is no crate: slots of a 9-bit
//! remainder and three bits about it, filled to 90 %.
//!
//! A fingerprint's upper part, its quotient, is the slot that it would like. Fingerprints with one
//! quotient stand together, sorted, in a run; runs stand in the order of their quotients, shifted to
//! the right where others are in the way. A cluster begins with a slot that holds what belongs there.

use super::{Filter, distinct_lines, hash, power_of_two, slots::Slots};

/// Bits of a remainder.
pub const REMAINDER: u32 = 9;
/// The load that the paper fills to, as that is as far as the filter's own paper went.
pub const LOAD: f64 = 0.9;

/// Some fingerprint has this slot as its quotient; the bit stays with the slot.
const OCCUPIED: u16 = 1;
/// This is not the first of its run.
const CONTINUES: u16 = 2;
/// This is not where its quotient is.
const SHIFTED: u16 = 4;
/// Bits below the remainder; all zero where the slot is empty.
const ABOUT: u32 = 3;

fn is_empty(slot: u16) -> bool {
    slot & (OCCUPIED | CONTINUES | SHIFTED) == 0
}

fn remainder(slot: u16) -> u16 {
    slot >> ABOUT
}

/// The filter.
pub struct Quotient {
    slots: Slots,
    items: usize,
}

pub fn build(bytes: usize) -> (Quotient, usize) {
    let slots = Slots::new(power_of_two(bytes, (REMAINDER + ABOUT) as usize).max(8));
    let filter = Quotient { slots, items: 0 };
    let items = filter.most();
    (filter, items)
}

impl Quotient {
    fn most(&self) -> usize {
        (LOAD * self.slots.count() as f64) as usize
    }

    /// Quotient and remainder.
    #[inline]
    fn place(&self, key: u64) -> (usize, u16) {
        let hash = hash(key);
        let quotient = (hash >> 32) as usize & (self.slots.count() - 1);
        (quotient, hash as u16 & ((1 << REMAINDER) - 1))
    }

    fn has(&self, slot: usize, bits: u16) -> bool {
        self.slots.get(slot) & bits != 0
    }

    /// Where the run of a quotient begins, or would: from the start of its cluster, one run for each
    /// occupied slot. Tells every slot that it reads.
    #[inline]
    fn run(&self, quotient: usize, mut reads: impl FnMut(usize)) -> usize {
        let mut owner = quotient;
        reads(owner);
        while self.has(owner, SHIFTED) {
            owner = self.slots.previous(owner);
            reads(owner);
        }
        let mut start = owner;
        while owner != quotient {
            loop {
                start = self.slots.next(start);
                reads(start);
                if !self.has(start, CONTINUES) {
                    break;
                }
            }
            loop {
                owner = self.slots.next(owner);
                if self.has(owner, OCCUPIED) {
                    break;
                }
            }
        }
        start
    }

    /// The slot of a fingerprint, with the start of its run. Tells every slot that it reads.
    #[inline]
    fn find(&self, key: u64, mut reads: impl FnMut(usize)) -> Option<(usize, usize)> {
        let (quotient, wanted) = self.place(key);
        reads(quotient);
        if !self.has(quotient, OCCUPIED) {
            return None;
        }
        let start = self.run(quotient, &mut reads);
        let mut slot = start;
        loop {
            reads(slot);
            match remainder(self.slots.get(slot)).cmp(&wanted) {
                std::cmp::Ordering::Equal => return Some((slot, start)),
                std::cmp::Ordering::Greater => return None,
                std::cmp::Ordering::Less => slot = self.slots.next(slot),
            }
            if !self.has(slot, CONTINUES) {
                return None;
            }
        }
    }

    /// Puts an entry into a slot, and shifts what stood there and behind, as far as an empty slot.
    fn shift_in(&mut self, mut slot: usize, mut entry: u16) {
        loop {
            let old = self.slots.get(slot);
            self.slots.set(slot, entry | old & OCCUPIED);
            if is_empty(old) {
                return;
            }
            entry = old & !OCCUPIED | SHIFTED;
            slot = self.slots.next(slot);
        }
    }

    /// Takes the entry out of a slot of a quotient's run, and shifts back what follows in its cluster.
    /// If it was the first of its run and not the last, the next is its heir.
    fn shift_out(&mut self, mut slot: usize, mut quotient: usize, mut has_heir: bool) {
        loop {
            let next = self.slots.next(slot);
            let mut entry = self.slots.get(next);
            if entry & SHIFTED == 0 {
                // Empty, or the start of another cluster.
                self.slots.set(slot, 0);
                return;
            }
            if has_heir {
                entry &= !CONTINUES;
                has_heir = false;
            } else if entry & CONTINUES == 0 {
                // Another run, that of the next quotient that has one.
                loop {
                    quotient = self.slots.next(quotient);
                    if self.has(quotient, OCCUPIED) {
                        break;
                    }
                }
            }
            if quotient == slot {
                entry &= !SHIFTED;
            }
            self.slots.set(slot, entry & !OCCUPIED | self.slots.get(slot) & OCCUPIED);
            slot = next;
        }
    }
}

impl Filter for Quotient {
    #[inline]
    fn insert(&mut self, key: u64) -> bool {
        if self.items >= self.most() {
            return false;
        }
        self.items += 1;
        let (quotient, new) = self.place(key);
        let (home, entry) = (self.slots.get(quotient), new << ABOUT);
        self.slots.set(quotient, home | OCCUPIED);
        if is_empty(home) {
            self.slots.set(quotient, entry | OCCUPIED);
            return true;
        }
        let start = self.run(quotient, |_| ());
        let (mut slot, mut flags) = (start, 0);
        if home & OCCUPIED != 0 {
            // There is a run: go on to the first that is no smaller, or to its end.
            while remainder(self.slots.get(slot)) < new {
                slot = self.slots.next(slot);
                if !self.has(slot, CONTINUES) {
                    break;
                }
            }
            if slot == start {
                self.slots.set(start, self.slots.get(start) | CONTINUES);
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
        self.find(key, |_| ()).is_some()
    }

    fn remove(&mut self, key: u64) -> Option<bool> {
        let Some((slot, start)) = self.find(key, |_| ()) else { return Some(false) };
        self.items -= 1;
        let (quotient, _) = self.place(key);
        let is_last = !self.has(self.slots.next(slot), CONTINUES);
        if slot == start && is_last {
            self.slots.set(quotient, self.slots.get(quotient) & !OCCUPIED);
        }
        self.shift_out(slot, quotient, slot == start && !is_last);
        Some(true)
    }

    fn bytes(&self) -> usize {
        self.slots.bytes()
    }

    fn slots(&self) -> usize {
        self.slots.count()
    }

    fn lines(&self, key: u64) -> Option<usize> {
        let mut read = Vec::new();
        self.find(key, |slot| read.push(slot));
        Some(distinct_lines(read.into_iter().flat_map(Slots::places)))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use rand::{RngExt, SeedableRng, rngs::SmallRng};

    use super::{CONTINUES, Filter, OCCUPIED, Quotient, SHIFTED, build, is_empty, remainder};

    /// All fingerprints, read off as the definition has it.
    fn fingerprints(filter: &Quotient) -> Vec<(usize, u16)> {
        let slots = filter.slots.count();
        let Some(first) = (0..slots).find(|&slot| !filter.has(slot, SHIFTED)) else {
            panic!("a cluster has a start")
        };
        let (mut owners, mut found) = (std::collections::VecDeque::new(), Vec::new());
        let mut owner = first;
        for slot in (first..first + slots).map(|slot| slot % slots) {
            if filter.has(slot, OCCUPIED) {
                owners.push_back(slot);
            }
            let entry = filter.slots.get(slot);
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
    fn a_small_ring_holds_the_multiset_of_its_fingerprints() {
        let (mut filter, most) = build(48);
        assert_eq!((filter.slots(), most), (32, 28));
        let mut rng = SmallRng::seed_from_u64(5);
        // Few keys, so that there are long runs, copies, and clusters across the end of the ring.
        let mut oracle: BTreeMap<(usize, u16), usize> = BTreeMap::new();
        for step in 0..60_000 {
            let key = rng.random_range(0..60_u64);
            let place = filter.place(key);
            let copies = oracle.get(&place).copied().unwrap_or(0);
            assert_eq!(filter.contains(key), copies > 0);
            // Up and down between empty and full.
            if rng.random_range(0..100) < if step / 100 % 2 == 0 { 70 } else { 30 } {
                let fits = filter.items < most;
                assert_eq!(filter.insert(key), fits);
                if fits {
                    *oracle.entry(place).or_default() += 1;
                }
            } else {
                assert_eq!(filter.remove(key), Some(copies > 0));
                if copies > 0 {
                    oracle.insert(place, copies - 1);
                }
            }
            let copies = oracle.iter().flat_map(|(&place, &n)| std::iter::repeat_n(place, n));
            assert_eq!(fingerprints(&filter), copies.collect::<Vec<_>>());
        }
    }

    #[test]
    fn an_absent_quotient_costs_one_slot() {
        let (filter, _) = build(1 << 12);
        assert!((0..100).all(|key| filter.lines(key) <= Some(2) && filter.lines(key) >= Some(1)));
    }
}
