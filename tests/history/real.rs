//! The programs on real threads.

use std::{
    hint::spin_loop,
    sync::{
        Arc,
        atomic::{
            AtomicBool, AtomicUsize,
            Ordering::{Relaxed, SeqCst},
        },
    },
    thread,
    time::{Duration, Instant},
};

use super::{Scene, Sights, programs, variable};
use crate::common;

/// How long a test runs, and how many programs it runs at least, unless a number is given.
const ENOUGH: Duration = Duration::from_secs(2);
const LEAST: usize = 5_000;
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
fn perform<S: Scene>(scene: &S, thread: usize) -> Vec<S::Event> {
    scene.perform(thread)
}

/// Performs the steps of one thread, with random delays.
#[cfg(guira_steps)]
fn perform<S: Scene>(scene: &S, thread: usize) -> Vec<S::Event> {
    use rand::RngExt;

    let mut rng = common::rng(scene.number() * 8 + thread as u64);
    let delay = move |_| match rng.random_range(0..64_u32) {
        0 => thread::yield_now(),
        1..16 => (0..rng.random_range(0..1000)).for_each(|_| spin_loop()),
        _ => {}
    };
    guira::raw::steps::with_hook(delay, || scene.perform(thread))
}

/// Performs one thread's steps of all programs.
fn take_part<S: Scene>(scenes: &[S], gate: &Gate, thread: usize) -> Vec<Vec<S::Event>> {
    let _break_on_panic = BreakOnPanic(gate);
    let part = |(round, scene)| {
        gate.pass(round);
        perform(scene, thread)
    };
    scenes.iter().enumerate().map(part).collect()
}

/// Runs programs one after another, each on all threads together, and checks their histories.
fn run_batch<S: Scene>(programs: &[u64], threads: usize) -> Sights {
    let scene = |&number| S::new(&Arc::new(S::program(number, threads)));
    let scenes: Vec<S> = programs.iter().map(scene).collect();
    let gate = Gate { threads, arrived: AtomicUsize::new(0), broken: AtomicBool::new(false) };
    let (all, gate) = (&scenes, &gate);
    let histories: Vec<Vec<Vec<S::Event>>> = thread::scope(|scope| {
        let part = |thread| scope.spawn(move || take_part(all, gate, thread));
        let parts: Vec<_> = (0..threads).map(part).collect();
        parts.into_iter().map(|part| part.join().expect("no thread panics")).collect()
    });
    let mut sights = Sights::default();
    for (round, scene) in scenes.iter().enumerate() {
        let events: Vec<S::Event> =
            histories.iter().flat_map(|history| &history[round]).copied().collect();
        sights += scene.check(&events);
    }
    sights
}

/// Runs programs on this many threads, until the time is up.
pub fn run<S: Scene>(threads: usize) {
    let programs: Vec<u64> = programs(50_000).collect();
    let patience = Duration::from_secs(180 + programs.len() as u64 / 100);
    let _watchdog = common::Watchdog::patient("linearizability", patience);
    let (start, given) = (Instant::now(), variable("GUIRA_PROGRAMS").is_some());
    let mut sights = Sights::default();
    for (nth, batch) in programs.chunks(BATCH).enumerate() {
        sights += run_batch::<S>(batch, threads);
        if !given && nth * BATCH > LEAST && start.elapsed() > ENOUGH {
            break;
        }
    }
    S::assert_telling(&sights);
}
