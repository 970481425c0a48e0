//! Lookups and removals in a filter that has grown, against one that was built for its items.

use guira::{
    Filter,
    kind::{Growth, Set},
};
use guira_harness::Pick;

use super::{Case, KEYS, built, growing};
use crate::{
    options::Mode,
    timing::{Beside, Clock, STEP, median},
    workload::{
        insert_batch, lookup_batch, lookup_burst, lookup_single, remove_batch, remove_single,
    },
};

/// Keys of one pass: few enough to stay in an L2 cache beside the table.
const KEYS_PER_PASS: usize = 1 << 16;

/// How keys are looked up, with the names of the figures of absent and of present keys.
const KINDS: [(How, [&str; 2]); 3] = [
    (How::Single, ["lookup, single, absent", "lookup, single, present"]),
    (How::Batch, ["lookup, batch, absent", "lookup, batch, present"]),
    (How::Burst, ["lookup, burst of 32, absent", "lookup, burst of 32, present"]),
];

#[derive(Clone, Copy, Debug)]
enum How {
    Single,
    Batch,
    Burst,
}

impl Case {
    /// Measures both filters in turns, with the same keys in the same order.
    pub(super) fn measure_lookups(&mut self, mode: Mode, say: impl Fn(&str)) {
        say("lookups and removals");
        let (rounds, passes) = mode.pick((1, 3), (5, 15), (5, 15));
        let (grown, fixed) = (growing(self.span, self.target), built(self.span.to, self.target));
        insert_batch(&grown, KEYS, 0..self.span.to);
        insert_batch(&fixed, KEYS, 0..self.span.to);
        let mut seed = 0;
        for round in 0..rounds {
            for (how, names) in KINDS {
                for (present, name) in [0, 100].into_iter().zip(names) {
                    let pick = Pick { present, inserted: (0, self.span.to) };
                    let mut times = [Vec::new(), Vec::new()];
                    for _ in 0..passes {
                        seed += 2;
                        // The first ones bring the table back into the caches that hold it.
                        let [first, timed] =
                            [seed, seed + 1].map(|seed| KEYS.pick(KEYS_PER_PASS, pick, seed));
                        for side in [round % 2, 1 - round % 2] {
                            let clock = match side {
                                0 => look_up(&grown, how, &first, &timed, present),
                                _ => look_up(&fixed, how, &first, &timed, present),
                            };
                            times[side].push(clock.per_key());
                        }
                    }
                    self.note(name, times.map(median));
                }
            }
        }
        let timed = (self.span.to / 20).min(STEP);
        for _ in 0..rounds {
            let (first, second) = (0..timed, timed..2 * timed);
            let single = [
                remove_single(&grown, KEYS, first.clone()),
                remove_single(&fixed, KEYS, first.clone()),
            ];
            let batch = [
                remove_batch(&grown, KEYS, second.clone()),
                remove_batch(&fixed, KEYS, second.clone()),
            ];
            self.note("remove, single", single.map(|clock| clock.per_key()));
            self.note("remove, batch", batch.map(|clock| clock.per_key()));
            insert_batch(&grown, KEYS, first.start..second.end);
            insert_batch(&fixed, KEYS, first.start..second.end);
        }
    }

    /// Notes the times of the filter that has grown and of the one that was built.
    pub(super) fn note(&mut self, name: &str, [nanoseconds, floor]: [f64; 2]) {
        self.rounds.note(name, Beside { nanoseconds, floor });
    }
}

/// Looks up keys twice, and times the second ones.
fn look_up<G: Growth>(
    filter: &Filter<Set, G>,
    how: How,
    first: &[u64],
    timed: &[u64],
    present: u32,
) -> Clock {
    let look_up = match how {
        How::Single => lookup_single,
        How::Batch => lookup_batch,
        How::Burst => lookup_burst,
    };
    look_up(filter, first);
    let (clock, found) = look_up(filter, timed);
    assert!(present == 0 || found == timed.len(), "every present key is found");
    clock
}
