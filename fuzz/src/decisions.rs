//! Decisions that come from an input, in place of a random generator.

use std::convert::Infallible;

use arbitrary::{Arbitrary, Unstructured};
use rand::TryRng;

/// A generator of numbers that come from the input. Two bytes decide the highest bits of a number,
/// on which a number in a range depends.
#[derive(Debug)]
pub struct Decisions {
    bytes: Vec<u8>,
    used: usize,
}

impl Decisions {
    /// Whether the input has no further decisions.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.used >= self.bytes.len()
    }
}

impl<'a> Arbitrary<'a> for Decisions {
    fn arbitrary(input: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        Ok(Self { bytes: input.bytes(input.len())?.to_vec(), used: 0 })
    }
}

impl TryRng for Decisions {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        let byte = |place| u32::from(self.bytes.get(place).copied().unwrap_or(0));
        let number = byte(self.used) << 24 | byte(self.used + 1) << 16;
        self.used += 2;
        Ok(number)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.try_next_u32().map(|number| u64::from(number) << 32)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        bytes.fill_with(|| {
            self.used += 1;
            self.bytes.get(self.used - 1).copied().unwrap_or(0)
        });
        Ok(())
    }
}
