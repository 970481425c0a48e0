//! Snapshots that are taken beside writers: they hold every item that was there throughout, as
//! often as it was, and as many others as the writers account for.

use std::{
    collections::VecDeque,
    sync::atomic::{
        AtomicBool, AtomicUsize,
        Ordering::{Relaxed, SeqCst},
    },
};

use guira::{ExpiringFilter, Layout};

use super::common::{
    Watchdog,
    churn::StopOnPanic,
    kind::{BuilderOf, Kind, Of},
    rng,
    saved::{Item, insert, loader, pushed, remove},
    scaled, settings,
    suite::on_saved_kinds,
};

/// Threads that insert and remove.
const WRITERS: usize = 2;
/// Keys of one writer.
const POOL: u64 = 1 << 13;
/// As many keys per writer as fill the present segments to 94 %.
const FULL: usize = usize::MAX;

/// What writers did: each number is at some moment between the call and its return.
#[derive(Default)]
struct Account {
    insert_calls: AtomicUsize,
    inserted: AtomicUsize,
    removal_calls: AtomicUsize,
    removed: AtomicUsize,
    /// Keys that each writer holds when it starts to remove the oldest.
    held: AtomicUsize,
    stop: AtomicBool,
}

/// A filter with keys that stay, and the keys of writers, of which none is an alias of those.
struct Scene<K: Kind> {
    builder: BuilderOf<K>,
    permanent: Vec<u64>,
    pools: Vec<Vec<u64>>,
}

impl<K: Kind> Scene<K> {
    fn new(builder: BuilderOf<K>, permanent: usize) -> Self {
        // Some keys are there two or three times.
        let permanent: Vec<u64> = (0..permanent as u64)
            .flat_map(|key| [key].repeat(1 + key as usize % 50 / 48))
            .collect();
        // Aliases in any segment are aliases in the first one. So one segment after the other is
        // filled with the keys that stay.
        let mut firsts: Vec<Of<K>> = Vec::new();
        for key in &permanent {
            if firsts.last().is_none_or(|first| first.len() * 2 >= first.capacity()) {
                firsts.push(builder.clone().build().expect("a small filter"));
            }
            let first = firsts.last().expect("just pushed");
            insert::<K>(first, *key, *key).expect("an empty slot");
        }
        let is_alias = |key: &u64| firsts.iter().any(|first| first.contains(key));
        let pool = |writer: u64| (writer << 32..).take(POOL as usize).filter(|key| !is_alias(key));
        let pools = (1..=WRITERS as u64).map(|writer| pool(writer).collect()).collect();
        Self { builder, permanent, pools }
    }

    /// Takes snapshots beside writers, one per round, and checks them. `held` is the number of keys
    /// that a writer holds in each round. Returns the numbers of slots and of segments in the first
    /// and in the last snapshot.
    fn run(&self, held: impl Iterator<Item = usize>) -> [usize; 2] {
        let filter = self.builder.clone().build().expect("a small filter");
        assert!(self.permanent.iter().all(|&key| insert::<K>(&filter, key, key).is_ok()));
        let counts: Vec<usize> = self.permanent.iter().map(|key| filter.count(key)).collect();
        let account = Account::default();
        let mut slots = Vec::new();
        std::thread::scope(|scope| {
            let _stop = StopOnPanic(&account.stop);
            let writers: Vec<_> = self
                .pools
                .iter()
                .map(|pool| {
                    let (filter, account) = (&filter, &account);
                    scope.spawn(move || account.write::<K>(filter, pool))
                })
                .collect();
            for (round, held) in held.enumerate() {
                let full = filter.slots() * 94 / 100 - self.permanent.len();
                let full = (full / WRITERS).min(POOL as usize * 9 / 10);
                let held = if held == FULL { full } else { held };
                account.held.store(held, Relaxed);
                // The writers have begun to work for this round.
                let calls = account.insert_calls.load(SeqCst) + 200;
                account.wait(|| account.insert_calls.load(SeqCst) >= calls);
                let copy = account.check::<K>(&filter, round, self.permanent.len());
                for (key, &count) in self.permanent.iter().zip(&counts) {
                    assert!(copy.contains(key), "round {round}: {key} is missing");
                    assert_eq!(copy.count(key), count, "round {round}: copies of {key}");
                }
                slots.push(copy.slots());
                account.wait(|| {
                    account.inserted.load(SeqCst) >= account.removed.load(SeqCst) + WRITERS * held
                });
            }
            account.stop.store(true, Relaxed);
            // Now the account is exact.
            let held: Vec<Item<K>> =
                writers.into_iter().flat_map(|writer| writer.join().expect("no panic")).collect();
            let copy = account.check::<K>(&filter, 0, self.permanent.len());
            assert_eq!(copy.len(), self.permanent.len() + held.len());
            assert!(held.iter().all(|(key, _)| copy.count(key) == filter.count(key)));
            assert!(held.iter().all(|item| remove::<K>(&copy, item)));
            assert!(
                self.permanent.iter().zip(&counts).all(|(key, &count)| copy.count(key) == count)
            );
        });
        [slots[0], slots[slots.len() - 1]]
    }
}

impl Account {
    /// Waits for the writers.
    fn wait(&self, until: impl Fn() -> bool) {
        while !until() && !self.stop.load(Relaxed) {
            std::thread::yield_now();
        }
    }

