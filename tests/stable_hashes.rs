//! The default hasher has the same results on every platform and in every release.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hash, Hasher};

use guira::{FromSeed, StableHashBuilder};

fn hasher() -> StableHashBuilder {
    StableHashBuilder::from_seed(1)
}

/// A raw write of its own for each part.
struct Parts<'a>(&'a [&'a [u8]]);

impl Hash for Parts<'_> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.0.iter().for_each(|part| hasher.write(part));
    }
}

#[test]
fn integers_of_every_width() {
    let hash = hasher();
    let small = hash.hash_one(7_u64);
    let positive = [
        hash.hash_one(7_u8),
        hash.hash_one(7_u16),
        hash.hash_one(7_u32),
        hash.hash_one(7_usize),
        hash.hash_one(7_i8),
        hash.hash_one(7_i16),
        hash.hash_one(7_i32),
        hash.hash_one(7_i64),
        hash.hash_one(7_isize),
        hash.hash_one('\u{7}'),
    ];
    assert_eq!(positive, [small; 10]);
    let minus_two = hash.hash_one(u64::MAX - 1);
    let negative = [
        hash.hash_one(-2_i8),
        hash.hash_one(-2_i16),
        hash.hash_one(-2_i32),
        hash.hash_one(-2_i64),
        hash.hash_one(-2_isize),
    ];
    assert_eq!(negative, [minus_two; 5]);
    assert_ne!(hash.hash_one(0xfe_u8), minus_two, "unsigned integers are zero-extended");
    // Twice 64 bits.
    let wide = 3_u128 << 64 | 7;
    assert_eq!(hash.hash_one(wide), hash.hash_one((7_u64, 3_u64)));
    assert_eq!(hash.hash_one(-2_i128), hash.hash_one((-2_i64, -1_i64)));
    assert_ne!(hash.hash_one(7_u128), small);

    let integers = [0, 1, 7, 255, 1 << 32, 1 << 63, u64::MAX].map(|integer| hash.hash_one(integer));
    let wides = [wide, u128::MAX / 3].map(|integer| hash.hash_one(integer));
    let nothing = hash.hash_one(());
    golden(integers.into_iter().chain(wides).chain([nothing]), &INTEGERS);
}

#[test]
fn tuples() {
    let hash = hasher();
    let hashes = [
        hash.hash_one((1_u64, 2_u64)),
        hash.hash_one((2_u64, 1_u64)),
        hash.hash_one((1_u8, 2_u16, 3_u32)),
        hash.hash_one((1_u8, -2_i16, 3_u32, -4_i64, 5_u128)),
        hash.hash_one((1_u16, "guira", [2_u8; 3])),
        hash.hash_one(("guira", 1_u64)),
        hash.hash_one(("guira", "guira")),
        hash.hash_one((String::from("guira").repeat(9), "guira".repeat(9), 7)),
        hash.hash_one((Some(7_u64), None::<u64>, true, ())),
        hash.hash_one([1_u8, 2, 3]),
        hash.hash_one(b"guira".as_slice()),
        hash.hash_one(b"guira".repeat(9)),
        hash.hash_one(Parts(&[b"gui", b"ra"])),
    ];
    golden(hashes, &TUPLES);
}

#[test]
fn strings_of_many_lengths() {
    let text = "guira ".repeat(200);
    let hashes = LENGTHS.map(|length| hasher().hash_one(&text[..length]));
    golden(hashes, &STRINGS);
    // All of them, and what slices and raw writes have as well.
    let (all, slices, raw) =
        (0..=1_200).fold((0, 0, 0), |(all, slices, raw): (u64, u64, u64), n| {
            let bytes = &text.as_bytes()[..n];
            (
                all.rotate_left(1) ^ hasher().hash_one(&text[..n]),
                slices.rotate_left(1) ^ hasher().hash_one(bytes),
                raw.rotate_left(1) ^ hasher().hash_one(Parts(&[bytes])),
            )
        });
    golden([all, slices, raw], &ALL_LENGTHS);
}

/// The secrets come from the seed.
#[test]
fn seeds() {
    let seeds = [0, 1, 2, 1 << 63, u64::MAX];
    let hashes = seeds.map(|seed| StableHashBuilder::from_seed(seed).hash_one((7_u64, "guira", 1)));
    golden(hashes, &SEEDS);
    let default = || StableHashBuilder::default().hash_one(7_u64);
    assert_ne!(default(), default(), "random seeds");
}

