//! The specification: a multiset of classes, each copy with the generation of its insert.
//!
//! Items are considered by *class*: a fingerprint with an unordered pair of buckets. Aliases have
//! the same class, so the multiset is exact: in terms of classes a filter has no false positives.
//! In a map, the value belongs to the class. Where items do not expire, there is one generation.

use std::{collections::BTreeSet, fmt};

use guira::InsertError;
use todc_utils::Specification;

use super::Event as AnyEvent;

/// A call on a filter.
pub type Event = AnyEvent<Class, Answer>;

/// The number of classes in a history.
pub const CLASSES: usize = 5;
/// The generation in which a program starts.
pub const START: u64 = 8;
/// Largest age of a visible slot.
pub const WINDOW: u32 = 1;

/// A class, and the generation in which it was inserted or refreshed.
pub type Slot = (usize, u64);
/// The contents that a filter can have, each sorted. There is more than one if it is not known by
/// which generation a refresh decided.
pub type Slots = BTreeSet<Vec<Slot>>;

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
    /// Whether slots expire.
    pub expires: bool,
}

impl fmt::Debug for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "class {}", self.index)
    }
}

impl Class {
    /// The fewest and the most copies that a lookup or a count of this class finds.
    pub fn copies_found(&self, counts: [u8; CLASSES]) -> (u8, u8) {
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

    /// Whether one of the two buckets can be full, by the number of copies that may be there. Where
    /// slots expire, that depends on those that have expired, too.
    fn can_be_full(&self, counts: [u8; CLASSES]) -> bool {
        self.ghosts
            || self.expires
            || self.beside.iter().any(|beside| {
                let copies = |(&here, count)| if here { count } else { 0 };
                beside.iter().zip(counts).map(copies).sum::<u8>() >= self.slots_per_bucket
            })
    }
}

/// An operation on a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Contains,
    Count,
    /// Where items expire, with this life.
    Insert(u32),
    InsertUnique,
    /// Of the thread's own last insert.
    Remove,
    // Only in maps.
    Get,
    Values,
    ContainsValue,
    /// By the value of the first class of the same pair from this one on.
    Replace(usize),
    // Only where items expire.
    Refresh,
    Sweep,
    Advance,
    /// Of the next bucket, in a table that grows.
    Split,
}

/// The operation of a call, and what it returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Contains(bool),
    Count(usize),
    /// With the generation of the copy.
    Insert(Result<u64, InsertError>),
    /// With the generation of the copy, if one was added.
    InsertUnique(Result<Option<u64>, InsertError>),
    Remove(u64, bool),
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
    Refresh(bool),
    Swept,
    Advanced(u64),
    /// Whether a bucket was left to split.
    Split(bool),
}

impl Answer {
    /// The generation of the copy that was added, if one was.
    pub fn added(self) -> Option<u64> {
        match self {
            Self::Insert(Ok(generation)) | Self::InsertUnique(Ok(Some(generation))) => {
                Some(generation)
            }
            Self::GetOrInsert(Ok(None)) => Some(START),
            _ => None,
        }
    }
}

/// A step from some contents to others.
#[derive(Clone, Debug)]
pub enum Operation {
    /// Before any thread started, the filter was filled with these.
    Filled(Slots),
    /// A call on a class returned, which decided by one of these generations.
    Called(Class, (u64, u64), Answer),
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
/// call, but not all at the same one: see `table/steps/values.rs`.
///
/// Nothing is ever swept, and what has expired cannot be seen. An advance is not one moment:
/// between its start and its end, one call may still take the last generation for the present one,
/// while another one already takes the next. So each call decides by a generation of its own. That
/// must be one that was the present one between the start and the end of the call.
pub struct Multiset;

impl Specification for Multiset {
    type State = Slots;
    type Operation = Operation;

    fn init() -> Slots {
        BTreeSet::from([Vec::new()])
    }