    /// Inserts and removes keys until told to stop. Returns those that are left.
    fn write<K: Kind>(&self, filter: &Of<K>, pool: &[u64]) -> VecDeque<Item<K>> {
        let _stop = StopOnPanic(&self.stop);
        let mut mine = VecDeque::new();
        for key in pool.iter().cycle() {
            if self.stop.load(Relaxed) {
                break;
            }
            self.insert_calls.fetch_add(1, SeqCst);
            if let Ok(item) = insert::<K>(filter, *key, *key) {
                self.inserted.fetch_add(1, SeqCst);
                mine.push_back(item);
            } else {
                self.insert_calls.fetch_sub(1, SeqCst);
            }
            while mine.len() > self.held.load(Relaxed) {
                self.removal_calls.fetch_add(1, SeqCst);
                let oldest = mine.pop_front().expect("more than none");
                assert!(remove::<K>(filter, &oldest), "{oldest:?} was missing");
                self.removed.fetch_add(1, SeqCst);
            }
        }
        mine
    }

    /// Takes a snapshot, in one of several ways, loads it, and checks the number of its items.
    fn check<K: Kind>(&self, filter: &Of<K>, round: usize, permanent: usize) -> Of<K> {
        let (inserted, removed) = (self.inserted.load(SeqCst), self.removed.load(SeqCst));
        let bytes = if round.is_multiple_of(2) {
            filter.to_bytes()
        } else {
            let mut bytes = Vec::new();
            filter.write_to(&mut bytes).expect("memory");
            bytes
        };
        let removal_calls = self.removal_calls.load(SeqCst);
        let insert_calls = self.insert_calls.load(SeqCst);
        let copy = if round.is_multiple_of(3) {
            pushed::<K>(&bytes, 1 << 24, &mut rng(round as u64))
        } else {
            loader::<K>().reader(&bytes[..])
        };
        let copy = copy.expect("a snapshot");
        let least = (permanent + inserted).saturating_sub(removal_calls);
        let range = least..=permanent + insert_calls - removed;
        assert!(range.contains(&copy.len()), "round {round}: {} items, not {range:?}", copy.len());
        copy
    }
}

/// Some layouts of a kind, of filters that can be filled to 95 % of their slots.
fn some_layouts<K: Kind>() -> Vec<Layout> {
    let layouts = K::layouts()
        .into_iter()
        .filter(|layout| layout.slots_per_bucket() > 3 && layout.fingerprint_bits() > 8);
    let layouts: Vec<Layout> = layouts.collect();
    let last = layouts.len() - 1;
    vec![layouts[0], layouts[last / 2], layouts[last]]
}

/// Fixed filters that writers keep at 95 % load, and growing ones that fill one segment after the
/// other, or split their buckets.
fn snapshots_are_complete<K: Kind>() {
    let _watchdog = Watchdog::new("snapshots_are_complete");
    for layout in some_layouts::<K>() {
        if !K::GROWS {
            let builder = settings::<K>(2_000, layout, 3);
            let slots = builder.clone().build().expect("a small filter").slots();
            let scene = Scene::<K>::new(builder, slots / 2);
            let held = (slots * 95 / 100 - scene.permanent.len()) / WRITERS;
            scene.run(std::iter::repeat_n(held, scaled(20, 100)));
            continue;
        }
        let scene = Scene::<K>::new(settings::<K>(200, layout, 3), 300);
        for _ in 0..scaled(2, 10) {
            // The number of keys grows, and falls in between. In the end the filter may not grow,
            // and is full, so that inserts relocate items.
            let held = [50, 100, 200, 400, 300, 800, 1_600, 1_000, 3_000, 2_000, 3_000];
            let held = held.into_iter().chain(std::iter::repeat_n(FULL, 20));
            let [first, last] = scene.run(held);
            assert!(last >= 4 * first, "{first} to {last} slots");
        }
    }
}

on_saved_kinds! { snapshots_are_complete }

/// Every snapshot holds what is in the filter throughout, whatever generation begins meanwhile, and
/// whatever is refreshed.
#[test]
fn snapshots_beside_advances_hold_what_stays() {
    let _watchdog = Watchdog::new("snapshots_beside_advances_hold_what_stays");
    let builder = || ExpiringFilter::builder().capacity(400).window(1).seed(7);
    let filter = builder().build().expect("a small filter");
    // Keys that are no aliases of each other.
    let probe = builder().build().expect("a small filter");
    let is_new = |key: &u64| !probe.contains(key) && probe.insert(key).is_ok();
    let keys: Vec<u64> = (0..).filter(is_new).take(50).collect();
    assert!(keys.iter().all(|key| filter.insert(key).is_ok()));
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let advance = || {
            while !stop.load(Relaxed) {
                assert!(keys.iter().all(|key| filter.refresh(key)));
                filter.advance();
            }
        };
        let writer = scope.spawn(advance);
        for _ in 0..scaled(200, 3_000) {
            let before = filter.generation();
            let loaded = ExpiringFilter::loader().bytes(&filter.to_bytes()).expect("a snapshot");
            let after = filter.generation();
            assert!((before..=after).contains(&loaded.generation()));
            let missing = keys.iter().filter(|key| !loaded.contains(key)).count();
            if missing > 0 || writer.is_finished() {
                stop.store(true, Relaxed);
                panic!("{missing} keys are missing between {before} and {after}");
            }
        }
        stop.store(true, Relaxed);
    });
}
