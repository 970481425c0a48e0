//! The engine of sets that grow: one table, whose buckets split.

use core::{iter, num::NonZero};

use super::{Engine, Failed, Lookups, Merging, Options, Segment, SetEngine};
#[cfg(guira_vectors)]
use crate::table::ContainsOne;
use crate::{
    BuildError, InsertError, Layout,
    bucket::{GrowingLayout, with_growing_layout},
    table::{
        Answers, Hashes, Kernel, Merged, Stripes, for_each_in_stages, for_each_prefetched,
        split::{Choice, GrowingTable, Item, Limits, Wanted, choose, doublings, rate},
    },
};

/// The engine of sets that grow.
#[derive(Debug)]
pub struct SplittingEngine {
    pub(super) table: GrowingTable,
    pub(super) layout: Layout,
    pub(super) target: f64,
    pub(super) max_copies: Option<NonZero<usize>>,
    /// The kernel by which batches are looked up. It is available on this processor.
    kernel: Kernel,
    /// The fastest single lookup, if it can serve the table.
    #[cfg(guira_vectors)]
    one: Option<ContainsOne>,
}

/// The capacity of a table with this many buckets.
pub(super) fn capacity(layout: Layout, buckets: u64, limits: Limits) -> u64 {
    limits.items_in(buckets * u64::from(layout.slots_per_bucket()))
}

impl Engine for SplittingEngine {
    const NAME: &'static str = "GrowingFilter";

    fn build(options: &Options) -> Result<Self, BuildError> {
        let Options { max_capacity, target, layout, huge_pages, max_copies, kernel, .. } = *options;
        let capacity = options.named_capacity;
        let choice = choose(&Wanted { capacity, max_capacity, target, layout })?;
        let Choice { layout, first_buckets, max_buckets, target, .. } = choice;
        let stripes = Stripes::count_for_chain(first_buckets, options.writers);
        let limits = Limits { buckets: max_buckets, load: choice.load() };
        // A first check before anything is allocated, without the small parts.
        let bytes = usize::try_from(first_buckets * 8).ok();
        options.bytes_left(bytes, stripes)?;
        let memory = (options.reserve, huge_pages);
        let table = with_growing_layout!(layout, L => {
            GrowingTable::new::<L>(first_buckets, limits, stripes, memory)
        });
        let table = table.ok_or_else(|| Options::out_of_memory(first_buckets))?;
        let limit = options.bytes_left(Some(table.size_in_bytes()), stripes)?;
        table.set_max_bytes(limit);
        Ok(Self::new(table, layout, target, max_copies, kernel))
    }

    fn try_clone(&self) -> Result<(Self, u64), BuildError> {
        let Self { layout, target, max_copies, kernel, .. } = *self;
        let copied = with_growing_layout!(layout, L => self.table.try_clone::<L>());
        let (table, items) = copied.ok_or_else(|| self.out_of_memory())?;
        Ok((Self::new(table, layout, target, max_copies, kernel), items))
    }

    fn clear(&self) -> u64 {
        with_growing_layout!(self.layout, L => self.table.clear::<L>())
    }

    fn segments(&self) -> impl ExactSizeIterator<Item = Segment> {
        iter::once(Segment::new(self.layout, self.table.in_use()))
    }

    fn first(&self) -> (Layout, u64) {
        (self.layout, self.table.growth().first())
    }

    fn capacity(&self) -> usize {
        capacity(self.layout, self.table.buckets(), self.table.limits()) as usize
    }

    fn false_positive_rate(&self) -> f64 {
        let first = self.table.growth().first();
        rate(self.layout, doublings(first, self.table.buckets()))
    }

    fn size_in_bytes(&self) -> usize {
        self.table.size_in_bytes()
    }

    fn stripes(&self) -> usize {
        self.table.stripes()
    }

    fn kernel(&self) -> Kernel {
        self.kernel
    }

    #[cfg(feature = "stats")]
    fn stats(&self) -> crate::Stats {
        self.table.stats()
    }

    fn target(&self) -> f64 {
        self.target
    }

    fn next_growth(&self) -> Option<usize> {
        self.table.next_growth()
    }

    fn set_max_bytes(&self, max_bytes: usize) {
        self.table.set_max_bytes(max_bytes);
    }

    fn shrink_to_fit(&mut self) -> usize {
        with_growing_layout!(self.layout, L => self.table.shrink_to_fit::<L>())
    }
}

impl Lookups for SplittingEngine {
    #[inline]
    fn contains(&self, mixed: u64) -> bool {
        #[cfg(guira_vectors)]
        if let Some(one) = self.one {
            // SAFETY: it was made for this table.
            if let Some(found) = unsafe { self.table.contains_by(one, mixed) } {
                return found;
            }
        }
        self.contains_by_words(mixed)
    }

    fn count(&self, mixed: u64) -> usize {
        with_growing_layout!(self.layout, L => {
            let item = self.table.growth().item::<L>(mixed);
            self.table.prefetch_with_stripe::<L>(&item);
            self.table.count::<L>(&item)
        })
    }

