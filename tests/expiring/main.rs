//! Expiring filters, of a fixed size and growing: how long an item is found, under every operation,
//! beside threads, and by the caller's clock.

mod aging;
#[path = "../common/mod.rs"]
mod common;
mod growth;
mod known;
mod model;
mod settings;
mod threads;
mod time;

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use common::{
    Subject,
    kind::{occupied, stamp_bits},
};
use guira::{Filter, FilterBuilder, Layout, kind::Expiring};

/// All windows with stamps of up to 4 bits, and the longest ones with 5 and with 8 bits.
const WINDOWS: [u32; 15] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 29, 253];

/// The layouts with stamps for a window.
fn layouts<G: Subject>(window: u32) -> impl Iterator<Item = Layout> {
    let layout = if <G as Subject>::GROWS { Layout::growing } else { Layout::with_values };
    (2..=6).filter_map(move |slots| layout(slots, stamp_bits(window)))
}

/// A builder with a window and a seed.
fn builder<G: Subject>(capacity: usize, window: u32) -> FilterBuilder<Expiring, G> {
    Filter::<Expiring, G>::builder().capacity(capacity).window(window).seed(7)
}

/// The first keys that are no aliases of each other.
fn keys<G: Subject>(builder: FilterBuilder<Expiring, G>, count: usize) -> Vec<u64> {
    let probe = builder.build().expect("a small filter");
    // A lookup finds only aliases, because no item is relocated.
    G::stop_growing(&probe);
    let is_new = |key: &u64| !probe.contains(key) && probe.insert(key).is_ok();
    (0..).filter(is_new).take(count).collect()
}

/// Ends the loops of all threads when it is dropped: at the end of a test, or after a failure.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, SeqCst);
    }
}
