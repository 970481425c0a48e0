//! The filters that grow, and those that are compared with them: bits per item, false-positive rate
//! and lookups at many numbers of items.

use guira::{
    CuckooFilter, Filter, GrowingFilter, Hashed,
    kind::{Growth, Set},
};
use guira_harness::{BATCH, Keys, Pick};

use crate::{
    memory,
    options::Mode,
    peers::scalable,
    span::Span,
    stop,
    timing::{insert_batch, median, over_keys, over_range},
};

/// The keys that are inserted.
pub const KEYS: Keys = Keys::new(1);

/// Builds the filter that grows.
pub fn growing(span: Span, target: f64) -> GrowingFilter {
    let builder = GrowingFilter::builder().capacity(span.from as usize).seed(1);
    builder.false_positive_rate(target).build().expect("memory")
}

/// Builds the filter that does not grow.
pub fn built(items: u64, target: f64) -> CuckooFilter {
    let builder = CuckooFilter::builder().capacity(items as usize).seed(1).fastest();
    builder.false_positive_rate(target).build().expect("memory")
}

/// The filters in the plots, in the order of `Point::all`.
pub const NAMES: [&str; 3] = ["guira, grown", "guira, built for so many", "scalable_cuckoo_filter"];

/// Lookups of absent keys behind one false-positive rate of the filter that grows. A rate of 0.01 %
/// has a standard error of 7 % of it. The others get fewer.
const LOOKUPS: usize = 1 << 21;

/// Keys that are absent.
const ABSENT: Keys = Keys::new(2);

/// Lookups of one pass.
const PASS: usize = 1 << 13;

/// Passes, each with other keys, of which the median counts. With `--quick` there are three.
const PASSES: u64 = 11;

/// Inserts between two readings of the filter's memory.
const INTERVAL: usize = 256;

/// Multiple of the first capacity beyond which the most bits per item are noted.
const NOTED_FROM: u64 = 100;

/// Bits per item, false-positive rate in per cent, and nanoseconds of a single lookup of an absent
/// key, of one filter with one number of items.
pub type Figures = [f64; 3];

/// Figures of all filters with one number of items.
pub struct Point {
    pub items: u64,
    /// In the order of [`NAMES`]. Only the first if no others were measured.
    pub all: Vec<Figures>,
}

/// What is measured while one filter grows.
pub struct Curve {
    pub span: Span,
    /// Target false-positive rate.
    pub target: f64,
    pub points: Vec<Point>,
    /// The most bits per item at any number of items beyond 100 times the first capacity, and that
    /// number.
    pub most_bits: Option<(f64, u64)>,
    /// Layout of the filter that grows.
    pub layout: String,
}

impl Curve {
    pub fn new(span: Span, target: f64) -> Self {
        Self { span, target, points: Vec::new(), most_bits: None, layout: String::new() }
    }

    /// Returns the name of the growth and its target.
    pub fn name(&self) -> String {
        format!("{}, target {}", self.span.name(), percent(self.target))
    }

    /// Fills a filter, and another one beside it if it `compares`, and measures them on the way.
    pub fn measure(&mut self, mode: Mode, compares: bool) {
        let (span, target) = (self.span, self.target);
        let (many, passes) = mode.pick((LOOKUPS / 16, 3), (LOOKUPS, PASSES), (LOOKUPS, PASSES));
        let grown = growing(span, target);
        self.layout = format!("{:?}", grown.layout());
        let before = memory::held();
        let mut other = compares.then(|| scalable(span.from as usize, target));
        let mut bytes = memory::held() - before;
        let mut inserted = 0;
        for items in span.points() {
            while inserted < items {
                stop::point();
                let until = items.min(inserted + (1 << 16));
                KEYS.blocks(inserted..until, |block| {
                    self.add(&grown, block);
                    if let Some(other) = &mut other {
                        // What this thread allocates for it.
                        let before = memory::held();
                        other.inserts(block);
                        bytes += memory::held() - before;
                    }
                });
                inserted = until;
            }
            let mut all = vec![of_guira(&grown, many, items, passes)];
            if let Some(other) = &other {
                let fixed = built(items, target);
                insert_batch(&fixed, KEYS, 0..items);
                let lookups = |keys: &[u64]| other.lookups(keys);
                all.push(of_guira(&fixed, many / 4, items, passes));
                all.push(figures([&lookups; 2], bytes as usize, many / 16, items, passes));
            }
            self.points.push(Point { items, all });
        }
    }

    /// Inserts keys, and watches the memory.
    fn add(&mut self, grown: &GrowingFilter, block: &[u64]) {
        for keys in block.chunks(INTERVAL) {
            let items = grown.len() as u64;
            grown.insert_batch(Hashed::slice(keys)).expect("room");
            // The fewest items and the most memory of the interval: an upper bound.
            let bits = 8.0 * grown.size_in_bytes() as f64 / items as f64;
            let is_noted = items >= NOTED_FROM * self.span.from;
            if is_noted && self.most_bits.is_none_or(|(most, _)| bits > most) {
                self.most_bits = Some((bits, items));
            }
        }
    }

    /// Returns the highest false-positive rate of the filter that grows, and its number of items.
    pub fn highest_rate(&self) -> Option<(f64, u64)> {
        let rates = self.points.iter().map(|point| (point.all[0][1] / 100.0, point.items));
        rates.max_by(|a, b| a.0.total_cmp(&b.0))
    }
}

/// Looks up keys, and returns how many seem present.
type Lookups<'a> = &'a dyn Fn(&[u64]) -> usize;

/// Measures one of guira's filters as [`figures`] does.
fn of_guira<G: Growth>(filter: &Filter<Set, G>, many: usize, items: u64, passes: u64) -> Figures {
    let single = |keys: &[u64]| keys.iter().filter(|&&key| filter.contains(&Hashed(key))).count();
    let batch = |keys: &[u64]| {
        filter.contains_batch(Hashed::slice(keys), &mut [false; BATCH][..keys.len()])
    };
    figures([&single, &batch], filter.size_in_bytes(), many, items, passes)
}

/// Measures a filter that holds so many items: passes of single lookups, and `many` in the fastest
/// way for its rate.
fn figures(
    [single, fastest]: [Lookups; 2],
    bytes: usize,
    many: usize,
    items: u64,
    passes: u64,
) -> Figures {
    let mut found = 0;
    over_range(ABSENT, 0..many as u64, |block| found += fastest(block));
    let times = (0..passes).map(|seed| {
        let keys = KEYS.pick(PASS, Pick { present: 0, inserted: (0, items) }, seed);
        over_keys(&keys, single).per_key()
    });
    [8.0 * bytes as f64 / items as f64, 100.0 * found as f64 / many as f64, median(times)]
}

/// Formats a share.
pub fn percent(share: f64) -> String {
    format!("{} %", 100.0 * share)
}
