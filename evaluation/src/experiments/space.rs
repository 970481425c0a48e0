//! Space, false-positive rate and cache lines of full filters, shared by several experiments.

use std::sync::OnceLock;

use guira_harness::Keys;
use rayon::prelude::*;

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
    pub items: usize,
    /// Bits per item.
    pub bits: f64,
    /// False-positive rate, from 0 to 1.
    pub rate: f64,
    /// Mean cache lines per lookup of a present and of an absent key.
    pub lines: Option<[f64; 2]>,
}

/// Returns the bits per item of the best Bloom filter of a rate: 1.44 log2(1/rate).
pub fn bloom(rate: f64) -> f64 {
    -rate.log2() * std::f64::consts::LOG2_E
}

/// Measures every kind of filter on the first call, and returns the same measurements on each call.
pub fn all() -> &'static [Space] {
    static ALL: OnceLock<Vec<Space>> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut kinds = filters::all();
        kinds.retain(|kind| !kind.name.ends_with("batches"));
        kinds.par_iter().map(|kind| measure(kind, BYTES)).collect()
    })
}

/// Returns the measurements of the filter with a name.
///
/// # Panics
/// If there are none.
pub fn find<'a>(spaces: &'a [Space], name: &str) -> &'a Space {
    spaces.iter().find(|space| space.name == name).expect("a filter has this name")
}

/// Fills a filter of about `bytes` bytes and measures it.
pub fn measure(kind: &Kind, bytes: usize) -> Space {
    let (mut filter, capacity) = (kind.build)(bytes);
    let max_items = if kind.until_full { u64::MAX } else { capacity as u64 };
    let items = (0..max_items).take_while(|&index| filter.insert(KEYS.key(index))).count();
    Space::of(kind, &*filter, items, KEYS, QUERIES)
}

impl Space {
    /// Measures a filter that holds the first `items` keys. Rounds of `queries` lookups of absent
    /// keys follow one another until they have found enough false positives, or there were many of
    /// them.
    pub fn of(kind: &Kind, filter: &dyn Filter, items: usize, keys: Keys, queries: u64) -> Self {
        // Indices from the upper half are never inserted.
        const ABSENT: u64 = 1 << 63;
        let (mut found, mut end) = (0, ABSENT);
        while found < ENOUGH_FALSE_POSITIVES && end < ABSENT + MAX_ROUNDS * queries {
            keys.blocks(end..end + queries, |block| found += filter.lookup_all(block));
            end += queries;
        }
        let mean = |index: &dyn Fn(u64) -> u64| {
            let lines = (0..COUNTED).map(|nth| filter.cache_lines(keys.key(index(nth))));
            lines.sum::<Option<usize>>().map(|lines| lines as f64 / COUNTED as f64)
        };
        let present = mean(&|nth| nth * items as u64 / COUNTED);
        Self {
            name: kind.name.clone(),
            supports_removal: kind.supports_removal,
            items,
            bits: 8.0 * filter.bytes() as f64 / items as f64,
            rate: found as f64 / (end - ABSENT) as f64,
            lines: present.zip(mean(&|nth| ABSENT + nth)).map(<[f64; 2]>::from),
        }
    }

    /// Returns the bits per item above the information limit of this rate.
    pub fn above_limit(&self) -> f64 {
        self.bits + self.rate.log2()
    }

    /// Returns the space relative to the best Bloom filter of this rate.
    pub fn relative(&self) -> f64 {
        self.bits / bloom(self.rate)
    }
}

/// Invented measurements for tests; see [`profiles::variants`](super::profiles::variants).
#[cfg(test)]
pub fn variants() -> Vec<Vec<Space>> {
    let spaces = |profiles: Vec<super::profiles::Profile>| {
        profiles.into_iter().map(|profile| profile.space).collect()
    };
    super::profiles::variants().into_iter().map(spaces).collect()
}
