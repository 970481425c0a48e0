//! Operations at 90 % load, by one thread and by two, against those of a filter whose items stay.

use guira::{CuckooFilter, ExpiringFilter, Hashed, Insertion, Layout};
use guira_harness::{BATCH, Keys, Pick, capacity_for};

use super::filled::{Filled, LOAD, SMALL};
use crate::{
    bench::{Bench, Results, Section},
    rounds::Rounds,
    threads::together,
    timing::{Clock, insert_batch},
};

/// Operations that one thread times in a row, in the larger tables.
const OPERATIONS: usize = 1 << 18;

#[derive(Default)]
pub struct Operations {
    /// Nanoseconds by one thread, beside those of a filter whose items stay.
    alone: Rounds,
    /// Million operations per second by two threads, beside those by one.
    together: Rounds,
}

/// The operations that both types of filters have.
trait Operable: Sync {
    /// Returns what `remove` takes.
    fn insert(&self, key: u64) -> u64;
    fn insert_unique(&self, key: u64) -> Option<u64>;
    fn remove(&self, key: u64, generation: u64) -> bool;
    fn contains(&self, key: u64) -> bool;
    fn contains_batch(&self, keys: &[u64], found: &mut [bool]) -> usize;
    /// Only a filter whose items expire can refresh them.
    fn refresh(&self, key: u64) -> Option<bool>;
}

macro_rules! operable {
    ($filter:ty, $generation:ident: $insertion:ty => $token:expr, $remove:expr, $refresh:expr) => {
        impl Operable for $filter {
            fn insert(&self, key: u64) -> u64 {
                let $generation: $insertion = self.insert(&Hashed(key)).expect("room");
                $token
            }

            fn insert_unique(&self, key: u64) -> Option<u64> {
                match self.insert_unique(&Hashed(key)).expect("room") {
                    Insertion::New($generation) => Some($token),
                    Insertion::Found(()) => None,
                }
            }

            fn remove(&self, key: u64, generation: u64) -> bool {
                $remove(self, key, generation)
            }

            fn contains(&self, key: u64) -> bool {
                self.contains(&Hashed(key))
            }

            fn contains_batch(&self, keys: &[u64], found: &mut [bool]) -> usize {
                self.contains_batch(Hashed::slice(keys), found)
            }

            fn refresh(&self, key: u64) -> Option<bool> {
                $refresh(self, key)
            }
        }
    };
}

operable!(
    CuckooFilter,
    _generation: () => 0,
    |filter: &Self, key, _| filter.remove(&Hashed(key)),
    |_, _| None
);
operable!(
    ExpiringFilter,
    generation: u64 => generation,
    |filter: &Self, key, generation| filter.remove(&Hashed(key), generation),
    |filter: &Self, key| Some(filter.refresh(&Hashed(key)))
);

/// What is measured, in the order of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    Insert,
    InsertUnique,
    /// Of an item that is present.
    Refuse,
    Refresh,
    /// With this per cent of present keys.
    Single(u32),
    Batch(u32),
}

const ALL: [(&str, Operation); 8] = [
    ("insert", Operation::Insert),
    ("insert_unique, new", Operation::InsertUnique),
    ("insert_unique, present", Operation::Refuse),
    ("refresh", Operation::Refresh),
    ("lookup, present, single", Operation::Single(100)),
    ("lookup, absent, single", Operation::Single(0)),
    ("lookup, present, batch", Operation::Batch(100)),
    ("lookup, absent, batch", Operation::Batch(0)),
];

