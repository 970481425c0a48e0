//! The sections of the report: each measures one thing, and nothing is measured by two.

mod against_atomic;
mod beside;
mod bursts;
mod comparison;
mod expiring;
mod fits;
mod growing;
mod in_cache;
mod loads;
mod map;
mod one_thread;
mod peers;
mod reader;
mod semi_sorted;
mod shared;
mod shared_stage;
mod snapshot;
mod space;
mod stall;
mod two_threads;

use crate::{bench::Section, options::Mode};

/// A section before it runs.
pub struct Entry {
    /// The name that `--only` takes.
    pub name: &'static str,
    /// What it measures.
    pub about: &'static str,
    /// Builds it.
    pub new: fn() -> Box<dyn Section>,
    /// Runs only with `--full` or when named.
    is_long: bool,
}

impl Entry {
    /// Returns whether it runs without being named.
    pub fn is_usual(&self, mode: Mode) -> bool {
        !self.is_long || mode == Mode::Full
    }
}

macro_rules! entry {
    ($name:literal, $section:ty, $about:literal) => {
        Entry {
            name: $name,
            about: $about,
            new: || Box::new(<$section>::default()),
            is_long: false,
        }
    };
}

/// All sections, in the order of the report.
pub const SECTIONS: &[Entry] = &[
    entry!("one-thread", one_thread::OneThread, "single and batch operations against the floor"),
    entry!("semi-sorted", semi_sorted::SemiSorted, "semi-sorted layouts against plain ones"),
    entry!("map", map::Map, "maps against sets with the same slots per bucket"),
    entry!("space", space::Space, "bits per item and false-positive rate of every layout"),
    entry!(
        "in-l2",
        in_cache::InL2,
        "one thread in a table of 200 KB; lookups by each kernel, against sbbf-rs"
    ),
    entry!("in-l3", in_cache::InL3, "lookups by each kernel in a table of 8 MiB, against sbbf-rs"),
    entry!("bursts", bursts::Bursts, "bursts of 1 to 64 items against single calls"),
    entry!("two-threads", two_threads::TwoThreads, "two threads against one"),
    entry!(
        "shared-stage",
        shared_stage::SharedStage,
        "a stage of a pipeline: two threads on one table, or one each"
    ),
    entry!("beside", beside::Beside, "a reader that must not miss, beside a writer"),
    entry!("atomic", against_atomic::AgainstAtomic, "every workload of atomic-cuckoo-filter"),
    entry!("peers", peers::Peers, "every crate: memory, rate, speed, threads, latency"),
    entry!("growing", growing::Growing, "a filter that has grown, against one built for its items"),
    entry!(
        "expiring",
        expiring::Expiring,
        "items that expire: operations, lookups beside sweeps, bits per item"
    ),
    entry!("snapshot", snapshot::Snapshot, "saving and loading against plain files"),
    entry!("stall", stall::Stall, "how long writers wait while the filter is copied"),
    entry!("loads", loads::Loads, "the load at the first refused insert"),
    entry!("capacity", fits::Capacity, "filters that refuse an item below their capacity"),
    Entry {
        is_long: true,
        ..entry!(
            "quantile",
            fits::Quantile,
            "what src/table/sizing.rs is fitted to: items per small table"
        )
    },
];
