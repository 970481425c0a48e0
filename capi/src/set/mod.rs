//! Sets: the type, and what one can do with a set as a whole.

// In the order of the header.
mod items;

mod bulk;

use core::ffi::{c_char, c_int, c_void};
use std::{
    io::{self, Read, Write},
    path::Path,
};

use guira_rs::{BuildError, CuckooFilter, GrowingFilter, LoadError, StableHashBuilder};

use crate::{
    error::Error,
    guard::with,
    info::Info,
    object::{self, Object},
    params::{Common, FilterParams, Growth, build, flag, limit_copies},
    pointer::{In, Out, Shared},
    stream::{ReadFn, WriteFn},
};

/// A set of items, with a fixed capacity or growing.
#[allow(clippy::large_enum_variant, reason = "it is on the heap, and another box would cost time")]
pub enum Filter {
    /// One table.
    Fixed(CuckooFilter<StableHashBuilder>),
    /// A chain of segments.
    Growing(GrowingFilter<StableHashBuilder>),
}

/// Evaluates the body with `$filter` bound to the filter of either type.
macro_rules! either {
    ($set:expr, $filter:ident => $body:expr) => {
        match $set {
            $crate::set::Filter::Fixed($filter) => $body,
            $crate::set::Filter::Growing($filter) => $body,
        }
    };
}
use either;

impl Object for Filter {
    type Params = FilterParams;

