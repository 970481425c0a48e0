//! `dashmap`: a hash set in shards, each behind a read-write lock, with foldhash.

use dashmap::DashSet;
use foldhash::fast::FixedState;

use super::{Alone, Peer, Size};
use crate::threads::Shared;

struct Dash(DashSet<u64, FixedState>);

pub fn build(size: Size) -> Box<dyn Peer> {
    Box::new(Alone(Dash(DashSet::with_capacity_and_hasher(size.items, FixedState::default()))))
}

impl Shared for Dash {
    fn contains(&self, key: u64) -> bool {
        self.0.contains(&key)
    }

    fn insert(&self, key: u64) -> bool {
        self.0.insert(key)
    }

    fn remove(&self, key: u64) -> Option<bool> {
        Some(self.0.remove(&key).is_some())
    }
}
