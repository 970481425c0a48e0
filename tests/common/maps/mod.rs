//! What the tests of maps share.

pub mod beside;
pub mod model;

use guira::{
    Filter, FilterBuilder, Layout,
    kind::{self, Growth},
};

/// A map with the engine `E`.
pub type Map<E> = Filter<kind::Map, E>;

/// Layouts with values: each number of slots, with values of no bits, of few, and of most.
pub fn layouts() -> Vec<Layout> {
    let of = |slots| {
        [0, 1, 2, 4, 8, 13, 16].into_iter().filter_map(move |bits| Layout::with_values(slots, bits))
    };
    (2..=6).flat_map(of).collect()
}

/// The builder of a map, with this layout in its first segment.
pub fn builder<E: Growth>(capacity: usize, layout: Layout) -> FilterBuilder<kind::Map, E> {
    // The target of a chain that can start with this layout.
    let target = (layout.false_positive_rate() * 4.0).max(0.003);
    Map::<E>::builder().capacity(capacity).layout(layout).false_positive_rate(target)
}

/// The largest value that fits.
pub fn max_value(layout: Layout) -> u16 {
    ((1_u32 << layout.value_bits()) - 1) as u16
}

/// Returns up to `wanted` keys that are aliases of `key`, the first found among `tries`.
pub fn aliases<E: Growth>(
    empty: &Map<E>,
    key: u64,
    wanted: usize,
    tries: impl Iterator<Item = u64>,
) -> Vec<u64> {
    empty.insert(&key, 0).expect("the map is empty");
    let found = tries.filter(|other| empty.contains(other)).take(wanted).collect();
    empty.clear();
    found
}
