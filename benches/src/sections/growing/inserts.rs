//! Inserts into a filter that grows: by one thread, each one timed, and by two threads.

use guira::{
    Filter,
    kind::{Growing, Set},
};
use guira_harness::{Cores, Keys};

use super::{Case, KEYS, built, growing};
use crate::{
    bench::Bench,
    span::Place,
    stop,
    threads::together,
    timing::{Beside, Clock, median},
    workload::{insert_batch, insert_single},
};

/// Inserts of one figure in a round, at least: of small tables, the median of many fills counts.
const INSERTS: u64 = 1 << 21;

/// Share of the slots up to which the filter that does not grow is filled, in per cent.
const FILLED: u64 = 90;

/// Names of the figures.
pub const SINGLE: &str = "insert, single";
pub const BATCH: &str = "insert, batch";

/// Inserts keys at a range of indices.
type Insert<G> = fn(&Filter<Set, G>, Keys, std::ops::Range<u64>) -> Clock;

impl Case {
    /// Fills filters from empty, once or, if that takes little time, several times.
    pub(super) fn measure_inserts(&mut self, bench: &Bench, say: impl Fn(&str)) {
        let (span, target) = (self.span, self.target);
        let fills = bench.mode.pick(1, INSERTS, INSERTS).div_ceil(span.to);
        let kinds: [(&str, Insert<_>, Insert<_>); 2] =
            [(SINGLE, insert_single, insert_single), (BATCH, insert_batch, insert_batch)];
        for (name, insert_growing, insert_built) in kinds {
            say(name);
            let (mut times, mut of_two) = ([Vec::new(), Vec::new()], Vec::new());
            for _ in 0..fills {
                let fixed = built(span.to, target);
                let filled = fixed.slots() as u64 * FILLED / 100;
                times[1].push(insert_built(&fixed, KEYS, 0..filled).per_key());
                drop(fixed);
                let grown = growing(span, target);
                times[0].push(insert_growing(&grown, KEYS, 0..span.to).per_key());
                drop(grown);
                if span.place() != Place::L2 {
                    let grown = growing(span, target);
                    let time = by_two_threads(&bench.cores, &grown, span.to, insert_growing);
                    // The threads do not unwind, so the time of a stopped run would count.
                    stop::point();
                    of_two.push(time);
                }
            }
            let [one, fixed] = times.map(median);
            self.note(name, [one, fixed]);
            if !of_two.is_empty() {
                self.threads.note(name, Beside { nanoseconds: one, floor: median(of_two) });
            }
        }
        if span.place() != Place::L2 {
            say("insert, single, each one timed");
            self.latencies.measure(&growing(span, target), span.to);
        }
    }
}

/// Inserts half of the keys by each of two pinned threads. Returns nanoseconds per key of both
/// together.
fn by_two_threads(
    cores: &Cores,
    filter: &Filter<Set, Growing>,
    items: u64,
    insert: Insert<Growing>,
) -> f64 {
    let nanoseconds = together(cores, 2, |thread, start| {
        start.wait();
        let thread = thread as u64;
        let keys = items * thread / 2..items * (thread + 1) / 2;
        let count = (keys.end - keys.start) as f64;
        insert(filter, KEYS, keys).per_key() * count
    });
    nanoseconds.into_iter().fold(0.0, f64::max) / items as f64
}
