//! Expiring sets: the type, and what one can do with one as a whole.

// In the order of the header.
mod items;

mod bulk;

use core::{
    ffi::{c_char, c_int, c_void},
    time::Duration,
};
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
    stream::{ClockFn, ReadFn, WriteFn},
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
        let mut builder = common.builder()?;
        if params.window != 0 {
            builder = builder.window(params.window);
        }
        if params.time_to_live != 0 {
            builder = builder.time_to_live(Duration::from_nanos(params.time_to_live));
        }
        build(builder).map(Self)
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
/// time has passed since it was saved: call `guira_advance_to`.
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
/// items live for a time, call `guira_tick` instead.
///
/// First sweeps the buckets that were not swept since the last call. Lookups and inserts go on
/// meanwhile. Calls that overlap may share a generation, which begins after each of them did.
///
/// Returns the new generation, or 0 for null.
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_advance(filter: Shared<Expiring>) -> u64 {
    with(filter.get(), |filter| Ok(filter.0.advance()))
}

/// Begins the next generation if it is due: if the clock has moved forward by `time_to_live` /
/// window since the generation before began. Call this several times in that time. `clock` is read
/// once, and twice if a generation begins. All calls must read one clock. It may be set back. Each
/// step forward begins at most one generation too early.
///
/// Returns the generation that began, or 0 if none is due, or for null.
/// Threads: shared. One of the calls that overlap begins the generation, the others return 0.
#[unsafe(no_mangle)]
pub extern "C" fn guira_tick(
    filter: Shared<Expiring>,
    clock: ClockFn,
    context: *mut c_void,
) -> u64 {
    with(filter.get(), |filter| {
        let clock = clock.ok_or(Error::Null)?;
        Ok(filter.0.tick(|| Duration::from_nanos(clock(context))).unwrap_or(0))
    })
}

/// Makes up for a time in which nobody used the set: begins the generations that are due by the
/// clock of `guira_tick`, but at most window + 1. Call it after a load, before the set is used, and
/// call `guira_tick` right before a save. The clock should be the time of day. A monotonic clock
/// must have begun after the save, or it can forget everything; the time between two processes does
/// not count with it.
///
/// Returns the present generation, or 0 for null.
/// Threads: shared.
#[unsafe(no_mangle)]
pub extern "C" fn guira_advance_to(
    filter: Shared<Expiring>,
    clock: ClockFn,
    context: *mut c_void,
) -> u64 {
    with(filter.get(), |filter| {
        let clock = clock.ok_or(Error::Null)?;
        Ok(filter.0.advance_to(|| Duration::from_nanos(clock(context))))
    })
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
