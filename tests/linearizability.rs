//! Random programs of a few threads on tiny filters and maps, and a check that every history is
//! linearizable: that its calls can be put into one order that a multiset explains (see `history`).
//!
//! - `cargo test --test linearizability`: on real threads.
//! - `RUSTFLAGS="--cfg guira_steps" cargo test --test linearizability`: on real threads with random
//!   delays between the steps of a call.
//! - `RUSTFLAGS="--cfg shuttle" cargo test --test linearizability`: under shuttle, which
//!   decides at every atomic operation which thread runs, at random and by PCT (Burckhardt et al.,
//!   ASPLOS 2010). Shuttle is sequentially consistent: this tests the steps, not the orderings.
//!
//! `GUIRA_PROGRAMS=n` runs n programs, for longer or shorter runs; `GUIRA_PROGRAM=k` only number k.
//!
//! The programs run on tables of 2 to 4 buckets, and on tables that split one or two buckets, with
//! five classes of items. So aliases, duplicates, moves, full buckets and splits are frequent: the
//! test counts them, and fails if there were too few. Threads remove only what they inserted, or
//! what they were given before they started. In a map, a class is a key with a value, some classes
//! share a key, and threads replace only values of their own. On a table whose slots expire,
//! threads also begin generations: see `history/spec.rs`.

mod common;
mod history;

use guira::{
    InsertError,
    raw::{Aged, Bare, FixedSpace, GrowingSpace, Plain, Valued},
};
use history::{
    slots::with_keys,
    spec::{Answer, Class, Event, START, Slot, is_linearizable},
};

/// Makes the tests of each kind of filter.
macro_rules! tests {
    ($($name:ident: $space:ty),*) => {$(
        mod $name {
            use super::*;

            #[cfg(not(shuttle))]
            #[test]
            fn two_threads() {
                history::real::run::<$space>(2);
            }

            #[cfg(not(shuttle))]
            #[test]
            fn three_threads() {
                history::real::run::<$space>(3);
            }

            #[cfg(shuttle)]
            #[test]
            fn random_schedules() {
                history::modelled::random::<$space>();
            }

            #[cfg(shuttle)]
            #[test]
            fn pct_schedules() {
                history::modelled::pct::<$space>();
            }
        }
    )*};
}

tests! {
    table: FixedSpace<Bare>,
    table_with_values: FixedSpace<Valued>,
    splitting_table: GrowingSpace<Bare>,
    splitting_table_with_values: GrowingSpace<Valued>,
    expiring_table: FixedSpace<Aged>,
    splitting_expiring_table: GrowingSpace<Aged>
}

/// The start and the end of a call, and its answer.
type Call = (usize, usize, Answer);

/// Whether these calls have an order, each in a thread of its own, beside one from 0 to 3.
fn judge(class: Class, filled: &[Slot], beside: Option<Answer>, calls: &[Call]) -> bool {
    let beside = beside.map(|answer| (0, 3, answer));
    let calls = calls.iter().copied().chain(beside).enumerate();
    let event = |(thread, (start, end, answer))| Event { thread, start, end, class, answer };
    is_linearizable(filled, &calls.map(event).collect::<Vec<Event>>())
}

#[test]
fn the_checker_accepts_what_an_order_explains_and_nothing_else() {
    let class = with_keys::<Bare, Plain<2, 8>>(Bare, 3, [0, 1, 2, 3, 4]).classes[0];
    let inserted = Answer::Insert(Ok(START));
    let judge = |answers: &[Call]| judge(class, &[], Some(inserted), answers);
    // Beside the insert either answer is right, but not first one and then the other; after it only
    // one is.
    assert!(judge(&[(1, 2, Answer::Contains(true))]));
    assert!(judge(&[(1, 2, Answer::Contains(false)), (4, 5, Answer::Contains(true))]));
    assert!(!judge(&[(1, 2, Answer::Contains(true)), (4, 5, Answer::Contains(false))]));
    assert!(!judge(&[(4, 5, Answer::Count(2))]));
    assert!(!judge(&[(4, 5, Answer::Remove(START, false))]));
    assert!(!judge(&[(4, 5, Answer::Remove(START, true)), (6, 7, Answer::Remove(START, true))]));
    assert!(!judge(&[(4, 5, Answer::InsertUnique(Ok(Some(START))))]));
    assert!(judge(&[(1, 5, Answer::InsertUnique(Ok(Some(START)))), (6, 7, Answer::Count(2))]));
    // One copy does not fill a bucket.
    assert!(!judge(&[(4, 5, Answer::Insert(Err(InsertError::Full)))]));
    assert!(!judge(&[(4, 5, Answer::Insert(Err(InsertError::TooManyCopies)))]));
}

