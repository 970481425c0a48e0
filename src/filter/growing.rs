//! The engine of a segment chain, which grows.

#[cfg(feature = "std")]
use alloc::vec::Vec;
use core::num::NonZero;

use super::engine::{
    Engine, Failed, Growable, Growth, Membership, Merging, Options, Permanent, Segment, Steps,
    Storage,
};
#[cfg(feature = "std")]
use super::snapshot::{Form, LoadError, PlannedSegment, Saved, Words, field};
#[cfg(feature = "std")]
use crate::table::{Buckets, Nesting, PerSegment};
use crate::{
    BuildError, InsertError,
    chain::{Chain, Entries, Plan, Wanted, bytes, plan},
    table::{Answers, Hashes, Kernel, Merged, Single, Valued, capacity_of, for_each_prefetched},
};

/// The engine of a [`GrowingFilter`](crate::GrowingFilter): a chain of segments.
#[derive(Debug)]
pub struct Growing<V: Entries = Single> {
    pub(super) chain: Chain<V>,
    target: f64,
    /// The capacity of the first segment.
    first_capacity: usize,
    pub(super) max_copies: Option<NonZero<usize>>,
    /// The kernel by which batches are looked up. It is available on this processor.
    pub(super) kernel: Kernel,
}

impl Engine for Growing {}
impl Permanent for Growing {}
impl Membership for Growing {}
impl Growable for Growing {}

/// What the slots of growing filters hold.
pub(crate) trait Content: Entries {
    /// As [`Storage::NAME`].
    const NAME: &'static str;
    /// As [`Saved::KIND`].
    #[cfg(feature = "std")]
    const KIND: u8;
    /// Target false-positive rate of filters for which the user named none.
    const DEFAULT_TARGET: f64;
}

impl Content for Single {
    const NAME: &'static str = "GrowingFilter";
    #[cfg(feature = "std")]
    const KIND: u8 = 1;
    const DEFAULT_TARGET: f64 = 0.001;
}

impl Content for Valued {
    const NAME: &'static str = "GrowingMap";
    #[cfg(feature = "std")]
    const KIND: u8 = 4;
    /// With values of 16 bits, a chain of 33 segments cannot meet 0.2 %, the target of a
    /// `CuckooMap`.
    const DEFAULT_TARGET: f64 = 0.003;
}

impl<V: Content> Storage for Growing<V> {
    const NAME: &'static str = V::NAME;

    fn build(options: &Options) -> Result<Self, BuildError> {
        let target = options.target.unwrap_or(V::DEFAULT_TARGET);
        let Options { capacity, layout: first, value_bits, fastest, growth_factor, .. } = *options;
        let plan = plan(&Wanted { capacity, first, value_bits, target, fastest, growth_factor })?;
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
}

impl<V: Content> Merging for Growing<V> {
    fn merge(&self, other: &Self) -> Merged {
        self.chain.merge(&other.chain, self.max_copies.map(NonZero::get))
    }
}

#[cfg(feature = "std")]
impl<V: Content> Saved for Growing<V> {
    const KIND: u8 = V::KIND;

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

    fn restore(form: &Form, segments: PerSegment<Buckets>) -> Option<Self> {
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

impl<V: Content> Growth for Growing<V> {
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

impl<V: Entries> Growing<V> {
    /// The rest of `insert`, if copies are limited.
    #[cold]
    #[inline(never)]
    pub(super) fn insert_limited(&self, item: V::Item) -> Result<(), InsertError> {
        let limit = self.max_copies.map_or(usize::MAX, NonZero::get);
        self.chain.insert_up_to(limit, item)
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
        let mut ended = false;
        for_each_prefetched(hashes, 0, prefetch, |position, mixed| {
            if ended {
                return;
            }
            match self.insert(mixed) {
                Ok(()) => *count += 1,
                Err(error) => ended = failed(position, error).is_break(),
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
        let mut ended = false;
        self.chain.for_each(hashes, |position, mixed| {
            if ended {
                return;
            }
            added[position] = self.chain.insert_unique(mixed).unwrap_or_else(|error| {
                ended = failed(position, error).is_break();
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
