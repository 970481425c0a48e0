//! One execution of a program, and the checks of its history.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::SeqCst},
};

use guira::{
    InsertError,
    raw::{Clock as _, Table},
};

use super::{
    program::{Program, Step},
    show,
    sights::Sights,
    slots::{FIRST, STAMP_BITS, Slot as _},
    spec::{Action, Answer, CLASSES, Event, START, Slot, WINDOW, is_linearizable},
    world::{Placement, Tiny},
};

/// A program with its table, filled and ready.
pub struct Run<S: Tiny> {
    pub program: Arc<Program<S>>,
    table: Table<S>,
    filled: Vec<Slot>,
    /// The copies that each thread owns at the start: no other thread removes these.
    owned: Vec<Vec<Slot>>,
    pub placement: Placement,
    growth: usize,
    /// Orders starts and ends of calls. It orders more than an ordinary program would: loom checks
    /// the orderings of the filter itself.
    clock: AtomicUsize,
}

impl<S: Tiny> Run<S> {
    /// Fills a new table, and deals out most of its items to the threads.
    pub fn new(program: &Arc<Program<S>>) -> Self {
        let (world, table) = (&program.world, program.world.table());
        let (mut filled, mut owned) = (Vec::new(), vec![Vec::new(); program.threads.len() + 1]);
        for now in if S::Payload::EXPIRES { FIRST } else { START }..=START {
            let of_now = program.filling.iter().filter(|slot| slot.1 == now).enumerate();
            for (deal, &(class, _)) in of_now {
                // The last inserts of a table that grows are left to the threads.
                let full = S::growth(&table) > 0 && !S::Payload::EXPIRES;
                let insert = Action::Insert(WINDOW);
                if let Some(now) = world.call(&table, class, deal % 2, insert, None).added() {
                    filled.push((class, now));
                    let owner = deal % owned.len();
                    owned[owner].push((class, now));
                }
                if full {
                    break;
                }
            }
            if now < START {
                world.call(&table, 0, 0, Action::Advance, None);
            }
        }
        filled.sort_unstable();
        let (placement, growth) = (world.placement(&table), S::growth(&table));
        let (program, clock) = (Arc::clone(program), AtomicUsize::new(0));
        Self { program, table, filled, owned, placement, growth, clock }
    }

    fn call(&self, class: usize, way: usize, action: Action, own: Option<u64>) -> Answer {
        self.program.world.call(&self.table, class, way, action, own)
    }

    /// Performs the steps of one thread. A removal or a replacement of what the thread does not
    /// own becomes a lookup.
    pub fn perform(&self, thread: usize) -> Vec<Event> {
        let mut owned = self.owned[thread].clone();
        let mut events = Vec::with_capacity(self.program.threads[thread].len());
        for &Step { mut action, class, way } in &self.program.threads[thread] {
            let mut own = owned.iter().rev().find(|slot| slot.0 == class).map(|slot| slot.1);
            if matches!(action, Action::Remove | Action::Replace(_)) && own.is_none() {
                action = Action::Contains;
            }
            let start = self.clock.fetch_add(1, SeqCst);
            let answer = self.call(class, way, action, own.take());
            let end = self.clock.fetch_add(1, SeqCst);
            count(&mut owned, class, answer);
            let class = self.program.world.classes[class];
            events.push(Event { thread, start, end, class, answer });
        }
        events
    }

