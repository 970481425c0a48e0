//! The engine of filters that grow: one table, whose buckets split.

#[cfg(feature = "std")]
use alloc::{collections::TryReserveError, vec::Vec};
use core::num::NonZero;

use super::{Content, Engine, bytes_of};
#[cfg(guira_in_place)]
use crate::table::Borrowed;
#[cfg(guira_vectors)]
use crate::table::ContainsOne;
use crate::{
    BuildError, InsertError, Layout,
    bucket::{GrowingLayout, with_growing_layout},
    filter::{batch::Outcomes, builder::Settings},
    table::{
        Bare, Hashes, Kernel, Merged, Payload, Stripes,
        choice::{
            doublings::{doublings, rate},
            growing::{Choice, Wanted, choose},
        },
        for_each_in_stages,
        split::{GrowingSpace, GrowingTable, Item, Limits, Shrinking},
    },
};
#[cfg(feature = "std")]
use crate::{
    filter::snapshot::{Form, LoadError, Saved, Words, field},
    table::{
        ClockAndSweep,
        split::{Grown, ImageLoader},
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

for_each_payload! { P:
    impl Engine for SplittingEngine<P> {
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
                GrowingTable::new::<L>(P::of(layout, clock), first_buckets, limits, stripes, memory)
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

        fn clear(&self) -> u64 {
            with_growing_layout!(self.layout, L => self.table.clear::<L>())
        }

        fn merge(&self, other: &Self) -> Merged {
            let limit = self.max_copies.map(NonZero::get);
            with_growing_layout!(self.layout, L => self.table.merge::<L>(&other.table, limit))
        }

        #[cfg(feature = "raw")]
        fn kernel(&self) -> Kernel {
            self.kernel
        }

        fn capacity(&self) -> usize {
            capacity(self.layout, self.table.buckets(), self.table.limits()) as usize
        }

        fn false_positive_rate(&self) -> f64 {
            let first = self.table.growth().first();
            rate(self.layout, doublings(first, self.table.buckets()))
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

    /// Inserts many items, of which `complete` returns each with its value.
    pub(super) fn insert_items<L: GrowingLayout>(
        &self,
        hashes: &mut Hashes<'_>,
        outcomes: &mut Outcomes<'_>,
        complete: impl Fn(usize, Item) -> Item,
    ) {
        let (ended, mut done) = outcomes.taking();
        let prefetched = |mixed| self.table.fetched::<L>(mixed);
        let search = |item: &Item| self.table.prefetch_search::<L>(item);
        for_each_in_stages(hashes, Item::NONE, prefetched, search, |position, item| {
            if !ended.get() {
                done(position, self.insert_item::<L>(complete(position, item)));
            }
        });
    }
}

#[cfg(feature = "std")]
impl<P: Content> Words for GrowingTable<P> {
    fn len(&self) -> u64 {
        GrowingTable::words(self)
    }

    fn find_words<'a>(
        &'a self,
        from: u64,
        found: &mut Vec<u32>,
        buffer: &'a mut [u64],
    ) -> Result<&'a [u64], TryReserveError> {
        GrowingTable::find_words(self, from, found, buffer)?;
        Ok(buffer)
    }

    fn words<'a>(&'a self, from: u64, ahead: &[u32], buffer: &'a mut [u64]) -> &'a [u64] {
        self.words_from(from, ahead, buffer);
        buffer
    }
}

#[cfg(feature = "std")]
#[expect(private_bounds, reason = "sealed")]
impl<P: Content> SplittingEngine<P> {
    /// The engine of this form with its table.
    fn holding(form: &Form, table: GrowingTable<P>) -> Self {
        // A limit that does not fit into a word has no effect: no memory holds that many copies.
        let limit = usize::try_from(form.max_copies).unwrap_or(usize::MAX);
        Self::new(table, form.layout, form.target, NonZero::new(limit), Kernel::best())
    }

    /// The form of an engine whose table has this many words, and this clock if items expire.
    fn form_of(&self, grown: Grown, words: u64, clock: Option<ClockAndSweep>) -> Form {
        let (clock, sweep) = clock.unzip();
        Form {
            layout: self.layout,
            words,
            capacity: capacity(self.layout, grown.buckets(), grown.limits),
            max_copies: self.max_copies.map_or(0, |limit| limit.get() as u64),
            target: self.target,
            stripes: self.table.stripes(),
            clock,
            grown: Some(grown),
            sweep,
        }
    }
}

// The words are those of the table's image. `Grown` has the rest. What is pending, the inserts
// until the table next checks whether it must grow, follows from the number of items.
#[cfg(feature = "std")]
for_each_payload! { P:
    impl Saved for SplittingEngine<P> {
        type Memory = ImageLoader<P>;

        fn form(&self) -> Form {
            // Each of several threads may have seen its own splits alone, and left the size behind.
            self.table.advance_size();
            self.form_of(self.table.grown(), self.table.words(), self.table.clock_state())
        }

        fn copy_words(&self) -> Option<(Form, Vec<u64>)> {
            let (grown, clock, words) = self.table.copy_words()?;
            Some((self.form_of(grown, words.len() as u64, clock), words))
        }

        fn words(&self) -> &impl Words {
            &self.table
        }

        fn check(form: &Form) -> Result<(), LoadError> {
            let Form { layout, target, .. } = *form;
            let grown = form.grown.expect("the kind of a valid form");
            let expected = capacity(layout, grown.buckets(), grown.limits);
            field("capacity", form.capacity, form.capacity == expected)?;
            // Also when it has shrunk to its first size.
            let least = capacity(layout, grown.first, grown.limits);
            field("load", grown.limits.load.into(), least > 0)?;
            field("target rate", target.to_bits(), target > 0.0 && target < 1.0)?;
            let rate = rate(layout, doublings(grown.first, grown.limits.buckets));
            // A later release may round differently.
            field("target rate", target.to_bits(), rate <= target * (1.0 + 1e-9))
        }

        fn memory(form: &Form, reserve: bool) -> Option<ImageLoader<P>> {
            let &Form { layout, words, stripes, clock, .. } = form;
            let (grown, payload, memory) = (form.grown?, P::of(layout, clock), (reserve, true));
            with_growing_layout!(layout, L => {
                ImageLoader::new::<L>(payload, &grown, words, stripes, memory)
            })
        }

        fn restore(form: &Form, occupied: u64, memory: ImageLoader<P>) -> Option<Self> {
            let clock = form.clock.zip(form.sweep.as_ref());
            let table = with_growing_layout!(form.layout, L => memory.finish::<L>(occupied, clock));
            Some(Self::holding(form, table?))
        }

        #[cfg(guira_in_place)]
        fn in_place(form: &Form, words: Borrowed, stripes: usize) -> Option<Self> {
            let &Form { layout, clock, .. } = form;
            let (grown, payload) = (form.grown?, P::of(layout, clock));
            let table = with_growing_layout!(layout, L => {
                GrowingTable::in_place::<L>(payload, &grown, words, stripes)
            });
            let mut table = table?;
            table.set_clock(clock);
            Some(Self::holding(form, table))
        }
    }
}
