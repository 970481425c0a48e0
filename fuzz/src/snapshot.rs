//! Loading of arbitrary snapshots: it never panics, and a filter that loads works and saves the
//! same bytes.

use arbitrary::Arbitrary;
use guira::{CuckooFilter, Layout};

use crate::forge::{HEADER, amend};

/// A snapshot of a filter, and changes to it.
#[derive(Arbitrary, Debug)]
pub struct Input {
    layout: u8,
    capacity: u8,
    keys: Vec<u16>,
    /// Bytes to overwrite: position and value.
    changes: Vec<(u16, u8)>,
    /// Buckets to overwrite: index and value.
    words: Vec<(u8, u64)>,
    /// Whether the checksums are corrected, so that loading gets past them.
    amended: bool,
    /// Eight times the number of bytes to cut off at the end.
    cut: u8,
    /// Bytes that replace the snapshot.
    raw: Option<Vec<u8>>,
}

/// Loads the snapshot of an input.
///
/// # Panics
/// If the loaded filter differs from the snapshot or does not work.
pub fn run(input: &Input) {
    let bytes = input.raw.clone().unwrap_or_else(|| changed(input));
    let Ok(filter) = CuckooFilter::from_bytes(&bytes) else { return };
    assert_eq!(
        filter.to_bytes(),
        bytes,
        "the filter does not save the bytes that it was loaded from"
    );
    assert!(filter.len() <= filter.slots());
    // The filter works whatever items it holds: inserted keys are found, and can be removed.
    let inserted: Vec<u16> =
        input.keys.iter().copied().filter(|key| filter.insert(key).is_ok()).collect();
    assert!(inserted.iter().all(|key| filter.contains(key)));
    assert!(inserted.iter().all(|key| filter.remove(key)));
    CuckooFilter::from_bytes(&filter.to_bytes()).expect("a filter's own snapshot loads");
}

/// The changed snapshot of an input.
fn changed(input: &Input) -> Vec<u8> {
    let layout = Layout::ALL[usize::from(input.layout) % Layout::ALL.len()];
    let builder = CuckooFilter::builder().capacity(usize::from(input.capacity) + 1).layout(layout);
    let filter = builder.seed(1).build().expect("a small filter");
    for key in &input.keys {
        // Some duplicates may not fit.
        let _ = filter.insert(key);
    }
    let mut bytes = filter.to_bytes();
    let buckets = (bytes.len() - HEADER - 8) / 8;
    for &(bucket, word) in &input.words {
        let at = HEADER + 8 * (usize::from(bucket) % buckets);
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
