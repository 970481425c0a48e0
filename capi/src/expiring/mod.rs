//! Expiring sets: the type, and what one can do with one as a whole.

// In the order of the header.
mod items;

mod bulk;

use core::ffi::{c_char, c_int, c_void};
use std::{
    io::{self, Read, Write},
    path::Path,
};

use guira_rs::{BuildError, ExpiringFilter, LoadError, StableHashBuilder};

use crate::{
    error::Error,
    guard::with,
    info::Info,
    object::{self, Object},
    params::{Common, ExpiringParams, build},
    pointer::{In, Out, Shared},
    stream::{ReadFn, WriteFn},
};

/// A set that forgets its items after a window of generations.
pub struct Expiring(ExpiringFilter<StableHashBuilder>);

impl Object for Expiring {
    type Params = ExpiringParams;

    fn build(params: &ExpiringParams) -> Result<Self, Error> {
        let ExpiringParams { capacity, false_positive_rate, seed, writers, no_huge_pages, .. } =
            *params;
        let common = Common { capacity, false_positive_rate, seed, writers, no_huge_pages };
        if params.reserved != 0 {
            return Err(Error::StructSize);
        }
        let builder = common.builder()?;
        build(if params.window == 0 { builder } else { builder.window(params.window) }).map(Self)
    }

    fn copy(&self) -> Result<Self, BuildError> {
        self.0.try_clone().map(Self)
    }

    fn clear(&self) {
        self.0.clear();
    }

    fn save_to(&self, path: &Path) -> io::Result<()> {
        self.0.save_to(path)
    }

    fn save(&self, writer: &mut dyn Write) -> io::Result<()> {
        self.0.save(writer)
    }

    fn load_from(path: &Path) -> Result<Self, LoadError> {
        ExpiringFilter::load_from_with(path, StableHashBuilder::with_seed).map(Self)
    }

    fn load(_: bool, reader: &mut dyn Read) -> Result<Self, LoadError> {
        ExpiringFilter::load_with(reader, StableHashBuilder::with_seed).map(Self)
    }

