//! Single lookups whose addresses are computed in vector registers, against those in scalar code.

use core::fmt::Debug;

use super::*;
use crate::{
    bucket::{Plain, SemiSorted},
    table::{Addressing, Aged, Bare, Pair, Valued},
};

/// Numbers of buckets: the least, powers of two and others.
const SIZES: [u64; 6] = [1, 2, 3, 1_000, 4_096, 12_289];

/// Fills tables partly. Then asserts that both ways to look up have the same answers: for items
/// that are present, and for as many others.
fn agree<L: BucketLayout, P: Payload>(payload: P, complete: impl Fn(Pair) -> Pair)
where
    P::Answer: Debug + PartialEq,
{
    if !Kernel::Avx2.is_available() {
        println!("not tested, because it is not available: AVX2");
        return;
    }
    for size in SIZES {
        let table = FixedTable::new(Addressing::new(size, payload), false).expect("memory");
        let probe = payload.probe::<L>();
        let scalar = table.single_lookup::<L>(Kernel::Scalar);
        let items = size * u64::from(L::SLOTS) / 2 + 1;
        let mixed = |item: u64| mix(item, SEED);
        for item in 0..items {
            let pair = table.addressing().pair::<L>(mixed(item));
            let _ = table.insert::<L>(complete(pair));
        }
        for item in 0..2 * items {
            // SAFETY: the function is that of this layout, and the processor has AVX2.
            let (by_scalar, by_vectors) = unsafe {
                (
                    scalar.answer(&table, mixed(item)),
                    look_up_one::<L, P>(&table, &probe, mixed(item)),
                )
            };
            assert_eq!(by_vectors, by_scalar, "item {item} of {items} in {size} buckets");
        }
    }
}

#[test]
fn lookups_in_sets_agree() {
    agree::<Plain<8, 8>, _>(Bare, |pair| pair);
    agree::<Plain<6, 10>, _>(Bare, |pair| pair);
    agree::<Plain<5, 12>, _>(Bare, |pair| pair);
    agree::<Plain<4, 16>, _>(Bare, |pair| pair);
    agree::<SemiSorted<6, 12>, _>(Bare, |pair| pair);
    agree::<SemiSorted<3, 22>, _>(Bare, |pair| pair);
}

#[test]
fn lookups_of_values_agree() {
    let complete = |pair: Pair| pair.with_value(pair.buckets[0] as u16 & 0xf);
    agree::<Plain<5, 12>, _>(Valued::new(4), complete);
    agree::<Plain<4, 16>, _>(Valued::new(4), complete);
    agree::<Plain<3, 21>, _>(Valued::new(8), complete);
    agree::<Plain<2, 32>, _>(Valued::new(16), complete);
}

#[test]
fn lookups_of_what_expires_agree() {
    // Some stamps are visible in generation 20, and some have expired.
    let complete = |pair: Pair| pair.with_value(pair.buckets[0] as u16 & 0xf);
    agree::<Plain<4, 16>, _>(Aged::new(4, 6, 20), complete);
    agree::<Plain<3, 21>, _>(Aged::new(4, 13, 20), complete);
}
