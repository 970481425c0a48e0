//! Random programs: what a filter is filled with, and what each thread does.

use std::sync::Arc;

use rand::{RngExt, rngs::SmallRng};

use super::{
    slots::{FIRST, Slot as _},
    spec::{Action, CLASSES, START, Slot, WINDOW},
    world::{Tiny, World},
};
use crate::common::rng;

/// Largest number of advances in a program. With more, a slot that a suspended insert adds could be
/// visible once more.
const MAX_ADVANCES: usize = 2;

/// One step of a thread's program.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    pub action: Action,
    pub class: usize,
    /// Which of its two buckets comes first.
    pub way: usize,
}

/// A world, its filling, and the steps of each thread.
pub struct Program<S: Tiny> {
    pub number: u64,
    pub world: Arc<World<S>>,
    /// The classes to insert before the threads start, each in a generation.
    pub filling: Vec<Slot>,
    pub threads: Vec<Vec<Step>>,
}

/// The actions, in the order of the weights of [`slots::Slot::KINDS`](super::slots::Slot::KINDS).
const ACTIONS: [Action; 13] = [
    Action::Contains,
    Action::Count,
    Action::Insert(0),
    Action::InsertUnique,
    Action::Remove,
    Action::Get,
    Action::Values,
    Action::ContainsValue,
    Action::Replace(0),
    Action::Refresh,
    Action::Sweep,
    Action::Advance,
    Action::Split,
];

/// A kind of threads, by the weights of [`ACTIONS`].
pub type Kind = [u32; ACTIONS.len()];

impl<S: Tiny> Program<S> {
    /// The program with this number, for this many threads: always the same.
    pub fn numbered(number: u64, threads: usize) -> Self {
        let mut rng = rng(number);
        let world = Arc::new(S::world(&mut rng));
        // Most actions concern two classes.
        let first = rng.random_range(0..CLASSES);
        let hot = [first, (first + rng.random_range(1..CLASSES)) % CLASSES];
        let focus = Focus { hot, aside: rng.random_bool(0.5) };
        let filling = filling::<S>(&mut rng, world.slots, &focus);
        let mut advances = 0;
        let threads =
            (0..threads).map(|index| thread::<S>(&mut rng, &focus, index, &mut advances)).collect();
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

/// What to fill a filter with: mostly so that one to three slots stay empty. One that grows gets so
/// much that the threads find some room, or none.
fn filling<S: Tiny>(rng: &mut SmallRng, slots: u32, focus: &Focus) -> Vec<Slot> {
    let copies = match rng.random_range(0..8) {
        _ if S::GROWS => rng.random_range(slots * 3 / 4..=slots + 2),
        0 => slots / 4,
        1 => slots / 2,
        2 => slots,
        _ => slots - rng.random_range(1..=3),
    };
    // Now and then one class fills its buckets.
    let monotonous = rng.random_bool(0.1);
    let slot = |_| {
        let class = match monotonous {
            true => focus.hot[1],
            false if S::GROWS => rng.random_range(0..CLASSES),
            false => focus.class(rng, false),
        };
        (class, if S::Payload::EXPIRES { rng.random_range(FIRST..=START) } else { START })
    };
    let mut filling: Vec<Slot> = (0..copies.max(1)).map(slot).collect();
    if focus.aside {
        filling[0].0 = focus.hot[0];
    }
    filling
}

/// The steps of a thread: the first one mostly reads, the others write.
fn thread<S: Tiny>(
    rng: &mut SmallRng,
    focus: &Focus,
    index: usize,
    advances: &mut usize,
) -> Vec<Step> {
    let kinds = <S::Payload>::KINDS;
    let reads = index == 0 && rng.random_bool(0.75);
    let kind = if reads { 0 } else { rng.random_range(1..kinds.len()) };
    let length = rng.random_range(2..=if S::Payload::EXPIRES { 4 } else { 5 });
    // Some threads concern a single class.
    let only = rng.random_bool(0.25).then(|| focus.class(rng, reads));
    let step = |_| {
        let mut action = weighted(rng, kinds[kind]);
        if action == Action::Advance {
            *advances += 1;
            action = if *advances > MAX_ADVANCES { Action::Sweep } else { action };
        }
        let class = only.unwrap_or_else(|| focus.class(rng, reads));
        Step { action, class, way: rng.random_range(0..2) }
    };
    (0..length).map(step).collect()
}

/// An action, by the weights of a kind.
fn weighted(rng: &mut SmallRng, weights: Kind) -> Action {
    let mut point = rng.random_range(0..weights.iter().sum());
    for (action, weight) in ACTIONS.into_iter().zip(weights) {
        if point < weight {
            return match action {
                Action::Insert(_) => Action::Insert(rng.random_range(0..=WINDOW)),
                Action::Replace(_) => Action::Replace(rng.random_range(0..CLASSES)),
                action => action,
            };
        }
        point -= weight;
    }
    unreachable!("the point is below the sum")
}
