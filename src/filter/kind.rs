//! The two axes of a filter: its [`Contents`] and its [`Growth`].
//!
//! Only code that is generic over filters needs these names:
//!
//! ```
//! use guira::{CuckooFilter, Filter, kind::{Contents, Growth}};
//!
//! fn describe<C: Contents, G: Growth, S>(filter: &Filter<C, G, S>) -> String {
//!     format!("{} items in {} bytes", filter.len(), filter.size_in_bytes())
//! }
//!
//! assert!(describe(&CuckooFilter::with_capacity(4)).starts_with("0 items"));
//! ```

use super::engine::{self, FixedEngine, SplittingEngine};

/// What a filter keeps of each key: [`Set`], [`Map`], or [`Expiring`]. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the contents of a filter",
    label = "expected `Set`, `Map`, or `Expiring`",
    note = "the hasher is the only parameter of `CuckooFilter<S>` and its siblings"
)]
pub trait Contents: engine::ContentsParts {}

/// [`Contents`] that stay until they are removed: [`Set`] and [`Map`]. Only such filters can be
/// [merged](crate::Filter::merge), and can limit [copies](crate::FilterBuilder::max_copies).
/// Sealed.
#[diagnostic::on_unimplemented(
    message = "the items of a filter of `{Self}` do not stay until they are removed",
    label = "expected `Set` or `Map`",
    note = "filters whose items expire cannot be merged, and have no limit on copies"
)]
pub trait Permanent: Contents {}

/// Whether a filter grows: [`Fixed`] or [`Growing`]. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a growth of a filter",
    label = "expected `Fixed` or `Growing`",
    note = "the hasher is the only parameter of `CuckooFilter<S>` and its siblings"
)]
pub trait Growth: engine::GrowthParts {}

/// [`Contents`]: keys alone.
#[derive(Clone, Copy, Debug)]
pub enum Set {}

/// [`Contents`]: keys with values.
#[derive(Clone, Copy, Debug)]
pub enum Map {}

/// [`Contents`]: keys with the generation of their insert.
#[derive(Clone, Copy, Debug)]
pub enum Expiring {}

/// [`Growth`]: one table, built for a capacity.
#[derive(Clone, Copy, Debug)]
pub enum Fixed {}

/// [`Growth`]: the filter grows with the number of its items.
#[derive(Clone, Copy, Debug)]
pub enum Growing {}

impl Contents for Set {}
impl Contents for Map {}
impl Contents for Expiring {}
impl Permanent for Set {}
impl Permanent for Map {}
impl Growth for Fixed {}
impl Growth for Growing {}

impl engine::ContentsParts for Set {
    const NAMES: [&'static str; 2] = ["CuckooFilter", "GrowingFilter"];
    const NUMBER: u8 = 0;
}

impl engine::ContentsParts for Map {
    const NAMES: [&'static str; 2] = ["CuckooMap", "GrowingMap"];
    const NUMBER: u8 = 1;
    const DEFAULT_VALUE_BITS: Option<u32> = Some(8);
}

impl engine::ContentsParts for Expiring {
    const NAMES: [&'static str; 2] = ["ExpiringFilter", "GrowingExpiringFilter"];
    const NUMBER: u8 = 2;
    const EXPIRES: bool = true;
}

impl engine::GrowthParts for Fixed {
    const GROWS: bool = false;
    type Engine = FixedEngine;
}

impl engine::GrowthParts for Growing {
    const GROWS: bool = true;
    type Engine = SplittingEngine;
}

/// The name of a filter.
pub(super) const fn name<C: Contents, G: Growth>() -> &'static str {
    C::NAMES[G::GROWS as usize]
}

/// The names of filters, by the numbers of their contents and of their growth.
#[cfg(feature = "std")]
pub(super) const NAMES: [[&str; 2]; 3] = {
    use engine::ContentsParts;
    [Set::NAMES, Map::NAMES, Expiring::NAMES]
};
