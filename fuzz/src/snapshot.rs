//! Loading of arbitrary snapshots of every kind, from slices and from pushed chunks, and lookups in
//! them: they never panic, all ways agree, and a filter that loads works and saves the same bytes.

use arbitrary::Arbitrary;
use guira::LoadError;

use crate::common::{
    forge::{GHOSTS, amend, blocks, number, put},
    kind::{ExpiringSets, GrowingExpiringSets, GrowingMaps, GrowingSets, Kind, Maps, Of, Sets, new},
    saved::{holds, insert, loader, remove},
    settings,
};

/// Bytes that the buckets of a pushed snapshot may take.
const LIMIT: usize = 1 << 20;

/// A snapshot of a filter, and changes to it.
#[derive(Arbitrary, Debug)]
pub struct Input {
    kind: u8,
    layout: u8,
    /// Selects the window and the rate.
    seed: u8,
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
    match input.kind % 6 {
        0 => run_on::<Sets>(input),
        1 => run_on::<GrowingSets>(input),
        2 => run_on::<Maps>(input),
        3 => run_on::<GrowingMaps>(input),
        4 => run_on::<ExpiringSets>(input),
        _ => run_on::<GrowingExpiringSets>(input),
    }
}

/// Loads the snapshot of an input into a filter of one kind.
fn run_on<K: Kind>(input: &Input) {
    let bytes = input.raw.clone().unwrap_or_else(|| changed::<K>(input));
    let loaded = loader::<K>().bytes(&bytes);
    let pushed = pushed::<K>(&bytes, &input.chunks);
    let verified = viewed::<K>(&bytes, &input.keys);
    assert_eq!(verified.is_ok(), loaded.is_ok(), "a view is verified if its filter is loaded");
    let Ok(filter) = loaded else {
        assert!(pushed.is_err(), "a loader accepted what is refused as a whole");
        return;
    };
    let saved = filter.to_bytes();
    let mut expected = bytes.clone();
    if K::GROWS && saved != bytes {
        // The snapshot may have claimed more ghosts than there are slots: then all of them are.
        assert!(number(&saved, GHOSTS) < number(&bytes, GHOSTS));
        put(&mut expected, GHOSTS, number(&saved, GHOSTS));
        amend(&mut expected);
    }
    assert_eq!(saved, expected, "the filter does not save the bytes that it was loaded from");
    match pushed {
        Ok(pushed) => assert_eq!(pushed.to_bytes(), saved),
        Err(LoadError::LimitExceeded { .. }) => assert!(bytes.len() > LIMIT),
        Err(error) => panic!("a loader refused what is accepted as a whole: {error}"),
    }
    assert!(filter.len() <= filter.slots());
    // The filter works whatever items it holds: inserted keys are found, and can be removed.
    let keys = input.keys.iter().map(|&key| u64::from(key));
    let inserted: Vec<_> = keys.filter_map(|key| insert::<K>(&filter, key, key).ok()).collect();
    assert!(inserted.iter().all(|item| holds::<K>(&filter, item)));
    assert!(inserted.iter().all(|item| remove::<K>(&filter, item)));
    loader::<K>().bytes(&filter.to_bytes()).expect("a filter's own snapshot loads");
}

/// Looks up keys in place, and then verifies the bytes.
fn viewed<K: Kind>(bytes: &[u8], keys: &[u16]) -> Result<(), LoadError> {
    // In memory of its own, so that the sanitizer notices an access beyond the end. (It does not
    // see loads in vector registers: `tests/snapshots/views/guarded.rs` does.) Its allocator aligns
    // all memory.
    let bytes = bytes.to_vec();
    let view = loader::<K>().view(&bytes)?;
    let keys: Vec<u64> = keys.iter().map(|&key| key.into()).chain(0..70).collect();
    let mut found = vec![false; keys.len()];
    view.contains_batch(&keys, &mut found);
    let single: Vec<bool> = keys.iter().map(|key| view.contains(key)).collect();
    let counts = keys.iter().map(|key| view.count(key) > 0);
    let agree = single.iter().copied().eq(counts) && single == found;
    view.verify()?;
    assert!(agree, "all lookups agree, if the words are valid");
    Ok(())
}

/// Pushes bytes in chunks of these sizes, over and over again.
fn pushed<K: Kind>(mut bytes: &[u8], chunks: &[u8]) -> Result<Of<K>, LoadError> {
    let mut loader = loader::<K>().limit(LIMIT);
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
fn changed<K: Kind>(input: &Input) -> Vec<u8> {
    let layouts = K::layouts();
    let layout = layouts[usize::from(input.layout) % layouts.len()];
    let builder = match input.seed % 4 {
        0 => new::<K>().false_positive_rate(0.1).capacity(input.capacity.into()),
        1 => new::<K>().false_positive_rate(0.01).capacity(input.capacity.into()),
        _ => settings::<K>(input.capacity.into(), layout, input.seed.into()),
    };
    let filter = builder.seed(1).build().expect("a small filter");
    for &key in &input.keys {
        // Some duplicates may not fit.
        let _ = insert::<K>(&filter, key.into(), key.into());
    }
    if K::GROWS {
        // Enough for some splits.
        for key in 0..16 * u64::from(input.capacity) {
            let _ = insert::<K>(&filter, key << 16, key);
        }
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
