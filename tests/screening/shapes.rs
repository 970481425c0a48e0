//! Shapes of keys: integers as they occur in practice before any hashing, and some that are made to
//! undo a step of a mixer.

/// A sequence of keys, and what is looked up beside them.
#[derive(Clone, Copy)]
pub struct Shape {
    pub name: &'static str,
    /// The key of an index below 2^24, given a random number.
    pub key: fn(u64, u64) -> u64,
    /// The change of each inserted key that is looked up. Without it, later keys of the sequence
    /// are.
    pub change: Option<fn(u64) -> u64>,
}

/// A bijection of words: the finalizer of `SplitMix64`.
pub fn finalize(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// A bijection of 32 bits.
fn finalize_half(x: u32) -> u64 {
    let x = (x ^ (x >> 16)).wrapping_mul(0x7feb_352d);
    let x = (x ^ (x >> 15)).wrapping_mul(0x846c_a68b);
    (x ^ (x >> 16)).into()
}

fn random(i: u64, random: u64) -> u64 {
    finalize(i ^ random)
}

fn counter(i: u64, _: u64) -> u64 {
    i
}

/// The bits of an index, dealt to some random places, which are beside the given ones.
fn deal(mut i: u64, mut random: u64, mut places: u64) -> u64 {
    let least = places.count_ones() + 24;
    while places.count_ones() < least {
        random = finalize(random);
        places |= 1 << (random % 64);
    }
    let mut key = 0;
    while places != 0 {
        key |= (i & 1) * (places & places.wrapping_neg());
        (i, places) = (i >> 1, places & (places - 1));
    }
    key
}

/// A hash as receive-side scaling computes it: linear in the bits of a flow.
fn toeplitz(i: u64) -> u64 {
    let key = 0x6d5a_56da_255b_0ec2_4167_253d_43a3_8fb0_u128;
    let flow = 0x0a00_0001_0000_0000 ^ i;
    let rows = (0..64).filter(|bit| flow >> (63 - bit) & 1 != 0);
    rows.fold(0, |hash, bit| hash ^ (key << bit >> 96) as u64)
}

/// Two addresses of IPv4: a source for every 512 destinations.
fn addresses(i: u64, spread: u32) -> u64 {
    (0x0a00_0000 + (i >> 9 << spread)) << 32 | (0xc0a8_0000 + ((i & 511) << spread))
}

/// Eight decimal digits.
fn digits(i: u64) -> u64 {
    let digit = |place: u32| (0x30 + i / 10_u64.pow(place) % 10) << (8 * place);
    (0..8).map(digit).sum()
}

/// What the XOR-shift of `SplitMix64`, which begins with it, makes `x` of.
fn unshift(x: u64) -> u64 {
    x ^ x >> 30 ^ x >> 60
}

/// 2^64 divided by the golden ratio, and its inverse modulo 2^64.
pub const GOLDEN: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xf1de_83e1_9937_733d];

/// Of the name, and the key for each index. Later keys are looked up.
const fn of(name: &'static str, key: fn(u64, u64) -> u64) -> Shape {
    Shape { name, key, change: None }
}

/// As `of`, but the inserted keys are looked up after a change.
const fn near(name: &'static str, key: fn(u64, u64) -> u64, change: fn(u64) -> u64) -> Shape {
    Shape { name, key, change: Some(change) }
}

pub const SHAPES: &[Shape] = &[
    of("random", random),
    of("counter", counter),
    of("counter from anywhere", |i, random| random.wrapping_add(i)),
    of("counter << 16", |i, _| i << 16),
    of("counter << 20", |i, _| i << 20),
    of("counter << 28", |i, _| i << 28),
    of("counter << 32", |i, _| i << 32),
    of("counter << 36", |i, _| i << 36),
    of("counter << 40", |i, _| i << 40),
    of("addresses of 64 bytes", |i, random| (random >> 17 << 6).wrapping_add(64 * i)),
    of("random 32 bits", |i, random| finalize_half((i ^ random) as u32)),
    of("random 32 bits << 32", |i, random| finalize_half((i ^ random) as u32) << 32),
    of("receive-side scaling", |i, _| toeplitz(i)),
    of("pairs of IPv4 addresses", |i, _| addresses(i, 0)),
    of("pairs of IPv4 networks", |i, _| addresses(i, 8)),
    of("24 bits anywhere", |i, random| deal(i, random, 0)),
    of("24 bits and the upper 16", |i, random| deal(i, random, 0xffff << 48)),
    of("f64", |i, _| (i as f64).to_bits()),
    of("f64, tenths", |i, _| (i as f64 * 0.1).to_bits()),
    of("f32", |i, _| (i as f32).to_bits().into()),
    of("bits reversed", |i, _| i.reverse_bits()),
    of("bytes reversed", |i, _| i.swap_bytes()),
    of("golden ratio", |i, _| i.wrapping_mul(GOLDEN[0])),
    of("inverse of the golden ratio", |i, _| i.wrapping_mul(GOLDEN[1])),
    of("the same, << 40", |i, _| (i << 40).wrapping_mul(GOLDEN[1])),
    of("2^32 + 1", |i, _| i << 32 | i),
    of("2^32 - 1", |i, _| i * 0xffff_ffff),
    of("a half and its complement", |i, _| i << 32 | (!i & 0xffff_ffff)),
    of("decimal digits", |i, _| digits(i)),
    of("squares", |i, _| i * i),
    of("1,000,003", |i, _| i * 1_000_003),
    of("10^9", |i, _| i.wrapping_mul(1_000_000_000)),
    of("undoes x ^ x >> 30, << 40", |i, _| unshift(i << 40)),
    of("undoes x ^ x >> 30, << 33", |i, _| unshift(i << 33)),
    near("random, complement", random, |key| !key),
    near("counter, complement", counter, |key| !key),
    near("random, ^ 1 << 63", random, |key| key ^ 1 << 63),
    near("counter, ^ 1 << 63", counter, |key| key ^ 1 << 63),
    near("random, ^ 1", random, |key| key ^ 1),
    near("random, ^ 2^32 + 1", random, |key| key ^ 0x1_0000_0001),
    near("random, ^ 3 << 62", random, |key| key ^ 3 << 62),
    near("random, ^ 5 << 60", random, |key| key ^ 5 << 60),
    near("random, ^ 0xffff << 48", random, |key| key ^ 0xffff << 48),
    near("random, negated", random, u64::wrapping_neg),
    near("random, halves swapped", random, |key| key.rotate_left(32)),
    near("random, upper half flipped", random, |key| key ^ 0xffff_ffff << 32),
    near("random, lower half flipped", random, |key| key ^ 0xffff_ffff),
    near("random, every second bit", random, |key| key ^ 0x5555_5555_5555_5555),
    near("random, doubled", random, |key| key << 1),
    near("random, + inverse", random, |key| key.wrapping_add(GOLDEN[1])),
    near("random, reversed", random, u64::reverse_bits),
];
