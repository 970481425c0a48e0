//! Reads of present items while two writers grow a filter a thousandfold, and let items expire if
//! they can.

use std::{
    sync::{
        Mutex,
        atomic::{
            AtomicBool, AtomicU64,
            Ordering::{Acquire, Relaxed, Release},
        },
    },
    thread,
    time::{Duration, Instant},
};

use guira::{Filter, Layout, kind::Growing};
use rand::{RngExt, rngs::SmallRng};

use crate::common::{
    Watchdog,
    churn::StopOnPanic,
    kind::{BuilderOf, GrowingExpiringSets, GrowingMaps, GrowingSets, Kind, Of},
    rng, scaled,
    suite::on_kinds,
};

/// How many of the latest items are looked up most often.
const LATEST: u64 = 64;
/// Items of each writer that are refreshed, where that is possible, and stay.
const PINNED: u64 = 32;
/// The generations for which items are found.
const WINDOW: u64 = 5;

on_kinds! {
    [sets: GrowingSets, maps: GrowingMaps, expiring: GrowingExpiringSets]
    {readers_miss_nothing_beside_growth}
}

/// What the test has to know about a kind. By default, items do not expire.
trait Read: Kind<Growth = Growing> {
    fn layouts() -> Vec<Layout>;

    fn builder(layout: Layout) -> BuilderOf<Self> {
        Filter::<Self::Contents, Growing>::builder().capacity(1).layout(layout)
    }

    fn generation(_tag: Self::Tag) -> u64 {
        0
    }
}

impl Read for GrowingSets {
    fn layouts() -> Vec<Layout> {
        Layout::GROWING.to_vec()
    }
}

impl Read for GrowingMaps {
    fn layouts() -> Vec<Layout> {
        vec![Layout::growing(4, 2).expect("a layout"), Layout::growing(2, 16).expect("a layout")]
    }
}

impl Read for GrowingExpiringSets {
    fn layouts() -> Vec<Layout> {
        (2..=4).map(|slots| Layout::growing(slots, 3).expect("stamps of 3 bits")).collect()
    }

    fn builder(layout: Layout) -> BuilderOf<Self> {
        Filter::builder().capacity(1).layout(layout).window(WINDOW as u32)
    }

    fn generation(tag: u64) -> u64 {
        tag
    }
}

/// What a writer tells.
#[derive(Default)]
struct Told {
    /// Its items from the first number up to the second are present, but for those that are
    /// removed.
    first: AtomicU64,
    end: AtomicU64,
    /// The generations of its items, with the number of the first of each.
    generations: Mutex<Vec<(u64, u64)>>,
    /// The last generation in which it has refreshed its pinned items.
    refreshed: AtomicU64,
}

/// A filter, and what is known of it.
struct Scene<K: Read> {
    filter: Of<K>,
    told: [Told; 2],
    /// The number of writers that have ended.
    ended: AtomicU64,
    stop: AtomicBool,
}

/// A key of a writer: each has its own.
fn key(writer: u64, nth: u64) -> u64 {
    nth << 1 | writer
}

fn pinned(writer: u64, nth: u64) -> u64 {
    1 << 60 | key(writer, nth)
}

impl<K: Read> Scene<K> {
    fn new(layout: Layout, seed: u64) -> Self {
        let filter = K::builder(layout).seed(seed).build().expect("a small filter");
        let (told, ended) = (<[Told; 2]>::default(), AtomicU64::new(0));
        let scene = Self { filter, told, ended, stop: AtomicBool::new(false) };
        for writer in 0..2 {
            (0..PINNED).for_each(|nth| {
                K::add(&scene.filter, pinned(writer, nth)).expect("room");
            });
            let now = K::now(&scene.filter);
            scene.told[writer as usize].refreshed.store(now, Relaxed);
        }
        scene
    }

    /// Inserts until the filter has so many slots, removes some of the items again, and begins
    /// generations.
    fn write(&self, writer: u64, end: usize) {
        let _stop = StopOnPanic(&self.stop);
        let (filter, told) = (&self.filter, &self.told[writer as usize]);
        let (mut last, mut removals, mut refused, mut since) = ([None; 8], 0_u64, 0_u64, 0);
        for nth in 0.. {
            if filter.slots() >= end || self.stop.load(Relaxed) {
                break;
            }
            let key_ = key(writer, nth);
            let tag = K::insert(filter, &key_, K::usual_want(filter, key_)).expect("room to grow");
            let generation = K::generation(tag);
            {
                let mut generations = told.generations.lock().expect("no panic");
                if generations.last().is_none_or(|&(last, _)| last != generation) {
                    generations.push((generation, nth));
                    since = 0;
                }
            }
            // One in four goes again, eight inserts later. No reader looks it up.
            let place = nth as usize % 8;
            if let Some(tag) = std::mem::replace(&mut last[place], (nth % 4 == 3).then_some(tag)) {
                removals += 1;
                // A refresh may have taken the slot of an alias.
                let removed = K::remove(filter, &key(writer, nth - 8), tag);
                assert!(removed || !K::IS_PERMANENT, "an item was lost");
                refused += u64::from(!removed);
            }
            told.end.store(nth + 1, Release);
            since += 1;
            // A quarter of the items that are present.
            let present = nth - told.first.load(Relaxed);
            if !K::IS_PERMANENT && since > 300.max(present / 4) {
                since = 0;
                self.begin_generation(writer);
            }
        }
        assert!(refused * 1_000 <= removals, "{refused} of {removals} were not removed");
        self.ended.fetch_add(1, Release);
    }

