//! Batches that may end early.

use core::ops::ControlFlow;

/// What an operation on an item returns: nothing, or whether the batch continues.
pub(crate) trait Flow {
    /// Returns whether the batch continues.
    fn continues(self) -> bool;
}

impl Flow for () {
    #[inline]
    fn continues(self) -> bool {
        true
    }
}

impl Flow for ControlFlow<()> {
    #[inline]
    fn continues(self) -> bool {
        self.is_continue()
    }
}
