//! What remembers messages: an [`ExpiringFilter`], and what is used in its place.

use std::sync::{Mutex, RwLock};

use fastbloom::{AtomicBloomFilter, BloomFilter};
use guira::{ExpiringFilter, StableHashBuilder};
use hashbrown::HashMap;

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
#[derive(Clone, Copy)]
pub struct Needs {
    /// Number of ticks for which an item is remembered.
    pub window: u32,
    /// Largest number of items in `window + 1` ticks.
    pub items: usize,
    /// Largest share of refused new items.
    pub rate: f64,
}

/// Returns a filter with room for a tenth more items than it has to hold: then an insert seldom
/// relocates items. The seed makes every run give the same wrong answers. A program that gets its
/// ids from others should keep the random seed that is the default.
pub fn expiring_filter(needs: Needs) -> ExpiringFilter {
    let builder = ExpiringFilter::builder().capacity(needs.items * 11 / 10).window(needs.window);
    builder.false_positive_rate(needs.rate).seed(1).build().expect("a possible rate")
}

impl Seen for ExpiringFilter {
    fn is_first(&self, id: u64) -> bool {
        self.insert_unique(&id).expect("room for all messages").is_new()
    }

    fn tick(&self) {
        self.advance();
    }

    fn tidy(&self) {
        self.sweep(u64::MAX);
    }

    fn size_in_bytes(&self) -> usize {
        self.size_in_bytes()
    }
}

/// Two Bloom filters of `fastbloom`: the current one, which takes the new items, and an older one.
/// Every `window` ticks, the older one is cleared and becomes the current one. So an item is
/// remembered for `window` to `2 * window - 1` ticks.
pub struct Rotation<F> {
    filters: [F; 2],
    /// Ticks since the last rotation.
    ticks: u32,
    window: u32,
}

impl<F> Rotation<F> {
    /// Each filter is sized for the items of `window` ticks and half of the rate.
    fn new(needs: Needs, build: impl Fn(f64, usize) -> F) -> Self {
        let items = needs.items * needs.window as usize / (needs.window as usize + 1);
        let filters = [(); 2].map(|()| build(needs.rate / 2.0, items));
        Self { filters, ticks: 0, window: needs.window }
    }

    fn tick(&mut self, clear: impl Fn(&mut F)) {
        self.ticks += 1;
        if self.ticks == self.window {
            self.ticks = 0;
            self.filters.swap(0, 1);
            clear(&mut self.filters[0]);
        }
    }

    fn size_in_bytes(&self, bits: impl Fn(&F) -> usize) -> usize {
        self.filters.iter().map(|filter| bits(filter) / 8).sum()
    }
}

/// Returns two Bloom filters behind a mutex.
pub fn locked_blooms(needs: Needs) -> Mutex<Rotation<BloomFilter>> {
    Mutex::new(Rotation::new(needs, |rate, items| {
        BloomFilter::with_false_pos(rate).seed(&1).expected_items(items)
    }))
}

impl Seen for Mutex<Rotation<BloomFilter>> {
    fn is_first(&self, id: u64) -> bool {
        let [current, older] = &mut self.lock().expect("not poisoned").filters;
        !older.contains(&id) && !current.insert(&id)
    }

    fn tick(&self) {
        self.lock().expect("not poisoned").tick(BloomFilter::clear);
    }

    fn size_in_bytes(&self) -> usize {
        self.lock().expect("not poisoned").size_in_bytes(BloomFilter::num_bits)
    }
}

/// Returns two atomic Bloom filters, and a read-write lock that only a tick takes for writing.
///
/// This is as fast as rotating filters get, but no check-and-set: each of two threads can set a bit
/// of the same new item that the other one has not set yet, and both take it for the first one.
pub fn atomic_blooms(needs: Needs) -> RwLock<Rotation<AtomicBloomFilter>> {
    RwLock::new(Rotation::new(needs, |rate, items| {
        AtomicBloomFilter::with_false_pos(rate).seed(&1).expected_items(items)
    }))
}

impl Seen for RwLock<Rotation<AtomicBloomFilter>> {
    fn is_first(&self, id: u64) -> bool {
        let [current, older] = &self.read().expect("not poisoned").filters;
        !older.contains(&id) && !current.insert(&id)
    }

    fn tick(&self) {
        self.write().expect("not poisoned").tick(|filter| filter.clear());
    }

    fn size_in_bytes(&self) -> usize {
        self.read().expect("not poisoned").size_in_bytes(AtomicBloomFilter::num_bits)
    }
}

/// The tick of each id. It is never wrong.
pub struct Ticks {
    now: u32,
    window: u32,
    of: HashMap<u64, u32, StableHashBuilder>,
}

/// Returns a map from ids to ticks behind a mutex.
pub fn locked_map(needs: Needs) -> Mutex<Ticks> {
    let of = HashMap::with_capacity_and_hasher(needs.items, StableHashBuilder::from_seed(1));
    Mutex::new(Ticks { now: 0, window: needs.window, of })
}

impl Seen for Mutex<Ticks> {
    fn is_first(&self, id: u64) -> bool {
        let Ticks { now, of, .. } = &mut *self.lock().expect("not poisoned");
        let mut is_first = false;
        of.entry(id).or_insert_with(|| {
            is_first = true;
            *now
        });
        is_first
    }

    fn tick(&self) {
        let Ticks { now, window, of } = &mut *self.lock().expect("not poisoned");
        *now += 1;
        of.retain(|_, tick| *now - *tick <= *window);
    }

    fn size_in_bytes(&self) -> usize {
        self.lock().expect("not poisoned").of.allocation_size()
    }
}
