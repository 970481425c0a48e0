//! Operations on one item of an expiring set.

use core::ffi::c_int;

use super::Expiring;
use crate::{
    error::Error,
    guard::with,
    object::with_key,
    pointer::{In, Out, Shared},
};

impl Expiring {
    fn insert(&self, hash: u64, mut generation: Out<u64>) -> Result<c_int, Error> {
        let place = generation.optional()?;
        let inserted_in = self.0.by_hash().insert(hash)?;
        place.map(|place| place.write(inserted_in));
        Ok(0)
    }

    fn insert_unique(&self, hash: u64, mut generation: Out<u64>) -> Result<c_int, Error> {
        let place = generation.optional()?;
        let inserted_in = self.0.by_hash().insert_unique(hash)?;
        if let (Some(place), Some(inserted_in)) = (place, inserted_in) {
            place.write(inserted_in);
        }
        Ok(inserted_in.is_some().into())
    }
}

/// Inserts an item by its hash, for the whole window. Copies count, until they expire. Writes the
/// generation, which a removal names, to `*generation`, which may be null.
///
/// Returns 0, `GUIRA_ERR_FULL`, `GUIRA_ERR_TOO_MANY_COPIES` or `GUIRA_ERR_NULL`.
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_expiring_insert(
    filter: Shared<Expiring>,
    hash: u64,
    generation: Out<u64>,
) -> c_int {
    with(filter.get(), |filter| filter.insert(hash, generation))
}

/// As `guira_expiring_insert`, by a key of `len` bytes.
///
/// Returns what `guira_expiring_insert` returns.
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_expiring_insert_key(
    filter: Shared<Expiring>,
    key: In<u8>,
    len: usize,
    generation: Out<u64>,
) -> c_int {
    with_key(filter.get(), &key, len, |filter, hash| filter.insert(hash, generation))
}

/// Inserts an item by its hash for a shorter life: for this many generations after the present one,
/// 1 to the window. Writes the generation that a removal names to `*generation`, which may be null.
/// (It is a past one: the item is as old as if it had been inserted earlier.)
///
/// Returns what `guira_expiring_insert` returns, or `GUIRA_ERR_LIFE`.
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_insert_for(
    filter: Shared<Expiring>,
    hash: u64,
    generations: u32,
    mut generation: Out<u64>,
) -> c_int {
    with(filter.get(), |filter| {
        let place = generation.optional()?;
        let inserted_in = filter.0.by_hash().insert_for(hash, generations)?;
        place.map(|place| place.write(inserted_in));
        Ok(0)
    })
}

/// Inserts an item by its hash if it has not been seen within the window. If calls with one item
/// overlap, exactly one of them inserts it. An item that is found is not refreshed. Writes the
/// generation of an item that was inserted to `*generation`, which may be null. Takes a lock.
///
/// Returns 1 if the item was inserted, 0 if it was found (rarely, another item with the same
/// fingerprint was), `GUIRA_ERR_FULL` or `GUIRA_ERR_NULL`. After any result but 1, the caller owns
/// no copy and must not remove one.
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_expiring_insert_unique(
    filter: Shared<Expiring>,
    hash: u64,
    generation: Out<u64>,
) -> c_int {
    with(filter.get(), |filter| filter.insert_unique(hash, generation))
}

/// As `guira_expiring_insert_unique`, by a key of `len` bytes.
///
/// Returns what `guira_expiring_insert_unique` returns.
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_expiring_insert_unique_key(
    filter: Shared<Expiring>,
    key: In<u8>,
    len: usize,
    generation: Out<u64>,
) -> c_int {
    with_key(filter.get(), &key, len, |filter, hash| filter.insert_unique(hash, generation))
}

/// Inserts an item by its hash, also if the set is full: then it replaces the oldest item in the
/// two buckets. In a set on which this is called, items may be forgotten early, and nobody may
/// remove anything.
///
/// Returns 1 if an item was replaced that had not expired, otherwise 0, or `GUIRA_ERR_NULL`.
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_insert_evicting(filter: Shared<Expiring>, hash: u64) -> c_int {
    with(filter.get(), |filter| Ok(filter.0.by_hash().insert_evicting(hash).into()))
}

/// Looks up an item by its hash. Takes no lock and writes nothing.
///
/// Returns 1 for an item that was inserted within the window, otherwise 0, rarely 1, or
/// `GUIRA_ERR_NULL`.
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_expiring_contains(filter: Option<&Expiring>, hash: u64) -> c_int {
    with(filter, |filter| Ok(filter.0.by_hash().contains(hash).into()))
}

/// As `guira_expiring_contains`, by a key of `len` bytes.
///
/// Returns what `guira_expiring_contains` returns.
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_expiring_contains_key(
    filter: Option<&Expiring>,
    key: In<u8>,
    len: usize,
) -> c_int {
    with_key(filter, &key, len, |filter, hash| Ok(filter.0.by_hash().contains(hash).into()))
}

/// Makes an item, by its hash, as young as if it were inserted now, if it is found. Nobody may
/// remove an item that is refreshed: it is left to expire. Takes a lock.
///
/// Returns 1 if the item was found, otherwise 0 (then insert it), or `GUIRA_ERR_NULL`.
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_refresh(filter: Shared<Expiring>, hash: u64) -> c_int {
    with(filter.get(), |filter| Ok(filter.0.by_hash().refresh(hash).into()))
}

/// As `guira_refresh`, by a key of `len` bytes.
///
/// Returns what `guira_refresh` returns.
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_refresh_key(filter: Shared<Expiring>, key: In<u8>, len: usize) -> c_int {
    with_key(filter.get(), &key, len, |filter, hash| Ok(filter.0.by_hash().refresh(hash).into()))
}

/// Removes one copy of an item, by its hash, before it expires. `generation` is the one that the
/// insert wrote. Remove only what you inserted, once: see "Removal" above. Takes a lock.
///
/// Returns 1 if there was a copy, otherwise 0 (also if it has expired), or `GUIRA_ERR_NULL`.
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_expiring_remove(
    filter: Shared<Expiring>,
    hash: u64,
    generation: u64,
) -> c_int {
    with(filter.get(), |filter| Ok(filter.0.by_hash().remove(hash, generation).into()))
}

/// As `guira_expiring_remove`, by a key of `len` bytes.
///
/// Returns what `guira_expiring_remove` returns.
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_expiring_remove_key(
    filter: Shared<Expiring>,
    key: In<u8>,
    len: usize,
    generation: u64,
) -> c_int {
    with_key(filter.get(), &key, len, |filter, hash| {
        Ok(filter.0.by_hash().remove(hash, generation).into())
    })
}

/// Counts the copies of an item, by its hash, that have not expired, with those of other items that
/// have the same fingerprint. Takes a lock.
///
/// Returns the number, or `GUIRA_ERR_NULL`.
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_expiring_count(filter: Option<&Expiring>, hash: u64) -> i64 {
    with(filter, |filter| Ok(filter.0.by_hash().count(hash) as i64))
}
