//! What remembers messages: the two uses of [`ExpiringFilter`](guira::ExpiringFilter), and what is
//! used in its place.

use std::{
    convert::Infallible,
    sync::{Mutex, RwLock},
    time::{Duration, SystemTime},
};

use fastbloom::{AtomicBloomFilter, BloomFilter};
use guira::{BuildError, FromSeed, StableHashBuilder};

use crate::{
    dedup::{Dedup, Outcome},
    token_log::{FilterTokenLog, TokenLog},
    with_room,
};

/// Remembers ids for a window of ticks.
pub trait Seen: Sync {
    /// Returns whether the id was not seen within the window, and remembers it if so.
    fn is_first(&self, id: u64) -> bool;

    /// Begins the next tick. No other call overlaps.
    fn tick(&self);

    /// Does work that the tick has left, beside calls of `is_first`.
    fn tidy(&self) {}

    fn size_in_bytes(&self) -> usize;
}

/// What a contestant has to hold.
#[derive(Clone, Copy, Debug)]
pub struct Needs {
    /// Number of ticks for which an item is remembered.
    pub window: u32,
    /// Largest number of items in `window + 1` ticks.
    pub items: usize,
    /// Largest share of refused new items.
    pub rate: f64,
}

impl Seen for Dedup {
    fn is_first(&self, id: u64) -> bool {
        self.handle(&id, || Ok::<_, Infallible>(())) == Ok(Outcome::Handled)
    }

    fn tick(&self) {
        Dedup::tick(self);
    }

    fn tidy(&self) {
        self.sweep();
    }

    fn size_in_bytes(&self) -> usize {
        self.seen().size_in_bytes()
    }
}

/// Lifetime of the tokens in this replay. A tick is 50 seconds.
const LIFETIME: Duration = Duration::from_secs(650);

/// When the log begins to remember, and all tokens are issued.
const ISSUED: SystemTime = SystemTime::UNIX_EPOCH;

/// Builds a log of tokens.
pub fn token_log(needs: Needs) -> Result<FilterTokenLog, BuildError> {
    let tokens = with_room(needs.items);
    FilterTokenLog::new(ISSUED, LIFETIME, (tokens, needs.window, needs.rate))
}

impl Seen for FilterTokenLog {
    fn is_first(&self, id: u64) -> bool {
        let nonce = u128::from(id) << 64 | u128::from(!id);
        self.check_and_insert(nonce, ISSUED, LIFETIME).is_ok()
    }

    fn tick(&self) {
        self.filter().advance();
    }

    fn tidy(&self) {
        self.filter().sweep(u64::MAX);
    }

    fn size_in_bytes(&self) -> usize {
        self.filter().size_in_bytes()
    }
}

/// Two Bloom filters of `fastbloom`. Every `window` ticks, the older one is cleared and takes the
/// new items. So an item is remembered for `window` to `2 * window - 1` ticks.
struct Rotation<F> {
    filters: [F; 2],
    /// The place of the filter that takes new items.
    current: usize,
    /// Ticks since the last rotation.
    ticks: u32,
    window: u32,
}

impl<F> Rotation<F> {
    /// Each filter is sized for the items of `window` ticks and half of the rate.
    fn new(needs: Needs, build: impl Fn(f64, usize) -> F) -> Self {
        let items = needs.items * needs.window as usize / (needs.window as usize + 1);
        let filters = [(); 2].map(|()| build(needs.rate / 2.0, items));
        Self { filters, current: 0, ticks: 0, window: needs.window }
    }

    fn tick(&mut self, clear: impl Fn(&mut F)) {
        self.ticks += 1;
        if self.ticks == self.window {
            self.ticks = 0;
            self.current = 1 - self.current;
            clear(&mut self.filters[self.current]);
        }
    }
}

/// Two Bloom filters behind a mutex.
pub struct LockedBlooms(Mutex<Rotation<BloomFilter>>);

impl LockedBlooms {
    pub fn new(needs: Needs) -> Self {
        let build = |rate, items| BloomFilter::with_false_pos(rate).seed(&1).expected_items(items);
        Self(Mutex::new(Rotation::new(needs, build)))
    }
}

impl Seen for LockedBlooms {
    fn is_first(&self, id: u64) -> bool {
        let Rotation { filters, current, .. } = &mut *self.0.lock().expect("not poisoned");
        !filters[1 - *current].contains(&id) && !filters[*current].insert(&id)
    }

    fn tick(&self) {
        self.0.lock().expect("not poisoned").tick(BloomFilter::clear);
    }

    fn size_in_bytes(&self) -> usize {
        let filters = &self.0.lock().expect("not poisoned").filters;
        filters.iter().map(|filter| filter.num_bits() / 8).sum()
    }
}

/// Two atomic Bloom filters, and a read-write lock that only a tick takes for writing.
///
/// This is as fast as rotating filters get, but no check-and-set: each of two threads can set a bit
/// of the same new item that the other one has not set yet, and both take it for the first one.
pub struct AtomicBlooms(RwLock<Rotation<AtomicBloomFilter>>);

impl AtomicBlooms {
    pub fn new(needs: Needs) -> Self {
        let build =
            |rate, items| AtomicBloomFilter::with_false_pos(rate).seed(&1).expected_items(items);
        Self(RwLock::new(Rotation::new(needs, build)))
    }
}

impl Seen for AtomicBlooms {
    fn is_first(&self, id: u64) -> bool {
        let Rotation { filters, current, .. } = &*self.0.read().expect("not poisoned");
        !filters[1 - *current].contains(&id) && !filters[*current].insert(&id)
    }

    fn tick(&self) {
        self.0.write().expect("not poisoned").tick(|filter| filter.clear());
    }

    fn size_in_bytes(&self) -> usize {
        let filters = &self.0.read().expect("not poisoned").filters;
        filters.iter().map(|filter| filter.num_bits() / 8).sum()
    }
}

/// The tick of each id, behind a mutex. It is never wrong.
pub struct LockedMap {
    window: u32,
    ticks: Mutex<Ticks>,
}

struct Ticks {
    now: u32,
    of: hashbrown::HashMap<u64, u32, StableHashBuilder>,
}

impl LockedMap {
    pub fn new(needs: Needs) -> Self {
        let hasher = StableHashBuilder::from_seed(1);
        let of = hashbrown::HashMap::with_capacity_and_hasher(needs.items, hasher);
        Self { window: needs.window, ticks: Mutex::new(Ticks { now: 0, of }) }
    }
}

impl Seen for LockedMap {
    fn is_first(&self, id: u64) -> bool {
        let Ticks { now, of } = &mut *self.ticks.lock().expect("not poisoned");
        let mut is_first = false;
        of.entry(id).or_insert_with(|| {
            is_first = true;
            *now
        });
        is_first
    }

    fn tick(&self) {
        let Ticks { now, of } = &mut *self.ticks.lock().expect("not poisoned");
        *now += 1;
        of.retain(|_, tick| *now - *tick <= self.window);
    }

    fn size_in_bytes(&self) -> usize {
        self.ticks.lock().expect("not poisoned").of.allocation_size()
    }
}
