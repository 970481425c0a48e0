//! Operations on one key of a map.

use core::ffi::c_int;

use super::{Map, either};
use crate::{
    error::Error,
    guard::with,
    object::with_key,
    pointer::{In, Out, Shared},
};

impl Map {
    fn insert(&self, hash: u64, value: u16) -> Result<c_int, Error> {
        either!(self, filter => filter.by_hash().insert(hash, value))?;
        Ok(0)
    }

    /// Returns 1 if the item was inserted. Otherwise, writes the value that was found.
    fn get_or_insert(&self, hash: u64, value: u16, mut found: Out<u16>) -> Result<c_int, Error> {
        let place = found.optional()?;
        let other = either!(self, filter => filter.by_hash().get_or_insert(hash, value))?;
        place.map(|place| place.write(other.unwrap_or(value)));
        Ok(other.is_none().into())
    }

    /// Returns 1 and writes the value if the key was found.
    fn get(&self, hash: u64, mut value: Out<u16>) -> Result<c_int, Error> {
        let place = value.place()?;
        let found = either!(self, filter => filter.by_hash().get(hash));
        Ok(found.map(|found| place.write(found)).is_some().into())
    }

    fn contains(&self, hash: u64) -> c_int {
        either!(self, filter => filter.by_hash().contains(hash)).into()
    }

    fn replace(&self, hash: u64, old: u16, replacement: u16) -> c_int {
        either!(self, filter => filter.by_hash().replace(hash, old, replacement)).into()
    }

    fn remove(&self, hash: u64, value: u16) -> c_int {
        either!(self, filter => filter.by_hash().remove(hash, value)).into()
    }
}

/// Inserts an item: the hash of a key, with a value. A key can have several values, and the same
/// value several times. Takes no lock if one of the key's two buckets has room.
///
/// Returns 0, `GUIRA_ERR_VALUE_TOO_LARGE`, `GUIRA_ERR_FULL`, `GUIRA_ERR_TOO_MANY_COPIES`,
/// `GUIRA_ERR_NO_MEMORY` if a growing map cannot grow, or `GUIRA_ERR_NULL`.
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_map_insert(map: Shared<Map>, hash: u64, value: u16) -> c_int {
    with(map.get(), |map| map.insert(hash, value))
}

/// As `guira_map_insert`, by a key of `len` bytes.
///
/// Returns what `guira_map_insert` returns.
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_map_insert_key(
    map: Shared<Map>,
    key: In<u8>,
    len: usize,
    value: u16,
) -> c_int {
    with_key(map.get(), &key, len, |map, hash| map.insert(hash, value))
}

/// Inserts an item if its key is absent, by the hash of the key. If calls with one key overlap,
/// exactly one of them inserts its item. Writes the value that the key then has to `*found`, which
/// may be null: `value`, or the one that was found. Takes a lock.
///
/// Returns 1 if the item was inserted, 0 if the key was found (rarely, another key with the same
/// fingerprint was), `GUIRA_ERR_VALUE_TOO_LARGE`, `GUIRA_ERR_FULL`, `GUIRA_ERR_NO_MEMORY` if a
/// growing map cannot grow, or `GUIRA_ERR_NULL`. After any result but 1, the caller owns no item
/// and must not remove or replace one.
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_get_or_insert(
    map: Shared<Map>,
    hash: u64,
    value: u16,
    found: Out<u16>,
) -> c_int {
    with(map.get(), |map| map.get_or_insert(hash, value, found))
}

/// As `guira_get_or_insert`, by a key of `len` bytes.
///
/// Returns what `guira_get_or_insert` returns.
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_get_or_insert_key(
    map: Shared<Map>,
    key: In<u8>,
    len: usize,
    value: u16,
    found: Out<u16>,
) -> c_int {
    with_key(map.get(), &key, len, |map, hash| map.get_or_insert(hash, value, found))
}

/// Looks up a key by its hash. Writes one of its values to `*value`: rarely, that of another key
/// with the same fingerprint. Leaves `*value` alone if the key is not found. Takes no lock.
///
/// Returns 1 if the key is found, otherwise 0, and then it is not in the map; or `GUIRA_ERR_NULL`.
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_get(map: Option<&Map>, hash: u64, value: Out<u16>) -> c_int {
    with(map, |map| map.get(hash, value))
}

