//! Hooks that count the steps of a call, or halt it before one of them.

pub mod chain;
pub mod ping_pong;
pub mod scene;
pub mod values;

use std::{cell::RefCell, rc::Rc};

use guira::raw::steps::{Step, with_hook};

/// Performs work that must take at most this many steps, and no lock.
pub fn unblocked<R>(most: usize, work: impl FnOnce() -> R) -> R {
    let mut left = most;
    let hook = move |step| {
        assert!(step != Step::Lock, "this takes no lock");
        left = left.checked_sub(1).unwrap_or_else(|| panic!("this takes at most {most} steps"));
    };
    with_hook(hook, work)
}

/// The steps that the work takes.
pub fn steps<R>(work: impl FnOnce() -> R) -> Vec<Step> {
    let steps = Rc::new(RefCell::new(Vec::new()));
    let seen = Rc::clone(&steps);
    with_hook(move |step| seen.borrow_mut().push(step), work);
    steps.take()
}

/// Calls `halt` once, before the step with this number.
pub fn before_step(number: usize, mut halt: impl FnMut()) -> impl FnMut(Step) {
    let mut taken = 0;
    move |_| {
        if taken == number {
            halt();
        }
        taken += 1;
    }
}

/// The payload of the writers' panics.
pub struct Planted;
