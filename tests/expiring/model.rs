//! Random sequences of all operations on filters that grow, against a model in which every item has
//! its generation.
//!
//! Some items are aliases until the filter has grown: they differ in bits that only slots of larger
//! tables know. So the model says how long each item must be found, and how long one of its class of
//! aliases may be found. The number of items is exact, unless a refresh or an eviction may have had
//! a choice.

use std::{iter, ops::RangeInclusive, time::Duration};

use guira::{
    GrowingExpiringFilter, Hashed, InsertError, Insertion, Layout,
    raw::{Kernel, mix},
};
use rand::{RngExt, rngs::SmallRng, seq::IndexedRandom};

use super::{
    WINDOWS,
    common::{chosen::unmix, positions, rng, scaled},
    layouts,
};

const SEED: u64 = 7;
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
    rng: SmallRng,
    what: String,
}

/// The bits of the extension that a slot knows at least.
fn known_bits(layout: Layout) -> u32 {
    let core = [8, 8, 7, 6][layout.slots_per_bucket() as usize - 2];
    layout.fingerprint_bits() - core
}

impl Model {
    fn new(window: u32, layout: Layout, reserve: bool, seed: u64) -> Self {
        let builder = GrowingExpiringFilter::builder().capacity(1).window(window).layout(layout);
        let builder = builder.time_to_live(Duration::from_secs(INTERVAL * u64::from(window)));
        let builder = builder.reserve_address_space(reserve).seed(SEED);
        let kernel = if seed % 2 == 0 { Kernel::Scalar } else { Kernel::best() };
        let filter = builder.kernel(kernel).build().expect("a small filter");
        let mut rng = rng(seed);
        // As in `docs::snapshots`.
        let mixing_seed = mix(SEED + 0x9e37_79b9_7f4a_7c15, 0);
        let mut items = Vec::new();
        for class in 0..CLASSES {
            let mixed: u64 = rng.random();
            for member in 0..MEMBERS {
                // The next bits after those that a slot of the first size knows.
                let mixed = mixed ^ member << (32 + known_bits(layout)).min(61);
                let key = Hashed(unmix(mixed, mixing_seed));
                items.push(Item { key, class, owned: Vec::new() });
            }
        }
        let now = filter.generation();
        let what = format!("window {window}, {layout:?}, seed {seed}");
        let (latest, ballast) = ([None; CLASSES], Vec::new());
        let (disturbed, begun, clock, is_capped) = (None, None, 1_000, false);
        Self { filter, now, items, latest, ballast, disturbed, begun, clock, is_capped, rng, what }
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

    /// An item. A third of the draws go to three of them.
    fn draw(&mut self) -> usize {
        let most = if self.rng.random_ratio(1, 3) { 3 } else { self.items.len() };
        self.rng.random_range(0..most)
    }

    fn draw_some(&mut self, most: usize) -> (Vec<usize>, Vec<Hashed>) {
        let some: Vec<usize> = (0..self.rng.random_range(0..=most)).map(|_| self.draw()).collect();
        let keys = some.iter().map(|&item| self.items[item].key).collect();
        (some, keys)
    }

    fn add(&mut self, item: usize, generation: u64, is_removable: bool) {
        let Item { class, owned, .. } = &mut self.items[item];
        owned.push(Owned { generation, is_removable });
        self.latest[*class] = self.latest[*class].max(Some(generation));
    }

    /// Whether an insert may be refused.
    fn judge_refusal(&self, item: usize, error: InsertError) {
        let slots = self.filter.layout().slots_per_bucket() as usize;
        let class = self.items[item].class;
        let members = self.items.iter().filter(|item| item.class == class);
        // Few splits tell the aliases apart, and all of them have the same buckets until then.
        let copies = members.map(|item| self.filter.count(&item.key)).sum::<usize>();
        let are_many = 2 * copies >= slots;
        let is_right = match error {
            InsertError::TooManyCopies => are_many,
            InsertError::Full => self.is_capped || are_many,
            _ => false,
        };
        assert!(is_right, "{}: {error:?} with {copies} copies", self.what);
    }

    fn insert(&mut self) {
        let item = self.draw();
        let life = self.rng.random_range(0..=self.filter.window() + 1);
        let key = self.items[item].key;
        let (expected, outcome) = if self.rng.random() {
            (Ok(self.now), self.filter.insert(&key))
        } else if (1..=self.filter.window()).contains(&life) {
            (Ok(self.now + u64::from(life) - self.window()), self.filter.insert_for(&key, life))
        } else {
            (Err(InsertError::InvalidLife), self.filter.insert_for(&key, life))
        };
        match outcome {
            Err(error) if expected.is_ok() => self.judge_refusal(item, error),
            _ => assert_eq!(outcome, expected, "{}", self.what),
        }
        if let Ok(generation) = outcome {
            self.add(item, generation, true);
        }
    }

    /// Records an insert that adds what is absent.
    fn record_unique(&mut self, item: usize, is_new: bool) {
        if is_new {
            assert!(!self.must_be_found(item), "{}: accepted again", self.what);
            self.add(item, self.now, true);
        } else {
            assert!(self.may_be_found(item), "{}: not accepted", self.what);
        }
    }

    fn insert_unique(&mut self) {
        let item = self.draw();
        match self.filter.insert_unique(&self.items[item].key) {
            Ok(Insertion::New(generation)) => {
                assert_eq!(generation, self.now);
                self.record_unique(item, true);
            }
            Ok(Insertion::Found(())) => self.record_unique(item, false),
            Err(error) => {
                assert!(!self.must_be_found(item) && error == InsertError::Full);
                self.judge_refusal(item, error);
            }
        }
    }

    fn insert_batch(&mut self) {
        let (some, keys) = self.draw_some(70);
        let outcome = self.filter.insert_batch(&keys);
        let rejected = outcome.as_ref().map_or_else(positions, |_| vec![]);
        let is_right = outcome.as_ref().map_or_else(
            |error| error.added() + rejected.len() == keys.len(),
            |&generation| generation == self.now,
        );
        assert!(is_right, "{}: {outcome:?}", self.what);
        for (place, &item) in some.iter().enumerate() {
            if !rejected.contains(&place) {
                // After an error their generation is not known to the caller.
                self.add(item, self.now, outcome.is_ok());
            }
        }
        for (place, error) in outcome.err().iter().flat_map(|error| error.failures()) {
            self.judge_refusal(some[place], error);
        }
    }

    fn insert_unique_batch(&mut self) {
        let (some, keys) = self.draw_some(64);
        let (added, refused) = if self.rng.random() {
            let mut added = vec![false; keys.len()];
            let outcome = self.filter.insert_unique_batch(&keys, &mut added);
            let refused = outcome.map_or_else(|error| positions(&error), |_| vec![]);
            (added, refused)
        } else {
            let masks = self.filter.insert_unique_mask(&keys);
            let is_in = |mask: u64| move |place: &usize| mask >> place & 1 == 1;
            let refused = (0..keys.len()).filter(is_in(masks.refused)).collect();
            ((0..keys.len()).map(|place| is_in(masks.added)(&place)).collect(), refused)
        };
        for (place, &item) in some.iter().enumerate() {
            if refused.contains(&place) {
                assert!(!added[place] && !self.must_be_found(item), "{}", self.what);
            } else {
                self.record_unique(item, added[place]);
            }
        }
    }

    /// Records that an item was refreshed, or not found.
    fn record_refresh(&mut self, item: usize, found: bool) {
        assert!(found || !self.must_be_found(item), "{}: not refreshed", self.what);
        assert!(!found || self.may_be_found(item), "{}: refreshed", self.what);
        if found {
            let Item { class, owned, .. } = &mut self.items[item];
            self.latest[*class] = Some(self.now);
            self.disturbed = Some(self.now);
            owned.iter_mut().for_each(|copy| copy.is_removable = false);
            if let Some(oldest) = owned.iter_mut().min_by_key(|copy| copy.generation) {
                oldest.generation = self.now;
            }
        }
    }

    fn refresh(&mut self) {
        if self.rng.random() {
            let item = self.draw();
            let found = self.filter.refresh(&self.items[item].key);
            self.record_refresh(item, found);
        } else {
            let (some, keys) = self.draw_some(64);
            let mask = self.filter.refresh_mask(&keys);
            assert_eq!(mask.checked_shr(keys.len() as u32).unwrap_or(0), 0);
            for (place, &item) in some.iter().enumerate() {
                self.record_refresh(item, mask >> place & 1 == 1);
            }
        }
    }

    fn remove(&mut self) {
        let item = self.draw();
        let Item { key, owned, .. } = &mut self.items[item];
        let key = *key;
        let removable: Vec<usize> =
            (0..owned.len()).filter(|&copy| owned[copy].is_removable).collect();
        if let Some(&copy) = removable.choose(&mut self.rng) {
            let Owned { generation, .. } = owned.swap_remove(copy);
            let removed = self.filter.remove(&key, generation);
            // The refresh of an alias may have taken its slot.
            assert!(removed || self.is_disturbed(), "{}: none to remove", self.what);
        } else {
            // What has expired, or has not begun, cannot be removed.
            let age = self.window() + 1 + self.rng.random_range(0..300);
            for generation in [self.now.wrapping_sub(age), self.now + 1, u64::MAX] {
                assert!(!self.filter.remove(&key, generation), "{}: {generation}", self.what);
            }
        }
    }

    /// In a filter that may grow, an eviction is an insert, unless there are too many copies.
    fn insert_evicting(&mut self) {
        let item = self.draw();
        let replaces = self.filter.insert_evicting(&self.items[item].key);
        if replaces {
            // It may have been any of them.
            self.items.iter_mut().for_each(|item| item.owned.clear());
            self.ballast.iter_mut().for_each(|(_, generation)| *generation = 0);
            self.disturbed = Some(self.now);
        }
        self.add(item, self.now, !replaces);
        assert!(self.filter.contains(&self.items[item].key), "{}", self.what);
    }

    /// Inserts other items, so that the filter may grow.
    fn grow(&mut self) {
        let (slots, first) = (self.filter.slots(), 1_024);
        let most = if slots > scaled(16, 100) * first { slots / 32 } else { slots };
        let life = self.rng.random_range(1..=self.filter.window().min(3));
        let mut refused = 0;
        for _ in 0..self.rng.random_range(0..most) {
            let key = Hashed(self.rng.random());
            match self.filter.insert_for(&key, life) {
                Ok(generation) => self.ballast.push((key, generation)),
                // Few are aliases of the others, or have their buckets where only those are.
                Err(_) if self.is_capped || refused < 5 => refused += 1,
                Err(error) => panic!("{}: {error:?}, {:?}", self.what, self.filter),
            }
        }
    }

    /// Begins generations. Any number of them may have begun since the last one.
    fn pass_time(&mut self) {
        match self.rng.random_range(0..8) {
            0..3 => {
                self.now += 1;
                assert_eq!(self.filter.advance(), self.now);
                self.begun = None;
            }
            3 => {
                let all = self.window() + 1;
                (0..all).for_each(|_| _ = self.filter.advance());
                self.now += all;
                self.begun = None;
            }
            4..7 => {
                self.clock += self.rng.random_range(0..INTERVAL * 2);
                let begun = *self.begun.get_or_insert(self.clock);
                let is_due = self.clock - begun >= INTERVAL;
                if is_due {
                    (self.now, self.begun) = (self.now + 1, Some(self.clock));
                }
                let outcome = self.filter.tick(|| Duration::from_secs(self.clock));
                assert_eq!(outcome, is_due.then_some(self.now), "{}", self.what);
            }
            _ => {
                self.clock += self.rng.random_range(0..INTERVAL * 4);
                let begun = *self.begun.get_or_insert(self.clock);
                let due = ((self.clock - begun) / INTERVAL).min(self.window() + 1);
                let is_all = due == self.window() + 1;
                self.begun = Some(if is_all { self.clock } else { begun + due * INTERVAL });
                self.now += due;
                let outcome = self.filter.advance_to(|| Duration::from_secs(self.clock));
                assert_eq!(outcome, self.now, "{}", self.what);
            }
        }
        let oldest = self.now - self.window();
        self.items.iter_mut().for_each(|item| item.owned.retain(|copy| copy.generation >= oldest));
        self.ballast.retain(|&(_, generation)| generation >= oldest || generation == 0);
        if self.ballast.iter().all(|&(_, generation)| generation == 0) && !self.is_disturbed() {
            self.ballast.clear();
        }
    }

    /// Operations on the whole filter.
    fn whole(&mut self) {
        match self.rng.random_range(0..8) {
            0 => {
                self.filter.clear();
                self.items.iter_mut().for_each(|item| item.owned.clear());
                self.latest = [None; CLASSES];
                self.ballast.clear();
            }
            1..4 => {
                let copy = self.filter.clone();
                let original = std::mem::replace(&mut self.filter, copy);
                assert_eq!(original.len(), self.filter.len(), "{}", self.what);
                original.clear();
                (0..=self.window() + 1).for_each(|_| _ = original.advance());
            }
            4 => {
                let (before, slots) = (self.filter.size_in_bytes(), self.filter.slots());
                let released = self.filter.shrink_to_fit();
                assert_eq!(released, before - self.filter.size_in_bytes());
                assert!(self.filter.slots() < slots || released == 0);
            }
            5 => {
                self.is_capped = !self.is_capped;
                self.filter.set_max_bytes(self.is_capped.then_some(0));
            }
            _ => while self.filter.sweep(self.rng.random_range(1..1_000)) > 0 {},
        }
    }

    fn step(&mut self) {
        match self.rng.random_range(0..100) {
            0..22 => self.insert(),
            22..32 => self.insert_unique(),
            32..37 => self.insert_batch(),
            37..44 => self.insert_unique_batch(),
            44..56 => self.refresh(),
            56..76 => self.remove(),
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
        assert_eq!(filter.is_empty(), filter.len() == 0);
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
    assert!(grown >= scaled(8.0, 64.0), "they have not grown: {grown}");
}

#[test]
fn every_operation_agrees_with_the_model() {
    let windows = iter::once(2).chain([1, 5, 13, 253]).filter(|window| WINDOWS.contains(window));
    run(windows, 0..=scaled(1, 2), scaled(150, 400));
}

#[test]
#[ignore = "long: half a million operations for each layout; run it in release mode"]
fn long_every_operation_agrees_with_the_model() {
    run(WINDOWS.into_iter(), 100..=600, 1_000);
}
