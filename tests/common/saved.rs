//! Filters to save, and every way to save and to load one.

use std::{hash::BuildHasher, io::Read};

use guira::{
    Engine, Filter, FilterBuilder, Fixed, Growing, Layout, LoadError, Loader, Mappable, Mapped,
    StableHashBuilder,
};
use rand::{Rng, RngExt, rngs::SmallRng};

use super::{
    Subject,
    maps::{self, max_value},
};

/// A filter whose snapshots can be loaded anywhere.
pub type Stable<E> = Filter<E, StableHashBuilder>;

/// Builds a filter with a stable hasher, and inserts this many keys, the first of them twice.
/// Returns it with the inserted keys.
///
/// # Panics
/// If the filter cannot be built.
pub fn filled<E: Subject>(builder: FilterBuilder<E>, keys: u64) -> (Stable<E>, Vec<u64>) {
    let builder = builder.hasher_with(StableHashBuilder::with_seed);
    let filter = builder.build().expect("a small filter");
    let mut keys: Vec<u64> = (0..keys).collect();
    keys.extend(keys.first().copied());
    keys.retain(|key| filter.insert(key).is_ok());
    (filter, keys)
}

/// As [`filled`], with a value for each key, which follows from its place. Returns the map with the
/// inserted items.
///
/// # Panics
/// If the map cannot be built.
pub fn filled_map<E: Mappable>(
    builder: FilterBuilder<Mapped<E>>,
    keys: u64,
) -> (Stable<Mapped<E>>, Vec<(u64, u16)>) {
    let builder = builder.hasher_with(StableHashBuilder::with_seed);
    let map = builder.build().expect("a small map");
    let max = max_value(map.layout());
    let values = (0..keys).map(|key| (key, (key * 40_503) as u16 & max));
    let mut items: Vec<(u64, u16)> = values.collect();
    items.extend(items.first().map(|&(key, value)| (key, value ^ max)));
    items.retain(|(key, value)| map.insert(key, *value).is_ok());
    (map, items)
}

/// Snapshots of small maps: all layouts, with and without limited copies.
pub fn small_maps<E: Mappable>() -> Vec<Vec<u8>> {
    let of = |layout: Layout| {
        let of_capacity = move |capacity: usize| {
            let builder = maps::builder::<E>(capacity, layout).seed(1);
            let limited = (builder.clone().max_copies(2), capacity as u64 / 2);
            [(builder, capacity as u64), limited]
        };
        [1, 2, 7, 100].into_iter().flat_map(of_capacity)
    };
    let all = maps::layouts().into_iter().flat_map(of);
    all.map(|(builder, keys)| filled_map(builder, keys).0.to_bytes()).collect()
}

/// Builders of small fixed filters, with a number of keys that fit: all layouts, with and without
/// limited copies.
pub fn small_fixed() -> Vec<(FilterBuilder<Fixed>, u64)> {
    let of = |&layout: &Layout| {
        let of_capacity = move |capacity: usize| {
            let builder = Filter::<Fixed>::builder().capacity(capacity).layout(layout).seed(1);
            [(builder.clone(), capacity as u64), (builder.max_copies(2), capacity as u64 / 2)]
        };
        [1, 2, 7, 100].into_iter().flat_map(of_capacity)
    };
    Layout::ALL.iter().flat_map(of).collect()
}

/// Builders of small growing filters, with a number of keys: several rates and factors, of one
/// segment and of many, and with limited copies.
pub fn small_growing() -> Vec<(FilterBuilder<Growing>, u64)> {
    let mut all = Vec::new();
    for rate in [0.2, 0.01, 0.001, 0.000_1] {
        for (capacity, factor, keys) in [(1, 2, 0), (1, 2, 70), (50, 2, 900), (10, 8, 1_000)] {
            let builder = Filter::<Growing>::builder().capacity(capacity).growth_factor(factor);
            all.push((builder.false_positive_rate(rate).seed(keys), keys));
        }
    }
    let builder = || Filter::<Growing>::builder().capacity(100).seed(2);
    all.push((builder().max_copies(3), 800));
    all.push((builder().fastest().false_positive_rate(0.05), 500));
    all
}

