//! How often the situations occurred that the programs are meant to provoke.

use std::{collections::BTreeMap, ops::AddAssign};

use guira::InsertError;

use super::{
    run::{Run, is_beside_an_advance},
    slots::Slot as _,
    spec::{Answer, CLASSES, Event},
    variable,
    world::{Placement, Tiny},
};

/// Numbers of situations, over all executions.
#[derive(Debug, Default)]
pub struct Sights(BTreeMap<String, usize>);

impl Sights {
    /// Records that a situation occurred so many times.
    fn add(&mut self, name: impl Into<String>, times: usize) {
        *self.0.entry(name.into()).or_default() += times;
    }

    /// How often a situation occurred.
    fn times(&self, name: &str) -> usize {
        self.0.get(name).copied().unwrap_or(0)
    }
}

impl AddAssign for Sights {
    fn add_assign(&mut self, other: Self) {
        for (name, times) in other.0 {
            self.add(name, times);
        }
    }
}

/// The kinds of answers of tables whose slots expire.
const KINDS: [&str; 15] = [
    "hit",
    "miss",
    "none",
    "one",
    "several",
    "inserted",
    "refused",
    "accepted",
    "seen",
    "refreshed",
    "not refreshed",
    "removed",
    "not removed",
    "swept",
    "advanced",
];

/// The kind of an answer, if it is one of these.
fn kind(answer: Answer) -> Option<&'static str> {
    let kind = match answer {
        Answer::Contains(hit) => usize::from(!hit),
        Answer::Count(count) => 2 + count.min(2),
        Answer::Insert(Ok(_)) => 5,
        Answer::Insert(Err(_)) | Answer::InsertUnique(Err(_)) => 6,
        Answer::InsertUnique(Ok(added)) => {
            if added.is_some() {
                7
            } else {
                8
            }
        }
        Answer::Refresh(found) => 9 + usize::from(!found),
        Answer::Remove(_, removed) => 11 + usize::from(!removed),
        Answer::Swept => 13,
        Answer::Advanced(_) => 14,
        _ => return None,
    };
    Some(KINDS[kind])
}

impl Sights {
    /// The situations in one execution.
    pub fn of<S: Tiny>(run: &Run<S>, after: &Placement, grown: bool, events: &[Event]) -> Self {
        let number = |wanted: &dyn Fn(&Event) -> bool| events.iter().filter(|e| wanted(e)).count();
        let inserted = |e: &Event| e.answer.added().is_some();
        let removed = |e: &Event| matches!(e.answer, Answer::Remove(_, true));
        let replaced = |e: &Event| matches!(e.answer, Answer::Replace(_, true));
        let changed = |e: &Event| inserted(e) || replaced(e) || removed(e);
        let touches = |e: &Event, class: usize| {
            changed(e) && (e.class.index == class || e.answer == Answer::Replace(class, true))
        };
        let moved: [bool; CLASSES] = std::array::from_fn(|class| {
            let touched = events.iter().any(|e| touches(e, class));
            !touched && !S::GROWS && !S::Payload::EXPIRES && after[class] != run.placement[class]
        });
        let beside_move = |e: &Event| {
            moved[e.class.index] && events.iter().any(|other| inserted(other) && other.overlaps(e))
        };
        let is_lookup = |e: &Event| {
            matches!(
                e.answer,
                Answer::Contains(_) | Answer::Get(_) | Answer::Values(_) | Answer::Holds(..)
            )
        };
        let is_full = |e: &Event| {
            let full = InsertError::Full;
            let answers = [
                Answer::Insert(Err(full)),
                Answer::InsertUnique(Err(full)),
                Answer::GetOrInsert(Err(full)),
            ];
            answers.contains(&e.answer)
        };
        let is_present = |e: &Event| {
            matches!(e.answer, Answer::InsertUnique(Ok(None)) | Answer::GetOrInsert(Ok(Some(_))))
        };
        let beside_replaced = |e: &Event| {
            let is_beside =
                |o: &Event| replaced(o) && o.class.aliases[e.class.index] && o.overlaps(e);
            is_lookup(e) && events.iter().any(is_beside)
        };
        let mut sights = Self::default();
        for (name, times) in [
            ("executions", 1),
            // Executions in which the table grew.
            ("grown", usize::from(grown)),
            ("calls", events.len()),
            // Calls that overlapped one of another thread.
            ("overlaps", number(&|e| events.iter().any(|o| o.thread != e.thread && o.overlaps(e)))),
            // Classes that no thread inserted or removed, and that were elsewhere afterwards.
            ("moved", moved.iter().filter(|&&moved| moved).count()),
            // Lookups of one of those that overlapped an insert.
            ("beside moves", number(&|e| is_lookup(e) && beside_move(e))),
            // Counts and `insert_unique`s of one of those that overlapped an insert.
            ("locked beside moves", number(&|e| !is_lookup(e) && beside_move(e))),
            ("replaced", number(&replaced)),
            // Lookups that overlapped a replacement of a value of the same pair.
            ("beside replaced", number(&beside_replaced)),
            ("removals", number(&removed)),
            ("full", number(&is_full)),
            ("too many", number(&|e| e.answer == Answer::Insert(Err(InsertError::TooManyCopies)))),
            ("unique present", number(&is_present)),
            (
                "misses",
                number(&|e| matches!(e.answer, Answer::Contains(false) | Answer::Get(None))),
            ),
        ] {
            sights.add(name, times);
        }
        for event in events.iter().filter(|_| S::Payload::EXPIRES) {
            if let Some(kind) = kind(event.answer) {
                sights.add(kind, 1);
                if is_beside_an_advance(event, events) {
                    sights.add(format!("{kind} beside an advance"), 1);
                }
            }
        }
        sights
    }

