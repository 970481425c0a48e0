//! The engine of one table, whose size is fixed.

#[cfg(feature = "std")]
use alloc::vec::Vec;
use core::num::NonZero;

use super::{Content, Engine, bytes_of};
#[cfg(feature = "std")]
use crate::filter::snapshot::{Form, LoadError, Saved, Words, field};
#[cfg(guira_in_place)]
use crate::table::Borrowed;
#[cfg(feature = "std")]
use crate::table::{Buckets, Clock};
use crate::{
    BuildError, InsertError, Layout,
    filter::{batch::Outcomes, builder::Settings},
    table::{
        self, Bare, FixedSpace, FixedTable, Hashes, Kernel, MAX_BUCKETS, Merged, Pair, Payload,
        PendingInserts, Stripes,
        choice::{Layouts, buckets_for, by_preference, with_values_by_preference},
        table_bytes,
    },
};

/// The engine of filters with a fixed capacity: one table, whose size is fixed.
#[derive(Debug)]
pub struct FixedEngine<P: Payload = Bare> {
    pub(super) table: FixedTable<P>,
    pub(super) layout: Layout,
    capacity: usize,
    huge_pages: bool,
    /// Largest number of copies of an item, if it is lower than the slots of two buckets.
    pub(super) max_copies: Option<NonZero<u8>>,
}

