//! Tables of a fixed size: the addressing, lookups, and the search for room.

mod addressing;
mod construction;
mod copies;
mod insert;
mod key_probe;
mod lookup;
mod merge;
mod near;
mod pending;
mod room;
pub(in crate::table) mod search;
mod single;
mod values;
mod whole;

pub use addressing::{Addressing, MAX_BUCKETS, Pair};
pub(crate) use construction::table_bytes;
pub use key_probe::KeyProbe;
#[cfg(guira_vectors)]
pub(in crate::table) use lookup::BothWords;
pub(in crate::table) use lookup::Fastest;
use near::Near;
pub use pending::{INTERLEAVED, PendingInserts};
pub use search::{Move, Progress};
use search::{Plan, Search};
pub(crate) use single::SingleLookup;

use super::{
    Attempts, Bare, Buckets, Clock, Payload, Seen, Space, Stripe, StripeGuard, Stripes, Table,
    Words,
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

impl<P: Payload> FixedTable<P> {
    /// The stripe of every pair with this fingerprint.
    #[inline]
    fn stripe_of(&self, fingerprint: Fingerprint) -> &Stripe {
        self.stripe_among(&self.stripes, fingerprint)
    }
}
