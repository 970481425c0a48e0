//! The settings of the module.

use std::{
    ops::Range,
    sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed},
};

use crate::{error::Error, stream::Settings};

/// Largest memory of a filter in bytes, unless the server is told otherwise.
const DEFAULT_MAX_FILTER_BYTES: i64 = 1 << 30;

/// Largest memory of a filter, in bytes.
pub static MAX_FILTER_BYTES: AtomicI64 = AtomicI64::new(DEFAULT_MAX_FILTER_BYTES);
/// Capacity of filters that a command creates without one.
pub static CAPACITY: AtomicI64 = AtomicI64::new(1024);
/// Expansion of filters that are created without one.
pub static EXPANSION: AtomicI64 = AtomicI64::new(1);
/// Bits of the false-positive rate of filters that are created without one.
pub static ERROR_RATE: AtomicU64 = AtomicU64::new(0.01f64.to_bits());

/// A number among the settings.
pub struct Numeric {
    /// Its name, without that of the module.
    pub name: &'static std::ffi::CStr,
    /// Where its value is kept.
    pub place: &'static AtomicI64,
    /// Its smallest and its largest value.
    pub range: (i64, i64),
    /// Whether it is a number of bytes, with a unit.
    pub bytes: bool,
}

/// All numbers among the settings.
pub static NUMBERS: [Numeric; 3] = [
    Numeric {
        name: c"max-filter-bytes",
        place: &MAX_FILTER_BYTES,
        range: (4096, 1 << 37),
        bytes: true,
    },
    Numeric { name: c"capacity", place: &CAPACITY, range: (1, 1 << 32), bytes: false },
    Numeric { name: c"expansion", place: &EXPANSION, range: (0, 32_768), bytes: false },
];

/// Largest memory of a filter, in bytes.
pub fn max_filter_bytes() -> usize {
    MAX_FILTER_BYTES.load(Relaxed) as usize
}

/// The memory that a filter may take, in bytes.
#[derive(Clone, Copy)]
pub struct Limits {
    /// What it may take in all.
    pub filter: usize,
    /// What may be allocated under the server's `maxmemory`.
    pub free: usize,
}

impl Limits {
    pub const NONE: Self = Self { filter: usize::MAX, free: usize::MAX };

    /// What a new filter may take.
    pub fn of_new(self) -> usize {
        self.filter.min(self.free)
    }

    /// The error for a new filter that needs more than it may take.
    pub fn exceeded(self, needed: u64) -> Error {
        if needed <= self.filter as u64 {
            return Error::OutOfMemory;
        }
        Error::text(format!(
            "the filter needs {needed} bytes, more than guira.max-filter-bytes allows"
        ))
    }
}

/// The settings of a filter that is created without any.
pub fn defaults() -> Settings {
    Settings {
        capacity: CAPACITY.load(Relaxed) as u64,
        error_rate: f64::from_bits(ERROR_RATE.load(Relaxed)),
        bucket_size: 0,
        max_iterations: 20,
        expansion: expansion(EXPANSION.load(Relaxed) as u16),
    }
}

/// The expansion that a filter gets for the requested one: zero, or a power of two.
pub fn expansion(requested: u16) -> u16 {
    if requested == 0 { 0 } else { requested.next_power_of_two() }
}

/// The false-positive rates that a filter can have. With a lower one, not every filter could be
/// built.
pub const ERROR_RATES: Range<f64> = 0.000_05..1.0;

/// Returns the false-positive rate that this text is, if it is valid.
pub fn error_rate(text: &[u8]) -> Option<f64> {
    let rate = str::from_utf8(text).ok()?.parse().ok()?;
    ERROR_RATES.contains(&rate).then_some(rate)
}
