//! Random programs of a few threads on chains that grow under them, and a check that every history is linearizable,
//! as in `linearizability`: on real threads, or with `RUSTFLAGS="--cfg shuttle"` under shuttle, at random and by PCT.
//!
//! The first table has one bucket or two, full but for a few lanes, so that inserts append the second. The five items
//! are told apart by every table: what aliases may do is tested in `growing`. An insert that is refused has
//! changed nothing, and is left out.

mod common;
#[allow(dead_code, reason = "a part of it is used here")]
mod history;

use std::sync::{
    Mutex,
    atomic::{AtomicUsize, Ordering::SeqCst},
};

use common::rng;
use guira::{
    Layout,
    raw::{Chain, Nested},
};
use history::{Action, Answer, CLASSES, Class, Counts, Event, is_linearizable, show};
use rand::{RngExt, rngs::SmallRng};

/// What those do who look on, and those who work.
const LOOKS_ON: &[Action] = &[Action::Contains, Action::Contains, Action::Count];
const WORKS: &[Action] = &[
    Action::Contains,
    Action::Insert,
    Action::Insert,
    Action::InsertUnique,
    Action::Remove,
    Action::Remove,
];

/// A chain, what to fill it with, and what threads do with it: in turn, an action and an item.
struct Program {
    number: u64,
    layout: Layout,
    first_buckets: u64,
    items: [u64; CLASSES],
    filling: Vec<usize>,
    threads: Vec<Vec<(Action, usize)>>,
}

impl Program {
    /// The program with this number, for so many threads: always the same.
    fn numbered(number: u64, threads: usize) -> Self {
        let mut rng = rng(number);
        let layout = [Layout::Plain4x16, Layout::SemiSorted3x22][rng.random_range(0..2)];
        let first_buckets = rng.random_range(1..=2);
        // Fingerprints come from the low half: by its highest bits, they differ.
        let items = std::array::from_fn(|item| {
            let (high, low) = (rng.random::<u32>(), rng.random::<u32>() >> 3);
            u64::from(high) << 32 | (item as u64) << 29 | u64::from(low)
        });
        let copies = first_buckets as u32 * layout.slots_per_bucket() - rng.random_range(0..=2);
        let filling = (0..copies).map(|_| item(&mut rng)).collect();
        let step = |rng: &mut SmallRng, actions: &[Action]| {
            (actions[rng.random_range(0..actions.len())], item(rng))
        };
        let thread = |thread| {
            let actions = if thread == 0 { LOOKS_ON } else { WORKS };
            (0..rng.random_range(2..=5)).map(|_| step(&mut rng, actions)).collect()
        };
        let threads = (0..threads).map(thread).collect();
        Self { number, layout, first_buckets, items, filling, threads }
    }
}

/// An item: mostly one of two.
fn item(rng: &mut SmallRng) -> usize {
    let most = if rng.random_bool(0.7) { 2 } else { CLASSES };
    rng.random_range(0..most)
}

/// A program's chain, filled and ready.
struct Run<'a> {
    program: &'a Program,
    chain: Chain,
    filled: Counts,
    /// How many copies each thread owns at the start: nobody else removes these.
    owned: Vec<Counts>,
    segments: usize,
    clock: AtomicUsize,
}

impl<'a> Run<'a> {
    fn new(program: &'a Program) -> Self {
        let nested = |level| Nested::new(program.first_buckets, level, (16, 1 << 13), level);
        let plan = (0..3).map(|level| (program.layout, nested(level))).collect();
        let chain = Chain::new(plan, false).expect("a tiny table");
        let mut filled = [0; CLASSES];
        let mut owned = vec![[0; CLASSES]; program.threads.len() + 1];
        for (deal, &item) in program.filling.iter().enumerate() {
            if chain.insert(program.items[item]) == Ok(()) {
                filled[item] += 1;
                let owner = deal % owned.len();
                owned[owner][item] += 1;
            }
        }
        let segments = chain.layouts().len();
        Self { program, chain, filled, owned, segments, clock: AtomicUsize::new(0) }
    }

