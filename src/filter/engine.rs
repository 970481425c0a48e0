//! Engines: where a filter keeps its items. The front end is the same for all of them.

#[cfg(not(feature = "std"))]
use core::marker::Sized as Saved;
use core::{num::NonZero, ops::ControlFlow, time::Duration};

#[cfg(feature = "std")]
use super::snapshot::Saved;
use crate::{
    BuildError, InsertError, Layout,
    table::{Hashes, Kernel, Merged, ShardedCounter},
};

/// The engine of a filter: how it stores its items, and how much room there is for them.
///
/// Sealed: the engines are [`Fixed`](crate::Fixed), [`Growing`](crate::Growing),
/// [`Expiring`](crate::Expiring), and, for maps, [`Mapped`](crate::Mapped). The trait lets code be
/// generic over them.
///
/// ```
/// use guira::{CuckooFilter, Engine, Filter, GrowingFilter};
///
/// fn describe<E: Engine, S>(filter: &Filter<E, S>) -> String {
///     format!("{} of {} slots occupied", filter.len(), filter.slots())
/// }
///
/// assert_eq!(describe(&CuckooFilter::with_capacity(4)), "0 of 4 slots occupied");
/// assert_eq!(describe(&GrowingFilter::with_capacity(4)), "0 of 4 slots occupied");
/// ```
#[expect(private_bounds, reason = "sealed")]
pub trait Engine: Storage + Saved + Send + Sync + 'static {}

/// An engine of filters whose items stay until they are removed: all but
/// [`Expiring`](crate::Expiring). Only such filters can be [merged](crate::Filter::merge) and have
/// a limit on [copies](crate::FilterBuilder::max_copies).
///
/// Sealed, as [`Engine`] is.
///
/// ```
/// use guira::{CuckooFilter, Filter, MergeError, Permanent};
///
/// fn merge_all<E: Permanent>(all: &Filter<E>, parts: &[Filter<E>]) -> Result<(), MergeError> {
///     parts.iter().try_for_each(|part| all.merge(part))
/// }
///
/// let build = || CuckooFilter::builder().capacity(1_000).seed(1).build().unwrap();
/// let (all, parts) = (build(), [build(), build()]);
/// parts[1].insert("ani").unwrap();
/// merge_all(&all, &parts).unwrap();
/// assert!(all.contains("ani"));
/// ```
#[expect(private_bounds, reason = "sealed")]
pub trait Permanent: Engine + Merging {}

/// An engine of filters that are sets of items: with `insert`, `contains` and `remove`.
///
/// Sealed, as [`Engine`] is, and implemented by [`Fixed`](crate::Fixed) and
/// [`Growing`](crate::Growing).
///
/// ```
/// use guira::{CuckooFilter, Filter, GrowingFilter, InsertError, Membership};
///
/// fn seen_before<E: Membership>(seen: &Filter<E>, key: &str) -> Result<bool, InsertError> {
///     seen.insert_unique(key).map(|added| !added)
/// }
///
/// assert_eq!(seen_before(&CuckooFilter::with_capacity(10), "ani"), Ok(false));
/// let seen = GrowingFilter::with_capacity(10);
/// assert_eq!(seen_before(&seen, "ani"), Ok(false));
/// assert_eq!(seen_before(&seen, "ani"), Ok(true));
/// ```
#[expect(private_bounds, reason = "sealed")]
pub trait Membership: Permanent + Steps {}

/// An engine of filters that grow.
///
/// Sealed, as [`Engine`] is, and implemented by [`Growing`](crate::Growing) and by its counterpart
/// for maps.
///
/// ```
/// use guira::{Filter, Growable, GrowingFilter, GrowingMap};
///
/// fn can_grow<E: Growable, S>(filter: &Filter<E, S>, bytes: usize) -> bool {
///     filter.next_growth().is_some_and(|growth| filter.size_in_bytes() + growth <= bytes)
/// }
///
/// assert!(can_grow(&GrowingFilter::with_capacity(10), 10_000));
/// assert!(!can_grow(&GrowingMap::with_capacity(10_000), 10_000));
/// ```
#[expect(private_bounds, reason = "sealed")]
pub trait Growable: Engine + Growth {}

