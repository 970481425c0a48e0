//! The calls that the model makes, and what it learns from their answers.

use std::time::Duration;

use guira::{Hashed, InsertBatchError, InsertError, Insertion};
use rand::{RngExt, seq::IndexedRandom};

use super::{CLASSES, INTERVAL, Item, Model, Owned};
use crate::common::{positions, scaled};

impl Model {
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

    pub(super) fn insert(&mut self) {
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

    pub(super) fn insert_unique(&mut self) {
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

    pub(super) fn insert_batch(&mut self) {
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
        for (place, error) in outcome.err().iter().flat_map(InsertBatchError::failures) {
            self.judge_refusal(some[place], error);
        }
    }

    pub(super) fn insert_unique_batch(&mut self) {
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
            for copy in owned.iter_mut() {
                copy.is_removable = false;
            }
            if let Some(oldest) = owned.iter_mut().min_by_key(|copy| copy.generation) {
                oldest.generation = self.now;
            }
        }
    }

    pub(super) fn refresh(&mut self) {
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

    pub(super) fn remove(&mut self) {
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
    pub(super) fn insert_evicting(&mut self) {
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
    pub(super) fn grow(&mut self) {
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
    pub(super) fn pass_time(&mut self) {
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
    pub(super) fn whole(&mut self) {
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
}
