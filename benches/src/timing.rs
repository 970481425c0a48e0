//! The time of some work; nanoseconds per key of blocks of keys; and the operations of filters that
//! sections time in this way.

use std::{hint::black_box, ops::Range, time::Instant};

use guira::{
    CuckooFilter, Filter, Hashed, Layout,
    kind::{Contents, Growth, Map, Set},
    raw::Kernel,
};
use guira_harness::{BATCH, Keys};

use crate::stop;

/// Keys of one measured step: enough to outlast noise, few beside the table.
pub const STEP: u64 = 1 << 20;

/// Per cent of present keys that lookups are measured at.
pub const PRESENT: [u32; 5] = [0, 25, 50, 75, 100];

/// Sums the time of calls with blocks of keys, without the making of the keys.
#[derive(Clone, Copy, Debug, Default)]
pub struct Clock {
    nanoseconds: f64,
    keys: usize,
}

impl Clock {
    /// Times one call.
    pub fn time<T>(&mut self, keys: &[u64], work: impl FnOnce(&[u64]) -> T) -> T {
        let start = Instant::now();
        let result = black_box(work(black_box(keys)));
        self.nanoseconds += start.elapsed().as_nanos() as f64;
        self.keys += keys.len();
        result
    }

    /// Returns nanoseconds per key.
    pub fn per_key(&self) -> f64 {
        self.nanoseconds / self.keys as f64
    }

    /// Returns the sum of both.
    pub fn and(self, other: Self) -> Self {
        Self { nanoseconds: self.nanoseconds + other.nanoseconds, keys: self.keys + other.keys }
    }
}

/// Times calls with the keys at a range of indices.
pub fn over_range<T>(
    keys: Keys,
    mut indices: Range<u64>,
    mut work: impl FnMut(&[u64]) -> T,
) -> Clock {
    let mut clock = Clock::default();
    // A stop ends at a block: the whole range may take seconds.
    while !indices.is_empty() && !stop::point() {
        let until = indices.end.min(indices.start + 64 * BATCH as u64);
        keys.blocks(indices.start..until, |block| {
            clock.time(block, &mut work);
        });
        indices.start = until;
    }
    clock
}

/// Times calls with blocks of these keys.
pub fn over_keys<T>(keys: &[u64], mut work: impl FnMut(&[u64]) -> T) -> Clock {
    let mut clock = Clock::default();
    stop::point();
    for block in keys.chunks(BATCH) {
        clock.time(block, &mut work);
    }
    clock
}

/// Returns the milliseconds that some work takes.
pub fn milliseconds<T>(work: impl FnOnce() -> T) -> f64 {
    let start = Instant::now();
    work();
    1e3 * start.elapsed().as_secs_f64()
}

/// Returns the kernels that this machine has, the slowest first.
pub fn kernels() -> impl Iterator<Item = Kernel> {
    Kernel::ALL.iter().copied().filter(|kernel| kernel.is_available())
}

/// Builds an empty filter of `Plain4x16` that looks up batches by this kernel.
pub fn filter_by(kernel: Kernel, capacity: usize) -> CuckooFilter {
    let builder = CuckooFilter::builder().capacity(capacity).layout(Layout::Plain4x16).seed(1);
    builder.kernel(kernel).build().expect("memory and the kernel")
}

/// Inserts the keys at a range of indices, in batches.
pub fn insert_batch<G: Growth>(filter: &Filter<Set, G>, keys: Keys, indices: Range<u64>) -> Clock {
    over_range(keys, indices, |block| filter.insert_batch(Hashed::slice(block)).expect("room"))
}

/// Inserts the keys at a range of indices, one by one.
pub fn insert_single<G: Growth>(filter: &Filter<Set, G>, keys: Keys, indices: Range<u64>) -> Clock {
    over_range(keys, indices, |block| {
        for &key in block {
            filter.insert(&Hashed(key)).expect("room");
        }
    })
}

/// Looks keys up in batches. Returns also how many of them are found.
pub fn lookup_batch<C: Contents, G: Growth>(filter: &Filter<C, G>, keys: &[u64]) -> (Clock, usize) {
    let (mut found, mut count) = ([false; BATCH], 0);
    let clock = over_keys(keys, |block| {
        count += filter.contains_batch(Hashed::slice(block), &mut found[..block.len()]);
    });
    (clock, count)
}

/// Looks keys up one by one. Returns also how many of them are found.
pub fn lookup_single<C: Contents, G: Growth>(
    filter: &Filter<C, G>,
    keys: &[u64],
) -> (Clock, usize) {
    let mut count = 0;
    let clock = over_keys(keys, |block| {
        count += block.iter().filter(|&&key| filter.contains(&Hashed(key))).count();
    });
    (clock, count)
}

/// Gets the values of keys one by one. Returns also their sum: the compiler adds without a branch,
/// which would be mispredicted where half of the keys are present.
pub fn get_single<G: Growth>(map: &Filter<Map, G>, keys: &[u64]) -> (Clock, usize) {
    let mut sum = 0;
    let clock = over_keys(keys, |block| {
        let values = block.iter().filter_map(|&key| map.get(&Hashed(key)));
        sum += values.map(usize::from).sum::<usize>();
    });
    (clock, sum)
}

/// Removes the keys at a range of indices, which are present, in batches.
pub fn remove_batch<G: Growth>(filter: &Filter<Set, G>, keys: Keys, indices: Range<u64>) -> Clock {
    let mut removed = [false; BATCH];
    over_range(keys, indices, |block| {
        let count = filter.remove_batch(Hashed::slice(block), &mut removed[..block.len()]);
        assert_eq!(count, block.len(), "every inserted key can be removed");
    })
}

/// Removes the keys at a range of indices, which are present, one by one.
pub fn remove_single<G: Growth>(filter: &Filter<Set, G>, keys: Keys, indices: Range<u64>) -> Clock {
    over_range(keys, indices, |block| {
        assert!(block.iter().all(|&key| filter.remove(&Hashed(key))), "every key is present");
    })
}

/// Returns the median; of an even number of figures, the greater one in the middle.
pub fn median(figures: impl IntoIterator<Item = f64>) -> f64 {
    let mut figures: Vec<f64> = figures.into_iter().collect();
    if figures.is_empty() {
        return f64::NAN;
    }
    let middle = figures.len() / 2;
    *figures.select_nth_unstable_by(middle, f64::total_cmp).1
}

/// Returns names and ranges of the bands of load, as shares of all inserted items.
pub fn bands(items: u64) -> impl Iterator<Item = (String, Range<u64>)> {
    const ENDS: [u64; 6] = [0, 50, 80, 90, 95, 100];
    ENDS.windows(2).map(move |ends| {
        let name = format!("{}–{} %", ends[0], ends[1]);
        (name, items * ends[0] / 100..items * ends[1] / 100)
    })
}

#[cfg(test)]
mod tests {
    use super::{bands, median};

    #[test]
    fn bands_are_adjacent_and_end_at_the_last_item() {
        for items in [5, 99, 1_000_003] {
            let mut until = 0;
            for (_, band) in bands(items) {
                assert_eq!(band.start, until);
                until = band.end;
            }
            assert_eq!(until, items);
        }
        assert_eq!(bands(200).last(), Some(("95–100 %".into(), 190..200)));
    }

    #[test]
    fn the_median_is_the_middle_figure() {
        assert!((median([3.0, 1.0, 2.0]) - 2.0).abs() < 1e-9);
        assert!(median([]).is_nan());
    }
}
