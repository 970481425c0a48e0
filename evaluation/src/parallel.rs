//! Runs independent jobs on all cores: for results that are counted, not timed.

use std::sync::{
    Mutex,
    atomic::{AtomicUsize, Ordering},
};

/// Calls `call` with each job on as many threads as there are cores, and returns the results in the
/// order of the jobs.
pub fn map<J: Sync, R: Send>(jobs: &[J], call: impl Fn(&J) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::with_capacity(jobs.len()));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads.min(jobs.len()) {
            scope.spawn(|| {
                loop {
                    // Relaxed: only the atomicity of the increment matters.
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(job) = jobs.get(index) else { break };
                    let result = call(job);
                    results.lock().expect("no thread panics").push((index, result));
                }
            });
        }
    });
    let mut results = results.into_inner().expect("no thread panics");
    results.sort_unstable_by_key(|&(index, _)| index);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn results_keep_the_order_of_their_jobs() {
        let jobs: Vec<u64> = (0..1000).collect();
        let squares = super::map(&jobs, |&job| job * job);
        assert!(squares.iter().zip(&jobs).all(|(&square, &job)| square == job * job));
        assert_eq!(squares.len(), jobs.len());
    }
}
