//! The engine of a segment chain, which grows.

#[cfg(feature = "std")]
use alloc::vec::Vec;
use core::num::NonZero;

use super::engine::{
    Engine, Failed, Membership, Merging, Options, Permanent, Segment, Steps, Storage,
};
#[cfg(feature = "std")]
use super::snapshot::{Form, LoadError, PlannedSegment, Saved, Words, field};
#[cfg(feature = "std")]
use crate::table::Buckets;
use crate::{
    BuildError, InsertError,
    chain::{Chain, Plan, Wanted, plan, within},
    table::{Answers, Hashes, Kernel, Merged, ShardedCounter, capacity_of, for_each_prefetched},
};

/// Target false-positive rate of growing filters for which the user named none.
const DEFAULT_TARGET: f64 = 0.001;

/// The engine of a [`GrowingFilter`](crate::GrowingFilter): a chain of segments.
#[derive(Debug)]
pub struct Growing {
    pub(super) chain: Chain,
    pub(super) target: f64,
    /// The capacity of the first segment.
    first_capacity: usize,
    max_copies: Option<NonZero<usize>>,
    /// How batches are looked up. It is available.
    kernel: Kernel,
}

impl Engine for Growing {}
impl Permanent for Growing {}
impl Membership for Growing {}

impl Storage for Growing {
    const NAME: &'static str = "GrowingFilter";

    fn build(options: &Options) -> Result<Self, BuildError> {
        let target = options.target.unwrap_or(DEFAULT_TARGET);
        let Options { capacity, layout: first, fastest, growth_factor, .. } = *options;
        let plan = plan(&Wanted { capacity, first, target, fastest, growth_factor })?;
        let plan = capped(plan.for_writers(options.writers), options)?;
        let first_buckets = plan.first_buckets();
        let chain = Chain::new(plan, options.huge_pages);
        let chain = chain.ok_or_else(|| Options::out_of_memory(first_buckets))?;
        let Options { capacity: first_capacity, max_copies, kernel, .. } = *options;
        Ok(Self { chain, target, first_capacity, max_copies, kernel })
    }

    fn try_clone(&self) -> Result<(Self, u64), BuildError> {
        let Self { target, first_capacity, max_copies, kernel, .. } = *self;
        let copied = self.chain.try_clone();
        let (chain, occupied) = copied.ok_or_else(|| self.out_of_memory())?;
        Ok((Self { chain, target, first_capacity, max_copies, kernel }, occupied))
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

    fn stripes(&self) -> usize {
        self.chain.stripes()
    }

    fn kernel(&self) -> Kernel {
        self.kernel
    }

    #[cfg(feature = "stats")]
    fn stats(&self) -> crate::Stats {
        self.chain.stats()
    }
}

impl Merging for Growing {
    fn merge(&self, other: &Self) -> Merged {
        self.chain.merge(&other.chain, self.max_copies.map(NonZero::get))
    }
}

#[cfg(feature = "std")]
impl Saved for Growing {
    const KIND: u8 = 1;

    fn form(&self) -> Form {
        let planned = |(layout, level, buckets)| PlannedSegment { layout, level, buckets };
        Form {
            capacity: self.first_capacity as u64,
            max_copies: self.max_copies.map_or(0, |limit| limit.get() as u64),
            target: self.target,
            stripes: self.stripes(),
            clock: None,
            plan: self.chain.planned().map(planned).collect(),
        }
    }

    fn copy_words(&self) -> Option<(Form, Vec<Vec<u64>>)> {
        Some((self.form(), self.chain.copy_words()?))
    }

    fn words(&mut self) -> Vec<impl Words> {
        self.chain.tables().collect()
    }

    fn check(form: &Form) -> Result<(), LoadError> {
        let Form { target, .. } = *form;
        field("target rate", target.to_bits(), target > 0.0 && target < 1.0)?;
        let rate = plan_of(form).map_or(1.0, |plan| plan.rate(plan.len()));
        // A later release may round otherwise.
        field("target rate", target.to_bits(), rate <= target * (1.0 + 1e-9))
    }

