//! How often the situations occurred that the programs are meant to provoke.

use std::ops::AddAssign;

use guira::InsertError;

use super::{Answer, CLASSES, Event, Run, Target, target::Placement, variable};

/// Numbers of situations, over all executions.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sights {
    pub executions: usize,
    /// Executions in which the threads appended a segment.
    grown: usize,
    calls: usize,
    /// Pairs of calls that overlapped.
    overlaps: usize,
    /// Classes that no thread inserted or removed, and that were elsewhere afterwards.
    moved: usize,
    /// Lookups of one of those that overlapped an insert.
    beside_moves: usize,
    /// Counts and `insert_unique`s of one of those that overlapped an insert.
    locked_beside_moves: usize,
    /// Values that were replaced.
    replaced: usize,
    /// Lookups that overlapped a replacement of a value of the same pair.
    beside_replaced: usize,
    removals: usize,
    full: usize,
    too_many: usize,
    unique_present: usize,
    misses: usize,
}

impl Sights {
    /// The situations in one execution.
    pub fn of<T: Target>(run: &Run<T>, after: &Placement, grown: bool, events: &[Event]) -> Self {
        let number = |wanted: &dyn Fn(&Event) -> bool| events.iter().filter(|e| wanted(e)).count();
        let inserted = |e: &Event| {
            matches!(
                e.answer,
                Answer::Insert(Ok(()))
                    | Answer::InsertUnique(Ok(true))
                    | Answer::GetOrInsert(Ok(None))
            )
        };
        let replaced = |e: &Event| matches!(e.answer, Answer::Replace(_, true));
        let changed = |e: &Event| inserted(e) || replaced(e) || e.answer == Answer::Remove(true);
        let touches = |e: &Event, class: usize| {
            changed(e) && (e.class.index == class || e.answer == Answer::Replace(class, true))
        };
        let moved: [bool; CLASSES] = std::array::from_fn(|class| {
            let touched = events.iter().any(|e| touches(e, class));
            !touched && !T::GROWS && after[class] != run.placement[class]
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
        Self {
            executions: 1,
            grown: usize::from(grown),
            calls: events.len(),
            overlaps: number(&|e| events.iter().any(|o| o.thread != e.thread && o.overlaps(e))),
            moved: moved.iter().filter(|&&moved| moved).count(),
            beside_moves: number(&|e| is_lookup(e) && beside_move(e)),
            locked_beside_moves: number(&|e| !is_lookup(e) && beside_move(e)),
            replaced: number(&replaced),
            beside_replaced: number(&|e| {
                is_lookup(e)
                    && events
                        .iter()
                        .any(|o| replaced(o) && o.class.aliases[e.class.index] && o.overlaps(e))
            }),
            removals: number(&|e| e.answer == Answer::Remove(true)),
            full: number(&|e| {
                let full = InsertError::Full;
                let answers = [
                    Answer::Insert(Err(full)),
                    Answer::InsertUnique(Err(full)),
                    Answer::GetOrInsert(Err(full)),
                ];
                answers.contains(&e.answer)
            }),
            too_many: number(&|e| e.answer == Answer::Insert(Err(InsertError::TooManyCopies))),
            unique_present: number(&|e| {
                matches!(
                    e.answer,
                    Answer::InsertUnique(Ok(false)) | Answer::GetOrInsert(Ok(Some(_)))
                )
            }),
            misses: number(&|e| matches!(e.answer, Answer::Contains(false) | Answer::Get(None))),
        }
    }
}

impl AddAssign for Sights {
    fn add_assign(&mut self, other: Self) {
        self.executions += other.executions;
        self.grown += other.grown;
        self.calls += other.calls;
        self.overlaps += other.overlaps;
        self.moved += other.moved;
        self.beside_moves += other.beside_moves;
        self.locked_beside_moves += other.locked_beside_moves;
        self.replaced += other.replaced;
        self.beside_replaced += other.beside_replaced;
        self.removals += other.removals;
        self.full += other.full;
        self.too_many += other.too_many;
        self.unique_present += other.unique_present;
        self.misses += other.misses;
    }
}

impl Sights {
    /// Fails if the programs did not provoke what they are meant to.
    pub fn assert_telling(&self, grows: bool, has_values: bool) {
        println!("{self:?}");
        if variable("GUIRA_PROGRAM").is_some() {
            return;
        }
        let often = self.executions / 50;
        assert!(self.removals > often && self.misses > often, "nothing was removed, or absent");
        assert!(self.too_many > often, "no limit on copies was reached");
        assert!(self.unique_present > often, "insert_unique found no copy");
        assert!(!has_values || self.replaced > often, "no value was replaced");
        if grows {
            // A chain is full only if all classes share a bucket of its last segment.
            let is_rarely_full = self.full <= 1 + self.executions / 1000;
            assert!(self.grown > often && is_rarely_full, "the chains did not grow");
        } else {
            assert!(self.full > often, "the tables were not full");
            assert!(self.moved > often, "nothing was relocated");
        }
        // Real threads overlap by chance, and hardly ever if other programs keep the processors
        // busy.
        let overlaps = if cfg!(shuttle) { self.executions / 200 } else { 0 };
        if cfg!(shuttle) || (processors() > 1 && self.executions > 5_000) {
            assert!(self.overlaps > 10 * overlaps, "the threads did not overlap");
        }
        if cfg!(shuttle) || self.overlaps > self.executions {
            let is_beside = !has_values || self.beside_replaced > overlaps;
            assert!(is_beside, "no lookup beside a replacement");
            assert!(grows || self.beside_moves > overlaps, "no lookup beside a move");
            assert!(
                grows || self.locked_beside_moves > overlaps / 4,
                "no locked call beside a move"
            );
        }
    }
}

/// How many threads can run at once.
fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