    /// Checks the history, then the table that it left. Returns what there was to see.
    pub fn check(&self, events: &[Event]) -> Sights {
        let number = self.program.number;
        let fail = |what: &str| -> ! {
            panic!(
                "{what}: program {number} (GUIRA_PROGRAM={number} runs it alone)\n{}{:?}",
                show(&self.filled, events),
                self.program.world,
            )
        };
        // What is left can be counted.
        let (mut all, mut moment, mut visible) = (events.to_vec(), self.clock.load(SeqCst), 0);
        for class in self.program.world.classes {
            let answer = self.call(class.index, 0, Action::Count, None);
            all.push(Event { thread: 9, start: moment, end: moment + 1, class, answer });
            moment += 2;
            if let Answer::Count(copies) = answer {
                visible += copies as i64;
            }
        }
        if !is_linearizable(&self.filled, &all) {
            fail("not linearizable");
        }
        let placement = self.program.world.placement(&self.table);
        let grown = S::growth(&self.table) > self.growth;
        let is_right = if S::Payload::EXPIRES {
            assert_eq!(self.table.clock().visible_slots(), Some(visible), "slots are miscounted");
            self.expires(events)
        } else {
            self.holds(events, &placement) && self.empties(events)
        };
        if !is_right {
            fail("the filter does not hold what is left, or cannot be emptied");
        }
        Sights::of(self, &placement, grown, events)
    }

    /// What must be in the filter after these calls, in whatever order they took effect.
    fn left(&self, events: &[Event]) -> [u8; CLASSES] {
        let mut left = self.filled.clone();
        for event in events {
            count(&mut left, event.class.index, event.answer);
        }
        let mut counts = [0; CLASSES];
        for slot in left {
            counts[slot.0] += 1;
        }
        counts
    }

    /// Whether the copies of each class are what is left.
    fn holds(&self, events: &[Event], placement: &Placement) -> bool {
        let left = self.left(events);
        self.program.world.classes.iter().zip(placement).all(|(class, [here, there])| {
            let own = left[class.index];
            let most = if S::Payload::VALUED { own } else { class.copies_found(left).1 };
            let most = if class.ghosts { u8::MAX } else { most };
            (own..=most).contains(&((here + there) as u8))
        })
    }

    /// Whether everything that is left can be removed, and one class then fills both of its
    /// buckets.
    fn empties(&self, events: &[Event]) -> bool {
        let (left, classes) = (self.left(events), &self.program.world.classes);
        let removed = (0..CLASSES).all(|class| {
            (0..left[class]).all(|copy| {
                let way = usize::from(copy) % 2;
                self.call(class, way, Action::Remove, Some(START)) == Answer::Remove(START, true)
            })
        }) && classes.iter().all(|class| {
            let answer = self.call(class.index, 0, Action::Contains, None);
            answer == Answer::Contains(false) || class.ghosts
        });
        let class = classes[self.program.number as usize % CLASSES];
        let insert = || self.call(class.index, 0, Action::Insert(0), None);
        let fills = class.most.is_none_or(|most| {
            (0..most).all(|_| insert().added().is_some())
                && insert() == Answer::Insert(Err(InsertError::TooManyCopies))
        });
        removed && fills
    }

    /// Whether everything expires, and is swept.
    fn expires(&self, events: &[Event]) -> bool {
        // A slot that was added late may have missed the first sweep.
        let is_late = |event: &Event| {
            matches!(event.answer, Answer::Insert(_)) && is_beside_an_advance(event, events)
        };
        let rounds = if events.iter().any(is_late) { 2 } else { 1 };
        for _ in 0..rounds << STAMP_BITS {
            self.call(0, 0, Action::Advance, None);
        }
        let occupied = (self.program.world.occupied)(&self.table);
        occupied == 0 && self.table.clock().visible_slots() == Some(0)
    }
}

/// Whether an advance of another thread overlapped a call.
pub fn is_beside_an_advance(event: &Event, events: &[Event]) -> bool {
    let is_advance = |other: &Event| matches!(other.answer, Answer::Advanced(_));
    let mut others = events.iter().filter(|other| other.start != event.start);
    others.any(|other| is_advance(other) && other.overlaps(event))
}

/// Records what a call on a class adds and removes.
fn count(slots: &mut Vec<Slot>, class: usize, answer: Answer) {
    slots.extend(answer.added().map(|generation| (class, generation)));
    let (removed, new) = match answer {
        Answer::Remove(generation, true) => (generation, None),
        Answer::Replace(new, true) => (START, Some(new)),
        _ => return,
    };
    let place = slots.iter().rposition(|&slot| slot == (class, removed));
    slots.remove(place.expect("it was there"));
    slots.extend(new.map(|new| (new, START)));
}