    fn min_fingerprint(form: &Form, number: usize) -> u32 {
        let plan = plan_of(form).expect("a valid plan");
        let (min, _) = plan.addressing(number).nesting().fingerprints();
        min
    }

    fn restore(form: &Form, segments: Vec<Buckets>) -> Option<Self> {
        let chain = Chain::restored(plan_of(form)?, segments)?;
        // A larger limit than fits into a word has no effect in the memory that there is.
        let limit = usize::try_from(form.max_copies).unwrap_or(usize::MAX);
        let first_capacity = usize::try_from(form.capacity).ok()?;
        Some(Self {
            chain,
            target: form.target,
            first_capacity,
            max_copies: NonZero::new(limit),
            kernel: Kernel::best(),
        })
    }
}

/// The plan in a snapshot, which is valid.
#[cfg(feature = "std")]
fn plan_of(form: &Form) -> Option<Plan> {
    let layouts: Vec<_> = form.plan.iter().map(|segment| (segment.layout, segment.level)).collect();
    Plan::of_layouts(form.plan[0].buckets, &layouts).map(|plan| plan.with_stripes(form.stripes))
}

/// Shortens a plan to the segments for which the memory is allowed.
///
/// # Errors
/// `MemoryCapTooLow`.
fn capped(plan: Plan, options: &Options) -> Result<Plan, BuildError> {
    let Some(max_bytes) = options.max_bytes else { return Ok(plan) };
    let huge_pages = options.huge_pages;
    let shards = ShardedCounter::limit_beside(plan.stripes());
    let beside = options.own_bytes + ShardedCounter::bytes_for(shards);
    let error = |chain: usize| BuildError::MemoryCapTooLow {
        max_bytes,
        needed: chain.saturating_add(beside),
    };
    within(plan, huge_pages, max_bytes.saturating_sub(beside)).map_err(error)
}

impl Growing {
    pub(super) fn next_growth(&self) -> Option<usize> {
        self.chain.next_growth()
    }

    /// The rest of `insert`, if copies are limited.
    #[cold]
    #[inline(never)]
    fn insert_limited(&self, mixed: u64) -> Result<(), InsertError> {
        let limit = self.max_copies.map_or(usize::MAX, NonZero::get);
        self.chain.insert_up_to(limit, mixed)
    }
}

impl Steps for Growing {
    fn insert(&self, mixed: u64) -> Result<(), InsertError> {
        if self.max_copies.is_some() {
            return self.insert_limited(mixed);
        }
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
        for_each_prefetched(hashes, 0, prefetch, |position, mixed| match self.insert(mixed) {
            Ok(()) => *count += 1,
            Err(error) => failed(position, error),
        });
    }

    fn insert_unique_each(
        &self,
        hashes: &mut Hashes<'_>,
        added: &mut [bool],
        count: &mut usize,
        failed: &mut Failed<'_>,
    ) {
        self.chain.for_each(hashes, |position, mixed| {
            added[position] = self.chain.insert_unique(mixed).unwrap_or_else(|error| {
                failed(position, error);
                false
            });
            *count += usize::from(added[position]);
        });
    }

    fn contains_burst(&self, len: usize, hashes: &mut Hashes<'_>) -> u64 {
        let mut mask = 0;
        self.chain.contains_each(self.kernel, len, hashes, Answers::Mask(&mut mask));
        mask
    }

    fn contains_each(&self, hashes: &mut Hashes<'_>, found: &mut [bool]) -> usize {
        self.chain.contains_each(self.kernel, found.len(), hashes, Answers::Each(found))
    }

    fn remove_each(&self, hashes: &mut Hashes<'_>, removed: &mut [bool], count: &mut usize) {
        self.chain.for_each(hashes, |position, mixed| {
            removed[position] = self.chain.remove(mixed);
            *count += usize::from(removed[position]);
        });
    }
}
