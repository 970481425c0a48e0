//! The specification: a multiset of classes with the generations of their inserts.

use std::collections::BTreeSet;

use todc_utils::Specification;

use super::aging::Answer;

/// The generation in which a program starts.
pub const START: u64 = 8;
/// Largest age of a visible slot.
pub const WINDOW: u32 = 1;

/// A class, and the generation in which it was inserted or refreshed.
pub type Slot = (usize, u64);
/// The contents that the table can have, each sorted. There is more than one if it is not known by
/// which generation a refresh decided.
pub type Slots = BTreeSet<Vec<Slot>>;

/// A step from some contents to others.
#[derive(Clone, Debug)]
pub enum Operation {
    /// Before any thread started, the table was filled.
    Filled(Slots),
    /// A call on a class returned, which decided by one of these generations, in a table that grows
    /// or does not.
    Called(usize, (u64, u64), Answer, bool),
}

/// A table in which every slot has a generation. Nothing is ever swept, and what has expired cannot
/// be seen.
///
/// An advance is not one moment: between its start and its end, one call may still take the last
/// generation for the present one, while another one already takes the next. So each call decides
/// by a generation of its own. That must be one that was the present one between the start and the
/// end of the call. An insert that the table refuses is not checked: `Full` depends on the places
/// of the slots.
///
/// In a table that grows, slots of one item can know different parts of it. So a refresh may refresh
/// all copies in place of the oldest one, and a removal may refuse to take a copy beside a newer one.
pub struct Ages;

impl Specification for Ages {
    type State = Slots;
    type Operation = Operation;

    fn init() -> Slots {
        BTreeSet::from([Vec::new()])
    }

    fn apply(operation: &Operation, slots: &Slots) -> (bool, Slots) {
        let after: Slots = match operation {
            Operation::Filled(filled) => filled.clone(),
            Operation::Called(class, (first, last), answer, grows) => (*first..=*last)
                .flat_map(|now| {
                    slots.iter().flat_map(move |slots| {
                        let all = grows.then(|| all_refreshed(slots, *class, now, answer));
                        step(slots, *class, now, answer, *grows).into_iter().chain(all.flatten())
                    })
                })
                .collect(),
        };
        (!after.is_empty(), after)
    }
}

/// Whether a slot is visible in this generation, or will be.
fn is_visible(now: u64, generation: u64) -> bool {
    now.saturating_sub(generation) <= u64::from(WINDOW)
}

/// The contents after a refresh of all copies by the generation `now`, if the call was one, and found
/// some.
fn all_refreshed(slots: &[Slot], class: usize, now: u64, answer: &Answer) -> Option<Vec<Slot>> {
    let is_copy = |slot: &Slot| slot.0 == class && is_visible(now, slot.1);
    let found = *answer == Answer::Refreshed(true) && slots.iter().any(is_copy);
    found.then(|| {
        let refreshed = |slot: &Slot| if is_copy(slot) { (class, now) } else { *slot };
        let mut after: Vec<Slot> = slots.iter().map(refreshed).collect();
        after.sort_unstable();
        after
    })
}

/// The contents after a call that decided by the generation `now`, if it can have had this answer.
fn step(slots: &[Slot], class: usize, now: u64, answer: &Answer, grows: bool) -> Option<Vec<Slot>> {
    let visible = || slots.iter().filter(|slot| slot.0 == class && is_visible(now, slot.1));
    let mut after = slots.to_vec();
    let is_right = match *answer {
        Answer::IsVisible(found) => (visible().count() > 0) == found,
        Answer::Counted(count) => visible().count() == count,
        Answer::Inserted(Some(generation)) => {
            after.push((class, generation));
            is_visible(now, generation)
        }
        Answer::InsertUnseen(Some(generation)) => {
            after.push((class, generation));
            generation == now && visible().count() == 0
        }
        Answer::InsertUnseen(None) => visible().count() > 0,
        Answer::Refreshed(refreshed) => {
            // They are sorted.
            let oldest = visible().next().copied();
            if let Some(place) = oldest.and_then(|old| after.iter().position(|&slot| slot == old)) {
                after[place].1 = now;
            }
            oldest.is_some() == refreshed
        }
        Answer::Removed(generation, removed) => {
            let place = slots.iter().position(|&slot| slot == (class, generation));
            let place = place.filter(|_| is_visible(now, generation));
            if grows && !removed && visible().any(|slot| slot.1 > generation) {
                return Some(after);
            }
            if let Some(place) = place {
                after.remove(place);
            }
            place.is_some() == removed
        }
        Answer::Inserted(None)
        | Answer::Refused
        | Answer::Swept
        | Answer::Advanced(_)
        | Answer::Split(_) => true,
    };
    after.sort_unstable();
    is_right.then_some(after)
}
