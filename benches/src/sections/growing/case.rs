//! One growth at one target rate.

use super::{curve::Curve, latency::Latencies, subjects::growing, times::Times};
use crate::{
    bench::Bench,
    options::Mode,
    span::{Place, Span},
};

/// Figures of one growth at one target rate, but the times of its operations.
pub struct Case {
    pub span: Span,
    pub target: f64,
    pub curve: Curve,
    pub latencies: Latencies,
}

impl Case {
    pub fn new(span: Span, target: f64) -> Self {
        Self { span, target, curve: Curve::default(), latencies: Latencies::default() }
    }

    /// Returns the name of the growth and its target.
    pub fn name(&self) -> String {
        format!("{}, target {}", self.span.name(), percent(self.target))
    }

    /// Measures everything; also filters to compare with, if it `compares`.
    pub fn measure(&mut self, bench: &Bench, compares: bool, times: &mut Times) {
        let (span, target, name) = (self.span, self.target, self.name());
        bench.say(format!("growth, {name}: memory and false-positive rate"));
        self.curve.measure(bench.mode, span, target, compares);
        bench.say(format!("growth, {name}: lookups"));
        times.lookups(bench.mode, &name, span, target);
        let rounds = match (bench.mode, span.place()) {
            (Mode::Quick, _) => 1,
            // They would take half of the time of the whole program.
            (Mode::Usual, Place::Memory) => 0,
            (Mode::Usual, _) => 3,
            (Mode::Full, _) => 5,
        };
        for _ in 0..rounds {
            times.inserts(bench, &name, span, target);
            if span.place() != Place::L2 {
                bench.say(format!("growth, {name}: insert, single, each one timed"));
                self.latencies.measure(&growing(span, target), span.to);
            }
        }
    }
}

/// Formats a share.
pub fn percent(share: f64) -> String {
    format!("{} %", 100.0 * share)
}
