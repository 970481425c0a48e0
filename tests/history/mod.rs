//! Programs of a few threads on tiny filters, and a check of whether the history of their calls
//! conforms to a [specification](spec).

#![allow(
    dead_code,
    unused_imports,
    reason = "some of it serves only real threads, or only shuttle"
)]

#[cfg(shuttle)]
pub mod modelled;
pub mod program;
#[cfg(not(shuttle))]
pub mod real;
pub mod run;
pub mod sights;
pub mod slots;
pub mod spec;
pub mod world;

use std::{
    env,
    fmt::{Debug, Write},
};

use todc_utils::{Action as Moment, History, Specification, WGLChecker};

/// A call on a class of items: its thread, the moments of its start and its end, and its answer.
#[derive(Clone, Copy, Debug)]
pub struct Event<C, A> {
    pub thread: usize,
    pub start: usize,
    pub end: usize,
    pub class: C,
    pub answer: A,
}

impl<C, A> Event<C, A> {
    /// Whether neither call had ended when the other started.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.start < other.end && other.start < self.end
    }
}

/// Whether calls, made on a filter that was filled first, can be put into an order that explains
/// all answers. A call that ended before another one started comes first. Each call has the moments
/// of its start and its end, and its thread.
pub fn is_linearizable<S: Specification>(
    filled: S::Operation,
    calls: impl Iterator<Item = (usize, usize, usize, S::Operation)>,
) -> bool
where
    S::Operation: Clone,
{
    let mut moments = Vec::new();
    for (start, end, thread, operation) in calls {
        let thread = thread.wrapping_add(2);
        moments.push((start, thread, Moment::Call(operation.clone())));
        moments.push((end, thread, Moment::Response(operation)));
    }
    moments.sort_unstable_by_key(|&(moment, ..)| moment);
    let mut actions = vec![(0, Moment::Call(filled.clone())), (0, Moment::Response(filled))];
    actions.extend(moments.into_iter().map(|(_, thread, action)| (thread, action)));
    WGLChecker::<S>::is_linearizable(History::from_actions(actions))
}

/// Formats a history: one line for each call, in the order of their starts.
pub fn show<C: Copy + Debug, A: Copy + Debug>(
    filled: &impl Debug,
    events: &[Event<C, A>],
) -> String {
    let mut events = events.to_vec();
    events.sort_unstable_by_key(|event| event.start);
    let mut text = format!("filled with {filled:?} of the classes\n");
    for Event { thread, start, end, class, answer } in events {
        let _ = writeln!(text, "{start:>6} ..{end:>6}  thread {thread}  {answer:?}  {class:?}");
    }
    text
}

/// A number from the environment.
pub fn variable(name: &str) -> Option<u64> {
    let value = env::var(name).ok()?;
    Some(value.parse().unwrap_or_else(|_| panic!("{name}={value} is not a number")))
}

/// The numbers of the programs to run, by default this many.
pub fn programs(default: u64) -> impl Iterator<Item = u64> {
    let only = variable("GUIRA_PROGRAM");
    (0..variable("GUIRA_PROGRAMS").unwrap_or(default)).map(move |number| only.unwrap_or(number))
}
