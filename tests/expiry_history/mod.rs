//! Programs on tiny tables whose slots expire, and a check of whether their histories conform to
//! [`spec`].

mod sights;
pub mod spec;

use std::{
    fmt::Write,
    sync::atomic::{AtomicUsize, Ordering::SeqCst},
};

use guira::raw::{Addressing, Aged, Clock as _, Fingerprint, Pair, Plain, Table};
use rand::{RngExt, rngs::SmallRng};
use todc_utils::{Action as Moment, History, WGLChecker};

use crate::common::rng;
use sights::{Sights, is_beside_an_advance};
use spec::{Ages, Operation, START, Slot, Slots, WINDOW};

type L = Plain<2, 16>;

/// Bits of a stamp.
const STAMP_BITS: u32 = 2;
/// The number of classes: the items of a class are aliases.
const CLASSES: usize = 3;
/// Largest number of advances in a program. With more, a slot that a suspended insert adds could be
/// visible once more.
const MAX_ADVANCES: usize = 2;

/// An operation on a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    IsVisible,
    Count,
    /// With this life.
    Insert(u32),
    InsertUnseen,
    Refresh,
    /// Of the thread's own last insert.
    Remove,
    Sweep,
    Advance,
}

/// What a call returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    IsVisible(bool),
    Counted(usize),
    /// With the generation of the stamp, or there was no room.
    Inserted(Option<u64>),
    InsertUnseen(Option<u64>),
    /// By `insert_unseen`: there was no room.
    Refused,
    Refreshed(bool),
    Removed(u64, bool),
    Swept,
    Advanced(u64),
}

/// One step of a thread's program.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    pub action: Action,
    pub class: usize,
}

/// What a table is filled with, and the steps of each thread.
#[derive(Clone, Debug)]
pub struct Program {
    pub number: u64,
    pub filling: Vec<Slot>,
    pub threads: Vec<Vec<Step>>,
}

/// A call: its thread, the moments of its start and its end, and its answer.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    pub thread: usize,
    pub start: usize,
    pub end: usize,
    pub class: usize,
    pub answer: Answer,
}

impl Program {
    /// The program with this number: always the same.
    pub fn numbered(number: u64) -> Self {
        let mut rng = rng(number);
        let slot = |rng: &mut SmallRng| {
            (rng.random_range(0..CLASSES), START - rng.random_range(0..=u64::from(WINDOW) + 1))
        };
        let filling = (0..rng.random_range(1..=4)).map(|_| slot(&mut rng)).collect();
        let hot = rng.random_range(0..CLASSES);
        let themed = rng.random_bool(0.7);
        let mut advances = 0;
        let mut step = |rng: &mut SmallRng, thread: usize| {
            let class = if rng.random_bool(0.7) { hot } else { rng.random_range(0..CLASSES) };
            let kinds = match thread {
                0 if themed => 0..4,
                1 if themed => 8..14,
                _ => 0..14,
            };
            let action = match rng.random_range(kinds) {
                0..3 => Action::IsVisible,
                3 => Action::Count,
                4..6 => Action::Insert(rng.random_range(0..=WINDOW)),
                6..8 => Action::InsertUnseen,
                8..10 => Action::Refresh,
                10 => Action::Remove,
                11 => Action::Sweep,
                _ => Action::Advance,
            };
            let is_advance = action == Action::Advance;
            let action =
                if is_advance && advances == MAX_ADVANCES { Action::Sweep } else { action };
            advances += usize::from(is_advance && action == Action::Advance);
            Step { action, class }
        };
        let threads = (0..2 + usize::from(number.is_multiple_of(3)))
            .map(|thread| (0..rng.random_range(2..=4)).map(|_| step(&mut rng, thread)).collect())
            .collect();
        Self { number, filling, threads }
    }
}

/// A program with its table, filled and ready.
struct Run<'a> {
    program: &'a Program,
    table: Table<Aged>,
    pairs: [Pair; CLASSES],
    filled: Slots,
    /// Orders starts and ends of calls.
    clock: AtomicUsize,
}

