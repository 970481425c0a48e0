//! Filters whose items expire.

mod by_hash;
mod items;

use super::{DefaultHashBuilder, Engine, Filter, Fixed};
use crate::table::Aged;

/// The engine of an [`ExpiringFilter`]: one table, whose slots have a generation.
pub type Expiring = Fixed<Aged>;

/// A filter whose items expire.
///
/// ```
/// use guira::ExpiringFilter;
///
/// let seen = ExpiringFilter::builder().capacity(1_000).window(1).build()?;
/// seen.insert("nonce").unwrap();
/// seen.advance();
/// assert!(seen.contains("nonce"));
/// seen.advance();
/// assert!(!seen.contains("nonce"));
/// # Ok::<(), guira::BuildError>(())
/// ```
pub type ExpiringFilter<S = DefaultHashBuilder> = Filter<Expiring, S>;

impl Engine for Expiring {}
