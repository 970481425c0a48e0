//! One round of one filter's life.

use std::{hint::black_box, ops::Range};

use cpu_time::ThreadTime;

use super::Curve;
use crate::{
    common::{Keys, Pick},
    filters::{Filter, Kind},
};

/// Shares of present keys that look-ups are measured at, in per cent.
const SHARES: [u32; 5] = [0, 25, 50, 75, 100];
/// A band of loads, as a part of the slots.
const BANDS: usize = 20;
/// Look-ups behind one point of a curve: 2^20 in large tables, by share; a quarter of it by load.
const MOST_LOOKUPS: usize = 1 << 20;
/// Look-ups behind a rate, as a multiple of that.
const FOR_RATE: u64 = 4;

const KEYS: Keys = Keys::new(2014);

/// What one round brought; see [`Life`](super::Life).
pub struct Round {
    pub items: usize,
    pub bytes: usize,
    pub rate: f64,
    pub construction: f64,
    pub by_share: Curve,
    pub absent: Curve,
    pub present: Curve,
    pub inserts: Curve,
    pub removals: Curve,
}

impl Round {
    /// Builds a filter, fills it band by band with look-ups between, and empties it again.
    pub fn measure(kind: &Kind, bytes: usize) -> Self {
        let (mut filter, meant_for) = (kind.build)(bytes);
        let filter = &mut *filter;
        let most = if kind.until_full { filter.slots() } else { meant_for };
        let mut round = Self {
            items: 0,
            bytes: filter.bytes(),
            rate: 0.0,
            construction: 0.0,
            by_share: Vec::new(),
            absent: Vec::new(),
            present: Vec::new(),
            inserts: Vec::new(),
            removals: Vec::new(),
        };
        let bands = round.fill(filter, most);
        round.by_share = SHARES
            .into_iter()
            .map(|share| (share.into(), round.lookups(filter, share, lookups(filter))))
            .collect();
        round.rate = rate(filter);
        if kind.removes {
            round.empty(filter, &bands);
        }
        round
    }

    /// Inserts until the filter is as full as it gets; returns the bands that it was filled in.
    fn fill(&mut self, filter: &mut dyn Filter, most: usize) -> Vec<Range<u64>> {
        let (mut bands, mut whole) = (Vec::new(), Clock::default());
        let band = filter.slots().div_ceil(BANDS);
        let mut is_full = false;
        while !is_full && self.items < most {
            let (from, mut clock) = (self.items, Clock::default());
            blocks(from as u64..(from + band).min(most) as u64, |block| {
                if !is_full {
                    let inserted = clock.time(block, |keys| filter.inserts(keys));
                    self.items += inserted;
                    is_full = inserted < block.len();
                }
            });
            whole.add(clock);
            // What little went in beyond a whole band makes no point of its own.
            if self.items - from < band / 50 {
                if let Some(Range { end, .. }) = bands.last_mut() {
                    *end = self.items as u64;
                }
                break;
            }
            bands.push(from as u64..self.items as u64);
            let middle = load(filter, (from + self.items) as f64 / 2.0);
            self.inserts.push((middle, clock.speed()));
            let at = load(filter, self.items as f64);
            for (share, points) in [(0, &mut self.absent), (100, &mut self.present)] {
                let count = lookups(filter) / 4;
                points.push((at, speed_of_lookups(filter, self.items, share, count)));
            }
        }
        self.construction = whole.speed();
        bands
    }

    /// Takes all keys out, in an order that has nothing to do with that of the inserts: what went into
    /// an empty filter lies where it can be found sooner.
    fn empty(&mut self, filter: &mut dyn Filter, bands: &[Range<u64>]) {
        let items = self.items as u64;
        let (stride, mut taken) = (stride(items), 0);
        for band in bands.iter().rev() {
            let (mut clock, until) = (Clock::default(), items - band.start);
            while taken < until {
                let block = until.min(taken + BLOCK) - taken;
                let key = |nth| KEYS.key((taken + nth) * stride % items);
                let keys: Vec<u64> = (0..block).map(key).collect();
                let removed = clock.time(&keys, |keys| filter.removes(keys));
                assert_eq!(removed, Some(keys.len()), "a key is missing");
                taken += block;
            }
            let at = load(filter, (band.start + band.end) as f64 / 2.0);
            self.removals.push((at, clock.speed()));
        }
    }

