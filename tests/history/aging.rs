//! Programs on tiny tables whose slots expire, and a check of whether their histories conform to
//! [`ages`].

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::SeqCst},
};

use guira::raw::{Clock as _, Table};
use rand::{RngExt, rngs::SmallRng};

use super::{
    Event as AnyEvent, Scene, Sights,
    ages::{Ages, Operation, START, Slot, Slots, WINDOW},
    lasting::{FIRST, Lasting, STAMP_BITS},
    show, variable,
};
use crate::common::rng;

/// A call on a table.
pub type Event = AnyEvent<usize, Answer>;

/// The number of classes: the items of a class are aliases.
pub const CLASSES: usize = 3;
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
    /// Of the next bucket, in a table that grows.
    Split,
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
    /// Whether a bucket was left to split.
    Split(bool),
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

impl Program {
    fn numbered(number: u64, threads: usize, grows: bool) -> Self {
        let mut rng = rng(number);
        let slot =
            |rng: &mut SmallRng| (rng.random_range(0..CLASSES), rng.random_range(FIRST..=START));
        let filling = (0..rng.random_range(1..=4)).map(|_| slot(&mut rng)).collect();
        let hot = rng.random_range(0..CLASSES);
        let themed = rng.random_bool(0.7);
        let mut advances = 0;
        let mut step = |rng: &mut SmallRng, thread: usize| {
            let class = if rng.random_bool(0.7) { hot } else { rng.random_range(0..CLASSES) };
            let end = if grows { 17 } else { 14 };
            let kinds = match thread {
                0 if themed => 0..4,
                1 if themed => 8..end,
                _ => 0..end,
            };
            let action = match rng.random_range(kinds) {
                0..3 => Action::IsVisible,
                3 => Action::Count,
                4..6 => Action::Insert(rng.random_range(0..=WINDOW)),
                6..8 => Action::InsertUnseen,
                8..10 => Action::Refresh,
                10 => Action::Remove,
                11 => Action::Sweep,
                12..14 => Action::Advance,
                _ => Action::Split,
            };
            let is_advance = action == Action::Advance;
            let action =
                if is_advance && advances == MAX_ADVANCES { Action::Sweep } else { action };
            advances += usize::from(is_advance && action == Action::Advance);
            Step { action, class }
        };
        let threads = (0..threads)
            .map(|thread| (0..rng.random_range(2..=4)).map(|_| step(&mut rng, thread)).collect())
            .collect();
        Self { number, filling, threads }
    }
}

/// A program with its table, filled and ready.
pub struct Aging<T: Lasting> {
    program: Arc<Program>,
    table: Table<T>,
    items: [T::Item; CLASSES],
    filled: Slots,
    /// How often buckets were split to fill it.
    splits: u64,
    /// Orders starts and ends of calls.
    clock: AtomicUsize,
}

