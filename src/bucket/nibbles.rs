//! Multisets of nibbles as numbers: the code of a semi-sorted word.
//!
//! Some n nibbles in descending order are one of C(n + 15, n) sequences, of 16^n in any order. Their
//! code is their place among all such sequences, ordered by the last nibble, then by the one before it, and
//! so on: the combinatorial number system (Knuth, The Art of Computer Programming 4A, section 7.2.1.3), of
//! what each lacks to 15. Encoding is a sum with a term for each nibble, decoding a look into a table.
//!
//! So sequences that end with zeros come first, in the order of what is before the zeros. There is one table
//! for all lengths, and the codes of sequences with no more than k nibbles that are not zero are the
//! numbers below C(k + 15, k).
//!
//! Sequences are packed, the first nibble, which is the largest, in the lowest bits.

/// The most nibbles of a code: it has 16 bits then, and its table 256 KiB.
pub(crate) const MOST: u32 = 6;
/// Bits of a nibble.
pub(crate) const BITS: u32 = 4;
/// The bits of the lowest nibble.
pub(crate) const LOWEST: u32 = (1 << BITS) - 1;

/// How many sequences of `count` nibbles there are, C(count + 15, count).
pub(crate) const fn sequences(count: u32) -> u32 {
    binomial(count + LOWEST, count)
}

/// The bits of a code.
pub(crate) const fn code_bits(count: u32) -> u32 {
    u32::BITS - (sequences(count) - 1).leading_zeros()
}

const fn binomial(n: u32, k: u32) -> u32 {
    let mut product = 1;
    let mut factor = 0;
    while factor < k && product > 0 {
        // Exact: a product of so many consecutive numbers.
        product = product * n.saturating_sub(factor) / (factor + 1);
        factor += 1;
    }
    product
}

/// What two neighbouring nibbles, as one byte, add to a code: for each pair of places a list of 256.
///
/// The `place`-th nibble, x, counted from one, adds C(14 + place, place) - C(14 + place - x, place). (Sequences that
/// agree behind that place and have less there are as many as there are of `place` nibbles from the one behind up,
/// less those from x up; and the number of the former is taken from what the one behind adds.)
static TERMS: [[u16; 256]; MOST.div_ceil(2) as usize] = {
    let mut terms = [[0; 256]; MOST.div_ceil(2) as usize];
    let mut place = 1;
    while place <= MOST {
        let list = &mut terms[(place as usize - 1) / 2];
        let mut byte = 0;
        while byte < 256 {
            let nibble = (byte as u32 >> ((place - 1) % 2 * BITS)) & LOWEST;
            let most = place + LOWEST - 1;
            list[byte] += (binomial(most, place) - binomial(most - nibble, place)) as u16;
            byte += 1;
        }
        place += 1;
    }
    terms
};

/// The code of a sequence of `count` nibbles.
#[inline]
pub(crate) fn encode(count: u32, nibbles: u32) -> u64 {
    let pairs = nibbles.to_le_bytes();
    let mut code = 0;
    for pair in 0..count.div_ceil(2) as usize {
        code += u64::from(TERMS[pair][usize::from(pairs[pair])]);
    }
    code
}

/// All sequences by their codes. What is left over is zero.
pub(crate) static SEQUENCES: [u32; 1 << code_bits(MOST)] = {
    let mut all = [0; 1 << code_bits(MOST)];
    let mut sequence: u32 = 0;
    let mut code = 1;
    while code < sequences(MOST) {
        // The next: the first nibble that can grow does, by one, and those before it begin anew, with as much.
        let shift = sequence.trailing_ones() / BITS * BITS;
        sequence += 1 << shift;
        let grown = (sequence >> shift) & LOWEST;
        let before = (1 << shift) - 1;
        sequence = sequence & !before | (grown * 0x1111_1111) & before;
        all[code as usize] = sequence;
        code += 1;
    }
    all
};
