//! The engine of one table, whose size is fixed.

#[cfg(feature = "std")]
use alloc::vec::Vec;
use core::{iter, num::NonZero};

use arrayvec::ArrayVec;

use super::{
    Engine, age, bytes_of, insert_absent_items, insert_unseen_items, payload, refresh_items,
    remove_items, values_of,
};
#[cfg(feature = "std")]
use crate::filter::snapshot::{Form, LoadError, Saved, SavedWords, field};
#[cfg(guira_in_place)]
use crate::table::Borrowed;
#[cfg(feature = "std")]
use crate::table::{Buckets, ClockState};
use crate::{
    BuildError, InsertError, Layout, Life,
    filter::{
        Values,
        batch::{BatchValues, Outcomes},
        builder::Settings,
    },
    table::{
        Answers, FixedSpace, FixedTable, FixedWords, Hashes, MAX_BUCKETS, Merged, Pair,
        PendingInserts, Space as _, Stripes,
        choice::{
            Layouts, buckets_for, by_preference, least, with_copies, with_values_by_preference,
        },
        table_bytes,
    },
};

/// The engine of filters with a fixed capacity: one table, whose size is fixed.
#[derive(Debug)]
pub struct FixedEngine {
    pub(super) table: FixedTable,
    pub(super) layout: Layout,
    pub(super) capacity: usize,
    /// Largest number of copies of an item, if it is lower than the slots of two buckets.
    pub(super) max_copies: Option<NonZero<u8>>,
}

impl Engine for FixedEngine {
    type Space = FixedSpace;

    fn table(&self) -> &FixedTable {
        &self.table
    }

    fn layout(&self) -> Layout {
        self.layout
    }

    fn size_in_bytes(&self) -> usize {
        self.table.size_in_bytes()
    }

    fn build(settings: &Settings) -> Result<Self, BuildError> {
        let (layout, buckets) = choose(settings)?;
        let Settings { huge_pages, .. } = *settings;
        let stripes = Stripes::count_for(buckets, settings.writers.and_then(NonZero::new));
        // A first check before anything is allocated. It leaves out the clock, which is small.
        settings.bytes_left(table_bytes(buckets, stripes), stripes)?;
        let clock = settings.new_clock();
        let payload = payload(layout, clock.as_ref());
        let table = FixedTable::with_stripes(layout.slots(), buckets, payload, stripes, huge_pages);
        let out_of_memory = BuildError::OutOfMemory { bytes: bytes_of(buckets) };
        let mut table = table.ok_or(out_of_memory)?;
        table.set_clock(clock.as_ref()).ok_or(out_of_memory)?;
        settings.bytes_left(Some(table.size_in_bytes()), stripes)?;
        // The builder demands a capacity.
        let capacity = settings.capacity.unwrap_or(1);
        let max_copies = effective_limit(layout, settings.max_copies);
        table.set_kernel(settings.kernel());
        Ok(Self { table, layout, capacity, max_copies })
    }

    fn try_clone(&self) -> Result<(Self, u64), BuildError> {
        let copied = self.table.try_clone();
        let (table, occupied) = copied.ok_or_else(|| self.out_of_memory())?;
        Ok((Self { table, ..*self }, occupied))
    }

    #[inline]
    fn contains(&self, mixed: u64) -> bool {
        self.table.contains_mixed(mixed)
    }

    fn contains_each(&self, hashes: &mut Hashes<'_>, mut answers: Answers<'_>) -> usize {
        self.table.look_up_each::<false>(hashes, &mut answers)
    }

    fn count(&self, mixed: u64) -> usize {
        self.table.count::<FixedWords>(self.fetched(mixed))
    }

    #[inline]
    fn insert(&self, mixed: u64, value: u16) -> Result<(), InsertError> {
        if self.max_copies.is_some() {
            return self.insert_limited(mixed, value);
        }
        let pair = self.table.addressing().pair(mixed).with_value(value);
        // Both lines at once: the loads of the steps come one after the other.
        self.table.prefetch(&pair);
        if self.table.add_pair(&pair) { Ok(()) } else { self.insert_by_relocating(mixed, value) }
    }

