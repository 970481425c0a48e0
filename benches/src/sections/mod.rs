//! The sections of the report: each measures one thing, and nothing is measured by two.

mod against_atomic;
mod bursts;
mod copies;
mod expiring;
mod fullness;
mod growing;
mod in_cache;
mod layouts;
mod one_thread;
mod peers;
mod scaling;
mod two_threads;

use crate::bench::Section;

/// The name that `--only` takes, what the section measures, and how it is built.
pub type Entry = (&'static str, &'static str, fn() -> Box<dyn Section>);

/// The section that runs only with `--full` or when named.
pub const LONG: &str = "quantile";

/// All sections, in the order of the report.
pub const SECTIONS: &[Entry] = &[
    ("one-thread", "single and batch operations against the floor", new::<one_thread::OneThread>),
    ("semi-sorted", "semi-sorted layouts against plain ones", new::<layouts::SemiSorted>),
    ("map", "maps against sets with the same slots per bucket", new::<layouts::Map>),
    ("space", "bits per item and false-positive rate of every layout", new::<layouts::Space>),
    ("in-l2", "a table of 200 KB: each kernel, against sbbf-rs", new::<in_cache::InCache<2>>),
    ("in-l3", "a table of 8 MiB: each kernel, against sbbf-rs", new::<in_cache::InCache<3>>),
    ("bursts", "bursts of 1 to 64 items against single calls", new::<bursts::Bursts>),
    ("scaling", "one thread to all cores, with a plot", new::<scaling::Scaling>),
    ("shared-stage", "two threads on one table, or one each", new::<two_threads::SharedStage>),
    ("beside", "a reader that must not miss, beside a writer", new::<two_threads::Beside>),
    ("atomic", "workloads of atomic-cuckoo-filter", new::<against_atomic::AgainstAtomic>),
    ("peers", "every crate: memory, rate, speed, threads, latency", new::<peers::Peers>),
    ("growing", "a filter that has grown, against one built", new::<growing::Growing>),
    ("expiring-operations", "items that expire, at 90 % load", new::<expiring::Operations>),
    ("expiring-inserts", "each insert, with a time to live", new::<expiring::Inserts>),
    ("expiring-sweeps", "lookups beside sweeps, and generations", new::<expiring::Sweeps>),
    ("expiring-space", "bits per item whose window is remembered", new::<expiring::Space>),
    ("snapshot", "saving and loading against plain files", new::<copies::Snapshot>),
    ("stall", "how long writers wait while the filter is copied", new::<copies::Stall>),
    ("loads", "the load at the first refused insert", new::<fullness::Loads>),
    ("capacity", "filters that refuse an item below their capacity", new::<fullness::Capacity>),
    (LONG, "items per small table, for src/table/choice/sizing.rs", new::<fullness::Quantile>),
];

fn new<S: Section + Default + 'static>() -> Box<dyn Section> {
    Box::<S>::default()
}
