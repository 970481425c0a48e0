//! What threads share: the buckets and the stripes. What they do to them is in `protocol`.

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
        let table = Table::new(geometry.buckets(), huge_pages)?;
        Some(Self { geometry, table, stripes: Stripes::new(geometry.buckets()) })
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

    /// Asks for both buckets of a pair without waiting for them.
    #[inline]
    pub fn prefetch(&self, pair: Pair) {
        self.table.prefetch(pair.buckets[0]);
        self.table.prefetch(pair.buckets[1]);
    }

    /// Waits for both words, before a lock is taken: or its holder would sit through their misses.
    #[inline]
    pub(crate) fn wait_for(&self, pair: Pair) {
        self.prefetch(pair);
        // Relaxed: nothing is concluded from them. In models they would only add schedules.
        #[cfg(not(any(loom, shuttle)))]
        for bucket in pair.buckets {
            let _ = self.table.bucket(bucket).load(crate::sync::Relaxed);
        }
    }
}
