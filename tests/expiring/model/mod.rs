//! Random sequences of all operations on filters that grow, against a model in which every item has
//! its generation.
//!
//! Some items are aliases until the filter has grown: they differ in bits that only slots of larger
//! tables know. So the model says how long each item must be found, and how long one of its class of
//! aliases may be found. The number of items is exact, unless a refresh or an eviction may have had
//! a choice.

mod calls;

use std::{iter, ops::RangeInclusive, time::Duration};

use guira::{GrowingExpiringFilter, Hashed, Layout, raw::Kernel};
use rand::{RngExt, rngs::SmallRng, seq::IndexedRandom};

use super::{
    WINDOWS,
    common::{rng, scaled},
    known::{SEED, relative},
    layouts,
};

/// Seconds of a generation.
const INTERVAL: u64 = 10;
/// Classes of aliases, and the items of each.
const CLASSES: usize = 6;
const MEMBERS: u64 = 4;

/// An item that was inserted, and neither removed nor cleared.
#[derive(Clone, Copy, Debug)]
struct Owned {
    /// The last generation by which it was inserted or refreshed.
    generation: u64,
    /// Whether it may be removed: not after a refresh.
    is_removable: bool,
}

/// An item, and what was inserted of it.
#[derive(Debug)]
struct Item {
    key: Hashed,
    class: usize,
    owned: Vec<Owned>,
}

/// A filter, and what it should hold.
struct Model {
    filter: GrowingExpiringFilter,
    now: u64,
    items: Vec<Item>,
    /// The last generation that a slot of each class may have.
    latest: [Option<u64>; CLASSES],
    /// Other items, which make the filter grow, with their generations.
    ballast: Vec<(Hashed, u64)>,
    /// The last generation in which something was refreshed, or evicted.
    disturbed: Option<u64>,
    /// When the present generation began, if the clock was read since, in seconds.
    begun: Option<u64>,
    clock: u64,
    is_capped: bool,
    /// Whether items are refreshed: after that their number is not exact.
    refreshes: bool,
    rng: SmallRng,
    what: String,
}

impl Model {
    fn new(window: u32, layout: Layout, reserve: bool, seed: u64) -> Self {
        let builder = GrowingExpiringFilter::builder().capacity(1).window(window).layout(layout);
        let builder = builder.time_to_live(Duration::from_secs(INTERVAL * u64::from(window)));
        let builder = builder.reserve_address_space(reserve).seed(SEED);
        let kernel = if seed.is_multiple_of(2) { Kernel::Scalar } else { Kernel::best() };
        let filter = builder.kernel(kernel).build().expect("a small filter");
        let mut rng = rng(seed);
        let mut items = Vec::new();
        for class in 0..CLASSES {
            let mixed: u64 = rng.random();
            for member in 0..MEMBERS {
                let key = relative(mixed, layout, member);
                items.push(Item { key, class, owned: Vec::new() });
            }
        }
        let now = filter.generation();
        let what = format!("window {window}, {layout:?}, seed {seed}");
        let (latest, ballast) = ([None; CLASSES], Vec::new());
        let (refreshes, disturbed) = (seed.is_multiple_of(2), None);
        let (begun, clock, is_capped) = (None, 1_000, false);
        Self {
            filter,
            now,
            items,
            latest,
            ballast,
            disturbed,
            begun,
            clock,
            is_capped,
            refreshes,
            rng,
            what,
        }
    }

    /// Checks that the classes are those of the filter.
    fn check_classes(&self) {
        for one in self.items.iter().step_by(MEMBERS as usize) {
            self.filter.insert(&one.key).expect("an empty filter");
            for other in &self.items {
                let is_alias = self.filter.contains(&other.key);
                assert_eq!(is_alias, one.class == other.class, "{}", self.what);
            }
            self.filter.clear();
        }
    }

    fn window(&self) -> u64 {
        self.filter.window().into()
    }

    fn is_visible(&self, generation: u64) -> bool {
        self.now - generation <= self.window()
    }

    /// Whether the filter may have had a choice between slots that are still visible.
    fn is_disturbed(&self) -> bool {
        self.disturbed.is_some_and(|generation| self.is_visible(generation))
    }

    fn must_be_found(&self, item: usize) -> bool {
        !self.items[item].owned.is_empty()
    }

    fn may_be_found(&self, item: usize) -> bool {
        // With many others beside it, anything may be.
        let latest = self.latest[self.items[item].class];
        !self.ballast.is_empty() || latest.is_some_and(|generation| self.is_visible(generation))
    }