/// Saves a filter in every way, and returns the bytes, which are the same.
///
/// # Panics
/// If they are not.
pub fn saved<E: Engine, S: BuildHasher>(filter: &mut Filter<E, S>, rng: &mut SmallRng) -> Vec<u8> {
    let bytes = filter.to_bytes();
    let mut written = Vec::new();
    filter.save(&mut written).expect("memory");
    assert!(written == bytes, "save");
    written.clear();
    filter.save_exclusive(&mut written).expect("memory");
    assert!(written == bytes, "save_exclusive");

    let mut snapshot = filter.snapshot().expect("memory");
    assert_eq!(snapshot.len(), bytes.len() as u64);
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
        let read = snapshot.read_at(offset as u64, &mut buffer[..len]);
        assert!(buffer[..read] == *expected, "{len} bytes at {offset}");
        let read = dump.read_at(filter, offset as u64, &mut buffer[..len]);
        assert!(buffer[..read] == *expected, "{len} bytes of the dump at {offset}");
    }
    assert_eq!(dump.read_at(filter, 0, &mut buffer), bytes.len());
    assert!(buffer[..bytes.len()] == bytes, "dump");
    for offset in [snapshot.len(), snapshot.len() + 1, u64::MAX] {
        assert_eq!(snapshot.read_at(offset, &mut buffer), 0);
        assert_eq!(dump.read_at(filter, offset, &mut buffer), 0);
    }
    let mut read = Vec::new();
    let first = snapshot.read(&mut buffer[..3]).expect("it never fails");
    read.extend_from_slice(&buffer[..first]);
    snapshot.read_to_end(&mut read).expect("it never fails");
    assert!(read == bytes, "read");
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

/// Returns a loader for any snapshot.
pub fn loader<E: Engine>() -> Loader<E, StableHashBuilder> {
    Filter::<E, _>::loader_with(usize::MAX, StableHashBuilder::with_seed)
}

/// Returns what a loader writes of the bytes that it received.
///
/// # Panics
/// If it writes another number of bytes than it tells.
pub fn received<E: Engine, S: BuildHasher>(loader: &Loader<E, S>) -> Vec<u8> {
    let mut received = Vec::new();
    loader.write_received(&mut received).expect("memory");
    assert_eq!(loader.received(), received.len() as u64);
    received
}

/// Pushes bytes to a loader, in chunks of random sizes. A chunk that is refused leaves no trace.
pub fn pushed<E: Engine>(
    bytes: &[u8],
    limit: usize,
    rng: &mut SmallRng,
) -> Result<Stable<E>, LoadError> {
    let mut loader = Filter::<E, _>::loader_with(limit, StableHashBuilder::with_seed);
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
fn handed_over<E: Engine>(bytes: &[u8], rng: &mut SmallRng) -> Result<Stable<E>, LoadError> {
    let mut loaders = [false, true].map(|at_once| {
        let loader = Filter::<E, _>::loader_with(bytes.len(), StableHashBuilder::with_seed);
        if at_once == rng.random::<bool>() { loader.allocate_at_once() } else { loader }
    });
    let (first, rest) = bytes.split_at(rng.random_range(0..=bytes.len()));
    loaders[0].push(first)?;
    let received = received(&loaders[0]);
    assert!(received == first, "{} bytes that were received are written", first.len());
    let [_, mut second] = loaders;
    second.push(&received).expect("what the first one received");
    second.push(rest)?;
    second.finish()
}

/// Loads a filter from bytes in every way. The results differ at most in the kind of error.
///
/// # Panics
/// If one way accepts what another one refuses.
pub fn loaded<E: Engine>(bytes: &[u8], rng: &mut SmallRng) -> Result<Stable<E>, LoadError> {
    let filter = Filter::<E, _>::from_bytes_with(bytes, StableHashBuilder::with_seed);
    let mut reader = Slow(bytes);
    let read = Filter::<E, _>::load_with(&mut reader, StableHashBuilder::with_seed);
    let pushed = pushed::<E>(bytes, bytes.len(), rng);
    // Only a reader may go on after a snapshot.
    let read = read.ok().filter(|_| reader.0.is_empty());
    let handed_over = handed_over::<E>(bytes, rng);
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
