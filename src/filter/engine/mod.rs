//! Engines: where a filter keeps its items. The front end is the same for all of them.

/// Declares the operations of some contents, and implements them for both engines. In a body,
/// `by_layout!` is the macro of the engine's layouts. (`@inline` marks what is inline.)
///
/// The other operations are compiled once, and not in every place that uses a filter: they contain
/// the code of all types of buckets (see `with_layout`), and a call costs little beside them.
macro_rules! operations {
    (
        $(#[$about:meta])*
        trait $name:ident for $payload:ty;
        $(
            $(#[$doc:meta])*
            $(@$inline:ident)? fn $operation:ident(
                &$self:ident $(, $argument:ident: $type:ty)* $(,)?
            ) $(-> $result:ty)? $body:block
        )*
    ) => {
        $(#[$about])*
        pub(crate) trait $name: Engine {
            $($(#[$doc])* fn $operation(&self $(, $argument: $type)*) $(-> $result)?;)*
        }

        const _: () = {
            use by_value as by_layout;

            impl $name for FixedEngine<$payload> {
                $(
                    $(#[$inline])?
                    fn $operation(&$self $(, $argument: $type)*) $(-> $result)? $body
                )*
            }
        };

        const _: () = {
            use crate::bucket::with_growing_layout as by_layout;

            impl $name for SplittingEngine<$payload> {
                $(
                    $(#[$inline])?
                    fn $operation(&$self $(, $argument: $type)*) $(-> $result)? $body
                )*
            }
        };
    };
}

/// Evaluates the body with `$L` bound to the layouts of a fixed size, which are values.
macro_rules! by_value {
    ($layout:expr, $L:ident => $body:expr) => {{
        type $L = crate::table::FixedWords;
        $body
    }};
}

/// What both engines have of [`Engine`] by the same text, over their table and its layouts.
macro_rules! of_the_table {
    ($table:ty, $with_layout:ident) => {
        fn table(&self) -> &$table {
            &self.table
        }

        fn count(&self, mixed: u64) -> usize {
            $with_layout!(self.layout, L => {
                self.table.count::<L>(self.table.fetched_with_stripe::<L>(mixed))
            })
        }

        fn layout(&self) -> Layout {
            self.layout
        }

        fn size_in_bytes(&self) -> usize {
            self.table.size_in_bytes()
        }
    };
}

/// Implements something for the engines of each payload, by the same text, in which `by_layout!` is
/// the macro of the layouts of a fixed size that the payload has. Not by a generic implementation:
/// every crate that uses one would compile it anew.
macro_rules! for_each_payload {
    (@ $payload:ident = $type:ident: $($implementation:tt)*) => {
        const _: () = {
            type $payload = crate::table::$type;
            $($implementation)*
        };
    };
    ($payload:ident: $($implementation:tt)*) => {
        for_each_payload!(@ $payload = Bare: $($implementation)*);
        for_each_payload!(@ $payload = Valued: $($implementation)*);
        for_each_payload!(@ $payload = Aged: $($implementation)*);
    };
}

mod expiring;
mod fixed;
mod map;
#[cfg(loom)]
mod model;
mod set;
mod splitting;

#[cfg(not(feature = "std"))]
use core::marker::Sized as Saved;

use super::builder::Settings;
#[cfg(feature = "std")]
use super::snapshot::Saved;
#[cfg(guira_vectors)]
use crate::table::{ContainsOne, split::GrowingTable};
use crate::{
    BuildError, InsertError, Layout,
    filter::batch::Outcomes,
    table::{
        Answers, ClockState, Hashes, MAX_LAG, MAX_READING, Merged, Payload, ShardedCounter, Space,
        Table, Words, split::Shrinking,
    },
};
pub(super) use expiring::ExpiringEngine;
pub use fixed::FixedEngine;
pub(super) use map::MapEngine;
pub(super) use set::SetEngine;
pub use splitting::SplittingEngine;

/// What the library alone knows of the contents of a filter. The engine is chosen by it, at compile
/// time: see `kind.rs`.
#[expect(private_bounds, reason = "sealed")]
pub trait Contents: Copy + 'static {
    /// The engine of filters with these contents.
    type Engine<G: Growth>: Engine;
    /// The number in the format of snapshots.
    const NUMBER: u8;
    /// Default number of bits of a value, if items have values.
    const DEFAULT_VALUE_BITS: Option<u32> = None;
    /// The default window, if items expire.
    const DEFAULT_WINDOW: Option<u32> = None;
}

/// What the library alone knows of the growth of a filter.
#[expect(private_bounds, reason = "sealed")]
pub trait Growth: Copy + 'static {
    /// Whether filters grow.
    const GROWS: bool;
    /// The engine of sets.
    type Set: SetEngine;
    /// The engine of maps.
    type Map: MapEngine;
    /// The engine of filters whose items expire.
    type Expiring: ExpiringEngine;
}

/// What the slots of a table hold beside fingerprints, and what engines know of it.
pub(crate) trait Content: Payload + Send + Sync + 'static {
    /// The names that `Debug` shows: without growth, and with it.
    const NAMES: [&'static str; 2];

    /// The contents of a table with this layout, and with this clock if it has one.
    fn of(layout: Layout, clock: Option<ClockState>) -> Self;

    /// The fastest single lookup in a table that grows, for a kernel that is available, if there is
    /// one that can serve it.
    #[cfg(guira_vectors)]
    fn contains_one(
        _table: &GrowingTable<Self>,
        _layout: Layout,
        _kernel: crate::table::Kernel,
    ) -> Option<ContainsOne> {
        None
    }
}

/// A reading of a clock in nanoseconds, or the largest one: 584 years.
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

    /// The time to live divided by the window, rounded up, if there is one. The largest reading of
    /// a clock makes the longest interval due.
    pub(super) fn interval(&self, window: u32) -> Option<u64> {
        let nanos = self.time_to_live?.as_nanos();
        // What is inserted may be older by this time than the filter knows.
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

/// The lookups of every engine, on [mixed](crate::table::mix) hashes.
///
/// The lookup, and in one table the insert into an empty slot, are inline.
pub(crate) trait Lookups {
    fn contains(&self, mixed: u64) -> bool;

    /// Looks up `len` items, and returns the number of those that were found.
    fn contains_each(&self, len: usize, hashes: &mut Hashes<'_>, answers: Answers<'_>) -> usize;
}

/// What every engine provides; the front end documents it. No engine updates the number of items,
/// which the front end keeps.
pub(crate) trait Engine: Lookups + Saved + Sized + Send + Sync + 'static {
    /// The buckets of its table.
    type Space: Space;

    /// The name that `Debug` shows.
    const NAME: &'static str;

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

    fn count(&self, mixed: u64) -> usize;

    /// Adds all copies of another engine, or none. It has the same layout, and as many buckets (at
    /// first, if it grows). Only if items stay until they are removed.
    fn merge(&self, other: &Self) -> Merged;

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

    /// Releases what the items do not need, in about as many steps.
    fn shrink(&mut self, _steps: u64) -> Shrinking {
        Shrinking::Unchanged
    }
}

/// Inserts each of many items that is absent, by `insert`, which returns whether it was.
#[inline]
fn insert_absent_items<L: Words<S>, S: Space>(
    table: &Table<S>,
    hashes: &mut Hashes<'_>,
    outcomes: &mut Outcomes<'_>,
    insert: impl Fn(S::Item) -> Result<bool, InsertError>,
) {
    L::for_each_item(table, hashes, |position, item| {
        if !outcomes.ended() {
            outcomes.take(position, insert(item));
        }
    });
}

/// Removes many items, of which `complete` returns each with its value. Writes which items were
/// removed, and adds 1 to `count` for each of them.
#[inline]
fn remove_items<L: Words<S>, S: Space>(
    table: &Table<S>,
    hashes: &mut Hashes<'_>,
    removed: &mut [bool],
    count: &mut usize,
    complete: impl Fn(usize, S::Item) -> S::Item,
) {
    L::for_each_item(table, hashes, |position, item| {
        removed[position] = table.remove::<L>(complete(position, item));
        *count += usize::from(removed[position]);
    });
}

/// Writes what `find` returns for each of many items. Returns the number of those that it found.
#[inline]
fn answer_items<L: Words<S>, S: Space>(
    table: &Table<S>,
    hashes: &mut Hashes<'_>,
    mut answers: Answers<'_>,
    find: impl Fn(S::Item) -> Option<u16>,
) -> usize {
    let mut count = 0;
    L::for_each_item(table, hashes, |position, item| {
        let found = find(item);
        answers.set(position, found);
        count += usize::from(found.is_some());
    });
    count
}
