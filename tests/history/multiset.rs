//! The specification of a filter or a map as a multiset.
//!
//! Items are considered by *class*: a fingerprint with an unordered pair of buckets. Aliases have
//! the same class, so the multiset is exact: in terms of classes a filter has no false positives.
//! In a map, the value belongs to the class.

use std::fmt;

use guira::InsertError;
use todc_utils::Specification;

use super::Event as AnyEvent;

/// A call on a filter.
pub type Event = AnyEvent<Class, Answer>;

/// The number of classes in a history.
pub const CLASSES: usize = 5;

/// How many copies of each class there are.
pub type Counts = [u8; CLASSES];

/// A class, and what the specification has to know about it.
#[derive(Clone, Copy)]
pub struct Class {
    /// Its place among the classes.
    pub index: usize,
    /// Copies that fill both of its buckets. `None`: the filter grows, and the limit on copies is
    /// another one.
    pub most: Option<u8>,
    pub slots_per_bucket: u8,
    /// For each of its buckets: the classes that may be there.
    pub beside: [[bool; CLASSES]; 2],
    /// The classes whose copies may be taken for copies of this one: `same`, and in a filter that
    /// grows those that slots which know little do not distinguish from it.
    pub aliases: [bool; CLASSES],
    /// The classes whose copies lookups and counts of this one always regard: itself, and in a map
    /// those of the same key with other values.
    pub same: [bool; CLASSES],
    /// Whether there can be slots that belong to no item any more. Lookups may find them, and they
    /// take room.
    pub ghosts: bool,
}

impl fmt::Debug for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "class {}", self.index)
    }
}

impl Class {
    /// The fewest and the most copies that a lookup or a count of this class finds.
    pub fn copies_found(&self, counts: Counts) -> (u8, u8) {
        let sum = |classes: [bool; CLASSES]| {
            let copies = |(is_one, count)| if is_one { count } else { 0 };
            classes.into_iter().zip(counts).map(copies).sum()
        };
        (sum(self.same), sum(self.aliases))
    }

    /// The first class of the same key from this one on.
    pub fn same_from(&self, from: usize) -> usize {
        let mut classes = (from..from + CLASSES).map(|class| class % CLASSES);
        classes.find(|&class| self.same[class]).expect("a class has its own key")
    }

    /// Whether one of the two buckets can be full, by the number of copies that may be there.
    fn can_be_full(&self, counts: Counts) -> bool {
        self.ghosts
            || self.beside.iter().any(|beside| {
                let copies = |(&here, count)| if here { count } else { 0 };
                beside.iter().zip(counts).map(copies).sum::<u8>() >= self.slots_per_bucket
            })
    }
}

/// An operation on a class.
#[derive(Clone, Copy, Debug)]
pub enum Action {
    Contains,
    Count,
    Insert,
    InsertUnique,
    Remove,
    // Only in maps.
    Get,
    Values,
    ContainsValue,
    /// By the value of the first class of the same pair from this one on.
    Replace(usize),
}

/// The operation of a call, and what it returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Contains(bool),
    Count(usize),
    Insert(Result<(), InsertError>),
    InsertUnique(Result<bool, InsertError>),
    Remove(bool),
    /// The class with the value that was found.
    Get(Option<usize>),
    /// The class with the value that was found, unless a copy was added.
    GetOrInsert(Result<Option<usize>, InsertError>),
    /// The classes with the values that were found.
    Values([bool; CLASSES]),
    /// Whether there is a copy of this class.
    Holds(usize, bool),
    /// The class that a copy now has, and whether it was replaced.
    Replace(usize, bool),
}

/// A step from one multiset to another.
#[derive(Clone, Copy, Debug)]
pub enum Operation {
    /// Before any thread started, the filter was filled with these.
    Filled(Counts),
    /// A call returned.
    Called(Class, Answer),
}