impl<'a> Run<'a> {
    fn new(program: &'a Program) -> Self {
        let addressing = Addressing::nested(2, Aged::new(STAMP_BITS, WINDOW, START));
        let table = Table::new(addressing, false).expect("a tiny table");
        // The first two classes have different stripes.
        let key = |key: u32| Fingerprint::new(key << STAMP_BITS);
        // The last class has a single bucket in half of the programs.
        let alternate = |class| u32::from(class < CLASSES - 1 || program.number.is_multiple_of(2));
        let pairs = std::array::from_fn(|class| {
            let fingerprint = (1..)
                .map(|nth| key(2 * nth + class as u32 % 2))
                .filter(|&key| addressing.alt_bucket(key, 0) == alternate(class))
                .nth(class)
                .expect("a fingerprint for these buckets");
            Pair { fingerprint, buckets: [0, alternate(class)] }
        });
        let mut filled = Vec::new();
        for &(class, generation) in &program.filling {
            let stamp = (generation % (1 << STAMP_BITS)) as u16;
            if table.insert::<L>(Pair::with_value(pairs[class], stamp)).is_ok() {
                filled.push((class, generation));
            }
        }
        filled.sort_unstable();
        Self { program, table, pairs, filled: [filled].into(), clock: AtomicUsize::new(0) }
    }

    /// Performs the steps of one thread. A removal of what the thread has not inserted becomes a
    /// lookup.
    fn perform(&self, thread: usize) -> Vec<Event> {
        let mut own: Vec<Slot> = Vec::new();
        let mut events = Vec::new();
        for &Step { action, class } in &self.program.threads[thread] {
            let (table, pair) = (&self.table, self.pairs[class]);
            let last = own.iter().rposition(|slot| slot.0 == class);
            let start = self.clock.fetch_add(1, SeqCst);
            let answer = match (action, last) {
                (Action::Remove, Some(last)) => {
                    let (_, generation) = own.remove(last);
                    Answer::Removed(generation, table.remove_of::<L>(pair, generation))
                }
                (Action::IsVisible | Action::Remove, _) => {
                    Answer::IsVisible(table.is_visible::<L>(pair))
                }
                (Action::Count, _) => Answer::Counted(table.count_visible::<L>(pair)),
                (Action::Insert(life), _) => {
                    Answer::Inserted(table.insert_for::<L>(pair, life).ok())
                }
                (Action::InsertUnseen, _) => {
                    let added = table.insert_unseen::<L>(pair);
                    added.map_or(Answer::Refused, Answer::InsertUnseen)
                }
                (Action::Refresh, _) => Answer::Refreshed(table.refresh::<L>(pair)),
                (Action::Sweep, _) => {
                    table.sweep::<L>(1);
                    Answer::Swept
                }
                (Action::Advance, _) => Answer::Advanced(table.advance::<L>()),
            };
            let end = self.clock.fetch_add(1, SeqCst);
            if let Answer::Inserted(Some(generation)) | Answer::InsertUnseen(Some(generation)) =
                answer
            {
                own.push((class, generation));
            }
            events.push(Event { thread, start, end, class, answer });
        }
        events
    }

    /// Checks the history, then the table that it left.
    fn check(&self, mut events: Vec<Event>) -> Sights {
        let mut moment = self.clock.load(SeqCst);
        let mut last = |class, answer| {
            moment += 2;
            Event { thread: usize::MAX, start: moment, end: moment + 1, class, answer }
        };
        let sights = Sights::of(&events);
        let mut visible = 0;
        for (class, &pair) in self.pairs.iter().enumerate() {
            let count = self.table.count_visible::<L>(pair);
            visible += count as i64;
            events.push(last(class, Answer::Counted(count)));
        }
        if !is_linearizable(&self.filled, &events) {
            let number = self.program.number;
            panic!(
                "not linearizable (GUIRA_PROGRAM={number} runs it alone)\n{}",
                show(&self.filled, &events)
            );
        }
        assert_eq!(self.table.clock().visible_slots(), Some(visible), "slots are miscounted");
        // A slot that was added late may have missed the first sweep.
        let is_late = |event: &Event| {
            matches!(event.answer, Answer::Inserted(_)) && is_beside_an_advance(event, &events)
        };
        let rounds = if events.iter().any(is_late) { 2 } else { 1 };
        for _ in 0..rounds << STAMP_BITS {
            self.table.advance::<L>();
        }
        let words = self.table.copy_words().expect("memory for a few words");
        assert!(words.iter().all(|&word| word == 0), "a slot was never swept");
        assert_eq!(self.table.clock().visible_slots(), Some(0), "slots are miscounted");
        sights
    }
}

