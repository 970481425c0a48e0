//! Semi-sorted buckets as in the paper's section 5.2: four fingerprints of 13 bits in the space of 12.
//!
//! The four are sorted by their low nibbles, and the multiset of nibbles stands as one of 3 876 codes
//! in 12 bits instead of 16; the nine high bits of each follow in that order.

use std::sync::LazyLock;

use super::cuckoo::{Code, LANES};

/// Multisets of four nibbles.
const CODES: usize = 3876;
/// Bits of a code.
const CODE_BITS: u32 = 12;
/// Bits of a fingerprint above its nibble.
const HIGH_BITS: u32 = 9;

/// Code to nibbles, the smallest lowest, and nibbles to code.
struct Tables {
    nibbles: [u16; CODES],
    codes: Vec<u16>,
}

static TABLES: LazyLock<Tables> = LazyLock::new(|| {
    let mut tables = Tables { nibbles: [0; CODES], codes: vec![0; 1 << 16] };
    let sorted = (0..=u16::MAX).filter(|&nibbles| {
        let nibble = |lane: u32| nibbles >> (4 * lane) & 15;
        (0..3).all(|lane| nibble(lane) <= nibble(lane + 1))
    });
    for (code, nibbles) in sorted.enumerate() {
        tables.nibbles[code] = nibbles;
        tables.codes[usize::from(nibbles)] = code as u16;
    }
    tables
});

/// Fingerprints turned round, nibble first, so that their order is that of the lanes.
type Lanes = [u16; LANES];

#[inline]
fn turned(tag: u32) -> u16 {
    ((tag & 15) << HIGH_BITS | tag >> 4) as u16
}

#[inline]
fn turned_back(lane: u16) -> u32 {
    u32::from(lane) >> HIGH_BITS | u32::from(lane & 0x1ff) << 4
}

#[inline]
fn decode(word: u64, tables: &Tables) -> Lanes {
    let nibbles = tables.nibbles[word as usize & ((1 << CODE_BITS) - 1)];
    let high = word >> CODE_BITS;
    std::array::from_fn(|lane| {
        let high = (high >> (HIGH_BITS * lane as u32)) as u16 & 0x1ff;
        (nibbles >> (4 * lane) & 15) << HIGH_BITS | high
    })
}

#[inline]
fn encode(mut lanes: Lanes) -> u64 {
    // A network of five comparisons.
    for (a, b) in [(0, 1), (2, 3), (0, 2), (1, 3), (1, 2)] {
        (lanes[a], lanes[b]) = (lanes[a].min(lanes[b]), lanes[a].max(lanes[b]));
    }
    let (mut nibbles, mut high) = (0, 0);
    for (lane, &tag) in lanes.iter().enumerate() {
        nibbles |= usize::from(tag >> HIGH_BITS) << (4 * lane);
        high |= u64::from(tag & 0x1ff) << (HIGH_BITS * lane as u32);
    }
    u64::from(TABLES.codes[nibbles]) | high << CODE_BITS
}

/// Buckets that are encoded for every change, and decoded for every look-up.
pub struct SemiSorted;

impl Code for SemiSorted {
    const BITS: u32 = 13;

    #[inline]
    fn either_holds(words: [u64; 2], tag: u32) -> bool {
        let (tables, tag) = (&*TABLES, turned(tag));
        let [first, second] = words.map(|word| decode(word, tables));
        let lanes = first.into_iter().chain(second);
        lanes.fold(u16::MAX, |least, lane| least.min(lane ^ tag)) == 0
    }

    #[inline]
    fn with(word: u64, tag: u32) -> Option<u64> {
        let mut lanes = decode(word, &TABLES);
        // Empty lanes are zero, and come first.
        (lanes[0] == 0).then(|| {
            lanes[0] = turned(tag);
            encode(lanes)
        })
    }

    #[inline]
    fn without(word: u64, tag: u32) -> Option<u64> {
        let mut lanes = decode(word, &TABLES);
        let lane = lanes.iter().position(|&lane| lane == turned(tag))?;
        lanes[lane] = 0;
        Some(encode(lanes))
    }

    #[inline]
    fn replace(word: u64, lane: usize, tag: u32) -> (u64, u32) {
        let mut lanes = decode(word, &TABLES);
        let old = std::mem::replace(&mut lanes[lane], turned(tag));
        (encode(lanes), turned_back(old))
    }
}

#[cfg(test)]
mod tests {
    use super::{CODES, Code, SemiSorted, TABLES, decode, encode, turned, turned_back};

    #[test]
    fn there_are_as_many_codes_as_multisets() {
        let tables = &*TABLES;
        for code in 0..CODES {
            assert_eq!(usize::from(tables.codes[usize::from(tables.nibbles[code])]), code);
        }
        assert_eq!(tables.nibbles[CODES - 1], 0xffff);
        assert!((0..8192).all(|tag| turned_back(turned(tag)) == tag));
    }

    #[test]
    fn a_bucket_is_a_multiset_of_four() {
        let tags = [1_u32, 16, 17, 0x1ff0, 0x1fff, 0x1000, 0x10, 3];
        for code in 0..8_usize.pow(4) {
            let four: [u32; 4] = std::array::from_fn(|lane| tags[code >> (3 * lane) & 7]);
            let mut word = 0;
            for tag in four {
                word = SemiSorted::with(word, tag).expect("room for four");
                assert!(word >> 48 == 0 && encode(decode(word, &TABLES)) == word);
            }
            assert_eq!(SemiSorted::with(word, 5), None);
            for tag in tags {
                assert_eq!(SemiSorted::either_holds([word, 0], tag), four.contains(&tag));
                assert_eq!(SemiSorted::either_holds([0, word], tag), four.contains(&tag));
                assert_eq!(SemiSorted::without(word, tag).is_some(), four.contains(&tag));
            }
            for lane in 0..4 {
                let (replaced, old) = SemiSorted::replace(word, lane, 5);
                let back = SemiSorted::without(replaced, 5).expect("just put in");
                assert_eq!(SemiSorted::with(back, old), Some(word));
            }
            let emptied = four
                .iter()
                .fold(word, |word, &tag| SemiSorted::without(word, tag).expect("each of the four"));
            assert_eq!(emptied, 0);
        }
    }
}