/// Hashers without a seed are made from any.
#[test]
fn default_hashers_ignore_the_seed() {
    let hash = |seed| BuildHasherDefault::<DefaultHasher>::from_seed(seed).hash_one(7);
    assert_eq!(hash(1), hash(2));
}

fn golden(hashes: impl IntoIterator<Item = u64>, expected: &[u64]) {
    let hashes: Vec<u64> = hashes.into_iter().collect();
    assert_eq!(hashes, expected, "{hashes:#018x?}");
}

/// At and beside the lengths at which rapidhash changes its way.
const LENGTHS: [usize; 32] = [
    0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 48, 49, 64, 65, 80, 81, 96, 97, 112,
    113, 128, 224, 225, 336, 337, 1_200,
];

// The hashes as they were when the hasher was introduced. They never change.

const INTEGERS: [u64; 10] = [
    0x293d_7e55_e2d7_0841,
    0xd77c_e5a4_f014_335e,
    0x60f5_dd01_5ba5_fa9a,
    0x629b_b646_455c_6782,
    0x5bfe_2722_7010_8ed6,
    0xf2dc_3b2c_6bf6_75cf,
    0x45ba_7f15_c2d7_ea54,
    0xc570_5df1_287f_d3b0,
    0xcd6b_4ab9_b761_91c6,
    0xf893_a2ee_fb32_555e,
];
const TUPLES: [u64; 13] = [
    0x8180_8375_32f4_14f5,
    0x0a1b_dd49_bbbd_def6,
    0x1886_d828_9c27_b87b,
    0x9c73_b7a1_c16b_20eb,
    0xf3c1_eb69_ccea_5e16,
    0xfab0_0b82_823d_dbf8,
    0x717e_3afd_945e_f9f8,
    0xde94_ec7e_849e_6440,
    0xdae8_c747_bc2f_7a1a,
    0xfca0_c8a0_ad03_60b9,
    0xdbb1_3e09_9e69_dded,
    0x0a3a_e46f_4c8a_93cb,
    0x7eb8_ff57_9bad_8739,
];
const STRINGS: [u64; 32] = [
    0x4a42_deee_8cb0_cab5,
    0xc052_e2de_d46f_b67b,
    0xb3bf_adcc_2022_c043,
    0x1f8f_7c5b_4567_2fdd,
    0x5ca9_090e_b37e_f12d,
    0xb50e_16fc_5260_706e,
    0x53a5_f22b_dbd3_874c,
    0xb307_ccda_a90b_f8dc,
    0x8779_d408_98a4_a2b5,
    0x65f6_b179_15a4_7da0,
    0x2573_d9c7_e7d6_9a83,
    0x5c85_a2a6_e88b_1d27,
    0x7178_2ca1_b35b_3ef0,
    0xb304_ec4f_ac6f_b3b1,
    0x9e95_9e1e_5cb2_51d4,
    0x0d68_c27b_1875_1b2b,
    0xdc12_0e59_edcb_c95a,
    0x1ad0_a657_231e_799b,
    0xad0f_5dff_61e3_040f,
    0xd1d3_a2f9_1d90_6b51,
    0x4cc6_3c89_7599_b494,
    0x0220_6c7f_36da_eac5,
    0x200a_27e1_471a_e8a0,
    0x5f54_0576_c638_5d11,
    0xf2d0_9bb2_8bed_5662,
    0x6461_350a_6e4b_d529,
    0x2b27_a413_3227_091c,
    0x3819_d620_b0d1_6c9d,
    0x7b3b_46ec_222b_5181,
    0x7297_b1fe_572b_b02c,
    0xb664_b332_fb37_6707,
    0xb4aa_c8a1_74f5_097e,
];
const ALL_LENGTHS: [u64; 3] = [0x0f96_29ba_4e12_a1ac, 0x6327_b67f_b385_06a1, 0x1897_b12a_4d12_1997];
const SEEDS: [u64; 5] = [
    0xe676_2bf3_4074_dad7,
    0xa36e_97c7_7ec6_0987,
    0xb6f8_c4c0_3e6a_81c9,
    0x8075_0761_1fd9_eceb,
    0xba93_2171_39e2_a668,
];
