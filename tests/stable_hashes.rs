//! The stable hasher has the same results on every platform and in every release.

use std::hash::BuildHasher;

use guira::StableHashBuilder;

#[test]
fn stable_hashes_do_not_change() {
    let hash = StableHashBuilder::with_seed(1);
    let hashes = [
        hash.hash_one(0_u8),
        hash.hash_one(1_u64),
        hash.hash_one(1_usize),
        hash.hash_one(-1_i32),
        hash.hash_one("guira"),
        hash.hash_one((1_u16, "guira", [2_u8; 3])),
        hash.hash_one(u128::MAX / 3),
        // More than 112 and than 224 bytes, where rapidhash changes to wider blocks.
        hash.hash_one("guira ".repeat(25)),
        hash.hash_one("guira ".repeat(99)),
    ];
    assert_eq!(hashes[1], hashes[2], "a usize is hashed as 64 bits");
    assert_eq!(hashes, GOLDEN_HASHES, "{hashes:#x?}");
    assert_ne!(hash.hash_one(1_u64), StableHashBuilder::with_seed(0).hash_one(1_u64));
}

/// The hashes as they were when the stable hasher was introduced.
const GOLDEN_HASHES: [u64; 9] = [
    0x26dd_5e6b_4f89_1181,
    0x2e20_bec1_cbbc_4aa5,
    0x2e20_bec1_cbbc_4aa5,
    0x79ea_4251_6056_422e,
    0x1bdc_c3da_e950_8f4b,
    0xc334_72bf_686e_c484,
    0x7b55_393d_e42a_87c2,
    0x901d_fb28_7383_a606,
    0x40e5_e9ee_7418_b983,
];
