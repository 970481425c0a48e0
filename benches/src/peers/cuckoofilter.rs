//! `cuckoofilter`: four slots of 8 bits, a power of two of buckets, and a cheap hasher.

use cuckoofilter::CuckooFilter;

use super::{
    Alone, Peer, Size,
    hasher::Folded,
    locked::{Locked, Owned, Single},
};

fn filter(size: Size) -> CuckooFilter<Folded> {
    CuckooFilter::with_capacity(size.items)
}

pub fn build(size: Size) -> Box<dyn Peer> {
    Box::new(Owned(filter(size)))
}

pub fn locked(size: Size) -> Box<dyn Peer> {
    Box::new(Alone(Locked(filter(size).into())))
}

impl Single for CuckooFilter<Folded> {
    fn contains(&self, key: u64) -> bool {
        self.contains(&key)
    }

    fn insert(&mut self, key: u64) -> bool {
        self.add(&key).is_ok()
    }

    fn remove(&mut self, key: u64) -> Option<bool> {
        Some(self.delete(&key))
    }
}
