//! What lookups in a map return.

use core::iter::FusedIterator;

use crate::{chain::AllCandidates, table::Candidates};

/// The values that a key may have: [`values`](crate::Filter::values) returns them.
#[derive(Clone, Debug)]
pub struct Values {
    candidates: AllCandidates,
    next: usize,
}

impl Values {
    /// The values that were found in one table.
    pub(in crate::filter) fn of_table(candidates: Candidates) -> Self {
        Self::of_chain(candidates.into())
    }

    /// The values that were found in the segments of a chain.
    pub(in crate::filter) fn of_chain(candidates: AllCandidates) -> Self {
        Self { candidates, next: 0 }
    }
}

impl Iterator for Values {
    type Item = u16;

    fn next(&mut self) -> Option<u16> {
        let value = self.candidates.get(self.next)?;
        self.next += 1;
        Some(value)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let len = self.candidates.len() - self.next;
        (len, Some(len))
    }
}

impl ExactSizeIterator for Values {}
impl FusedIterator for Values {}
