//! Construction: tables that stand alone, with stripes of their own, and segments of a chain.

use alloc::sync::Arc;

use super::{Addressing, Alone, Buckets, Counters, Nested, Stripes, Table};

impl<N: Alone> Table<N> {
    /// Returns an empty table, or `None` if the system refuses the memory.
    #[must_use]
    pub fn new(addressing: Addressing<N>, huge_pages: bool) -> Option<Self> {
        Self::with_stripes(addressing, Self::stripes_for(addressing), huge_pages)
    }

    /// Returns an empty table with so many stripes, as in [`Stripes::with_count`], or `None` if the
    /// system refuses the memory.
    pub(crate) fn with_stripes(
        addressing: Addressing<N>,
        stripes: usize,
        huge_pages: bool,
    ) -> Option<Self> {
        Self::with_buckets(addressing, Buckets::new(addressing.buckets(), huge_pages)?, stripes)
    }

    /// The number of stripes of a table for which none was chosen.
    fn stripes_for(addressing: Addressing<N>) -> usize {
        Stripes::count_for(addressing.buckets(), None)
    }

    /// Returns a table with these buckets and so many stripes, or `None` if the system refuses the
    /// memory for the rest.
    pub(crate) fn with_buckets(
        addressing: Addressing<N>,
        buckets: Buckets,
        stripes: usize,
    ) -> Option<Self> {
        let stripes = Stripes::with_count(stripes)?;
        Some(Self { addressing, buckets, stripes, counters: Counters::new()? })
    }

    /// The number of stripes.
    pub(crate) fn stripes(&self) -> usize {
        self.stripes.count()
    }

    /// Bytes of buckets, stripes and statistics, alignment included.
    #[must_use]
    pub fn size_in_bytes(&self) -> usize {
        let stripes = Stripes::bytes_for(self.stripes());
        self.buckets.allocated_bytes() + stripes + Counters::bytes()
    }
}

impl Table<Nested> {
    /// Returns a table with these buckets that shares stripes and counters with others.
    pub(crate) fn sharing(
        addressing: Addressing<Nested>,
        buckets: Buckets,
        stripes: &Arc<Stripes>,
        counters: &Counters,
    ) -> Self {
        // mutant: segment-own-stripes
        Self { addressing, buckets, stripes: stripes.clone(), counters: counters.clone() }
    }
}
