//! Filters around the tables of loom's models, which choose where each item is.

use core::num::NonZero;

use super::{Engine, FixedEngine, SplittingEngine};
use crate::{
    Filter, Layout, StableHashBuilder,
    filter::hasher::hasher_seed,
    kind::{Contents, Expiring, Fixed, Growing, Growth, Map, Set},
    table::{Aged, Bare, ClockState, FixedTable, Kernel, Valued, split::GrowingTable},
};

macro_rules! around {
    ($($contents:ty: $payload:ty),*) => {$(
        impl Filter<$contents, Fixed> {
            /// Returns a filter around an empty table, whose words have this layout, with this
            /// limit on copies.
            #[must_use]
            pub fn around(
                mut table: FixedTable<$payload>,
                layout: Layout,
                clock: Option<ClockState>,
                max_copies: Option<NonZero<u8>>,
            ) -> Self {
                table.set_clock(clock);
                let kernel = Kernel::Scalar;
                let new = FixedEngine::<$payload>::new;
                Self::of_model(new(table, layout, 1, false, max_copies, kernel))
            }

            /// The table.
            #[must_use]
            pub fn table(&self) -> &FixedTable<$payload> {
                Engine::table(&self.engine)
            }
        }

        impl Filter<$contents, Growing> {
            /// Returns a filter around an empty table, whose words have this layout, with this
            /// limit on copies.
            #[must_use]
            pub fn around(
                mut table: GrowingTable<$payload>,
                layout: Layout,
                clock: Option<ClockState>,
                max_copies: Option<NonZero<u8>>,
            ) -> Self {
                table.set_clock(clock);
                let max_copies = max_copies.map(Into::into);
                Self::of_model(SplittingEngine::new(table, layout, 0.5, max_copies, Kernel::Scalar))
            }

            /// The table.
            #[must_use]
            pub fn table(&self) -> &GrowingTable<$payload> {
                Engine::table(&self.engine)
            }
        }
    )*};
}

around! { Set: Bare, Map: Valued, Expiring: Aged }

impl<C: Contents, G: Growth> Filter<C, G> {
    fn of_model(engine: C::Engine<G>) -> Self {
        Self::from_parts(engine, 0, 0, StableHashBuilder::from_seed(hasher_seed(0)))
            .expect("memory")
    }

    /// What a table makes an item of, for a key with this hash.
    #[must_use]
    pub fn mixed_hash(&self, hash: u64) -> u64 {
        self.mix(hash)
    }
}
