//! Filters of every kind to save, and every way to save and to load one.

use std::{hash::BuildHasher, io::Read};

use guira::{
    Filter, InsertError, LoadError, Loader,
    kind::{Contents, Growth},
};
use rand::{Rng, RngExt, rngs::SmallRng};

use super::{
    forge::{self, number},
    kind::{BuilderOf, Kind, Of, new},
    rng, settings,
};

/// A loader of a kind of filter.
pub type LoaderOf<K> = Loader<<K as Kind>::Contents, <K as Kind>::Growth>;
/// A key, and its tag.
pub type Item<K> = (u64, <K as Kind>::Tag);

/// A loader.
pub fn loader<K: Kind>() -> LoaderOf<K> {
    Filter::<K::Contents, K::Growth>::loader()
}

/// Inserts a key. The salt selects its tag.
pub fn insert<K: Kind>(filter: &Of<K>, key: u64, salt: u64) -> Result<Item<K>, InsertError> {
    let want = K::want(filter, &mut rng(salt));
    let want = if K::tag(filter, want).is_ok() { want } else { K::usual_want(filter, key) };
    K::insert(filter, &key, want).map(|tag| (key, tag))
}

/// Returns whether a filter holds an item.
pub fn holds<K: Kind>(filter: &Of<K>, &(key, tag): &Item<K>) -> bool {
    K::holds(filter, key, &[tag])
}

/// Removes an item.
pub fn remove<K: Kind>(filter: &Of<K>, &(key, tag): &Item<K>) -> bool {
    K::remove(filter, &key, tag)
}

/// Builds a filter, and inserts this many keys, the first of them twice. Returns it with the
/// inserted items.
///
/// # Panics
/// If the filter cannot be built.
pub fn filled<K: Kind>(builder: BuilderOf<K>, keys: u64) -> (Of<K>, Vec<Item<K>>) {
    let filter = builder.build().expect("a small filter");
    let salted = (0..keys).map(|key| (key, key)).chain((keys > 0).then_some((0, 1)));
    let items = salted.filter_map(|(key, salt)| insert::<K>(&filter, key, salt).ok()).collect();
    (filter, items)
}

/// Builders of small filters, each with a number of keys that fit: all layouts, with and without
/// limited copies. Of growing filters several rates too, in several sizes.
pub fn small<K: Kind>() -> Vec<(BuilderOf<K>, u64)> {
    let sizes: &[(usize, u64)] = if K::GROWS {
        &[(1, 0), (1, 70), (50, 2_500)]
    } else {
        &[(1, 1), (2, 2), (7, 7), (100, 100)]
    };
    let mut all = Vec::new();
    for (seed, layout) in K::layouts().into_iter().enumerate() {
        for &(capacity, keys) in sizes {
            let builder = settings::<K>(capacity, layout, seed as u64);
            all.push((builder.clone(), keys));
            all.push((K::limited(builder, 2), keys / 2));
        }
    }
    for rate in [0.2, 0.01, 0.003] {
        let builder = || new::<K>().false_positive_rate(rate).seed(2);
        for &(capacity, keys) in sizes {
            all.push((builder().capacity(capacity), keys));
        }
        let [some, more] = if K::GROWS { [500, 800] } else { [50, 50] };
        all.push((builder().fastest().capacity(100), some));
        all.push((K::limited(builder(), 3).capacity(100), more));
    }
    all
}

/// A filter of few words with some items. One that grows has split some of its buckets, and others
/// ahead of their turn.
///
/// # Panics
/// If it has not.
pub fn sample<K: Kind>() -> Of<K> {
    let (capacity, keys) = if K::GROWS { (1, 900) } else { (100, 100) };
    let (filter, _) = filled::<K>(new::<K>().capacity(capacity).seed(6), keys);
    if K::GROWS {
        crowd::<K>(&filter, 2);
        assert!(number(&filter.to_bytes(), forge::SIZE) > 0);
    }
    filter
}

/// Inserts copies, which fill the buckets of few keys, until so many buckets were split ahead of
/// their turn. Returns the items.
pub fn crowd<K: Kind>(filter: &Of<K>, ahead: usize) -> Vec<Item<K>> {
    let (mut keys, mut items) = ((1 << 50..).take(20_000), Vec::new());
    while forge::ahead(&filter.to_bytes())[0].len() < 8 * ahead {
        let key = keys.next().expect("full buckets");
        let copies = 0..filter.layout().slots_per_bucket();
        items.extend(copies.filter_map(|_| insert::<K>(filter, key, key).ok()));
    }
    items
}

