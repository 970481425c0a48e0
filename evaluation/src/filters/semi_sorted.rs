//! Semi-sorted buckets (section 5.2 of the paper): four 13-bit fingerprints in 48 bits.
//!
//! The fingerprints are sorted by their low nibbles. A 12-bit code replaces the 16 bits of the four
//! nibbles, because only 3876 sorted combinations exist. The nine high bits of each fingerprint
//! follow in the same order.

use std::sync::LazyLock;

use super::cuckoo::{BucketLayout, SLOTS_PER_BUCKET};

/// Number of multisets of four nibbles.
const CODES: usize = 3876;
/// Bits per code.
const CODE_BITS: u32 = 12;
/// Bits of a fingerprint above its low nibble.
const HIGH_BITS: u32 = 9;

/// The mapping between codes and sorted nibbles.
struct Tables {
    /// The nibbles of each code, with the smallest in the low bits.
    nibbles: [u16; CODES],
    /// The code of each sorted combination of nibbles.
    codes: Vec<u16>,
}

static TABLES: LazyLock<Tables> = LazyLock::new(|| {
    let mut tables = Tables { nibbles: [0; CODES], codes: vec![0; 1 << 16] };
    let sorted = (0..=u16::MAX).filter(|&nibbles| {
        let nibble = |slot: u32| nibbles >> (4 * slot) & 15;
        (0..3).all(|slot| nibble(slot) <= nibble(slot + 1))
    });
    for (code, nibbles) in sorted.enumerate() {
        tables.nibbles[code] = nibbles;
        tables.codes[usize::from(nibbles)] = code as u16;
    }
    tables
});

/// A bucket's fingerprints, each rotated so that its low nibble is on top: their numeric order is
/// the order of the slots.
type Rotated = [u16; SLOTS_PER_BUCKET];

#[inline]
fn rotate(fingerprint: u32) -> u16 {
    ((fingerprint & 15) << HIGH_BITS | fingerprint >> 4) as u16
}

#[inline]
fn unrotate(slot: u16) -> u32 {
    u32::from(slot) >> HIGH_BITS | u32::from(slot & 0x1ff) << 4
}

#[inline]
fn decode(word: u64, tables: &Tables) -> Rotated {
    let nibbles = tables.nibbles[word as usize & ((1 << CODE_BITS) - 1)];
    let high = word >> CODE_BITS;
    std::array::from_fn(|slot| {
        let high = (high >> (HIGH_BITS * slot as u32)) as u16 & 0x1ff;
        (nibbles >> (4 * slot) & 15) << HIGH_BITS | high
    })
}

#[inline]
fn encode(mut slots: Rotated) -> u64 {
    // A sorting network.
    for (a, b) in [(0, 1), (2, 3), (0, 2), (1, 3), (1, 2)] {
        (slots[a], slots[b]) = (slots[a].min(slots[b]), slots[a].max(slots[b]));
    }
    let (mut nibbles, mut high) = (0, 0);
    for (slot, &fingerprint) in slots.iter().enumerate() {
        nibbles |= usize::from(fingerprint >> HIGH_BITS) << (4 * slot);
        high |= u64::from(fingerprint & 0x1ff) << (HIGH_BITS * slot as u32);
    }
    u64::from(TABLES.codes[nibbles]) | high << CODE_BITS
}

/// A bucket that each lookup decodes and each change encodes again.
pub struct SemiSorted;

impl BucketLayout for SemiSorted {
    const BITS: u32 = 13;

    #[inline]
    fn either_holds(words: [u64; 2], fingerprint: u32) -> bool {
        let (tables, fingerprint) = (&*TABLES, rotate(fingerprint));
        let [first, second] = words.map(|word| decode(word, tables));
        let slots = first.into_iter().chain(second);
        slots.fold(u16::MAX, |least, slot| least.min(slot ^ fingerprint)) == 0
    }

    #[inline]
    fn with(word: u64, fingerprint: u32) -> Option<u64> {
        let mut slots = decode(word, &TABLES);
        // Empty slots are zero, so they sort first.
        (slots[0] == 0).then(|| {
            slots[0] = rotate(fingerprint);
            encode(slots)
        })
    }

    #[inline]
    fn without(word: u64, fingerprint: u32) -> Option<u64> {
        let mut slots = decode(word, &TABLES);
        let slot = slots.iter().position(|&slot| slot == rotate(fingerprint))?;
        slots[slot] = 0;
        Some(encode(slots))
    }

    #[inline]
    fn replace(word: u64, slot: usize, fingerprint: u32) -> (u64, u32) {
        let mut slots = decode(word, &TABLES);
        let old = std::mem::replace(&mut slots[slot], rotate(fingerprint));
        (encode(slots), unrotate(old))
    }
}

#[cfg(test)]
mod tests {
    use super::{BucketLayout, CODES, SemiSorted, TABLES, decode, encode, rotate, unrotate};

    #[test]
    fn each_multiset_of_nibbles_has_a_code() {
        let tables = &*TABLES;
        for code in 0..CODES {
            assert_eq!(usize::from(tables.codes[usize::from(tables.nibbles[code])]), code);
        }
        assert_eq!(tables.nibbles[CODES - 1], 0xffff);
        assert!((0..8192).all(|fingerprint| unrotate(rotate(fingerprint)) == fingerprint));
    }

    #[test]
    fn a_bucket_holds_a_multiset_of_four_fingerprints() {
        let fingerprints = [1_u32, 16, 17, 0x1ff0, 0x1fff, 0x1000, 0x10, 3];
        for code in 0..8_usize.pow(4) {
            let four: [u32; 4] = std::array::from_fn(|slot| fingerprints[code >> (3 * slot) & 7]);
            let mut word = 0;
            for fingerprint in four {
                word = SemiSorted::with(word, fingerprint).expect("room for four");
                assert!(word >> 48 == 0 && encode(decode(word, &TABLES)) == word);
            }
            assert_eq!(SemiSorted::with(word, 5), None);
            for fingerprint in fingerprints {
                assert_eq!(
                    SemiSorted::either_holds([word, 0], fingerprint),
                    four.contains(&fingerprint)
                );
                assert_eq!(
                    SemiSorted::either_holds([0, word], fingerprint),
                    four.contains(&fingerprint)
                );
                assert_eq!(
                    SemiSorted::without(word, fingerprint).is_some(),
                    four.contains(&fingerprint)
                );
            }
            for slot in 0..4 {
                let (replaced, old) = SemiSorted::replace(word, slot, 5);
                let back = SemiSorted::without(replaced, 5).expect("just put in");
                assert_eq!(SemiSorted::with(back, old), Some(word));
            }
            let emptied = four.iter().fold(word, |word, &fingerprint| {
                SemiSorted::without(word, fingerprint).expect("each of the four")
            });
            assert_eq!(emptied, 0);
        }
    }
}
