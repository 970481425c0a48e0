//! Maps: filters whose items have small values.

mod by_hash;
mod engine;
mod fixed;
mod items;
mod outcome;

pub(super) use engine::MapSteps;
pub use engine::{Mappable, Mapped};
pub use outcome::Values;

use super::{DefaultHashBuilder, Filter, Fixed};

/// A map with a fixed capacity: the [`Filter`] of one table whose slots hold a fingerprint and a
/// value.
///
/// ```
/// use guira::CuckooMap;
///
/// let workers = CuckooMap::builder().capacity(1_000).value_bits(4).build()?;
/// workers.insert("flow 17", 3).unwrap();
/// assert_eq!(workers.get("flow 17"), Some(3));
/// # Ok::<(), guira::BuildError>(())
/// ```
pub type CuckooMap<S = DefaultHashBuilder> = Filter<Mapped<Fixed>, S>;
