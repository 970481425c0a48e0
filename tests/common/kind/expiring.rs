//! Filters whose items expire.

use std::{
    hash::BuildHasher,
    sync::atomic::{AtomicU64, Ordering::SeqCst},
    time::Duration,
};

use guira::{InsertBatchError, InsertError, InsertMask, Insertion, Key, Layout, kind::Expiring};
use rand::{Rng, RngExt, seq::IndexedRandom};

use super::{BuilderOf, Kind, Of, unique_batches};
#[cfg(feature = "std")]
use crate::common::forge;
use crate::common::{Subject, items::Items};

/// What begins the generations of a filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// `advance`.
    Advance,
    /// Writes and sweeps, since items have a time to live.
    Writes,
}

/// The time to live of filters whose generations are begun by writes.
const TTL: Duration = Duration::from_secs(6);
/// An interval of such a filter, and a little more. So an item of the oldest visible generation is
/// found until the time at which the next one begins.
const STEP: u64 = 1_050_000_000;

/// How time passes in a filter.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// Six, if writes begin generations.
    pub window: u32,
    pub by: By,
    /// A clock in nanoseconds, and its reading.
    pub clock: &'static AtomicU64,
    pub now: fn() -> u64,
}

/// The bits of stamps for a window.
pub fn stamp_bits(window: u32) -> u32 {
    (window + 2).ilog2() + 1
}

impl<G: Subject> Kind for (Expiring, G) {
    type Contents = Expiring;
    type Growth = G;
    type Tag = u64;

    const IS_PERMANENT: bool = false;

    unique_batches!();

    /// Those for stamps of up to 5 bits, and of 8 bits.
    fn layouts() -> Vec<Layout> {
        let layout = if Self::GROWS { Layout::growing } else { Layout::with_values };
        let of = |slots| [2, 3, 4, 5, 8].into_iter().filter_map(move |bits| layout(slots, bits));
        (2..=6).flat_map(of).collect()
    }

    fn expiring(builder: BuilderOf<Self>) -> BuilderOf<Self> {
        builder.window(13)
    }

    /// One of the windows that need stamps of this many bits: the longest one for even seeds.
    fn settings(builder: BuilderOf<Self>, layout: Layout, seed: u64) -> BuilderOf<Self> {
        let windows = (1..=253).filter(|&window| stamp_bits(window) == layout.value_bits());
        let windows: Vec<u32> = windows.collect();
        let place = if seed.is_multiple_of(2) { 0 } else { seed as usize / 2 % windows.len() };
        builder.window(windows[windows.len() - 1 - place])
    }

    fn limited<S>(builder: BuilderOf<Self, S>, _max_copies: usize) -> BuilderOf<Self, S> {
        builder
    }

    fn want<S>(filter: &Of<Self, S>, rng: &mut dyn Rng) -> u16 {
        let window = filter.window() as u16;
        if rng.random() { window } else { rng.random_range(0..=window + 1) }
    }

    fn any_tag<S>(filter: &Of<Self, S>, rng: &mut dyn Rng) -> u64 {
        let now = filter.generation();
        let age = rng.random_range(0..=u64::from(filter.window()) + 2);
        match rng.random_range(0..32) {
            0 => now + 1 + age,
            // The same stamp in longer windows, and numbers that are no generation.
            1 => now.wrapping_add(1 << 8),
            2 => now.wrapping_sub(1 << 8),
            3 => u64::MAX,
            4 => 0,
            _ => now - age.min(now),
        }
    }

    fn tag<S>(filter: &Of<Self, S>, want: u16) -> Result<u64, InsertError> {
        let (window, life) = (filter.window(), u32::from(want));
        if (1..=window).contains(&life) {
            Ok(filter.generation() - u64::from(window - life))
        } else {
            Err(InsertError::InvalidLife)
        }
    }