    fn lookups(&self, filter: &dyn Filter, share: u32, count: usize) -> f64 {
        speed_of_lookups(filter, self.items, share, count)
    }
}

/// A load in per cent.
fn load(filter: &dyn Filter, items: f64) -> f64 {
    100.0 * items / filter.slots() as f64
}

/// How many look-ups make a point: fewer in the small filters of tests.
fn lookups(filter: &dyn Filter) -> usize {
    filter.slots().clamp(1 << 10, MOST_LOOKUPS)
}

/// Millions of look-ups a second, of which so many per cent of keys that are present.
fn speed_of_lookups(filter: &dyn Filter, items: usize, share: u32, count: usize) -> f64 {
    let pick = Pick { present: share, inserted: (0, items as u64) };
    let keys = KEYS.pick(count, pick, share.into());
    let mut clock = Clock::default();
    let found = clock.time(&keys, |keys| filter.lookups(keys));
    // None that is present is ever missing.
    assert!(share < 100 || found == keys.len(), "{} keys are missing", keys.len() - found);
    clock.speed()
}

/// False positives in per cent.
fn rate(filter: &dyn Filter) -> f64 {
    let queries = FOR_RATE * lookups(filter) as u64;
    let mut found = 0;
    // Indices from the upper half are never inserted.
    blocks(1 << 63..(1 << 63) + queries, |block| found += filter.lookups(block));
    100.0 * found as f64 / queries as f64
}

/// A step that goes through all of so many indices, round and round, before it comes to one again.
fn stride(indices: u64) -> u64 {
    fn common_divisor(a: u64, b: u64) -> u64 {
        if b == 0 { a } else { common_divisor(b, a % b) }
    }
    let golden = (indices as f64 * 0.618) as u64 + 1;
    (golden..=indices + 1)
        .find(|&stride| common_divisor(stride, indices) == 1)
        .expect("the last is one")
}

/// Keys that are timed together: they fit into the L2 cache, and outlast the clock.
const BLOCK: u64 = 1 << 14;

/// Calls with the keys of a range of indices, a block at a time.
fn blocks(indices: Range<u64>, mut call: impl FnMut(&[u64])) {
    for from in indices.clone().step_by(BLOCK as usize) {
        call(&KEYS.range(from..indices.end.min(from + BLOCK)));
    }
}

/// Sums what operations on blocks of keys take, without the making of the keys, in processor time: so
/// other programs count by what they do to the caches and the memory, and not by their turns.
#[derive(Clone, Copy, Debug, Default)]
struct Clock {
    seconds: f64,
    keys: usize,
}

impl Clock {
    fn time<T>(&mut self, keys: &[u64], work: impl FnOnce(&[u64]) -> T) -> T {
        let start = ThreadTime::now();
        let result = black_box(work(black_box(keys)));
        self.seconds += start.elapsed().as_secs_f64();
        self.keys += keys.len();
        result
    }

    fn add(&mut self, other: Self) {
        self.seconds += other.seconds;
        self.keys += other.keys;
    }

    /// Millions of keys a second.
    fn speed(self) -> f64 {
        self.keys as f64 / self.seconds / 1e6
    }
}

#[cfg(test)]
mod tests {
    use super::stride;

    #[test]
    fn a_stride_meets_every_index() {
        for indices in [1, 2, 3, 10, 97, 1000] {
            let step = stride(indices);
            let mut met: Vec<u64> = (0..indices).map(|nth| nth * step % indices).collect();
            met.sort_unstable();
            assert_eq!(met, (0..indices).collect::<Vec<_>>());
        }
    }
}
