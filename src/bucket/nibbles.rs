//! Multisets of nibbles as numbers: the code of a semi-sorted word.
//!
//! There are 16^n sequences of n nibbles, but only C(n + 15, n) of them are in descending order.
//! The code of a descending sequence is its rank among all of them, ordered by the last nibble,
//! then by the one before it, and so on. This is the combinatorial number system (Knuth, The Art of
//! Computer Programming 4A, section 7.2.1.3) on the complements of the nibbles. Encoding adds one
//! table entry per pair of nibbles, and decoding is one table lookup.
//!
//! In this order, sequences that end with zeros come first, ordered by the nibbles before the
//! zeros. So one table serves all lengths, and the codes of sequences with at most k nonzero
//! nibbles are the numbers below C(k + 15, k).
//!
//! Sequences are packed with the first nibble, which is the largest, in the lowest bits.

/// Largest number of nibbles of a code. Six nibbles need codes of 16 bits and a table of 256 KiB.
pub(crate) const MAX_NIBBLES: u32 = 6;
/// Number of bits of a nibble.
pub(crate) const BITS: u32 = 4;
/// The bits of the first nibble, and the largest nibble.
pub(crate) const MASK: u32 = (1 << BITS) - 1;

/// Returns the number of descending sequences of `count` nibbles, C(count + 15, count).
pub(crate) const fn sequences(count: u32) -> u32 {
    binomial(count + MASK, count)
}

/// Returns the number of bits of a code for `count` nibbles.
pub(crate) const fn code_bits(count: u32) -> u32 {
    u32::BITS - (sequences(count) - 1).leading_zeros()
}

/// Returns C(n, k).
const fn binomial(n: u32, k: u32) -> u32 {
    let mut product = 1;
    let mut factor = 0;
    while factor < k && product > 0 {
        // The division is exact: a product of m consecutive numbers is divisible by m!.
        product = product * n.saturating_sub(factor) / (factor + 1);
        factor += 1;
    }
    product
}

/// What two neighbouring nibbles, as one byte, add to a code: for each byte of a sequence, a list
/// of 256 terms, one for each value of the byte.
///
/// The p-th nibble x, counted from one, adds C(14 + p, p) - C(14 + p - x, p). Derivation: let y be
/// the next nibble, or zero after the last one. A sequence precedes this one if, for some p, both
/// agree after the p-th nibble and its p-th nibble is below x. There are C(15 + p - y, p)
/// descending sequences of p nibbles that are at least y, and C(15 + p - x, p) of p nibbles that
/// are at least x, so C(15 + p - y, p) - C(15 + p - x, p) sequences precede for this p. In the sum
/// over p, the first term for p and the second term for p + 1 combine by Pascal's rule.
static TERMS: [[u16; 256]; MAX_NIBBLES.div_ceil(2) as usize] = {
    let mut terms = [[0; 256]; MAX_NIBBLES.div_ceil(2) as usize];
    let mut place = 1;
    while place <= MAX_NIBBLES {
        let list = &mut terms[(place as usize - 1) / 2];
        let mut byte = 0;
        while byte < 256 {
            let nibble = (byte as u32 >> ((place - 1) % 2 * BITS)) & MASK;
            let n = place + MASK - 1;
            list[byte] += (binomial(n, place) - binomial(n - nibble, place)) as u16;
            byte += 1;
        }
        place += 1;
    }
    terms
};

/// Returns the code of a descending sequence, whose last nibbles may be zero.
#[inline]
pub(crate) fn encode(nibbles: u32) -> u64 {
    let [first, second, third, _] = nibbles.to_le_bytes().map(usize::from);
    u64::from(TERMS[0][first]) + u64::from(TERMS[1][second]) + u64::from(TERMS[2][third])
}

/// The sequence of every code. Entries of unused codes are zero.
type Sequences = [u32; 1 << code_bits(MAX_NIBBLES)];

/// Writes all sequences but the first one, which is zero.
const fn fill(all: &mut Sequences) {
    let mut sequence: u32 = 0;
    let mut code = 1;
    while code < sequences(MAX_NIBBLES) {
        // The successor: the first nibble below 15 grows by one, and all nibbles before it become
        // equal to it, the smallest values that keep the sequence descending.
        let shift = sequence.trailing_ones() / BITS * BITS;
        sequence += 1 << shift;
        let grown = (sequence >> shift) & MASK;
        let before = (1 << shift) - 1;
        sequence = sequence & !before | (grown * 0x1111_1111) & before;
        all[code as usize] = sequence;
        code += 1;
    }
}

/// The sequences of all codes: a table that is no part of the program, and takes no memory, until
/// [`Decoder::filled`] fills it.
#[cfg(all(feature = "std", not(any(loom, shuttle))))]
mod table {
    use core::cell::UnsafeCell;
    use std::sync::Once;

    use super::{Decoder, MAX_NIBBLES, Sequences, code_bits, fill};

    struct Table(UnsafeCell<Sequences>);
    // SAFETY: it is written once, by the caller that `FILL` lets through, and read only by those
    // who have passed `FILL`.
    unsafe impl Sync for Table {}

    static TABLE: Table = Table(UnsafeCell::new([0; 1 << code_bits(MAX_NIBBLES)]));
    static FILL: Once = Once::new();

    impl Decoder {
        /// The decoder.
        pub(in crate::bucket) fn filled() -> Self {
            // SAFETY: as above. Nobody else refers to the table until this call ends.
            FILL.call_once(|| fill(unsafe { &mut *TABLE.0.get() }));
            Self(())
        }

        /// The sequence of a code.
        #[expect(clippy::unused_self, reason = "it proves that the table is filled")]
        #[inline]
        pub(in crate::bucket) fn decode(self, code: u64) -> u32 {
            // SAFETY: whoever has a decoder has passed `FILL`. From there on, nobody writes.
            let table = unsafe { &*TABLE.0.get() };
            table[usize::from(code as u16)]
        }
    }
}

/// The same, as a part of the program.
#[cfg(not(all(feature = "std", not(any(loom, shuttle)))))]
mod table {
    use super::{Decoder, MAX_NIBBLES, Sequences, code_bits, fill};

    static TABLE: Sequences = {
        let mut all = [0; 1 << code_bits(MAX_NIBBLES)];
        fill(&mut all);
        all
    };

    impl Decoder {
        pub(in crate::bucket) const fn filled() -> Self {
            Self(())
        }

        #[expect(clippy::unused_self, reason = "as with `std`")]
        #[inline]
        pub(in crate::bucket) fn decode(self, code: u64) -> u32 {
            TABLE[usize::from(code as u16)]
        }
    }
}

/// From codes to sequences.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decoder(());

impl Decoder {
    /// A decoder.
    ///
    /// # Safety
    /// Somebody has had one before, as this thread knows.
    #[inline]
    pub(super) const unsafe fn assumed() -> Self {
        Self(())
    }
}