    fn plain_tag<S>(filter: &Of<Self, S>, _want: u16) -> Result<u64, InsertError> {
        Ok(filter.generation())
    }

    fn usual_want<S>(filter: &Of<Self, S>, _key: u64) -> u16 {
        filter.window() as u16
    }

    fn insert<Q: Key + ?Sized, S: BuildHasher>(
        filter: &Of<Self, S>,
        key: &Q,
        want: u16,
    ) -> Result<u64, InsertError> {
        let life = u32::from(want);
        match filter.ttl() {
            _ if life == filter.window() => filter.insert(key),
            None => filter.insert_for(key, life),
            Some(time) => filter.insert_for(key, time),
        }
    }

    fn insert_unique<Q: Key + ?Sized, S: BuildHasher>(
        filter: &Of<Self, S>,
        key: &Q,
        _want: u16,
    ) -> Result<Insertion<u64, Option<u64>>, InsertError> {
        Ok(match filter.insert_unique(key)? {
            Insertion::New(generation) => Insertion::New(generation),
            Insertion::Found(()) => Insertion::Found(None),
        })
    }

    fn insert_batch<Q: Key + Copy, S: BuildHasher>(
        filter: &Of<Self, S>,
        keys: &[Q],
        _wants: &[u16],
    ) -> Result<Option<u64>, InsertBatchError> {
        filter.insert_batch(keys.iter().copied()).map(|()| None)
    }

    fn remove<Q: Key + ?Sized, S: BuildHasher>(filter: &Of<Self, S>, key: &Q, tag: u64) -> bool {
        filter.remove(key, tag)
    }

    /// There is no such method.
    fn remove_batch<Q: Key, S: BuildHasher>(
        filter: &Of<Self, S>,
        keys: &[Q],
        tags: &[u64],
        removed: &mut [bool],
    ) -> usize {
        for ((removed, key), tag) in removed.iter_mut().zip(keys).zip(tags) {
            *removed = filter.remove(key, *tag);
        }
        removed.iter().filter(|&&removed| removed).count()
    }

    fn now<S>(filter: &Of<Self, S>) -> u64 {
        filter.generation()
    }

    fn advance<S>(filter: &Of<Self, S>) {
        filter.advance();
    }

    fn timed<S>(builder: BuilderOf<Self, S>, timing: Timing) -> BuilderOf<Self, S> {
        match timing.by {
            By::Advance => builder.window(timing.window),
            By::Writes => builder.ttl(TTL).clock(timing.now),
        }
    }

    #[cfg(feature = "std")]
    fn load(bytes: &[u8], timing: Timing) -> Of<Self> {
        let loader = guira::Filter::loader();
        let loader = if timing.by == By::Writes { loader.clock(timing.now) } else { loader };
        loader.bytes(bytes).expect("its own bytes")
    }

    fn pass<S>(filter: &Of<Self, S>, timing: Timing) {
        if timing.by == By::Advance {
            filter.advance();
            return;
        }
        let now = timing.clock.load(SeqCst);
        // Begins a generation that another thread has made due, and permits the next one.
        filter.sweep(u64::MAX);
        let _ = timing.clock.compare_exchange(now, now + STEP, SeqCst, SeqCst);
        filter.sweep(0);
    }

    fn insert_unique_for<Q: Key + ?Sized, S: BuildHasher>(
        filter: &Of<Self, S>,
        key: &Q,
        life: u16,
    ) -> Result<Insertion<u64, Option<u64>>, InsertError> {
        let inserted = match filter.ttl() {
            None => filter.insert_unique_for(key, u32::from(life))?,
            Some(time) => filter.insert_unique_for(key, time)?,
        };
        Ok(match inserted {
            Insertion::New(generation) => Insertion::New(generation),
            Insertion::Found(()) => Insertion::Found(None),
        })
    }

    fn sweep<S>(filter: &Of<Self, S>, buckets: u64) {
        filter.sweep(buckets);
    }

