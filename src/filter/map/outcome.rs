//! What lookups in a map return.

use core::iter::FusedIterator;

use crate::table::Candidates;

/// The values that an item may have: [`values`](crate::Filter::values) returns them.
#[derive(Clone, Debug)]
pub struct Values {
    candidates: Candidates,
    next: usize,
}

impl Values {
    /// The values that were found in one table.
    pub(super) fn of_table(candidates: Candidates) -> Self {
        Self { candidates, next: 0 }
    }

    /// The values that have not been returned yet.
    fn rest(&self) -> &[u16] {
        &self.candidates.as_slice()[self.next..]
    }
}

impl Iterator for Values {
    type Item = u16;

    fn next(&mut self) -> Option<u16> {
        let value = *self.rest().first()?;
        self.next += 1;
        Some(value)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let len = self.rest().len();
        (len, Some(len))
    }
}

impl ExactSizeIterator for Values {}
impl FusedIterator for Values {}