/// The filter as a multiset of classes.
///
/// In a filter that grows, a copy can match another class too, of which its slot does not know
/// enough. So a hit requires a copy of the class or of such an alias, and a miss that there is no
/// copy of the class.
///
/// In a table that splits its buckets, slots of which too little is known can leave copies that
/// belong to no item. Such a filter may find anything; it must not miss an item.
///
/// In one other place it is weaker than the filter: `Full` depends on the bucket that holds each
/// item, and on a search that reads one bucket after another. So it requires only that the multiset
/// is unchanged, and that enough copies are present to fill one of the two buckets. That is true at
/// the moment at which this bucket was read. (The buckets need not be full at the same moment.)
///
/// `values` is no step of its own. What it says of each value takes effect at some moment of the
/// call, but not all at the same one: see `table/values.rs`.
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
        let (least, most) = class.copies_found(*counts);
        let (right, count_after) = match answer {
            Answer::Contains(present) => {
                (if present { most > 0 || class.ghosts } else { least == 0 }, count)
            }
            Answer::Count(copies) => {
                let most = if class.ghosts { usize::MAX } else { most.into() };
                ((usize::from(least)..=most).contains(&copies), count)
            }
            Answer::Insert(Ok(())) => (class.most.is_none_or(|limit| most < limit), count + 1),
            Answer::Insert(Err(InsertError::TooManyCopies)) => {
                (class.most.is_none_or(|limit| most == limit), count)
            }
            Answer::Insert(Err(_)) => (class.can_be_full(*counts), count),
            Answer::InsertUnique(Ok(true)) | Answer::GetOrInsert(Ok(None)) => (least == 0, 1),
            Answer::InsertUnique(Ok(false)) => (most > 0 || class.ghosts, count),
            Answer::InsertUnique(Err(InsertError::Full | InsertError::MaxCapacity))
            | Answer::GetOrInsert(Err(InsertError::Full | InsertError::MaxCapacity)) => {
                (least == 0 && class.can_be_full(*counts), count)
            }
            Answer::InsertUnique(Err(_)) | Answer::GetOrInsert(Err(_)) => (false, count),
            Answer::Remove(true) | Answer::Replace(_, true) => (count > 0, count.wrapping_sub(1)),
            Answer::Remove(false) | Answer::Replace(_, false) => (count == 0, count),
            Answer::Get(None) => (least == 0, count),
            Answer::Get(Some(found)) | Answer::GetOrInsert(Ok(Some(found))) => {
                (class.ghosts || class.aliases[found] && counts[found] > 0, count)
            }
            Answer::Holds(found, present) => {
                ((counts[found] > 0) == present || class.ghosts && present, count)
            }
            Answer::Values(_) => unreachable!("taken apart by `steps`"),
        };
        let mut after = *counts;
        if right {
            after[class.index] = count_after;
            if let Answer::Replace(new, true) = answer {
                after[new] += 1;
            }
        }
        (right, after)
    }
}

/// The steps of a call: one, or for `values` one for each value.
fn steps(event: &Event) -> Vec<Answer> {
    let Answer::Values(found) = event.answer else { return vec![event.answer] };
    if found == [false; CLASSES] {
        // There was no copy, whatever its value, at one moment.
        return vec![Answer::Get(None)];
    }
    // A value of an alias may be among them.
    let told = (0..CLASSES).filter(|&class| found[class] || event.class.same[class]);
    told.map(|class| Answer::Holds(class, found[class])).collect()
}

/// Whether the calls, made on a filter with this filling, have an order.
pub fn is_linearizable(filled: Counts, events: &[Event]) -> bool {
    let threads = 1 + events.iter().map(|event| event.thread).max().unwrap_or(0);
    let calls = events.iter().flat_map(|event| {
        // Steps of one call overlap, so they are those of different threads.
        let steps = (event.thread..).step_by(threads).zip(steps(event));
        steps.map(|(thread, answer)| {
            (event.start, event.end, thread, Operation::Called(event.class, answer))
        })
    });
    super::is_linearizable::<Multiset>(Operation::Filled(filled), calls)
}
