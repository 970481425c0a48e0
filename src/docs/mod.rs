//! Design documents: how the filter works, how it stands beside a cache, what has been checked, and where its limits are.

#[doc = include_str!("caches.md")]
pub mod caches {}

#[doc = include_str!("design.md")]
pub mod design {}

#[doc = include_str!("limits.md")]
pub mod limits {}

#[doc = include_str!("snapshots.md")]
pub mod snapshots {}

#[doc = include_str!("speed.md")]
pub mod speed {}

#[doc = include_str!("verification.md")]
pub mod verification {}
