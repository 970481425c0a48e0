//! The specification of one key: a multiset of tags. The tag is `None` if it is not known.
//!
//! Where items expire, the tag is the generation, and is always known. An advance is not one moment
//! to all calls, so each call decides by a generation of its own, which must be one that was the
//! present one between its start and its end. Nothing is ever swept: what has expired cannot be
//! seen.

use std::{collections::BTreeSet, fmt::Debug, hash::Hash, marker::PhantomData};

use todc_utils::Specification;

use crate::history;

/// What distinguishes the copies of a key.
pub trait Tag: Copy + Debug + Ord + Hash {
    /// The generation that it is, where items expire.
    fn generation(self) -> Option<u64> {
        None
    }

    /// The tag that is this generation, where items expire.
    fn of(_generation: u64) -> Option<Self> {
        None
    }
}

/// Of a set.
impl Tag for () {}

/// Of a map: the value.
impl Tag for u16 {}

impl Tag for u64 {
    fn generation(self) -> Option<u64> {
        Some(self)
    }

    fn of(generation: u64) -> Option<u64> {
        Some(generation)
    }
}

/// What a call did to a key, or found of it.
#[derive(Clone, Copy, Debug)]
pub enum Op<T> {
    Contains(bool),
    /// The number of copies, in the filter or in a copy of it.
    Count(usize),
    /// With the age of the item, in generations.
    Add(Option<T>, u64),
    /// Of an absent key.
    AddUnique(Option<T>, u64),
    /// A copy was found in place of being added, with its tag if that was told.
    Found(Option<T>),
    Remove(T, bool),
    Retag(T, T),
    /// Whether there is a copy with this tag.
    Has(T, bool),
    Refresh(bool),
    Clear,
}

/// A step of a call, and the generations by which it can have decided: the first and the last.
#[derive(Clone, Copy, Debug)]
pub struct Event<T> {
    pub thread: usize,
    pub start: usize,
    pub end: usize,
    pub now: (u64, u64),
    pub op: Op<T>,
}

/// What filters differ in.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Largest age of an item that is found.
    pub window: u64,
    /// Slots of one item can know different parts of it. Then a refresh may refresh all copies in
    /// place of the oldest one, and a removal may refuse to take a copy beside a newer one.
    pub grows: bool,
}

/// The contents that there can be: more than one, if it is not known which copy a call took.
type States<T> = BTreeSet<Vec<Option<T>>>;

#[derive(Clone, Debug)]
enum Operation<T> {
    Filled(Vec<T>),
    Called(Op<T>, (u64, u64), Rules),
}

struct Multiset<T>(PhantomData<T>);

impl<T: Tag> Specification for Multiset<T> {
    type State = States<T>;
    type Operation = Operation<T>;

    fn init() -> States<T> {
        States::from([Vec::new()])
    }

    fn apply(operation: &Operation<T>, states: &States<T>) -> (bool, States<T>) {
        let after: States<T> = match operation {
            Operation::Filled(tags) => [tags.iter().copied().map(Some).collect()].into(),
            Operation::Called(op, (first, last), rules) => (*first..=*last)
                .flat_map(|now| states.iter().flat_map(move |tags| step(tags, *op, now, *rules)))
                .collect(),
        };
        (!after.is_empty(), after)
    }
}

/// The contents that there can be after a step that decides by the generation `now`: none, if it is
/// not possible.
fn step<T: Tag>(tags: &[Option<T>], op: Op<T>, now: u64, rules: Rules) -> Vec<Vec<Option<T>>> {
    let is_visible = |tag: &Option<T>| {
        let generation = tag.and_then(T::generation);
        generation.is_none_or(|generation| now.saturating_sub(generation) <= rules.window)
    };
    let (mut after, mut all_refreshed) = (tags.to_vec(), None);
    let place = |tag: T| tags.iter().position(|other| *other == Some(tag) && is_visible(other));
    let may_have = |tag: T| {
        tags.iter().any(|other| other.is_none_or(|other| other == tag) && is_visible(other))
    };
    let copies = tags.iter().filter(|tag| is_visible(tag)).count();
    let mut add = |tag: Option<T>, age: u64| {
        let of_now = T::of(now - age);
        after.push(tag.or(of_now));
        tag.is_none() || of_now.is_none() || tag == of_now
    };
    let is_right = match op {
        Op::Contains(found) => found == (copies > 0),
        Op::Count(counted) => counted == copies,
        Op::Add(tag, age) => add(tag, age),
        Op::AddUnique(tag, age) => add(tag, age) && copies == 0,
        Op::Found(found) => found.map_or(copies > 0, may_have),
        Op::Remove(tag, removed) => {
            let is_newer = |other: &Option<T>| *other > Some(tag) && is_visible(other);
            let may_spare = rules.grows && tag.generation().is_some() && tags.iter().any(is_newer);
            if removed || !may_spare {
                place(tag).map(|place| after.remove(place));
                place(tag).is_some() == removed
            } else {
                true
            }
        }
        Op::Retag(old, new) => {
            let place = place(old);
            if let Some(place) = place {
                after[place] = Some(new);
            }
            place.is_some()
        }
        Op::Has(tag, found) => {
            if found {
                may_have(tag)
            } else {
                place(tag).is_none()
            }
        }
        Op::Refresh(found) => {
            let refreshed = |tag: &Option<T>| if is_visible(tag) { T::of(now) } else { *tag };
            all_refreshed = rules.grows.then(|| tags.iter().map(refreshed).collect::<Vec<_>>());
            // They are sorted.
            if let Some(oldest) = tags.iter().position(is_visible) {
                after[oldest] = T::of(now);
            }
            found == (copies > 0)
        }
        Op::Clear => {
            after.clear();
            true
        }
    };
    if !is_right {
        return vec![];
    }
    let mut all: Vec<_> = all_refreshed.into_iter().chain([after]).collect();
    for tags in &mut all {
        tags.sort_unstable();
    }
    all
}

/// Whether these steps, on a key with these tags, have an order.
pub fn is_linearizable<T: Tag>(filled: &[T], events: &[Event<T>], rules: Rules) -> bool {
    let threads = 1 + events.iter().map(|event| event.thread).max().unwrap_or(0);
    // Steps of one call overlap, so each is that of a thread of its own.
    let calls = events.iter().enumerate().map(|(nth, event)| {
        let Event { thread, start, end, now, op } = *event;
        (start, end, thread + nth * threads, Operation::Called(op, now, rules))
    });
    history::is_linearizable::<Multiset<T>>(Operation::Filled(filled.to_vec()), calls)
}
