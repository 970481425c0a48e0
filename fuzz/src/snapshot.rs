//! Loading of arbitrary snapshots of both engines, from slices and from pushed chunks: it never
//! panics, both ways agree, and a filter that loads works and saves the same bytes.

use arbitrary::Arbitrary;
use guira::{CuckooFilter, Filter, FilterBuilder, GrowingFilter, Layout, LoadError, Membership};

use crate::forge::{amend, blocks};

/// Bytes that the buckets of a pushed snapshot may take.
const LIMIT: usize = 1 << 20;

/// A snapshot of a filter, and changes to it.
#[derive(Arbitrary, Debug)]
pub struct Input {
    /// Whether the filter grows.
    grows: bool,
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

/// Loads the snapshot of an input.
///
/// # Panics
/// If the loaded filter differs from the snapshot or does not work.
pub fn run(input: &Input) {
    let capacity = usize::from(input.capacity) + 1;
    if input.grows {
        let rate = [0.5, 0.1, 0.01, 0.000_1][usize::from(input.layout) % 4];
        let factor = 2 << (input.layout / 4 % 4);
        let builder = GrowingFilter::builder().capacity(capacity).growth_factor(factor);
        run_on(input, builder.false_positive_rate(rate));
    } else {
        let layout = Layout::ALL[usize::from(input.layout) % Layout::ALL.len()];
        run_on(input, CuckooFilter::builder().capacity(capacity).layout(layout));
    }
}

/// Loads the snapshot of an input into a filter of one engine.
fn run_on<E: Membership>(input: &Input, builder: FilterBuilder<E>) {
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
    let inserted: Vec<u16> =
        input.keys.iter().copied().filter(|key| filter.insert(key).is_ok()).collect();
    assert!(inserted.iter().all(|key| filter.contains(key)));
    assert!(inserted.iter().all(|key| filter.remove(key)));
    Filter::<E>::from_bytes(&filter.to_bytes()).expect("a filter's own snapshot loads");
}

/// Pushes bytes in chunks of these sizes, over and over again.
fn pushed<E: Membership>(mut bytes: &[u8], chunks: &[u8]) -> Result<Filter<E>, LoadError> {
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
fn changed<E: Membership>(input: &Input, builder: FilterBuilder<E>) -> Vec<u8> {
    let filter = builder.seed(1).build().expect("a small filter");
    for key in &input.keys {
        // Some duplicates may not fit.
        let _ = filter.insert(key);
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
