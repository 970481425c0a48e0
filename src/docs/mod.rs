//! Guides: caches and stores, design, expiry, limits, saving, the snapshot format, speed, and
//! verification.

#[doc = include_str!("caches.md")]
pub mod caches {}

#[doc = include_str!("design.md")]
pub mod design {}

#[doc = include_str!("expiry.md")]
pub mod expiry {}

#[doc = include_str!("limits.md")]
pub mod limits {}

#[doc = include_str!("saving.md")]
pub mod saving {}

#[doc = include_str!("snapshots.md")]
pub mod snapshots {}

#[doc = include_str!("speed.md")]
pub mod speed {}

#[doc = include_str!("verification.md")]
pub mod verification {}
