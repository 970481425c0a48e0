//! Growth: a `GrowingFilter` that has grown to a number of items, against a `CuckooFilter` that was
//! built for them, with [`fastest`](guira::FilterBuilder::fastest) and the same target rate.

mod curve;
mod inserts;
mod latency;
mod lookups;
mod plots;
mod report;
mod subjects;

use guira::{CuckooFilter, GrowingFilter};
use guira_harness::Keys;

use self::{curve::Curve, latency::Latencies};
use crate::{
    bench::{Bench, Results, Section},
    options::Mode,
    span::{Place, Span},
    timing::Rounds,
};

/// The keys that are inserted.
const KEYS: Keys = Keys::new(1);

/// Target false-positive rates.
const TARGETS: [f64; 2] = [0.01, 0.001];

/// Largest number of items up to which the other filters grow, too. They take long.
const MAX_COMPARED: u64 = 10_000_000;

/// Figures of one growth at one target rate.
struct Case {
    span: Span,
    target: f64,
    curve: Curve,
    /// The floor is the filter that does not grow.
    rounds: Rounds,
    /// The time of two threads together is the floor of that of one.
    threads: Rounds,
    latencies: Latencies,
}

#[derive(Default)]
pub struct Growing(Vec<Case>);

impl Section for Growing {
    fn measure(&mut self, bench: &Bench) {
        bench.cores.pin(0);
        let compared = bench.spans.iter().map(|span| span.to).filter(|&to| to <= MAX_COMPARED);
        let compared = compared.max();
        for &span in &bench.spans {
            for target in TARGETS {
                self.0.push(Case::new(span, target));
                let case = self.0.last_mut().expect("just pushed");
                case.measure(bench, compared == Some(span.to));
            }
        }
    }

    fn report(&self, results: &mut Results) {
        report::add_bars(&self.0, results);
        report::add_tables(&self.0, results);
        plots::add(&self.0, results);
    }
}

impl Case {
    fn new(span: Span, target: f64) -> Self {
        let (curve, latencies) = (Curve::default(), Latencies::default());
        Self {
            span,
            target,
            curve,
            rounds: Rounds::default(),
            threads: Rounds::default(),
            latencies,
        }
    }

    fn measure(&mut self, bench: &Bench, compares: bool) {
        let name = format!("growth, {}, target {} %", self.span.name(), 100.0 * self.target);
        let say = |what: &str| bench.say(format!("{name}: {what}"));
        say("memory and false-positive rate");
        self.curve.measure(bench.mode, self.span, self.target, compares);
        self.measure_lookups(bench.mode, say);
        let rounds = match (bench.mode, self.span.place()) {
            (Mode::Quick, _) => 1,
            // They would take half of the time of the whole program.
            (Mode::Usual, Place::Memory) => 0,
            (Mode::Usual, _) => 3,
            (Mode::Full, _) => 5,
        };
        for round in 0..rounds {
            self.measure_inserts(bench, |what| say(&format!("{what}, round {}", round + 1)));
        }
    }
}

/// Builds the filter that grows.
fn growing(span: Span, target: f64) -> GrowingFilter {
    let builder = GrowingFilter::builder().capacity(span.from as usize).seed(1);
    builder.false_positive_rate(target).build().expect("memory")
}

/// Builds the filter that does not grow.
fn built(items: u64, target: f64) -> CuckooFilter {
    let builder = CuckooFilter::builder().capacity(items as usize).seed(1).fastest();
    builder.false_positive_rate(target).build().expect("memory")
}
