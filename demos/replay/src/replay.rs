//! Replays the deliveries with one contestant, by one or more threads.

use std::{
    sync::{Barrier, Mutex},
    thread,
    time::Instant,
};

use crate::{
    contestants::Seen,
    workload::{Mistakes, Workload, id},
};

/// Figures of one replay.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// Million deliveries per second, ticks included.
    pub speed: f64,
    /// Largest size at the beginning of a tick.
    pub bytes: usize,
    pub mistakes: Mistakes,
}

/// Replays all deliveries. The threads share those of a tick, and meet at its end.
pub fn replay(workload: &Workload, seen: &dyn Seen, threads: usize) -> Outcome {
    let (barrier, bytes) = (Barrier::new(threads), Mutex::new(0));
    let run = |thread: usize| {
        let mut answers = Vec::with_capacity(workload.len() / threads + 1);
        for (tick, share) in workload.shares(thread, threads).enumerate() {
            if tick > 0 {
                let is_leader = barrier.wait().is_leader();
                if is_leader {
                    let mut bytes = bytes.lock().expect("not poisoned");
                    *bytes = seen.size_in_bytes().max(*bytes);
                    seen.tick();
                }
                barrier.wait();
                if is_leader {
                    seen.tidy();
                }
            }
            answers.extend(share.iter().map(|&message| seen.is_first(id(message))));
        }
        answers
    };
    let start = Instant::now();
    let answers: Vec<Vec<bool>> = thread::scope(|scope| {
        let run = &run;
        let threads: Vec<_> = (0..threads).map(|thread| scope.spawn(move || run(thread))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    let speed = workload.len() as f64 / start.elapsed().as_secs_f64() / 1e6;
    let bytes = bytes.into_inner().expect("not poisoned");
    Outcome { speed, bytes, mistakes: workload.check(&answers) }
}
