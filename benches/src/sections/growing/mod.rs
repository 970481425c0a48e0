//! Growth: a `GrowingFilter` that has grown to a number of items, against a `CuckooFilter` that was
//! built for them, with [`fastest`](guira::FilterBuilder::fastest) and the same target rate.

mod curve;
mod report;
mod times;

use self::{curve::Curve, times::Times};
use crate::{
    bench::{Bench, Results, Section},
    options::Mode,
    span::Place,
};

/// Target false-positive rates.
const TARGETS: [f64; 2] = [0.01, 0.001];

/// Largest number of items up to which the other filters grow, too. They take long.
const MAX_COMPARED: u64 = 10_000_000;

#[derive(Default)]
pub struct Growing {
    curves: Vec<Curve>,
    times: Times,
}

impl Section for Growing {
    fn measure(&mut self, bench: &Bench) {
        bench.cores.pin(0);
        let compared = bench.spans.iter().map(|span| span.to).filter(|&to| to <= MAX_COMPARED);
        let compared = compared.max();
        for &span in &bench.spans {
            let rounds = match (bench.mode, span.place()) {
                (Mode::Quick, _) => 1,
                // They would take half of the time of the whole program.
                (Mode::Usual, Place::Memory) => 0,
                (Mode::Usual, _) => 3,
                (Mode::Full, _) => 5,
            };
            for target in TARGETS {
                self.curves.push(Curve::new(span, target));
                let curve = self.curves.last_mut().expect("just pushed");
                let name = curve.name();
                bench.say(format!("growth, {name}: memory and false-positive rate"));
                curve.measure(bench.mode, compared == Some(span.to));
                bench.say(format!("growth, {name}: lookups"));
                self.times.lookups(bench.mode, &name, span, target);
                for _ in 0..rounds {
                    self.times.inserts(bench, &name, span, target);
                }
            }
        }
    }

    fn report(&self, results: &mut Results) {
        report::add_figures(&self.curves, &self.times, results);
        report::add_tables(&self.times, results);
        report::add_charts(&self.curves, results);
    }
}