    fn insert_each(
        &self,
        hashes: &mut Hashes<'_>,
        values: BatchValues<'_>,
        outcomes: &mut Outcomes<'_>,
    ) {
        let mut values = values_of::<_, FixedWords>(&self.table, values);
        let mut pending = PendingInserts::default();
        let (ended, mut done) = outcomes.taking();
        if self.max_copies.is_some() {
            // One by one: interleaved inserts of one item would not count one another.
            let limit = self.limit();
            return self.table.for_each_item(hashes, |position, pair| {
                if !ended.get() {
                    let pair = pair.with_value(values(position));
                    done(position, self.table.insert_up_to::<FixedWords>(limit, pair));
                }
            });
        }
        self.table.for_each_item(hashes, |position, pair| {
            if !ended.get() {
                let pair = pair.with_value(values(position));
                pending.insert(&self.table, position, pair, &mut done);
            }
        });
        pending.finish(&self.table, &mut done);
    }

    fn insert_unique(&self, mixed: u64, value: u16) -> Result<Option<u16>, InsertError> {
        self.table.get_or_insert_pair(self.fetched(mixed).with_value(value))
    }

    fn insert_unique_each(&self, hashes: &mut Hashes<'_>, outcomes: &mut Outcomes<'_>) {
        let insert = |_, pair| Ok(self.table.get_or_insert_pair(pair)?.is_none());
        insert_absent_items(&self.table, hashes, outcomes, insert);
    }

    fn remove(&self, mixed: u64, value: u16) -> bool {
        self.table.remove_pair(self.fetched(mixed).with_value(value))
    }

    fn remove_each(
        &self,
        hashes: &mut Hashes<'_>,
        values: BatchValues<'_>,
        removed: &mut [bool],
        count: &mut usize,
    ) {
        let remove =
            |position, pair: Pair| self.table.remove_pair(pair.with_value(values.of(position)));
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
        Values::new(self.table.candidates::<FixedWords>(self.fetched(mixed)))
    }

    fn contains_value(&self, mixed: u64, value: u16) -> bool {
        self.table.contains_value::<FixedWords>(self.fetched(mixed).with_value(value))
    }

    fn replace(&self, mixed: u64, old: u16, new: u16) -> bool {
        self.table.replace::<FixedWords>(self.fetched(mixed).with_value(old), new)
    }

    #[inline]
    fn is_visible(&self, mixed: u64) -> bool {
        self.table.is_mixed_visible(mixed)
    }

    fn visible_each(&self, hashes: &mut Hashes<'_>, mut answers: Answers<'_>) -> usize {
        self.table.visible_each(hashes, &mut answers)
    }

    fn insert_for(&self, mixed: u64, life: Option<Life>) -> Result<u64, InsertError> {
        let item = self.table.fetched::<FixedWords>(mixed);
        let start = self.table.start::<FixedWords>();
        self.table.insert_aged::<FixedWords>(start, item, age(&self.table, start, life)?)
    }

    fn insert_unseen(&self, mixed: u64, life: Option<Life>) -> Result<Option<u64>, InsertError> {
        let item = self.fetched(mixed);
        let start = self.table.start::<FixedWords>();
        self.table.insert_unseen_from::<FixedWords>(start, item, age(&self.table, start, life)?)
    }

    fn insert_or_refresh(&self, mixed: u64) -> Result<Option<u64>, InsertError> {
        self.table.insert_or_refresh::<FixedWords>(self.fetched(mixed))
    }

    fn insert_unseen_each(
        &self,
        hashes: &mut Hashes<'_>,
        outcomes: &mut Outcomes<'_>,
        refreshes: bool,
    ) {
        insert_unseen_items::<_, FixedWords>(&self.table, hashes, outcomes, refreshes);
    }

    fn refresh(&self, mixed: u64) -> bool {
        self.table.refresh::<FixedWords>(self.fetched(mixed))
    }

    fn refresh_each(&self, hashes: &mut Hashes<'_>, answers: Answers<'_>) {
        refresh_items::<_, FixedWords>(&self.table, hashes, answers);
    }

    fn remove_of(&self, mixed: u64, generation: u64) -> bool {
        self.table.remove_of::<FixedWords>(self.fetched(mixed), generation)
    }

