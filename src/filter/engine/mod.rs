//! Engines: where a filter keeps its items. The front end is the same for all of them.

mod fixed;
#[cfg(loom)]
mod model;
mod splitting;

#[cfg(not(feature = "std"))]
use core::marker::Sized as Saved;

use super::builder::Settings;
#[cfg(feature = "std")]
use super::snapshot::Saved;
use crate::{
    BuildError, InsertError, Layout, Life,
    filter::{
        Values,
        batch::{BatchValues, Outcomes},
    },
    table::{
        Answers, BLOCK, Blocks, Clock, ClockState, Hashes, Merged, Payload, ShardedCounter, Space,
        Start, Table, Words, split::Shrinking,
    },
};
pub use fixed::FixedEngine;
pub use splitting::SplittingEngine;

/// The internal part of [`kind::Contents`](crate::kind::Contents).
pub trait ContentsParts: Copy + 'static {
    /// The names that `Debug` shows: without growth, and with it.
    const NAMES: [&'static str; 2];
    /// The number in the format of snapshots.
    const NUMBER: u8;
    /// Default number of bits of a value, if items have values.
    const DEFAULT_VALUE_BITS: Option<u32> = None;
    /// Whether items expire.
    const EXPIRES: bool = false;
}

/// The internal part of [`kind::Growth`](crate::kind::Growth).
#[expect(private_bounds, reason = "sealed")]
pub trait GrowthParts: Copy + 'static {
    /// Whether filters grow.
    const GROWS: bool;
    /// The engine, whatever the contents are.
    type Engine: Engine;
}

/// What slots of this layout hold beside fingerprints: stamps if there is a clock, else values.
pub(super) fn payload(layout: Layout, clock: Option<&ClockState>) -> Payload {
    let bits = layout.value_bits();
    clock.map_or(Payload::values(bits), |clock| {
        Payload::stamps(bits, clock.window, clock.generation)
    })
}

/// Bytes of this many buckets.
pub(super) fn bytes_of(buckets: u64) -> usize {
    usize::try_from(buckets * 8).unwrap_or(usize::MAX)
}

