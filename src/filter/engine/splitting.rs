//! The engine of filters that grow: one table, whose buckets split.

#[cfg(feature = "std")]
use alloc::{collections::TryReserveError, vec::Vec};
use core::num::NonZero;

use super::{
    Engine, age, bytes_of, insert_absent_items, insert_unseen_items, payload, refresh_items,
    remove_items, values_of,
};
#[cfg(guira_in_place)]
use crate::table::Borrowed;
use crate::{
    BuildError, InsertError, Layout, Life,
    bucket::Leveled,
    filter::{
        Values,
        batch::{BatchValues, Outcomes},
        builder::Settings,
    },
    table::{
        Answers, Hashes, Merged, Stripes,
        choice::{
            doublings::{doublings, rate},
            growing::{Choice, Wanted, choose},
        },
        for_each_in_stages,
        split::{GrowingSpace, GrowingTable, GrowingWords, Item, Limits, Shrinking},
    },
};
#[cfg(feature = "std")]
use crate::{
    filter::snapshot::{Form, LoadError, Saved, SavedWords, field},
    table::{
        ClockState,
        split::{Grown, ImageLoader},
    },
};

/// The engine of filters that grow.
#[derive(Debug)]
pub struct SplittingEngine {
    pub(super) table: GrowingTable,
    pub(super) layout: Layout,
    pub(super) target: f64,
    pub(super) max_copies: Option<NonZero<usize>>,
}

/// The constants of the words of a layout of filters that grow.
fn leveled(layout: Layout) -> Leveled {
    layout.leveled().expect("a layout of filters that grow")
}

/// The capacity of a table with this many buckets.
pub(super) fn capacity(layout: Layout, buckets: u64, limits: Limits) -> u64 {
    limits.items_in(buckets * u64::from(layout.slots_per_bucket()))
}

impl Engine for SplittingEngine {
    type Space = GrowingSpace;

    fn table(&self) -> &GrowingTable {
        &self.table
    }

    fn layout(&self) -> Layout {
        self.layout
    }

    fn size_in_bytes(&self) -> usize {
        self.table.size_in_bytes()
    }

    fn build(settings: &Settings) -> Result<Self, BuildError> {
        let Settings { capacity, max_capacity, target, layout, value_bits, .. } = *settings;
        let copies = settings.copies();
        let choice =
            choose(&Wanted { capacity, max_capacity, target, layout, value_bits, copies })?;
        let Choice { layout, first_buckets, max_buckets, target, .. } = choice;
        let writers = settings.writers.and_then(NonZero::new);
        let stripes = Stripes::count_for_growing(first_buckets, writers);
        let limits = Limits { buckets: max_buckets, load: choice.load(), copies: copies as u32 };
        // A first check before anything is allocated, without the small parts.
        let bytes = bytes_of(first_buckets);
        settings.bytes_left(Some(bytes), stripes)?;
        let memory = (settings.reserve, settings.huge_pages);
        let clock = settings.new_clock();
        let table = GrowingTable::new(
            leveled(layout),
            payload(layout, clock.as_ref()),
            first_buckets,
            limits,
            stripes,
            memory,
        );
        let mut table = table.ok_or(BuildError::OutOfMemory { bytes })?;
        table.set_clock(clock.as_ref()).ok_or(BuildError::OutOfMemory { bytes })?;
        let limit = settings.bytes_left(Some(table.size_in_bytes()), stripes)?;
        table.set_max_bytes(limit);
        let max_copies = settings.max_copies.and_then(NonZero::new);
        table.set_kernel(settings.kernel());
        Ok(Self { table, layout, target, max_copies })
    }

    fn try_clone(&self) -> Result<(Self, u64), BuildError> {
        let Self { layout, target, max_copies, .. } = *self;
        let copied = self.table.try_clone();
        let (table, items) = copied.ok_or_else(|| self.out_of_memory())?;
        Ok((Self { table, layout, target, max_copies }, items))
    }

    #[inline]
    fn contains(&self, mixed: u64) -> bool {
        self.table.contains_mixed(mixed)
    }

    fn contains_each(&self, hashes: &mut Hashes<'_>, mut answers: Answers<'_>) -> usize {
        self.table.look_up_each::<false>(hashes, &mut answers)
    }

    fn count(&self, mixed: u64) -> usize {
        self.table.count::<GrowingWords>(self.table.fetched_with_stripe::<GrowingWords>(mixed))
    }

    #[inline]
    fn insert(&self, mixed: u64, value: u16) -> Result<(), InsertError> {
        self.insert_item(self.table.addressing().item(mixed).with_value(value))
    }

