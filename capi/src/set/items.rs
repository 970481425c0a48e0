//! Operations on one item of a set.

use core::ffi::c_int;

use super::{Filter, either};
use crate::{
    error::Error,
    guard::with,
    object::with_key,
    pointer::{In, Shared},
};

impl Filter {
    fn insert(&self, hash: u64) -> Result<c_int, Error> {
        either!(self, filter => filter.by_hash().insert(hash))?;
        Ok(0)
    }

    fn insert_unique(&self, hash: u64) -> Result<c_int, Error> {
        Ok(either!(self, filter => filter.by_hash().insert_unique(hash))?.into())
    }

    fn contains(&self, hash: u64) -> c_int {
        either!(self, filter => filter.by_hash().contains(hash)).into()
    }

    fn remove(&self, hash: u64) -> c_int {
        either!(self, filter => filter.by_hash().remove(hash)).into()
    }
}

/// Inserts an item by its hash. Copies count: an item that is inserted twice must be removed twice.
/// Takes no lock if one of the item's two buckets has room.
///
/// Returns 0, `GUIRA_ERR_FULL`, `GUIRA_ERR_TOO_MANY_COPIES`, `GUIRA_ERR_NO_MEMORY` if a growing set
/// cannot grow, or `GUIRA_ERR_NULL`.
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_insert(filter: Shared<Filter>, hash: u64) -> c_int {
    with(filter.get(), |filter| filter.insert(hash))
}

/// As `guira_insert`, by a key of `len` bytes.
///
/// Returns what `guira_insert` returns.
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_insert_key(filter: Shared<Filter>, key: In<u8>, len: usize) -> c_int {
    with_key(filter.get(), &key, len, Filter::insert)
}

/// Inserts an item by its hash if it is absent. If calls with one item overlap, exactly one of them
/// inserts it. Takes a lock.
///
/// Returns 1 if the item was inserted, 0 if it was found (rarely, another item with the same
/// fingerprint was), `GUIRA_ERR_FULL`, `GUIRA_ERR_NO_MEMORY` if a growing set cannot grow, or
/// `GUIRA_ERR_NULL`. After any result but 1, the caller owns no copy and must not remove one.
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_insert_unique(filter: Shared<Filter>, hash: u64) -> c_int {
    with(filter.get(), |filter| filter.insert_unique(hash))
}

/// As `guira_insert_unique`, by a key of `len` bytes.
///
/// Returns what `guira_insert_unique` returns.
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_insert_unique_key(
    filter: Shared<Filter>,
    key: In<u8>,
    len: usize,
) -> c_int {
    with_key(filter.get(), &key, len, Filter::insert_unique)
}

/// Looks up an item by its hash. Takes no lock and writes nothing.
///
/// Returns 1 for an item that is in the set, 0 for an absent one, rarely 1 for an absent one, or
/// `GUIRA_ERR_NULL`.
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_contains(filter: Option<&Filter>, hash: u64) -> c_int {
    with(filter, |filter| Ok(filter.contains(hash)))
}

/// As `guira_contains`, by a key of `len` bytes.
///
/// Returns what `guira_contains` returns.
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_contains_key(filter: Option<&Filter>, key: In<u8>, len: usize) -> c_int {
    with_key(filter, &key, len, |filter, hash| Ok(filter.contains(hash)))
}

/// Removes one copy of an item by its hash. Remove only what you inserted, once, and after the
/// insert returned: see "Removal" above. Takes a lock.
///
/// Returns 1 if there was a copy, otherwise 0, or `GUIRA_ERR_NULL`.
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_remove(filter: Shared<Filter>, hash: u64) -> c_int {
    with(filter.get(), |filter| Ok(filter.remove(hash)))
}

/// As `guira_remove`, by a key of `len` bytes.
///
/// Returns what `guira_remove` returns.
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_remove_key(filter: Shared<Filter>, key: In<u8>, len: usize) -> c_int {
    with_key(filter.get(), &key, len, |filter, hash| Ok(filter.remove(hash)))
}

/// Counts the copies of an item by its hash, with those of other items that have the same
/// fingerprint. Takes a lock.
///
/// Returns the number, or `GUIRA_ERR_NULL`.
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_count(filter: Option<&Filter>, hash: u64) -> i64 {
    with(filter, |filter| Ok(either!(filter, filter => filter.by_hash().count(hash)) as i64))
}
