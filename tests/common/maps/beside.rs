//! Lookups that must never miss a value, beside writers that keep a map nearly full.

use std::{
    sync::atomic::{
        AtomicBool, AtomicU64, AtomicUsize,
        Ordering::{Acquire, Relaxed, Release},
    },
    thread,
};

use guira::{InsertError, Layout};
use rand::{RngExt, rngs::SmallRng};

use super::{
    super::{Subject, churn::StopOnPanic, rng},
    Map, aliases, builder, max_value,
};

/// The parameters of a run.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub layout: Layout,
    pub capacity: usize,
    /// Passes over the permanent items, by each of two readers.
    pub passes: u64,
    /// Removals and replacements by the writers, at least.
    pub changes: u64,
}

/// A key whose value one writer replaces: by the second of two values, and back.
struct Changing {
    key: u64,
    values: [u16; 2],
}

struct Run<'a, E: Subject> {
    plan: &'a Plan,
    map: &'a Map<E>,
    /// Items that are present from the first lookup to the last.
    permanent: &'a [(u64, u16)],
    changing: &'a [Changing],
    /// Aliases of permanent keys, to be inserted and removed.
    aliases: &'a [u64],
    changes: AtomicU64,
    reading: AtomicUsize,
    stop: AtomicBool,
}

/// Runs two writers beside two readers.
pub fn values_are_never_missed<E: Subject>(plan: Plan) {
    let (layout, capacity) = (plan.layout, plan.capacity);
    let map = builder::<E>(capacity, layout).seed(7).build().expect("a small map");
    let (mut rng, max) = (rng(capacity as u64), max_value(layout));
    let mut permanent: Vec<(u64, u16)> = Vec::new();
    let few = 20.min(capacity / 8);
    for _ in 0..few {
        let key: u64 = rng.random();
        permanent.push((key, rng.random_range(0..=max)));
    }
    let mut found = Vec::new();
    for &(key, _) in &permanent {
        found.extend(aliases(&map, key, 2, (0..20_000).map(|_| rng.random())));
    }
    let mut changing = Vec::new();
    for _ in 0..2 * few {
        let values = [0; 2].map(|_| rng.random_range(0..=max));
        changing.push(Changing { key: rng.random(), values });
    }
    while permanent.len() < capacity * 7 / 10 {
        permanent.push((rng.random(), rng.random_range(0..=max)));
    }
    // Some keys have two values.
    for nth in 0..few {
        permanent.push((permanent[nth].0, rng.random_range(0..=max)));
    }
    // A few keys of a map that grows have so few slots that there is no room for two values.
    permanent.retain(|(key, value)| {
        let refused = map.insert(key, *value).err();
        assert!(refused.is_none_or(|error| error == InsertError::TooManyCopies), "{refused:?}");
        refused.is_none()
    });
    let before = permanent.len() + changing.len();
    for item in &changing {
        map.insert(&item.key, item.values[0]).expect("room");
    }
    let run = Run {
        plan: &plan,
        map: &map,
        permanent: &permanent,
        changing: &changing,
        aliases: &found,
        changes: AtomicU64::new(0),
        reading: AtomicUsize::new(2),
        stop: AtomicBool::new(false),
    };
    let owned = run.all();
    // Nothing has been lost.
    assert_eq!(map.len(), before + owned.len());
    for (key, value) in owned.into_iter().chain(permanent) {
        assert!(map.remove(&key, value));
    }
    assert_eq!(map.len(), changing.len());
    assert_eq!(map.clone().len(), changing.len());
}

impl<E: Subject> Run<'_, E> {
    /// Runs all threads. Returns the items that the writers still own, the changing ones aside.
    fn all(&self) -> Vec<(u64, u16)> {
        thread::scope(|scope| {
            let writers: Vec<_> =
                (0..2).map(|writer| scope.spawn(move || self.write(writer))).collect();
            for _ in 0..2 {
                scope.spawn(|| self.read());
            }
            writers.into_iter().flat_map(|writer| writer.join().expect("no panic")).collect()
        })
    }

    fn read(&self) {
        let _stop = StopOnPanic(&self.stop);
        let mut passes = 0;
        while !self.stop.load(Relaxed)
            && (passes < self.plan.passes || self.changes.load(Relaxed) < self.plan.changes)
        {
            self.pass();
            passes += 1;
        }
        if self.reading.fetch_sub(1, Relaxed) == 1 {
            self.stop.store(true, Release);
        }
    }

    /// Looks up all items that are present.
    fn pass(&self) {
        for burst in self.permanent.chunks(64) {
            for (key, value) in burst {
                assert!(self.map.values(key).any(|found| found == *value), "{value} is missed");
                assert!(self.map.contains_value(key, *value), "{value} is not found");
                assert!(self.map.get(key).is_some() && self.map.contains(key));
            }
            let mut keys = [0; 64];
            for (place, &(key, _)) in keys.iter_mut().zip(burst) {
                *place = key;
            }
            let keys = &keys[..burst.len()];
            assert_eq!(self.map.get_batch(keys, &mut [None; 64][..keys.len()]), keys.len());
            assert_eq!(self.map.contains_mask(keys).count_ones() as usize, keys.len());
            assert_eq!(self.map.contains_batch(keys, &mut [false; 64][..keys.len()]), keys.len());
        }
        for Changing { key, values } in self.changing {
            let found = self.map.values(key).any(|value| values.contains(&value));
            assert!(found, "neither value of {values:?} was found");
        }
    }

    /// Inserts, replaces and removes items of its own, at a load where inserts relocate others.
    fn write(&self, writer: usize) -> Vec<(u64, u16)> {
        let _stop = StopOnPanic(&self.stop);
        let (mut rng, max) = (rng(writer as u64), max_value(self.plan.layout));
        let share = (self.plan.capacity.saturating_sub(self.map.len()) / 2).max(4);
        let mut owned: Vec<(u64, u16)> = Vec::new();
        let mut mine: Vec<_> =
            self.changing.iter().skip(writer).step_by(2).map(|item| (item, 0)).collect();
        while !self.stop.load(Acquire) {
            let (key, value) = (self.any_key(&mut rng), rng.random_range(0..=max));
            match self.map.insert(&key, value) {
                Ok(()) => owned.push((key, value)),
                Err(error) => assert_ne!(error, InsertError::ValueTooLarge),
            }
            if owned.is_empty() {
                continue;
            }
            let nth = rng.random_range(0..owned.len());
            let (key, old) = owned[nth];
            if rng.random() {
                assert!(self.map.replace(&key, old, value), "an item of its own");
                owned[nth].1 = value;
            }
            if owned.len() >= share {
                let (key, value) = owned.swap_remove(nth);
                assert!(self.map.remove(&key, value), "an item of its own");
            }
            if !mine.is_empty() {
                let nth = rng.random_range(0..mine.len());
                let (item, now) = &mut mine[nth];
                let next = 1 - *now;
                assert!(self.map.replace(&item.key, item.values[*now], item.values[next]));
                *now = next;
            }
            self.changes.fetch_add(2, Relaxed);
        }
        owned
    }

    fn any_key(&self, rng: &mut SmallRng) -> u64 {
        if self.aliases.is_empty() || rng.random() {
            return rng.random();
        }
        self.aliases[rng.random_range(0..self.aliases.len())]
    }
}