impl<T: Lasting> Scene for Aging<T>
where
    T::Item: Send + Sync,
{
    type Program = Program;
    type Event = Event;

    fn program(number: u64, threads: usize) -> Program {
        Program::numbered(number, threads, T::GROWS)
    }

    fn new(program: &Arc<Program>) -> Self {
        let (table, items) = T::make(program.number);
        let mut filled = Vec::new();
        for now in FIRST..=START {
            for &(class, generation) in program.filling.iter().filter(|slot| slot.1 == now) {
                let stamp = (generation % (1 << STAMP_BITS)) as u16;
                if table.insert::<T::Layout>(T::with_value(items[class], stamp)).is_ok() {
                    filled.push((class, generation));
                }
            }
            assert!(now == START || table.advance::<T::Layout>() == now + 1);
        }
        filled.sort_unstable();
        let (program, clock) = (Arc::clone(program), AtomicUsize::new(0));
        let splits = T::splits(&table);
        Self { program, table, items, filled: [filled].into(), splits, clock }
    }

    fn number(&self) -> u64 {
        self.program.number
    }

    /// Performs the steps of one thread. A removal of what the thread has not inserted becomes a
    /// lookup.
    fn perform(&self, thread: usize) -> Vec<Event> {
        let mut own: Vec<Slot> = Vec::new();
        let mut events = Vec::new();
        for &Step { action, class } in &self.program.threads[thread] {
            let (table, item) = (&self.table, self.items[class]);
            let last = own.iter().rposition(|slot| slot.0 == class);
            let start = self.clock.fetch_add(1, SeqCst);
            let answer = match (action, last) {
                (Action::Remove, Some(last)) => {
                    let (_, generation) = own.remove(last);
                    Answer::Removed(generation, table.remove_of::<T::Layout>(item, generation))
                }
                (Action::IsVisible | Action::Remove, _) => {
                    Answer::IsVisible(T::is_visible(table, item))
                }
                (Action::Count, _) => Answer::Counted(table.count::<T::Layout>(item)),
                (Action::Insert(life), _) => {
                    Answer::Inserted(table.insert_for::<T::Layout>(item, life).ok())
                }
                (Action::InsertUnseen, _) => {
                    let added = table.insert_unseen::<T::Layout>(item);
                    added.map_or(Answer::Refused, Answer::InsertUnseen)
                }
                (Action::Refresh, _) => Answer::Refreshed(table.refresh::<T::Layout>(item)),
                (Action::Sweep, _) => {
                    table.sweep::<T::Layout>(1);
                    Answer::Swept
                }
                (Action::Advance, _) => Answer::Advanced(table.advance::<T::Layout>()),
                (Action::Split, _) => Answer::Split(T::split(table)),
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

    fn check(&self, events: &[Event]) -> Sights {
        let mut events = events.to_vec();
        let mut moment = self.clock.load(SeqCst);
        let mut last = |class, answer| {
            moment += 2;
            Event { thread: usize::MAX, start: moment, end: moment + 1, class, answer }
        };
        let mut sights = seen(&events);
        sights.add("grown", usize::from(T::splits(&self.table) > self.splits));
        let mut visible = 0;
        for (class, &item) in self.items.iter().enumerate() {
            let count = self.table.count::<T::Layout>(item);
            visible += count as i64;
            events.push(last(class, Answer::Counted(count)));
        }
        if !is_linearizable::<T>(&self.filled, &events) {
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
            self.table.advance::<T::Layout>();
        }
        assert_eq!(T::occupied(&self.table), 0, "a slot was never swept");
        assert_eq!(self.table.clock().visible_slots(), Some(0), "slots are miscounted");
        sights
    }

    /// There was enough to see: all kinds, under shuttle also beside an advance.
    fn assert_telling(sights: &Sights) {
        println!("{sights:?}");
        let is_enough = |name: &&str| {
            let beside = sights.times(&format!("{name} beside an advance"));
            sights.times(name) > 0 && (!cfg!(shuttle) || beside > 0)
        };
        let kinds = if T::GROWS { &KINDS[..] } else { &KINDS[..15] };
        let missing = kinds.iter().find(|name| !is_enough(name));
        assert!(!T::GROWS || variable("GUIRA_PROGRAM").is_some() || sights.times("grown") > 0);
        assert!(variable("GUIRA_PROGRAM").is_some() || missing.is_none(), "{missing:?}");
    }
}

/// The kinds of answers. The last one is seen of tables that grow.
const KINDS: [&str; 16] = [
    "hit",
    "miss",
    "none",
    "one",
    "several",
    "inserted",
    "full",
    "accepted",
    "seen",
    "refreshed",
    "not refreshed",
    "removed",
    "not removed",
    "swept",
    "advanced",
    "split",
];

/// Whether an advance of another thread overlapped a call.
fn is_beside_an_advance(event: &Event, events: &[Event]) -> bool {
    let is_advance = |other: &Event| matches!(other.answer, Answer::Advanced(_));
    let mut others = events.iter().filter(|other| other.start != event.start);
    others.any(|other| is_advance(other) && other.overlaps(event))
}

/// How often each kind of answer was seen, and how often beside an advance.
fn seen(events: &[Event]) -> Sights {
    let mut sights = Sights::default();
    for event in events {
        let kind = match event.answer {
            Answer::IsVisible(true) => 0,
            Answer::IsVisible(false) => 1,
            Answer::Counted(count) => 2 + count.min(2),
            Answer::Inserted(Some(_)) => 5,
            Answer::Inserted(None) | Answer::Refused => 6,
            Answer::InsertUnseen(Some(_)) => 7,
            Answer::InsertUnseen(None) => 8,
            Answer::Refreshed(true) => 9,
            Answer::Refreshed(false) => 10,
            Answer::Removed(_, true) => 11,
            Answer::Removed(_, false) => 12,
            Answer::Swept => 13,
            Answer::Advanced(_) => 14,
            Answer::Split(_) => 15,
        };
        sights.add(KINDS[kind], 1);
        if is_beside_an_advance(event, events) {
            sights.add(format!("{} beside an advance", KINDS[kind]), 1);
        }
    }
    sights
}

/// Whether the calls, made on a table with this filling, have an order.
pub fn is_linearizable<T: Lasting>(filled: &Slots, events: &[Event]) -> bool {
    let call = |event: &Event| {
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
        let operation = Operation::Called(event.class, range, event.answer, T::GROWS);
        (event.start, event.end, event.thread, operation)
    };
    super::is_linearizable::<Ages>(Operation::Filled(filled.clone()), events.iter().map(call))
}
