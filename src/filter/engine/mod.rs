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
    BuildError, InsertError, Layout,
    filter::{
        Values,
        batch::{BatchValues, Outcomes},
    },
    table::{
        Answers, Blocks, ClockState, Generations, Hashes, MAX_LAG, MAX_READING, Merged, Payload,
        ShardedCounter, Table, split::Shrinking,
    },
};
pub use fixed::FixedEngine;
pub use splitting::SplittingEngine;

/// The internal part of [`kind::Contents`](crate::kind::Contents).
pub trait Contents: Copy + 'static {
    /// The names that `Debug` shows: without growth, and with it.
    const NAMES: [&'static str; 2];
    /// The number in the format of snapshots.
    const NUMBER: u8;
    /// Default number of bits of a value, if items have values.
    const DEFAULT_VALUE_BITS: Option<u32> = None;
    /// The default window, if items expire.
    const DEFAULT_WINDOW: Option<u32> = None;
    /// Whether items expire.
    const EXPIRES: bool = Self::DEFAULT_WINDOW.is_some();
}

/// The internal part of [`kind::Growth`](crate::kind::Growth).
#[expect(private_bounds, reason = "sealed")]
pub trait Growth: Copy + 'static {
    /// Whether filters grow.
    const GROWS: bool;
    /// The engine, whatever the contents are.
    type Engine: Engine;
}

/// What slots of this layout hold beside fingerprints: stamps if there is a clock, else values.
pub(super) fn payload(layout: Layout, clock: Option<ClockState>) -> Payload {
    let bits = layout.value_bits();
    clock.map_or(Payload::values(bits), |clock| {
        Payload::stamps(bits, clock.window, clock.generation)
    })
}

/// A reading of a clock in nanoseconds. One of more than 584 years becomes the largest one.
pub(super) fn reading(nanos: u128) -> u64 {
    u64::try_from(nanos).map_or(MAX_READING, |nanos| nanos.min(MAX_READING))
}

/// Bytes of this many buckets.
pub(super) fn bytes_of(buckets: u64) -> usize {
    usize::try_from(buckets * 8).unwrap_or(usize::MAX)
}

impl Settings {
    /// The clock of a new engine, if its items expire.
    pub(super) fn new_clock(&self) -> Option<ClockState> {
        let window = self.window?;
        let interval = self.interval(window).unwrap_or(0);
        Some(ClockState { time: self.time, ..ClockState::new(window, window.into(), interval) })
    }

    /// The nanoseconds of a generation, if there is a time to live: that time, and what the
    /// filter's own clock may lag, divided by the window and rounded up.
    pub(super) fn interval(&self, window: u32) -> Option<u64> {
        let nanos = self.time_to_live?.as_nanos();
        // With its own clock, the filter may learn of a generation this much too late.
        let lag = self.time.map_or(0, |_| MAX_LAG);
        Some(reading((nanos + u128::from(lag)).div_ceil(window.into()).max(1)))
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
/// that uses a filter (but for what takes a caller's clock): a call costs little beside it.
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
    fn clock(&self) -> &Generations {
        self.table().clock()
    }

    fn is_visible(&self, mixed: u64) -> bool;

    /// Looks up items, and returns the number of those that are visible.
    fn visible_each(&self, hashes: &mut Hashes<'_>, answers: Answers<'_>) -> usize;

    /// Inserts an item for a number of generations, at most the window. Returns the generation of
    /// its stamp.
    fn insert_for(&self, mixed: u64, life: u32) -> Result<u64, InsertError>;

    /// Inserts an item for a number of generations, at most the window, unless it is visible.
    /// Returns the generation of its stamp if it was inserted.
    fn insert_unseen(&self, mixed: u64, life: u32) -> Result<Option<u64>, InsertError>;

    /// Inserts each of many items that is not visible.
    fn insert_unseen_each(&self, hashes: &mut Hashes<'_>, outcomes: &mut Outcomes<'_>);

    fn refresh(&self, mixed: u64) -> bool;

    /// Refreshes items. Writes which of them were found.
    fn refresh_each(&self, hashes: &mut Hashes<'_>, answers: Answers<'_>);

    /// Removes a copy with the stamp of a generation.
    fn remove_of(&self, mixed: u64, generation: u64) -> bool;

    /// Begins the next generation, and returns it.
    fn advance(&self) -> u64;

    /// Does all work that is due by the table's own clock, if it has one. Returns the generation.
    fn tick(&self) -> Option<u64>;

    /// Before a write: does a part of what is due by the table's own clock, if it has one.
    fn keep_time(&self);

    /// After a batch of this many items: does more of what is due by the table's own clock.
    fn catch_up(&self, items: usize);

    /// Begins the next generation if it is due by the caller's clock, and returns it.
    fn tick_by(&self, clock: impl Fn() -> u64) -> Option<u64>;

    /// Begins the generations that are due by the caller's clock after a time without use.
    fn advance_to(&self, clock: impl Fn() -> u64) -> u64;

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

/// Inserts each of many items that is absent, by `insert`, which returns whether it was inserted.
#[inline]
fn insert_absent_items<S: Blocks>(
    table: &Table<S>,
    hashes: &mut Hashes<'_>,
    outcomes: &mut Outcomes<'_>,
    insert: impl Fn(S::Item) -> Result<bool, InsertError>,
) {
    table.for_each_item(hashes, |position, item| {
        if !outcomes.ended() {
            outcomes.take(position, insert(item));
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

/// Writes what `find` returns for each of many items. Returns the number of those that it found.
#[inline]
fn answer_items<S: Blocks>(
    table: &Table<S>,
    hashes: &mut Hashes<'_>,
    mut answers: Answers<'_>,
    find: impl Fn(S::Item) -> Option<u16>,
) -> usize {
    let mut count = 0;
    table.for_each_item(hashes, |position, item| {
        let found = find(item);
        answers.set(position, found);
        count += usize::from(found.is_some());
    });
    count
}
