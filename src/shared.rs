//! What threads share.

use crate::{
    geometry::{Geometry, Pair},
    stripes::Stripes,
    table::Table,
};

/// Buckets, stripes, and the steps on them, which are in `protocol`. Knows pairs, but no items, hashers or
/// layouts by name.
#[derive(Debug)]
pub struct Core {
    pub(crate) geometry: Geometry,
    pub(crate) table: Table,
    pub(crate) stripes: Stripes,
}

impl Core {
    /// An empty core, or `None` when the system refuses the memory.
    #[must_use]
    pub fn new(geometry: Geometry, huge_pages: bool) -> Option<Self> {
        Some(Self::with_table(geometry, Table::new(geometry.buckets(), huge_pages)?))
    }

    /// A core whose buckets are these.
    pub(crate) fn with_table(geometry: Geometry, table: Table) -> Self {
        Self { geometry, table, stripes: Stripes::new(geometry.buckets()) }
    }

    /// Where everything lives.
    #[inline]
    #[must_use]
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// Bytes of buckets and stripes.
    #[must_use]
    pub fn size_in_bytes(&self) -> usize {
        self.table.size_in_bytes() + self.stripes.size_in_bytes()
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

    /// Asks for both buckets of a pair, and for its stripe.
    #[inline]
    pub(crate) fn prefetch_all(&self, pair: Pair) {
        self.prefetch(pair);
        self.stripes.prefetch(pair.fingerprint);
    }
}
