//! The table that grows by splitting its buckets one by one.

#![allow(dead_code, unused_imports, reason = "no engine uses it yet")]

mod choice;

pub(crate) use choice::{Choice, Wanted, choose, full_rate, items_at_target_load, largest, rate};