for_each_payload! { P:
    impl Engine for FixedEngine<P> {
        type Space = FixedSpace<P>;

        const NAME: &'static str = P::NAMES[0];

        of_the_table!(FixedTable<P>, by_value);

        fn build(settings: &Settings) -> Result<Self, BuildError> {
            let (layout, buckets) = choose(settings)?;
            let Settings { huge_pages, .. } = *settings;
            let stripes = Stripes::count_for(buckets, settings.writers.and_then(NonZero::new));
            // A first check before anything is allocated. It leaves out the clock, which is small.
            settings.bytes_left(table_bytes(buckets, huge_pages, stripes), stripes)?;
            let clock = settings.new_clock();
            let payload = P::of(layout, clock);
            let table =
                FixedTable::with_stripes(layout.slots(), buckets, payload, stripes, huge_pages);
            let mut table = table.ok_or(BuildError::OutOfMemory { bytes: bytes_of(buckets) })?;
            table.set_clock(clock);
            settings.bytes_left(Some(table.size_in_bytes()), stripes)?;
            // The builder demands a capacity.
            let capacity = settings.capacity.unwrap_or(1);
            let max_copies = effective_limit(layout, settings.max_copies);
            let kernel = settings.kernel();
            Ok(Self::new(table, layout, capacity, huge_pages, max_copies, kernel))
        }

        fn try_clone(&self) -> Result<(Self, u64), BuildError> {
            let copied = self.table.try_clone(self.huge_pages);
            let (table, occupied) = copied.ok_or_else(|| self.out_of_memory())?;
            Ok((Self { table, ..*self }, occupied))
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
        fn kernel(&self) -> Kernel {
            self.table.kernel()
        }

        fn false_positive_rate(&self) -> f64 {
            rate_at_capacity(self.capacity, (self.layout, self.table.addressing().buckets()))
        }
    }
}

#[cfg(feature = "std")]
for_each_payload! { P:
    impl Saved for FixedEngine<P> {
        type Memory = Buckets;

        fn form(&self) -> Form {
            Form {
                layout: self.layout,
                words: self.table.addressing().buckets(),
                capacity: self.capacity as u64,
                max_copies: self.max_copies.map_or(0, |limit| limit.get().into()),
                target: 0.0,
                stripes: self.table.stripes(),
                clock: self.table.clock().read(self.table.clock().now()),
                grown: None,
                sweep: None,
            }
        }

        fn copy_words(&self) -> Option<(Form, Vec<u64>)> {
            let (words, clock) = self.table.copy_words()?;
            Some((Form { clock, ..self.form() }, words))
        }

        fn words(&self) -> &impl Words {
            self.table.buckets()
        }

        fn check(form: &Form) -> Result<(), LoadError> {
            let slots = 2 * u64::from(form.layout.slots_per_bucket());
            field("copies", form.max_copies, form.max_copies < slots)
        }

        fn memory(form: &Form, _reserve: bool) -> Option<Buckets> {
            Buckets::new(form.words, true)
        }

        fn restore(form: &Form, _occupied: u64, buckets: Buckets) -> Option<Self> {
            let mut restored = Self::holding(form, buckets, form.stripes)?;
            restored.table.start_clock(form.clock);
            Some(restored)
        }

        #[cfg(guira_in_place)]
        fn in_place(form: &Form, words: Borrowed, stripes: usize) -> Option<Self> {
            let mut engine = Self::holding(form, Buckets::borrowed(words), stripes)?;
            engine.table.set_clock(form.clock);
            Some(engine)
        }
    }

    impl FixedEngine<P> {
        /// The engine of this form with these buckets, whose clock is not set. `None` if the system
        /// refuses the memory for the rest.
        fn holding(form: &Form, buckets: Buckets, stripes: usize) -> Option<Self> {
            let payload = P::of(form.layout, form.clock);
            let table = FixedTable::with_buckets(form.layout.slots(), payload, buckets, stripes)?;
            let capacity = usize::try_from(form.capacity).ok()?;
            let max_copies = NonZero::new(form.max_copies as u8);
            Some(Self::new(table, form.layout, capacity, true, max_copies, Kernel::best()))
        }
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

/// Target false-positive rate of filters with values or stamps, if the user named no target.
const DEFAULT_TARGET_WITH_VALUES: f64 = 0.002;

/// Chooses the layout and the number of buckets.
fn choose(settings: &Settings) -> Result<(Layout, u64), BuildError> {
    let capacity = settings.capacity.unwrap_or(1);
    let sized = |layout: Layout| (layout, buckets_for(layout, capacity as u64));
    let fits = |&(_, buckets): &(Layout, u64)| buckets <= MAX_BUCKETS;
    let checked = |choice: (Layout, u64)| {
        let too_large = BuildError::CapacityTooLarge { capacity, layout: choice.0 };
        if fits(&choice) { Ok(choice) } else { Err(too_large) }
    };
    let target = match (settings.target, settings.value_bits, settings.layout) {
        (Some(target), ..) => target,
        (None, Some(_), None) => DEFAULT_TARGET_WITH_VALUES,
        (None, _, layout) => return checked(sized(layout.unwrap_or(Layout::DEFAULT))),
    };
    let rate = |&choice: &(Layout, u64)| rate_at_capacity(capacity, choice);
    if let Some(layout) = settings.layout {
        let choice = checked(sized(layout))?;
        return match rate(&choice) {
            reached if reached <= target => Ok(choice),
            reached => Err(BuildError::LayoutMissesRate { layout, target, reached }),
        };
    }
    let choices = layouts(settings).into_iter().map(sized).filter(fits);
    let meets = choices.clone().find(|choice| rate(choice) <= target);
    meets.ok_or_else(|| match choices.map(|choice| rate(&choice)).reduce(f64::min) {
        Some(lowest) => BuildError::RateTooLow { target, lowest },
        None => BuildError::CapacityTooLarge { capacity, layout: layouts(settings)[0] },
    })
}

for_each_payload! { P:
    impl FixedEngine<P> {
        /// The engine of this table.
        pub(super) fn new(
            mut table: FixedTable<P>,
            layout: Layout,
            capacity: usize,
            huge_pages: bool,
            max_copies: Option<NonZero<u8>>,
            kernel: Kernel,
        ) -> Self {
            table.set_kernel(kernel);
            Self { table, layout, capacity, huge_pages, max_copies }
        }
    }
}

impl<P: Payload> FixedEngine<P> {
    /// The limit on copies, or one that has no effect.
    pub(super) fn limit(&self) -> usize {
        self.max_copies.map_or(usize::MAX, |limit| limit.get().into())
    }

    /// Inserts many items, of which `complete` returns each with its value.
    #[inline]
    pub(super) fn insert_items<L: table::Words<FixedSpace<P>>>(
        &self,
        hashes: &mut Hashes<'_>,
        outcomes: &mut Outcomes<'_>,
        complete: impl Fn(usize, Pair) -> Pair,
    ) {
        let mut pending = PendingInserts::default();
        let (ended, mut done) = outcomes.taking();
        if self.max_copies.is_some() {
            // One by one: interleaved inserts of one item would not count one another.
            let limit = self.limit();
            return self.table.for_each_pair(hashes, |position, pair| {
                if !ended.get() {
                    let pair = complete(position, pair);
                    done(position, self.table.insert_up_to::<L>(limit, pair));
                }
            });
        }
        self.table.for_each_pair(hashes, |position, pair| {
            if !ended.get() {
                pending.insert(&self.table, position, complete(position, pair), &mut done);
            }
        });
        pending.finish(&self.table, &mut done);
    }

    /// Inserts an item, within the limit on copies.
    #[inline]
    pub(super) fn insert_item<L: table::Words<FixedSpace<P>>>(
        &self,
        pair: Pair,
    ) -> Result<(), InsertError> {
        match self.max_copies {
            None => self.table.insert::<L>(pair),
            Some(_) => self.table.insert_up_to::<L>(self.limit(), pair),
        }
    }
}
