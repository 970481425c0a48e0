//! Maps: the type, and what one can do with a map as a whole.

// In the order of the header.
mod items;

mod bulk;

use core::ffi::{c_char, c_int, c_void};
use std::{
    io::{self, Read, Write},
    path::Path,
};

use guira_rs::{BuildError, CuckooMap, GrowingMap, LoadError, StableHashBuilder};

use crate::{
    error::Error,
    guard::{guard, with},
    info::Info,
    object::{self, Object},
    params::{Common, Growth, MapParams, build, limit_copies},
    pointer::{In, Out, Shared},
    stream::{ReadFn, WriteFn},
};

/// A map from keys to values of up to 16 bits, with a fixed capacity or growing.
#[allow(clippy::large_enum_variant, reason = "it is on the heap, and another box would cost time")]
pub enum Map {
    /// One table.
    Fixed(CuckooMap<StableHashBuilder>),
    /// A chain of segments.
    Growing(GrowingMap<StableHashBuilder>),
}

/// Evaluates the body with `$filter` bound to the map of either type.
macro_rules! either {
    ($map:expr, $filter:ident => $body:expr) => {
        match $map {
            $crate::map::Map::Fixed($filter) => $body,
            $crate::map::Map::Growing($filter) => $body,
        }
    };
}
use either;

impl Object for Map {
    type Params = MapParams;

    fn build(params: &MapParams) -> Result<Self, Error> {
        let MapParams { capacity, false_positive_rate, seed, writers, no_huge_pages, .. } = *params;
        let common = Common { capacity, false_positive_rate, seed, writers, no_huge_pages };
        let MapParams { growing, growth_factor, max_bytes, max_copies, .. } = *params;
        let growth = Growth { growing, factor: growth_factor, max_bytes };
        let value_bits = if params.value_bits == 0 { 8 } else { params.value_bits };
        if growth.is_growing()? {
            let builder = limit_copies(common.builder()?, max_copies).value_bits(value_bits);
            build(growth.add_to(builder)).map(Self::Growing)
        } else {
            let builder = limit_copies(common.builder()?, max_copies).value_bits(value_bits);
            build(builder).map(Self::Fixed)
        }
    }

    fn copy(&self) -> Result<Self, BuildError> {
        match self {
            Self::Fixed(filter) => filter.try_clone().map(Self::Fixed),
            Self::Growing(filter) => filter.try_clone().map(Self::Growing),
        }
    }

    fn clear(&self) {
        either!(self, filter => filter.clear());
    }

    fn save_to(&self, path: &Path) -> io::Result<()> {
        either!(self, filter => filter.save_to(path))
    }

    fn save(&self, writer: &mut dyn Write) -> io::Result<()> {
        either!(self, filter => filter.save(writer))
    }

    fn load_from(path: &Path) -> Result<Self, LoadError> {
        match CuckooMap::load_from_with(path, StableHashBuilder::with_seed) {
            Err(LoadError::OtherKind { .. }) => {
                GrowingMap::load_from_with(path, StableHashBuilder::with_seed).map(Self::Growing)
            }
            loaded => loaded.map(Self::Fixed),
        }
    }

    fn load(growing: bool, reader: &mut dyn Read) -> Result<Self, LoadError> {
        if growing {
            GrowingMap::load_with(reader, StableHashBuilder::with_seed).map(Self::Growing)
        } else {
            CuckooMap::load_with(reader, StableHashBuilder::with_seed).map(Self::Fixed)
        }
    }

    fn info(&self) -> Info {
        match self {
            Self::Fixed(filter) => Info { value_bits: filter.value_bits(), ..Info::of(filter) },
            Self::Growing(filter) => {
                let next_growth_bytes = filter.next_growth().unwrap_or(0) as u64;
                let value_bits = filter.value_bits();
                Info { next_growth_bytes, growing: 1, value_bits, ..Info::of(filter) }
            }
        }
    }

    fn len(&self) -> usize {
        either!(self, filter => filter.len())
    }

    fn hasher(&self) -> &StableHashBuilder {
        either!(self, filter => filter.hasher())
    }
}

/// Creates a map. Writes it to `*map`.
///
/// Returns what `guira_create` returns.
/// Threads: any.
#[unsafe(no_mangle)]
pub extern "C" fn guira_map_create(params: In<MapParams>, map: Out<*mut Map>) -> c_int {
    object::create(&params, map)
}

/// Destroys a map and releases its memory. Null is allowed.
///
/// Threads: exclusive.
#[unsafe(no_mangle)]
pub extern "C" fn guira_map_destroy(map: Option<Box<Map>>) {
    object::destroy(map);
}

