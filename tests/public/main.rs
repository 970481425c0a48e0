//! Histories of the public methods of filters of every kind, on a few keys beside many others: each
//! is checked to be linearizable, key by key, and the counts agree at the end. Where items expire,
//! threads also begin generations, by `advance` or by a clock that only they move.
//!
//! An answer of a batch, and a copy of a filter, is a step for each key: each takes effect on its
//! own. `tests/linearizability.rs` does the same beneath the public methods, with aliases and full
//! buckets. Here no two keys are aliases, so that a count tells what was inserted.
//!
//! - `cargo test --test public`: on real threads.
//! - `RUSTFLAGS="--cfg shuttle" cargo test --release --test public`: under shuttle.
//! - `RUSTFLAGS="--cfg guira_steps" cargo test --release --test public`: also with threads that
//!   stop or panic in each method (see `halts`).

mod calls;
#[path = "../common/mod.rs"]
mod common;
#[cfg(guira_steps)]
#[path = "../steps/halting.rs"]
mod halting;
#[cfg(guira_steps)]
mod halts;
#[path = "../history/mod.rs"]
mod history;
mod run;
mod spec;

use common::suite::on_all_kinds;
use run::histories_are_linearizable;

on_all_kinds! { histories_are_linearizable }

/// What the checker of one key accepts.
#[test]
fn the_checker_accepts_what_an_order_explains_and_nothing_else() {
    use spec::{Event, Op, Rules, is_linearizable};

    let judge = |calls: &[(usize, usize, Op<u16>)]| {
        let event = |(thread, &(start, end, op))| Event { thread, start, end, now: (0, 0), op };
        let events = calls.iter().enumerate().map(event).collect::<Vec<_>>();
        is_linearizable(&[1], &events, Rules { window: 0, grows: false })
    };
    let removed = (0, 3, Op::Remove(1, true));
    assert!(judge(&[removed, (1, 2, Op::Contains(true))]));
    assert!(judge(&[removed, (1, 2, Op::Contains(false))]));
    assert!(!judge(&[removed, (4, 5, Op::Contains(true))]));
    assert!(!judge(&[removed, (4, 5, Op::Count(1))]));
    assert!(!judge(&[(0, 1, Op::AddUnique(Some(2), 0))]));
    assert!(judge(&[removed, (1, 2, Op::AddUnique(Some(2), 0)), (4, 5, Op::Has(2, true))]));
    assert!(!judge(&[(0, 1, Op::Found(Some(2)))]));
    assert!(judge(&[(0, 1, Op::Found(Some(1)))]));
    assert!(judge(&[(0, 3, Op::Retag(1, 2)), (4, 5, Op::Has(1, false)), (6, 7, Op::Has(2, true))]));
    assert!(judge(&[(0, 3, Op::Clear), (1, 2, Op::Add(None, 0)), (4, 5, Op::Count(0))]));
    assert!(judge(&[(0, 3, Op::Clear), (1, 2, Op::Add(None, 0)), (4, 5, Op::Count(1))]));
    assert!(!judge(&[(0, 1, Op::Clear), (2, 3, Op::Add(None, 0)), (4, 5, Op::Count(0))]));
    assert!(!judge(&[(0, 1, Op::Remove(2, true))]));
    assert!(judge(&[(0, 1, Op::Remove(2, false))]));
}

/// What it accepts where items expire: after one generation, one with the generation 7.
#[test]
fn the_checker_of_generations_accepts_what_an_order_explains_and_nothing_else() {
    use spec::{Event, Op, Rules, is_linearizable};

    let judge = |(window, grows), calls: &[(usize, (u64, u64), Op<u64>)]| {
        let event = |(thread, &(start, now, op))| Event { thread, start, end: start + 2, now, op };
        let events = calls.iter().enumerate().map(event).collect::<Vec<_>>();
        is_linearizable(&[7], &events, Rules { window, grows })
    };
    let (old, either, new) = ((8, 8), (8, 9), (9, 9));
    for grows in [false, true] {
        let judge = |calls: &[_]| judge((1, grows), calls);
        assert!(judge(&[(0, old, Op::Contains(true)), (3, new, Op::Contains(false))]));
        assert!(judge(&[(0, either, Op::Contains(true)), (3, either, Op::Count(0))]));
        assert!(!judge(&[(0, old, Op::Contains(false))]));
        assert!(!judge(&[(0, new, Op::Contains(true))]));
        assert!(judge(&[(0, old, Op::Remove(7, true)), (3, old, Op::Contains(false))]));
        assert!(judge(&[(0, new, Op::Remove(7, false))]));
        assert!(!judge(&[(0, new, Op::Remove(7, true))]));
        assert!(!judge(&[(0, old, Op::Remove(7, false))]));
        // An insert has the generation by which it decides, or an earlier one for a shorter life.
        assert!(judge(&[(0, either, Op::AddUnique(Some(9), 0)), (3, new, Op::Count(1))]));
        assert!(!judge(&[(0, either, Op::AddUnique(Some(8), 0))]));
        assert!(!judge(&[(0, new, Op::Add(Some(8), 0))]));
        assert!(judge(&[(0, new, Op::Add(Some(8), 1)), (3, (10, 10), Op::Count(0))]));
        assert!(judge(&[(0, new, Op::Add(None, 0)), (3, (10, 10), Op::Count(1))]));
        assert!(judge(&[(0, old, Op::Refresh(true)), (3, new, Op::Count(1))]));
        assert!(!judge(&[(0, new, Op::Refresh(true))]));
        assert!(!judge(&[(0, old, Op::Refresh(false))]));
    }
    // Of two copies, a refresh takes the older one, or both if slots know different parts.
    let refreshed = |grows, count| {
        let later = [(3, new, Op::Refresh(true)), (6, (11, 11), Op::Count(count))];
        judge((2, grows), &[&[(0, old, Op::Add(None, 0))], &later[..]].concat())
    };
    assert!(refreshed(false, 1) && refreshed(true, 1) && refreshed(true, 2));
    assert!(!refreshed(false, 2) && !refreshed(false, 0) && !refreshed(true, 0));
    // A removal takes a copy beside a newer one, or none if slots know different parts.
    let beside = [(0, old, Op::Add(None, 0)), (3, old, Op::Remove(7, false))];
    assert!(judge((1, true), &beside) && !judge((1, false), &beside));
}
