//! Filters that keep time, by a clock that a model sets.

use std::cell::Cell;

use guira::{
    ExpiringFilter, GrowingExpiringFilter, Layout,
    raw::{ClockState, FixedTable, Limits, Payload, TimeSource},
};

use crate::{
    expiry::{SLOTS, START, WINDOW},
    splits::growing,
};

/// Nanoseconds of a generation. The first one ends at this time.
pub const INTERVAL: u64 = 10;

thread_local! {
    /// All threads of a model are one thread of the system.
    static NOW: Cell<u64> = const { Cell::new(0) };
}

/// Sets the time. Threads see it at once.
pub fn set_time(now: u64) {
    NOW.set(now);
}

/// The clock of a filter that keeps time, in its first generation, at the time zero.
fn clock() -> Option<ClockState> {
    set_time(0);
    let time = Some(TimeSource(|| NOW.get()));
    Some(ClockState { time, ..ClockState::new(WINDOW, START, INTERVAL) })
}

/// Returns a filter of two buckets, none of which are swept yet. A write sweeps one of them.
///
/// # Panics
/// If there is no memory.
#[must_use]
pub fn filter() -> ExpiringFilter {
    let table = FixedTable::new(SLOTS, 2, Payload::stamps(2, WINDOW, START), false);
    let layout = Layout::with_values(2, 2).expect("a layout");
    ExpiringFilter::around(table.expect("memory for a few words"), layout, clock(), None)
}

/// As [`filter`], for one that can grow to four buckets.
///
/// # Panics
/// If there is no memory.
#[must_use]
pub fn growing_filter() -> GrowingExpiringFilter {
    let limits = Limits { buckets: 4, load: 256 };
    let aged = Payload::stamps(2, WINDOW, START);
    let layout = Layout::growing(2, 2).expect("a layout");
    GrowingExpiringFilter::around(growing(aged, 2, limits), layout, clock(), None)
}
