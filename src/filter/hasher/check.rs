//! The hasher checks: how a load or a merge notices that it got another hasher, or that the
//! standard library hashes some types in another way than it did.

use core::{
    cmp::Ordering,
    hash::{BuildHasher, Hash},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6},
};

/// How many types there are.
pub(super) const TYPES: usize = 8;

/// What a hasher makes of a few values of each type: what identifies it, its seed, its release, and
/// the standard library that feeds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::filter) struct HasherChecks(pub(in crate::filter) [u32; TYPES]);

impl HasherChecks {
    /// Hashes integers of every width, texts of many lengths, since hashers treat each of these in
    /// a way of its own, and some values of the other types.
    pub(in crate::filter) fn of(hasher: &impl BuildHasher) -> Self {
        Self([
            check(integers(hasher)),
            check(texts(hasher)),
            check(slices(hasher)),
            check(tuples(hasher)),
            check(enums(hasher)),
            check(characters(hasher)),
            check(addresses(hasher)),
            check(paths(hasher)),
        ])
    }
}

/// One number of hashes. For each of them in turn, the result so far is rotated left by one bit and
/// combined with the hash by XOR; and both halves of the last result by XOR.
fn check(hashes: impl IntoIterator<Item = u64>) -> u32 {
    let all = hashes.into_iter().fold(0, |check: u64, hash| check.rotate_left(1) ^ hash);
    (all ^ all >> 32) as u32
}

const NUMBER: u64 = 0x0123_4567_89ab_cdef;

fn integers(hasher: &impl BuildHasher) -> impl IntoIterator<Item = u64> {
    [
        hasher.hash_one(NUMBER as u8),
        hasher.hash_one(NUMBER as u16),
        hasher.hash_one(NUMBER as u32),
        hasher.hash_one(NUMBER),
        hasher.hash_one(u128::from(NUMBER)),
        hasher.hash_one(NUMBER as i8),
        hasher.hash_one(NUMBER as i16),
        hasher.hash_one(NUMBER as i32),
        hasher.hash_one(!NUMBER as i64),
        hasher.hash_one(i128::from(!NUMBER as i64)),
    ]
}

fn texts(hasher: &impl BuildHasher) -> impl IntoIterator<Item = u64> {
    let lengths =
        (0..=64).chain([100, 127, 128, 129, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025]);
    lengths.map(|length| hasher.hash_one(&TEXT[..length]))
}

fn slices(hasher: &impl BuildHasher) -> impl IntoIterator<Item = u64> {
    [
        hasher.hash_one(NUMBER as u32 as usize),
        hasher.hash_one(&TEXT.as_bytes()[..0]),
        hasher.hash_one(&TEXT.as_bytes()[..7]),
        hasher.hash_one(&TEXT.as_bytes()[..100]),
        hasher.hash_one([NUMBER as u16, 1]),
        hasher.hash_one(&[NUMBER, 1][..]),
        hasher.hash_one([&TEXT[..3], &TEXT[..5]]),
    ]
}

fn tuples(hasher: &impl BuildHasher) -> impl IntoIterator<Item = u64> {
    [
        hasher.hash_one((NUMBER as u8, NUMBER)),
        hasher.hash_one((NUMBER as u32, NUMBER as u16, 1_u8)),
        hasher.hash_one((&TEXT[..5], NUMBER)),
        hasher.hash_one((NUMBER, &TEXT[..5], (1_u8, &TEXT[..3]))),
    ]
}

fn enums(hasher: &impl BuildHasher) -> impl IntoIterator<Item = u64> {
    #[derive(Hash)]
    enum Letter {
        _A,
        B,
    }
    [
        hasher.hash_one(None::<u32>),
        hasher.hash_one(Some(NUMBER as u32)),
        hasher.hash_one(Some(&TEXT[..5])),
        hasher.hash_one(Ok::<u8, u16>(1)),
        hasher.hash_one(Err::<u8, u16>(1)),
        hasher.hash_one(Ordering::Less),
        hasher.hash_one(Letter::B),
    ]
}

fn characters(hasher: &impl BuildHasher) -> impl IntoIterator<Item = u64> {
    [hasher.hash_one('g'), hasher.hash_one('\u{1f426}'), hasher.hash_one([true, false])]
        .into_iter()
        .chain([true, false].map(|bit| hasher.hash_one(bit)))
}

fn addresses(hasher: &impl BuildHasher) -> impl IntoIterator<Item = u64> {
    let (v4, v6) = (Ipv4Addr::new(192, 0, 2, 33), Ipv6Addr::new(0x2001, 0xdb8, 0, 1, 2, 3, 4, 5));
    [
        hasher.hash_one(v4),
        hasher.hash_one(v6),
        hasher.hash_one(IpAddr::V4(v4)),
        hasher.hash_one(IpAddr::V6(v6)),
        hasher.hash_one(SocketAddr::new(v4.into(), 8_080)),
        hasher.hash_one(SocketAddrV6::new(v6, 8_080, 7, 9)),
    ]
}

#[cfg(feature = "std")]
fn paths(hasher: &impl BuildHasher) -> impl IntoIterator<Item = u64> {
    let paths = ["", "guira", "guira/nests.txt", "/guira/./nests.txt", "../guira//nests/"];
    paths.map(|path| hasher.hash_one(std::path::Path::new(path)))
}

/// There are no paths.
#[cfg(not(feature = "std"))]
fn paths(_hasher: &impl BuildHasher) -> impl IntoIterator<Item = u64> {
    []
}

/// "guira " again and again: 1,026 bytes.
const TEXT: &str = match core::str::from_utf8(WORDS.as_flattened()) {
    Ok(text) => text,
    Err(_) => unreachable!(),
};
const WORDS: [[u8; 6]; 171] = [*b"guira "; 171];
