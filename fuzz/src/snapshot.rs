//! Snapshots made of anything: none makes loading panic, and what is loaded is a filter that works and
//! that is saved as the very same bytes.

use arbitrary::Arbitrary;
use guira::{CuckooFilter, Layout};

use crate::forge::{HEADER, amend};

/// A snapshot of a filter, and what is done to it.
#[derive(Arbitrary, Debug)]
pub struct Input {
    layout: u8,
    capacity: u8,
    keys: Vec<u16>,
    /// Bytes overwritten: where, and by what.
    changes: Vec<(u16, u8)>,
    /// Whole buckets overwritten.
    words: Vec<(u8, u64)>,
    /// Whether the checksums are made right again, so that the changes are looked at.
    amended: bool,
    /// Bytes left out at the end.
    cut: u8,
    /// Instead of all this.
    raw: Option<Vec<u8>>,
}

/// Loads what the input makes of a snapshot.
///
/// # Panics
/// Where the library is wrong.
pub fn run(input: &Input) {
    let bytes = input.raw.clone().unwrap_or_else(|| changed(input));
    let Ok(filter) = CuckooFilter::from_bytes(&bytes) else { return };
    assert_eq!(filter.to_bytes(), bytes, "another filter than the one that was saved");
    assert!(filter.len() <= filter.slots());
    // Whatever it holds, it goes on as a filter: what is put in is there, and comes out.
    let held: Vec<u16> =
        input.keys.iter().copied().filter(|key| filter.insert(key).is_ok()).collect();
    assert!(held.iter().all(|key| filter.contains(key)));
    assert!(held.iter().all(|key| filter.remove(key)));
    CuckooFilter::from_bytes(&filter.to_bytes()).expect("its own snapshot");
}

/// A snapshot, changed.
fn changed(input: &Input) -> Vec<u8> {
    let layout = Layout::ALL[usize::from(input.layout) % Layout::ALL.len()];
    let builder = CuckooFilter::builder().capacity(usize::from(input.capacity) + 1).layout(layout);
    let filter = builder.seed(1).build().expect("a small filter");
    for key in &input.keys {
        // Duplicates may not fit.
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