/// Whether the calls, made on a table with this filling, can be put into an order that explains all
/// answers. A call that ended before another one started comes first.
pub fn is_linearizable(filled: &Slots, events: &[Event]) -> bool {
    let mut moments = Vec::new();
    for event in events {
        // What was seen before the start, and what could be seen before the end.
        let seen = events.iter().filter(|other| other.end < event.start);
        let seen = seen.filter_map(|other| match other.answer {
            Answer::Advanced(generation)
            | Answer::InsertUnseen(Some(generation))
            | Answer::Inserted(Some(generation)) => Some(generation),
            _ => None,
        });
        let begun = events
            .iter()
            .filter(|other| matches!(other.answer, Answer::Advanced(_)) && other.start < event.end);
        let range = (seen.fold(START, u64::max), START + begun.count() as u64);
        let operation = Operation::Called(event.class, range, event.answer);
        moments.push((event.start, event.thread, Moment::Call(operation.clone())));
        moments.push((event.end, event.thread, Moment::Response(operation)));
    }
    moments.sort_unstable_by_key(|&(moment, ..)| moment);
    let filled = Operation::Filled(filled.clone());
    let mut actions = vec![(0, Moment::Call(filled.clone())), (0, Moment::Response(filled))];
    let thread = |thread: usize| thread.wrapping_add(2);
    actions.extend(moments.into_iter().map(|(_, number, action)| (thread(number), action)));
    WGLChecker::<Ages>::is_linearizable(History::from_actions(actions))
}

/// Formats a history: one line for each call, in the order of their starts.
fn show(filled: &Slots, events: &[Event]) -> String {
    let mut events = events.to_vec();
    events.sort_unstable_by_key(|event| event.start);
    let mut text = format!("filled with {filled:?}\n");
    for Event { thread, start, end, class, answer } in events {
        let _ = writeln!(text, "{start:>6} ..{end:>6}  thread {thread}  class {class} {answer:?}");
    }
    text
}

/// A number from the environment.
fn variable(name: &str) -> Option<u64> {
    let value = std::env::var(name).ok()?;
    Some(value.parse().unwrap_or_else(|_| panic!("{name}={value} is not a number")))
}

#[cfg(shuttle)]
use shuttle::thread;
#[cfg(not(shuttle))]
use std::thread;

/// Runs a program once, on real threads or on threads that shuttle schedules.
pub fn run_once(program: &Program) -> Sights {
    let run = &Run::new(program);
    let gate = AtomicUsize::new(0);
    let histories: Vec<Vec<Event>> = thread::scope(|scope| {
        let part = |thread| {
            let gate = &gate;
            scope.spawn(move || {
                // So that real threads overlap.
                gate.fetch_add(1, SeqCst);
                while !cfg!(shuttle) && gate.load(SeqCst) < run.program.threads.len() {
                    thread::yield_now();
                }
                run.perform(thread)
            })
        };
        let threads: Vec<_> = (0..program.threads.len()).map(part).collect();
        threads.into_iter().map(|thread| thread.join().expect("no thread panics")).collect()
    });
    run.check(histories.concat())
}

/// Runs programs on real threads, each once.
#[cfg(not(shuttle))]
pub fn run() {
    let _watchdog =
        crate::common::Watchdog::patient("linearizability", std::time::Duration::from_secs(180));
    let mut sights = Sights::default();
    let only = variable("GUIRA_PROGRAM");
    for number in 0..variable("GUIRA_PROGRAMS").unwrap_or(5_000) {
        sights.add(run_once(&Program::numbered(only.unwrap_or(number))));
    }
    sights.assert_telling();
}

/// Runs programs under shuttle, each with several schedules.
#[cfg(shuttle)]
pub fn run() {
    use shuttle::{
        Config, Runner,
        scheduler::{PctScheduler, RandomScheduler},
    };
    use std::sync::{Arc, Mutex};

    let schedules = variable("GUIRA_SCHEDULES").unwrap_or(20) as usize;
    let sights = Arc::new(Mutex::new(Sights::default()));
    let only = variable("GUIRA_PROGRAM");
    for number in 0..variable("GUIRA_PROGRAMS").unwrap_or(5_000) {
        let number = only.unwrap_or(number);
        let program = Program::numbered(number);
        let seen = Arc::clone(&sights);
        let work = move || {
            let sights = run_once(&program);
            seen.lock().unwrap().add(sights);
        };
        // A schedule of probabilistic concurrency testing (PCT), or a random one.
        if number % 2 == 0 {
            let scheduler = RandomScheduler::new_from_seed(number, schedules);
            Runner::new(scheduler, Config::new()).run(work);
        } else {
            let scheduler = PctScheduler::new_from_seed(number, 3, schedules);
            Runner::new(scheduler, Config::new()).run(work);
        }
    }
    sights.lock().unwrap().assert_telling();
}
