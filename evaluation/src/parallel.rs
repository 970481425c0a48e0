//! Counting on all cores at once: for what is counted, not timed.

use std::sync::{
    Mutex,
    atomic::{AtomicUsize, Ordering},
};

/// Calls with each of the jobs, on as many threads as there are cores; the results in their order.
pub fn map<J: Sync, R: Send>(jobs: &[J], call: impl Fn(&J) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::with_capacity(jobs.len()));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads.min(jobs.len()) {
            scope.spawn(|| {
                // Relaxed: the number alone matters.
                loop {
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
    fn results_come_in_the_order_of_their_jobs() {
        let jobs: Vec<u64> = (0..1000).collect();
        let squares = super::map(&jobs, |&job| job * job);
        assert!(squares.iter().zip(&jobs).all(|(&square, &job)| square == job * job));
        assert_eq!(squares.len(), jobs.len());
    }
}
