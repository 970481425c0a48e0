//! Many more threads than processors, on a small filter that is nearly full: every thread finishes.

mod common;

use std::{collections::VecDeque, sync::Barrier, thread, time::Duration};

use common::{Watchdog, rng, scaled};
use guira::{CuckooFilter, InsertError, Layout};
use rand::RngExt;

/// Number of threads, far above the number of processors.
const THREADS: u64 = 64;
/// Capacity of the filter.
const CAPACITY: u64 = 1024;
/// Number of items that stay in the filter.
const PERMANENT: u64 = 900;
/// Largest number of items of one thread. All threads together want more than the filter holds.
const OWN: usize = 8;

/// The outcomes of one thread's inserts.
#[derive(Clone, Copy, Debug, Default)]
struct Inserts {
    added: u64,
    refused: u64,
}

/// Inserts, looks up, counts and removes the thread's own items, and looks up the permanent ones.
///
/// No thread removes its last items before all threads have finished. So the filter becomes full
/// even if the threads run one after the other.
fn run_thread(filter: &CuckooFilter, thread: u64, rounds: u64, barrier: &Barrier) -> Inserts {
    let mut rng = rng(thread);
    barrier.wait();
    let (mut own, mut inserts) = (VecDeque::new(), Inserts::default());
    for round in 0..rounds {
        let key = ((thread + 1) << 32) + round;
        let added = if round % 2 == 0 {
            filter.insert(&key).map(|()| true)
        } else {
            filter.insert_unique(&key).map(|insertion| insertion.is_new())
        };
        match added {
            Ok(true) => {
                own.push_back(key);
                inserts.added += 1;
            }
            // An alias is present, so this thread owns no copy.
            Ok(false) => {}
            Err(error) => {
                assert_eq!(error, InsertError::Full);
                inserts.refused += 1;
            }
        }
        let remove = own.len() == OWN || rng.random_bool(0.3);
        if remove && let Some(key) = own.pop_front() {
            assert!(filter.remove(&key), "an own item is missing");
        }
        assert!(
            own.iter().all(|key| filter.contains(key) && filter.count(key) > 0),
            "an own item is not found"
        );
        assert!(filter.contains(&rng.random_range(0..PERMANENT)), "a permanent item is not found");
    }
    barrier.wait();
    assert!(own.iter().all(|key| filter.remove(key)), "an own item is missing");
    inserts
}

#[test]
fn sixty_four_threads_finish() {
    let _watchdog = Watchdog::patient("sixty_four_threads_finish", Duration::from_secs(120));
    let builder = CuckooFilter::builder().capacity(CAPACITY as usize).layout(Layout::Plain4x16);
    let filter = builder.seed(1).build().expect("a small filter");
    (0..PERMANENT).for_each(|key| filter.insert(&key).expect("an empty slot"));
    let rounds = scaled(1_000, 4_000);
    let barrier = Barrier::new(THREADS as usize);
    let inserts: Vec<Inserts> = thread::scope(|scope| {
        let (filter, barrier) = (&filter, &barrier);
        let spawn = |thread| scope.spawn(move || run_thread(filter, thread, rounds, barrier));
        let threads: Vec<_> = (0..THREADS).map(spawn).collect();
        threads.into_iter().map(|thread| thread.join().expect("no thread panics")).collect()
    });
    assert_eq!(filter.len(), PERMANENT as usize);
    assert!((0..PERMANENT).all(|key| filter.contains(&key)));
    let refused: u64 = inserts.iter().map(|inserts| inserts.refused).sum();
    let added: u64 = inserts.iter().map(|inserts| inserts.added).sum();
    println!("{added} items added, {refused} refused");
    // The filter was full at times, and threads made progress at other times.
    assert!(refused > 0, "the filter was never full");
    assert!(added > rounds / 2, "hardly any insert succeeded");
}
