//! Filters whose items expire: their operations, lookups beside sweeps, and bits per item beside
//! what is used in their place.

mod filled;
mod inserts;
mod operations;
mod space;
mod sweeps;

pub use self::{inserts::Inserts, operations::Operations, space::Space, sweeps::Sweeps};
