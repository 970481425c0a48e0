//! Expiring filters: how long an item is found, under every operation, beside threads, and by the
//! caller's clock.

mod aging;
#[path = "../common/mod.rs"]
mod common;
mod settings;
mod threads;
mod time;

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use common::kind::{occupied, stamp_bits};
use guira::{ExpiringFilter, FilterBuilder, Layout};

/// All windows with stamps of up to 4 bits, and the longest ones with 5 and with 8 bits.
const WINDOWS: [u32; 15] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 29, 253];

/// The layouts with stamps for a window.
fn layouts(window: u32) -> impl Iterator<Item = Layout> {
    (2..=6).filter_map(move |slots| Layout::with_values(slots, stamp_bits(window)))
}

/// A builder with a window and a seed.
fn builder(
    capacity: usize,
    window: u32,
) -> FilterBuilder<guira::kind::Expiring, guira::kind::Fixed> {
    ExpiringFilter::builder().capacity(capacity).window(window).seed(7)
}

/// The first keys that are no aliases of each other.
fn keys(
    builder: FilterBuilder<guira::kind::Expiring, guira::kind::Fixed>,
    count: usize,
) -> Vec<u64> {
    let probe = builder.build().expect("a small filter");
    // A lookup finds only aliases, because no item is relocated.
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
