//! Keys chosen by somebody who sees neither the seed nor a result: no structure of the hashers, and
//! no constant that they publish, makes keys collide. Somebody who sees which inserts fail finds
//! keys that do.

use std::{
    collections::HashSet,
    fmt::Debug,
    hash::{BuildHasher, Hash, Hasher},
    net::Ipv6Addr,
};

use guira::{
    CuckooFilter, Filter, FilterBuilder, GrowingFilter, Layout, StableHashBuilder,
    kind::{Growth, Set},
};

/// Seeds, of filters and of hashers.
const SEEDS: [u64; 3] = [0, 1, 0xdead_beef_0123_4567];

/// The constants of the source of rapidhash, and of the derivation of secrets from a seed.
const PUBLISHED: [u64; 11] = [
    0x2d35_8dcc_aa6c_78a5,
    0x8bb8_4b93_962e_acc9,
    0x4b33_a62e_d433_d4a3,
    0x4d5a_2da5_1de1_aa47,
    0xa076_1d64_78bd_642f,
    0xe703_7ed1_a0b4_28db,
    0x90ed_1765_281c_388c,
    0xaaaa_aaaa_aaaa_aaaa,
    0x9e37_79b9_7f4a_7c15,
    0xbf58_476d_1ce4_e5b9,
    0x94d0_49bb_1331_11eb,
];

/// The published constants in both byte orders, and words that are special to multiplications.
fn constants() -> impl Iterator<Item = u64> {
    let both = PUBLISHED.into_iter().flat_map(|constant| [constant, constant.swap_bytes()]);
    both.chain([0, 1, 1 << 32, 1 << 63, u64::MAX])
}

/// A word without structure.
fn arbitrary(number: usize) -> u64 {
    let x = (number as u64 + 1).wrapping_mul(0x9e6c_63d0_676a_9a99);
    (x ^ (x >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93)
}

/// The numbers with a constant in one word. The others are zero, or arbitrary, or equal to it up to
/// a counter.
fn words<const N: usize>(variants: usize) -> HashSet<[u64; N]> {
    let mut all = HashSet::new();
    for constant in constants() {
        for (position, variant) in
            (0..N).flat_map(|position| (0..variants).map(move |v| (position, v)))
        {
            let mut zeros = [0; N];
            zeros[(position + 1) % N] = variant as u64;
            let mut arbitrary = std::array::from_fn(|word| arbitrary(word + N * variant));
            let mut equal = [constant; N];
            equal[(position + 1) % N] ^= variant as u64;
            for words in [&mut zeros, &mut arbitrary, &mut equal] {
                words[position] = constant;
                all.insert(*words);
            }
            // Two words exchanged, and two that change together.
            let mut exchanged = arbitrary;
            exchanged.swap(position, N / 2);
            let mut together = arbitrary;
            together[position] ^= 1 << variant;
            together[N / 2] ^= 1 << variant;
            all.extend([exchanged, together]);
        }
    }
    all
}

/// The bytes of the words, and shorter parts of them that begin or end at a word.
fn texts<const N: usize>() -> Vec<Vec<u8>> {
    let bytes = words::<N>(1).into_iter().map(|words| words.map(u64::to_le_bytes).concat());
    let parts = bytes.flat_map(|bytes| {
        let end = bytes.len();
        [&bytes[..], &bytes[3..], &bytes[..end - 3]].map(<[u8]>::to_vec)
    });
    parts.collect::<HashSet<_>>().into_iter().collect()
}

/// Makes the same writes as `str`, for bytes that are not UTF-8.
struct Text(Vec<u8>);

impl Hash for Text {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        hasher.write(&self.0);
        hasher.write_u8(0xff);
    }
}

/// Makes one write.
struct Bytes(Vec<u8>);

impl Hash for Bytes {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        hasher.write(&self.0);
    }
}

/// Hashes the keys with a hasher. The two ways to hash agree.
#[expect(clippy::manual_hash_one, reason = "this is the second way")]
fn hashes<K: Hash>(keys: &[K], hasher: &impl BuildHasher) -> Vec<u64> {
    let mut hashes = Vec::with_capacity(keys.len());
    for key in keys {
        let hash = hasher.hash_one(key);
        let mut owned = hasher.build_hasher();
        key.hash(&mut owned);
        assert_eq!(hash, owned.finish());
        hashes.push(hash);
    }
    hashes
}

