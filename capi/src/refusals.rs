//! What inserts of many items refuse.

use guira_rs::InsertError;

use crate::status::Status;

/// The items that were refused, which a function marks, and why.
pub struct Refusals<M> {
    mark: M,
    status: Status,
}

impl<M: FnMut(usize)> Refusals<M> {
    /// None yet. `mark` is called with the position of each item that is refused.
    pub fn new(mark: M) -> Self {
        Self { mark, status: Status::Ok }
    }

    /// Returns what notes the failures of a slice that begins at this position.
    pub fn at(&mut self, start: usize) -> impl FnMut(usize, InsertError) {
        move |position, error| {
            (self.mark)(start + position);
            if self.status == Status::Ok {
                self.status = error.into();
            }
        }
    }

    /// Returns the error of an item that was refused.
    pub fn outcome(self) -> Result<(), Status> {
        if self.status == Status::Ok { Ok(()) } else { Err(self.status) }
    }
}

/// Returns what marks items in an array, if there is one.
pub fn flags(mut flags: Option<&mut [bool]>) -> impl FnMut(usize) {
    move |position| {
        if let Some(flags) = &mut flags {
            flags[position] = true;
        }
    }
}