    fn insert_each(
        &self,
        hashes: &mut Hashes<'_>,
        values: BatchValues<'_>,
        outcomes: &mut Outcomes<'_>,
    ) {
        let mut values = values_of::<_, GrowingWords>(&self.table, values);
        let (ended, mut done) = outcomes.taking();
        let prefetched = |mixed| self.table.fetched::<GrowingWords>(mixed);
        let search = |item: &Item| self.table.prefetch_search(item);
        for_each_in_stages(hashes, Item::NONE, prefetched, search, |position, item| {
            if !ended.get() {
                done(position, self.insert_item(item.with_value(values(position))));
            }
        });
    }

    fn insert_unique(&self, mixed: u64, value: u16) -> Result<Option<u16>, InsertError> {
        let item = self.table.fetched::<GrowingWords>(mixed).with_value(value);
        self.table.prefetch_stripe::<GrowingWords>(&item);
        self.table.get_or_insert::<GrowingWords>(item)
    }

    fn insert_unique_each(&self, hashes: &mut Hashes<'_>, outcomes: &mut Outcomes<'_>) {
        let insert = |_, item| self.table.insert_unique::<GrowingWords>(item);
        insert_absent_items(&self.table, hashes, outcomes, insert);
    }

    fn remove(&self, mixed: u64, value: u16) -> bool {
        let item = self.table.fetched::<GrowingWords>(mixed).with_value(value);
        self.table.prefetch_stripe::<GrowingWords>(&item);
        self.table.remove::<GrowingWords>(item)
    }

    fn remove_each(
        &self,
        hashes: &mut Hashes<'_>,
        values: BatchValues<'_>,
        removed: &mut [bool],
        count: &mut usize,
    ) {
        let remove = |position, item: Item| {
            self.table.remove::<GrowingWords>(item.with_value(values.of(position)))
        };
        remove_items(&self.table, hashes, removed, count, remove);
    }

    #[inline]
    fn get(&self, mixed: u64) -> Option<u16> {
        self.table.get_mixed(mixed)
    }

    fn get_each(&self, hashes: &mut Hashes<'_>, mut answers: Answers<'_>) -> usize {
        self.table.look_up_each::<true>(hashes, &mut answers)
    }

    fn values(&self, mixed: u64) -> Values {
        Values::new(
            self.table.candidates::<GrowingWords>(self.table.fetched::<GrowingWords>(mixed)),
        )
    }

    fn contains_value(&self, mixed: u64, value: u16) -> bool {
        let item = self.table.fetched::<GrowingWords>(mixed);
        self.table.contains_value::<GrowingWords>(item.with_value(value))
    }

    fn replace(&self, mixed: u64, old: u16, new: u16) -> bool {
        let item = self.table.fetched::<GrowingWords>(mixed).with_value(old);
        self.table.prefetch_stripe::<GrowingWords>(&item);
        self.table.replace::<GrowingWords>(item, new)
    }

    fn is_visible(&self, mixed: u64) -> bool {
        self.table.is_mixed_visible(mixed)
    }

    fn visible_each(&self, hashes: &mut Hashes<'_>, mut answers: Answers<'_>) -> usize {
        self.table.visible_each(hashes, &mut answers)
    }

    fn insert_for(&self, mixed: u64, life: Option<Life>) -> Result<u64, InsertError> {
        let item = self.table.fetched::<GrowingWords>(mixed);
        let start = self.table.start::<GrowingWords>();
        self.table.insert_aged::<GrowingWords>(start, item, age(&self.table, start, life)?)
    }

    fn insert_unseen(&self, mixed: u64, life: Option<Life>) -> Result<Option<u64>, InsertError> {
        let item = self.table.fetched_with_stripe::<GrowingWords>(mixed);
        let start = self.table.start::<GrowingWords>();
        self.table.insert_unseen_from::<GrowingWords>(start, item, age(&self.table, start, life)?)
    }

    fn insert_or_refresh(&self, mixed: u64) -> Result<Option<u64>, InsertError> {
        let item = self.table.fetched_with_stripe::<GrowingWords>(mixed);
        self.table.insert_or_refresh::<GrowingWords>(item)
    }

    fn insert_unseen_each(
        &self,
        hashes: &mut Hashes<'_>,
        outcomes: &mut Outcomes<'_>,
        refreshes: bool,
    ) {
        insert_unseen_items::<_, GrowingWords>(&self.table, hashes, outcomes, refreshes);
    }

    fn refresh(&self, mixed: u64) -> bool {
        self.table.refresh::<GrowingWords>(self.table.fetched_with_stripe::<GrowingWords>(mixed))
    }

    fn refresh_each(&self, hashes: &mut Hashes<'_>, answers: Answers<'_>) {
        refresh_items::<_, GrowingWords>(&self.table, hashes, answers);
    }

