//! Histories of the public methods of filters of every kind, on a few keys beside many others: each
//! is checked to be linearizable, key by key, and the counts agree at the end.
//!
//! An answer of a batch, and a copy of a filter, is a step for each key: each takes effect on its
//! own. `tests/linearizability.rs` does the same beneath the public methods, with aliases and full
//! buckets. Here no two keys are aliases, so that a count tells what was inserted.
//!
//! - `cargo test --test public`: on real threads.
//! - `RUSTFLAGS="--cfg shuttle" cargo test --release --test public`: under shuttle.

#[path = "../common/mod.rs"]
mod common;
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
    use spec::{Event, Op, is_linearizable};

    let judge = |calls: &[(usize, usize, Op<u8>)]| {
        let event = |(thread, &(start, end, op))| Event { thread, start, end, op };
        is_linearizable(&[1], &calls.iter().enumerate().map(event).collect::<Vec<_>>())
    };
    let removed = (0, 3, Op::Remove(1, true));
    assert!(judge(&[removed, (1, 2, Op::Contains(true))]));
    assert!(judge(&[removed, (1, 2, Op::Contains(false))]));
    assert!(!judge(&[removed, (4, 5, Op::Contains(true))]));
    assert!(!judge(&[removed, (4, 5, Op::Count(1))]));
    assert!(!judge(&[(0, 1, Op::AddUnique(Some(2)))]));
    assert!(judge(&[removed, (1, 2, Op::AddUnique(Some(2))), (4, 5, Op::Has(2, true))]));
    assert!(!judge(&[(0, 1, Op::Found(Some(2)))]));
    assert!(judge(&[(0, 1, Op::Found(Some(1)))]));
    assert!(judge(&[(0, 3, Op::Retag(1, 2)), (4, 5, Op::Has(1, false)), (6, 7, Op::Has(2, true))]));
    assert!(judge(&[(0, 3, Op::Clear), (1, 2, Op::Add(None)), (4, 5, Op::Count(0))]));
    assert!(judge(&[(0, 3, Op::Clear), (1, 2, Op::Add(None)), (4, 5, Op::Count(1))]));
    assert!(!judge(&[(0, 1, Op::Clear), (2, 3, Op::Add(None)), (4, 5, Op::Count(0))]));
    assert!(!judge(&[(0, 1, Op::Remove(2, true))]));
    assert!(judge(&[(0, 1, Op::Remove(2, false))]));
}
