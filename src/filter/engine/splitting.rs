//! The engine of filters that grow: one table, whose buckets split.

use core::num::NonZero;

use super::{Content, Engine, Lookups, bytes_of};
#[cfg(guira_vectors)]
use crate::table::ContainsOne;
use crate::{
    BuildError, InsertError, Layout,
    batch_error::Failed,
    bucket::{GrowingLayout, with_growing_layout},
    filter::builder::Settings,
    table::{
        Bare, Hashes, Kernel, Merged, Payload, Stripes, for_each_in_stages,
        split::{
            Choice, GrowingSpace, GrowingTable, Item, Limits, Shrinking, Wanted, choose, doublings,
            rate,
        },
    },
};

/// The engine of filters that grow.
#[derive(Debug)]
pub struct SplittingEngine<P: Payload = Bare> {
    pub(super) table: GrowingTable<P>,
    pub(super) layout: Layout,
    pub(super) target: f64,
    pub(super) max_copies: Option<NonZero<usize>>,
    /// The kernel by which batches are looked up. It is available on this processor.
    pub(super) kernel: Kernel,
    /// The fastest single lookup of a set, if it can serve the table.
    #[cfg(guira_vectors)]
    pub(super) one: Option<ContainsOne>,
}

/// The capacity of a table with this many buckets.
pub(super) fn capacity(layout: Layout, buckets: u64, limits: Limits) -> u64 {
    limits.items_in(buckets * u64::from(layout.slots_per_bucket()))
}

impl<P: Content> Engine for SplittingEngine<P>
where
    Self: Lookups,
{
    type Space = GrowingSpace<P>;

    const NAME: &'static str = P::NAMES[1];

    of_the_table!(GrowingTable<P>, with_growing_layout);

    fn build(settings: &Settings) -> Result<Self, BuildError> {
        let Settings { capacity, max_capacity, target, layout, value_bits, .. } = *settings;
        let choice = choose(&Wanted { capacity, max_capacity, target, layout, value_bits })?;
        let Choice { layout, first_buckets, max_buckets, target, .. } = choice;
        let writers = settings.writers.and_then(NonZero::new);
        let stripes = Stripes::count_for_growing(first_buckets, writers);
        let limits = Limits { buckets: max_buckets, load: choice.load() };
        // A first check before anything is allocated, without the small parts.
        let bytes = bytes_of(first_buckets);
        settings.bytes_left(Some(bytes), stripes)?;
        let memory = (settings.reserve, settings.huge_pages);
        let clock = settings.new_clock();
        let table = with_growing_layout!(layout, L => {
            GrowingTable::holding::<L>(P::of(layout, clock), first_buckets, limits, stripes, memory)
        });
        let mut table = table.ok_or(BuildError::OutOfMemory { bytes })?;
        table.set_clock(clock);
        let limit = settings.bytes_left(Some(table.size_in_bytes()), stripes)?;
        table.set_max_bytes(limit);
        let max_copies = settings.max_copies.and_then(NonZero::new);
        Ok(Self::new(table, layout, target, max_copies, settings.kernel()))
    }

    fn try_clone(&self) -> Result<(Self, u64), BuildError> {
        let Self { layout, target, max_copies, kernel, .. } = *self;
        let copied = with_growing_layout!(layout, L => self.table.try_clone::<L>());
        let (table, items) = copied.ok_or_else(|| self.out_of_memory())?;
        Ok((Self::new(table, layout, target, max_copies, kernel), items))
    }

    fn buckets(&self) -> u64 {
        self.table.in_use()
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

    fn target(&self) -> f64 {
        self.target
    }

    fn next_growth(&self) -> Option<usize> {
        self.table.next_growth()
    }

    fn set_max_bytes(&self, max_bytes: usize) {
        self.table.set_max_bytes(max_bytes);
    }

    fn shrink(&mut self, steps: u64) -> Shrinking {
        with_growing_layout!(self.layout, L => self.table.shrink::<L>(steps))
    }
}

#[expect(private_bounds, reason = "sealed")]
impl<P: Content> SplittingEngine<P> {
    /// The engine of this table.
    pub(super) fn new(
        table: GrowingTable<P>,
        layout: Layout,
        target: f64,
        max_copies: Option<NonZero<usize>>,
        kernel: Kernel,
    ) -> Self {
        #[cfg(guira_vectors)]
        let one = P::contains_one(&table, layout, kernel);
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

    /// Inserts an item, within the limit on copies.
    #[inline]
    pub(super) fn insert_item<L: GrowingLayout>(&self, item: Item) -> Result<(), InsertError> {
        match self.max_copies {
            None => self.table.insert::<L>(item),
            Some(limit) => self.table.insert_up_to::<L>(limit.get(), item),
        }
    }

    /// Inserts many items, of which `complete` returns each with its value. Adds 1 to `count` for
    /// each item that was added, and calls `failed` with the positions of the others, until it
    /// breaks.
    pub(super) fn insert_items<L: GrowingLayout>(
        &self,
        hashes: &mut Hashes<'_>,
        count: &mut usize,
        failed: &mut Failed<'_>,
        complete: impl Fn(usize, Item) -> Item,
    ) {
        let mut ended = false;
        let prefetched = |mixed| self.table.fetched::<L>(mixed);
        let search = |item: &Item| self.table.prefetch_search::<L>(item);
        for_each_in_stages(hashes, Item::NONE, prefetched, search, |position, item| {
            if ended {
                return;
            }
            match self.insert_item::<L>(complete(position, item)) {
                Ok(()) => *count += 1,
                Err(error) => ended = failed(position, error).is_break(),
            }
        });
    }
}
