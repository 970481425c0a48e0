//! Filters with a time to live, by a clock that a model sets.

use std::{cell::Cell, sync::Arc};

use guira::{
    ExpiringFilter, GrowingExpiringFilter, Layout,
    raw::{ClockState, FixedTable, Limits, Payload, TimeSource},
};
use loom::sync::atomic::{
    AtomicU64,
    Ordering::{self, AcqRel, Acquire, Relaxed},
};

use crate::{
    expiry::{SLOTS, START, WINDOW},
    splits::growing,
};

/// Nanoseconds of a generation, and as the window is one, the time to live. The first generation
/// ends at this time. A clock counts in quarters of it.
pub const INTERVAL: u64 = 1024;
/// The time to live.
pub const TTL: u64 = INTERVAL;

thread_local! {
    /// All threads of a model are one thread of the system, so they see the time at once.
    static NOW: Cell<u64> = const { Cell::new(0) };
}

/// The time of a model. Wherever it is read or set, loom may run another thread.
#[derive(Clone)]
pub struct Time {
    steps: Arc<AtomicU64>,
    /// Whether who reads a time sees what was stored before that was set, as on any machine.
    is_ordered: bool,
}

impl Time {
    /// The time zero. Reading it orders nothing.
    #[must_use]
    pub fn new() -> Self {
        NOW.set(0);
        Self { steps: Arc::new(AtomicU64::new(0)), is_ordered: false }
    }

    /// As [`new`](Self::new), but who reads a time sees what was stored before that was set.
    #[must_use]
    pub fn ordered() -> Self {
        Self { is_ordered: true, ..Self::new() }
    }

    /// Sets the time, which never goes back.
    pub fn set(&self, now: u64) {
        self.steps.fetch_add(1, self.order(AcqRel));
        NOW.set(now.max(NOW.get()));
    }

    /// Reads the time.
    fn read(&self) -> u64 {
        if self.is_ordered {
            // A read-modify-write, so that it returns the last value.
            self.steps.fetch_or(0, Acquire);
        } else {
            self.steps.load(Relaxed);
        }
        NOW.get()
    }

    fn order(&self, ordered: Ordering) -> Ordering {
        if self.is_ordered { ordered } else { Relaxed }
    }

    /// The clock of a filter in its first generation, at the time zero.
    fn clock(&self) -> Option<ClockState> {
        let time = self.clone();
        let source = TimeSource::User(Arc::new(move || time.read()));
        Some(ClockState::timed(WINDOW, START, TTL, source))
    }
}

impl Default for Time {
    fn default() -> Self {
        Self::new()
    }
}

/// The present time, for a model's assertions.
#[must_use]
pub fn now() -> u64 {
    NOW.get()
}

/// Returns a filter of two buckets, each of two slots. A write sweeps one of them.
///
/// # Panics
/// If there is no memory.
#[must_use]
pub fn filter(time: &Time) -> ExpiringFilter {
    let table = FixedTable::new(SLOTS, 2, Payload::stamps(2, WINDOW, START), false);
    let layout = Layout::with_values(2, 2).expect("a layout");
    ExpiringFilter::around(table.expect("memory for a few words"), layout, time.clock(), None)
}

/// As [`filter`], for one that can grow to four buckets.
///
/// # Panics
/// If there is no memory.
#[must_use]
pub fn growing_filter(time: &Time) -> GrowingExpiringFilter {
    let limits = Limits { buckets: 4, load: 256, copies: 1 };
    let aged = Payload::stamps(2, WINDOW, START);
    let layout = Layout::growing(2, 2).expect("a layout");
    GrowingExpiringFilter::around(growing(aged, 2, limits), layout, time.clock(), None)
}
