//! Filters whose items expire: their operations, lookups beside sweeps, and bits per item beside
//! what is used in their place.

mod operations;
mod space;
mod sweeps;

use guira::{BuildError, ExpiringFilter, Hashed, Layout};
use guira_harness::Keys;

use crate::{
    bench::{Bench, Results, Section},
    stop,
};

/// Size of the tables that fit a cache, in bytes: a million slots of 16 bits.
const SMALL: usize = 2 << 20;

/// The window: the longest with stamps of 4 bits.
const WINDOW: u32 = 13;

/// Share of the slots that are filled, in per cent.
const LOAD: u64 = 90;

#[derive(Default)]
pub struct Expiring {
    operations: operations::Operations,
    sweeps: sweeps::Sweeps,
    space: space::Space,
}

impl Section for Expiring {
    fn measure(&mut self, bench: &Bench) {
        for bytes in [SMALL, bench.bytes] {
            self.sweeps.measure(bench, bytes);
            self.operations.measure(bench, bytes);
        }
        self.space.measure(bench);
    }

    fn report(&self, results: &mut Results) {
        self.operations.report(results);
        self.sweeps.report(results);
        self.space.report(results);
    }
}

/// A filter with slots of 16 bits, 4 of which are the stamp, whose items are evenly distributed
/// over all generations of the window.
struct Filled {
    filter: ExpiringFilter,
    keys: Keys,
    items: u64,
}

impl Filled {
    /// Fills a table of about this many bytes.
    fn new(bytes: usize, seed: u64) -> Self {
        let slots = bytes as u64 / 2;
        // The builder sizes tables for a few per cent more items than this.
        let filter = of_layout(slots as usize * 96 / 100).expect("memory");
        let (keys, items) = (Keys::new(seed), filter.slots() as u64 * LOAD / 100);
        let of_generation = items.div_ceil(u64::from(WINDOW) + 1);
        for from in (0..items).step_by(of_generation as usize) {
            if from > 0 {
                filter.advance();
            }
            keys.blocks(from..items.min(from + of_generation), |block| {
                filter.insert_batch(Hashed::slice(block)).expect("room");
            });
            stop::point();
        }
        Self { filter, keys, items }
    }

    /// Returns the first index of the items that were inserted last, in the present generation.
    fn youngest(&self) -> u64 {
        let of_generation = self.items.div_ceil(u64::from(WINDOW) + 1);
        of_generation * u64::from(WINDOW)
    }
}

fn of_layout(capacity: usize) -> Result<ExpiringFilter, BuildError> {
    let layout = Layout::with_values(4, 4).expect("a layout");
    ExpiringFilter::builder().capacity(capacity).window(WINDOW).layout(layout).seed(1).build()
}
