//! Operations on many items of a set.

use super::{Filter, either};
use crate::{
    guard::with,
    object::with_burst,
    outcome::{masks, refusals},
    pointer::{In, Out, Shared},
};

/// Looks up a burst of `n` items, at most 64. The cache lines of all of them are in flight at once.
///
/// Returns a mask: bit `i` is set if `hashes[i]` is found. 0 on misuse: a null pointer, or more
/// than 64 items.
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_contains_mask(filter: Option<&Filter>, hashes: In<u64>, n: usize) -> u64 {
    with_burst(filter, &hashes, n, |filter, hashes| {
        Ok(either!(filter, filter => filter.by_hash().contains_mask(hashes)))
    })
}

/// Inserts those of `n` items, at most 64, that are absent, each as `guira_insert_unique` does and
/// in their order. An item that occurs twice is inserted once.
///
/// Returns a mask: bit `i` is set if `hashes[i]` was inserted. Writes another one to `*refused`,
/// which may be null: bit `i` is set if `hashes[i]` was absent and could not be inserted, because
/// the set is full or cannot grow. (`guira_insert_unique` tells which.) An item with neither bit
/// was found. On misuse (a null pointer, or more than 64 items) inserts nothing, returns 0, and sets
/// all 64 bits of `*refused`.
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_insert_unique_mask(
    filter: Shared<Filter>,
    hashes: In<u64>,
    n: usize,
    refused: Out<u64>,
) -> u64 {
    masks(
        filter.get(),
        &hashes,
        n,
        refused,
        |filter, hashes| either!(filter, filter => filter.by_hash().insert_unique_mask(hashes)),
    )
}

/// Removes one copy of each of `n` items, at most 64. What `guira_remove` demands holds for each.
///
/// Returns a mask: bit `i` is set if there was a copy of `hashes[i]`. 0 on misuse: a null pointer,
/// or more than 64 items.
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_remove_mask(filter: Shared<Filter>, hashes: In<u64>, n: usize) -> u64 {
    with_burst(filter.get(), &hashes, n, |filter, hashes| {
        Ok(either!(filter, filter => filter.by_hash().remove_mask(hashes)))
    })
}

/// Inserts `n` items, in any order. Copies count. `refused[i]` becomes `true` if `hashes[i]` could
/// not be inserted, because the set is full, cannot grow, or has too many copies of it.
/// (`guira_insert` tells which.) `refused` may be null.
///
/// Returns the number of items that were inserted, which is below `n` if some were refused,
/// `GUIRA_ERR_NULL` or `GUIRA_ERR_ARGUMENT`.
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_insert_bulk(
    filter: Shared<Filter>,
    hashes: In<u64>,
    n: usize,
    mut refused: Out<bool>,
) -> i64 {
    with(filter.get(), |filter| {
        let (hashes, refused) = (hashes.slice(n)?, refused.optional_slice(n)?);
        let refused = refusals(refused);
        Ok(either!(filter, filter => filter.by_hash().insert_batch_with(hashes, refused)) as i64)
    })
}

/// Inserts those of `n` items that are absent, in their order. `added[i]` becomes `true` if
/// `hashes[i]` was inserted, and `refused[i]` if it was absent and could not be inserted, because
/// the set is full or cannot grow. (`guira_insert_unique` tells which.) An item with neither was
/// found. `refused` may be null.
///
/// Returns the number of items that were inserted, `GUIRA_ERR_NULL` or `GUIRA_ERR_ARGUMENT`.
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_insert_unique_bulk(
    filter: Shared<Filter>,
    hashes: In<u64>,
    n: usize,
    mut added: Out<bool>,
    mut refused: Out<bool>,
) -> i64 {
    with(filter.get(), |filter| {
        let (hashes, added) = (hashes.slice(n)?, added.slice(n)?);
        let refused = refusals(refused.optional_slice(n)?);
        let inserted = either!(filter, filter => {
            filter.by_hash().insert_unique_batch_with(hashes, added, refused)
        });
        Ok(inserted as i64)
    })
}

/// Looks up `n` items: `found[i]` becomes whether `hashes[i]` is found.
///
/// Returns the number of items that were found, `GUIRA_ERR_NULL` or `GUIRA_ERR_ARGUMENT`.
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_contains_bulk(
    filter: Option<&Filter>,
    hashes: In<u64>,
    n: usize,
    mut found: Out<bool>,
) -> i64 {
    with(filter, |filter| {
        let (hashes, found) = (hashes.slice(n)?, found.slice(n)?);
        Ok(either!(filter, filter => filter.by_hash().contains_batch(hashes, found)) as i64)
    })
}

/// Removes one copy of each of `n` items: `removed[i]` becomes whether there was one of
/// `hashes[i]`. What `guira_remove` demands holds for each.
///
/// Returns the number of copies that were removed, `GUIRA_ERR_NULL` or `GUIRA_ERR_ARGUMENT`.
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_remove_bulk(
    filter: Shared<Filter>,
    hashes: In<u64>,
    n: usize,
    mut removed: Out<bool>,
) -> i64 {
    with(filter.get(), |filter| {
        let (hashes, removed) = (hashes.slice(n)?, removed.slice(n)?);
        Ok(either!(filter, filter => filter.by_hash().remove_batch(hashes, removed)) as i64)
    })
}
