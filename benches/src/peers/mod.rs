//! The compared filters and sets, each behind one small trait in a file of its own.
//!
//! Each is used in the fastest documented way for `u64` keys: by hash if it takes hashes, else with
//! a cheap hasher if it takes a hasher, else with its own. Keys are random, so the hash of a key is
//! the key itself. A method returns `None` if the crate has no such operation.

mod atomic_cuckoo_filter;
mod cuckoofilter;
mod dashmap;
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

use ::guira::{
    Layout,
    raw::Kernel::{self, Avx2, Avx512, Scalar},
};
use guira_harness::plot::{Look, Marker};

use self::Shares::{Everything, Inserts, Lock};
use crate::threads::Shared;

pub use self::{sbbf::Sbbf, scalable_cuckoo_filter::with_rate as scalable};

/// The operations of a filter that one thread uses.
pub trait Peer {
    /// Looks up single keys. Returns how many seem present.
    fn lookups(&self, keys: &[u64]) -> usize;

    /// The same in batches, where there are any.
    fn lookup_batch(&self, keys: &[u64], found: &mut [bool]) -> Option<usize> {
        let _ = (keys, found);
        None
    }

    /// Inserts single keys. Returns how many fit.
    fn inserts(&mut self, keys: &[u64]) -> Option<usize>;

    /// The same in batches, where there are any.
    fn insert_batch(&mut self, keys: &[u64]) -> Option<usize> {
        let _ = keys;
        None
    }

    /// Removes single keys. Returns how many were present.
    fn removes(&mut self, keys: &[u64]) -> Option<usize>;

    /// The same in batches, where there are any.
    fn remove_batch(&mut self, keys: &[u64], removed: &mut [bool]) -> Option<usize> {
        let _ = (keys, removed);
        None
    }

    /// Builds the filter from all its keys, if it is built at once.
    fn make(&mut self, keys: &[u64]) -> Option<()> {
        let _ = keys;
        None
    }

    /// Returns the filter as threads share it.
    fn shared(&self) -> Option<&dyn Shared> {
        None
    }
}

/// The size of a filter.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Number of items to hold.
    pub items: usize,
    /// Memory in bytes, for the crates that take it.
    pub bytes: usize,
}

/// How several threads can use a crate's filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shares {
    /// Not while one of them writes.
    Nothing,
    /// Lookups and inserts; it cannot remove.
    Inserts,
    /// Everything, one at a time behind a read-write lock.
    Lock,
    Everything,
}

/// A crate to compare with.
#[derive(Clone, Copy)]
pub struct Candidate {
    /// Name of the crate, and of the variant if there are several.
    pub name: &'static str,
    /// It keeps whole keys, and takes several times the memory.
    pub is_set: bool,
    /// A variant with similar speed: measured only by one thread in batches.
    pub is_variant: bool,
    /// The kernel that it forces.
    pub kernel: Option<Kernel>,
    pub shares: Shares,
    /// Colour and marker in the plots.
    pub look: Look,
    /// Builds it, empty.
    pub build: fn(Size) -> Box<dyn Peer>,
}

/// All compared crates, guira first.
pub static ALL: &[Candidate] = &[
    Candidate {
        shares: Everything,
        ..one("guira Plain4x16", |size| guira::with_layout(Layout::Plain4x16, size))
    },
    variant("guira Plain5x12", 1, |size| guira::with_layout(Layout::Plain5x12, size)),
    variant("guira Plain6x10", 2, |size| guira::with_layout(Layout::Plain6x10, size)),
    variant("guira Plain8x8", 3, |size| guira::with_layout(Layout::Plain8x8, size)),
    forced("guira Plain4x16 scalar", Scalar, |size| guira::with_kernel(Scalar, size)),
    forced("guira Plain4x16 AVX2", Avx2, |size| guira::with_kernel(Avx2, size)),
    forced("guira Plain4x16 AVX-512", Avx512, |size| guira::with_kernel(Avx512, size)),
    shared("atomic-cuckoo-filter", 1, Everything, atomic_cuckoo_filter::build),
    other("cuckoofilter", 2, cuckoofilter::build),
    shared("RwLock<cuckoofilter>", 3, Lock, cuckoofilter::locked),
    other("scalable_cuckoo_filter", 4, scalable_cuckoo_filter::build),
    other("qfilter", 5, qfilter::build),
    shared("RwLock<qfilter>", 6, Lock, qfilter::locked),
    other("fastbloom", 7, fastbloom::plain),
    shared("fastbloom atomic", 8, Inserts, fastbloom::atomic),
    other("sbbf-rs", 9, sbbf::build),
    other("xorf BinaryFuse16", 10, xorf::build),
    set("papaya set", 11, papaya::build),
    set("scc set", 12, scc::build),
    set("dashmap set", 13, dashmap::build),
];

type Build = fn(Size) -> Box<dyn Peer>;

const fn one(name: &'static str, build: Build) -> Candidate {
    Candidate {
        name,
        is_set: false,
        is_variant: false,
        kernel: None,
        shares: Shares::Nothing,
        look: Look::GUIRA,
        build,
    }
}

const fn variant(name: &'static str, marker: usize, build: Build) -> Candidate {
    let look = Look::GUIRA.marker(Marker::nth(marker));
    Candidate { is_variant: true, shares: Everything, look, ..one(name, build) }
}

const fn forced(name: &'static str, kernel: Kernel, build: Build) -> Candidate {
    Candidate { kernel: Some(kernel), ..variant(name, 0, build) }
}

const fn other(name: &'static str, nth: usize, build: Build) -> Candidate {
    Candidate { look: Look::nth(nth), ..one(name, build) }
}

const fn shared(name: &'static str, nth: usize, shares: Shares, build: Build) -> Candidate {
    Candidate { shares, ..other(name, nth, build) }
}

const fn set(name: &'static str, nth: usize, build: Build) -> Candidate {
    Candidate { is_set: true, ..shared(name, nth, Everything, build) }
}

impl Candidate {
    /// Returns whether this machine can run it.
    pub fn is_available(&self) -> bool {
        self.kernel.is_none_or(Kernel::is_available)
    }
}

/// Returns the names of all compared crates.
pub fn names() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|peer| peer.name)
}

/// Returns the crate of a name.
///
/// # Panics
/// If there is none.
pub fn find(name: &str) -> &'static Candidate {
    ALL.iter().find(|peer| peer.name == name).expect("the name of a compared crate")
}

/// A shared filter that one thread uses.
struct Alone<S>(S);

impl<S: Shared> Peer for Alone<S> {
    fn lookups(&self, keys: &[u64]) -> usize {
        self.0.lookups(keys)
    }

    fn lookup_batch(&self, keys: &[u64], found: &mut [bool]) -> Option<usize> {
        self.0.has_batches().then(|| self.0.lookup_batch(keys, found))
    }

    fn inserts(&mut self, keys: &[u64]) -> Option<usize> {
        Some(self.0.inserts(keys))
    }

    fn insert_batch(&mut self, keys: &[u64]) -> Option<usize> {
        self.0.has_batches().then(|| self.0.insert_batch(keys))
    }

    fn removes(&mut self, keys: &[u64]) -> Option<usize> {
        if self.0.can_remove() { self.0.removes(keys) } else { None }
    }

    fn remove_batch(&mut self, keys: &[u64], removed: &mut [bool]) -> Option<usize> {
        if self.0.has_batches() { self.0.remove_batch(keys, removed) } else { None }
    }

    fn shared(&self) -> Option<&dyn Shared> {
        Some(&self.0)
    }
}
