//! The quotient filter of today, by rank and select (Pandey et al. 2017), by `qfilter`: what the crates
//! have instead of the paper's.

use super::{
    Filter, hash, power_of_two,
    quotient::{LOAD, REMAINDER},
};

/// As many slots as the paper's filter has, with remainders as long, and 2.125 bits about each.
pub struct RankSelect(qfilter::Filter);

pub fn build(bytes: usize) -> (RankSelect, usize) {
    // It takes 89 bits for eight slots; of bytes that are exactly enough for the paper's filter, it
    // leaves some over.
    let slots = power_of_two(bytes, 11).max(64);
    let items = (LOAD * slots as f64) as usize;
    let rate = 0.5_f64.powi(REMAINDER as i32);
    let mut filter = qfilter::Filter::new(items as u64, rate).expect("a valid size");
    filter.clear();
    (RankSelect(filter), items)
}

impl Filter for RankSelect {
    #[inline]
    fn insert(&mut self, key: u64) -> bool {
        self.0.insert_fingerprint(true, hash(key)).is_ok()
    }

    #[inline]
    fn contains(&self, key: u64) -> bool {
        self.0.contains_fingerprint(hash(key))
    }

    #[inline]
    fn remove(&mut self, key: u64) -> Option<bool> {
        Some(self.0.remove_fingerprint(hash(key)))
    }

    fn bytes(&self) -> usize {
        self.0.memory_usage()
    }

    fn slots(&self) -> usize {
        // The crate's own limit is 95 % of them.
        (self.0.capacity() as f64 / 0.95).round() as usize
    }
}
