//! The rank-and-select quotient filter (Pandey et al. 2017), from the crate `qfilter`.

use super::{
    Filter, hash, power_of_two,
    quotient::{LOAD, REMAINDER},
};

/// The filter, with as many slots and the same remainders as the paper's, and 2.125 bits of
/// metadata per slot.
pub struct RankSelect(qfilter::Filter);

pub fn build(bytes: usize) -> (RankSelect, usize) {
    // Eight slots take 89 bits, so this filter is smaller than the paper's with as many slots.
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
        // The crate limits the load to 95 %.
        (self.0.capacity() as f64 / 0.95).round() as usize
    }
}
