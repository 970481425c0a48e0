//! Many more threads than processors, on a small filter that is nearly full: all of them get done.

mod common;

use std::{collections::VecDeque, sync::Barrier, thread, time::Duration};

use common::{Watchdog, rng, scaled};
use guira::{CuckooFilter, InsertError, Layout};
use rand::RngExt;

/// Threads, on however few processors.
const THREADS: u64 = 64;
/// Items that the filter is made for.
const CAPACITY: u64 = 1024;
/// Items that are in it all the time.
const PERMANENT: u64 = 900;
/// Items that a thread has in it at most: all threads together more than there is room for.
const OWN: usize = 8;

/// What came of a thread's inserts.
#[derive(Clone, Copy, Debug, Default)]
struct Inserts {
    added: u64,
    refused: u64,
}

/// Inserts, looks up, counts and removes items of the thread's own, and looks up those of all.
///
/// Nobody takes out its last items before all have theirs: even where threads run one after
/// another, they ask for more than there is room for.
fn jostle(filter: &CuckooFilter, thread: u64, rounds: u64, together: &Barrier) -> Inserts {
    let mut rng = rng(thread);
    together.wait();
    let (mut own, mut inserts) = (VecDeque::new(), Inserts::default());
    for round in 0..rounds {
        let key = ((thread + 1) << 32) + round;
        let added = if round % 2 == 0 {
            filter.insert(&key).map(|()| true)
        } else {
            filter.insert_unique(&key)
        };
        match added {
            Ok(true) => {
                own.push_back(key);
                inserts.added += 1;
            }
            // An alias is there: this key is not the thread's.
            Ok(false) => {}
            Err(error) => {
                assert_eq!(error, InsertError::Full);
                inserts.refused += 1;
            }
        }
        let one_too_many = own.len() == OWN || rng.random_bool(0.3);
        if one_too_many && let Some(key) = own.pop_front() {
            assert!(filter.remove(&key), "own item is gone");
        }
        assert!(
            own.iter().all(|key| filter.contains(key) && filter.count(key) > 0),
            "own item is missed"
        );
        assert!(filter.contains(&rng.random_range(0..PERMANENT)), "permanent item is missed");
    }
    together.wait();
    assert!(own.iter().all(|key| filter.remove(key)), "own item is gone");
    inserts
}

#[test]
fn sixty_four_threads_get_done() {
    let _watchdog = Watchdog::patient("sixty_four_threads_get_done", Duration::from_secs(120));
    let builder = CuckooFilter::builder().capacity(CAPACITY as usize).layout(Layout::Plain4x16);
    let filter = builder.seed(1).build().expect("a small filter");
    (0..PERMANENT).for_each(|key| filter.insert(&key).expect("room"));
    let rounds = scaled(1_000, 4_000);
    let together = Barrier::new(THREADS as usize);
    let inserts: Vec<Inserts> = thread::scope(|scope| {
        let (filter, together) = (&filter, &together);
        let jostle = |thread| scope.spawn(move || jostle(filter, thread, rounds, together));
        let threads: Vec<_> = (0..THREADS).map(jostle).collect();
        threads.into_iter().map(|thread| thread.join().expect("no thread panics")).collect()
    });
    assert_eq!(filter.len(), PERMANENT as usize);
    assert!((0..PERMANENT).all(|key| filter.contains(&key)));
    let refused: u64 = inserts.iter().map(|inserts| inserts.refused).sum();
    let added: u64 = inserts.iter().map(|inserts| inserts.added).sum();
    println!("{added} items added, {refused} refused");
    // The first thread to run has room for an item in every round, or others have added theirs.
    assert!(refused > 0 && added > rounds / 2, "neither full nor stuck");
}
