//! Random programs of a few threads on tiny tables whose slots expire, and a check that every
//! history is linearizable: see `expiry_history`.
//!
//! It runs as `tests/linearizability.rs` does: on real threads, or under shuttle. `GUIRA_PROGRAMS`
//! and `GUIRA_PROGRAM` have the same meaning.

mod common;
mod expiry_history;

use expiry_history::{
    Answer, Event, is_linearizable,
    spec::{START, Slots},
};

/// Two or three threads beside one another.
#[test]
fn histories_have_an_order() {
    expiry_history::run();
}

#[test]
fn the_checker_accepts_what_an_order_explains_and_nothing_else() {
    let event = |(start, end), answer| Event { thread: start, start, end, class: 0, answer };
    let filled = Slots::from([vec![(0, START - 1)]]);
    let judge = |answers: &[((usize, usize), Answer)]| {
        let events: Vec<Event> =
            answers.iter().map(|&(moments, answer)| event(moments, answer)).collect();
        is_linearizable(&filled, &events)
    };
    let advance = ((2, 7), Answer::Advanced(START + 1));
    let found = |moments, found| (moments, Answer::IsVisible(found));
    // Visible before the advance, either beside it, expired after it.
    assert!(judge(&[found((0, 1), true), advance, found((8, 9), false)]));
    assert!(judge(&[advance, found((3, 4), false)]));
    assert!(judge(&[advance, found((3, 4), true)]));
    assert!(!judge(&[found((0, 1), false), advance]));
    assert!(!judge(&[advance, found((8, 9), true)]));
    // Accepted once, in a generation in which it is not visible.
    let accepted = |moments, generation| (moments, Answer::InsertUnseen(generation));
    assert!(judge(&[advance, accepted((3, 4), Some(START + 1)), accepted((5, 6), None)]));
    assert!(!judge(&[advance, accepted((3, 4), Some(START))]));
    assert!(!judge(&[
        advance,
        accepted((3, 4), Some(START + 1)),
        accepted((5, 6), Some(START + 1))
    ]));
    // A refresh keeps one copy, a removal takes one.
    let refreshed = ((0, 1), Answer::Refreshed(true));
    assert!(judge(&[refreshed, advance, found((8, 9), true)]));
    assert!(!judge(&[refreshed, advance, ((8, 9), Answer::Counted(2))]));
    let removed = |moments| (moments, Answer::Removed(START - 1, true));
    assert!(judge(&[removed((0, 1)), found((3, 4), false)]));
    assert!(!judge(&[removed((0, 1)), removed((3, 4))]));
    assert!(!judge(&[advance, removed((8, 9))]));
}
