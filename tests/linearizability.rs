//! Random programs of a few threads on tiny filters and maps, and a check that every history is
//! linearizable: that its calls can be put into one order that a multiset explains (see `history`).
//!
//! - `cargo test --test linearizability`: on real threads.
//! - `RUSTFLAGS="--cfg guira_steps" cargo test --test linearizability`: on real threads with random
//!   delays between the steps of a call.
//! - `RUSTFLAGS="--cfg shuttle" cargo test --release --test linearizability`: under shuttle, which
//!   decides at every atomic operation which thread runs, at random and by PCT (Burckhardt et al.,
//!   ASPLOS 2010). Shuttle is sequentially consistent: this tests the steps, not the orderings.
//!
//! `GUIRA_PROGRAMS=n` runs n programs, for longer or shorter runs; `GUIRA_PROGRAM=k` only number k.
//!
//! The programs run on tables of 2 to 4 buckets, and on chains that grow from 1 or 2 buckets, with
//! five classes of items. So aliases, duplicates, moves, full buckets and new segments are
//! frequent: the test counts them, and fails if there were too few. Threads remove only what they
//! inserted, or what they were given before they started. In a map, a class is a pair with a value,
//! two or three classes share each pair, and threads replace only values of their own.

mod common;
mod history;

use common::rng;
use guira::{
    InsertError,
    raw::{Chain, Plain},
};
use history::{Answer, CLASSES, Event, OneMap, OneTable, TableWorld, Target, is_linearizable};

/// On real threads.
#[cfg(not(shuttle))]
mod threads {
    use super::{Chain, OneMap, OneTable, history::real::run};

    #[test]
    fn two_on_a_table() {
        run::<OneTable>(2);
    }

    #[test]
    fn three_on_a_table() {
        run::<OneTable>(3);
    }

    #[test]
    fn two_on_a_map() {
        run::<OneMap>(2);
    }

    #[test]
    fn three_on_a_map() {
        run::<OneMap>(3);
    }

    #[test]
    fn two_on_a_chain() {
        run::<Chain>(2);
    }

    #[test]
    fn three_on_a_chain() {
        run::<Chain>(3);
    }
}

/// Under shuttle.
#[cfg(shuttle)]
mod schedules {
    use super::{
        Chain, OneMap, OneTable,
        history::modelled::{pct, random},
    };

    #[test]
    fn random_on_a_table() {
        random::<OneTable>();
    }

    #[test]
    fn random_on_a_map() {
        random::<OneMap>();
    }

    #[test]
    fn random_on_a_chain() {
        random::<Chain>();
    }

    #[test]
    fn pct_on_a_table() {
        pct::<OneTable>();
    }

    #[test]
    fn pct_on_a_map() {
        pct::<OneMap>();
    }

    #[test]
    fn pct_on_a_chain() {
        pct::<Chain>();
    }
}

#[test]
fn the_checker_accepts_what_an_order_explains_and_nothing_else() {
    let world = TableWorld::of::<Plain<2, 8>>(&mut rng(0), 3);
    let class = OneTable::class(&world, 0);
    let event = |thread, start, end, answer| Event { thread, start, end, class, answer };
    let inserted = event(0, 0, 3, Answer::Insert(Ok(())));
    let judge = |answers: &[(usize, usize, Answer)]| {
        let others = answers.iter().map(|&(start, end, answer)| event(1, start, end, answer));
        let events: Vec<Event> = others.chain([inserted]).collect();
        is_linearizable([0; CLASSES], &events)
    };
    // Beside the insert either answer is right, but not first one and then the other; after it only
    // one is.
    assert!(judge(&[(1, 2, Answer::Contains(true))]));
    assert!(judge(&[(1, 2, Answer::Contains(false)), (4, 5, Answer::Contains(true))]));
    assert!(!judge(&[(1, 2, Answer::Contains(true)), (4, 5, Answer::Contains(false))]));
    assert!(!judge(&[(4, 5, Answer::Count(2))]));
    assert!(!judge(&[(4, 5, Answer::Remove(false))]));
    assert!(!judge(&[(4, 5, Answer::Remove(true)), (6, 7, Answer::Remove(true))]));
    assert!(!judge(&[(4, 5, Answer::InsertUnique(Ok(true)))]));
    assert!(judge(&[(1, 5, Answer::InsertUnique(Ok(true))), (6, 7, Answer::Count(2))]));
    // One copy does not fill a bucket.
    assert!(!judge(&[(4, 5, Answer::Insert(Err(InsertError::Full)))]));
    assert!(!judge(&[(4, 5, Answer::Insert(Err(InsertError::TooManyCopies)))]));
}

/// An insert takes the last slot, a removal frees it and another insert takes it again, beside an
/// `insert_unique` of the same class. This may return `Full` only if the class was absent from a
/// full bucket. Random programs hardly ever do this.
#[cfg(shuttle)]
#[test]
fn full_is_not_returned_if_there_was_the_item_or_room_for_it() {
    use history::{Action, Program, Step, modelled};

    let world = TableWorld::of::<Plain<2, 8>>(&mut rng(0), 1);
    let step = |action| Step { action, class: 1, way: 0 };
    let toggle = [Action::Insert, Action::Remove, Action::Insert].map(step).to_vec();
    let threads = vec![toggle, vec![step(Action::InsertUnique)]];
    let program = Program::<OneTable> { number: 0, world, filling: vec![0], threads };
    let run = move || {
        modelled::run_once(&program);
    };
    shuttle::check_random(run, 20_000);
}