    /// Refreshes the pinned items, and begins a generation if the other writer has refreshed its
    /// own lately.
    fn begin_generation(&self, writer: u64) {
        let now = K::now(&self.filter);
        let refreshed = (0..PINNED).all(|nth| K::refresh(&self.filter, pinned(writer, nth)));
        assert!(refreshed, "a pinned item was lost");
        self.told[writer as usize].refreshed.store(now, Release);
        let [one, other] = [0, 1].map(|writer: usize| self.told[writer].refreshed.load(Acquire));
        // Both writers may begin one at the same time.
        if now + 2 > one.min(other) + WINDOW {
            return;
        }
        // In what may begin now, items from the generation of the lookups' first item on are found.
        let oldest = now + 2 - WINDOW;
        for told in &self.told {
            let mut generations = told.generations.lock().expect("no panic");
            let expired = generations.partition_point(|&(generation, _)| generation < oldest);
            let first = generations.get(expired).map_or(told.end.load(Acquire), |&(_, nth)| nth);
            told.first.fetch_max(first, Release);
            generations.drain(..expired);
        }
        K::advance(&self.filter);
    }

    /// Looks up present items: old ones, and the latest. Returns the number of reads.
    fn read(&self, rng: &mut SmallRng) -> u64 {
        let ranges = self.told.each_ref().map(|told| {
            let end = told.end.load(Acquire);
            (told.first.load(Acquire).min(end), end)
        });
        if ranges.iter().any(|&(first, end)| end - first < LATEST) {
            thread::yield_now();
            return 0;
        }
        let draw = |rng: &mut SmallRng, writer: usize, latest: bool| {
            let (first, end) = ranges[writer];
            let nth = rng.random_range(if latest { end - LATEST } else { first }..end);
            // Those that stay.
            if nth % 4 == 3 { nth - 1 } else { nth }
        };
        // What has expired since may be missed.
        let may_be_missed = |writer: usize, nth| nth < self.told[writer].first.load(Acquire);
        for round in 0..128 {
            let writer = round % 2;
            let nth = draw(rng, writer, round % 3 == 0);
            let is_found = self.filter.contains(&key(writer as u64, nth));
            assert!(
                is_found || may_be_missed(writer, nth),
                "{nth} of {:?} is missing: {:?}",
                ranges[writer],
                self.filter
            );
        }
        let some: [(usize, u64); 48] = std::array::from_fn(|at| (at % 2, draw(rng, at % 2, false)));
        let keys: Vec<u64> = some.iter().map(|&(writer, nth)| key(writer as u64, nth)).collect();
        let stay = (0..16).map(|at| pinned(at % 2, at));
        let keys: Vec<u64> = keys.into_iter().chain(stay).collect();
        let mask = self.filter.contains_mask(&keys);
        assert_eq!(mask >> 48, u64::MAX >> 48, "a pinned item is missing: {:?}", self.filter);
        for (at, &(writer, nth)) in some.iter().enumerate() {
            let is_found = mask >> at & 1 == 1;
            assert!(is_found || may_be_missed(writer, nth), "{nth} is missing: {:?}", self.filter);
        }
        128 + 64
    }

    /// A clone, or a filter that was loaded from a snapshot.
    fn copy(&self, is_saved: bool) -> Of<K> {
        #[cfg(feature = "std")]
        if is_saved {
            let loader = Filter::<K::Contents, Growing>::loader();
            return loader.bytes(&self.filter.to_bytes()).expect("its own bytes");
        }
        #[cfg(not(feature = "std"))]
        let _ = is_saved;
        self.filter.clone()
    }

    /// Merges a few items into the filter, if it can be merged. All that were merged are there.
    fn merge_some(&self, merged: &mut u64) {
        let _stop = StopOnPanic(&self.stop);
        let key = |nth: u64| 1 << 61 | nth;
        // As large as the filter, so that its slots know their buckets there.
        let other = self.filter.clone();
        other.clear();
        (*merged..*merged + 8).for_each(|nth| K::add(&other, key(nth)).expect("room"));
        if let Some(outcome) = K::merge(&self.filter, &other) {
            outcome.expect("room to grow");
            *merged += 8;
        }
        assert!(
            (0..*merged).all(|nth| self.filter.contains(&key(nth))),
            "a merged item is missing"
        );
    }

