//! One execution of a program, and the checks of its history.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::SeqCst},
};

use guira::InsertError;

use super::{
    Action, Answer, CLASSES, Counts, Program, Scene, Sights, Target,
    multiset::{Event, is_linearizable},
    program::Step,
    show,
    target::{Placement, Slot},
};

/// A program with its filter, filled and ready.
pub struct Run<T: Target> {
    pub program: Arc<Program<T>>,
    target: T,
    filled: Counts,
    /// How many copies each thread owns at the start: no other thread removes these.
    owned: Vec<Counts>,
    pub placement: Placement,
    growth: usize,
    /// Orders starts and ends of calls. It orders more than an ordinary program would: loom checks
    /// the orderings of the filter itself.
    clock: AtomicUsize,
}

impl<T: Target + 'static> Scene for Run<T> {
    type Program = Program<T>;
    type Event = Event;

    fn program(number: u64, threads: usize) -> Program<T> {
        Program::numbered(number, threads)
    }

    /// Fills a new filter, and deals out most of its items to the threads.
    fn new(program: &Arc<Program<T>>) -> Self {
        let world = &program.world;
        let target = T::new(world);
        let mut filled = [0; CLASSES];
        let mut owned = vec![[0; CLASSES]; program.threads.len() + 1];
        for (deal, &class) in program.filling.iter().enumerate() {
            // The last inserts of a filter that grows are left to the threads.
            let full = T::GROWS && target.growth() > 0;
            let answer = target.call(world, class, deal % 2, Action::Insert);
            if answer == Answer::Insert(Ok(())) {
                filled[class] += 1;
                let owner = deal % owned.len();
                owned[owner][class] += 1;
            }
            if full {
                break;
            }
        }
        let (placement, growth) = (target.placement(world), target.growth());
        let (program, clock) = (Arc::clone(program), AtomicUsize::new(0));
        Self { program, target, filled, owned, placement, growth, clock }
    }

    fn number(&self) -> u64 {
        self.program.number
    }

    /// Performs the steps of one thread. A removal or a replacement of what the thread does not
    /// own becomes a lookup.
    fn perform(&self, thread: usize) -> Vec<Event> {
        let world = &self.program.world;
        let mut owned = self.owned[thread];
        let mut events = Vec::with_capacity(self.program.threads[thread].len());
        for &Step { mut action, class, way } in &self.program.threads[thread] {
            if matches!(action, Action::Remove | Action::Replace(_)) && owned[class] == 0 {
                action = Action::Contains;
            }
            let start = self.clock.fetch_add(1, SeqCst);
            let answer = self.target.call(world, class, way, action);
            let end = self.clock.fetch_add(1, SeqCst);
            count(&mut owned, class, answer);
            events.push(Event { thread, start, end, class: T::class(world, class), answer });
        }
        events
    }

    fn check(&self, events: &[Event]) -> Sights {
        let (number, filled) = (self.program.number, self.filled);
        let fail = |what: &str| -> ! {
            panic!(
                "{what}: program {number} (GUIRA_PROGRAM={number} runs it alone)\n{}{:?}",
                show(&filled, events),
                self.program.world,
            )
        };
        if !is_linearizable(filled, events) {
            fail("not linearizable");
        }
        let placement = self.target.placement(&self.program.world);
        let left = left(filled, events);
        for (index, [here, there]) in placement.into_iter().enumerate() {
            let class = T::class(&self.program.world, index);
            let most =
                if <T::Slot as Slot>::VALUED { left[index] } else { class.copies_found(left).1 };
            let most = if class.ghosts { u8::MAX } else { most };
            if !(left[index]..=most).contains(&((here + there) as u8)) {
                fail("the filter does not hold what is left");
            }
        }
        let grown = self.target.growth() > self.growth;
        if !self.empties(left) {
            fail("the filter cannot be emptied and filled again");
        }
        Sights::of(self, &placement, grown, events)
    }

    fn assert_telling(sights: &Sights) {
        sights.assert_telling_of(T::GROWS, <T::Slot as Slot>::VALUED);
    }
}

impl<T: Target> Run<T> {
    /// Whether everything that is left can be removed, and one class then fills both of its
    /// buckets.
    fn empties(&self, left: Counts) -> bool {
        let world = &self.program.world;
        let call = |class: usize, way, action| self.target.call(world, class, way, action);
        let removed = (0..CLASSES).all(|class| {
            (0..left[class]).all(|copy| {
                call(class, usize::from(copy) % 2, Action::Remove) == Answer::Remove(true)
            })
        }) && (0..CLASSES).all(|class| {
            let is_clean = !T::class(world, class).ghosts;
            call(class, 0, Action::Contains) == Answer::Contains(false) || !is_clean
        });
        let class = T::class(world, self.program.number as usize % CLASSES);
        let fits = |_| call(class.index, 0, Action::Insert) == Answer::Insert(Ok(()));
        let fills = class.most.is_none_or(|most| {
            (0..most).all(fits)
                && call(class.index, 0, Action::Insert)
                    == Answer::Insert(Err(InsertError::TooManyCopies))
        });
        removed && fills
    }
}

/// What must be in the filter after these calls, in whatever order they took effect.
fn left(filled: Counts, events: &[Event]) -> Counts {
    let mut counts = filled;
    for event in events {
        count(&mut counts, event.class.index, event.answer);
    }
    counts
}

/// Counts what a call on a class adds and removes.
fn count(counts: &mut Counts, class: usize, answer: Answer) {
    match answer {
        Answer::Insert(Ok(())) | Answer::InsertUnique(Ok(true)) | Answer::GetOrInsert(Ok(None)) => {
            counts[class] += 1;
        }
        Answer::Remove(true) => counts[class] -= 1,
        Answer::Replace(new, true) => {
            counts[class] -= 1;
            counts[new] += 1;
        }
        _ => {}
    }
}