/// Saves a filter in every way, and returns the bytes, which are the same.
///
/// # Panics
/// If they are not.
pub fn saved<C: Contents, G: Growth, S: BuildHasher>(
    filter: &Filter<C, G, S>,
    rng: &mut SmallRng,
) -> Vec<u8> {
    let bytes = filter.to_bytes();
    let mut written = Vec::new();
    filter.write_to(&mut written).expect("memory");
    assert!(written == bytes, "write_to");

    let mut buffer = vec![0; 2 * bytes.len()];
    let mut dump = filter.dump();
    assert_eq!(dump.len(), bytes.len() as u64);
    let max_blocks = rng.random_range(1..4);
    while !dump.prepare(filter, max_blocks).expect("memory") {
        assert_eq!(dump.read_at(filter, 0, &mut buffer), 0, "not yet");
    }
    assert!(dump.prepare(filter, max_blocks).expect("memory"), "nothing is left to do");
    for _ in 0..20 {
        let offset = rng.random_range(0..bytes.len());
        let most = if rng.random() { buffer.len() } else { 40 };
        let len = rng.random_range(0..most);
        let expected = &bytes[offset..bytes.len().min(offset + len)];
        let read = dump.read_at(filter, offset as u64, &mut buffer[..len]);
        assert!(buffer[..read] == *expected, "{len} bytes of the dump at {offset}");
    }
    assert_eq!(dump.read_at(filter, 0, &mut buffer), bytes.len());
    assert!(buffer[..bytes.len()] == bytes, "dump");
    for offset in [dump.len(), dump.len() + 1, u64::MAX] {
        assert_eq!(dump.read_at(filter, offset, &mut buffer), 0);
    }
    bytes
}

/// A reader that returns one byte, then two, then one, and so on.
pub struct Slow<'a>(pub &'a [u8]);

impl Read for Slow<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let some = buffer.len().min(1 + self.0.len() % 2);
        self.0.read(&mut buffer[..some])
    }
}

/// Returns what a loader writes of the bytes that it received.
///
/// # Panics
/// If it writes another number of bytes than it tells.
pub fn received<C: Contents, G: Growth, S: BuildHasher>(loader: &Loader<C, G, S>) -> Vec<u8> {
    let mut received = Vec::new();
    loader.write_received(&mut received).expect("memory");
    received
}

/// Pushes bytes to a loader, in chunks of random sizes. A chunk that is refused leaves no trace.
pub fn pushed<K: Kind>(bytes: &[u8], limit: usize, rng: &mut SmallRng) -> Result<Of<K>, LoadError> {
    let mut loader = loader::<K>().limit(limit);
    let mut pushed = 0;
    let most = if rng.random() { 20 } else { 2 * bytes.len() };
    while pushed < bytes.len() {
        let chunk = rng.random_range(0..=most.min(bytes.len() - pushed));
        let chunk = &bytes[pushed..pushed + chunk];
        if let Err(error) = loader.push(chunk) {
            assert!(received(&loader) == bytes[..pushed], "the chunk was refused");
            let again = loader.push(chunk).expect_err("the same chunk");
            assert_eq!(again.to_string(), error.to_string());
            return Err(error);
        }
        pushed += chunk.len();
    }
    loader.finish()
}

/// Pushes bytes to a loader up to a random place, and the rest to another loader, which first gets
/// what the first one had received.
fn handed_over<K: Kind>(bytes: &[u8], rng: &mut SmallRng) -> Result<Of<K>, LoadError> {
    let [mut first, mut second] = [(); 2].map(|()| loader::<K>().limit(bytes.len()));
    let (start, rest) = bytes.split_at(rng.random_range(0..=bytes.len()));
    first.push(start)?;
    let received = received(&first);
    assert!(received == start, "{} bytes that were received are written", start.len());
    second.push(&received).expect("what the first one received");
    // The rest is pushed, or read as a whole.
    if rng.random() {
        return second.bytes(rest);
    }
    second.push(rest)?;
    second.finish()
}

/// Loads a filter from bytes in every way. The results differ at most in the kind of error.
///
/// # Panics
/// If one way accepts what another one refuses.
pub fn loaded<K: Kind>(bytes: &[u8], rng: &mut SmallRng) -> Result<Of<K>, LoadError> {
    let filter = loader::<K>().bytes(bytes);
    let mut reader = Slow(bytes);
    let read = loader::<K>().reader(&mut reader);
    let pushed = pushed::<K>(bytes, bytes.len(), rng);
    // Only a reader may go on after a snapshot.
    let read = read.ok().filter(|_| reader.0.is_empty());
    let handed_over = handed_over::<K>(bytes, rng);
    let others =
        [read, pushed.ok(), handed_over.ok()].map(|filter| filter.map(|filter| filter.to_bytes()));
    assert!(others.iter().all(|other| *other == filter.as_ref().ok().map(Filter::to_bytes)));
    filter
}

/// Fills some bytes with random ones, or copies, or repeats, or removes them.
pub fn corrupt(bytes: &mut Vec<u8>, rng: &mut SmallRng) {
    let length = bytes.len();
    let at = rng.random_range(0..length);
    let until = rng.random_range(at..length.min(at + 24)) + 1;
    match rng.random_range(0..7) {
        0 => bytes[at] ^= 1 << rng.random_range(0..8),
        1 => rng.fill_bytes(&mut bytes[at..until]),
        2 => bytes.truncate(at),
        3 => drop(bytes.drain(at..until)),
        4 => bytes.copy_within(at..until, rng.random_range(0..=length - (until - at))),
        5 => bytes[at..until].fill(if rng.random() { 0 } else { 0xff }),
        _ => {
            let repeated = bytes[at..until].to_vec();
            bytes.splice(at..at, repeated);
        }
    }
}
