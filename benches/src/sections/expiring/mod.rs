//! Filters whose items expire: their operations, lookups beside sweeps, and bits per item beside
//! what is used in their place.

mod filled;
mod operations;
mod space;
mod sweeps;

use crate::bench::{Bench, Results, Section};

/// Size of the tables that fit a cache, in bytes: a million slots of 16 bits.
const SMALL: usize = 2 << 20;

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
