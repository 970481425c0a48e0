//! Operations on many items of an expiring set.

use super::Expiring;
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
pub extern "C" fn guira_expiring_contains_mask(
    filter: Option<&Expiring>,
    hashes: In<u64>,
    n: usize,
) -> u64 {
    with_burst(filter, &hashes, n, |filter, hashes| Ok(filter.0.by_hash().contains_mask(hashes)))
}

/// Inserts those of `n` items, at most 64, that have not been seen within the window, each as
/// `guira_expiring_insert_unique` does and in their order. An item that occurs twice is inserted
/// once.
///
/// Returns a mask: bit `i` is set if `hashes[i]` was inserted. Writes another one to `*refused`,
/// which may be null: bit `i` is set if there was no room for `hashes[i]`. (If `refused` is null,
/// such items cannot be told from those that were found.) Misuse (a null pointer, or more than 64
/// items) inserts nothing, returns 0, and sets all 64 bits of `*refused`.
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_expiring_insert_unique_mask(
    filter: Shared<Expiring>,
    hashes: In<u64>,
    n: usize,
    refused: Out<u64>,
) -> u64 {
    masks(filter.get(), &hashes, n, refused, |filter, hashes| {
        filter.0.by_hash().insert_unique_mask(hashes)
    })
}

/// Makes each of `n` items, at most 64, as young as if it were inserted now, if it is found: each
/// as `guira_refresh` does and in their order. Nobody may remove an item that is refreshed.
///
/// Returns a mask: bit `i` is set if `hashes[i]` was found (otherwise insert it). 0 on misuse: a
/// null pointer, or more than 64 items.
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_refresh_mask(filter: Shared<Expiring>, hashes: In<u64>, n: usize) -> u64 {
    with_burst(filter.get(), &hashes, n, |filter, hashes| {
        Ok(filter.0.by_hash().refresh_mask(hashes))
    })
}

/// Inserts `n` items for the whole window, in any order. Copies count. All of them get the
/// generation in which the call began. If all were inserted, writes it to `*generation`, which may
/// be null; otherwise writes 0, and nobody may remove those that were. `refused[i]` becomes `true`
/// if `hashes[i]` could not be inserted, because the set is full or has too many copies of it.
/// `refused` may be null.
///
/// Returns the number of items that were inserted, which is below `n` if some were refused,
/// `GUIRA_ERR_NULL` or `GUIRA_ERR_ARGUMENT`.
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_expiring_insert_bulk(
    filter: Shared<Expiring>,
    hashes: In<u64>,
    n: usize,
    mut generation: Out<u64>,
    mut refused: Out<bool>,
) -> i64 {
    with(filter.get(), |filter| {
        let (hashes, refused) = (hashes.slice(n)?, refused.optional_slice(n)?);
        let place = generation.optional()?;
        let (generation, inserted) =
            filter.0.by_hash().insert_batch_with(hashes, refusals(refused));
        place.map(|place| place.write(if inserted == n { generation } else { 0 }));
        Ok(inserted as i64)
    })
}

/// Inserts those of `n` items that have not been seen within the window, in their order. `added[i]`
/// becomes `true` if `hashes[i]` was inserted, and `refused[i]` if it was not found and could not
/// be inserted, because the set is full. An item with neither was found. `refused` may be null.
///
/// Returns the number of items that were inserted, `GUIRA_ERR_NULL` or `GUIRA_ERR_ARGUMENT`.
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_expiring_insert_unique_bulk(
    filter: Shared<Expiring>,
    hashes: In<u64>,
    n: usize,
    mut added: Out<bool>,
    mut refused: Out<bool>,
) -> i64 {
    with(filter.get(), |filter| {
        let (hashes, added) = (hashes.slice(n)?, added.slice(n)?);
        let refused = refused.optional_slice(n)?;
        let by_hash = filter.0.by_hash();
        Ok(by_hash.insert_unique_batch_with(hashes, added, refusals(refused)) as i64)
    })
}

/// Looks up `n` items: `found[i]` becomes whether `hashes[i]` was inserted within the window.
///
/// Returns the number of items that were found, `GUIRA_ERR_NULL` or `GUIRA_ERR_ARGUMENT`.
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_expiring_contains_bulk(
    filter: Option<&Expiring>,
    hashes: In<u64>,
    n: usize,
    mut found: Out<bool>,
) -> i64 {
    with(filter, |filter| {
        let (hashes, found) = (hashes.slice(n)?, found.slice(n)?);
        Ok(filter.0.by_hash().contains_batch(hashes, found) as i64)
    })
}
