//! The programs on real threads.

use std::{
    hint::spin_loop,
    sync::atomic::{
        AtomicBool, AtomicUsize,
        Ordering::{Relaxed, SeqCst},
    },
    thread,
    time::{Duration, Instant},
};

use super::{Event, Program, Run, Sights, Target, programs, variable};
use crate::common;

/// How long a test runs, unless a number of programs is given.
const ENOUGH: Duration = Duration::from_secs(2);
/// Programs that the threads run before histories are checked.
const BATCH: usize = 64;

/// Where threads wait for one another before each program, so that their calls overlap.
struct Gate {
    threads: usize,
    arrived: AtomicUsize,
    /// Whether a thread has panicked, and will not arrive.
    broken: AtomicBool,
}

impl Gate {
    /// Waits until all threads have reached this round.
    fn pass(&self, round: usize) {
        self.arrived.fetch_add(1, SeqCst);
        let mut spins = 0_u32;
        while self.arrived.load(SeqCst) < (round + 1) * self.threads {
            assert!(!self.broken.load(Relaxed), "another thread has panicked");
            spins += 1;
            if spins > 256 { thread::yield_now() } else { spin_loop() }
        }
    }
}

/// Breaks the gate if its thread panics.
struct BreakOnPanic<'a>(&'a Gate);

impl Drop for BreakOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.broken.store(true, Relaxed);
        }
    }
}

/// Performs the steps of one thread.
#[cfg(not(guira_steps))]
fn perform<T: Target>(run: &Run<T>, thread: usize) -> Vec<Event> {
    run.perform(thread)
}

/// Performs the steps of one thread, with random delays.
#[cfg(guira_steps)]
fn perform<T: Target>(run: &Run<T>, thread: usize) -> Vec<Event> {
    use rand::RngExt;

    let mut rng = common::rng(run.program.number * 8 + thread as u64);
    let delay = move |_| match rng.random_range(0..64_u32) {
        0 => thread::yield_now(),
        1..16 => (0..rng.random_range(0..1000)).for_each(|_| spin_loop()),
        _ => {}
    };
    guira::raw::steps::with_hook(delay, || run.perform(thread))
}

/// Performs one thread's steps of all runs.
fn take_part<T: Target>(runs: &[Run<T>], gate: &Gate, thread: usize) -> Vec<Vec<Event>> {
    let _break_on_panic = BreakOnPanic(gate);
    let part = |(round, run)| {
        gate.pass(round);
        perform(run, thread)
    };
    runs.iter().enumerate().map(part).collect()
}

/// Runs programs one after another, each on all threads together, and checks their histories.
fn run_batch<T: Target>(programs: &[Program<T>], threads: usize) -> Sights {
    let runs: Vec<Run<T>> = programs.iter().map(Run::new).collect();
    let gate = Gate { threads, arrived: AtomicUsize::new(0), broken: AtomicBool::new(false) };
    let (runs_ref, gate) = (&runs, &gate);
    let histories: Vec<Vec<Vec<Event>>> = thread::scope(|scope| {
        let part = |thread| scope.spawn(move || take_part(runs_ref, gate, thread));
        let parts: Vec<_> = (0..threads).map(part).collect();
        parts.into_iter().map(|part| part.join().expect("no thread panics")).collect()
    });
    let mut sights = Sights::default();
    for (round, run) in runs.iter().enumerate() {
        let events: Vec<Event> =
            histories.iter().flat_map(|history| &history[round]).copied().collect();
        sights += run.check(&events);
    }
    sights
}

/// Runs programs on this many threads, until the time is up.
pub fn run<T: Target>(threads: usize) {
    let programs: Vec<u64> = programs(50_000).collect();
    let patience = Duration::from_secs(180 + programs.len() as u64 / 100);
    let _watchdog = common::Watchdog::patient("linearizability", patience);
    let (start, given) = (Instant::now(), variable("GUIRA_PROGRAMS").is_some());
    let mut sights = Sights::default();
    for batch in programs.chunks(BATCH) {
        let batch: Vec<_> = batch.iter().map(|&n| Program::<T>::numbered(n, threads)).collect();
        sights += run_batch(&batch, threads);
        if !given && start.elapsed() > ENOUGH {
            break;
        }
    }
    sights.assert_telling(T::GROWS, T::HAS_VALUES);
}
