//! The filters that grow, and those that are compared with them.

use guira::{
    CuckooFilter, Filter, GrowingFilter, Hashed,
    kind::{Growth, Set},
};
use guira_harness::{BATCH, Keys};

use crate::span::Span;

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

/// Looks up keys, and returns how many seem present.
type Lookups<'a> = Box<dyn Fn(&[u64]) -> usize + 'a>;

/// What is measured of a filter at many numbers of items.
pub struct Subject<'a> {
    /// Single keys.
    pub lookups: Lookups<'a>,
    /// At most [`BATCH`] keys, in the fastest way.
    pub found: Lookups<'a>,
    /// Its memory in bytes.
    pub bytes: usize,
}

impl<'a, G: Growth> From<&'a Filter<Set, G>> for Subject<'a> {
    fn from(filter: &'a Filter<Set, G>) -> Self {
        let is_found = |key: &u64| filter.contains(&Hashed(*key));
        Self {
            lookups: Box::new(move |keys| keys.iter().filter(|key| is_found(key)).count()),
            found: Box::new(|keys| {
                filter.contains_batch(Hashed::slice(keys), &mut [false; BATCH][..keys.len()])
            }),
            bytes: filter.size_in_bytes(),
        }
    }
}
