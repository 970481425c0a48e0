//! Loading of arbitrary snapshots of every kind, from slices and from pushed chunks: it never
//! panics, both ways agree, and a filter that loads works and saves the same bytes.

use arbitrary::Arbitrary;
use guira::{
    CuckooFilter, CuckooMap, Engine, Expiring, ExpiringFilter, Filter, FilterBuilder, Fixed,
    Growing, GrowingFilter, GrowingMap, Layout, LoadError, Mappable, Mapped,
};

use crate::forge::{amend, blocks};

/// Bytes that the buckets of a pushed snapshot may take.
const LIMIT: usize = 1 << 20;

/// A snapshot of a filter, and changes to it.
#[derive(Arbitrary, Debug)]
pub struct Input {
    kind: Kind,
    layout: u8,
    capacity: u8,
    keys: Vec<u16>,
    /// Bytes to overwrite: position and value.
    changes: Vec<(u16, u8)>,
    /// Words to overwrite: block, index and value.
    words: Vec<(u8, u16, u64)>,
    /// Whether the checksums are corrected, so that loading gets past them.
    amended: bool,
    /// Eight times the number of bytes to cut off at the end.
    cut: u8,
    /// Bytes that replace the snapshot.
    raw: Option<Vec<u8>>,
    /// The sizes of the chunks that are pushed, over and over again.
    chunks: Vec<u8>,
}

/// A kind of filter.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Kind {
    Fixed,
    Growing,
    Map,
    GrowingMap,
    Expiring,
}

/// What the filters of all kinds can do.
trait Subject: Engine {
    /// Inserts a key, with a value that follows from it. Returns what [`remove`](Self::remove)
    /// needs to know.
    fn insert(filter: &Filter<Self>, key: u16) -> Option<u64>;

    fn contains(filter: &Filter<Self>, key: u16) -> bool;

    fn remove(filter: &Filter<Self>, key: u16, inserted: u64) -> bool;
}

/// Implements [`Subject`] for the engines of sets.
macro_rules! sets {
    ($($engine:ty),*) => {$(
        impl Subject for $engine {
            fn insert(filter: &Filter<Self>, key: u16) -> Option<u64> {
                filter.insert(&key).ok().map(|()| 0)
            }

            fn contains(filter: &Filter<Self>, key: u16) -> bool {
                filter.contains(&key)
            }

            fn remove(filter: &Filter<Self>, key: u16, _: u64) -> bool {
                filter.remove(&key)
            }
        }
    )*};
}
sets!(Fixed, Growing);

impl<E: Mappable> Subject for Mapped<E> {
    fn insert(filter: &Filter<Self>, key: u16) -> Option<u64> {
        let value = (u32::from(key) & ((1 << filter.value_bits()) - 1)) as u16;
        filter.insert(&key, value).ok().map(|()| value.into())
    }

    fn contains(filter: &Filter<Self>, key: u16) -> bool {
        filter.get(&key).is_some_and(|got| filter.values(&key).any(|value| value == got))
    }

    fn remove(filter: &Filter<Self>, key: u16, value: u64) -> bool {
        filter.contains_value(&key, value as u16) && filter.remove(&key, value as u16)
    }
}

impl Subject for Expiring {
    fn insert(filter: &Filter<Self>, key: u16) -> Option<u64> {
        filter.insert(&key).ok()
    }

    fn contains(filter: &Filter<Self>, key: u16) -> bool {
        filter.contains(&key)
    }

    fn remove(filter: &Filter<Self>, key: u16, generation: u64) -> bool {
        filter.remove(&key, generation)
    }
}

