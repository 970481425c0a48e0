//! Histories of the public methods of filters of every kind, on a few keys beside many others: each
//! is checked to be linearizable, key by key, and the counts agree at the end. Sets and maps may
//! have a limit on copies, or be so full that inserts move items. Where items expire, threads also
//! begin generations, by `advance` or by a clock that only they move.
//!
//! An answer of a batch, and a copy of a filter, is a step for each key: each takes effect on its
//! own. No two keys are aliases, so that a count tells what was inserted.
//!
//! - `cargo test --test public`: on real threads.
//! - `RUSTFLAGS="--cfg guira_steps" cargo test --test public`: on real threads with random delays
//!   between the steps of a call. Also with threads that stop or panic in each method: see `halts`.
//! - `RUSTFLAGS="--cfg shuttle" cargo test --test public`: under shuttle, which decides at every
//!   atomic operation which thread runs, at random and by PCT (Burckhardt et al., ASPLOS 2010).
//!   Shuttle is sequentially consistent: this tests the steps, not the orderings.
//!
//! `GUIRA_PROGRAMS=n` runs n programs, for longer or shorter runs; `GUIRA_PROGRAM=k` only number k.

mod calls;
#[path = "../common/mod.rs"]
mod common;
#[cfg(guira_steps)]
mod halts;
mod run;
mod settings;
mod spec;
#[cfg(guira_steps)]
mod writers;

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
        is_linearizable(&[1], &events, Rules { window: 0, grows: false, limit: None, too_many: 8 })
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
    // A clear takes copies one after the other.
    let beside = [(0, 9, Op::Clear), (1, 2, Op::Add(Some(2), 0)), (3, 4, Op::Has(2, false))];
    let later = |found| (10, 11, Op::Contains(found));
    assert!(judge(&[&beside[..], &[(5, 6, Op::Contains(true)), later(false)]].concat()));
    assert!(!judge(&[&beside[..], &[(5, 6, Op::Contains(true)), later(true)]].concat()));
    assert!(!judge(&[(0, 1, Op::Remove(2, true))]));
    assert!(judge(&[(0, 1, Op::Remove(2, false))]));
}

/// What it accepts where copies are limited.
#[test]
fn the_checker_of_limits_accepts_what_an_order_explains_and_nothing_else() {
    use spec::{Event, Op, Rules, is_linearizable};

    let judge = |limit, filled: &[u16], calls: &[(usize, usize, Op<u16>)]| {
        let event = |(thread, &(start, end, op))| Event { thread, start, end, now: (0, 0), op };
        let events = calls.iter().enumerate().map(event).collect::<Vec<_>>();
        let rules = Rules { window: 0, grows: false, limit: Some(limit), too_many: limit };
        is_linearizable(filled, &events, rules)
    };
    let add = Op::Add(Some(1), 0);
    for limit in 1..4 {
        let filled = [1; 3].split_at(limit).0;
        let below = filled.split_at(limit - 1).0;
        let judge = |filled: &[_], calls: &[_]| judge(limit, filled, calls);
        assert!(judge(filled, &[(0, 1, Op::Refused)]));
        assert!(!judge(below, &[(0, 1, Op::Refused)]));
        assert!(judge(below, &[(0, 3, Op::Refused), (1, 2, add)]));
        assert!(judge(filled, &[(0, 3, Op::Refused), (1, 2, Op::Remove(1, true))]));
        assert!(!judge(filled, &[(0, 1, Op::Remove(1, true)), (2, 3, Op::Refused)]));
        // One sequence never exceeds the limit, and each further one does by a copy at most.
        assert!(!judge(filled, &[(0, 1, add)]));
        assert!(!judge(below, &[(0, 1, add), (2, 3, add)]));
        assert!(judge(below, &[(0, 2, add), (1, 3, add), (4, 5, Op::Count(limit + 1))]));
        assert!(!judge(below, &[(0, 2, add), (1, 3, add), (4, 5, add)]));
        assert!(!judge(filled, &[(0, 2, add), (1, 3, add)]));
        let of_three = [(0, 3, add), (1, 4, add), (2, 5, Op::AddUnique(Some(1), 0))];
        assert_eq!(judge(below, &of_three), below.is_empty());
        // What overlaps later is no excuse.
        let removed = [(2, 3, Op::Remove(1, true)), (4, 5, Op::Remove(1, true))];
        let later = [&removed[..], &[(6, 8, add), (7, 9, add)]].concat();
        assert!(judge(&[filled, &[1]].concat(), &later));
        assert!(!judge(filled, &[&[(0, 1, add)], &later[..]].concat()));
        // A clear takes what is added meanwhile, or not.
        assert!(judge(filled, &[(0, 5, Op::Clear), (1, 2, add), (3, 4, add)]));
    }
    // A merge that is refused adds nothing in the end.
    let merge = |(start, end)| [Op::Lend(1, true), Op::TakeBack(1)].map(|op| (start, end, op));
    let beside = |calls: &[_]| judge(2, &[], &[&merge((0, 9)), calls].concat());
    assert!(beside(&[(1, 2, Op::Count(1)), (3, 4, Op::Count(0))]));
    assert!(beside(&[(1, 2, Op::Count(0)), (3, 4, Op::Count(1)), (10, 11, Op::Count(0))]));
    assert!(!beside(&[(1, 2, Op::Count(1)), (3, 4, Op::Count(0)), (5, 6, Op::Count(1))]));
    assert!(!beside(&[(10, 11, Op::Count(1))]));
    assert!(!beside(&[(1, 2, add), (10, 11, Op::Count(0))]));
}

/// What it accepts where items expire: after one generation, one with the generation 7.
#[test]
fn the_checker_of_generations_accepts_what_an_order_explains_and_nothing_else() {
    use spec::{Event, Op, Rules, is_linearizable};

    let judge = |(window, grows), calls: &[(usize, (u64, u64), Op<u64>)]| {
        let event = |(thread, &(start, now, op))| Event { thread, start, end: start + 2, now, op };
        let events = calls.iter().enumerate().map(event).collect::<Vec<_>>();
        is_linearizable(&[7], &events, Rules { window, grows, limit: None, too_many: 8 })
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
