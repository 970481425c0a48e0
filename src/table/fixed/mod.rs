//! Tables of a fixed size: the addressing, lookups, and the search for room.

mod addressing;
mod copies;
mod key_probe;
mod lookup;
mod merge;
mod room;
mod values;
mod whole;

pub(in crate::table) use addressing::key_shift;
pub use addressing::{Addressing, MAX_BUCKETS, Pair};
pub use key_probe::KeyProbe;
#[cfg(guira_vectors)]
pub(in crate::table) use lookup::BothWords;
pub(in crate::table) use lookup::Fastest;
pub(crate) use lookup::SingleLookup;
pub use room::{Move, PendingInserts};

use super::{
    Attempts, Bare, Buckets, Clock, ClockState, Counters, Payload, Seen, Space, Stripe,
    StripeGuard, Stripes, Table, Words, bucket_bytes,
};
use crate::bucket::{BucketLayout, Fingerprint};

/// The buckets of a table of a fixed size.
#[derive(Debug)]
pub struct FixedSpace<P = Bare> {
    pub(super) addressing: Addressing<P>,
    pub(super) buckets: Buckets,
}

/// A table of a fixed size. Its items are [pairs](Pair).
pub type FixedTable<P = Bare> = Table<FixedSpace<P>>;

impl<P: Payload> FixedSpace<P> {
    /// The mapping from mixed hashes to pairs.
    #[inline]
    #[must_use]
    pub fn addressing(&self) -> &Addressing<P> {
        &self.addressing
    }

    /// The bits of all values in a word.
    #[inline]
    fn values<L: BucketLayout>(&self) -> u64 {
        self.addressing.payload().values::<L>()
    }

    /// The stripe of every pair with this fingerprint, among those of the table.
    #[inline]
    fn stripe_among<'a>(&self, stripes: &'a Stripes, fingerprint: Fingerprint) -> &'a Stripe {
        stripes.of(self.addressing.stripe_fingerprint(fingerprint))
    }

    /// A fingerprint without its value.
    #[inline]
    fn key(&self, fingerprint: Fingerprint) -> Fingerprint {
        self.addressing.payload().key(fingerprint)
    }
}

/// Smallest number of buckets of a table that is taken to be in memory: 2 MiB.
const IN_MEMORY: u64 = 1 << 18;

impl<P: Payload> FixedTable<P> {
    /// Whether the table is taken to be in a second-level cache.
    #[inline]
    fn is_cached(&self) -> bool {
        self.addressing.buckets() < IN_MEMORY
    }

    /// Returns an empty table, or `None` if the system refuses the memory.
    #[must_use]
    pub fn new(addressing: Addressing<P>, huge_pages: bool) -> Option<Self> {
        Self::with_stripes(addressing, Self::stripes_for(addressing), huge_pages)
    }

    /// Returns an empty table with this many stripes, as in [`Stripes::with_count`], or `None` if
    /// the system refuses the memory.
    pub(crate) fn with_stripes(
        addressing: Addressing<P>,
        stripes: usize,
        huge_pages: bool,
    ) -> Option<Self> {
        Self::with_buckets(addressing, Buckets::new(addressing.buckets(), huge_pages)?, stripes)
    }

    /// The default number of stripes of a table.
    fn stripes_for(addressing: Addressing<P>) -> usize {
        Stripes::count_for(addressing.buckets(), None)
    }

    /// Returns a table with these buckets and this many stripes, or `None` if the system refuses
    /// the memory for the rest.
    ///
    /// # Panics
    /// If the addressing has another number of buckets. Lookups read the buckets that it names
    /// without another check.
    pub(crate) fn with_buckets(
        addressing: Addressing<P>,
        buckets: Buckets,
        stripes: usize,
    ) -> Option<Self> {
        assert_eq!(addressing.buckets(), buckets.as_slice().len() as u64, "the number of buckets");
        let clock = addressing.payload().clock(stripes, None)?;
        let (stripes, counters) = (Stripes::with_count(stripes)?, Counters::new()?);
        Some(Self { space: FixedSpace { addressing, buckets }, stripes, counters, clock })
    }

    /// Sets the clock of a table whose words were copied, and counts its slots by their stamps.
    pub(crate) fn start_clock<L: BucketLayout>(&mut self, state: Option<ClockState>) {
        self.set_clock(state);
        if P::Clock::SWEEPS {
            let Self { space, clock, .. } = self;
            space.buckets.with_words(|words| clock.count_all(L::LANES, words));
        }
    }

    /// Bytes of buckets, stripes, statistics and clock, alignment included.
    #[must_use]
    pub fn size_in_bytes(&self) -> usize {
        let beside = bytes_beside(self.stripes()) + self.clock.size_in_bytes();
        self.buckets.allocated_bytes() + beside
    }
}

/// Bytes that a table without a clock allocates. `None` if that is more than an object can have.
pub(crate) fn table_bytes(buckets: u64, huge_pages: bool, stripes: usize) -> Option<usize> {
    bucket_bytes(buckets, huge_pages)?.checked_add(bytes_beside(stripes))
}

/// Bytes of stripes and statistics.
fn bytes_beside(stripes: usize) -> usize {
    Stripes::bytes_for(stripes) + Counters::bytes()
}