/// One table of a filter. A [`CuckooFilter`](crate::CuckooFilter) has one; a
/// [`GrowingFilter`](crate::GrowingFilter) appends more.
///
/// ```
/// let filter = guira::GrowingFilter::with_capacity(100);
/// filter.try_extend(0..1_000)?;
/// let segments: Vec<guira::Segment> = filter.segments().collect();
/// assert!(segments.len() > 1);
/// assert_eq!(segments.iter().map(|segment| segment.slots).sum::<usize>(), filter.slots());
/// # Ok::<(), guira::InsertBatchError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Segment {
    /// The layout of its buckets.
    pub layout: Layout,
    /// The number of its slots.
    pub slots: usize,
}

impl Segment {
    /// The segment with this layout and number of buckets.
    pub(super) fn new(layout: Layout, buckets: u64) -> Self {
        Self { layout, slots: (buckets * u64::from(layout.slots_per_bucket())) as usize }
    }

    /// The number of its buckets.
    pub(super) fn buckets(&self) -> u64 {
        self.slots as u64 / u64::from(self.layout.slots_per_bucket())
    }
}

/// The settings of the builder that concern engines, validated.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(super) capacity: usize,
    pub(super) target: Option<f64>,
    pub(super) layout: Option<Layout>,
    /// Bits of a value, if items have values.
    pub(super) value_bits: Option<u32>,
    /// The generations for which items are found, if they expire.
    pub(super) window: Option<u32>,
    /// How long an item of an expiring filter is found at least.
    pub(super) time_to_live: Option<Duration>,
    pub(super) fastest: bool,
    pub(super) huge_pages: bool,
    /// Largest number of copies of an item.
    pub(super) max_copies: Option<NonZero<usize>>,
    /// Largest number of bytes of the filter, of which the `Filter` value itself takes `own_bytes`.
    pub(super) max_bytes: Option<usize>,
    pub(super) own_bytes: usize,
    /// Threads that are expected to write at the same time.
    pub(super) writers: Option<NonZero<usize>>,
    /// The buckets of each segment, as a multiple of those of the one before: a power of two.
    pub(super) growth_factor: usize,
    /// The kernel by which batches are looked up. It is available on this processor.
    pub(super) kernel: Kernel,
}

impl Options {
    /// The error of a system that refuses the memory for this many buckets.
    pub(super) fn out_of_memory(buckets: u64) -> BuildError {
        BuildError::OutOfMemory { bytes: usize::try_from(buckets * 8).unwrap_or(usize::MAX) }
    }

    /// Least nanoseconds of a generation with this window: the time to live divided by the window,
    /// rounded up. Zero without a time to live.
    pub(super) fn interval(&self, window: u32) -> u64 {
        let interval = |time: Duration| time.as_nanos().div_ceil(window.into()).max(1);
        self.time_to_live.map_or(0, |time| u64::try_from(interval(time)).unwrap_or(u64::MAX))
    }

    /// Returns how many bytes of the cap are left for an engine with this many stripes, or an error
    /// if it needs more. If `needed` is `None`, it needs more than an object can have.
    pub(super) fn bytes_left(
        &self,
        needed: Option<usize>,
        stripes: usize,
    ) -> Result<usize, BuildError> {
        let Some(max_bytes) = self.max_bytes else { return Ok(usize::MAX) };
        let shards = ShardedCounter::limit_beside(stripes);
        let beside = self.own_bytes + ShardedCounter::bytes_for(shards);
        let needed = needed.unwrap_or(usize::MAX).saturating_add(beside);
        if needed > max_bytes {
            return Err(BuildError::MemoryCapTooLow { max_bytes, needed });
        }
        Ok(max_bytes - beside)
    }
}

/// What every engine provides; the front end documents it.
pub(crate) trait Storage: Sized {
    /// The name that `Debug` shows.
    const NAME: &'static str;

    /// Default number of bits of a value, if items have values.
    const DEFAULT_VALUE_BITS: Option<u32> = None;

