//! The compared filters and sets, each behind one small trait.

mod filters;
mod peer;
mod plain;

use guira::{
    Layout,
    raw::Kernel::{self, Avx2, Avx512, Scalar},
};
use guira_harness::plot::Look;

use self::{
    peer::{Alone, Owned, locked},
    plain::Plain,
};
use crate::timing::filter_by;

pub use self::{
    filters::Sbbf,
    filters::scalable,
    peer::{Peer, Size},
};

/// Whether several threads can write at a time: every call takes a read-write lock, or they cannot.
pub const LOCKED: &str = "behind a lock";
pub const ALONE: &str = "no";
/// The floor among them.
pub const FLOOR: &str = "floor: no threads, 2^n buckets";

/// A crate to compare with.
#[derive(Clone, Copy)]
pub struct Candidate {
    /// Name of the crate, and of the variant if there are several.
    pub name: &'static str,
    /// It keeps whole keys, and takes several times the memory.
    pub is_set: bool,
    /// The kernel that it forces. It is measured only by one thread in batches.
    pub kernel: Option<Kernel>,
    /// Whether several threads can write at a time.
    pub writes: &'static str,
    /// Colour and marker in the plots.
    pub look: Look,
    /// Builds it, empty.
    pub build: fn(Size) -> Box<dyn Peer>,
}

/// All compared crates, guira first.
pub static ALL: &[Candidate] = &[
    Candidate {
        look: Look::GUIRA,
        ..shared("guira Plain4x16", 0, "yes", |size| {
            Box::new(Alone(guira_harness::filter(size.items, Layout::Plain4x16)))
        })
    },
    forced("guira Plain4x16 scalar", Scalar, |size| with_kernel(Scalar, size)),
    forced("guira Plain4x16 AVX2", Avx2, |size| with_kernel(Avx2, size)),
    forced("guira Plain4x16 AVX-512", Avx512, |size| with_kernel(Avx512, size)),
    other(FLOOR, 7, |size| Box::new(Owned(Plain::new(size.items)))),
    shared("atomic-cuckoo-filter", 1, "yes", filters::atomic),
    other("cuckoofilter", 2, |size| Box::new(Owned(filters::cuckoofilter(size)))),
    shared("RwLock<cuckoofilter>", 3, LOCKED, |size| locked(filters::cuckoofilter(size))),
    other("scalable_cuckoo_filter", 4, |size| scalable(size.items, 0.00012)),
    other("qfilter", 5, |size| Box::new(Owned(filters::qfilter(size)))),
    shared("RwLock<qfilter>", 6, LOCKED, |size| locked(filters::qfilter(size))),
    shared("fastbloom atomic", 8, "inserts only", filters::bloom),
    other("sbbf-rs", 9, |size| Box::new(Sbbf::new(size.bytes))),
    other("xorf BinaryFuse16", 10, |_| Box::new(filters::Fuse(None))),
    Candidate { is_set: true, ..shared("papaya set", 11, "yes", filters::papaya) },
];

type Build = fn(Size) -> Box<dyn Peer>;

const fn other(name: &'static str, nth: usize, build: Build) -> Candidate {
    Candidate { name, is_set: false, kernel: None, writes: ALONE, look: Look::nth(nth), build }
}

const fn shared(name: &'static str, nth: usize, writes: &'static str, build: Build) -> Candidate {
    Candidate { writes, ..other(name, nth, build) }
}

const fn forced(name: &'static str, kernel: Kernel, build: Build) -> Candidate {
    Candidate { kernel: Some(kernel), ..shared(name, 0, "yes", build) }
}

fn with_kernel(kernel: Kernel, size: Size) -> Box<dyn Peer> {
    Box::new(Alone(filter_by(kernel, size.items)))
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

/// Returns the crate of a name, and panics if there is none.
pub fn find(name: &str) -> &'static Candidate {
    ALL.iter().find(|peer| peer.name == name).expect("the name of a compared crate")
}
