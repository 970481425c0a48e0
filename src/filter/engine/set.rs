//! The engines of sets.

use super::{
    Content, Engine, FixedEngine, Lookups, SplittingEngine, answer_items, insert_absent_items,
    remove_items,
};
#[cfg(guira_vectors)]
use crate::table::{ContainsOne, Kernel, split::GrowingTable};
use crate::{
    InsertError, Layout,
    bucket::with_growing_layout,
    filter::batch::Outcomes,
    table::{Answers, Bare, ClockState, FixedWords, Hashes, Space as _},
};

operations! {
    /// The operations of sets, on [mixed](crate::table::mix) hashes.
    trait SetEngine for Bare;

    @inline fn insert(&self, mixed: u64) -> Result<(), InsertError> {
        self.insert_mixed(mixed)
    }

    /// Returns whether the item was absent, and has been inserted.
    fn insert_unique(&self, mixed: u64) -> Result<bool, InsertError> {
        by_layout!(self.layout, L => {
            self.table.insert_unique::<L>(self.table.fetched_with_stripe::<L>(mixed))
        })
    }

    fn remove(&self, mixed: u64) -> bool {
        by_layout!(self.layout, L => {
            self.table.remove::<L>(self.table.fetched_with_stripe::<L>(mixed))
        })
    }

    /// Inserts many items.
    fn insert_each(&self, hashes: &mut Hashes<'_>, outcomes: &mut Outcomes<'_>) {
        by_layout!(self.layout, L => self.insert_items::<L>(hashes, outcomes, |_, item| item));
    }

    /// Inserts each of many items that is absent.
    fn insert_unique_each(&self, hashes: &mut Hashes<'_>, outcomes: &mut Outcomes<'_>) {
        by_layout!(self.layout, L => {
            let insert = |item| self.table.insert_unique::<L>(item);
            insert_absent_items::<L, _>(&self.table, hashes, outcomes, insert);
        });
    }

    /// Writes which items were removed, and adds 1 to `count` for each of them.
    fn remove_each(&self, hashes: &mut Hashes<'_>, removed: &mut [bool], count: &mut usize) {
        by_layout!(self.layout, L => {
            remove_items::<L, _>(&self.table, hashes, removed, count, |_, item| item);
        });
    }
}

impl Content for Bare {
    const NAMES: [&'static str; 2] = ["CuckooFilter", "GrowingFilter"];

    fn of(_layout: Layout, _clock: Option<ClockState>) -> Self {
        Self
    }

    #[cfg(guira_vectors)]
    fn contains_one(table: &GrowingTable, layout: Layout, kernel: Kernel) -> Option<ContainsOne> {
        with_growing_layout!(layout, L => table.contains_one::<L>(kernel))
    }
}

impl Lookups for FixedEngine {
    #[inline]
    fn contains(&self, mixed: u64) -> bool {
        self.table.contains_mixed(mixed)
    }

    fn contains_each(
        &self,
        len: usize,
        hashes: &mut Hashes<'_>,
        mut answers: Answers<'_>,
    ) -> usize {
        self.table.look_up_each::<false>(len, hashes, &mut answers)
    }
}

impl FixedEngine {
    #[inline]
    fn insert_mixed(&self, mixed: u64) -> Result<(), InsertError> {
        if self.max_copies.is_some() {
            return self.insert_limited(mixed);
        }
        let pair = self.table.addressing().pair(mixed);
        self.table.prefetch(&pair);
        if self.table.add::<FixedWords>(&pair) { Ok(()) } else { self.insert_by_relocating(mixed) }
    }

    /// The rest of `insert`, if copies are limited.
    #[inline(never)]
    fn insert_limited(&self, mixed: u64) -> Result<(), InsertError> {
        let pair = self.table.fetched_with_stripe::<FixedWords>(mixed);
        self.table.insert_up_to::<FixedWords>(self.limit(), pair)
    }

    /// The rest of `insert`, once both buckets were full.
    #[cold]
    #[inline(never)]
    fn insert_by_relocating(&self, mixed: u64) -> Result<(), InsertError> {
        self.table.insert_by_relocating(self.table.addressing().pair(mixed))
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

    fn contains_each(&self, len: usize, hashes: &mut Hashes<'_>, answers: Answers<'_>) -> usize {
        with_growing_layout!(self.layout, L => {
            #[cfg(guira_vectors)]
            let mut answers = answers;
            #[cfg(guira_vectors)]
            if let Some(count) =
                self.table.contains_by_kernel::<L>(self.kernel, len, hashes, &mut answers)
            {
                return count;
            }
            let _ = len;
            let contains = |item| self.table.contains::<L>(item).then_some(0);
            answer_items::<L, _>(&self.table, hashes, answers, contains)
        })
    }
}

impl SplittingEngine {
    /// Looks up an item word by word.
    #[inline(never)]
    fn contains_by_words(&self, mixed: u64) -> bool {
        with_growing_layout!(self.layout, L => {
            self.table.contains::<L>(self.table.growth().item::<L>(mixed))
        })
    }

    #[inline]
    fn insert_mixed(&self, mixed: u64) -> Result<(), InsertError> {
        with_growing_layout!(self.layout, L => {
            self.insert_item::<L>(self.table.growth().item::<L>(mixed))
        })
    }
}
