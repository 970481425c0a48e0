//! Space, false-positive rate and cache lines of full filters, shared by several experiments.

use std::sync::OnceLock;

use guira_harness::Keys;

use rayon::prelude::*;

use super::Progress;
use crate::filters;

/// Size of each filter in bytes: the paper's cuckoo filter with 2^20 buckets of four 12-bit slots.
const BYTES: usize = 6 << 20;
/// Absent keys per round of lookups.
const QUERIES: u64 = 8_000_000;
/// False positives after which no further round follows.
pub const ENOUGH_FALSE_POSITIVES: usize = 200;
/// Maximum number of absent keys in all rounds.
pub const MAX_QUERIES: u64 = 20 * QUERIES;
/// Present keys, and absent keys, whose cache lines are counted.
const COUNTED: u64 = 100_000;

/// Measurements of a full filter.
#[derive(Clone, Debug)]
pub struct Space {
    pub name: String,
    pub source: &'static str,
    pub supports_removal: bool,
    /// Bits per item.
    pub bits: f64,
    /// False-positive rate, from 0 to 1.
    pub rate: f64,
    /// Mean cache lines per lookup of a present and of an absent key.
    pub lines: Option<[f64; 2]>,
}

impl Space {
    /// Returns the information limit: the bits per item that a filter of this rate needs.
    pub fn limit(&self) -> f64 {
        -self.rate.log2()
    }

    /// Returns the space relative to the best Bloom filter of this rate.
    pub fn relative(&self) -> f64 {
        self.bits / bloom(self.rate)
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
        progress.expect(kinds.len());
        kinds
            .par_iter()
            .map(|kind| {
                let space = measure(kind, BYTES);
                progress.step();
                space
            })
            .collect()
    })
}

/// Fills a filter of about `bytes` bytes and measures it.
pub fn measure(kind: &filters::Kind, bytes: usize) -> Space {
    let (mut filter, capacity) = (kind.build)(bytes);
    let keys = Keys::new(0x5_ace);
    let max_items = if kind.until_full { u64::MAX } else { capacity as u64 };
    let items = (0..max_items).take_while(|&index| filter.insert(keys.key(index))).count();
    // Indices from the upper half are never inserted.
    let absent = |index: u64| keys.key(index | 1 << 63);
    let (mut found, mut queries) = (0, 0);
    while found < ENOUGH_FALSE_POSITIVES && queries < MAX_QUERIES {
        let round = queries..queries + QUERIES;
        found += round.filter(|&index| filter.contains(absent(index))).count();
        queries += QUERIES;
    }
    let mean = |key: &dyn Fn(u64) -> u64| {
        let lines = (0..COUNTED).map(|index| filter.cache_lines(key(index))).sum::<Option<usize>>();
        lines.map(|lines| lines as f64 / COUNTED as f64)
    };
    let present = mean(&|index| keys.key(index * items as u64 / COUNTED));
    Space {
        name: kind.name.clone(),
        source: kind.source,
        supports_removal: kind.supports_removal,
        bits: 8.0 * filter.bytes() as f64 / items as f64,
        rate: found as f64 / queries as f64,
        lines: present.zip(mean(&absent)).map(<[f64; 2]>::from),
    }
}

/// Invented measurements for tests: one set with the paper's values, and sets in which one number
/// deviates.
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
    let guiras = guira::Layout::ALL.iter().map(|layout| {
        let rate = layout.false_positive_rate();
        (format!("guira {layout:?}"), true, (3.0 - rate.log2()) / 0.95, rate, 2.0)
    });
    let named = papers
        .map(|(name, removal, bits, rate, lines)| (name.to_string(), removal, bits, rate, lines));
    let base: Vec<Space> = named
        .into_iter()
        .chain(guiras)
        .map(|(name, supports_removal, bits, rate, lines)| Space {
            lines: Some([lines, lines.min(2.0)]),
            source: "test",
            name,
            supports_removal,
            bits,
            rate,
        })
        .collect();
    let mut variants = vec![base.clone()];
    for index in 0..base.len() {
        for factor in [0.5, 0.9, 1.1, 2.0] {
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
    }
    variants
}