    fn info(&self) -> Info {
        let (generation, window) = (self.0.generation(), self.0.window());
        Info { generation, window, ..Info::of(&self.0) }
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn hasher(&self) -> &StableHashBuilder {
        self.0.hasher()
    }
}

/// Creates an expiring set. Writes it to `*filter`.
///
/// Returns what `guira_create` returns.
/// Threads: any.
#[unsafe(no_mangle)]
pub extern "C" fn guira_expiring_create(
    params: In<ExpiringParams>,
    filter: Out<*mut Expiring>,
) -> c_int {
    object::create(&params, filter)
}

/// Destroys an expiring set and releases its memory. Null is allowed.
///
/// Threads: exclusive.
#[unsafe(no_mangle)]
pub extern "C" fn guira_expiring_destroy(filter: Option<Box<Expiring>>) {
    object::destroy(filter);
}

/// Removes all items, as `guira_clear` does. The generation stays.
///
/// Returns 0 or `GUIRA_ERR_NULL`.
/// Threads: shared. Lookups do not wait for it.
#[unsafe(no_mangle)]
pub extern "C" fn guira_expiring_clear(filter: Shared<Expiring>) -> c_int {
    object::clear(filter.get())
}

/// Copies an expiring set to `*copy`, as `guira_clone` does. The copy starts in the same
/// generation, and is advanced by itself from then on.
///
/// Returns what `guira_clone` returns.
/// Threads: shared. Lookups do not wait for it.
#[unsafe(no_mangle)]
pub extern "C" fn guira_expiring_clone(
    filter: Option<&Expiring>,
    copy: Out<*mut Expiring>,
) -> c_int {
    object::clone(filter, copy)
}

/// Saves an expiring set to the file `path`, as `guira_save` does, with its generation and the ages
/// of its items.
///
/// Returns what `guira_save` returns.
/// Threads: shared. Lookups do not wait for it.
#[unsafe(no_mangle)]
pub extern "C" fn guira_expiring_save(filter: Option<&Expiring>, path: In<c_char>) -> c_int {
    object::save(filter, &path)
}

/// Saves an expiring set through a callback, as `guira_save_to` does.
///
/// Returns what `guira_save_to` returns.
/// Threads: shared. Lookups do not wait for it.
#[unsafe(no_mangle)]
pub extern "C" fn guira_expiring_save_to(
    filter: Option<&Expiring>,
    write: WriteFn,
    context: *mut c_void,
) -> c_int {
    object::save_to(filter, write, context)
}

/// Loads an expiring set from the file `path` to `*filter`, as `guira_load` does. For the set, no
/// time has passed since it was saved: call `guira_advance` for each generation that did.
///
/// Returns what `guira_load` returns.
/// Threads: any.
#[unsafe(no_mangle)]
pub extern "C" fn guira_expiring_load(path: In<c_char>, filter: Out<*mut Expiring>) -> c_int {
    object::load(&path, filter)
}

/// Loads an expiring set through a callback to `*filter`, as `guira_load_from` does.
///
/// Returns what `guira_load_from` returns.
/// Threads: any.
#[unsafe(no_mangle)]
pub extern "C" fn guira_expiring_load_from(
    read: ReadFn,
    context: *mut c_void,
    filter: Out<*mut Expiring>,
) -> c_int {
    object::load_from(read, context, filter)
}

/// Writes facts and statistics about an expiring set to `*info`, whose field `size` must be set.
///
/// Returns 0, `GUIRA_ERR_NULL` or `GUIRA_ERR_STRUCT_SIZE`.
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_expiring_get_info(filter: Option<&Expiring>, info: Out<Info>) -> c_int {
    object::get_info(filter, info)
}

/// Returns the number of items that have not expired, copies counted, or 0 for null. Exact if no
/// other thread writes.
///
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_expiring_len(filter: Option<&Expiring>) -> u64 {
    with(filter, |filter| Ok(filter.len() as u64))
}

/// Begins the next generation. Items that are older than the window are no longer found. To let
/// items live for at least a time T, call this every T / window: let at least that time pass
/// between two calls, also after a late one.
///
/// First sweeps the buckets that were not swept since the last call. Lookups and inserts go on
/// meanwhile. Calls that overlap wait for each other, and each begins a generation.
///
/// Returns the new generation, or 0 for null.
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_advance(filter: Shared<Expiring>) -> u64 {
    with(filter.get(), |filter| Ok(filter.0.advance()))
}

/// Frees what has expired in the next `buckets` buckets of those that were not swept in this
/// generation. (There are `slots / slots_per_bucket` of them: see `guira_info`.) Never necessary:
/// it spreads the work of `guira_advance` over the generation.
///
/// Returns the number of buckets that are left, or 0 for null.
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_sweep(filter: Shared<Expiring>, buckets: u64) -> u64 {
    with(filter.get(), |filter| Ok(filter.0.sweep(buckets)))
}

/// Returns the present generation, or 0 for null. A new set starts in some generation above 0.
///
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_generation(filter: Option<&Expiring>) -> u64 {
    with(filter, |filter| Ok(filter.0.generation()))
}

/// Returns the hash of a key of `len` bytes for this set, as `guira_hash` does. 0 on misuse.
///
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_expiring_hash(filter: Option<&Expiring>, key: In<u8>, len: usize) -> u64 {
    object::hash(filter, &key, len)
}

/// Hashes `n` keys of `len` bytes each, as `guira_hash_bulk` does.
///
/// Returns 0, `GUIRA_ERR_NULL` or `GUIRA_ERR_ARGUMENT`.
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_expiring_hash_bulk(
    filter: Option<&Expiring>,
    keys: In<u8>,
    n: usize,
    len: usize,
    hashes: Out<u64>,
) -> c_int {
    object::hash_bulk(filter, &keys, n, len, hashes)
}
