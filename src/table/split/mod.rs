//! A table that grows by splitting.

mod address;
pub use address::*;
