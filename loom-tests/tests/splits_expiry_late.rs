//! Tables that grow and whose slots expire: decisions that are generations old.
#![cfg(not(feature = "semi-sorted"))]

use std::sync::Arc;

use guira::raw::Place;
use guira_loom_tests::{
    Seen, check, check_shallow, spawn,
    splits::{S, leaving, split, staying},
    splits_expiry::{
        Aging, START, WINDOW, aging, assert_counts, assert_ends, first, put, relocate, with_load,
    },
};

/// Runs an operation that sweeps bucket 0 beside two advances and an insert into it: one execution
/// of such a model.
fn late(max: u64, set_up: fn(&Aging), sweep: fn(&Aging)) -> impl Fn(&Arc<Seen>) {
    move |seen| {
        let table = aging(max);
        let new = first(&table, 1, 9);
        set_up(&table);
        let sweeper = spawn(&table, sweep);
        table.advance::<S>();
        table.advance::<S>();
        assert_eq!(table.insert_for::<S>(new, WINDOW), Ok(START + 2));
        sweeper.join().unwrap();
        assert!(table.is_visible(new), "a visible slot was swept");
        seen.note("done");
        assert_ends(&table);
    }
}

/// Why one preemption is enough.
const ONE_STOP: &str =
    "both advances and the insert run while the split stands between the generation and its lock";

/// Catches a split that drops slots by a generation which it read before it had the lock.
#[test]
fn advances_beside_a_split() {
    check_shallow("split_late_split", 1_300, &["done"], ONE_STOP, late(4, |_| {}, split));
}

/// Catches the same for a split out of turn.
#[test]
fn advances_beside_a_split_out_of_turn() {
    let split_early = |table: &Aging| {
        assert_eq!(table.split_early(Place { bucket: 0, level: 0 }), Ok(true));
    };
    check_shallow("split_late_early", 1_300, &["done"], ONE_STOP, late(4, |_| {}, split_early));
}

/// Catches a mover that sweeps its destination by a generation which it read before it had the
/// lock.
#[test]
fn advances_beside_a_move() {
    let set_up = |table: &Aging| put(table, leaving(table, 1, 0).sides[1], START);
    let relocate = |table: &Aging| {
        let _ = relocate(table, leaving(table, 1, 0).sides[1], START);
    };
    check("split_late_move", 128, &["done"], late(2, set_up, relocate));
}

/// Catches a sweep by a generation that it read before it had the lock, or without the lock.
#[test]
fn advances_beside_a_sweep() {
    let sweep = |table: &Aging| {
        table.sweep::<S>(2);
    };
    check("split_late_sweep", 171, &["done"], late(2, |_| {}, sweep));
}

/// Catches an insert into full buckets that sweeps them by a generation which it read before it had
/// the lock.
#[test]
fn advances_beside_an_insert_into_a_full_bucket() {
    let set_up =
        |table: &Aging| (0..2).for_each(|nth| put(table, first(table, 1, nth).sides[0], START - 1));
    let insert = |table: &Aging| {
        let _ = table.insert_for::<S>(first(table, 1, 2), WINDOW);
    };
    check("split_late_insert", 905, &["done"], late(2, set_up, insert));
}

/// Catches a sweep before a split, by an insert that makes the table grow, by a generation that it
/// read before it had the lock, or without the lock.
#[test]
fn advances_beside_an_insert_that_grows() {
    check("split_late_grow", 1_000, &["done"], |seen| {
        let table = with_load(2, 2, 128);
        // They expire, so that only the other insert finds more slots occupied than may be.
        (0..2).for_each(|nth| put(&table, staying(&table, 1, nth).sides[0], START - 1));
        let [new, another] = [9, 8].map(|nth| first(&table, 1, nth));
        let grower = spawn(&table, move |table| table.insert_for::<S>(another, WINDOW));
        table.advance::<S>();
        table.advance::<S>();
        put(&table, new.sides[0], START + 2);
        assert!(grower.join().unwrap().is_ok());
        assert!(table.is_visible(new), "a visible slot was swept");
        seen.note("done");
        assert_counts(&table);
    });
}