/// No two of the hashes, which are those of distinct keys, are equal.
fn check(shape: &str, hashes: &[u64], hasher: &dyn Debug, seed: u64) {
    let collisions = hashes.len() - hashes.iter().collect::<HashSet<_>>().len();
    assert_eq!(collisions, 0, "{shape}, {} keys, {hasher:?}, seed {seed}", hashes.len());
}

/// No two of the keys, which are distinct, have equal hashes.
fn distinct<K: Hash>(shape: &str, keys: impl IntoIterator<Item = K>) {
    let keys: Vec<K> = keys.into_iter().collect();
    for seed in SEEDS {
        let hasher = StableHashBuilder::from_seed(seed);
        check(shape, &hashes(&keys, &hasher), &hasher, seed);
    }
}

fn wide([low, high]: [u64; 2]) -> u128 {
    u128::from(high) << 64 | u128::from(low)
}

fn octets(words: [u64; 2]) -> [u8; 16] {
    wide(words).to_le_bytes()
}

#[test]
fn integers_with_published_constants_do_not_collide() {
    distinct("u64", words::<1>(64).into_iter().map(|[word]| word));
    distinct("u128", words(8).into_iter().map(wide));
    distinct("pairs", words(8).into_iter().map(|[a, b]: [u64; 2]| (a, b)));
    distinct("triples", words(4).into_iter().map(|[a, b, c]: [u64; 3]| (a, b, c)));
    distinct("mixed", words(4).into_iter().map(|[a, b, c]| (a, wide([b, c]), c as u8)));
    let quarters = |[a, b]: [u64; 2]| (a as u32, (a >> 32) as u32, b as i32, (b >> 32) as i32);
    distinct("quarters", words(8).into_iter().map(quarters));
    distinct("options", words(8).into_iter().map(|[a, b]| (Some(a), b)).map(Some).chain([None]));
}

#[test]
fn arrays_and_addresses_with_published_constants_do_not_collide() {
    distinct("[u64; 2]", words::<2>(8));
    distinct("[u64; 5]", words::<5>(3));
    distinct("[u8; 16]", words(8).into_iter().map(octets));
    distinct("Ipv6Addr", words(8).into_iter().map(|words| Ipv6Addr::from(octets(words))));
    let text = |[a, b]: [u64; 2]| Text(a.to_le_bytes().to_vec()).0.into_iter().chain([b as u8]);
    distinct(
        "slices and integers",
        words(8).into_iter().map(|words| (text(words).collect::<Vec<_>>(), words[1])),
    );
}

#[test]
fn texts_with_published_constants_do_not_collide() {
    for texts in [texts::<1>(), texts::<2>(), texts::<3>(), texts::<5>(), texts::<9>()] {
        distinct("slices", &texts);
        distinct("strings", texts.into_iter().map(Text));
    }
    // More than 128 and than 256 bytes, where hashers change to wider blocks.
    distinct("18 words", texts::<18>().into_iter().map(Bytes));
    distinct("34 words", texts::<34>().into_iter().map(Bytes));
}

#[test]
fn texts_of_equal_bytes_do_not_collide() {
    for byte in [0, 1, 0xaa, 0xff] {
        distinct("equal bytes", (0..700).map(|length| Bytes(vec![byte; length])));
    }
    let short = (0..=255).flat_map(|a| (0..=255).map(move |b| [a, b]));
    let short = short.flat_map(|[a, b]| [vec![a, b], vec![a, b, b], vec![a, b, a]]);
    let short: HashSet<Vec<u8>> = short.chain((0..=255).map(|a| vec![a])).chain([vec![]]).collect();
    distinct("short", short.into_iter().map(Bytes));
}

/// Rapidhash combines the length of a text with words of it. A text that ends in equal bytes, and
/// the same text with one more of them, are equal but for that length, which the byte before them
/// makes up for.
#[test]
fn texts_that_make_up_for_their_length_do_not_collide() {
    let texts = (8..400_usize).flat_map(|length| {
        let tail = if length <= 16 { 8 } else { 16 };
        let last = b'a' ^ (length ^ (length + 1)) as u8;
        let mut text = vec![b'.'; length - tail];
        text.push(b'a');
        text.resize(length, last);
        let longer = [&text[..], &[last]].concat();
        [text, longer]
    });
    let texts: HashSet<Vec<u8>> = texts.collect();
    distinct("slices", &texts);
    distinct("strings", texts.iter().cloned().map(Text));
    distinct("one write", texts.into_iter().map(Bytes));
}