    fn advance(&self) -> u64 {
        self.table.advance::<FixedWords>()
    }

    fn sweep(&self, buckets: u64) -> u64 {
        self.table.sweep::<FixedWords>(buckets)
    }

    fn clear(&self) -> u64 {
        self.table.clear()
    }

    fn merge(&self, other: &Self) -> Merged {
        self.table.merge(&other.table, self.max_copies.map(|limit| limit.get().into()))
    }

    fn buckets(&self) -> u64 {
        self.table.addressing().buckets()
    }

    fn capacity(&self) -> usize {
        self.capacity
    }

    #[cfg(feature = "raw")]
    fn kernel(&self) -> crate::table::Kernel {
        self.table.kernel()
    }

    fn false_positive_rate(&self) -> f64 {
        rate_at_capacity(self.capacity, (self.layout, self.table.addressing().buckets()))
    }
}

#[cfg(feature = "std")]
impl Saved for FixedEngine {
    type Memory = Buckets;

    fn form(&self) -> Form {
        self.form_of(self.table.clock().state_now())
    }

    fn copy_words(&self) -> Option<(Form, Vec<u64>)> {
        let (words, clock) = self.table.copy_words()?;
        Some((self.form_of(clock), words))
    }

    fn words(&self) -> &impl SavedWords {
        self.table.buckets()
    }

    fn check(form: &Form) -> Result<(), LoadError> {
        let slots = 2 * u64::from(form.layout.slots_per_bucket());
        field("copies", form.max_copies, form.max_copies < slots)
    }

    fn memory(form: &Form, (_reserve, huge_pages): (bool, bool)) -> Option<Buckets> {
        Buckets::new(form.words, huge_pages)
    }

    fn restore(form: &Form, _occupied: u64, buckets: Buckets) -> Option<Self> {
        let mut restored = Self::holding(form, buckets, form.stripes)?;
        restored.table.start_clock(form.clock.as_ref())?;
        Some(restored)
    }

    #[cfg(guira_in_place)]
    fn in_place(form: &Form, words: Borrowed, stripes: usize) -> Option<Self> {
        let mut engine = Self::holding(form, Buckets::borrowed(words), stripes)?;
        engine.table.set_clock(form.clock.as_ref())?;
        Some(engine)
    }
}

#[cfg(feature = "std")]
impl FixedEngine {
    /// The form, with this clock if items expire.
    fn form_of(&self, clock: Option<ClockState>) -> Form {
        Form {
            layout: self.layout,
            words: self.table.addressing().buckets(),
            capacity: self.capacity as u64,
            max_copies: self.max_copies.map_or(0, |limit| limit.get().into()),
            target: 0.0,
            stripes: self.table.stripes(),
            clock,
            grown: None,
        }
    }

    /// The engine of this form with these buckets, whose clock is not set. `None` if the system
    /// refuses the memory for the rest.
    fn holding(form: &Form, buckets: Buckets, stripes: usize) -> Option<Self> {
        let payload = payload(form.layout, form.clock.as_ref());
        let table = FixedTable::with_buckets(form.layout.slots(), payload, buckets, stripes)?;
        let capacity = usize::try_from(form.capacity).ok()?;
        let max_copies = NonZero::new(form.max_copies as u8);
        Some(Self { table, layout: form.layout, capacity, max_copies })
    }
}

/// The limit on copies of an item, if it is lower than the number of slots of two buckets.
fn effective_limit(layout: Layout, max_copies: Option<usize>) -> Option<NonZero<u8>> {
    let limit = u8::try_from(max_copies?).ok()?;
    NonZero::new(limit).filter(|_| u32::from(limit) < 2 * layout.slots_per_bucket())
}

/// The false-positive rate of a table that holds its capacity.
fn rate_at_capacity(capacity: usize, (layout, buckets): (Layout, u64)) -> f64 {
    let slots = buckets as f64 * f64::from(layout.slots_per_bucket());
    layout.false_positive_rate_at(capacity as f64 / slots)
}

/// The layouts from which one is chosen, in order of preference.
fn layouts(settings: &Settings) -> Layouts {
    settings.value_bits.map_or_else(|| by_preference(settings.fastest), with_values_by_preference)
}