    fn remove_of(&self, mixed: u64, generation: u64) -> bool {
        self.table.remove_of::<GrowingWords>(
            self.table.fetched_with_stripe::<GrowingWords>(mixed),
            generation,
        )
    }

    fn advance(&self) -> u64 {
        self.table.advance::<GrowingWords>()
    }

    fn sweep(&self, buckets: u64) -> u64 {
        self.table.sweep::<GrowingWords>(buckets)
    }

    fn buckets(&self) -> u64 {
        self.table.in_use()
    }

    fn first(&self) -> (Layout, u64) {
        (self.layout, self.table.addressing().first())
    }

    fn clear(&self) -> u64 {
        self.table.clear()
    }

    fn merge(&self, other: &Self) -> Merged {
        let limit = self.max_copies.map(NonZero::get);
        self.table.merge(&other.table, limit)
    }

    #[cfg(feature = "raw")]
    fn kernel(&self) -> crate::table::Kernel {
        self.table.kernel()
    }

    fn capacity(&self) -> usize {
        capacity(self.layout, self.table.buckets(), self.table.limits()) as usize
    }

    fn false_positive_rate(&self) -> f64 {
        let first = self.table.addressing().first();
        rate(self.layout, doublings(first, self.table.buckets()))
    }

    fn next_growth(&self) -> Option<usize> {
        self.table.next_growth()
    }

    fn set_max_bytes(&self, max_bytes: usize) {
        self.table.set_max_bytes(max_bytes);
    }

    fn shrink(&mut self, steps: u64) -> Shrinking {
        self.table.shrink(steps)
    }
}

impl SplittingEngine {
    /// Inserts an item, within the limit on copies.
    #[inline]
    fn insert_item(&self, item: Item) -> Result<(), InsertError> {
        match self.max_copies {
            None => self.table.insert::<GrowingWords>(item),
            Some(limit) => self.table.insert_up_to::<GrowingWords>(limit.get(), item),
        }
    }
}

#[cfg(feature = "std")]
impl SavedWords for GrowingTable {
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
impl SplittingEngine {
    /// The engine of this form with its table.
    fn holding(form: &Form, table: GrowingTable) -> Self {
        // A limit that does not fit into a word has no effect: no memory holds that many copies.
        let limit = usize::try_from(form.max_copies).unwrap_or(usize::MAX);
        let (layout, target, max_copies) = (form.layout, form.target, NonZero::new(limit));
        Self { table, layout, target, max_copies }
    }

    /// The form of an engine whose table has this many words, and this clock if items expire.
    fn form_of(&self, grown: Grown, words: u64, clock: Option<ClockState>) -> Form {
        Form {
            layout: self.layout,
            words,
            capacity: capacity(self.layout, grown.buckets(), grown.limits),
            max_copies: self.max_copies.map_or(0, |limit| limit.get() as u64),
            target: self.target,
            stripes: self.table.stripes(),
            clock,
            grown: Some(grown),
        }
    }
}

// The words are those of the table's image. `Grown` has the rest. What is pending, the inserts
// until the table next checks whether it must grow, follows from the number of items.
#[cfg(feature = "std")]
impl Saved for SplittingEngine {
    type Memory = ImageLoader;

    fn form(&self) -> Form {
        // Each of several threads may have seen its own splits alone, and left the size behind.
        self.table.advance_size();
        self.form_of(self.table.grown(), self.table.words(), self.table.clock().state_now())
    }

    fn copy_words(&self) -> Option<(Form, Vec<u64>)> {
        let (grown, clock, words) = self.table.copy_words()?;
        Some((self.form_of(grown, words.len() as u64, clock), words))
    }

    fn words(&self) -> &impl SavedWords {
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

    fn memory(form: &Form, memory: (bool, bool)) -> Option<ImageLoader> {
        let &Form { layout, words, stripes, ref clock, .. } = form;
        let payload = payload(layout, clock.as_ref());
        ImageLoader::new((leveled(layout), payload), &form.grown?, words, stripes, memory)
    }

    fn restore(form: &Form, occupied: u64, memory: ImageLoader) -> Option<Self> {
        Some(Self::holding(form, memory.finish(occupied, form.clock.as_ref())?))
    }

    #[cfg(guira_in_place)]
    fn in_place(form: &Form, words: Borrowed, stripes: usize) -> Option<Self> {
        let &Form { layout, ref clock, .. } = form;
        let (grown, payload) = (form.grown?, payload(layout, clock.as_ref()));
        let table = GrowingTable::in_place((leveled(layout), payload), &grown, words, stripes);
        let mut table = table?;
        table.set_clock(clock.as_ref())?;
        Some(Self::holding(form, table))
    }
}