    fn apply(operation: &Operation, slots: &Slots) -> (bool, Slots) {
        let after: Slots = match operation {
            Operation::Filled(filled) => filled.clone(),
            Operation::Called(class, (first, last), answer) => (*first..=*last)
                .flat_map(|now| {
                    slots.iter().flat_map(move |slots| step(slots, class, now, *answer))
                })
                .collect(),
        };
        (!after.is_empty(), after)
    }
}

/// The contents that there can be after a call that decided by the generation `now`, if it can have
/// had this answer.
///
/// In a table that grows, slots of one item can know different parts of it. So a refresh may
/// refresh all copies in place of the oldest one, and a removal may refuse to take a copy beside a
/// newer one.
fn step(slots: &[Slot], class: &Class, now: u64, answer: Answer) -> Vec<Vec<Slot>> {
    let is_visible = |generation: u64| now.saturating_sub(generation) <= u64::from(WINDOW);
    let is_own = |slot: &Slot| slot.0 == class.index && is_visible(slot.1);
    let (mut counts, grows) = ([0; CLASSES], class.most.is_none());
    slots.iter().filter(|slot| is_visible(slot.1)).for_each(|slot| counts[slot.0] += 1);
    let (least, most) = class.copies_found(counts);
    let (mut after, mut all_refreshed) = (slots.to_vec(), None);
    after.extend(answer.added().map(|generation| (class.index, generation)));
    let is_right = match answer {
        Answer::Contains(present) => {
            if present {
                most > 0 || class.ghosts
            } else {
                least == 0
            }
        }
        Answer::Count(copies) => {
            let most = if class.ghosts { usize::MAX } else { most.into() };
            (usize::from(least)..=most).contains(&copies)
        }
        Answer::Insert(Ok(generation)) => {
            is_visible(generation) && class.most.is_none_or(|limit| most < limit || class.expires)
        }
        Answer::Insert(Err(InsertError::TooManyCopies)) => {
            class.most.is_none_or(|limit| most == limit || class.expires)
        }
        Answer::Insert(Err(_)) => class.can_be_full(counts),
        Answer::InsertUnique(Ok(Some(generation))) => generation == now && least == 0,
        Answer::GetOrInsert(Ok(None)) | Answer::Get(None) => least == 0,
        Answer::InsertUnique(Ok(None)) => most > 0 || class.ghosts,
        Answer::InsertUnique(Err(error)) | Answer::GetOrInsert(Err(error)) => {
            let is_full = matches!(error, InsertError::Full | InsertError::MaxCapacity);
            class.expires || is_full && least == 0 && class.can_be_full(counts)
        }
        Answer::Get(Some(found)) | Answer::GetOrInsert(Ok(Some(found))) => {
            class.ghosts || class.aliases[found] && counts[found] > 0
        }
        Answer::Holds(found, present) => (counts[found] > 0) == present || class.ghosts && present,
        Answer::Values(_) => unreachable!("taken apart by `steps`"),
        Answer::Remove(..) | Answer::Replace(..) => {
            let (generation, removed) = match answer {
                Answer::Remove(generation, removed) => (generation, removed),
                Answer::Replace(_, replaced) => (START, replaced),
                _ => unreachable!("it is one of these"),
            };
            let copy = (class.index, generation);
            let place = slots.iter().position(|&slot| slot == copy && is_visible(generation));
            let is_newer = |slot: &Slot| is_own(slot) && slot.1 > generation;
            if grows && !removed && slots.iter().any(is_newer) {
                return vec![after];
            }
            if let Some(place) = place {
                after.remove(place);
            }
            if let Answer::Replace(new, true) = answer {
                after.push((new, START));
            }
            place.is_some() == removed
        }
        Answer::Refresh(refreshed) => {
            // They are sorted.
            let oldest = slots.iter().position(is_own);
            let with = |slot: &Slot| if is_own(slot) { (class.index, now) } else { *slot };
            all_refreshed = (grows && refreshed && oldest.is_some())
                .then(|| slots.iter().map(with).collect::<Vec<Slot>>());
            if let Some(place) = oldest {
                after[place].1 = now;
            }
            oldest.is_some() == refreshed
        }
        Answer::Swept | Answer::Advanced(_) | Answer::Split(_) => true,
    };
    let mut all: Vec<Vec<Slot>> = is_right.then_some(after).into_iter().collect();
    all.extend(all_refreshed);
    for slots in &mut all {
        slots.sort_unstable();
    }
    all
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

/// The generations by which a call can have decided: from the latest that was seen before its start
/// to the last that could be seen before its end.
fn generations(event: &Event, events: &[Event]) -> (u64, u64) {
    let seen = events.iter().filter(|other| other.end < event.start);
    let seen = seen.filter_map(|other| match other.answer {
        Answer::Advanced(generation) => Some(generation),
        answer => answer.added(),
    });
    let begun = events
        .iter()
        .filter(|other| matches!(other.answer, Answer::Advanced(_)) && other.start < event.end);
    (seen.fold(START, u64::max), START + begun.count() as u64)
}

/// Whether the calls, made on a filter with this filling, have an order.
pub fn is_linearizable(filled: &[Slot], events: &[Event]) -> bool {
    let threads = 1 + events.iter().map(|event| event.thread).max().unwrap_or(0);
    let calls = events.iter().flat_map(|event| {
        // Steps of one call overlap, so they are those of different threads.
        let steps = (event.thread..).step_by(threads).zip(steps(event));
        let now = generations(event, events);
        steps.map(move |(thread, answer)| {
            (event.start, event.end, thread, Operation::Called(event.class, now, answer))
        })
    });
    let filled = Operation::Filled([filled.to_vec()].into());
    super::is_linearizable::<Multiset>(filled, calls)
}
