//! The methods of the type of the values: saving, loading, copying, freeing.

use std::{
    ffi::{CStr, c_int, c_void},
    fs,
    io::{self, BufWriter, Write},
    mem, process, ptr,
    sync::mpsc,
    thread,
    time::Duration,
};

use valkey_module::{digest::Digest, raw};

use crate::{
    config::Limits,
    error::Error,
    server::{
        guarded, log,
        rdb::{self, Blocks},
    },
    stream,
    value::Value,
};

/// The name of the type in RDB files. It never changes.
pub const NAME: &CStr = c"guira-cf1";
/// The version of the encoding in RDB files.
pub const VERSION: c_int = 1;
/// The name of `RedisBloom`'s type in RDB files.
pub const FOREIGN_NAME: &CStr = c"MBbloomCF";
/// `RedisBloom`'s version of its encoding. All are refused.
pub const FOREIGN_VERSION: c_int = 4;
/// Largest number of bytes of a block in RDB files, and of a chunk in the AOF.
const BLOCK: usize = 1 << 20;
/// Bytes of a value from which on it is large: freeing it takes about five milliseconds.
const LARGE: usize = 1 << 28;
/// How long the server waits until a large value is freed.
const PATIENCE: Duration = Duration::from_millis(5);
/// Bytes that count as one element when the server decides whether to free a value lazily.
const BYTES_PER_EFFORT: usize = 4096;

pub fn methods() -> raw::RedisModuleTypeMethods {
    raw::RedisModuleTypeMethods {
        rdb_load: Some(rdb_load),
        rdb_save: Some(rdb_save),
        aof_rewrite: Some(aof_rewrite),
        mem_usage: Some(mem_usage),
        digest: Some(digest),
        free: Some(free),
        free_effort: Some(free_effort),
        copy: Some(copy),
        ..foreign_methods()
    }
}

/// The methods of `RedisBloom`'s type. The server refuses unknown types, too, but cannot say what
/// to do.
pub fn foreign_methods() -> raw::RedisModuleTypeMethods {
    raw::RedisModuleTypeMethods {
        version: raw::REDISMODULE_TYPE_METHOD_VERSION.into(),
        rdb_load: Some(foreign_rdb_load),
        // SAFETY: numbers and optional function pointers, of which all zeros are valid.
        ..unsafe { mem::zeroed() }
    }
}

unsafe extern "C" fn foreign_rdb_load(_: *mut raw::RedisModuleIO, _: c_int) -> *mut c_void {
    guarded(c"foreign_rdb_load", || log(&Error::REDISBLOOM.to_string()));
    ptr::null_mut()
}

/// Returns a value of the server's.
///
/// # Safety
/// The server passed the pointer to a method of the type.
unsafe fn value<'a>(value: *const c_void) -> &'a Value {
    // SAFETY: values of the type come from `Box<Value>`, and live during the method.
    unsafe { &*value.cast::<Value>() }
}

/// The pointer by which the server knows a value, or null.
fn pointer(value: Option<Box<Value>>) -> *mut c_void {
    value.map_or(ptr::null_mut(), |value| Box::into_raw(value).cast())
}

unsafe extern "C" fn rdb_load(io: *mut raw::RedisModuleIO, version: c_int) -> *mut c_void {
    // SAFETY: the server passes a valid pointer.
    let load = || unsafe { load(io, version) }.map_err(|text| log(&text)).ok();
    pointer(guarded(c"rdb_load", load).flatten())
}

/// Loads a value.
///
/// # Safety
/// The server passed the pointer to a method of the type, which has not returned.
unsafe fn load(io: *mut raw::RedisModuleIO, version: c_int) -> Result<Box<Value>, String> {
    if version != VERSION {
        return Err(format!("a cuckoo filter of version {version}, which is unknown"));
    }
    let truncated = |_| "a cuckoo filter is truncated".to_string();
    let refused = |error| format!("a cuckoo filter is refused: {error}");
    // SAFETY: as the caller guarantees.
    let limited = unsafe { rdb::limits_apply(io) };
    let limits = if limited { Limits::configured(usize::MAX) } else { Limits::NONE };
    let complete = raw::load_unsigned(io).map_err(truncated)?;
    let len = raw::load_unsigned(io).map_err(truncated)?;
    let block = raw::load_string_buffer(io).map_err(truncated)?;
    let mut value = Value::load(block.as_ref(), limits).map_err(refused)?;
    // An empty block would be no progress, and the stream is then too short.
    let mut received = block.as_ref().len() as u64;
    while received < len {
        let block = raw::load_string_buffer(io).map_err(truncated)?;
        let bytes = block.as_ref();
        if bytes.is_empty() {
            break;
        }
        value.push(received, bytes).map_err(refused)?;
        received += bytes.len() as u64;
    }
    if received != len || u64::from(value.is_complete()) != complete {
        return Err("a cuckoo filter has another length than it says".into());
    }
    Ok(value)
}

