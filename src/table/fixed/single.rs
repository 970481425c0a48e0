//! Single lookups of mixed hashes: one function for each layout, which a filter keeps.
//!
//! A call of that function is cheaper than a jump by layout to code that is inline in every caller.
//! A loop over lookups has fewer instructions, so the processor overlaps more of them. In memory
//! this saves a tenth to a third of the time, and in a second-level cache it costs nothing.

use super::{FixedTable, Payload};
use crate::{bucket::BucketLayout, table::Kernel};

/// Looks up one mixed hash, given the probe of the table.
///
/// # Safety
/// The function is that of a table with the same layout and number of buckets, for a kernel that is
/// available.
pub(crate) type SingleLookup<P> =
    unsafe fn(&FixedTable<P>, &<P as Payload>::Probe, mixed: u64) -> <P as Payload>::Answer;

impl<P: Payload> FixedTable<P> {
    /// Returns the single lookup of tables with this layout and number of buckets, by the
    /// instructions of a kernel, which must be available.
    pub(crate) fn single_lookup<L: BucketLayout>(&self, kernel: Kernel) -> SingleLookup<P> {
        #[cfg(guira_vectors)]
        if kernel != Kernel::Scalar
            && !self.is_cached()
            && u32::try_from(self.addressing.buckets()).is_ok()
        {
            // In memory, the number of lookups that overlap is limited by the integer registers
            // that they need. In a cache, the way from vector registers to addresses takes longer
            // than it saves.
            return crate::table::kernels::look_up_one::<L, P>;
        }
        let _ = kernel;
        Self::look_up_one::<L>
    }

    fn look_up_one<L: BucketLayout>(&self, probe: &P::Probe, mixed: u64) -> P::Answer {
        let fingerprints = (L::MIN_FINGERPRINT, P::fingerprints::<L>(probe).into());
        let (key, buckets) = self.addressing.key_and_buckets(fingerprints, mixed);
        // SAFETY: this table's addressing has returned them.
        unsafe { P::look_up::<L>(self, probe, key, buckets) }
    }
}
