//! Short names for tests of maps alone.

use guira::{
    Filter, FilterBuilder, Layout,
    kind::{self, Fixed},
};

pub use super::kind::max_value;
use super::{Subject, kind::Kind, settings};

/// A map.
pub type Map<G = Fixed> = Filter<kind::Map, G>;

/// Layouts with values: each number of slots, with values of no bits, of few, and of most.
pub fn layouts<G: Subject>() -> Vec<Layout> {
    <(kind::Map, G)>::layouts()
}

/// The builder of a map with this layout.
pub fn builder<G: Subject>(capacity: usize, layout: Layout) -> FilterBuilder<kind::Map, G> {
    settings::<(kind::Map, G)>(capacity, layout, 0)
}