unsafe extern "C" fn rdb_save(io: *mut raw::RedisModuleIO, pointer: *mut c_void) {
    // SAFETY: the server passes a valid pointer; so below.
    let value = unsafe { value(pointer) };
    saving(c"rdb_save", || {
        raw::save_unsigned(io, value.is_complete().into());
        raw::save_unsigned(io, value.stream_len());
        write_blocks(value, rdb::writer(io))
    });
}

/// Calls a function that writes a value.
///
/// The server does not ask whether it succeeds. If it fails, a child process ends with an error. In
/// the server itself, `SAVE` fails because its temporary file is gone. In both cases the last file
/// stays. The payload of `DUMP` lacks a part, and is refused when it is loaded. (Failed writes of
/// the server's do not count: it knows of them.)
fn saving(callback: &CStr, write: impl FnOnce() -> io::Result<()>) {
    unsafe extern "C" {
        safe fn _exit(status: c_int) -> !;
    }
    let failed = match guarded(callback, write) {
        Some(Err(error)) => error.kind() == io::ErrorKind::OutOfMemory,
        Some(Ok(())) => false,
        None => true,
    };
    if failed {
        log("a cuckoo filter is not saved completely: the save fails, or the payload of DUMP");
        if rdb::is_child() {
            _exit(1);
        }
        // It is missing unless the server saves now.
        let _ = fs::remove_file(format!("temp-{}.rdb", process::id()));
    }
}

/// Writes the stream of a value in blocks.
fn write_blocks(value: &Value, writer: impl Write) -> io::Result<()> {
    // Refused here, and not where it would end the process.
    Vec::<u8>::new().try_reserve_exact(2 * BLOCK)?;
    let mut writer = BufWriter::with_capacity(BLOCK, writer);
    value.write_stream(&mut writer)?;
    writer.flush()
}

/// Writes a command for each block of bytes: `CF.LOAD` if the first one is all.
unsafe extern "C" fn aof_rewrite(
    aof: *mut raw::RedisModuleIO,
    key: *mut raw::RedisModuleString,
    pointer: *mut c_void,
) {
    // SAFETY: as above.
    let value = unsafe { value(pointer) };
    saving(c"aof_rewrite", || {
        let (all, mut place) = (value.is_complete().then(|| value.stream_len()), 0);
        let command = |bytes: &[u8]| {
            place += bytes.len() as u64;
            let chunk = stream::seal(bytes.to_vec(), place);
            let is_all = all == Some(bytes.len() as u64);
            let iterator = (!is_all).then(|| stream::iterator(place));
            // SAFETY: the server's pointers, in the method that it called.
            unsafe { rdb::emit_load(aof, key, iterator, &chunk) };
            Ok(())
        };
        write_blocks(value, Blocks(command))
    });
}

unsafe extern "C" fn mem_usage(pointer: *const c_void) -> usize {
    // SAFETY: as above.
    let value = unsafe { value(pointer) };
    guarded(c"mem_usage", || value.bytes()).unwrap_or(0)
}

unsafe extern "C" fn digest(digest: *mut raw::RedisModuleDigest, pointer: *mut c_void) {
    // SAFETY: as above.
    let value = unsafe { value(pointer) };
    guarded(c"digest", || {
        let mut digest = Digest::new(digest);
        let _ = value.write_stream(&mut Blocks(|bytes: &[u8]| {
            digest.add_string_buffer(bytes);
            Ok(())
        }));
        digest.end_sequence();
    });
}

/// A large value is freed by a thread, for which the server waits no longer than its [`PATIENCE`].
/// (An eviction looks at what has been freed, and would go on too far if it were nothing.)
unsafe extern "C" fn free(pointer: *mut c_void) {
    // SAFETY: the server passes a value that came from `Box::into_raw`, and forgets it.
    let value = unsafe { Box::from_raw(pointer.cast::<Value>()) };
    guarded(c"free", || {
        if value.bytes() >= LARGE {
            let (freed, wait) = mpsc::channel::<()>();
            let free = || guarded(c"free_by_a_thread", || drop((value, freed)));
            // Without a thread, the value is dropped here.
            let _ = thread::Builder::new().spawn(free);
            let _ = wait.recv_timeout(PATIENCE);
        }
    });
}

unsafe extern "C" fn free_effort(_: *mut raw::RedisModuleString, pointer: *const c_void) -> usize {
    // SAFETY: as above.
    let value = unsafe { value(pointer) };
    guarded(c"free_effort", || value.bytes() / BYTES_PER_EFFORT + 1).unwrap_or(1)
}

unsafe extern "C" fn copy(
    _: *mut raw::RedisModuleString,
    _: *mut raw::RedisModuleString,
    original: *const c_void,
) -> *mut c_void {
    // SAFETY: as above.
    let value = unsafe { value(original) };
    pointer(guarded(c"copy", || value.try_clone().ok()).flatten())
}