    /// Every copy has what was there before, and is still there afterwards.
    fn clone_it(&self, rng: &mut SmallRng) {
        let _stop = StopOnPanic(&self.stop);
        let told = &self.told[rng.random_range(0..2)];
        let writer = u64::from(!std::ptr::eq(told, &raw const self.told[0]));
        let end = told.end.load(Acquire);
        let copy = self.copy(rng.random());
        let first = told.first.load(Acquire);
        let latest = first.max(end.saturating_sub(1_000))..end;
        let mut stay = latest.filter(|nth| nth % 4 != 3);
        assert!(stay.all(|nth| copy.contains(&key(writer, nth))), "missing in the clone");
        let mut all = (0..PINNED).flat_map(|nth| [0, 1].map(|writer| pinned(writer, nth)));
        assert!(all.all(|key| copy.contains(&key)), "a pinned item is missing in the clone");
    }
}

/// Two writers insert, and remove, refresh and let expire some of what they inserted, until the
/// filter has so many times its first slots. Two readers look up items that are present, and
/// another thread clones the filter, saves it, and merges others into it. They read so often in
/// all, in as many rounds, each with a new filter, as it takes.
fn readers_beside_growth<K: Read>(layout: Layout, reads: u64, times: usize)
where
    Of<K>: Sync,
{
    let patience = Duration::from_secs(180 + reads / 200_000);
    let _watchdog = Watchdog::patient("readers_beside_growth", patience);
    let (start, left, mut rounds) = (Instant::now(), AtomicU64::new(reads), 0);
    while left.load(Relaxed) > 0 {
        let scene = &Scene::<K>::new(layout, rounds);
        let end = scene.filter.slots() * times;
        let is_over = || scene.ended.load(Acquire) == 2 || scene.stop.load(Relaxed);
        thread::scope(|scope| {
            (0..2).for_each(|writer| _ = scope.spawn(move || scene.write(writer, end)));
            for reader in 0..2 {
                let left = &left;
                scope.spawn(move || {
                    let _stop = StopOnPanic(&scene.stop);
                    let mut rng = rng(rounds << 1 | reader);
                    while !is_over() {
                        let reads = scene.read(&mut rng);
                        let before = left.load(Relaxed);
                        left.store(before.saturating_sub(reads), Relaxed);
                    }
                });
            }
            let (mut rng, mut slots, mut merged) = (rng(rounds), 0, 0);
            while !is_over() {
                // At every doubling, and a little later.
                if scene.filter.slots() > slots * 3 / 2 {
                    slots = scene.filter.slots();
                    scene.clone_it(&mut rng);
                    scene.merge_some(&mut merged);
                }
                thread::sleep(Duration::from_micros(100));
            }
        });
        for (writer, told) in (0..).zip(&scene.told) {
            let range = told.first.load(Relaxed)..told.end.load(Relaxed);
            let mut stay = range.filter(|nth| nth % 4 != 3);
            assert!(stay.all(|nth| scene.filter.contains(&key(writer, nth))), "an item was lost");
        }
        scene.clone_it(&mut rng(1));
        rounds += 1;
    }
    println!("{layout:?}: {reads} reads, {rounds} rounds, {:.0?}", start.elapsed());
}

/// As many reads as `GUIRA_READS` says, or this many.
fn reads(default: u64) -> u64 {
    let given = std::env::var("GUIRA_READS").ok();
    given.map_or(default, |reads| reads.parse().expect("a number of reads"))
}

/// A few million reads in all.
fn readers_miss_nothing_beside_growth<K: Read>()
where
    Of<K>: Sync,
{
    for layout in <K as Read>::layouts() {
        let reads = reads(scaled(100_000, 1_000_000));
        readers_beside_growth::<K>(layout, reads, scaled(20, 1_000));
    }
}

/// Run alone: `GUIRA_READS=1000000000 cargo test --release --test growing -- --ignored
/// --nocapture`.
#[test]
#[ignore = "long: ten million reads of each kind, or as many as GUIRA_READS says"]
fn readers_miss_nothing_in_a_long_run() {
    let reads = reads(10_000_000);
    readers_beside_growth::<GrowingSets>(Layout::GROWING[1], reads, 1_000);
    readers_beside_growth::<GrowingMaps>(<GrowingMaps as Read>::layouts()[0], reads, 1_000);
    readers_beside_growth::<GrowingExpiringSets>(
        <GrowingExpiringSets as Read>::layouts()[2],
        reads,
        1_000,
    );
}
