//! The answers of a batch of lookups.

use super::BLOCK;
#[cfg(doc)]
use super::MAX_BURST;

/// Where the answers of a batch of lookups go.
pub(crate) enum Answers<'a> {
    /// One for each item.
    Each(&'a mut [bool]),
    /// A bit for each item, at most [`MAX_BURST`]. All of them are zero before.
    Mask(&'a mut u64),
    /// The value of each item that was found.
    Values(&'a mut [Option<u16>]),
    /// As `Mask`, and the value of each item, which is zero if the item was not found.
    MaskWithValues(&'a mut u64, &'a mut [u16]),
}

impl Answers<'_> {
    /// The same answers, for a shorter time.
    pub(crate) fn reborrow(&mut self) -> Answers<'_> {
        match self {
            Self::Each(found) => Answers::Each(found),
            Self::Mask(mask) => Answers::Mask(mask),
            Self::Values(values) => Answers::Values(values),
            Self::MaskWithValues(mask, values) => Answers::MaskWithValues(mask, values),
        }
    }

    /// Writes one answer. In a mask, it must be the first one for this item.
    #[inline]
    pub(crate) fn set(&mut self, position: usize, value: Option<u16>) {
        match self {
            Self::Each(found) => found[position] = value.is_some(),
            Self::Mask(mask) => **mask |= u64::from(value.is_some()) << position,
            Self::Values(values) => values[position] = value,
            Self::MaskWithValues(mask, values) => {
                **mask |= u64::from(value.is_some()) << position;
                values[position] = value.unwrap_or(0);
            }
        }
    }

    /// Writes the answers of a block from a position on, of which there are `len`: whether each
    /// item was found, and its value, which has a meaning only if it was. Returns how many were
    /// found.
    #[inline]
    pub(super) fn put(
        &mut self,
        position: usize,
        found: &[bool; BLOCK],
        values: &[u16; BLOCK],
        len: usize,
    ) -> usize {
        let here = position..position + len;
        match self {
            // Whole blocks are separate from the rest: no call of `memcpy`.
            Self::Each(all) => match all[here].first_chunk_mut() {
                Some(all) => *all = *found,
                None => all[position..][..len].copy_from_slice(&found[..len]),
            },
            Self::Mask(mask) => **mask |= bits(found) << position,
            Self::Values(all) => {
                for (answer, (&found, &value)) in all[here].iter_mut().zip(found.iter().zip(values))
                {
                    *answer = found.then_some(value);
                }
            }
            Self::MaskWithValues(mask, all) => {
                **mask |= bits(found) << position;
                for (answer, (&found, &value)) in all[here].iter_mut().zip(found.iter().zip(values))
                {
                    *answer = if found { value } else { 0 };
                }
            }
        }
        found.iter().map(|&found| u8::from(found)).sum::<u8>().into()
    }
}

/// The answers of a block as bits, the first one lowest.
#[inline]
fn bits(found: &[bool; BLOCK]) -> u64 {
    let (bytes, rest) = found.as_chunks::<8>();
    let mut all = rest.iter().rev().fold(0, |bits, &found| bits << 1 | u64::from(found));
    for &byte in bytes.iter().rev() {
        // The product has the lowest bit of each byte in its upper byte.
        let bytes = u64::from_le_bytes(byte.map(u8::from));
        all = all << 8 | bytes.wrapping_mul(0x0102_0408_1020_4080) >> 56;
    }
    all
}
