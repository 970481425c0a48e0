//! What inserts of many items refuse.

use guira_rs::InsertError;

use crate::status::Status;

/// The items that were refused, and why.
pub struct Refusals<'a> {
    flags: Option<&'a mut [bool]>,
    status: Status,
}

impl<'a> Refusals<'a> {
    /// None yet. Those to come are marked in an array, if there is one.
    pub fn new(flags: Option<&'a mut [bool]>) -> Self {
        Self { flags, status: Status::Ok }
    }

    /// Returns what notes the failures of a slice that begins at this position.
    pub fn at(&mut self, start: usize) -> impl FnMut(usize, InsertError) {
        move |position, error| {
            if let Some(flags) = &mut self.flags {
                flags[start + position] = true;
            }
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
