//! The settings of the module.

use std::{
    ops::Range,
    sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed},
};

use valkey_module::{
    Context,
    configuration::{ConfigurationFlags, register_i64_configuration},
};

use crate::{error::Error, stream::Settings};

/// Largest memory of a filter, in bytes.
static MAX_FILTER_BYTES: AtomicI64 = AtomicI64::new(1 << 30);
/// Capacity of filters that a command creates without one.
static CAPACITY: AtomicI64 = AtomicI64::new(1024);
/// Expansion of filters that are created without one.
static EXPANSION: AtomicI64 = AtomicI64::new(1);
/// Bits of the false-positive rate of filters that are created without one.
static ERROR_RATE: AtomicU64 = AtomicU64::new(0.01f64.to_bits());

/// Registers the numbers among the settings.
pub fn register_numbers(context: &Context) {
    let register = |name, place: &'static AtomicI64, smallest, largest, flags| {
        let default = place.load(Relaxed);
        register_i64_configuration(
            context, name, place, default, smallest, largest, flags, None, None,
        );
    };
    register("max-filter-bytes", &MAX_FILTER_BYTES, 4096, 1 << 37, ConfigurationFlags::MEMORY);
    register("capacity", &CAPACITY, 1, 1 << 32, ConfigurationFlags::DEFAULT);
    register("expansion", &EXPANSION, 0, 32_768, ConfigurationFlags::DEFAULT);
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

    /// The configured limit of a filter, and this one.
    pub fn configured(free: usize) -> Self {
        Self { filter: MAX_FILTER_BYTES.load(Relaxed) as usize, free }
    }

    /// The error for a new filter that needs more than it may take.
    pub fn exceeded(self, needed: u64) -> Error {
        if needed <= self.filter as u64 {
            return Error::OUT_OF_MEMORY;
        }
        Error::text(format_args!(
            "the filter needs {needed} bytes, more than guira.max-filter-bytes allows"
        ))
    }
}

pub fn default_error_rate() -> f64 {
    f64::from_bits(ERROR_RATE.load(Relaxed))
}

pub fn set_default_error_rate(rate: f64) {
    ERROR_RATE.store(rate.to_bits(), Relaxed);
}

/// The settings of a filter that is created without any.
pub fn defaults() -> Settings {
    Settings {
        capacity: CAPACITY.load(Relaxed) as u64,
        error_rate: default_error_rate(),
        bucket_size: 0,
        max_iterations: 20,
        expansion: expansion(EXPANSION.load(Relaxed) as u16),
        deleted: 0,
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
