//! What a filter promises, as a multiset, and whether a history of calls keeps the promise.
//!
//! Items are seen through *classes*: a fingerprint with an unordered pair of buckets. Aliases are of
//! one class, so that the multiset is exact: in terms of classes a filter has no false positives.

use std::fmt::Write;

use guira::InsertError;
use todc_utils::{Action as Moment, History, Specification, WGLChecker};

/// Classes that a history speaks of.
pub const CLASSES: usize = 5;

/// How many copies of each class there are.
pub type Counts = [u8; CLASSES];

/// A class, and what the specification has to know of it.
#[derive(Clone, Copy, Debug)]
pub struct Class {
    /// Its place among the classes.
    pub index: usize,
    /// Copies that fill both of its buckets.
    pub most: u8,
    /// Lanes of a bucket.
    pub lanes: u8,
    /// For each of its buckets: which classes may stand there.
    pub beside: [[bool; CLASSES]; 2],
}

impl Class {
    /// Whether one of the two buckets can be full, by the number of copies that may stand there.
    fn can_be_crowded(&self, counts: Counts) -> bool {
        self.beside.iter().any(|beside| {
            let copies = |(&here, count)| if here { count } else { 0 };
            beside.iter().zip(counts).map(copies).sum::<u8>() >= self.lanes
        })
    }
}

/// What a thread does to a class.
#[derive(Clone, Copy, Debug)]
pub enum Action {
    Contains,
    Count,
    Insert,
    InsertUnique,
    Remove,
}

/// What a call did and returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Contains(bool),
    Count(usize),
    Insert(Result<(), InsertError>),
    InsertUnique(Result<bool, InsertError>),
    Remove(bool),
}

/// A step from one multiset to another.
#[derive(Clone, Copy, Debug)]
pub enum Operation {
    /// Before any thread started the table was filled with these.
    Filled(Counts),
    /// A call returned.
    Called(Class, Answer),
}

/// The filter as a multiset of classes.
///
/// In one place it is weaker than the filter: `Full` depends on which of its two buckets every item
/// stands in, and on a search that reads one bucket after another. Required is only that the multiset
/// is unchanged, and that enough copies are there to fill one of the two buckets. That bound holds
/// at the moment at which that bucket was read and seen full. (Both full at once, it need not be: room
/// may come up in one and go in the other meanwhile.)
pub struct Multiset;

impl Specification for Multiset {
    type State = Counts;
    type Operation = Operation;

    fn init() -> Counts {
        [0; CLASSES]
    }

    fn apply(operation: &Operation, counts: &Counts) -> (bool, Counts) {
        let (class, answer) = match operation {
            Operation::Filled(filled) => return (*counts == Self::init(), *filled),
            Operation::Called(class, answer) => (class, *answer),
        };
        let count = counts[class.index];
        let (right, count_after) = match answer {
            Answer::Contains(present) => (present == (count > 0), count),
            Answer::Count(copies) => (copies == usize::from(count), count),
            Answer::Insert(Ok(())) => (count < class.most, count + 1),
            Answer::Insert(Err(InsertError::TooManyCopies)) => (count == class.most, count),
            Answer::Insert(Err(_)) => (class.can_be_crowded(*counts), count),
            Answer::InsertUnique(Ok(true)) => (count == 0, 1),
            Answer::InsertUnique(Ok(false)) => (count > 0, count),
            Answer::InsertUnique(Err(InsertError::Full)) => {
                (count == 0 && class.can_be_crowded(*counts), count)
            }
            Answer::InsertUnique(Err(_)) => (false, count),
            Answer::Remove(true) => (count > 0, count.wrapping_sub(1)),
            Answer::Remove(false) => (count == 0, count),
        };
        let mut after = *counts;
        if right {
            after[class.index] = count_after;
        }
        (right, after)
    }
}

/// A call: who made it, between which two moments, and what came of it.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    pub thread: usize,
    pub start: usize,
    pub end: usize,
    pub class: Class,
    pub answer: Answer,
}

impl Event {
    /// Whether neither call had ended when the other started.
    pub fn overlaps(&self, other: &Event) -> bool {
        self.start < other.end && other.start < self.end
    }
}

/// Whether the calls, made on a table filled so, can be put in an order that explains them all and
/// keeps one call that ended before another started before it.
pub fn is_linearizable(filled: Counts, events: &[Event]) -> bool {
    let mut moments = Vec::with_capacity(2 * events.len());
    for event in events {
        let operation = Operation::Called(event.class, event.answer);
        moments.push((event.start, event.thread, Moment::Call(operation)));
        moments.push((event.end, event.thread, Moment::Response(operation)));
    }
    moments.sort_unstable_by_key(|&(moment, ..)| moment);
    let filled = Operation::Filled(filled);
    let mut actions = vec![(0, Moment::Call(filled)), (0, Moment::Response(filled))];
    actions.extend(moments.into_iter().map(|(_, thread, action)| (thread + 1, action)));
    WGLChecker::<Multiset>::is_linearizable(History::from_actions(actions))
}

/// A history to be read by people: one line for each call, in the order of their starts.
pub fn show(filled: Counts, events: &[Event]) -> String {
    let mut events = events.to_vec();
    events.sort_unstable_by_key(|event| event.start);
    let mut text = format!("filled with {filled:?} of the classes\n");
    for Event { thread, start, end, class, answer } in events {
        let _ = writeln!(
            text,
            "{start:>6} ..{end:>6}  thread {thread}  class {} {answer:?}",
            class.index
        );
    }
    text
}
