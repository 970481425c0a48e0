//! `qfilter`: a quotient filter by hash, with remainders of 14 bits: about the rate and the memory
//! of 16-bit cuckoo fingerprints.

use qfilter::Filter;

use super::{
    Alone, Peer, Size,
    locked::{Locked, Owned, Single},
};

/// Target false-positive rate: 2^-14 takes 16.1 bits per slot.
const RATE: f64 = 1.0 / 16384.0;

fn filter(size: Size) -> Filter {
    Filter::new(size.items as u64, RATE).expect("a valid size")
}

pub fn build(size: Size) -> Box<dyn Peer> {
    Box::new(Owned(filter(size)))
}

pub fn locked(size: Size) -> Box<dyn Peer> {
    Box::new(Alone(Locked(filter(size).into())))
}

impl Single for Filter {
    fn contains(&self, key: u64) -> bool {
        self.contains_fingerprint(key)
    }

    fn insert(&mut self, key: u64) -> bool {
        // It counts duplicates, as a cuckoo filter does, so that a removal removes one of them.
        self.insert_fingerprint(true, key).is_ok()
    }

    fn remove(&mut self, key: u64) -> Option<bool> {
        Some(self.remove_fingerprint(key))
    }
}
