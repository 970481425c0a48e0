//! Growth: a `GrowingFilter` that has grown to a number of items, against a `CuckooFilter` that was
//! built for them, with [`fastest`](guira::FilterBuilder::fastest) and the same target rate.

mod case;
mod curve;
mod latency;
mod report;
mod subjects;
mod times;

use self::{case::Case, times::Times};
use crate::bench::{Bench, Results, Section};

/// Target false-positive rates.
const TARGETS: [f64; 2] = [0.01, 0.001];

/// Largest number of items up to which the other filters grow, too. They take long.
const MAX_COMPARED: u64 = 10_000_000;

#[derive(Default)]
pub struct Growing {
    cases: Vec<Case>,
    times: Times,
}

impl Section for Growing {
    fn measure(&mut self, bench: &Bench) {
        bench.cores.pin(0);
        let compared = bench.spans.iter().map(|span| span.to).filter(|&to| to <= MAX_COMPARED);
        let compared = compared.max();
        for &span in &bench.spans {
            for target in TARGETS {
                self.cases.push(Case::new(span, target));
                let case = self.cases.last_mut().expect("just pushed");
                case.measure(bench, compared == Some(span.to), &mut self.times);
            }
        }
    }

    fn report(&self, results: &mut Results) {
        report::add_bars(&self.cases, &self.times, results);
        report::add_tables(&self.cases, &self.times, results);
        report::add_charts(&self.cases, results);
    }
}
