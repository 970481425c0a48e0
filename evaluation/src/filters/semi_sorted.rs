//! Semi-sorted buckets (section 5.2 of the paper): four fingerprints of `HIGH + 4` bits in
//! `4 × HIGH + 12` bits, which saves one bit per fingerprint.
//!
//! The fingerprints are sorted by their low nibbles. A 12-bit code replaces the 16 bits of the four
//! nibbles, because only 3876 sorted combinations exist. The high bits of each fingerprint follow
//! in the same order. As in the paper, one precomputed table turns a code into its nibbles, and
//! another one turns nibbles into their code. A lookup decodes both buckets by the first table.

use super::cuckoo::{BucketLayout, SLOTS_PER_BUCKET};

/// Bits per code: there are 3876 multisets of four nibbles.
const CODE_BITS: u32 = 12;
/// Selects the code of a bucket.
const CODE_MASK: usize = (1 << CODE_BITS) - 1;

/// The lowest bit of each of four 16-bit lanes.
const LANES: u64 = 0x0001_0001_0001_0001;

/// The mapping between codes and sorted nibbles.
struct Tables {
    /// The nibbles of each code, with the smallest in the low bits: 8 KiB, which fit into the L1
    /// cache. Each value of 12 bits has an entry, so that no lookup checks bounds.
    nibbles: [u16; CODE_MASK + 1],
    /// The code of each sorted combination of nibbles.
    codes: [u16; 1 << 16],
}

/// Computed at compile time, so that no lookup checks whether the tables exist.
static TABLES: Tables = {
    let mut tables = Tables { nibbles: [0; CODE_MASK + 1], codes: [0; 1 << 16] };
    let (mut code, mut slots) = (0, [0_u16; SLOTS_PER_BUCKET]);
    loop {
        let nibbles = slots[0] | slots[1] << 4 | slots[2] << 8 | slots[3] << 12;
        tables.nibbles[code] = nibbles;
        tables.codes[nibbles as usize] = code as u16;
        if slots[0] == 15 {
            break tables;
        }
        // The next combination: the highest slot that is not 15 grows, and those above follow it.
        let mut slot = SLOTS_PER_BUCKET - 1;
        while slots[slot] == 15 {
            slot -= 1;
        }
        let grown = slots[slot] + 1;
        while slot < SLOTS_PER_BUCKET {
            slots[slot] = grown;
            slot += 1;
        }
        code += 1;
    }
};

/// A bucket's fingerprints, each rotated so that its low nibble is on top: their numeric order is
/// the order of the slots.
type Rotated = [u16; SLOTS_PER_BUCKET];

/// Buckets whose lookups decode them and whose changes also encode them again.
pub struct SemiSorted<const HIGH: u32>;

impl<const HIGH: u32> SemiSorted<HIGH> {
    /// Selects the high part of a fingerprint.
    const PART: u64 = (1 << HIGH) - 1;

    #[inline]
    fn rotate(fingerprint: u32) -> u16 {
        ((fingerprint & 15) << HIGH | fingerprint >> 4) as u16
    }

    #[inline]
    fn unrotate(slot: u16) -> u32 {
        u32::from(slot) >> HIGH | (u32::from(slot) & Self::PART as u32) << 4
    }

    /// Returns the rotated fingerprints of a bucket in four lanes.
    #[inline]
    fn lanes(word: u64) -> u64 {
        let nibbles = u64::from(TABLES.nibbles[word as usize & CODE_MASK]);
        let nibbles = (nibbles | nibbles << 24) & 0x0000_00ff_0000_00ff;
        let nibbles = (nibbles | nibbles << 12) & (15 * LANES);
        let high =
            |slot| ((word >> CODE_BITS) << ((16 - HIGH) * slot)) & (Self::PART << (16 * slot));
        nibbles << HIGH | high(0) | high(1) | high(2) | high(3)
    }

    #[inline]
    fn decode(word: u64) -> Rotated {
        let lanes = Self::lanes(word);
        std::array::from_fn(|slot| (lanes >> (16 * slot)) as u16)
    }

    #[inline]
    fn encode(mut slots: Rotated) -> u64 {
        // A sorting network.
        for (a, b) in [(0, 1), (2, 3), (0, 2), (1, 3), (1, 2)] {
            (slots[a], slots[b]) = (slots[a].min(slots[b]), slots[a].max(slots[b]));
        }
        let (mut nibbles, mut high) = (0, 0);
        for (slot, &fingerprint) in slots.iter().enumerate() {
            nibbles |= usize::from(fingerprint >> HIGH) << (4 * slot);
            high |= (u64::from(fingerprint) & Self::PART) << (HIGH * slot as u32);
        }
        u64::from(TABLES.codes[nibbles]) | high << CODE_BITS
    }
}

