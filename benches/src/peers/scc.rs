//! `scc`: a concurrent hash set with foldhash.

use foldhash::fast::FixedState;
use scc::HashSet;

use super::{Alone, Peer, Size};
use crate::threads::Shared;

struct Scc(HashSet<u64, FixedState>);

pub fn build(size: Size) -> Box<dyn Peer> {
    Box::new(Alone(Scc(HashSet::with_capacity_and_hasher(size.items, FixedState::default()))))
}

impl Shared for Scc {
    fn contains(&self, key: u64) -> bool {
        self.0.contains_sync(&key)
    }

    fn insert(&self, key: u64) -> bool {
        self.0.insert_sync(key).is_ok()
    }

    fn remove(&self, key: u64) -> Option<bool> {
        Some(self.0.remove_sync(&key).is_some())
    }
}