/// A key of a flood. Its hash is that of the item.
enum Key {
    Wide(u128),
    Pair(u64, u64),
    Triple(u64, u64, u64),
    Address(Ipv6Addr),
    Array([u8; 16]),
    Slice(Vec<u8>),
    Text(Text),
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        match self {
            Self::Wide(key) => key.hash(hasher),
            Self::Pair(a, b) => (a, b).hash(hasher),
            Self::Triple(a, b, c) => (a, b, c).hash(hasher),
            Self::Address(key) => key.hash(hasher),
            Self::Array(key) => key.hash(hasher),
            Self::Slice(key) => key.hash(hasher),
            Self::Text(key) => key.hash(hasher),
        }
    }
}

/// Two sets of keys: of every shape and for every constant in every position, 12 in each set.
fn floods() -> [Vec<Key>; 2] {
    let shapes: [fn(u64, u64) -> Key; 7] = [
        |a, b| Key::Wide(wide([a, b])),
        |a, b| Key::Pair(a, b),
        |a, b| Key::Triple(7, a, b),
        |a, b| Key::Address(Ipv6Addr::from(octets([a, b]))),
        |a, b| Key::Array(octets([a, b])),
        |a, b| Key::Slice([a, b, a, b, a].map(u64::to_le_bytes).concat()),
        |a, b| Key::Text(Text(octets([a, b]).to_vec())),
    ];
    let (mut sets, mut number) = ([vec![], vec![]], 0);
    for (constant, shape) in constants().flat_map(|c| shapes.map(|shape| (c, shape))) {
        for set in &mut sets {
            for _ in 0..12 {
                // Distinct, since a pair and an address may hash as the `u128` with these halves.
                let other = arbitrary(number);
                number += 1;
                set.extend([shape(constant, other), shape(other, constant)]);
            }
        }
    }
    sets
}

/// A flood of chosen keys leaves a filter at its rate and its load.
fn withstands<G: Growth, S: BuildHasher>(builder: FilterBuilder<Set, G, S>, seed: u64, name: &str) {
    let [inserted, absent] = floods();
    let builder = builder.capacity(if name.starts_with("fixed") { inserted.len() } else { 1_000 });
    let filter: Filter<Set, G, S> = builder.seed(seed).build().expect("a small filter");
    let refused = inserted.iter().filter(|key| filter.insert(*key).is_err()).count();
    assert_eq!(refused, 0, "{name}, seed {seed}: refused of {}", inserted.len());
    let positives = absent.iter().filter(|key| filter.contains(*key)).count();
    // The mean is below the expected number. No more than its square root times six above it.
    let expected = filter.false_positive_rate() * absent.len() as f64;
    let most = expected + 6.0 * expected.sqrt();
    assert!(positives as f64 <= most, "{name}, seed {seed}: {positives} for {expected} expected");
    assert!(inserted.iter().all(|key| filter.contains(key)), "{name}, seed {seed}");
}

#[test]
fn a_flood_of_chosen_keys_does_no_harm() {
    for seed in SEEDS {
        withstands(CuckooFilter::builder().layout(Layout::Plain4x16), seed, "fixed");
        withstands(GrowingFilter::builder().false_positive_rate(0.001), seed, "growing");
    }
}

/// An attacker finds keys of one pair of buckets by which inserts fail, in this many calls. One
/// half of them then keeps out the other, and `insert_unique` does not help. The numbers are those
/// of `docs::limits`.
#[test]
fn failures_of_inserts_show_which_keys_collide() {
    for (capacity, most) in [(250, 50_000), (500, 250_000)] {
        let builder = CuckooFilter::builder().capacity(capacity).layout(Layout::Plain4x16).seed(1);
        let filter = builder.clone().build().expect("a small filter");
        let (mut calls, mut keys) = (0, Vec::new());
        let mut is_inserted = |key: u64| {
            calls += 1;
            filter.insert(&key).is_ok()
        };
        while is_inserted(0) {}
        let mut taken = 0;
        for key in 1.. {
            if is_inserted(key) {
                taken += 1;
                filter.remove(&key);
            } else {
                keys.push(key);
            }
            if keys.len() == 16 {
                break;
            }
        }
        assert!(calls + taken <= most, "{} calls for a capacity of {capacity}", calls + taken);
        let other = builder.build().expect("a small filter");
        let refused = keys.iter().filter(|&key| other.insert_unique(key).is_err()).count();
        assert!(other.len() <= 8 && refused >= 7, "{} fit, {refused} refused", other.len());
    }
}
