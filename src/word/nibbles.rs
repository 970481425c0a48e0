//! Multisets of nibbles as numbers: the code of a semi-sorted word.
//!
//! Some n nibbles in descending order are one of C(n + 15, n) sequences, of 16^n in any order. Their
//! code is their place among all such sequences in lexicographic order, from all zeros to all ones: the
//! combinatorial number system (Knuth, The Art of Computer Programming 4A, section 7.2.1.3). Encoding
//! is a sum with a term for each nibble, decoding a look into a table.
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
pub(crate) type Terms = [[u16; 256]; MOST.div_ceil(2) as usize];

/// The terms of sequences of `count` nibbles.
///
/// The `place`-th of them, x, adds C(x + count - 1 - place, count - place): as many sequences agree up to
/// that place and have less there.
pub(crate) const fn terms(count: u32) -> Terms {
    assert!(count <= MOST);
    let mut terms = [[0; 256]; MOST.div_ceil(2) as usize];
    let mut place = 0;
    while place < count {
        let list = &mut terms[place as usize / 2];
        let mut byte = 0;
        while byte < 256 {
            let nibble = (byte as u32 >> (place % 2 * BITS)) & LOWEST;
            list[byte] += binomial(nibble + count - 1 - place, count - place) as u16;
            byte += 1;
        }
        place += 1;
    }
    terms
}

/// The code of a sequence of `count` nibbles.
#[inline]
pub(crate) fn encode(terms: &Terms, count: u32, nibbles: u32) -> u64 {
    let pairs = nibbles.to_le_bytes();
    let mut code = 0;
    for pair in 0..count.div_ceil(2) as usize {
        code += u64::from(terms[pair][usize::from(pairs[pair])]);
    }
    code
}

/// The table that decodes `count` nibbles.
///
/// Its length is the least power of two that is not below the number of sequences; what is left over is zero.
pub(crate) const fn decoder(count: u32) -> &'static [u32] {
    match count {
        1 => &DECODER_1,
        2 => &DECODER_2,
        3 => &DECODER_3,
        4 => &DECODER_4,
        5 => &DECODER_5,
        6 => &DECODER_6,
        _ => panic!("1 to 6 nibbles"),
    }
}

static DECODER_1: [u32; 1 << code_bits(1)] = all_sequences(1);
static DECODER_2: [u32; 1 << code_bits(2)] = all_sequences(2);
static DECODER_3: [u32; 1 << code_bits(3)] = all_sequences(3);
static DECODER_4: [u32; 1 << code_bits(4)] = all_sequences(4);
static DECODER_5: [u32; 1 << code_bits(5)] = all_sequences(5);
static DECODER_6: [u32; 1 << code_bits(6)] = all_sequences(6);

/// For every code of `count` nibbles, and for the numbers left over, how many of them are not zero.
pub(crate) const fn lengths(count: u32) -> &'static [u8] {
    match count {
        1 => &LENGTHS_1,
        2 => &LENGTHS_2,
        3 => &LENGTHS_3,
        4 => &LENGTHS_4,
        5 => &LENGTHS_5,
        6 => &LENGTHS_6,
        _ => panic!("1 to 6 nibbles"),
    }
}

static LENGTHS_1: [u8; 1 << code_bits(1)] = all_lengths(&DECODER_1);
static LENGTHS_2: [u8; 1 << code_bits(2)] = all_lengths(&DECODER_2);
static LENGTHS_3: [u8; 1 << code_bits(3)] = all_lengths(&DECODER_3);
static LENGTHS_4: [u8; 1 << code_bits(4)] = all_lengths(&DECODER_4);
static LENGTHS_5: [u8; 1 << code_bits(5)] = all_lengths(&DECODER_5);
static LENGTHS_6: [u8; 1 << code_bits(6)] = all_lengths(&DECODER_6);

/// How many nibbles of these sequences are not zero.
#[allow(long_running_const_eval, reason = "a fraction of a second, for the longest table")]
const fn all_lengths<const N: usize>(sequences: &[u32; N]) -> [u8; N] {
    let mut lengths = [0; N];
    let mut code = 0;
    while code < N {
        // Descending, they end with their zeros.
        lengths[code] = (u32::BITS - sequences[code].leading_zeros()).div_ceil(BITS) as u8;
        code += 1;
    }
    lengths
}

/// All sequences of `count` nibbles in lexicographic order.
#[allow(long_running_const_eval, reason = "a fraction of a second, for the longest table")]
const fn all_sequences<const N: usize>(count: u32) -> [u32; N] {
    let mut all = [0; N];
    let mut sequence = 0;
    let mut code = 1;
    while code < sequences(count) {
        // The next: the last nibble that is less than the one before it grows by one, and those after
        // it begin anew.
        let mut shift = (count - 1) * BITS;
        while shift > 0 && (sequence >> shift) & LOWEST == (sequence >> (shift - BITS)) & LOWEST {
            shift -= BITS;
        }
        sequence = (sequence + (1 << shift)) & (u32::MAX >> (32 - BITS - shift));
        all[code as usize] = sequence;
        code += 1;
    }
    all
}
