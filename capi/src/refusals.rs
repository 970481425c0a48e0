//! What inserts of many items refuse.

use core::ops::Range;

use guira_rs::InsertBatchError;

use crate::status::Status;

/// The items that were refused, which an array marks if there is one, and why.
pub struct Refusals<'a> {
    marks: Option<&'a mut [bool]>,
    status: Result<(), Status>,
}

impl<'a> Refusals<'a> {
    /// None yet. Nothing is marked.
    pub fn new(marks: Option<&'a mut [bool]>) -> Self {
        Self { marks, status: Ok(()) }
    }

    /// Notes the failures of the items at these positions. Returns the number of items added.
    pub fn add(&mut self, part: Range<usize>, error: &InsertBatchError) -> usize {
        let failures = error.failures();
        if let Some((_, reason)) = failures.clone().next() {
            self.status = self.status.and(Err(reason.into()));
        }
        if !error.is_complete() {
            self.status = Err(Status::ErrNoMemory);
        }
        if let Some(marks) = &mut self.marks {
            let marks = &mut marks[part];
            failures.for_each(|(position, _)| marks[position] = true);
            // Nothing is known of the rest.
            marks[error.tried()..].fill(true);
        }
        error.added()
    }

    /// Returns the error of an item that was refused.
    pub fn outcome(self) -> Result<(), Status> {
        self.status
    }
}
