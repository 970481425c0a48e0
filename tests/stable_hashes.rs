//! The default hasher has the same results on every platform and in every release.

use std::hash::{BuildHasher, Hash, Hasher};

use guira::StableHashBuilder;

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
    golden(integers.into_iter().chain(wides).chain([nothing]), 0xd24a_f076_a000_9dab);
}

/// What the guide to snapshots says of keys that are one, and of those that are not.
#[test]
fn keys_of_different_types_may_be_one() {
    #[derive(Hash)]
    struct Flow {
        port: u16,
        host: u64,
    }
    let hash = hasher();
    let one = |hashes: &[u64]| assert!(hashes.iter().all(|&hash| hash == hashes[0]), "{hashes:?}");
    one(&[hash.hash_one('A'), hash.hash_one(65_u32), hash.hash_one(65_u8)]);
    one(&[hash.hash_one(true), hash.hash_one(1_u64)]);
    one(&[hash.hash_one(Some(7_u32)), hash.hash_one((1_u8, 7_u64))]);
    one(&[hash.hash_one(None::<u32>), hash.hash_one(0_u64)]);
    one(&[hash.hash_one(Flow { port: 80, host: 9 }), hash.hash_one((80_u16, 9_u64))]);
    one(&[hash.hash_one(((1, 2), 3)), hash.hash_one((1, 2, 3))]);
    one(&[hash.hash_one("ani"), hash.hash_one(String::from("ani"))]);
    one(&[
        hash.hash_one([1_u64, 2]),
        hash.hash_one(&[1_u64, 2][..]),
        hash.hash_one(vec![1_u64, 2]),
    ]);
    one(&[
        hash.hash_one(Box::new(7_u64)),
        hash.hash_one(std::sync::Arc::new(7_u64)),
        hash.hash_one(7_u64),
    ]);
    #[cfg(feature = "std")]
    one(&[
        hash.hash_one(std::path::PathBuf::from("a/b")),
        hash.hash_one(std::path::Path::new("a/b")),
    ]);
    assert_ne!(hash.hash_one("a"), hash.hash_one(*b"a"));
    assert_ne!(hash.hash_one(7_u64), hash.hash_one(7_u128));
    assert_ne!(hash.hash_one((1_u64, 7_u64)), hash.hash_one([1_u64, 7]));
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
    golden(hashes, 0x71ac_99e9_462a_bce1);
}

#[test]
fn strings_of_many_lengths() {
    let text = "guira ".repeat(200);
    let bytes = |length| &text.as_bytes()[..length];
    golden((0..=1_200).map(|length| hasher().hash_one(&text[..length])), 0x0f96_29ba_4e12_a1ac);
    golden((0..=1_200).map(|length| hasher().hash_one(bytes(length))), 0x6327_b67f_b385_06a1);
    golden(
        (0..=1_200).map(|length| hasher().hash_one(Parts(&[bytes(length)]))),
        0x1897_b12a_4d12_1997,
    );
}

/// The secrets come from the seed.
#[test]
fn seeds() {
    let seeds = [0, 1, 2, 1 << 63, u64::MAX];
    let hashes = seeds.map(|seed| StableHashBuilder::from_seed(seed).hash_one((7_u64, "guira", 1)));
    golden(hashes, 0x1d8c_3dbc_0e86_99da);
    let default = || StableHashBuilder::default().hash_one(7_u64);
    assert_ne!(default(), default(), "random seeds");
}

/// Compares all of these hashes, as one number, with what they were when the hasher was introduced.
/// They never change.
fn golden(hashes: impl IntoIterator<Item = u64>, expected: u64) {
    let hashes: Vec<u64> = hashes.into_iter().collect();
    let all = hashes.iter().fold(0_u64, |all, hash| all.rotate_left(1) ^ hash);
    assert_eq!(all, expected, "{hashes:#018x?}");
}
