//! What threads share.

use crate::{
    geometry::{Geometry, Pair, Placement},
    stats::Counters,
    stripes::{Stripe, Stripes},
    table::Table,
    word::Fingerprint,
};

/// Buckets, stripes, and the steps on them, which are in `protocol`. Knows pairs, but no items, hashers or
/// layouts by name.
#[derive(Debug)]
pub struct Core<P = Geometry> {
    pub(crate) geometry: P,
    pub(crate) table: Table,
    pub(crate) stripes: Stripes,
    pub(crate) counters: Counters,
}

impl Core {
    /// An empty core, or `None` when the system refuses the memory.
    #[must_use]
    pub fn new(geometry: Geometry, huge_pages: bool) -> Option<Self> {
        Some(Self::with_table(geometry, Table::new(geometry.buckets(), huge_pages)?))
    }

    /// A core whose buckets are these.
    pub(crate) fn with_table(geometry: Geometry, table: Table) -> Self {
        Self {
            geometry,
            table,
            stripes: Stripes::new(geometry.buckets()),
            counters: Counters::new(),
        }
    }
}

impl<P: Placement> Core<P> {
    /// An empty core that shares its stripes and counters with others, or `None` when the system refuses the memory.
    pub(crate) fn sharing(
        geometry: P,
        huge_pages: bool,
        stripes: &Stripes,
        counters: &Counters,
    ) -> Option<Self> {
        let table = Table::new(geometry.buckets(), huge_pages)?;
        Some(Self { geometry, table, stripes: stripes.clone(), counters: counters.clone() })
    }

    /// Where everything lives.
    #[inline]
    #[must_use]
    pub fn geometry(&self) -> &P {
        &self.geometry
    }

    /// Bytes of buckets and stripes.
    #[must_use]
    pub fn size_in_bytes(&self) -> usize {
        self.table.size_in_bytes() + self.stripes.size_in_bytes() + self.counters.size_in_bytes()
    }

    /// Empties every bucket.
    pub fn clear(&mut self) {
        self.table.clear();
    }

    /// Asks for both buckets of a pair without waiting for them: enough for what takes no lock.
    #[inline]
    pub fn prefetch(&self, pair: Pair) {
        self.table.prefetch(pair.buckets[0]);
        self.table.prefetch(pair.buckets[1]);
    }

    /// The stripe of every pair with this fingerprint.
    #[inline]
    pub(crate) fn stripe(&self, fingerprint: Fingerprint) -> &Stripe {
        self.stripes.of(self.geometry.of_stripe(fingerprint))
    }

    /// Asks for both buckets of a pair, and for its stripe.
    #[inline]
    pub(crate) fn prefetch_all(&self, pair: Pair) {
        self.prefetch(pair);
        self.stripe(pair.fingerprint).prefetch();
    }
}
