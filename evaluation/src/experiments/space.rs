//! Space, false-positive rate and cache lines of full filters, shared by several experiments.

use std::sync::OnceLock;

use guira_harness::Keys;

use super::Progress;
use crate::filters::{self, Filter, Kind};

/// Size of each filter in bytes: the paper's cuckoo filter with 2^20 buckets of four 12-bit slots.
const BYTES: usize = 6 << 20;
/// Absent keys per round of lookups.
const QUERIES: u64 = 8_000_000;
/// False positives after which no further round follows.
const ENOUGH_FALSE_POSITIVES: usize = 200;
/// Maximum number of rounds.
const MAX_ROUNDS: u64 = 20;
/// Present keys, and absent keys, whose cache lines are counted.
const COUNTED: u64 = 100_000;

const KEYS: Keys = Keys::new(0x5_ace);

/// Measurements of a full filter.
#[derive(Clone, Debug)]
pub struct Space {
    pub name: String,
    pub supports_removal: bool,
    /// Bits per item.
    pub bits: f64,
    /// False-positive rate, from 0 to 1.
    pub rate: f64,
    /// Mean cache lines per lookup of a present and of an absent key.
    pub lines: Option<[f64; 2]>,
}

impl Space {
    /// Returns the bits per item above the information limit of this rate.
    pub fn above_limit(&self) -> f64 {
        self.bits + self.rate.log2()
    }

    /// Returns the space relative to the best Bloom filter of this rate.
    pub fn relative(&self) -> f64 {
        self.bits / bloom(self.rate)
    }

    pub fn is_guira(&self) -> bool {
        self.name.starts_with("guira")
    }
}

/// Returns the bits per item of the best Bloom filter of a rate: 1.44 log2(1/rate).
pub fn bloom(rate: f64) -> f64 {
    -rate.log2() * std::f64::consts::LOG2_E
}

/// Measures every kind of filter on the first call, and returns the same measurements on each call.
pub fn all(progress: &Progress) -> &'static [Space] {
    static ALL: OnceLock<Vec<Space>> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut kinds = filters::all();
        kinds.retain(|kind| !kind.name.ends_with("batches"));
        progress.map(&kinds, |kind| measure(kind, BYTES))
    })
}

/// Fills a filter of about `bytes` bytes and measures it.
pub fn measure(kind: &Kind, bytes: usize) -> Space {
    let (mut filter, capacity) = (kind.build)(bytes);
    let max_items = if kind.until_full { u64::MAX } else { capacity as u64 };
    let items = (0..max_items).take_while(|&index| filter.insert(KEYS.key(index))).count();
    let mean = |key: &dyn Fn(u64) -> u64| {
        let lines = (0..COUNTED).map(|index| filter.cache_lines(key(index))).sum::<Option<usize>>();
        lines.map(|lines| lines as f64 / COUNTED as f64)
    };
    let present = mean(&|index| KEYS.key(index * items as u64 / COUNTED));
    // Indices from the upper half are never inserted.
    let absent = mean(&|index| KEYS.key(index | 1 << 63));
    Space {
        name: kind.name.clone(),
        supports_removal: kind.supports_removal,
        bits: 8.0 * filter.bytes() as f64 / items as f64,
        rate: rate(&*filter, KEYS, QUERIES),
        lines: present.zip(absent).map(<[f64; 2]>::from),
    }
}

/// Returns the false-positive rate of a filter of some keys. Rounds of `queries` lookups follow one
/// another until they have found enough false positives, or there were many of them.
pub fn rate(filter: &dyn Filter, keys: Keys, queries: u64) -> f64 {
    let (mut found, mut asked) = (0, 0);
    while found < ENOUGH_FALSE_POSITIVES && asked < MAX_ROUNDS * queries {
        // Indices from the upper half are never inserted.
        let absent = (1 << 63) + asked..(1 << 63) + asked + queries;
        keys.blocks(absent, |block| found += filter.lookup_all(block));
        asked += queries;
    }
    found as f64 / asked as f64
}

/// Invented measurements for tests: near the papers' values, and away from them in single numbers.
#[cfg(test)]
pub fn variants() -> Vec<Vec<Space>> {
    let papers = [
        ("CF", true, 12.6, 0.0019, 2.0),
        ("ss-CF", true, 12.58, 0.0009, 2.0),
        ("BF", false, 13.0, 0.0019, 9.0),
        ("blocked BF", false, 13.0, 0.0020, 1.0),
        ("QF", true, 13.33, 0.0018, 1.5),
        ("CBF", true, 52.0, 0.0019, 9.0),
        ("dl-CBF", true, 15.51, 0.0076, 4.0),
    ];
    let papers =
        papers.map(|(name, removal, bits, rate, lines)| (name.into(), removal, bits, rate, lines));
    let guiras = guira::Layout::ALL.iter().map(|layout| {
        let rate = layout.false_positive_rate();
        (format!("guira {layout:?}"), true, (3.0 - rate.log2()) / 0.95, rate, 2.0)
    });
    let space = |(name, supports_removal, bits, rate, lines): (_, _, _, _, f64)| Space {
        name,
        supports_removal,
        bits,
        rate,
        lines: Some([lines, lines.min(2.0)]),
    };
    let base: Vec<Space> = papers.into_iter().chain(guiras).map(space).collect();
    let mut variants = vec![base.clone()];
    for (index, factor) in (0..base.len()).flat_map(|i| [0.5, 0.9, 1.1, 2.0].map(|f| (i, f))) {
        let changes: [fn(&mut Space, f64); 4] = [
            |space, factor| space.bits *= factor,
            |space, factor| space.rate *= factor,
            |space, factor| space.lines = space.lines.map(|[a, b]| [a * factor, b]),
            |space, factor| space.lines = space.lines.map(|[a, b]| [a, b * factor]),
        ];
        for change in changes {
            let mut variant = base.clone();
            change(&mut variant[index], factor);
            variants.push(variant);
        }
    }
    variants
}