#[test]
fn the_checker_of_maps_accepts_what_an_order_explains_and_nothing_else() {
    let world = with_keys::<Valued, Plain<2, 16>>(Valued::new(4), 3, [0, 0, 0, 1, 1]);
    let class = world.classes[0];
    // One copy with the value 0, beside which another thread replaces it by the value 1.
    let replaced = Answer::Replace(1, true);
    let judge = |answers: &[Call]| judge(class, &[(0, START)], Some(replaced), answers);
    let values = |found: &[usize]| Answer::Values(std::array::from_fn(|v| found.contains(&v)));
    assert!(judge(&[(1, 2, Answer::Get(Some(0)))]) && judge(&[(1, 2, Answer::Get(Some(1)))]));
    assert!(!judge(&[(1, 2, Answer::Get(None))]) && !judge(&[(1, 2, Answer::Get(Some(2)))]));
    assert!(!judge(&[(4, 5, Answer::Get(Some(0)))]));
    assert!(!judge(&[(1, 2, Answer::Contains(false))]));
    assert!(!judge(&[(1, 2, Answer::Count(2))]) && !judge(&[(1, 2, Answer::Count(0))]));
    // Each value by itself: an order explains that both are listed, but not that none is.
    assert!(judge(&[(1, 2, values(&[0]))]) && judge(&[(1, 2, values(&[1]))]));
    assert!(judge(&[(1, 2, values(&[0, 1]))]) && !judge(&[(1, 2, values(&[]))]));
    assert!(judge(&[(4, 5, values(&[1]))]) && !judge(&[(4, 5, values(&[0]))]));
    assert!(!judge(&[(1, 2, values(&[1, 2]))]) && !judge(&[(1, 2, values(&[1, 3]))]));
    assert!(!judge(&[(4, 5, Answer::Replace(2, true))]));
    assert!(judge(&[(4, 5, Answer::Replace(2, false))]));
    assert!(!judge(&[(4, 5, Answer::GetOrInsert(Ok(None)))]));
    assert!(judge(&[(4, 5, Answer::GetOrInsert(Ok(Some(1))))]));
    assert!(!judge(&[(4, 5, Answer::GetOrInsert(Ok(Some(0))))]));
}

#[test]
fn the_checker_of_ages_accepts_what_an_order_explains_and_nothing_else() {
    let aged = Aged::new(2, 1, START);
    let class = with_keys::<Aged, Plain<2, 16>>(aged, 2, [0, 1, 2, 3, 4]).classes[0];
    let judge = |answers: &[Call]| judge(class, &[(0, START - 1)], None, answers);
    let advance = (2, 7, Answer::Advanced(START + 1));
    let found = |start, end, found| (start, end, Answer::Contains(found));
    // Visible before the advance, either beside it, expired after it.
    assert!(judge(&[found(0, 1, true), advance, found(8, 9, false)]));
    assert!(judge(&[advance, found(3, 4, false)]));
    assert!(judge(&[advance, found(3, 4, true)]));
    assert!(!judge(&[found(0, 1, false), advance]));
    assert!(!judge(&[advance, found(8, 9, true)]));
    // Accepted once, in a generation in which it is not visible.
    let accepted = |start, end, now| (start, end, Answer::InsertUnique(Ok(now)));
    let first = accepted(3, 4, Some(START + 1));
    assert!(judge(&[advance, first, accepted(5, 6, None)]));
    assert!(!judge(&[advance, accepted(3, 4, Some(START))]));
    assert!(!judge(&[advance, first, accepted(5, 6, Some(START + 1))]));
    // A refresh keeps one copy, a removal takes one.
    let refreshed = (0, 1, Answer::Refresh(true));
    assert!(judge(&[refreshed, advance, found(8, 9, true)]));
    assert!(!judge(&[refreshed, advance, (8, 9, Answer::Count(2))]));
    let removed = |start, end| (start, end, Answer::Remove(START - 1, true));
    assert!(judge(&[removed(0, 1), found(3, 4, false)]));
    assert!(!judge(&[removed(0, 1), removed(3, 4)]));
    assert!(!judge(&[advance, removed(8, 9)]));
}

