//! What lookups in a map return.

use core::iter::FusedIterator;

use crate::table::Candidates;

/// The values that a key may have: [`values`](crate::Filter::values) returns them.
#[derive(Clone, Debug)]
pub struct Values {
    candidates: Candidates,
    next: usize,
}

impl Values {
    pub(in crate::filter) fn new(candidates: Candidates) -> Self {
        Self { candidates, next: 0 }
    }
}

impl Iterator for Values {
    type Item = u16;

    fn next(&mut self) -> Option<u16> {
        let value = *self.candidates.as_slice().get(self.next)?;
        self.next += 1;
        Some(value)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let len = self.candidates.as_slice().len() - self.next;
        (len, Some(len))
    }
}

impl ExactSizeIterator for Values {}
impl FusedIterator for Values {}