    fn contains_each(
        &self,
        len: usize,
        hashes: &mut Hashes<'_>,
        mut answers: Answers<'_>,
    ) -> usize {
        let mut count = 0;
        with_growing_layout!(self.layout, L => {
            #[cfg(guira_vectors)]
            if let Some(count) =
                self.table.contains_by_kernel::<L>(self.kernel, len, hashes, &mut answers)
            {
                return count;
            }
            let _ = len;
            self.for_each_item(hashes, |mixed| self.table.growth().item::<L>(mixed), |position, item| {
                let found = self.table.contains::<L>(&item);
                answers.set(position, found.then_some(0));
                count += usize::from(found);
            });
        });
        count
    }
}

impl SplittingEngine {
    /// The engine of this table.
    pub(super) fn new(
        table: GrowingTable,
        layout: Layout,
        target: f64,
        max_copies: Option<NonZero<usize>>,
        kernel: Kernel,
    ) -> Self {
        #[cfg(guira_vectors)]
        let one = with_growing_layout!(layout, L => table.contains_one::<L>(kernel));
        Self {
            table,
            layout,
            target,
            max_copies,
            kernel,
            #[cfg(guira_vectors)]
            one,
        }
    }

    /// Looks up an item word by word.
    #[inline(never)]
    fn contains_by_words(&self, mixed: u64) -> bool {
        with_growing_layout!(self.layout, L => {
            self.table.contains::<L>(&self.table.growth().item::<L>(mixed))
        })
    }

    /// Calls `operation` with each item's position and the item, in order. Its buckets were
    /// prefetched one batch window earlier.
    #[inline]
    fn for_each_item(
        &self,
        hashes: &mut Hashes<'_>,
        item: impl Fn(u64) -> Item,
        operation: impl FnMut(usize, Item),
    ) {
        let prefetch = |mixed| {
            let item = item(mixed);
            self.table.prefetch(&item);
            item
        };
        for_each_prefetched(hashes, Item::NONE, prefetch, operation);
    }

    /// Inserts an item, within the limit on copies.
    #[inline]
    fn insert_item<L: GrowingLayout>(&self, item: &Item) -> Result<(), InsertError> {
        match self.max_copies {
            None => self.table.insert::<L>(item),
            Some(limit) => self.table.insert_up_to::<L>(limit.get(), item),
        }
    }
}

impl SetEngine for SplittingEngine {
    #[inline]
    fn insert(&self, mixed: u64) -> Result<(), InsertError> {
        with_growing_layout!(self.layout, L => {
            self.insert_item::<L>(&self.table.growth().item::<L>(mixed))
        })
    }

    fn insert_unique(&self, mixed: u64) -> Result<bool, InsertError> {
        with_growing_layout!(self.layout, L => {
            let item = self.table.growth().item::<L>(mixed);
            self.table.prefetch_with_stripe::<L>(&item);
            self.table.insert_unique::<L>(&item)
        })
    }

    fn remove(&self, mixed: u64) -> bool {
        with_growing_layout!(self.layout, L => {
            let item = self.table.growth().item::<L>(mixed);
            self.table.prefetch_with_stripe::<L>(&item);
            self.table.remove::<L>(&item)
        })
    }

    fn insert_each(&self, hashes: &mut Hashes<'_>, count: &mut usize, failed: &mut Failed<'_>) {
        let mut ended = false;
        with_growing_layout!(self.layout, L => {
            let item = |mixed| {
                let item = self.table.growth().item::<L>(mixed);
                self.table.prefetch(&item);
                item
            };
            let search = |item: &Item| self.table.prefetch_search::<L>(item);
            for_each_in_stages(hashes, Item::NONE, item, search, |position, item| {
                if ended {
                    return;
                }
                match self.insert_item::<L>(&item) {
                    Ok(()) => *count += 1,
                    Err(error) => ended = failed(position, error).is_break(),
                }
            });
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
        with_growing_layout!(self.layout, L => {
            self.for_each_item(hashes, |mixed| self.table.growth().item::<L>(mixed), |position, item| {
                if ended {
                    return;
                }
                match self.table.insert_unique::<L>(&item) {
                    Ok(was_absent) => added[position] = was_absent,
                    Err(error) => ended = failed(position, error).is_break(),
                }
                *count += usize::from(added[position]);
            });
        });
    }

    fn remove_each(&self, hashes: &mut Hashes<'_>, removed: &mut [bool], count: &mut usize) {
        with_growing_layout!(self.layout, L => {
            self.for_each_item(hashes, |mixed| self.table.growth().item::<L>(mixed), |position, item| {
                removed[position] = self.table.remove::<L>(&item);
                *count += usize::from(removed[position]);
            });
        });
    }
}

impl Merging for SplittingEngine {
    fn merge(&self, other: &Self) -> Merged {
        let limit = self.max_copies.map(NonZero::get);
        with_growing_layout!(self.layout, L => self.table.merge::<L>(&other.table, limit))
    }
}
