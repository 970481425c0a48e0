//! Tables of a fixed size: the addressing, lookups, batches, writes for each form of words, and the
//! search for room.

mod addressing;
mod block;
mod copies;
mod lookup;
mod merge;
mod room;
mod whole;
mod write;

pub use addressing::{Addressing, MAX_BUCKETS, Pair};
pub use room::{Move, PendingInserts};

use super::{
    Attempts, Buckets, ClockState, Counters, Kernel, Payload, Seen, Space, Stripe, StripeGuard,
    Stripes, Table, Words, bucket_bytes,
};
use crate::bucket::{Fingerprint, Slots};

/// The buckets of a table of a fixed size.
#[derive(Debug)]
pub struct FixedSpace {
    pub(super) slots: Slots,
    pub(super) addressing: Addressing,
    pub(super) buckets: Buckets,
    payload: Payload,
}

/// The words of a table of a fixed size: see [`Words`]. Their layout is a value. With `PLAIN`, the
/// words are known to be plain: see [`Slots`]. Without it, they may be either.
#[derive(Clone, Copy, Debug)]
pub struct FixedWords<const PLAIN: bool = false>;

/// A table of a fixed size. Its items are [pairs](Pair). (The fields of the space are found by
/// `Deref`; stripes, counters and the clock are the table's own.)
pub type FixedTable = Table<FixedSpace>;

impl FixedSpace {
    /// The constants of a word.
    #[inline]
    #[must_use]
    pub fn slots(&self) -> &Slots {
        &self.slots
    }

    /// The mapping from mixed hashes to pairs.
    #[inline]
    #[must_use]
    pub fn addressing(&self) -> &Addressing {
        &self.addressing
    }

    /// The fingerprint of a slot.
    #[inline]
    fn fingerprint_of(&self, slot: u32) -> Fingerprint {
        Fingerprint::new(self.slots.key(slot))
    }
}

/// Smallest number of buckets of a table that is taken to be in memory: 2 MiB.
const IN_MEMORY: u64 = 1 << 18;

impl FixedTable {
    /// Whether the table is taken to be in memory, so that a lone search waits for it.
    #[inline]
    fn is_in_memory(&self) -> bool {
        self.addressing.buckets() >= IN_MEMORY
    }

    /// Returns an empty table with words of this kind, or `None` if the system refuses the memory.
    ///
    /// # Panics
    /// If the number of buckets is not in `1 ..= MAX_BUCKETS`, or if the payload has another number
    /// of bits.
    #[must_use]
    pub fn new(slots: Slots, buckets: u64, payload: Payload, huge_pages: bool) -> Option<Self> {
        Self::with_stripes(slots, buckets, payload, Stripes::count_for(buckets, None), huge_pages)
    }

    /// Returns an empty table with this many stripes, as in [`Stripes::with_count`], or `None` if
    /// the system refuses the memory.
    pub(crate) fn with_stripes(
        slots: Slots,
        buckets: u64,
        payload: Payload,
        stripes: usize,
        huge_pages: bool,
    ) -> Option<Self> {
        Self::with_buckets(slots, payload, Buckets::new(buckets, huge_pages)?, stripes)
    }

    /// Returns a table with these buckets and this many stripes, or `None` if the system refuses
    /// the memory for the rest.
    pub(crate) fn with_buckets(
        slots: Slots,
        payload: Payload,
        buckets: Buckets,
        stripes: usize,
    ) -> Option<Self> {
        assert_eq!(slots.value_bits(), payload.value_bits(), "the number of bits of a value");
        // Lookups read the buckets that it names without another check.
        let addressing = Addressing::new(buckets.as_slice().len() as u64, &slots);
        let clock = payload.clock(stripes)?;
        let (stripes, counters) = (Stripes::with_count(stripes)?, Counters::new()?);
        Some(Self {
            space: FixedSpace { slots, addressing, buckets, payload },
            stripes,
            counters,
            clock,
            kernel: Kernel::best(),
        })
    }

    /// Sets the clock of a table whose words were copied, and counts its slots by their stamps.
    /// Returns `None` if the system refuses the memory.
    #[must_use]
    pub(crate) fn start_clock(&mut self, state: Option<&ClockState>) -> Option<()> {
        self.set_clock(state)?;
        if state.is_some() {
            let Self { space: FixedSpace { buckets, slots, .. }, clock, .. } = self;
            buckets.with_words(|words| clock.count_all(*slots.lanes(), words));
        }
        Some(())
    }

    /// Bytes of buckets, stripes, statistics and clock: what can become resident.
    #[must_use]
    pub fn size_in_bytes(&self) -> usize {
        let beside = bytes_beside(self.stripes()) + self.clock.size_in_bytes();
        self.buckets.size_in_bytes() + beside
    }
}

/// Bytes of a table without a clock. `None` if that is more than an object can have.
pub(crate) fn table_bytes(buckets: u64, stripes: usize) -> Option<usize> {
    bucket_bytes(buckets)?.checked_add(bytes_beside(stripes))
}

/// Bytes of stripes and statistics.
fn bytes_beside(stripes: usize) -> usize {
    Stripes::bytes_for(stripes) + Counters::bytes()
}