    fn build(params: &FilterParams) -> Result<Self, Error> {
        let FilterParams { capacity, false_positive_rate, seed, writers, no_huge_pages, .. } =
            *params;
        let common = Common { capacity, false_positive_rate, seed, writers, no_huge_pages };
        let FilterParams { growing, growth_factor, max_bytes, .. } = *params;
        let growth = Growth { growing, factor: growth_factor, max_bytes };
        let fastest = flag(params.fastest)?;
        if growth.is_growing()? {
            let builder = limit_copies(common.builder()?, params.max_copies);
            let builder = if fastest { builder.fastest() } else { builder };
            build(growth.add_to(builder)).map(Self::Growing)
        } else {
            let builder = limit_copies(common.builder()?, params.max_copies);
            build(if fastest { builder.fastest() } else { builder }).map(Self::Fixed)
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
        match CuckooFilter::load_from_with(path, StableHashBuilder::with_seed) {
            Err(LoadError::OtherKind { .. }) => {
                GrowingFilter::load_from_with(path, StableHashBuilder::with_seed).map(Self::Growing)
            }
            loaded => loaded.map(Self::Fixed),
        }
    }

    fn load(growing: bool, reader: &mut dyn Read) -> Result<Self, LoadError> {
        if growing {
            GrowingFilter::load_with(reader, StableHashBuilder::with_seed).map(Self::Growing)
        } else {
            CuckooFilter::load_with(reader, StableHashBuilder::with_seed).map(Self::Fixed)
        }
    }

    fn info(&self) -> Info {
        match self {
            Self::Fixed(filter) => Info::of(filter),
            Self::Growing(filter) => {
                let next_growth_bytes = filter.next_growth().unwrap_or(0) as u64;
                Info { next_growth_bytes, growing: 1, ..Info::of(filter) }
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

/// Creates a set. Writes it to `*filter`.
///
/// Returns 0, `GUIRA_ERR_NULL`, `GUIRA_ERR_STRUCT_SIZE`, `GUIRA_ERR_CAPACITY`, `GUIRA_ERR_RATE`,
/// `GUIRA_ERR_SETTING` or `GUIRA_ERR_NO_MEMORY`.
/// Threads: any.
#[unsafe(no_mangle)]
pub extern "C" fn guira_create(params: In<FilterParams>, filter: Out<*mut Filter>) -> c_int {
    object::create(&params, filter)
}

/// Destroys a set and releases its memory. Null is allowed.
///
/// Threads: exclusive.
#[unsafe(no_mangle)]
pub extern "C" fn guira_destroy(filter: Option<Box<Filter>>) {
    object::destroy(filter);
}

/// Removes all items. An item whose insert overlaps the call may remain or not. So afterwards,
/// remove only what was inserted after the call returned. No memory is released.
///
/// Returns 0 or `GUIRA_ERR_NULL`.
/// Threads: shared. Lookups do not wait for it.
#[unsafe(no_mangle)]
pub extern "C" fn guira_clear(filter: Shared<Filter>) -> c_int {
    object::clear(filter.get())
}

/// Copies a set, with its seed. Writes the copy to `*copy`. Every item that is in the set from
/// before the call until it returns is in the copy; from the copy, remove only those.
///
/// Returns 0, `GUIRA_ERR_NULL` or `GUIRA_ERR_NO_MEMORY`.
/// Threads: shared. Lookups do not wait for it.
#[unsafe(no_mangle)]
pub extern "C" fn guira_clone(filter: Option<&Filter>, copy: Out<*mut Filter>) -> c_int {
    object::clone(filter, copy)
}

/// Saves a set to the file `path` and waits until it is on disk. The file is replaced as a whole:
/// if the process is killed meanwhile, the old file or the new one is there. The file holds what
/// `guira_clone` would copy. Takes as much memory as the set until it returns.
///
/// Returns 0, `GUIRA_ERR_NULL`, `GUIRA_ERR_IO` (and sets `errno`) or `GUIRA_ERR_NO_MEMORY`.
/// Threads: shared. Lookups do not wait for it.
#[unsafe(no_mangle)]
pub extern "C" fn guira_save(filter: Option<&Filter>, path: In<c_char>) -> c_int {
    object::save(filter, &path)
}

/// Saves a set through a callback, which is called with up to 64 KiB at a time. The bytes are those
/// that `guira_save` writes. No lock is held during callbacks.
///
/// Returns 0, `GUIRA_ERR_NULL`, `GUIRA_ERR_CALLBACK` or `GUIRA_ERR_NO_MEMORY`. What was passed to
/// the callback before an error cannot be loaded.
/// Threads: shared. Lookups do not wait for it.
#[unsafe(no_mangle)]
pub extern "C" fn guira_save_to(
    filter: Option<&Filter>,
    write: WriteFn,
    context: *mut c_void,
) -> c_int {
    object::save_to(filter, write, context)
}

/// Loads a set from the file `path`: one that `guira_save` saved, or the Rust crate with its stable
/// hasher. Writes it to `*filter`. Damaged files are refused.
///
/// Returns 0, `GUIRA_ERR_NULL`, `GUIRA_ERR_IO` (and sets `errno`), `GUIRA_ERR_NOT_A_SNAPSHOT`,
/// `GUIRA_ERR_UNKNOWN_VERSION`, `GUIRA_ERR_OTHER_TYPE`, `GUIRA_ERR_OTHER_HASHER`,
/// `GUIRA_ERR_TRUNCATED`, `GUIRA_ERR_DAMAGED` or `GUIRA_ERR_NO_MEMORY`.
/// Threads: any.
#[unsafe(no_mangle)]
pub extern "C" fn guira_load(path: In<c_char>, filter: Out<*mut Filter>) -> c_int {
    object::load(&path, filter)
}

/// Loads a set through a callback, which is called until all bytes of the snapshot are there, and
/// for none after them. Writes the set to `*filter`. Memory is taken as the bytes arrive (on Linux;
/// elsewhere the system decides).
///
/// Returns 0, `GUIRA_ERR_CALLBACK` or what `guira_load` returns, except for `GUIRA_ERR_IO`.
/// Threads: any.
#[unsafe(no_mangle)]
pub extern "C" fn guira_load_from(
    read: ReadFn,
    context: *mut c_void,
    filter: Out<*mut Filter>,
) -> c_int {
    object::load_from(read, context, filter)
}

/// Writes facts and statistics about a set to `*info`, whose field `size` must be set.
///
/// Returns 0, `GUIRA_ERR_NULL` or `GUIRA_ERR_STRUCT_SIZE`.
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_get_info(filter: Option<&Filter>, info: Out<Info>) -> c_int {
    object::get_info(filter, info)
}

/// Returns the number of items, copies counted, or 0 for null. Exact if no other thread writes.
///
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_len(filter: Option<&Filter>) -> u64 {
    with(filter, |filter| Ok(filter.len() as u64))
}

/// Adds all items of `other` to `filter`, each copy. Both must have been created with the same
/// parameters, and with the same seed, which is not 0; or one is a clone of the other. A growing
/// set needs a capacity for the items of both.
///
/// Returns 0, `GUIRA_ERR_NULL`, `GUIRA_ERR_MISMATCH`, `GUIRA_ERR_FULL`,
/// `GUIRA_ERR_TOO_MANY_COPIES` or `GUIRA_ERR_NO_MEMORY`. On an error `filter` holds the same items
/// as before.
/// Threads: shared, with both sets.
#[unsafe(no_mangle)]
pub extern "C" fn guira_merge(filter: Shared<Filter>, other: Option<&Filter>) -> c_int {
    with(filter.get(), |filter| {
        match (filter, other.ok_or(Error::Null)?) {
            (Filter::Fixed(filter), Filter::Fixed(other)) => filter.merge(other)?,
            (Filter::Growing(filter), Filter::Growing(other)) => filter.merge(other)?,
            _ => return Err(Error::Mismatch),
        }
        Ok(0)
    })
}

/// Releases the memory of segments of a growing set that its items do not need. Every item stays.
/// Writes the number of bytes to `*released`, which may be null.
///
/// Returns 0, `GUIRA_ERR_NULL` or `GUIRA_ERR_NOT_GROWING`.
/// Threads: exclusive.
#[unsafe(no_mangle)]
pub extern "C" fn guira_shrink_to_fit(
    filter: Option<&mut Filter>,
    mut released: Out<u64>,
) -> c_int {
    crate::guard::guard(|| {
        let place = released.optional()?;
        let Filter::Growing(filter) = filter.ok_or(Error::Null)? else {
            return Err(Error::NotGrowing);
        };
        let bytes = filter.shrink_to_fit() as u64;
        place.map(|place| place.write(bytes));
        Ok(0)
    })
}

/// Returns the hash of a key of `len` bytes for this set, or 0 on misuse (`filter` or `key` is
/// null). Any other 64-bit hash of the key serves as well, if all calls use the same: see "Hashes"
/// above. This one depends on the seed of the set, so others cannot choose keys that collide. The
/// Rust crate computes it for a `[u8]`.
///
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_hash(filter: Option<&Filter>, key: In<u8>, len: usize) -> u64 {
    object::hash(filter, &key, len)
}

/// Hashes `n` keys of `len` bytes each, which lie one after another at `keys`: `hashes[i]` becomes
/// the hash of the `len` bytes at `keys + i * len`, as by `guira_hash`.
///
/// Returns 0, `GUIRA_ERR_NULL` or `GUIRA_ERR_ARGUMENT`.
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_hash_bulk(
    filter: Option<&Filter>,
    keys: In<u8>,
    n: usize,
    len: usize,
    hashes: Out<u64>,
) -> c_int {
    object::hash_bulk(filter, &keys, n, len, hashes)
}
