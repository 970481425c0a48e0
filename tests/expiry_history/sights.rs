//! What histories have shown.

use std::collections::BTreeMap;

use super::{Answer, Event};

/// Whether an advance of another thread overlapped a call.
pub fn is_beside_an_advance(event: &Event, events: &[Event]) -> bool {
    events.iter().any(|other| {
        matches!(other.answer, Answer::Advanced(_))
            && other.start < event.end
            && event.start < other.end
            && other.start != event.start
    })
}

/// How often each kind of answer was seen, and how often beside an advance.
#[derive(Default)]
pub struct Sights(BTreeMap<&'static str, [usize; 2]>);

impl Sights {
    pub fn of(events: &[Event]) -> Self {
        let mut sights = Self::default();
        for event in events {
            let is_beside = is_beside_an_advance(event, events);
            let name = match event.answer {
                Answer::IsVisible(true) => "hit",
                Answer::IsVisible(false) => "miss",
                Answer::Counted(0) => "none",
                Answer::Counted(1) => "one",
                Answer::Counted(_) => "several",
                Answer::Inserted(Some(_)) => "inserted",
                Answer::Inserted(None) | Answer::Refused => "full",
                Answer::InsertUnseen(Some(_)) => "accepted",
                Answer::InsertUnseen(None) => "seen",
                Answer::Refreshed(true) => "refreshed",
                Answer::Refreshed(false) => "not refreshed",
                Answer::Removed(_, true) => "removed",
                Answer::Removed(_, false) => "not removed",
                Answer::Swept => "swept",
                Answer::Advanced(_) => "advanced",
            };
            sights.0.entry(name).or_default()[usize::from(is_beside)] += 1;
        }
        sights
    }

    pub fn add(&mut self, other: Self) {
        for (name, [alone, beside]) in other.0 {
            let sights = self.0.entry(name).or_default();
            *sights = [sights[0] + alone, sights[1] + beside];
        }
    }

    /// Checks that there was enough to see: all 15 kinds, under shuttle also beside an advance.
    pub fn assert_telling(&self) {
        println!("seen alone and beside an advance: {:?}", self.0);
        assert_eq!(self.0.len(), 15, "{:?}", self.0);
        let missing = |&(_, [_, beside]): &(&&str, &[usize; 2])| *beside == 0;
        assert!(!cfg!(shuttle) || !self.0.iter().any(|sight| missing(&sight)), "{:?}", self.0);
    }
}
