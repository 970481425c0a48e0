//! The specification of one key: a multiset of tags. The tag is `None` if it is not known.

use std::{collections::BTreeSet, fmt::Debug, hash::Hash, marker::PhantomData};

use todc_utils::Specification;

use crate::history;

/// What a call did to a key, or found of it.
#[derive(Clone, Copy, Debug)]
pub enum Op<T> {
    Contains(bool),
    /// The number of copies, in the filter or in a copy of it.
    Count(usize),
    Add(Option<T>),
    /// Of an absent key.
    AddUnique(Option<T>),
    /// A copy was found in place of being added, with its tag if that was told.
    Found(Option<T>),
    Remove(T, bool),
    /// The removal of an item beside a newer one that knows more may be refused.
    Spared,
    Retag(T, T),
    /// Whether there is a copy with this tag.
    Has(T, bool),
    Clear,
}

/// A step of a call.
#[derive(Clone, Copy, Debug)]
pub struct Event<T> {
    pub thread: usize,
    pub start: usize,
    pub end: usize,
    pub op: Op<T>,
}

/// The contents that there can be: more than one, if a removal took a copy of an unknown tag.
type States<T> = BTreeSet<Vec<Option<T>>>;

#[derive(Clone, Debug)]
enum Operation<T> {
    Filled(Vec<T>),
    Called(Op<T>),
}

struct Multiset<T>(PhantomData<T>);

impl<T: Copy + Debug + Ord + Hash> Specification for Multiset<T> {
    type State = States<T>;
    type Operation = Operation<T>;

    fn init() -> States<T> {
        States::from([Vec::new()])
    }

    fn apply(operation: &Operation<T>, states: &States<T>) -> (bool, States<T>) {
        let after: States<T> = match operation {
            Operation::Filled(tags) => [tags.iter().copied().map(Some).collect()].into(),
            Operation::Called(op) => states.iter().filter_map(|tags| step(tags, *op)).collect(),
        };
        (!after.is_empty(), after)
    }
}

/// The tags after a step, if it is possible.
fn step<T: Copy + Ord>(tags: &[Option<T>], op: Op<T>) -> Option<Vec<Option<T>>> {
    let mut after = tags.to_vec();
    let place = |tag: T| tags.iter().position(|&other| other == Some(tag));
    let may_have = |tag: T| tags.iter().any(|&other| other.is_none_or(|other| other == tag));
    let is_right = match op {
        Op::Contains(found) => found != tags.is_empty(),
        Op::Count(copies) => copies == tags.len(),
        Op::Add(tag) => {
            after.push(tag);
            true
        }
        Op::Found(found) => found.map_or(!tags.is_empty(), may_have),
        Op::AddUnique(tag) => {
            after.push(tag);
            tags.is_empty()
        }
        Op::Remove(tag, removed) => {
            let place = place(tag);
            place.map(|place| after.remove(place));
            place.is_some() == removed
        }
        Op::Spared => true,
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
        Op::Clear => {
            after.clear();
            true
        }
    };
    after.sort_unstable();
    is_right.then_some(after)
}

/// Whether these steps, on a key with these tags, have an order.
pub fn is_linearizable<T: Copy + Debug + Ord + Hash>(filled: &[T], events: &[Event<T>]) -> bool {
    let threads = 1 + events.iter().map(|event| event.thread).max().unwrap_or(0);
    // Steps of one call overlap, so each is that of a thread of its own.
    let calls = events.iter().enumerate().map(|(nth, event)| {
        let Event { thread, start, end, op } = *event;
        (start, end, thread + nth * threads, Operation::Called(op))
    });
    history::is_linearizable::<Multiset<T>>(Operation::Filled(filled.to_vec()), calls)
}