impl Operation {
    /// Times the operation by one of several threads. `turn` numbers all calls.
    fn time(self, table: &dyn Operable, keys: Keys, items: u64, count: usize, turn: u64) -> Clock {
        let mut clock = Clock::default();
        let mut found = [false; BATCH];
        // New keys, beyond those of all other turns; and other present keys for every turn.
        let new = (turn + 1) << 40;
        let next = turn * count as u64 % (items - count as u64);
        let present = match self {
            Self::Single(present) | Self::Batch(present) => present,
            _ => 100,
        };
        let pick = keys.pick(count, Pick { present, inserted: (0, items) }, turn);
        for (nth, picked) in pick.chunks_exact(BATCH).enumerate() {
            let first = (nth * BATCH) as u64;
            match self {
                Self::Insert | Self::InsertUnique => {
                    let block = keys.range(new + first..new + first + BATCH as u64);
                    let mut generations = Vec::with_capacity(BATCH);
                    let insert = |key| match self {
                        Self::Insert => Some(table.insert(key)),
                        _ => table.insert_unique(key),
                    };
                    clock.time(&block, |block| {
                        generations.extend(block.iter().map(|&key| insert(key)));
                    });
                    // The load stays the same.
                    for (&key, generation) in block.iter().zip(generations) {
                        let removed = generation.is_none_or(|it| table.remove(key, it));
                        assert!(removed, "every inserted key is present");
                    }
                }
                Self::Refuse => {
                    let refused = clock.time(picked, |block| {
                        block.iter().filter(|&&key| table.insert_unique(key).is_none()).count()
                    });
                    assert_eq!(refused, BATCH, "every key is present");
                }
                Self::Refresh => {
                    // Each key once, so that nearly all stamps change.
                    let block = keys.range(next + first..next + first + BATCH as u64);
                    let refreshed = clock.time(&block, |block| {
                        block.iter().filter(|&&key| table.refresh(key) != Some(false)).count()
                    });
                    assert_eq!(refreshed, BATCH, "every key is present");
                }
                Self::Single(_) => {
                    let found = clock.time(picked, |block| {
                        block.iter().filter(|&&key| table.contains(key)).count()
                    });
                    assert!(present == 0 || found == BATCH, "every key is present");
                }
                Self::Batch(_) => {
                    let found = clock.time(picked, |block| table.contains_batch(block, &mut found));
                    assert!(present == 0 || found == BATCH, "every key is present");
                }
            }
        }
        clock
    }
}

impl Section for Operations {
    fn measure(&mut self, bench: &Bench) {
        for bytes in [SMALL, bench.bytes] {
            self.measure_table(bench, bytes);
        }
    }

    fn report(&self, results: &mut Results) {
        let head = ["one thread", "ns", "of a `CuckooFilter`, ns", "times"];
        let table = self.alone.table("expiring", head, 1);
        results.tables.push(("Items that expire: operations at 90 % load", table));
        let head = ["million operations/s", "two threads", "one thread", "times"];
        let table = self.together.table("expiring-threads", head, 1);
        results.tables.push(("Items that expire: two threads", table));
    }
}

impl Operations {
    /// Measures tables of about this many bytes.
    fn measure_table(&mut self, bench: &Bench, bytes: usize) {
        let count = OPERATIONS.min(bytes / 2 / 16);
        let place = format!("{} MiB", bytes >> 20);
        let Filled { filter: expiring, keys, items } = Filled::new(bytes, 1);
        let staying = staying(bytes, keys);
        let mut turn = 0;
        for round in 0..bench.rounds {
            bench.say(format!("expiring, operations, {place}, round {}", round + 1));
            for (name, operation) in ALL {
                let mut time = |table: &dyn Operable, threads: u64| {
                    let first = turn;
                    turn += threads;
                    by_threads(bench, threads as usize, |thread| {
                        operation.time(table, keys, items, count, first + thread as u64)
                    })
                };
                let (base, nanoseconds) = match operation {
                    Operation::Refresh => (f64::NAN, time(&expiring, 1)),
                    _ => (time(&staying, 1), time(&expiring, 1)),
                };
                let name = format!("{name}, {place}");
                self.alone.note(&name, nanoseconds, base);
                // Each of two threads takes this time, so together they are twice as fast.
                self.together.note(&name, 2e3 / time(&expiring, 2), 1e3 / nanoseconds);
            }
        }
    }
}

/// A filter of the same size, with the same items, which stay.
fn staying(bytes: usize, keys: Keys) -> CuckooFilter {
    let filter = guira_harness::filter(capacity_for(bytes, Layout::Plain4x16), Layout::Plain4x16);
    insert_batch(&filter, keys, 0..filter.slots() as u64 * LOAD / 100);
    filter
}

/// Returns the mean of the nanoseconds per operation of pinned threads that work at the same time.
fn by_threads(bench: &Bench, threads: usize, work: impl Fn(usize) -> Clock + Sync) -> f64 {
    let nanoseconds = together(&bench.cores, threads, |thread, barrier| {
        barrier.wait();
        work(thread).per_key()
    });
    nanoseconds.into_iter().sum::<f64>() / threads as f64
}
