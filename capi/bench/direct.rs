//! The loops of `calls.c` in Rust, on the library without the C interface.

use std::slice;

use guira_rs::{CuckooFilter, CuckooMap, StableHashBuilder};

/// A set and a map with the same hashes.
pub struct Tables {
    set: CuckooFilter<StableHashBuilder>,
    map: CuckooMap<StableHashBuilder>,
}

/// Creates both tables, and inserts the hashes 0, 1, ... up to the capacity.
///
/// # Panics
/// If the system refuses the memory, or an item does not fit.
#[unsafe(no_mangle)]
pub extern "C" fn direct_create(capacity: usize, seed: u64) -> Box<Tables> {
    let with_seed = StableHashBuilder::with_seed;
    let set = CuckooFilter::builder().capacity(capacity).seed(seed).hasher_with(with_seed).build();
    let map = CuckooMap::builder().capacity(capacity).seed(seed).hasher_with(with_seed).build();
    let (set, map) = (set.unwrap(), map.unwrap());
    for first in (0..capacity).step_by(4096) {
        let hashes: Vec<u64> = (first..capacity.min(first + 4096)).map(|at| at as u64).collect();
        let values: Vec<u16> = hashes.iter().map(|hash| (hash % 256) as u16).collect();
        set.by_hash().insert_batch(&hashes).unwrap();
        map.by_hash().insert_batch(&hashes, &values).unwrap();
    }
    Box::new(Tables { set, map })
}

/// Destroys both tables.
#[unsafe(no_mangle)]
pub extern "C" fn direct_destroy(tables: Box<Tables>) {
    drop(tables);
}

/// Looks up `n` hashes in bursts. Returns the number of those that were found.
///
/// # Safety
/// `hashes` leads to `n` hashes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn direct_masks(
    tables: &Tables,
    hashes: *const u64,
    n: usize,
    burst: usize,
) -> u64 {
    // SAFETY: as the caller promises.
    let hashes = unsafe { slice::from_raw_parts(hashes, n) };
    let masks = hashes.chunks(burst).map(|hashes| tables.set.by_hash().contains_mask(hashes));
    masks.map(|mask| u64::from(mask.count_ones())).sum()
}

/// Looks up `n` hashes in batches, whose answers go to `found`. Returns the number of those that
/// were found.
///
/// # Safety
/// `hashes` leads to `n` hashes, and `found` to as many flags as a batch has hashes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn direct_batches(
    tables: &Tables,
    hashes: *const u64,
    n: usize,
    batch: usize,
    found: *mut bool,
) -> u64 {
    // SAFETY: as the caller promises.
    let (hashes, found) =
        unsafe { (slice::from_raw_parts(hashes, n), slice::from_raw_parts_mut(found, batch)) };
    let batches = hashes.chunks(batch);
    batches
        .map(|hashes| {
            tables.set.by_hash().contains_batch(hashes, &mut found[..hashes.len()]) as u64
        })
        .sum()
}

/// Looks up the values of `n` hashes in bursts. Returns the number of those that were found.
///
/// # Safety
/// `hashes` leads to `n` hashes, and `values` to as many values as a burst has hashes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn direct_value_masks(
    tables: &Tables,
    hashes: *const u64,
    n: usize,
    burst: usize,
    values: *mut u16,
) -> u64 {
    // SAFETY: as the caller promises.
    let (hashes, values) =
        unsafe { (slice::from_raw_parts(hashes, n), slice::from_raw_parts_mut(values, burst)) };
    let masks = hashes
        .chunks(burst)
        .map(|hashes| tables.map.by_hash().get_mask(hashes, &mut values[..hashes.len()]));
    masks.map(|mask| u64::from(mask.count_ones())).sum()
}

/// Looks up the values of `n` hashes in batches, whose answers go to `values` and `found`. Returns
/// the number of those that were found.
///
/// # Safety
/// `hashes` leads to `n` hashes, and the others to as many values and flags as a batch has hashes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn direct_values(
    tables: &Tables,
    hashes: *const u64,
    n: usize,
    batch: usize,
    values: *mut u16,
    found: *mut bool,
) -> u64 {
    // SAFETY: as the caller promises.
    let (hashes, values, found) = unsafe {
        (
            slice::from_raw_parts(hashes, n),
            slice::from_raw_parts_mut(values, batch),
            slice::from_raw_parts_mut(found, batch),
        )
    };
    let batches = hashes.chunks(batch);
    batches
        .map(|hashes| {
            let len = hashes.len();
            let (values, found) = (&mut values[..len], &mut found[..len]);
            tables.map.by_hash().get_batch_into(hashes, values, found) as u64
        })
        .sum()
}
