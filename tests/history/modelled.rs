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

use super::{Event, Program, Run, Sights, Target, programs, variable};

/// Programs of each test, unless `GUIRA_PROGRAMS` says otherwise.
const PROGRAMS: u64 = 4_000;
/// Schedules tried with each program, unless `GUIRA_SCHEDULES` says otherwise.
const SCHEDULES: u64 = 40;

/// Runs a program once, on threads that shuttle schedules.
pub fn run_once<T: Target>(program: &Program<T>) -> Sights {
    let run = &Run::new(program);
    let histories: Vec<Vec<Event>> = thread::scope(|scope| {
        let threads: Vec<_> = (0..program.threads.len())
            .map(|thread| scope.spawn(move || run.perform(thread)))
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("no thread panics")).collect()
    });
    run.check(&histories.concat())
}

/// Runs each program under a scheduler made from a seed and a number of schedules.
fn run<T: Target + 'static, S: Scheduler + 'static>(scheduler: impl Fn(u64, usize) -> S) {
    let schedules = variable("GUIRA_SCHEDULES").unwrap_or(SCHEDULES) as usize;
    let sights = Arc::new(Mutex::new(Sights::default()));
    for number in programs(PROGRAMS) {
        let program = Program::<T>::numbered(number, 2 + usize::from(number % 3 == 0));
        let seen = Arc::clone(&sights);
        let runner = Runner::new(scheduler(number, schedules), Config::new());
        let run = || runner.run(move || *seen.lock().unwrap() += run_once(&program));
        catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
            println!("GUIRA_PROGRAM={number} runs the program alone");
            resume_unwind(panic)
        });
    }
    sights.lock().unwrap().assert_telling(T::GROWS, T::HAS_VALUES);
}

/// Random schedules.
pub fn random<T: Target + 'static>() {
    run::<T, _>(RandomScheduler::new_from_seed);
}

/// Schedules of probabilistic concurrency testing (PCT).
pub fn pct<T: Target + 'static>() {
    run::<T, _>(|seed, schedules| PctScheduler::new_from_seed(seed, 3, schedules));
}
