//! Construction of a chain, and appending a segment.

use core::array;

use super::{Chain, Entries, Plan, Segment};
use crate::{
    InsertError,
    sync::{SetOnce, Shared, Word},
    table::{Buckets, Counters, Stripes},
};

impl<V: Entries> Chain<V> {
    /// Returns a chain of one empty segment that can grow as planned, or `None` if the system
    /// refuses the memory.
    #[must_use]
    pub fn new(plan: Plan<V>, huge_pages: bool) -> Option<Self> {
        let first = Buckets::new(plan.first_buckets(), huge_pages)?;
        Self::with_buckets(plan, [first], huge_pages)
    }

    /// Returns a chain whose first segments have these buckets, or `None` if the system refuses the
    /// memory for the rest.
    ///
    /// # Panics
    /// If there is no first segment.
    pub(super) fn with_buckets(
        plan: Plan<V>,
        segments: impl IntoIterator<Item = Buckets>,
        huge_pages: bool,
    ) -> Option<Self> {
        let stripes = Shared::new(Stripes::with_count(plan.stripes())?)?;
        let counters = Counters::new()?;
        let mut segments = segments.into_iter();
        let first = segments.next().expect("the buckets of the first segment");
        let first = Segment::new(&plan, 0, first, &stripes, &counters);
        let (later, finest) = (SetOnce::new(), plan.finest());
        let max_bytes = Word::new(u64::MAX);
        let chain = Self { first, later, plan, finest, stripes, counters, huge_pages, max_bytes };
        (1..).zip(segments).try_for_each(|(number, buckets)| chain.set(number, buckets))?;
        Some(chain)
    }

    /// Returns empty buckets for a segment, or `None` if the system refuses the memory.
    pub(super) fn allocate(&self, number: usize) -> Option<Buckets> {
        Buckets::new(self.plan.addressing(number).buckets(), self.huge_pages)
    }

    /// The place of the segment with this number, which is not the first one. Allocates the places
    /// at the first call. `None` if the system refuses the memory.
    fn place(&self, number: usize) -> Option<&SetOnce<Segment<V>>> {
        if self.later.get().is_none() {
            self.later.set(array::from_fn(|_| SetOnce::new()))?;
        }
        Some(&self.later.get().expect("set above, or by another thread")[number - 1])
    }

    /// Sets the place of the segment with this number, which is not the first one, unless another
    /// thread has done so. Returns `None` if the system refuses the memory.
    fn set(&self, number: usize, buckets: Buckets) -> Option<()> {
        let Self { plan, stripes, counters, .. } = self;
        self.place(number)?.set(Segment::new(plan, number, buckets, stripes, counters))
    }

    /// Appends the segment with this number, unless another thread does so first.
    ///
    /// # Errors
    /// `Full` if the plan has no such segment, or if the limit on bytes does not allow it.
    /// `OutOfMemory` if the system refuses the memory.
    #[cold]
    pub(super) fn append(&self, number: usize) -> Result<(), InsertError> {
        let exists = || number < self.segments().len();
        if exists() {
            return Ok(());
        }
        let appended = if self.allows(number + 1) {
            let set = self.allocate(number).and_then(|buckets| self.set(number, buckets));
            set.ok_or(InsertError::OutOfMemory)
        } else {
            Err(InsertError::Full)
        };
        // Another thread may have used up the memory for this very segment, or it may have appended
        // the segment before the limit was lowered.
        appended.or_else(|error| if exists() { Ok(()) } else { Err(error) })
    }
}
