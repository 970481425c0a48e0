//! The programs on real threads.

use std::{
    sync::{Arc, atomic::AtomicBool},
    thread,
    time::{Duration, Instant},
};

use super::{
    program::Program, programs, run::Run, sights::Sights, spec::Event, variable, world::Tiny,
};
use crate::common::{self, churn::StopOnPanic, races::Gate};

/// How many programs a test runs at least, unless a number is given.
const LEAST: usize = 5_000;
/// Programs that the threads run before histories are checked.
const BATCH: usize = 64;

/// Performs the steps of one thread.
#[cfg(not(guira_steps))]
fn perform<S: Tiny>(scene: &Run<S>, thread: usize) -> Vec<Event> {
    scene.perform(thread)
}

/// Performs the steps of one thread, with random delays.
#[cfg(guira_steps)]
fn perform<S: Tiny>(scene: &Run<S>, thread: usize) -> Vec<Event> {
    use std::hint::spin_loop;

    use rand::RngExt;

    let mut rng = common::rng(scene.program.number * 8 + thread as u64);
    let delay = move |_| match rng.random_range(0..64_u32) {
        0 => thread::yield_now(),
        1..16 => (0..rng.random_range(0..1000)).for_each(|_| spin_loop()),
        _ => {}
    };
    guira::raw::steps::with_hook(delay, || scene.perform(thread))
}

/// Runs programs one after another, each on all threads together, and checks their histories.
fn run_batch<S: Tiny>(programs: &[u64], threads: usize) -> Sights {
    let scene = |&number| Run::<S>::new(&Arc::new(Program::numbered(number, threads)));
    let scenes: Vec<Run<S>> = programs.iter().map(scene).collect();
    // The threads wait for one another before each program, so that their calls overlap.
    let (gate, failed) = (Gate::new(threads), AtomicBool::new(false));
    let part = |thread| -> Option<Vec<Vec<Event>>> {
        let _stop = StopOnPanic(&failed);
        let perform = |scene| gate.pass(&failed).then(|| perform(scene, thread));
        scenes.iter().map(perform).collect()
    };
    let histories: Vec<_> = thread::scope(|scope| {
        let part = &part;
        let parts: Vec<_> = (0..threads).map(|thread| scope.spawn(move || part(thread))).collect();
        parts.into_iter().map(|part| part.join().expect("no thread panics")).collect()
    });
    let histories: Option<Vec<_>> = histories.into_iter().collect();
    let histories = histories.expect("no thread has failed");
    let mut sights = Sights::default();
    for (round, scene) in scenes.iter().enumerate() {
        let events: Vec<Event> =
            histories.iter().flat_map(|history| &history[round]).copied().collect();
        sights += scene.check(&events);
    }
    sights
}

/// Runs programs on this many threads, until the time is up.
pub fn run<S: Tiny>(threads: usize) {
    let programs: Vec<u64> = programs(50_000).collect();
    let patience = Duration::from_secs(180 + programs.len() as u64 / 100);
    let _watchdog = common::Watchdog::patient("linearizability", patience);
    let enough = Duration::from_secs(common::scaled(1, 2));
    let (start, given) = (Instant::now(), variable("GUIRA_PROGRAMS").is_some());
    let mut sights = Sights::default();
    for (nth, batch) in programs.chunks(BATCH).enumerate() {
        sights += run_batch::<S>(batch, threads);
        if !given && nth * BATCH > LEAST && start.elapsed() > enough {
            break;
        }
    }
    sights.assert_telling::<S>();
}
