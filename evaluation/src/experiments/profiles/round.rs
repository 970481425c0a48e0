//! One round: measures a filter while it is filled and emptied.

use std::ops::Range;

use guira_harness::{Keys, Pick};
use rand::{SeedableRng, rngs::SmallRng, seq::SliceRandom};

use super::Curve;
use crate::{
    experiments::{space::Space, timing::Clock},
    filters::{Filter, Kind},
};

/// Shares of present keys, in per cent.
const SHARES: [u32; 5] = [0, 25, 50, 75, 100];
/// Number of bands that the slots are divided into; each band gives one point of a curve.
const BANDS: usize = 20;
/// Maximum number of lookups per share of present keys; a band has a quarter of them.
const MAX_LOOKUPS: usize = 1 << 20;
/// Minimum number of lookups for the false-positive rate, as a multiple of those for a share.
const RATE_FACTOR: u64 = 4;

const KEYS: Keys = Keys::new(2014);

/// The results of one round; see [`Profile`](super::Profile).
pub struct Round {
    items: usize,
    pub space: Option<Space>,
    pub construction: f64,
    /// Million operations per second, in the order of [`Curve::ALL`].
    pub curves: [Vec<(f64, f64)>; 5],
}

impl Round {
    /// Builds a filter, fills it, and measures lookups; `by_load` also measures lookups after each
    /// band of inserts, and removals until the filter is empty. `with_space` also measures space
    /// and false positives.
    pub fn measure(kind: &Kind, bytes: usize, by_load: bool, with_space: bool) -> Self {
        let (mut filter, capacity) = (kind.build)(bytes);
        let filter = &mut *filter;
        let max_items = if kind.until_full { filter.slots() } else { capacity };
        let mut round =
            Self { items: 0, space: None, construction: 0.0, curves: Default::default() };
        let bands = round.fill(filter, max_items, by_load);
        for share in SHARES {
            let speed = lookup_speed(filter, round.items, share, lookups(filter));
            round.push(Curve::ByShare, share.into(), speed);
        }
        let queries = RATE_FACTOR * lookups(filter) as u64;
        round.space = with_space.then(|| Space::of(kind, filter, round.items, KEYS, queries));
        if by_load && kind.supports_removal {
            round.empty(filter, &bands);
        }
        round
    }

    fn push(&mut self, curve: Curve, at: f64, speed: f64) {
        self.curves[curve as usize].push((at, speed));
    }

    /// Inserts until the filter is full, and returns the indices of the keys in each band.
    fn fill(
        &mut self,
        filter: &mut dyn Filter,
        max_items: usize,
        by_load: bool,
    ) -> Vec<Range<u64>> {
        let (mut bands, mut whole) = (Vec::new(), Clock::default());
        let band = filter.slots().div_ceil(BANDS);
        let mut is_full = false;
        while !is_full && self.items < max_items {
            let (from, mut clock) = (self.items, Clock::default());
            blocks(from as u64..(from + band).min(max_items) as u64, |block| {
                if !is_full {
                    let inserted = clock.time(block, |keys| filter.insert_all(keys));
                    self.items += inserted;
                    is_full = inserted < block.len();
                }
            });
            whole.add(clock);
            // A band with very few keys joins the previous one.
            if self.items - from < band / 50 {
                if let Some(Range { end, .. }) = bands.last_mut() {
                    *end = self.items as u64;
                }
                break;
            }
            bands.push(from as u64..self.items as u64);
            let middle = load(filter, (from + self.items) as f64 / 2.0);
            self.push(Curve::Inserts, middle, clock.speed());
            let at = load(filter, self.items as f64);
            for (share, curve) in [(0, Curve::Absent), (100, Curve::Present)] {
                if by_load {
                    let speed = lookup_speed(filter, self.items, share, lookups(filter) / 4);
                    self.push(curve, at, speed);
                }
            }
        }
        self.construction = whole.speed();
        bands
    }

    /// Removes all keys in random order, since the keys of early inserts are cheaper to find.
    fn empty(&mut self, filter: &mut dyn Filter, bands: &[Range<u64>]) {
        let mut order: Vec<u64> = (0..self.items as u64).collect();
        order.shuffle(&mut SmallRng::seed_from_u64(8));
        for band in bands.iter().rev() {
            let mut clock = Clock::default();
            for block in order.split_off(band.start as usize).chunks(BLOCK as usize) {
                let keys: Vec<u64> = block.iter().map(|&index| KEYS.key(index)).collect();
                let found = clock.time(&keys, |keys| filter.remove_all(keys));
                assert_eq!(found, Some(keys.len()), "a key is missing");
            }
            let at = load(filter, (band.start + band.end) as f64 / 2.0);
            self.push(Curve::Removals, at, clock.speed());
        }
    }
}

/// Returns the load in per cent of a filter with so many items.
fn load(filter: &dyn Filter, items: f64) -> f64 {
    100.0 * items / filter.slots() as f64
}

/// Returns the number of lookups per share of present keys; the small filters of tests have fewer.
fn lookups(filter: &dyn Filter) -> usize {
    filter.slots().clamp(1 << 10, MAX_LOOKUPS)
}

/// Returns million lookups per second, with a share of present keys in per cent.
fn lookup_speed(filter: &dyn Filter, items: usize, share: u32, count: usize) -> f64 {
    let pick = Pick { present: share, inserted: (0, items as u64) };
    let keys = KEYS.pick(count, pick, share.into());
    let mut clock = Clock::default();
    let found = clock.time(&keys, |keys| filter.lookup_all(keys));
    assert!(share < 100 || found == keys.len(), "{} keys are missing", keys.len() - found);
    clock.speed()
}

/// Keys that are timed together: they fit into the L2 cache, and take longer than the clock's tick.
const BLOCK: u64 = 1 << 14;

/// Calls `call` with the keys of a range of indices, block by block.
fn blocks(indices: Range<u64>, mut call: impl FnMut(&[u64])) {
    for from in indices.clone().step_by(BLOCK as usize) {
        call(&KEYS.range(from..indices.end.min(from + BLOCK)));
    }
}
