//! The time of each insert into a filter with a time to live, at a rate that fits its capacity:
//! each write does its part of the sweeps, and some begin generations.

use std::time::Duration;

use guira::{ExpiringFilter, Hashed};
use guira_harness::{Keys, table::Table};

use crate::{
    bench::{Bench, Results, Section},
    figure::Figure,
    latency::{LATENCY, P9999, time_each},
};

/// Inserts per second: a thread can make twice as many.
const RATE: u64 = 4_000_000;

/// How often all items of the filter expire during the measurement.
const LIVES: u64 = 3;

/// Microseconds of the 99.99th percentile, and the cells of the row.
#[derive(Default)]
pub struct Inserts(Option<(f64, Vec<String>)>);

impl Section for Inserts {
    fn measure(&mut self, bench: &Bench) {
        bench.cores.pin(1);
        let seconds = bench.mode.pick(1, 5, 20);
        bench.say(format!("inserts with a time to live of {seconds} s"));
        let builder = ExpiringFilter::builder().ttl(Duration::from_secs(seconds));
        // A third more than come in the time to live.
        let capacity = (RATE * seconds * 4 / 3) as usize;
        let filter = builder.capacity(capacity).seed(1).build().expect("memory");
        let insert = |key: &Hashed| _ = filter.insert(key).expect("room");
        let items = LIVES * seconds * RATE;
        let ([_, p9999], cells) = time_each(&filter, (Keys::new(3), items), Some(RATE), insert);
        let name = format!("{} MiB, {RATE} per second", filter.size_in_bytes() >> 20);
        self.0 = Some((p9999, [vec![name], cells].concat()));
    }

    fn report(&self, results: &mut Results) {
        let Some((p9999, row)) = &self.0 else { return };
        results.figures.push(Figure::new(format!("expiring: {P9999}"), *p9999, "µs"));
        let table = Table { rows: vec![row.clone()], ..Table::new("expiring-inserts", &LATENCY) };
        results.tables.push(("Items that expire: the time of each insert", table));
    }
}
