//! Hashes that lie side by side, or in fields of structs.

use core::{mem::MaybeUninit, ops::Range};

use guira_rs::Hashed;

use crate::{
    pointer::{In, Strided},
    status::Status,
};

/// Largest number of items of a mask.
pub const MAX_BURST: usize = 64;

/// Hashes of a batch that are gathered at a time, in 2 KiB of the stack.
const BLOCK: usize = 256;

/// Room for hashes that are gathered.
pub struct Room<const N: usize>([MaybeUninit<u64>; N]);

impl<const N: usize> Room<N> {
    /// Room without hashes.
    #[inline]
    pub const fn new() -> Self {
        Self([const { MaybeUninit::uninit() }; N])
    }
}

impl In<u64> {
    /// The hashes for a mask. They go to the room unless they lie side by side.
    #[inline]
    pub fn burst<'a>(
        &'a self,
        stride: usize,
        n: usize,
        room: &'a mut Room<MAX_BURST>,
    ) -> Result<&'a [Hashed], Status> {
        if n > MAX_BURST {
            return Err(Status::ErrArgument);
        }
        let hashes = self.side_by_side(stride, n);
        Ok(Hashed::slice(hashes.map_or_else(|| self.gather(stride, n, room), Ok)?))
    }

    #[inline(never)]
    fn gather<'a>(
        &self,
        stride: usize,
        n: usize,
        room: &'a mut Room<MAX_BURST>,
    ) -> Result<&'a [u64], Status> {
        Ok(self.hashes(stride, n)?.gather(0, &mut room.0))
    }
}

impl Strided<'_> {
    /// Calls a function with the hashes, in slices, and with the positions of each slice. Returns
    /// the sum of what it returns.
    #[inline]
    pub fn sum(&self, mut call: impl FnMut(Range<usize>, &[Hashed]) -> usize) -> usize {
        let (mut room, mut start, mut sum) = (Room::<BLOCK>::new(), 0, 0);
        while start < self.len() {
            let hashes = self.slice().unwrap_or_else(|| self.gather(start, &mut room.0));
            let end = start + hashes.len();
            sum += call(start..end, Hashed::slice(hashes));
            start = end;
        }
        sum
    }
}
