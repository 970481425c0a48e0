//! What objects tell about themselves.

use guira_rs::{Engine, Filter, StableHashBuilder};

use crate::pointer::{Extensible, Plain};

/// Facts and statistics about an object. Initialize it by `GUIRA_INFO_INIT`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Info {
    /// Bytes of this struct. The `_INIT` macro sets it.
    pub size: usize,
    /// Items in the object, copies counted. Exact if no other thread writes. Items that have
    /// expired do not count.
    pub items: u64,
    /// Distinct items for which the present segments were built. Most objects hold a few more.
    pub capacity: u64,
    /// Slots: an upper bound on the items.
    pub slots: u64,
    /// Bytes of the object and all that it has allocated.
    pub bytes: u64,
    /// Bytes that the next segment of a growing object will take, or 0 if it cannot grow.
    pub next_growth_bytes: u64,
    /// Upper bound on the false-positive rate, while there are no more items than `capacity`. With
    /// fewer items the rate is lower, in proportion.
    pub false_positive_rate: f64,
    /// `items / slots`, 0 to 1. Slots that have expired and are not swept yet do not count.
    pub load_factor: f64,
    /// The present generation of an expiring set, otherwise 0.
    pub generation: u64,
    /// The window of an expiring set in generations, otherwise 0.
    pub window: u32,
    /// Segments. An object that does not grow has one.
    pub segments: u32,
    /// Slots per bucket, in the last segment.
    pub slots_per_bucket: u32,
    /// Bits of a fingerprint, in the last segment.
    pub fingerprint_bits: u32,
    /// Bits of a value of a map, otherwise 0.
    pub value_bits: u32,
    /// 1 if the object grows, otherwise 0.
    pub growing: u32,
}

// SAFETY: numbers; they begin with a `usize`.
unsafe impl Plain for Info {}
// SAFETY: as above.
unsafe impl Extensible for Info {}

impl Info {
    /// What every object tells.
    pub fn of<E: Engine>(filter: &Filter<E, StableHashBuilder>) -> Self {
        let layout = filter.layout();
        Self {
            size: 0,
            items: filter.len() as u64,
            capacity: filter.capacity() as u64,
            slots: filter.slots() as u64,
            bytes: filter.size_in_bytes() as u64,
            next_growth_bytes: 0,
            false_positive_rate: filter.false_positive_rate(),
            load_factor: filter.load_factor(),
            generation: 0,
            window: 0,
            segments: filter.segments().len() as u32,
            slots_per_bucket: layout.slots_per_bucket(),
            fingerprint_bits: layout.fingerprint_bits(),
            value_bits: 0,
            growing: 0,
        }
    }
}