    /// The default window, if items expire.
    const DEFAULT_WINDOW: Option<u32> = None;

    /// Returns an engine without items.
    fn build(options: &Options) -> Result<Self, BuildError>;

    /// Returns a copy, and the number of occupied slots.
    ///
    /// # Errors
    /// `OutOfMemory`.
    fn try_clone(&self) -> Result<(Self, u64), BuildError>;

    /// The error of a system that refuses the memory of this engine.
    fn out_of_memory(&self) -> BuildError {
        Options::out_of_memory(self.segments().map(|segment| segment.buckets()).sum())
    }

    /// Removes every item. Returns the number of slots that were cleared.
    fn clear(&self) -> u64;

    fn segments(&self) -> impl ExactSizeIterator<Item = Segment>;

    /// The number of items, given the number that the front end counted.
    fn len(&self, counted: i64) -> i64 {
        counted
    }

    fn capacity(&self) -> usize;

    fn false_positive_rate(&self) -> f64;

    /// Bytes on the heap.
    fn size_in_bytes(&self) -> usize;

    /// The number of stripes, from which the number of shards of the counter of items follows.
    fn stripes(&self) -> usize;

    /// How batches are looked up.
    fn kernel(&self) -> Kernel;

    #[cfg(feature = "stats")]
    fn stats(&self) -> crate::Stats;
}

/// What every engine that grows provides; the front end documents it.
pub(crate) trait Growth {
    fn target(&self) -> f64;

    fn next_growth(&self) -> Option<usize>;

    /// Sets the cap in bytes: this engine appends no segment that would exceed it.
    fn set_max_bytes(&self, max_bytes: usize);

    fn shrink_to_fit(&mut self) -> usize;
}

/// What an engine provides if its items can be merged.
pub(crate) trait Merging: Storage {
    /// Adds all copies of another filter, or none. Its first segment has the same layout and size.
    fn merge(&self, other: &Self) -> Merged;
}

/// The operations of sets of items, on [mixed](crate::table::mix) hashes. None of them updates the
/// number of items, which the front end keeps.
///
/// The lookup, and in one table the insert into an empty slot, are inline. The other operations are
/// compiled once, and not in every place that uses a filter: they contain the code of all ten
/// types of buckets (see `with_layout`), and a call costs little beside them.
pub(crate) trait Steps: Storage {
    fn insert(&self, mixed: u64) -> Result<(), InsertError>;

    fn insert_unique(&self, mixed: u64) -> Result<bool, InsertError>;

    fn contains(&self, mixed: u64) -> bool;

    fn remove(&self, mixed: u64) -> bool;

    fn count(&self, mixed: u64) -> usize;

    /// Adds 1 to `count` for each item that was added, and calls `failed` with the positions of the
    /// others, until it breaks. Then inserts that were begun are completed, and no others begun.
    fn insert_each(&self, hashes: &mut Hashes<'_>, count: &mut usize, failed: &mut Failed<'_>);

    /// Writes which items were added, adds 1 to `count` for each of them, and calls `failed` with
    /// the positions of those that failed, until it breaks. The rest of `added` stays as it was.
    fn insert_unique_each(
        &self,
        hashes: &mut Hashes<'_>,
        added: &mut [bool],
        count: &mut usize,
        failed: &mut Failed<'_>,
    );

    /// Returns which of `len` items, at most 64, were found, as a mask.
    fn contains_burst(&self, len: usize, hashes: &mut Hashes<'_>) -> u64;

    /// Writes which items were found, and returns their number.
    fn contains_each(&self, hashes: &mut Hashes<'_>, found: &mut [bool]) -> usize;

    /// Writes which items were removed, and adds 1 to `count` for each of them.
    fn remove_each(&self, hashes: &mut Hashes<'_>, removed: &mut [bool], count: &mut usize);
}

/// Receives the position of an insert that failed, and its error. Breaks if the batch must end
/// early: then only inserts that it has begun may still be completed.
pub(crate) type Failed<'a> = dyn FnMut(usize, InsertError) -> ControlFlow<()> + 'a;
