//! Writers that stop or panic between two steps. Run by
//! `RUSTFLAGS="--cfg guira_steps" cargo test --release --test progress`. Without the cfg there are
//! no tests here.
//!
//! Each writer is stopped before its first step, then in a new table before its second, and so on
//! to its last. A step is an access to a bucket or to a version, or the acquisition of a lock.
//! While the writer is stopped, lookups must be right and inserts into buckets with an empty slot
//! must succeed, in as many steps as without the writer, and without a lock. Then each writer
//! panics before each of its steps instead. It must leave every lock free and every item in the
//! table.

#![cfg(guira_steps)]

mod common;
mod steps;

use common::Watchdog;
use guira::{
    InsertError,
    raw::steps::{Step, with_hook},
};
use steps::{
    before_step, panicked,
    scene::{Call, INSERT, L, LOOKUP, Scene},
    steps, stopped,
};

/// Stops the writer before the step with this number, checks the scene, and lets it continue.
/// Returns `false` if it takes no such step.
fn stop_at(scene: &mut Scene, number: usize) -> bool {
    let writer = scene.writer();
    let has_stopped = stopped(
        move || writer.perform(),
        number,
        || {
            scene.look();
            scene.insert_where_there_is_room();
            scene.look();
        },
    );
    scene.look_after();
    has_stopped
}

/// Lets the writer panic before the step with this number, and checks what it left. Returns `false`
/// if it takes no such step.
fn panic_at(scene: &mut Scene, number: usize) -> bool {
    let writer = scene.writer();
    if !panicked(move || writer.perform(), number) {
        return false;
    }
    scene.look();
    scene.insert_where_there_is_room();
    scene.look_after_panic();
    scene.empty();
    true
}

/// Halts the writer of every scene at each of its steps.
fn at_every_step(halt_at: fn(&mut Scene, usize) -> bool) {
    for (name, scene) in Scene::all() {
        let undisturbed = scene();
        let writer = undisturbed.writer();
        let steps = steps(|| assert!(writer.perform(), "the call did something else"));
        undisturbed.look_after();
        let locks = steps.iter().filter(|&&step| step == Step::Lock).count();
        assert_eq!(locks, undisturbed.locks, "{name}: the moves are not as planned");
        for number in 0..steps.len() {
            assert!(halt_at(&mut scene(), number), "{name}: no step {number}");
        }
        println!("{name}: {} steps", steps.len());
    }
}

#[test]
fn others_proceed_beside_a_writer_that_stopped() {
    let _watchdog = Watchdog::new("others_proceed_beside_a_writer_that_stopped");
    at_every_step(stop_at);
}

#[test]
fn a_writer_that_panics_leaves_every_lock_free_and_every_item() {
    let _watchdog = Watchdog::new("a_writer_that_panics_leaves_every_lock_free_and_every_item");
    at_every_step(panic_at);
}

#[test]
fn calls_without_interference_take_few_steps_and_no_lock() {
    let mut scene = Scene::new(Call::Insert, 0, 0, None);
    let pair = scene.unused([0, 1]);
    assert_eq!(steps(|| scene.table.contains::<L>(pair)), [Step::Load; LOOKUP]);
    let insert = steps(|| scene.table.insert::<L>(pair));
    assert_eq!(insert, [Step::Load, Step::Load, Step::Change]);
    assert_eq!(insert.len(), INSERT);
    assert_eq!(steps(|| scene.table.contains::<L>(pair)), [Step::Load; LOOKUP]);
}

/// The last attempt of an insert whose search found no empty slot. Without it, `Full` would be a
/// right answer too, so no model can demand it.
#[test]
fn an_insert_takes_a_slot_that_becomes_empty_during_its_search() {
    let full_scene = || {
        // Nothing can move: both buckets hold only each other's fingerprints.
        let mut scene = Scene::new(Call::Insert, 0, 0, None);
        scene.crowd([0, 1]);
        scene.crowd([1, 0]);
        let pair = scene.unused([0, 1]);
        (scene, pair)
    };
    let (scene, pair) = full_scene();
    let all = steps(|| assert_eq!(scene.table.insert::<L>(pair), Err(InsertError::Full)));
    // Both words are read five times: for the first attempt, the limit on copies, the search, the
    // last attempt, and the limit again.
    assert_eq!(all, [Step::Load; 10]);
    let last_attempt = 6;
    for number in 0..=last_attempt {
        let (scene, pair) = full_scene();
        let (table, leaving) = (scene.table.clone(), scene.known[0].pair);
        let remove = move || assert!(table.remove::<L>(leaving));
        let outcome = with_hook(before_step(number, remove), || scene.table.insert::<L>(pair));
        assert_eq!(outcome, Ok(()), "the slot was empty before step {number}");
        assert!(scene.table.contains::<L>(pair));
    }
}