/// As `guira_get`, by a key of `len` bytes.
///
/// Returns what `guira_get` returns.
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_get_key(
    map: Option<&Map>,
    key: In<u8>,
    len: usize,
    value: Out<u16>,
) -> c_int {
    with_key(map, &key, len, |map, hash| map.get(hash, value))
}

/// Looks up all values that a key may have, by its hash: its own, always, and rarely those of other
/// keys. Writes the first `max` of them to `values`, in any order. Takes no lock.
///
/// Returns the number of values, which may exceed `max`; `GUIRA_ERR_NULL` or `GUIRA_ERR_ARGUMENT`.
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_values(
    map: Option<&Map>,
    hash: u64,
    mut values: Out<u16>,
    max: usize,
) -> i64 {
    with(map, |map| {
        let places = values.slice(max)?;
        let found = either!(map, filter => filter.by_hash().values(hash));
        let len = found.len();
        places.iter_mut().zip(found).for_each(|(place, value)| *place = value);
        Ok(len as i64)
    })
}

/// Looks up a key by its hash, with whatever value. Takes no lock.
///
/// Returns 1 for a key that is in the map, 0 for an absent one, rarely 1 for an absent one, or
/// `GUIRA_ERR_NULL`.
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_map_contains(map: Option<&Map>, hash: u64) -> c_int {
    with(map, |map| Ok(map.contains(hash)))
}

/// As `guira_map_contains`, by a key of `len` bytes.
///
/// Returns what `guira_map_contains` returns.
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_map_contains_key(map: Option<&Map>, key: In<u8>, len: usize) -> c_int {
    with_key(map, &key, len, |map, hash| Ok(map.contains(hash)))
}

/// Looks up an item: a key by its hash, with this value. Takes no lock.
///
/// Returns 1 if `value` is one of the values of the key, otherwise 0, or `GUIRA_ERR_NULL`.
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_contains_value(map: Option<&Map>, hash: u64, value: u16) -> c_int {
    with(map, |map| Ok(either!(map, filter => filter.by_hash().contains_value(hash, value)).into()))
}

/// Replaces the value `old` of an item by `replacement`, by the hash of its key. Replace only what
/// you inserted, with the value that you inserted or set last: see "Removal" above. Lookups find
/// the old value or the new one. Takes a lock.
///
/// Returns 1 if there was such an item, otherwise 0 (also if a value is too large), or
/// `GUIRA_ERR_NULL`.
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_replace(map: Shared<Map>, hash: u64, old: u16, replacement: u16) -> c_int {
    with(map.get(), |map| Ok(map.replace(hash, old, replacement)))
}

/// As `guira_replace`, by a key of `len` bytes.
///
/// Returns what `guira_replace` returns.
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_replace_key(
    map: Shared<Map>,
    key: In<u8>,
    len: usize,
    old: u16,
    replacement: u16,
) -> c_int {
    with_key(map.get(), &key, len, |map, hash| Ok(map.replace(hash, old, replacement)))
}

/// Removes an item: a key by its hash, with this value. Remove only what you inserted, with the
/// value that you inserted or set last, and never with one that a lookup returned: see "Removal"
/// above. Takes a lock.
///
/// Returns 1 if there was such an item, otherwise 0 (also if the value is too large), or
/// `GUIRA_ERR_NULL`.
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_map_remove(map: Shared<Map>, hash: u64, value: u16) -> c_int {
    with(map.get(), |map| Ok(map.remove(hash, value)))
}

/// As `guira_map_remove`, by a key of `len` bytes.
///
/// Returns what `guira_map_remove` returns.
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_map_remove_key(
    map: Shared<Map>,
    key: In<u8>,
    len: usize,
    value: u16,
) -> c_int {
    with_key(map.get(), &key, len, |map, hash| Ok(map.remove(hash, value)))
}

/// Counts the items of a key by its hash, whatever their values, with those of other keys that have
/// the same fingerprint. Takes a lock.
///
/// Returns the number, or `GUIRA_ERR_NULL`.
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_map_count(map: Option<&Map>, hash: u64) -> i64 {
    with(map, |map| Ok(either!(map, filter => filter.by_hash().count(hash)) as i64))
}
