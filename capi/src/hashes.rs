//! Hashes that lie side by side, or in fields of structs.

use core::mem::MaybeUninit;

use guira_rs::Hashed;

use crate::{pointer::Strided, status::Status};

/// Largest number of items of a mask.
pub const MAX_BURST: usize = 64;

/// Hashes that are gathered at a time, in 2 KiB of the stack.
const BLOCK: usize = 256;

impl Strided<'_> {
    /// Returns an error if a mask has no bits for so many hashes.
    #[inline]
    pub fn burst(self) -> Result<Self, Status> {
        if self.len() <= MAX_BURST { Ok(self) } else { Err(Status::ErrArgument) }
    }

    /// Calls a function with the hashes, in slices, and with the position of the first of each.
    /// For a burst, it is called once.
    #[inline]
    pub fn each(&self, mut call: impl FnMut(usize, &[Hashed])) {
        match self.slice() {
            Some(hashes) => call(0, Hashed::slice(hashes)),
            None => self.gather(&mut call),
        }
    }

    /// As [`each`](Self::each), for hashes that do not lie side by side.
    #[inline(never)]
    fn gather(&self, call: &mut dyn FnMut(usize, &[Hashed])) {
        let mut block = [const { MaybeUninit::uninit() }; BLOCK];
        for start in (0..self.len()).step_by(BLOCK) {
            let block = &mut block[..BLOCK.min(self.len() - start)];
            call(start, Hashed::slice(self.copy_to(start, block)));
        }
    }
}

/// Returns the mask of flags.
pub fn mask(flags: &[bool; MAX_BURST]) -> u64 {
    flags.iter().enumerate().fold(0, |mask, (at, &flag)| mask | u64::from(flag) << at)
}