    fn refresh<S: BuildHasher>(filter: &Of<Self, S>, key: u64) -> bool {
        filter.refresh(&key)
    }

    fn insert_or_refresh<S: BuildHasher>(
        filter: &Of<Self, S>,
        key: u64,
    ) -> Result<Insertion<u64>, InsertError> {
        filter.insert_or_refresh(&key)
    }

    fn insert_or_refresh_mask<S: BuildHasher>(filter: &Of<Self, S>, keys: &[u64]) -> InsertMask {
        filter.insert_or_refresh_mask(keys)
    }

    fn refresh_mask<S: BuildHasher>(filter: &Of<Self, S>, keys: &[u64]) -> u64 {
        filter.refresh_mask(keys)
    }

    fn pass_time<S: BuildHasher + Clone>(
        filter: &Of<Self, S>,
        items: &mut Items<u64>,
        rng: &mut dyn Rng,
    ) {
        let key = rng.random_range(0..items.keys.len());
        match rng.random_range(0..9) {
            // Now and then for as long as items are found, or a little longer.
            step @ 0..4 => {
                let (before, window) = (filter.generation(), u64::from(filter.window()));
                let last = before + if step == 0 { rng.random_range(1..=window + 2) } else { 1 };
                (before..last).for_each(|now| assert_eq!(filter.advance(), now + 1));
                items.retain(|generation| last - generation <= window);
            }
            4 => refresh(filter, items, key, filter.refresh(&items.keys[key])),
            5 => {
                // Some of them twice.
                let places: Vec<usize> = (0..items.keys.len()).collect();
                let some: Vec<usize> = (0..rng.random_range(0..20))
                    .filter_map(|_| places.choose(rng).copied())
                    .collect();
                let names: Vec<u64> = some.iter().map(|&key| items.keys[key]).collect();
                let mask = filter.refresh_mask(&names);
                for (place, &key) in some.iter().enumerate() {
                    refresh(filter, items, key, mask >> place & 1 == 1);
                }
                assert_eq!(mask >> some.len(), 0);
            }
            6 => match filter.insert_or_refresh(&items.keys[key]) {
                Ok(Insertion::Found(())) => refresh(filter, items, key, true),
                Ok(Insertion::New(generation)) => {
                    assert!(items.of(key).is_empty(), "it was there");
                    assert_eq!(generation, filter.generation());
                    items.add(key, generation);
                }
                Err(_) => assert!(items.of(key).is_empty(), "it was there"),
            },
            _ => {
                let left = filter.sweep(rng.random_range(0..100));
                assert!(left > 0 || Self::GROWS || occupied(filter) == items.len() as u64);
            }
        }
    }
}

/// Records the refresh of a key, which has found a slot or none. It gives the oldest item of the
/// key and its aliases the current generation.
fn refresh<G: Subject, S>(
    filter: &Of<(Expiring, G), S>,
    items: &mut Items<u64>,
    key: usize,
    found: bool,
) {
    if <(Expiring, G)>::GROWS {
        assert!(found || items.of(key).is_empty(), "not refreshed");
        assert!(!found || items.may_be_found(key), "refreshed");
        if found {
            items.refresh(key, filter.generation());
        }
        return;
    }
    let oldest = items.of_class_mut(key).min_by_key(|generation| **generation);
    let refreshed = oldest.map(|generation| *generation = filter.generation());
    assert_eq!(found, refreshed.is_some());
}

/// The number of occupied slots, expired ones included.
#[cfg(feature = "std")]
pub fn occupied<G: Subject, S: BuildHasher>(filter: &Of<(Expiring, G), S>) -> u64 {
    forge::number(&filter.to_bytes(), forge::OCCUPIED)
}

/// As above: expired ones cannot be counted.
#[cfg(not(feature = "std"))]
pub fn occupied<G: Subject, S>(filter: &Of<(Expiring, G), S>) -> u64 {
    filter.len() as u64
}