/// Target false-positive rate of filters with values or stamps, and of those whose items come in
/// more copies than half of a bucket of the default layout, if the user named neither a target nor
/// a layout.
const DEFAULT_TARGET: f64 = 0.002;

/// Chooses the layout and the number of buckets: the fewest buckets that hold the capacity and meet
/// the target.
fn choose(settings: &Settings) -> Result<(Layout, u64), BuildError> {
    with_copies(settings.copies(), settings.target.is_some(), |copies| choose_for(settings, copies))
}

/// As [`choose`], for this many copies. The error does not say how many would fit.
fn choose_for(settings: &Settings, copies: usize) -> Result<(Layout, u64), BuildError> {
    let capacity = settings.capacity.unwrap_or(1);
    let few = copies <= Layout::DEFAULT.slots_per_bucket() as usize / 2;
    let (layouts, target): (Layouts, f64) = match (settings.layout, settings.target) {
        (Some(layout), target) => (iter::once(layout).collect(), target.unwrap_or(f64::INFINITY)),
        (None, Some(target)) => (layouts(settings), target),
        (None, None) if settings.value_bits.is_none() && few => {
            (iter::once(Layout::DEFAULT).collect(), f64::INFINITY)
        }
        (None, None) => (layouts(settings), DEFAULT_TARGET),
    };
    let rate = |layout: Layout, buckets: u64| rate_at_capacity(capacity, (layout, buckets));
    let sized = |&layout: &Layout| {
        let buckets = buckets_for(layout, capacity as u64, copies as u64)?;
        Some((layout, buckets))
    };
    let holding: ArrayVec<(Layout, u64), { Layout::ALL.len() }> =
        layouts.iter().filter_map(sized).collect();
    let fits = |&&(_, buckets): &&(Layout, u64)| buckets <= MAX_BUCKETS;
    let lowest = holding.iter().filter(fits).map(|&(layout, buckets)| rate(layout, buckets));
    let lowest = match (lowest.reduce(f64::min), holding.first()) {
        (Some(lowest), _) => lowest,
        (None, Some(&(layout, _))) => {
            return Err(BuildError::CapacityTooLarge { capacity, layout });
        }
        (None, None) => return Err(BuildError::CopiesTooMany { copies, most: 1 }),
    };
    if lowest > target {
        return Err(match settings.layout {
            Some(layout) => BuildError::LayoutMissesRate { layout, target, reached: lowest },
            None => BuildError::RateTooLow { target, lowest },
        });
    }
    // With a few more buckets, a layout of more slots may meet the target, too.
    let meeting = holding.iter().map(|&(layout, buckets)| {
        (layout, least(buckets, |buckets| rate(layout, buckets) <= target))
    });
    let slow = |layout: Layout| settings.fastest && layout.is_semi_sorted();
    let meeting = meeting.filter(|&(_, buckets)| buckets <= MAX_BUCKETS);
    // Of several, the first one. One meets the target as it is.
    let best = meeting.min_by_key(|&(layout, buckets)| (slow(layout), buckets));
    Ok(best.expect("one that meets the target"))
}

impl FixedEngine {
    /// The limit on copies, or `usize::MAX`.
    fn limit(&self) -> usize {
        self.max_copies.map_or(usize::MAX, |limit| limit.get().into())
    }

    /// The pair of an item. Its buckets and its stripe are prefetched.
    #[inline]
    fn fetched(&self, mixed: u64) -> Pair {
        self.table.fetched_with_stripe::<FixedWords>(mixed)
    }

    /// `insert`, if copies are limited.
    #[inline(never)]
    fn insert_limited(&self, mixed: u64, value: u16) -> Result<(), InsertError> {
        let pair = self.fetched(mixed).with_value(value);
        self.table.insert_up_to::<FixedWords>(self.limit(), pair)
    }

    /// The rest of `insert`, once both buckets were full. (Takes the hash, which the caller still
    /// has in a register.)
    #[cold]
    #[inline(never)]
    fn insert_by_relocating(&self, mixed: u64, value: u16) -> Result<(), InsertError> {
        let pair = self.table.addressing().pair(mixed).with_value(value);
        self.table.insert_by_relocating(pair)
    }
}
