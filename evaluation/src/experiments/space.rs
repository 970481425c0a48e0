//! What filters take and how often they are wrong, once full: measured once for several tables.

use std::sync::OnceLock;

use super::Progress;
use crate::{common::Keys, filters, parallel};

/// Bytes of each filter: what the paper's cuckoo filter takes with 2^20 buckets of four slots of 12 bits.
const BYTES: usize = 6 << 20;
/// Absent keys looked up at a time, until there are so many false positives, or so many keys.
const QUERIES: u64 = 8_000_000;
const ENOUGH: usize = 200;
const MOST: u64 = 20 * QUERIES;
/// Keys of either kind whose cache lines are counted.
const COUNTED: u64 = 100_000;

/// A full filter.
#[derive(Clone, Debug)]
pub struct Space {
    pub name: String,
    pub source: &'static str,
    pub removes: bool,
    /// Bits of the table per item in it.
    pub bits: f64,
    /// False positives among absent keys.
    pub rate: f64,
    /// Cache lines read for a present and for an absent key.
    pub lines: Option<[f64; 2]>,
}

impl Space {
    /// The fewest bits per item that any filter of this rate can have.
    pub fn limit(&self) -> f64 {
        -self.rate.log2()
    }

    /// Times the space of a Bloom filter of this rate, were its hash functions any number.
    pub fn relative(&self) -> f64 {
        self.bits / bloom(self.rate)
    }
}

/// Bits per item of the best Bloom filter of a rate: 1.44 log2(1/rate).
pub fn bloom(rate: f64) -> f64 {
    -rate.log2() * std::f64::consts::LOG2_E
}

/// Every kind of filter, full.
pub fn all(progress: &Progress) -> &'static [Space] {
    static ALL: OnceLock<Vec<Space>> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut kinds = filters::all();
        kinds.retain(|kind| !kind.name.ends_with("batches"));
        progress.expect(kinds.len());
        parallel::map(&kinds, |kind| {
            let space = measure(kind);
            progress.step();
            space
        })
    })
}

/// The filter of a name.
pub fn named(name: &str, progress: &Progress) -> Option<&'static Space> {
    all(progress).iter().find(|space| space.name == name)
}

fn measure(kind: &filters::Kind) -> Space {
    let (mut filter, capacity) = (kind.build)(BYTES);
    let keys = Keys::new(0x5_ace);
    let most = if kind.until_full { u64::MAX } else { capacity as u64 };
    let items = (0..most).take_while(|&index| filter.insert(keys.key(index))).count();
    // Indices from the upper half are never inserted.
    let absent = |index: u64| keys.key(index | 1 << 63);
    let (mut found, mut asked) = (0, 0);
    while found < ENOUGH && asked < MOST {
        let more = asked..asked + QUERIES;
        found += more.filter(|&index| filter.contains(absent(index))).count();
        asked += QUERIES;
    }
    let mean = |key: &dyn Fn(u64) -> u64| {
        let lines = (0..COUNTED).map(|index| filter.lines(key(index))).sum::<Option<usize>>();
        lines.map(|lines| lines as f64 / COUNTED as f64)
    };
    let present = mean(&|index| keys.key(index * items as u64 / COUNTED));
    Space {
        name: kind.name.clone(),
        source: kind.source,
        removes: kind.removes,
        bits: 8.0 * filter.bytes() as f64 / items as f64,
        rate: found as f64 / asked as f64,
        lines: present.zip(mean(&absent)).map(<[f64; 2]>::from),
    }
}
