//! The engine of a segment chain, which grows.

#[cfg(feature = "std")]
use alloc::vec::Vec;
use core::num::NonZero;

use super::{Engine, Failed, Lookups, Merging, Options, Segment};
#[cfg(feature = "std")]
use crate::filter::snapshot::{Form, LoadError, PlannedSegment, Saved, Words, field};
#[cfg(feature = "std")]
use crate::table::{Buckets, Nesting, PerSegment};
use crate::{
    BuildError, InsertError,
    chain::{Chain, Entries, Plan, Wanted, bytes, plan},
    table::{Answers, Hashes, Kernel, Merged, Single, capacity_of, for_each_prefetched},
};

/// The engine of filters that grow: a chain of segments.
#[derive(Debug)]
pub struct GrowingEngine<V: Entries = Single> {
    pub(super) chain: Chain<V>,
    target: f64,
    /// The capacity of the first segment.
    first_capacity: usize,
    max_copies: Option<NonZero<usize>>,
    /// The kernel that was asked for. Batches in chains are looked up without one.
    kernel: Kernel,
}

/// What the slots of growing filters hold.
pub(crate) trait Content: Entries {
    /// As [`Engine::NAME`].
    const NAME: &'static str;
    /// As [`Saved::KIND`].
    #[cfg(feature = "std")]
    const KIND: u8;
    /// Target false-positive rate of filters for which the user named none.
    const DEFAULT_TARGET: f64;
}

impl<V: Content> Engine for GrowingEngine<V> {
    const NAME: &'static str = V::NAME;

    fn build(options: &Options) -> Result<Self, BuildError> {
        let target = options.target.unwrap_or(V::DEFAULT_TARGET);
        let Options { capacity, layout: first, value_bits, fastest, .. } = *options;
        let plan = plan(&Wanted { capacity, first, value_bits, target, fastest })?;
        let plan = plan.for_writers(options.writers);
        let (limit, first_buckets) = (limit(&plan, options)?, plan.first_buckets());
        let chain = Chain::new(plan, options.huge_pages);
        let chain = chain.ok_or_else(|| Options::out_of_memory(first_buckets))?;
        chain.set_max_bytes(limit);
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

    fn target(&self) -> f64 {
        self.target
    }

    fn next_growth(&self) -> Option<usize> {
        self.chain.next_growth()
    }

    fn set_max_bytes(&self, max_bytes: usize) {
        self.chain.set_max_bytes(max_bytes);
    }

    fn shrink_to_fit(&mut self) -> usize {
        self.chain.shrink_to_fit()
    }
}

impl<V: Content> Lookups for GrowingEngine<V> {
    #[inline]
    fn contains(&self, mixed: u64) -> bool {
        self.chain.contains(mixed)
    }

    fn count(&self, mixed: u64) -> usize {
        self.chain.count(mixed)
    }

    fn contains_each(&self, _: usize, hashes: &mut Hashes<'_>, answers: Answers<'_>) -> usize {
        self.chain.contains_each(hashes, answers)
    }
}

impl<V: Content> Merging for GrowingEngine<V> {
    fn merge(&self, other: &Self) -> Merged {
        self.chain.merge(&other.chain, self.max_copies.map(NonZero::get))
    }
}

#[cfg(feature = "std")]
impl<V: Content> Saved for GrowingEngine<V> {
    const KIND: u8 = V::KIND;

    fn form(&self) -> Form {
        let planned = |(layout, level, buckets)| PlannedSegment { layout, level, buckets };
        Form {
            capacity: self.first_capacity as u64,
            max_copies: self.max_copies.map_or(0, |limit| limit.get() as u64),
            target: self.target,
            stripes: self.stripes(),
            clock: None,
            grown: None,
            plan: self.chain.planned().map(planned).collect(),
        }
    }

    fn copy_words(&self) -> Option<(Form, PerSegment<Vec<u64>>)> {
        Some((self.form(), self.chain.copy_words()?))
    }

    fn words(&self) -> impl Iterator<Item = impl Words> + Clone {
        self.chain.buckets()
    }

    fn check(form: &Form) -> Result<(), LoadError> {
        let Form { target, .. } = *form;
        field("target rate", target.to_bits(), target > 0.0 && target < 1.0)?;
        let rate = plan_of::<V>(form).map_or(1.0, |plan| plan.rate(plan.len()));
        // A later release may round differently.
        field("target rate", target.to_bits(), rate <= target * (1.0 + 1e-9))
    }

    fn min_fingerprint(form: &Form, number: usize) -> u32 {
        let plan = plan_of::<V>(form).expect("a valid plan");
        let nesting = *plan.addressing(number).nesting();
        nesting.fingerprints().0 << nesting.value_bits()
    }

    fn restore(form: &Form, segments: PerSegment<Buckets>, _reserve: bool) -> Option<Self> {
        let chain = Chain::restored(plan_of(form)?, segments)?;
        // A limit that does not fit into a word has no effect: no memory holds that many copies.
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

/// The plan in a snapshot, or `None` if no chain can have it.
#[cfg(feature = "std")]
fn plan_of<V: Entries>(form: &Form) -> Option<Plan<V>> {
    let layouts: PerSegment<_> =
        form.plan.iter().map(|segment| (segment.layout, segment.level)).collect();
    Plan::of_layouts(form.plan[0].buckets, &layouts).map(|plan| plan.with_stripes(form.stripes))
}

/// Returns the bytes to which a chain with this plan may grow.
///
/// # Errors
/// `MemoryCapTooLow`, if the first segment alone needs more.
fn limit<V: Entries>(plan: &Plan<V>, options: &Options) -> Result<usize, BuildError> {
    options.bytes_left(bytes(plan, 1, options.huge_pages), plan.stripes())
}

impl<V: Entries> GrowingEngine<V> {
    /// Inserts an item, within the limit on copies.
    #[inline]
    pub(super) fn insert_item(&self, item: V::Item) -> Result<(), InsertError> {
        match self.max_copies {
            None => self.chain.insert(item),
            Some(limit) => self.insert_limited(limit.get(), item),
        }
    }

    /// The rest of `insert_item`, if copies are limited.
    #[cold]
    #[inline(never)]
    fn insert_limited(&self, limit: usize, item: V::Item) -> Result<(), InsertError> {
        self.chain.insert_up_to(limit, item)
    }

    /// Inserts many items, of which `item` makes each from its mixed hash. Adds 1 to `count` for
    /// each item that was added, and calls `failed` with the positions of the others, until it
    /// breaks.
    pub(super) fn insert_items(
        &self,
        hashes: &mut Hashes<'_>,
        count: &mut usize,
        failed: &mut Failed<'_>,
        item: impl Fn(usize, u64) -> V::Item,
    ) {
        let prefetch = |mixed| {
            self.chain.prefetch_last(mixed);
            mixed
        };
        let mut ended = false;
        for_each_prefetched(hashes, 0, prefetch, |position, mixed| {
            if ended {
                return;
            }
            match self.insert_item(item(position, mixed)) {
                Ok(()) => *count += 1,
                Err(error) => ended = failed(position, error).is_break(),
            }
        });
    }

    /// Removes many items, of which `item` makes each from its mixed hash. Writes which items were
    /// removed, and adds 1 to `count` for each of them.
    pub(super) fn remove_items(
        &self,
        hashes: &mut Hashes<'_>,
        removed: &mut [bool],
        count: &mut usize,
        item: impl Fn(usize, u64) -> V::Item,
    ) {
        self.chain.for_each(hashes, |position, mixed| {
            removed[position] = self.chain.remove(item(position, mixed));
            *count += usize::from(removed[position]);
        });
    }
}