/// An insert takes the last slot, a removal frees it and another insert takes it again, beside an
/// `insert_unique` of the same class. This may return `Full` only if the class was absent from a
/// full bucket. Random programs hardly ever do this.
#[cfg(shuttle)]
#[test]
fn full_is_not_returned_if_there_was_the_item_or_room_for_it() {
    use history::{
        modelled,
        program::{Program, Step},
        spec::Action,
    };

    let world = with_keys::<Bare, Plain<2, 8>>(Bare, 1, [0, 1, 2, 3, 4]);
    let step = |action| Step { action, class: 1, way: 0 };
    let toggle = [Action::Insert(0), Action::Remove, Action::Insert(0)].map(step).to_vec();
    let threads = vec![toggle, vec![step(Action::InsertUnique)]];
    let program = Program { number: 0, world, filling: vec![(0, START)], threads };
    let program = std::sync::Arc::new(program);
    let run = move || {
        modelled::run_once(&program, 2);
    };
    shuttle::check_random(run, 20_000);
}

/// There is a copy of the key, or one with the value 1, at each moment, first in one bucket and
/// then in the other: an item gets the value of its alias, and the alias the one that the item had;
/// or an alias with the value 1 is inserted, and then the value of the item is replaced, or the
/// item removed. A lookup must not miss it. Random programs rarely do this.
#[cfg(shuttle)]
fn lookups_beside_writers_of_their_key<S: history::world::Tiny + 'static>() {
    use history::{
        modelled,
        program::{Program, Step},
        spec::Action,
    };

    let step = |action, class, way| Step { action, class, way };
    let swap = [step(Action::Replace(1), 0, 0), step(Action::Replace(0), 1, 1)];
    let alias = [step(Action::Insert(0), 1, 0), step(Action::Replace(0), 1, 0)];
    let successor = [step(Action::Insert(0), 1, 0), step(Action::Remove, 0, 0)];
    let worlds = (0..).map(|seed| std::sync::Arc::new(S::world(&mut common::rng(seed))));
    let is_telling = |world: &std::sync::Arc<history::world::World<S>>| {
        world.classes[0].same[1] && world.has_two_buckets(0)
    };
    for world in worlds.filter(is_telling).take(2) {
        for lookup in [Action::Contains, Action::Get, Action::Values, Action::ContainsValue] {
            for (filling, writer) in [(vec![0, 1], swap), (vec![1], alias), (vec![0], successor)] {
                for way in [0, 1] {
                    let threads = vec![writer.to_vec(), vec![step(lookup, 1, way)]];
                    let filling = filling.iter().map(|&class| (class, START)).collect();
                    let world = std::sync::Arc::clone(&world);
                    let program = Program { number: 0, world, filling, threads };
                    let program = std::sync::Arc::new(program);
                    let run = move || {
                        modelled::run_once(&program, 2);
                    };
                    shuttle::check_random(run, 2_000);
                }
            }
        }
    }
}

#[cfg(shuttle)]
#[test]
fn no_value_is_missed_in_a_map() {
    lookups_beside_writers_of_their_key::<FixedSpace<Valued>>();
}

#[cfg(shuttle)]
#[test]
fn no_value_is_missed_in_a_map_that_grows() {
    lookups_beside_writers_of_their_key::<GrowingSpace<Valued>>();
}
