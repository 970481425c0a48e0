//! The engine of a segment chain, which grows.

use super::engine::{Engine, Failed, Membership, Options, Segment, Steps, Storage};
use crate::{
    BuildError, InsertError,
    chain::{Chain, plan},
    table::{Hashes, capacity_of, for_each_prefetched},
};

/// Target false-positive rate of growing filters for which the user named none.
const DEFAULT_TARGET: f64 = 0.001;

/// The engine of a [`GrowingFilter`](crate::GrowingFilter): a chain of segments.
#[derive(Debug)]
pub struct Growing {
    chain: Chain,
    pub(super) target: f64,
    /// The capacity of the first segment.
    first_capacity: usize,
}

impl Engine for Growing {}
impl Membership for Growing {}

impl Storage for Growing {
    const NAME: &'static str = "GrowingFilter";

    fn build(options: &Options) -> Result<Self, BuildError> {
        let target = options.target.unwrap_or(DEFAULT_TARGET);
        let plan = plan(options.capacity, options.layout, target, options.fastest)?;
        let (_, first) = plan[0];
        let chain = Chain::new(plan, options.huge_pages);
        let chain = chain.ok_or_else(|| Options::out_of_memory(first.buckets()))?;
        Ok(Self { chain, target, first_capacity: options.capacity })
    }

    fn try_clone(&self) -> Result<(Self, u64), BuildError> {
        let Self { target, first_capacity, .. } = *self;
        let (chain, occupied) = self.chain.try_clone().ok_or_else(|| {
            Options::out_of_memory(self.chain.layouts().map(|(_, buckets)| buckets).sum())
        })?;
        Ok((Self { chain, target, first_capacity }, occupied))
    }

    fn clear(&self) -> u64 {
        self.chain.clear()
    }

    fn segments(&self) -> impl ExactSizeIterator<Item = Segment> {
        self.chain.layouts().map(|(layout, buckets)| Segment::new(layout, buckets))
    }

    fn capacity(&self) -> usize {
        let later = self.chain.layouts().skip(1);
        let later: u64 = later.map(|(layout, buckets)| capacity_of(layout, buckets)).sum();
        self.first_capacity + later as usize
    }

    fn false_positive_rate(&self) -> f64 {
        self.chain.false_positive_rate()
    }

    fn size_in_bytes(&self) -> usize {
        self.chain.size_in_bytes()
    }

    fn max_shards(&self) -> usize {
        // As many as for a single table of four times the size: the chain is expected to grow.
        self.chain.size_in_bytes() / 256
    }

    #[cfg(feature = "stats")]
    fn stats(&self) -> crate::Stats {
        self.chain.stats()
    }
}

impl Growing {
    /// Calls `operation` with each item's position and mixed hash, in order, a batch window after
    /// the item's buckets in all segments were prefetched.
    fn for_each(&self, hashes: &mut Hashes<'_>, operation: impl FnMut(usize, u64)) {
        let prefetch = |mixed| {
            self.chain.prefetch_all(mixed);
            mixed
        };
        for_each_prefetched(hashes, 0, prefetch, operation);
    }
}

impl Steps for Growing {
    fn insert(&self, mixed: u64) -> Result<(), InsertError> {
        self.chain.insert(mixed)
    }

    fn insert_unique(&self, mixed: u64) -> Result<bool, InsertError> {
        self.chain.insert_unique(mixed)
    }

    #[inline]
    fn contains(&self, mixed: u64) -> bool {
        self.chain.contains(mixed)
    }

    fn remove(&self, mixed: u64) -> bool {
        self.chain.remove(mixed)
    }

    fn count(&self, mixed: u64) -> usize {
        self.chain.count(mixed)
    }

    fn insert_each(&self, hashes: &mut Hashes<'_>, count: &mut usize, failed: &mut Failed<'_>) {
        let prefetch = |mixed| {
            self.chain.prefetch_last(mixed);
            mixed
        };
        for_each_prefetched(hashes, 0, prefetch, |position, mixed| {
            match self.chain.insert(mixed) {
                Ok(()) => *count += 1,
                Err(error) => failed(position, error),
            }
        });
    }

    fn insert_unique_each(
        &self,
        hashes: &mut Hashes<'_>,
        added: &mut [bool],
        count: &mut usize,
        failed: &mut Failed<'_>,
    ) {
        self.for_each(hashes, |position, mixed| {
            added[position] = self.chain.insert_unique(mixed).unwrap_or_else(|error| {
                failed(position, error);
                false
            });
            *count += usize::from(added[position]);
        });
    }

    fn contains_burst(&self, hashes: &mut Hashes<'_>) -> u64 {
        let mut mask = 0;
        self.for_each(hashes, |position, mixed| {
            mask |= u64::from(self.chain.contains(mixed)) << position;
        });
        mask
    }

    fn contains_each(&self, hashes: &mut Hashes<'_>, found: &mut [bool]) {
        self.for_each(hashes, |position, mixed| found[position] = self.chain.contains(mixed));
    }

    fn remove_each(&self, hashes: &mut Hashes<'_>, removed: &mut [bool], count: &mut usize) {
        self.for_each(hashes, |position, mixed| {
            removed[position] = self.chain.remove(mixed);
            *count += usize::from(removed[position]);
        });
    }
}
