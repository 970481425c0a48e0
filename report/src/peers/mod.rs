//! The filters and sets that the report compares, each behind one small trait in a file of its own.
//!
//! Each is used in the fastest way that its documentation has for `u64` keys: by hash where it takes
//! one, with a cheap hasher where it lets one choose, with its own where it does not. Keys are random,
//! so a hash of them is the key itself. What a peer cannot do is `None`.

mod atomic_cuckoo_filter;
mod cuckoofilter;
mod fastbloom;
mod guira;
mod hasher;
mod locked;
mod papaya;
mod qfilter;
mod sbbf;
mod scalable_cuckoo_filter;
mod scc;
mod xorf;

use crate::common::threads::Shared;

pub use self::{guira::filter_of, sbbf::Sbbf};

/// A filter as one thread uses it.
pub trait Peer {
    /// Looks up one key after another; returns how many seem to be there.
    fn lookups(&self, keys: &[u64]) -> usize;

    /// The same in batches, where there are any.
    fn lookup_batch(&self, keys: &[u64], found: &mut [bool]) -> Option<usize> {
        let _ = (keys, found);
        None
    }

    /// Adds one key after another; returns how many fitted.
    fn inserts(&mut self, keys: &[u64]) -> Option<usize>;

    /// The same in batches, where there are any.
    fn insert_batch(&mut self, keys: &[u64]) -> Option<usize> {
        let _ = keys;
        None
    }

    /// Takes out one key after another; returns how many were there.
    fn removes(&mut self, keys: &[u64]) -> Option<usize>;

    /// The same in batches, where there are any.
    fn remove_batch(&mut self, keys: &[u64], removed: &mut [bool]) -> Option<usize> {
        let _ = (keys, removed);
        None
    }

    /// Makes the filter anew from all its keys, for those that are made at one go.
    fn make(&mut self, keys: &[u64]) -> Option<()> {
        let _ = keys;
        None
    }

    /// The filter as threads share it.
    fn shared(&self) -> Option<&dyn Shared> {
        None
    }
}

/// What a peer is built for.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Items to hold.
    pub items: usize,
    /// Memory to take, in bytes, where that can be chosen.
    pub bytes: usize,
}

/// A peer before it is built.
#[derive(Clone, Copy)]
pub struct Candidate {
    /// The crate, and the variant where there are several.
    pub name: &'static str,
    /// Keeps whole keys: takes several times the memory, so it gets as many times fewer.
    pub is_set: bool,
    /// A variant that differs little in speed: measured by one thread, in batches alone.
    pub is_variant: bool,
    /// Builds it, empty.
    pub build: fn(Size) -> Box<dyn Peer>,
}

impl Candidate {
    /// Its place in the list.
    pub fn nth(&self) -> usize {
        ALL.iter().position(|peer| peer.name == self.name).unwrap_or(ALL.len())
    }
}

/// All of them, guira first.
pub const ALL: &[Candidate] = &[
    candidate("guira Plain4x16", guira::plain4x16),
    Candidate { is_variant: true, ..candidate("guira Plain5x12", guira::plain5x12) },
    Candidate { is_variant: true, ..candidate("guira Plain6x10", guira::plain6x10) },
    Candidate { is_variant: true, ..candidate("guira Plain8x8", guira::plain8x8) },
    candidate("atomic-cuckoo-filter", atomic_cuckoo_filter::build),
    candidate("cuckoofilter", cuckoofilter::build),
    candidate("RwLock<cuckoofilter>", cuckoofilter::locked),
    candidate("scalable_cuckoo_filter", scalable_cuckoo_filter::build),
    candidate("qfilter", qfilter::build),
    candidate("RwLock<qfilter>", qfilter::locked),
    candidate("fastbloom", fastbloom::plain),
    candidate("fastbloom atomic", fastbloom::atomic),
    candidate("sbbf-rs", sbbf::build),
    candidate("xorf BinaryFuse16", xorf::build),
    Candidate { is_set: true, ..candidate("papaya set", papaya::build) },
    Candidate { is_set: true, ..candidate("scc set", scc::build) },
];

const fn candidate(name: &'static str, build: fn(Size) -> Box<dyn Peer>) -> Candidate {
    Candidate { name, is_set: false, is_variant: false, build }
}

/// A shared filter as one thread uses it.
struct Alone<S>(S);

impl<S: Shared> Peer for Alone<S> {
    fn lookups(&self, keys: &[u64]) -> usize {
        self.0.lookups(keys)
    }

    fn inserts(&mut self, keys: &[u64]) -> Option<usize> {
        Some(self.0.inserts(keys))
    }

    fn removes(&mut self, keys: &[u64]) -> Option<usize> {
        if self.0.can_remove() { self.0.removes(keys) } else { None }
    }

    fn shared(&self) -> Option<&dyn Shared> {
        Some(&self.0)
    }
}