    fn step(&mut self) {
        match self.rng.random_range(0..100) {
            0..22 => self.insert(),
            22..32 => self.insert_unique(),
            32..37 => self.insert_batch(),
            37..44 => self.insert_unique_batch(),
            44..56 if self.refreshes => self.refresh(),
            44..76 => self.remove(),
            76..78 => self.insert_evicting(),
            78..82 => self.grow(),
            82..94 => self.pass_time(),
            _ => self.whole(),
        }
        self.check();
    }

    /// Checks everything that the filter tells.
    fn check(&mut self) {
        let (filter, what) = (&self.filter, &self.what);
        assert_eq!(filter.generation(), self.now, "{what}");
        let keys: Vec<Hashed> = self.items.iter().map(|item| item.key).collect();
        let mut found = vec![false; keys.len()];
        let hits = filter.contains_batch(&keys, &mut found);
        assert_eq!(hits, found.iter().filter(|&&found| found).count());
        let mask = filter.contains_mask(&keys);
        for (place, item) in self.items.iter().enumerate() {
            let (is_found, count) = (filter.contains(&item.key), filter.count(&item.key));
            assert_eq!((is_found, mask >> place & 1 == 1), (found[place], found[place]), "{what}");
            assert!(count >= item.owned.len(), "{what}: {count} of {item:?}");
            assert_eq!(is_found, count > 0, "{what}");
            assert!(!is_found || self.may_be_found(place), "{what}: {item:?} is found");
        }
        for _ in 0..30.min(self.ballast.len()) {
            let &(key, generation) = self.ballast.choose(&mut self.rng).expect("one");
            assert!(generation == 0 || filter.contains(&key), "{what}: {key:?} is missing");
        }
        let ballast = self.ballast.iter().filter(|&&(_, generation)| generation > 0).count();
        let owned: usize = self.items.iter().map(|item| item.owned.len()).sum();
        if !self.is_disturbed() {
            assert_eq!(filter.len(), owned + ballast, "{what}");
        }
        let len = filter.len();
        assert_eq!(filter.is_empty(), len == 0);
        let (slots, capacity) = (filter.slots(), filter.capacity());
        assert!(capacity <= slots && filter.len() <= slots, "{what}: {filter:?}");
        let buckets = slots / filter.layout().slots_per_bucket() as usize;
        assert!(filter.size_in_bytes() >= buckets * 8);
        assert!(filter.false_positive_rate() <= filter.target_false_positive_rate());
        let load = filter.len() as f64 / slots as f64;
        assert!((filter.load_factor() - load).abs() < 1e-9);
    }
}

/// Runs random sequences of operations.
fn run(windows: impl Iterator<Item = u32>, seeds: RangeInclusive<u64>, steps: u32) {
    let mut grown = 0.0_f64;
    for window in windows {
        for layout in layouts::<guira::kind::Growing>(window) {
            for seed in seeds.clone() {
                let mut model = Model::new(window, layout, seed % 3 != 0, seed);
                let (first, first_size) = (model.filter.slots(), model.filter.size_in_bytes());
                model.check_classes();
                for _ in 0..steps {
                    model.step();
                    grown = grown.max((model.filter.slots() / first) as f64);
                }
                // Everything expires, and is gone.
                (0..=window).for_each(|_| _ = model.filter.advance());
                let keys: Vec<Hashed> = model.items.iter().map(|item| item.key).collect();
                assert_eq!((model.filter.len(), model.filter.contains_mask(&keys)), (0, 0));
                model.filter.shrink_to_fit();
                // Up to a page.
                let size = model.filter.size_in_bytes();
                assert!(size <= first_size + (4 << 10), "{}: {size} bytes are left", model.what);
            }
        }
    }
    println!("grown {grown:.0}-fold");
    assert!(grown >= scaled(6.0, 24.0), "they have not grown: {grown}");
}

#[test]
fn every_operation_agrees_with_the_model() {
    let windows = iter::once(2).chain([1, 5, 13, 253]).filter(|window| WINDOWS.contains(window));
    run(windows, 0..=scaled(1, 2), scaled(150, 300));
}

#[test]
#[ignore = "long: half a million operations for each layout; run it in release mode"]
fn long_every_operation_agrees_with_the_model() {
    run(WINDOWS.into_iter(), 100..=600, 1_000);
}
