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
//! The programs run on tables of 2 to 4 buckets, and on tables that split one or two buckets, with
//! five classes of items. So aliases, duplicates, moves, full buckets and splits are frequent: the
//! test counts them, and fails if there were too few. Threads remove only what they inserted, or
//! what they were given before they started. In a map, a class is a key with a value, some classes
//! share a key, and threads replace only values of their own. On a table whose slots expire, threads
//! also begin generations: see `history/aging.rs`.

mod common;
mod history;

use common::rng;
use guira::{
    InsertError,
    raw::{Aged, Bare, FixedSpace, GrowingSpace, Plain, Valued},
};
use history::{
    Aging, Answer, CLASSES, OneTable, Run, Splitting, TableWorld, Target, ages, aging,
    multiset::{Event, is_linearizable},
};

/// Makes the tests of each kind of filter.
macro_rules! tests {
    ($($name:ident: $scene:ty),*) => {$(
        mod $name {
            use super::*;

            #[cfg(not(shuttle))]
            #[test]
            fn two_threads() {
                history::real::run::<$scene>(2);
            }

            #[cfg(not(shuttle))]
            #[test]
            fn three_threads() {
                history::real::run::<$scene>(3);
            }

            #[cfg(shuttle)]
            #[test]
            fn random_schedules() {
                history::modelled::random::<$scene>();
            }

            #[cfg(shuttle)]
            #[test]
            fn pct_schedules() {
                history::modelled::pct::<$scene>();
            }
        }
    )*};
}

tests! {
    table: Run<OneTable<Bare>>,
    table_with_values: Run<OneTable<Valued>>,
    splitting_table: Run<Splitting<Bare>>,
    splitting_table_with_values: Run<Splitting<Valued>>,
    expiring_table: Aging<FixedSpace<Aged>>,
    splitting_expiring_table: Aging<GrowingSpace<Aged>>
}

#[test]
fn the_checker_accepts_what_an_order_explains_and_nothing_else() {
    let world = TableWorld::of::<Plain<2, 8>>(&mut rng(0), Bare, 3, [0, 1, 2, 3, 4]);
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

#[test]
fn the_checker_of_maps_accepts_what_an_order_explains_and_nothing_else() {
    let world = TableWorld::of::<Plain<2, 16>>(&mut rng(0), Valued::new(4), 3, [0, 0, 0, 1, 1]);
    let class = OneTable::class(&world, 0);
    let event = |thread, start, end, answer| Event { thread, start, end, class, answer };
    // One copy with the value 0, beside which another thread replaces it by the value 1.
    let replaced = event(0, 0, 3, Answer::Replace(1, true));
    let judge = |answers: &[(usize, usize, Answer)]| {
        let others = answers.iter().map(|&(start, end, answer)| event(1, start, end, answer));
        let events: Vec<Event> = others.chain([replaced]).collect();
        is_linearizable([1, 0, 0, 0, 0], &events)
    };
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
    use ages::START;
    use aging::Answer;

    let event = |(start, end), answer| aging::Event { thread: start, start, end, class: 0, answer };
    let filled = ages::Slots::from([vec![(0, START - 1)]]);
    let judge = |answers: &[((usize, usize), Answer)]| {
        let events: Vec<aging::Event> =
            answers.iter().map(|&(moments, answer)| event(moments, answer)).collect();
        aging::is_linearizable::<FixedSpace<Aged>>(&filled, &events)
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

/// An insert takes the last slot, a removal frees it and another insert takes it again, beside an
/// `insert_unique` of the same class. This may return `Full` only if the class was absent from a
/// full bucket. Random programs hardly ever do this.
#[cfg(shuttle)]
#[test]
fn full_is_not_returned_if_there_was_the_item_or_room_for_it() {
    use history::{Action, Program, Step, modelled};

    let world = TableWorld::of::<Plain<2, 8>>(&mut rng(0), Bare, 1, [0, 1, 2, 3, 4]);
    let step = |action| Step { action, class: 1, way: 0 };
    let toggle = [Action::Insert, Action::Remove, Action::Insert].map(step).to_vec();
    let threads = vec![toggle, vec![step(Action::InsertUnique)]];
    let program = Program::<OneTable<Bare>> { number: 0, world, filling: vec![0], threads };
    let program = std::sync::Arc::new(program);
    let run = move || {
        modelled::run_once::<Run<_>>(&program, 2);
    };
    shuttle::check_random(run, 20_000);
}

/// There is a copy of the key, or one with the value 1, at each moment, first in one bucket and
/// then in the other: an item gets the value of its alias, and the alias the one that the item had;
/// or an alias with the value 1 is inserted, and then the value of the item is replaced, or the
/// item removed. A lookup must not miss it. Random programs rarely do this.
#[cfg(shuttle)]
fn lookups_beside_writers_of_their_key<T: Target + 'static>() {
    use history::{Action, Program, Step, modelled};

    let step = |action, class, way| Step { action, class, way };
    let swap = [step(Action::Replace(1), 0, 0), step(Action::Replace(0), 1, 1)];
    let alias = [step(Action::Insert, 1, 0), step(Action::Replace(0), 1, 0)];
    let successor = [step(Action::Insert, 1, 0), step(Action::Remove, 0, 0)];
    let worlds = (0..).map(|seed| T::world(&mut rng(seed)));
    let is_telling = |world: &T::World| T::class(world, 0).same[1] && T::has_two_buckets(world, 0);
    for world in worlds.filter(is_telling).take(2) {
        for lookup in [Action::Contains, Action::Get, Action::Values, Action::ContainsValue] {
            for (filling, writer) in [(vec![0, 1], swap), (vec![1], alias), (vec![0], successor)] {
                for way in [0, 1] {
                    let threads = vec![writer.to_vec(), vec![step(lookup, 1, way)]];
                    let (world, filling) = (world.clone(), filling.clone());
                    let program = Program::<T> { number: 0, world, filling, threads };
                    let program = std::sync::Arc::new(program);
                    let run = move || {
                        modelled::run_once::<Run<_>>(&program, 2);
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
    lookups_beside_writers_of_their_key::<OneTable<Valued>>();
}

#[cfg(shuttle)]
#[test]
fn no_value_is_missed_in_a_map_that_grows() {
    lookups_beside_writers_of_their_key::<Splitting<Valued>>();
}
