//! Lookups and inserts in a filter that grows, against one that was built for its items; inserts by
//! two threads; and the time of each insert.

use std::ops::Range;

use guira::{
    Filter, Hashed,
    kind::{Growing, Growth, Set},
};
use guira_harness::{Cores, Keys, Pick};

use super::curve::{KEYS, built, growing};
use crate::{
    bench::Bench,
    latency::{P999, P9999, time_each},
    options::Mode,
    rounds::Rounds,
    span::{Place, Span},
    stop,
    threads::together,
    timing::{Clock, insert_batch, insert_single, lookup_batch, lookup_single, median},
};

/// Keys of one pass: few enough to stay in an L2 cache beside the table.
const KEYS_PER_PASS: usize = 1 << 16;

/// Inserts of one figure in a round, at least: of small tables, the median of many fills counts.
const INSERTS: u64 = 1 << 21;

/// Share of the slots up to which the filter that does not grow is filled, in per cent.
const FILLED: u64 = 90;

/// Names of the figures of inserts.
pub const SINGLE: &str = "insert, single";
pub const BATCH: &str = "insert, batch";

/// Nanoseconds of the operations of all growths.
#[derive(Default)]
pub struct Times {
    /// By one thread, beside those in the filter that was built for the items.
    pub alone: Rounds,
    /// Million inserts per second by two threads together, beside those by one.
    pub together: Rounds,
    /// Microseconds of one insert, by percentile.
    pub percentiles: Rounds,
    /// The same and more of each round, under the heads of [`LATENCY`](crate::latency::LATENCY).
    pub latencies: Vec<Vec<String>>,
}

/// Inserts keys at a range of indices.
type Insert<G> = fn(&Filter<Set, G>, Keys, Range<u64>) -> Clock;

impl Times {
    /// Measures lookups in both filters in turns, with the same keys in the same
    /// order. `name` is the growth.
    pub fn lookups(&mut self, mode: Mode, name: &str, span: Span, target: f64) {
        let (rounds, passes) = mode.pick((1, 3), (5, 15), (5, 15));
        let (grown, fixed) = (growing(span, target), built(span.to, target));
        insert_batch(&grown, KEYS, 0..span.to);
        insert_batch(&fixed, KEYS, 0..span.to);
        let mut note = |what: &str, [grown, fixed]: [f64; 2]| {
            self.alone.note(format!("{name}: {what}"), grown, fixed);
        };
        let mut seed = 0;
        for round in 0..rounds {
            for (how, batches) in [("single", false), ("batch", true)] {
                for (present, kind) in [(0, "absent"), (100, "present")] {
                    let pick = Pick { present, inserted: (0, span.to) };
                    let mut times = [Vec::new(), Vec::new()];
                    for _ in 0..passes {
                        seed += 2;
                        // The first ones bring the table back into the caches that hold it.
                        let keys =
                            [seed, seed + 1].map(|seed| KEYS.pick(KEYS_PER_PASS, pick, seed));
                        for side in [round % 2, 1 - round % 2] {
                            let clock = match side {
                                0 => look_up(&grown, batches, &keys, present),
                                _ => look_up(&fixed, batches, &keys, present),
                            };
                            times[side].push(clock.per_key());
                        }
                    }
                    note(&format!("lookup, {how}, {kind}"), times.map(median));
                }
            }
        }
    }

    /// Fills filters from empty, once or, if that takes little time, several times.
    pub fn inserts(&mut self, bench: &Bench, name: &str, span: Span, target: f64) {
        let fills = bench.mode.pick(1, INSERTS, INSERTS).div_ceil(span.to);
        let kinds: [(&str, Insert<_>, Insert<_>); 2] =
            [(SINGLE, insert_single, insert_single), (BATCH, insert_batch, insert_batch)];
        for (what, insert_growing, insert_built) in kinds {
            bench.say(format!("growth, {name}: {what}"));
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
            let name = format!("{name}: {what}");
            self.alone.note(&name, one, fixed);
            if !of_two.is_empty() {
                self.together.note(&name, 1e3 / median(of_two), 1e3 / one);
            }
        }
        if span.place() != Place::L2 {
            bench.say(format!("growth, {name}: insert, single, each one timed"));
            let filter = growing(span, target);
            let insert = |key: &Hashed| filter.insert(key).expect("room");
            let ([p999, p9999], cells) = time_each(&filter, (KEYS, span.to), None, insert);
            self.percentiles.note(format!("{name}: {P999}"), p999, f64::NAN);
            self.percentiles.note(format!("{name}: {P9999}"), p9999, f64::NAN);
            self.latencies.push([vec![name.into()], cells].concat());
        }
    }
}

/// Looks up two sequences of keys, and times the second one.
fn look_up<G: Growth>(
    filter: &Filter<Set, G>,
    batches: bool,
    [first, timed]: &[Vec<u64>; 2],
    present: u32,
) -> Clock {
    let look_up = if batches { lookup_batch } else { lookup_single };
    look_up(filter, first);
    let (clock, found) = look_up(filter, timed);
    assert!(present == 0 || found == timed.len(), "every present key is found");
    clock
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
