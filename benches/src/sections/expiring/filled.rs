//! Filters whose items are evenly distributed over all generations of the window.

use guira::{ExpiringFilter, Hashed, Layout};
use guira_harness::Keys;

use crate::stop;

/// The window: the longest with stamps of 4 bits.
const WINDOW: u32 = 13;

/// Size of the tables that fit a cache, in bytes: a million slots of 16 bits.
pub const SMALL: usize = 2 << 20;

/// Share of the slots that are filled, in per cent.
pub const LOAD: u64 = 90;

/// A filter with slots of 16 bits, 4 of which are the stamp.
pub struct Filled {
    pub filter: ExpiringFilter,
    pub keys: Keys,
    pub items: u64,
}

impl Filled {
    /// Fills a table of about this many bytes.
    pub fn new(bytes: usize, seed: u64) -> Self {
        let slots = bytes as u64 / 2;
        let layout = Layout::with_values(4, 4).expect("a layout");
        // The builder sizes tables for a few per cent more items than this.
        let builder = ExpiringFilter::builder().capacity(slots as usize * 96 / 100);
        let filter = builder.window(WINDOW).layout(layout).seed(1).build().expect("memory");
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

    /// Returns the first index of the items that were inserted last, in the current generation.
    pub fn youngest(&self) -> u64 {
        let of_generation = self.items.div_ceil(u64::from(WINDOW) + 1);
        of_generation * u64::from(WINDOW)
    }
}
