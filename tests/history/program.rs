//! Random programs: what a filter is filled with, and what each thread does.

use rand::{RngExt, rngs::SmallRng};

use super::{Action, CLASSES, Target, target::Slot};
use crate::common::rng;

/// One step of a thread's program.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    pub action: Action,
    pub class: usize,
    /// Which of its two buckets comes first.
    pub way: usize,
}

/// A world, its filling, and the steps of each thread.
pub struct Program<T: Target> {
    pub number: u64,
    pub world: T::World,
    /// The classes to insert before the threads start.
    pub filling: Vec<usize>,
    pub threads: Vec<Vec<Step>>,
}

/// The actions, in the order of the weights of [`Slot::KINDS`].
const ACTIONS: [Action; 9] = [
    Action::Contains,
    Action::Count,
    Action::Insert,
    Action::InsertUnique,
    Action::Remove,
    Action::Get,
    Action::Values,
    Action::ContainsValue,
    Action::Replace(0),
];

/// A kind of threads, by the weights of [`ACTIONS`].
pub type Kind = [u32; ACTIONS.len()];

impl<T: Target> Program<T> {
    /// The program with this number, for this many threads: always the same.
    pub fn numbered(number: u64, threads: usize) -> Self {
        let mut rng = rng(number);
        let world = T::world(&mut rng);
        // Most actions concern two classes.
        let first = rng.random_range(0..CLASSES);
        let hot = [first, (first + rng.random_range(1..CLASSES)) % CLASSES];
        let focus = Focus { hot, aside: rng.random_bool(0.5) };
        let filling = filling::<T>(&mut rng, &world, &focus);
        let threads = (0..threads).map(|index| thread::<T>(&mut rng, &focus, index)).collect();
        Self { number, world, filling, threads }
    }
}

/// The classes that a program concerns.
#[derive(Clone, Copy, Debug)]
struct Focus {
    hot: [usize; 2],
    /// Whether writers change only other classes than the first hot one, and readers look that one
    /// up, while it is relocated.
    aside: bool,
}

impl Focus {
    /// A class, for a reader or for a writer.
    fn class(&self, rng: &mut SmallRng, reads: bool) -> usize {
        let any = rng.random_range(0..CLASSES);
        match (self.aside, reads) {
            (true, true) if rng.random_bool(0.8) => self.hot[0],
            (true, false) if any == self.hot[0] => self.hot[1],
            (false, _) if rng.random_bool(0.7) => self.hot[any % 2],
            _ => any,
        }
    }
}

/// What to fill a filter with: mostly so that one to three slots stay empty.
fn filling<T: Target>(rng: &mut SmallRng, world: &T::World, focus: &Focus) -> Vec<usize> {
    let slots = T::slots(world);
    let copies = match rng.random_range(0..8) {
        _ if T::GROWS => rng.random_range(T::fillings(slots)),
        0 => slots / 4,
        1 => slots / 2,
        2 => slots,
        _ => slots - rng.random_range(1..=3),
    };
    // Now and then one class fills its buckets.
    let monotonous = rng.random_bool(0.1);
    let class = |_| match monotonous {
        true => focus.hot[1],
        false if T::GROWS => rng.random_range(0..CLASSES),
        false => focus.class(rng, false),
    };
    let mut filling: Vec<usize> = (0..copies).map(class).collect();
    if focus.aside {
        filling[0] = focus.hot[0];
    }
    filling
}

/// The steps of a thread: the first one mostly reads, the others write.
fn thread<T: Target>(rng: &mut SmallRng, focus: &Focus, index: usize) -> Vec<Step> {
    let reads = index == 0 && rng.random_bool(0.75);
    let kind = if reads { 0 } else { rng.random_range(1..<T::Slot as Slot>::KINDS.len()) };
    let length = rng.random_range(2..=5);
    // Some threads concern a single class.
    let only = rng.random_bool(0.25).then(|| focus.class(rng, reads));
    let step = |_| Step {
        action: weighted(rng, <T::Slot as Slot>::KINDS[kind]),
        class: only.unwrap_or_else(|| focus.class(rng, reads)),
        way: rng.random_range(0..2),
    };
    (0..length).map(step).collect()
}

/// An action, by the weights of a kind.
fn weighted(rng: &mut SmallRng, weights: Kind) -> Action {
    let mut point = rng.random_range(0..weights.iter().sum());
    for (action, weight) in ACTIONS.into_iter().zip(weights) {
        if point < weight {
            return match action {
                Action::Replace(_) => Action::Replace(rng.random_range(0..CLASSES)),
                action => action,
            };
        }
        point -= weight;
    }
    unreachable!("the point is below the sum")
}