impl Settings {
    /// The clock of a new engine, if its items expire.
    pub(super) fn new_clock(&self) -> Option<ClockState> {
        let window = self.window?;
        let start = window.into();
        Some(match self.time_to_live.zip(self.clock.clone()) {
            None => ClockState::new(window, start),
            Some((time, source)) => {
                ClockState::timed(window, start, time.as_nanos() as u64, source)
            }
        })
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

/// What every engine provides, on [mixed](crate::table::mix) hashes; the front end documents it.
/// [`Fixed`](crate::kind::Fixed) filters have a [`FixedEngine`], [`Growing`](crate::kind::Growing)
/// ones a [`SplittingEngine`]. The types of the front end decide which of the operations a filter
/// has.
///
/// Values must fit into the slots. In sets they must be zero, and where items expire they are
/// stamps. No engine updates the number of items, which the front end keeps.
///
/// `contains`, `get` and `insert` begin inline. All else is compiled once, and not in every crate
/// that uses a filter: a call costs little beside it.
pub(crate) trait Engine: Saved + Sized + Send + Sync + 'static {
    /// The buckets of its table.
    type Space: Blocks;

    fn table(&self) -> &Table<Self::Space>;

    /// Returns an engine without items.
    fn build(settings: &Settings) -> Result<Self, BuildError>;

    /// Returns a copy, and the number of occupied slots.
    ///
    /// # Errors
    /// `OutOfMemory`.
    fn try_clone(&self) -> Result<(Self, u64), BuildError>;

    /// The error of a system that refuses the memory of this engine.
    fn out_of_memory(&self) -> BuildError {
        BuildError::OutOfMemory { bytes: bytes_of(self.buckets()) }
    }

    /// Removes every item. Returns the number of slots that were cleared.
    fn clear(&self) -> u64;

    /// Returns whether the item is there, with any value.
    fn contains(&self, mixed: u64) -> bool;

    /// Looks up many items, and returns the number of those that were found.
    fn contains_each(&self, hashes: &mut Hashes<'_>, answers: Answers<'_>) -> usize;

    fn count(&self, mixed: u64) -> usize;

    fn insert(&self, mixed: u64, value: u16) -> Result<(), InsertError>;

    /// Inserts many items.
    fn insert_each(
        &self,
        hashes: &mut Hashes<'_>,
        values: BatchValues<'_>,
        outcomes: &mut Outcomes<'_>,
    );

    /// Returns a value that was found, or `None` if the item was inserted.
    fn insert_unique(&self, mixed: u64, value: u16) -> Result<Option<u16>, InsertError>;

    /// Inserts each of many items that is absent.
    fn insert_unique_each(&self, hashes: &mut Hashes<'_>, outcomes: &mut Outcomes<'_>);

    fn remove(&self, mixed: u64, value: u16) -> bool;

    /// Writes which items were removed, and adds 1 to `count` for each of them.
    fn remove_each(
        &self,
        hashes: &mut Hashes<'_>,
        values: BatchValues<'_>,
        removed: &mut [bool],
        count: &mut usize,
    );

    fn get(&self, mixed: u64) -> Option<u16>;

    /// Looks up the values of many keys, and returns the number of keys that were found.
    fn get_each(&self, hashes: &mut Hashes<'_>, answers: Answers<'_>) -> usize;

    fn values(&self, mixed: u64) -> Values;

    fn contains_value(&self, mixed: u64, value: u16) -> bool;

    fn replace(&self, mixed: u64, old: u16, new: u16) -> bool;

    /// Adds all copies of another engine, or none. The other one must have the same layout, and as
    /// many buckets (at first, if it grows). Only where items stay until they are removed.
    fn merge(&self, other: &Self) -> Merged;

    /// The clock. The operations from here to [`sweep`](Self::sweep) are those of items that
    /// expire.
    fn clock(&self) -> &Clock {
        self.table().clock()
    }

    fn is_visible(&self, mixed: u64) -> bool;

    /// Looks up items, and returns the number of those that are visible.
    fn visible_each(&self, hashes: &mut Hashes<'_>, answers: Answers<'_>) -> usize;

    /// Inserts an item, for a shorter life if there is one. Returns the generation of its stamp.
    fn insert_for(&self, mixed: u64, life: Option<Life>) -> Result<u64, InsertError>;

    /// As [`insert_for`](Self::insert_for), unless the item is visible. Returns the generation of
    /// its stamp if it was inserted.
    fn insert_unseen(&self, mixed: u64, life: Option<Life>) -> Result<Option<u64>, InsertError>;

    /// Inserts an item, or refreshes it if it is visible. Returns the generation of its stamp if it
    /// was inserted.
    fn insert_or_refresh(&self, mixed: u64) -> Result<Option<u64>, InsertError>;

    /// Inserts each of many items that is not visible, and refreshes the others if the call
    /// `refreshes`.
    fn insert_unseen_each(
        &self,
        hashes: &mut Hashes<'_>,
        outcomes: &mut Outcomes<'_>,
        refreshes: bool,
    );

    fn refresh(&self, mixed: u64) -> bool;

    /// Refreshes items. Writes which of them were found.
    fn refresh_each(&self, hashes: &mut Hashes<'_>, answers: Answers<'_>);

    /// Removes a copy with the stamp of a generation.
    fn remove_of(&self, mixed: u64, generation: u64) -> bool;

    /// Begins the next generation, and returns it.
    fn advance(&self) -> u64;

    fn sweep(&self, buckets: u64) -> u64;

    fn layout(&self) -> Layout;

    /// The number of buckets in use.
    fn buckets(&self) -> u64;

    /// The layout, and the number of buckets before the engine grew. Only engines in which these
    /// are equal can be merged.
    fn first(&self) -> (Layout, u64) {
        (self.layout(), self.buckets())
    }

    fn capacity(&self) -> usize;

    fn false_positive_rate(&self) -> f64;

    /// Bytes on the heap.
    fn size_in_bytes(&self) -> usize;

    /// How batches are looked up.
    #[cfg(feature = "raw")]
    fn kernel(&self) -> crate::table::Kernel;

    /// The bytes of the next growth, unless there will be none.
    fn next_growth(&self) -> Option<usize> {
        None
    }

    /// Sets the cap in bytes: an engine that grows takes no memory that would exceed it.
    fn set_max_bytes(&self, _max_bytes: usize) {}

    /// Releases buckets that the items do not need, in about this many steps.
    fn shrink(&mut self, _steps: u64) -> Shrinking {
        Shrinking::Unchanged
    }
}

/// Returns the starts of writes for items in the order of their positions: one for every block, so
/// that the last items of a long batch live as long as the first ones.
#[inline]
fn starts<S: Blocks, L: Words<S>>(table: &Table<S>) -> impl FnMut(usize) -> Start {
    let mut start = None;
    move |position| {
        if position.is_multiple_of(BLOCK) {
            start = None;
        }
        *start.get_or_insert_with(|| table.start::<L>())
    }
}

/// Returns the values of items, which are asked for in the order of their positions.
#[inline]
fn values_of<S: Blocks, L: Words<S>>(
    table: &Table<S>,
    values: BatchValues<'_>,
) -> impl FnMut(usize) -> u16 {
    let mut start = starts::<S, L>(table);
    move |position| match values {
        BatchValues::Stamps => table.clock().stamp(start(position).word()),
        _ => values.of(position),
    }
}

/// Inserts each of many items that is not visible, and refreshes the others if the call
/// `refreshes`.
fn insert_unseen_items<S: Blocks, L: Words<S>>(
    table: &Table<S>,
    hashes: &mut Hashes<'_>,
    outcomes: &mut Outcomes<'_>,
    refreshes: bool,
) {
    let mut start = starts::<S, L>(table);
    insert_absent_items(table, hashes, outcomes, |position, item| {
        let start = start(position);
        let inserted = if refreshes {
            table.insert_or_refresh_from::<L>(start, item)
        } else {
            table.insert_unseen_from::<L>(start, item, 0)
        };
        inserted.map(|generation| generation.is_some())
    });
}

/// Refreshes items. Writes which of them were found.
fn refresh_items<S: Blocks, L: Words<S>>(
    table: &Table<S>,
    hashes: &mut Hashes<'_>,
    mut answers: Answers<'_>,
) {
    let mut start = starts::<S, L>(table);
    table.for_each_item(hashes, |position, item| {
        let found = table.refresh_from::<L>(start(position), item);
        answers.set(position, found.then_some(0));
    });
}

/// The age of a copy that is to live for this long after a start.
fn age<S: Space>(table: &Table<S>, start: Start, life: Option<Life>) -> Result<u32, InsertError> {
    life.map_or(Ok(0), |life| life.age(table.clock(), start))
}

/// Inserts each of many items that is absent, by `insert`, which takes the position of an item, too,
/// and returns whether it was inserted.
#[inline]
fn insert_absent_items<S: Blocks>(
    table: &Table<S>,
    hashes: &mut Hashes<'_>,
    outcomes: &mut Outcomes<'_>,
    mut insert: impl FnMut(usize, S::Item) -> Result<bool, InsertError>,
) {
    table.for_each_item(hashes, |position, item| {
        if !outcomes.ended() {
            outcomes.take(position, insert(position, item));
        }
    });
}

/// Removes each of many items by `remove`, which returns whether it was there. Writes which were
/// removed, and adds 1 to `count` for each of them.
#[inline]
fn remove_items<S: Blocks>(
    table: &Table<S>,
    hashes: &mut Hashes<'_>,
    removed: &mut [bool],
    count: &mut usize,
    remove: impl Fn(usize, S::Item) -> bool,
) {
    table.for_each_item(hashes, |position, item| {
        removed[position] = remove(position, item);
        *count += usize::from(removed[position]);
    });
}