    /// Fails if the programs did not provoke what they are meant to.
    pub fn assert_telling<S: Tiny>(&self) {
        println!("{self:?}");
        let (grows, has_values) = (S::GROWS, S::Payload::VALUED);
        if variable("GUIRA_PROGRAM").is_some() {
            return;
        }
        if S::Payload::EXPIRES {
            // Under shuttle also beside an advance.
            let is_enough = |name: &&str| {
                let beside = self.times(&format!("{name} beside an advance"));
                self.times(name) > 0 && (!cfg!(shuttle) || beside > 0)
            };
            let missing = KINDS.iter().find(|name| !is_enough(name));
            assert!(missing.is_none(), "{missing:?}");
            assert!(!grows || self.times("grown") > 0, "the tables did not grow");
            return;
        }
        let times = |name| self.times(name);
        let often = times("executions") / 50;
        assert!(
            times("removals") > often && times("misses") > often,
            "nothing was removed, or absent"
        );
        assert!(times("too many") > often, "no limit on copies was reached");
        assert!(times("unique present") > often, "insert_unique found no copy");
        assert!(!has_values || times("replaced") > often, "no value was replaced");
        if grows {
            // A table that grows is full only if splits cannot separate what is in the way.
            let is_rarely_full = times("full") <= 1 + times("executions") / 1000;
            assert!(times("grown") > often && is_rarely_full, "the tables did not grow");
        } else {
            assert!(times("full") > often, "the tables were not full");
            assert!(times("moved") > often, "nothing was relocated");
        }
        // Real threads overlap by chance, and hardly ever if other programs keep the processors
        // busy.
        let overlaps = if cfg!(shuttle) { times("executions") / 200 } else { 0 };
        if cfg!(shuttle) || (processors() > 1 && times("executions") > 5_000) {
            assert!(times("overlaps") > 10 * overlaps, "the threads did not overlap");
        }
        if cfg!(shuttle) || times("overlaps") > times("executions") {
            let is_beside = !has_values || times("beside replaced") > overlaps;
            assert!(is_beside, "no lookup beside a replacement");
            assert!(grows || times("beside moves") > overlaps, "no lookup beside a move");
            assert!(
                grows || times("locked beside moves") > overlaps / 4,
                "no locked call beside a move"
            );
        }
    }
}

/// How many threads can run at once.
fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