impl<const HIGH: u32> BucketLayout for SemiSorted<HIGH> {
    const BITS: u32 = HIGH + 4;

    #[inline]
    fn either_holds(words: [u64; 2], fingerprint: u32) -> bool {
        let wanted = u64::from(Self::rotate(fingerprint)) * LANES;
        let found = words.map(|word| {
            let different = Self::lanes(word) ^ wanted;
            different.wrapping_sub(LANES) & !different & (LANES << 15)
        });
        found[0] | found[1] != 0
    }

    #[inline]
    fn with(word: u64, fingerprint: u32) -> Option<u64> {
        let mut slots = Self::decode(word);
        // Empty slots are zero, so they sort first.
        (slots[0] == 0).then(|| {
            slots[0] = Self::rotate(fingerprint);
            Self::encode(slots)
        })
    }

    #[inline]
    fn without(word: u64, fingerprint: u32) -> Option<u64> {
        let mut slots = Self::decode(word);
        let slot = slots.iter().position(|&slot| slot == Self::rotate(fingerprint))?;
        slots[slot] = 0;
        Some(Self::encode(slots))
    }

    #[inline]
    fn replace(word: u64, slot: usize, fingerprint: u32) -> (u64, u32) {
        let mut slots = Self::decode(word);
        let old = std::mem::replace(&mut slots[slot], Self::rotate(fingerprint));
        (Self::encode(slots), Self::unrotate(old))
    }
}

#[cfg(test)]
mod tests {
    use super::{BucketLayout, SemiSorted, TABLES};

    #[test]
    fn each_multiset_of_nibbles_has_a_code() {
        let is_sorted = |nibbles: &u16| {
            (0..3).all(|slot| nibbles >> (4 * slot) & 15 <= nibbles >> (4 * slot + 4) & 15)
        };
        let sorted: Vec<u16> = (0..=u16::MAX).filter(is_sorted).collect();
        assert_eq!(sorted.len(), 3876);
        for nibbles in sorted {
            let code = TABLES.codes[usize::from(nibbles)];
            assert_eq!(TABLES.nibbles[usize::from(code)], nibbles);
        }
        assert_eq!(TABLES.nibbles[3875], 0xffff);
    }

    /// Checks all operations on buckets of four fingerprints, some of which are equal in part.
    fn a_bucket_holds_four<const HIGH: u32>() {
        let top = (1 << HIGH) - 1;
        let parts = [(0, 1), (1, 0), (1, 1), (top, 0), (top, 15), (top / 2 + 1, 0), (0, 3)];
        let fingerprints = parts.map(|(high, low)| high << 4 | low);
        for code in 0..7_usize.pow(4) {
            let four: [u32; 4] =
                std::array::from_fn(|slot| fingerprints[code / 7_usize.pow(slot as u32) % 7]);
            let mut word = 0;
            for fingerprint in four {
                word = SemiSorted::<HIGH>::with(word, fingerprint).expect("room for four");
                assert!(u128::from(word) >> (4 * HIGH + 12) == 0);
                assert_eq!(SemiSorted::<HIGH>::encode(SemiSorted::<HIGH>::decode(word)), word);
            }
            assert_eq!(SemiSorted::<HIGH>::with(word, 5), None);
            for fingerprint in 1..1 << (HIGH + 4).min(7) {
                let holds = four.contains(&fingerprint);
                for words in [[word, 0], [0, word]] {
                    assert_eq!(SemiSorted::<HIGH>::either_holds(words, fingerprint), holds);
                }
                assert_eq!(SemiSorted::<HIGH>::without(word, fingerprint).is_some(), holds);
            }
            for slot in 0..4 {
                let (replaced, old) = SemiSorted::<HIGH>::replace(word, slot, 5);
                let back = SemiSorted::<HIGH>::without(replaced, 5).expect("just put in");
                assert_eq!(SemiSorted::<HIGH>::with(back, old), Some(word));
            }
            let emptied = four.iter().fold(word, |word, &fingerprint| {
                assert!(SemiSorted::<HIGH>::either_holds([word, 0], fingerprint));
                SemiSorted::<HIGH>::without(word, fingerprint).expect("each of the four")
            });
            assert_eq!(emptied, 0);
        }
    }

    #[test]
    fn a_bucket_holds_a_multiset_of_four_fingerprints() {
        a_bucket_holds_four::<1>();
        a_bucket_holds_four::<3>();
        a_bucket_holds_four::<5>();
        a_bucket_holds_four::<9>();
        a_bucket_holds_four::<11>();
    }
}
