//! Operations on many keys of a map.

use super::{Map, either};
use crate::{
    error::Error,
    guard::with,
    object::{check_burst, with_burst},
    outcome::refusals,
    pointer::{In, Out, Shared},
};

/// Looks up a burst of `n` keys, at most 64. The cache lines of all of them are in flight at once.
///
/// Returns a mask: bit `i` is set if `hashes[i]` is found, with whatever value. 0 on misuse: a null
/// pointer, or more than 64 keys.
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_map_contains_mask(map: Option<&Map>, hashes: In<u64>, n: usize) -> u64 {
    with_burst(map, &hashes, n, |map, hashes| {
        Ok(either!(map, filter => filter.by_hash().contains_mask(hashes)))
    })
}

/// Looks up the values of a burst of `n` keys, at most 64: `values[i]` becomes a value of
/// `hashes[i]`, as `guira_get` finds it, or 0 if the key is not found.
///
/// Returns a mask: bit `i` is set if `hashes[i]` is found. 0 on misuse: a null pointer, or more
/// than 64 keys.
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_get_mask(
    map: Option<&Map>,
    hashes: In<u64>,
    n: usize,
    mut values: Out<u16>,
) -> u64 {
    with(map, |map| {
        check_burst(n)?;
        let (hashes, values) = (hashes.slice(n)?, values.slice(n)?);
        Ok(either!(map, filter => filter.by_hash().get_mask(hashes, values)))
    })
}

/// Looks up the values of `n` keys: `values[i]` becomes a value of `hashes[i]`, as `guira_get`
/// finds it, or 0 if the key is not found, and `found[i]` whether it is found.
///
/// Returns the number of keys that were found, `GUIRA_ERR_NULL` or `GUIRA_ERR_ARGUMENT`.
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_get_bulk(
    map: Option<&Map>,
    hashes: In<u64>,
    n: usize,
    mut values: Out<u16>,
    mut found: Out<bool>,
) -> i64 {
    with(map, |map| {
        let (hashes, values, found) = (hashes.slice(n)?, values.slice(n)?, found.slice(n)?);
        Ok(either!(map, filter => filter.by_hash().get_batch_into(hashes, values, found)) as i64)
    })
}

/// Looks up `n` keys: `found[i]` becomes whether `hashes[i]` is found, with whatever value.
///
/// Returns the number of keys that were found, `GUIRA_ERR_NULL` or `GUIRA_ERR_ARGUMENT`.
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_map_contains_bulk(
    map: Option<&Map>,
    hashes: In<u64>,
    n: usize,
    mut found: Out<bool>,
) -> i64 {
    with(map, |map| {
        let (hashes, found) = (hashes.slice(n)?, found.slice(n)?);
        Ok(either!(map, filter => filter.by_hash().contains_batch(hashes, found)) as i64)
    })
}

/// Inserts `n` items, in any order: the hashes of keys, with `values[i]` for `hashes[i]`. Copies
/// count. `refused[i]` becomes `true` if an item could not be inserted, because the map is full,
/// cannot grow, or has too many items of the key. (`guira_map_insert` tells which.) `refused` may
/// be null.
///
/// Returns the number of items that were inserted, which is below `n` if some were refused;
/// `GUIRA_ERR_VALUE_TOO_LARGE` if a value is, and then no item was inserted; `GUIRA_ERR_NULL` or
/// `GUIRA_ERR_ARGUMENT`.
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_map_insert_bulk(
    map: Shared<Map>,
    hashes: In<u64>,
    values: In<u16>,
    n: usize,
    mut refused: Out<bool>,
) -> i64 {
    with(map.get(), |map| {
        let (hashes, values) = (hashes.slice(n)?, values.slice(n)?);
        let refused = refusals(refused.optional_slice(n)?);
        let bits = either!(map, filter => filter.value_bits());
        if values.iter().any(|&value| u32::from(value) >> bits != 0) {
            return Err(Error::ValueTooLarge);
        }
        let inserted = either!(map, filter => {
            filter.by_hash().insert_batch_with(hashes, values, refused)
        });
        Ok(inserted as i64)
    })
}

/// Removes `n` items: `removed[i]` becomes whether there was one of `hashes[i]` with `values[i]`.
/// What `guira_map_remove` demands holds for each.
///
/// Returns the number of items that were removed, `GUIRA_ERR_NULL` or `GUIRA_ERR_ARGUMENT`.
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_map_remove_bulk(
    map: Shared<Map>,
    hashes: In<u64>,
    values: In<u16>,
    n: usize,
    mut removed: Out<bool>,
) -> i64 {
    with(map.get(), |map| {
        let (hashes, values) = (hashes.slice(n)?, values.slice(n)?);
        let removed = removed.slice(n)?;
        Ok(either!(map, filter => filter.by_hash().remove_batch(hashes, values, removed)) as i64)
    })
}