    /// What one thread does. A removal of what the thread does not own becomes a look-up.
    fn perform(&self, thread: usize) -> Vec<Event> {
        let mut owned = self.owned[thread];
        let mut events = Vec::new();
        for &(mut action, item) in &self.program.threads[thread] {
            if matches!(action, Action::Remove) && owned[item] == 0 {
                action = Action::Contains;
            }
            let (chain, hash) = (&self.chain, self.program.items[item]);
            let start = self.clock.fetch_add(1, SeqCst);
            let answer = match action {
                Action::Contains => Answer::Contains(chain.contains(hash)),
                Action::Count => Answer::Count(chain.count(hash)),
                Action::Insert => Answer::Insert(chain.insert(hash)),
                Action::InsertUnique => Answer::InsertUnique(chain.insert_unique(hash)),
                Action::Remove => Answer::Remove(chain.remove(hash)),
            };
            let end = self.clock.fetch_add(1, SeqCst);
            match answer {
                Answer::Insert(Ok(())) | Answer::InsertUnique(Ok(true)) => owned[item] += 1,
                Answer::Remove(true) => owned[item] -= 1,
                Answer::Insert(Err(_)) => continue,
                Answer::InsertUnique(Err(error)) => panic!("{error}, with two tables to come"),
                _ => {}
            }
            // There is no bound that the history could be held to.
            let class =
                Class { index: item, most: u8::MAX, lanes: 0, beside: [[true; CLASSES]; 2] };
            events.push(Event { thread, start, end, class, answer });
        }
        events
    }

    /// Checks the history, then the chain that it left. Whether it grew.
    fn check(&self, events: &[Event]) -> bool {
        let linearizable = is_linearizable(self.filled, events);
        let number = self.program.number;
        assert!(linearizable, "not linearizable: program {number}\n{}", show(self.filled, events));
        let mut counts = self.filled;
        for event in events {
            match event.answer {
                Answer::Insert(Ok(())) | Answer::InsertUnique(Ok(true)) => {
                    counts[event.class.index] += 1;
                }
                Answer::Remove(true) => counts[event.class.index] -= 1,
                _ => {}
            }
        }
        let left = self.program.items.map(|hash| self.chain.count(hash) as u8);
        assert_eq!(left, counts, "program {number}\n{}", show(self.filled, events));
        self.chain.layouts().len() > self.segments
    }
}

/// What there was to see, over all runs.
#[derive(Debug, Default)]
struct Sights {
    runs: usize,
    grown: usize,
}

impl Sights {
    fn note(seen: &Mutex<Self>, grown: bool) {
        let mut seen = seen.lock().expect("nobody panics under this lock");
        seen.runs += 1;
        seen.grown += usize::from(grown);
    }

    fn assert_telling(seen: &Mutex<Self>) {
        let seen = seen.lock().expect("nobody panics under this lock");
        println!("{seen:?}");
        assert!(seen.grown > seen.runs / 10, "chains hardly grew: {seen:?}");
    }
}

/// On real threads.
#[cfg(not(shuttle))]
#[test]
fn threads_linearize() {
    use std::{sync::Barrier, thread};

    let seen = Mutex::new(Sights::default());
    for number in 0..common::scaled(500, 10_000) {
        let program = Program::numbered(number, 2 + number as usize % 2);
        let (run, start) = (Run::new(&program), Barrier::new(program.threads.len()));
        let histories: Vec<Vec<Event>> = thread::scope(|scope| {
            let (run, start) = (&run, &start);
            let perform = |thread| {
                scope.spawn(move || {
                    start.wait();
                    run.perform(thread)
                })
            };
            let threads: Vec<_> = (0..program.threads.len()).map(perform).collect();
            threads.into_iter().map(|thread| thread.join().expect("no thread panics")).collect()
        });
        Sights::note(&seen, run.check(&histories.concat()));
    }
    Sights::assert_telling(&seen);
}

/// Under shuttle.
#[cfg(shuttle)]
mod modelled {
    use std::sync::Arc;

    use shuttle::{
        Config, Runner,
        scheduler::{PctScheduler, RandomScheduler, Scheduler},
        thread,
    };

    use super::{Event, Mutex, Program, Run, Sights};

    /// Programs, and schedules tried with each.
    const PROGRAMS: u64 = 3_000;
    const SCHEDULES: usize = 40;

    /// Runs each program under a scheduler made from a seed and a number of schedules.
    fn run<S: Scheduler + 'static>(scheduler: impl Fn(u64, usize) -> S) {
        let seen = Arc::new(Mutex::new(Sights::default()));
        for number in 0..PROGRAMS {
            let program = Program::numbered(number, 2 + usize::from(number % 3 == 0));
            let seen = Arc::clone(&seen);
            Runner::new(scheduler(number, SCHEDULES), Config::new()).run(move || {
                let run = &Run::new(&program);
                let histories: Vec<Vec<Event>> = thread::scope(|scope| {
                    let perform = |thread| scope.spawn(move || run.perform(thread));
                    let threads: Vec<_> = (0..program.threads.len()).map(perform).collect();
                    threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
                });
                Sights::note(&seen, run.check(&histories.concat()));
            });
        }
        Sights::assert_telling(&seen);
    }

    #[test]
    fn random_schedules_linearize() {
        run(RandomScheduler::new_from_seed);
    }

    #[test]
    fn pct_schedules_linearize() {
        run(|seed, schedules| PctScheduler::new_from_seed(seed, 3, schedules));
    }
}
