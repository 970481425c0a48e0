//! Filters around the tables of loom's models, which choose where each item is.

use core::num::NonZero;

use super::{Engine, FixedEngine, SplittingEngine};
use crate::{
    Filter, Layout, StableHashBuilder,
    filter::hasher::hasher_seed,
    kind::{Contents, Fixed, Growing, Growth},
    table::{ClockState, FixedTable, split::GrowingTable},
};

impl<C: Contents> Filter<C, Fixed> {
    /// Returns a filter around an empty table, whose words have this layout, with this limit on
    /// copies.
    #[must_use]
    pub fn around(
        mut table: FixedTable,
        layout: Layout,
        clock: Option<ClockState>,
        max_copies: Option<NonZero<u8>>,
    ) -> Self {
        table.set_clock(clock.as_ref()).expect("memory");
        Self::of_model(FixedEngine { table, layout, capacity: 1, max_copies })
    }

    /// The table.
    #[must_use]
    pub fn table(&self) -> &FixedTable {
        Engine::table(&self.engine)
    }
}

impl<C: Contents> Filter<C, Growing> {
    /// Returns a filter around an empty table, whose words have this layout, with this limit on
    /// copies.
    #[must_use]
    pub fn around(
        mut table: GrowingTable,
        layout: Layout,
        clock: Option<ClockState>,
        max_copies: Option<NonZero<u8>>,
    ) -> Self {
        table.set_clock(clock.as_ref()).expect("memory");
        let max_copies = max_copies.map(Into::into);
        Self::of_model(SplittingEngine { table, layout, target: 0.5, max_copies })
    }

    /// The table.
    #[must_use]
    pub fn table(&self) -> &GrowingTable {
        Engine::table(&self.engine)
    }
}

impl<C: Contents, G: Growth> Filter<C, G> {
    /// Holds up the sweep, and with it the generation after the next one, until the result is
    /// dropped.
    #[must_use]
    pub fn pause(&self) -> Option<impl Sized + '_> {
        self.engine.clock().pause()
    }

    fn of_model(engine: G::Engine) -> Self {
        Self::from_parts(engine, 0, 0, StableHashBuilder::from_seed(hasher_seed(0)))
            .expect("memory")
    }

    /// What a table makes an item of, for a key with this hash.
    #[must_use]
    pub fn mixed_hash(&self, hash: u64) -> u64 {
        self.mix(hash)
    }
}
