//! Writers that stop or panic between two steps. Run by
//! `RUSTFLAGS="--cfg guira_steps" cargo test --test progress`. Without the cfg there are
//! no tests here.
//!
//! Each writer is stopped before its first step, then in a new table before its second, and so on
//! to its last. A step is an access to a bucket or to a version, or the acquisition of a lock.
//! While the writer is stopped, lookups must be right and inserts into buckets with an empty slot
//! must succeed, in as many steps as without the writer, and without a lock. Then each writer
//! panics before each of its steps instead. It must leave every lock free and every item in the
//! table.

#![cfg(guira_steps)]

mod common;
mod steps;
