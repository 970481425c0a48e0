//! The programs under shuttle.

use std::{
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{Arc, Mutex},
};

use shuttle::{
    Config, Runner,
    scheduler::{PctScheduler, RandomScheduler, Scheduler},
    thread,
};

use super::{
    program::Program, programs, run::Run, sights::Sights, spec::Event, variable, world::Tiny,
};

/// Programs of each test, unless `GUIRA_PROGRAMS` says otherwise.
const PROGRAMS: u64 = 250;
/// Schedules tried with each program, unless `GUIRA_SCHEDULES` says otherwise.
const SCHEDULES: u64 = 40;

/// Runs a program once, on threads that shuttle schedules.
pub fn run_once<S: Tiny>(program: &Arc<Program<S>>, threads: usize) -> Sights {
    let scene = &Run::new(program);
    let histories: Vec<Vec<Event>> = thread::scope(|scope| {
        let threads: Vec<_> =
            (0..threads).map(|thread| scope.spawn(move || scene.perform(thread))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no thread panics")).collect()
    });
    scene.check(&histories.concat())
}

/// Runs each program under a scheduler made from a seed and a number of schedules.
fn run<S: Tiny + 'static, R: Scheduler + 'static>(scheduler: impl Fn(u64, usize) -> R) {
    let schedules = variable("GUIRA_SCHEDULES").unwrap_or(SCHEDULES) as usize;
    let sights = Arc::new(Mutex::new(Sights::default()));
    for number in programs(PROGRAMS) {
        let threads = 2 + usize::from(number % 3 == 0);
        let program = Arc::new(Program::<S>::numbered(number, threads));
        let seen = Arc::clone(&sights);
        let runner = Runner::new(scheduler(number, schedules), Config::new());
        let run = || runner.run(move || *seen.lock().unwrap() += run_once::<S>(&program, threads));
        catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
            println!("GUIRA_PROGRAM={number} runs the program alone");
            resume_unwind(panic)
        });
    }
    sights.lock().unwrap().assert_telling::<S>();
}

/// Random schedules.
pub fn random<S: Tiny + 'static>() {
    run::<S, _>(RandomScheduler::new_from_seed);
}

/// Schedules of probabilistic concurrency testing (PCT).
pub fn pct<S: Tiny + 'static>() {
    run::<S, _>(|seed, schedules| PctScheduler::new_from_seed(seed, 3, schedules));
}