/// Removes all items, as `guira_clear` does.
///
/// Returns 0 or `GUIRA_ERR_NULL`.
/// Threads: shared. Lookups do not wait for it.
#[unsafe(no_mangle)]
pub extern "C" fn guira_map_clear(map: Shared<Map>) -> c_int {
    object::clear(map.get())
}

/// Copies a map to `*copy`, as `guira_clone` does. An item whose value is replaced meanwhile has
/// its old or its new value in the copy, and must not be removed from it.
///
/// Returns what `guira_clone` returns.
/// Threads: shared. Lookups do not wait for it.
#[unsafe(no_mangle)]
pub extern "C" fn guira_map_clone(map: Option<&Map>, copy: Out<*mut Map>) -> c_int {
    object::clone(map, copy)
}

/// Saves a map to the file `path`, as `guira_save` does.
///
/// Returns what `guira_save` returns.
/// Threads: shared. Lookups do not wait for it.
#[unsafe(no_mangle)]
pub extern "C" fn guira_map_save(map: Option<&Map>, path: In<c_char>) -> c_int {
    object::save(map, &path)
}

/// Saves a map through a callback, as `guira_save_to` does.
///
/// Returns what `guira_save_to` returns.
/// Threads: shared. Lookups do not wait for it.
#[unsafe(no_mangle)]
pub extern "C" fn guira_map_save_to(
    map: Option<&Map>,
    write: WriteFn,
    context: *mut c_void,
) -> c_int {
    object::save_to(map, write, context)
}

/// Loads a map from the file `path` to `*map`, as `guira_load` does.
///
/// Returns what `guira_load` returns.
/// Threads: any.
#[unsafe(no_mangle)]
pub extern "C" fn guira_map_load(path: In<c_char>, map: Out<*mut Map>) -> c_int {
    object::load(&path, map)
}

/// Loads a map through a callback to `*map`, as `guira_load_from` does.
///
/// Returns what `guira_load_from` returns.
/// Threads: any.
#[unsafe(no_mangle)]
pub extern "C" fn guira_map_load_from(
    read: ReadFn,
    context: *mut c_void,
    map: Out<*mut Map>,
) -> c_int {
    object::load_from(read, context, map)
}

/// Writes facts and statistics about a map to `*info`, whose field `size` must be set.
///
/// Returns 0, `GUIRA_ERR_NULL` or `GUIRA_ERR_STRUCT_SIZE`.
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_map_get_info(map: Option<&Map>, info: Out<Info>) -> c_int {
    object::get_info(map, info)
}

/// Returns the number of items, copies counted, or 0 for null. Exact if no other thread writes.
///
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_map_len(map: Option<&Map>) -> u64 {
    with(map, |map| Ok(map.len() as u64))
}

/// Adds all items of `other` to `map`, as `guira_merge` does.
///
/// Returns what `guira_merge` returns.
/// Threads: shared, with both maps.
#[unsafe(no_mangle)]
pub extern "C" fn guira_map_merge(map: Shared<Map>, other: Option<&Map>) -> c_int {
    with(map.get(), |map| {
        match (map, other.ok_or(Error::Null)?) {
            (Map::Fixed(map), Map::Fixed(other)) => map.merge(other)?,
            (Map::Growing(map), Map::Growing(other)) => map.merge(other)?,
            _ => return Err(Error::Mismatch),
        }
        Ok(0)
    })
}

/// Releases the memory of segments of a growing map that its items do not need. Every item stays.
/// Writes the number of bytes to `*released`, which may be null.
///
/// Returns 0, `GUIRA_ERR_NULL` or `GUIRA_ERR_NOT_GROWING`.
/// Threads: exclusive.
#[unsafe(no_mangle)]
pub extern "C" fn guira_map_shrink_to_fit(map: Option<&mut Map>, mut released: Out<u64>) -> c_int {
    guard(|| {
        let place = released.optional()?;
        let Map::Growing(map) = map.ok_or(Error::Null)? else {
            return Err(Error::NotGrowing);
        };
        let bytes = map.shrink_to_fit() as u64;
        place.map(|place| place.write(bytes));
        Ok(0)
    })
}

/// Returns the hash of a key of `len` bytes for this map, as `guira_hash` does for a set. 0 on
/// misuse.
///
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_map_hash(map: Option<&Map>, key: In<u8>, len: usize) -> u64 {
    object::hash(map, &key, len)
}

/// Hashes `n` keys of `len` bytes each, as `guira_hash_bulk` does.
///
/// Returns 0, `GUIRA_ERR_NULL` or `GUIRA_ERR_ARGUMENT`.
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_map_hash_bulk(
    map: Option<&Map>,
    keys: In<u8>,
    n: usize,
    len: usize,
    hashes: Out<u64>,
) -> c_int {
    object::hash_bulk(map, &keys, n, len, hashes)
}