/// Loads the snapshot of an input.
///
/// # Panics
/// If the loaded filter differs from the snapshot or does not work.
pub fn run(input: &Input) {
    let capacity = usize::from(input.capacity) + 1;
    let rate = [0.5, 0.1, 0.01, 0.000_1][usize::from(input.layout) % 4];
    let factor = 2 << (input.layout / 4 % 4);
    let value_bits = u32::from(input.layout) % 17;
    match input.kind {
        Kind::Fixed => {
            let layout = Layout::ALL[usize::from(input.layout) % Layout::ALL.len()];
            run_on(input, CuckooFilter::builder().capacity(capacity).layout(layout));
        }
        Kind::Growing => {
            let builder = GrowingFilter::builder().capacity(capacity).growth_factor(factor);
            run_on(input, builder.false_positive_rate(rate));
        }
        Kind::Map => {
            run_on(input, CuckooMap::builder().capacity(capacity).value_bits(value_bits));
        }
        Kind::GrowingMap => {
            let builder = GrowingMap::builder().capacity(capacity).growth_factor(factor);
            run_on(input, builder.false_positive_rate(rate.max(0.01)).value_bits(value_bits));
        }
        Kind::Expiring => {
            let window = 1 + u32::from(input.layout) % 30;
            run_on(input, ExpiringFilter::builder().capacity(capacity).window(window));
        }
    }
}

/// Loads the snapshot of an input into a filter of one engine.
fn run_on<E: Subject>(input: &Input, builder: FilterBuilder<E>) {
    let bytes = input.raw.clone().unwrap_or_else(|| changed(input, builder));
    let loaded = Filter::<E>::from_bytes(&bytes);
    let pushed = pushed::<E>(&bytes, &input.chunks);
    let Ok(filter) = loaded else {
        assert!(pushed.is_err(), "a loader accepted what `from_bytes` refused");
        return;
    };
    assert_eq!(
        filter.to_bytes(),
        bytes,
        "the filter does not save the bytes that it was loaded from"
    );
    match pushed {
        Ok(pushed) => assert_eq!(pushed.to_bytes(), bytes),
        Err(LoadError::LimitExceeded { .. }) => assert!(bytes.len() > LIMIT),
        Err(error) => panic!("a loader refused what `from_bytes` accepted: {error}"),
    }
    assert!(filter.len() <= filter.slots());
    // The filter works whatever items it holds: inserted keys are found, and can be removed.
    let insert = |&key: &u16| E::insert(&filter, key).map(|inserted| (key, inserted));
    let inserted: Vec<(u16, u64)> = input.keys.iter().filter_map(insert).collect();
    assert!(inserted.iter().all(|&(key, _)| E::contains(&filter, key)));
    assert!(inserted.iter().all(|&(key, inserted)| E::remove(&filter, key, inserted)));
    Filter::<E>::from_bytes(&filter.to_bytes()).expect("a filter's own snapshot loads");
}

/// Pushes bytes in chunks of these sizes, over and over again.
fn pushed<E: Subject>(mut bytes: &[u8], chunks: &[u8]) -> Result<Filter<E>, LoadError> {
    let mut loader = Filter::<E>::loader(LIMIT);
    for &size in [chunks, &[255]].concat().iter().cycle() {
        let (chunk, rest) = bytes.split_at(bytes.len().min(size.into()));
        loader.push(chunk)?;
        bytes = rest;
        if bytes.is_empty() {
            break;
        }
    }
    loader.finish()
}

/// The changed snapshot of an input.
fn changed<E: Subject>(input: &Input, builder: FilterBuilder<E>) -> Vec<u8> {
    let filter = builder.seed(1).build().expect("a small filter");
    for &key in &input.keys {
        // Some duplicates may not fit.
        let _ = E::insert(&filter, key);
    }
    let mut bytes = filter.to_bytes();
    let blocks = blocks(&bytes);
    for &(block, index, word) in &input.words {
        let (at, len) = blocks[usize::from(block) % blocks.len()];
        let at = at + 8 * (usize::from(index) % (len / 8));
        bytes[at..at + 8].copy_from_slice(&word.to_le_bytes());
    }
    for &(at, byte) in &input.changes {
        let at = usize::from(at) % bytes.len();
        bytes[at] = byte;
    }
    if input.amended {
        amend(&mut bytes);
    }
    bytes.truncate(bytes.len().saturating_sub(usize::from(input.cut) / 8));
    bytes
}
