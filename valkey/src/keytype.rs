//! The methods of the type of the values: saving, loading, copying, freeing.

use std::{
    ffi::{CStr, c_int, c_void},
    fs,
    io::{self, BufWriter, Write},
    mem, process, ptr,
};

use valkey_module::raw;

use crate::{
    config::{self, Limits},
    error::Error,
    server::{Rdb, api, emit_load, guarded, log},
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
/// Bytes that count as one element when the server decides whether to free a value in the
/// background.
const BYTES_PER_EFFORT: usize = 4096;

/// The methods of the type.
pub fn methods() -> raw::RedisModuleTypeMethods {
    // SAFETY: numbers and optional function pointers, of which all zeros are valid.
    let mut methods: raw::RedisModuleTypeMethods = unsafe { mem::zeroed() };
    methods.version = raw::REDISMODULE_TYPE_METHOD_VERSION.into();
    methods.rdb_load = Some(rdb_load);
    methods.rdb_save = Some(rdb_save);
    methods.aof_rewrite = Some(aof_rewrite);
    methods.mem_usage = Some(mem_usage);
    methods.digest = Some(digest);
    methods.free = Some(free);
    methods.free_effort = Some(free_effort);
    methods.copy = Some(copy);
    methods
}

/// Returns a value of the server's.
///
/// # Safety
/// The server passed the pointer to a method of the type.
unsafe fn value<'a>(value: *const c_void) -> &'a Value {
    // SAFETY: values of the type come from `Box<Value>`, and live during the method.
    unsafe { &*value.cast::<Value>() }
}

/// The methods of `RedisBloom`'s type. The server refuses unknown types, too, but cannot say what
/// to do.
pub fn foreign_methods() -> raw::RedisModuleTypeMethods {
    // SAFETY: as above.
    let mut methods: raw::RedisModuleTypeMethods = unsafe { mem::zeroed() };
    methods.version = raw::REDISMODULE_TYPE_METHOD_VERSION.into();
    methods.rdb_load = Some(foreign_rdb_load);
    methods
}

unsafe extern "C" fn foreign_rdb_load(_: *mut raw::RedisModuleIO, _: c_int) -> *mut c_void {
    guarded("foreign_rdb_load", || log(&Error::RedisBloom.to_string()));
    ptr::null_mut()
}

/// The pointer by which the server knows a value, or null.
fn pointer(value: Option<Box<Value>>) -> *mut c_void {
    value.map_or(ptr::null_mut(), |value| Box::into_raw(value).cast())
}

unsafe extern "C" fn rdb_load(io: *mut raw::RedisModuleIO, version: c_int) -> *mut c_void {
    // SAFETY: the server passes a valid pointer.
    let rdb = unsafe { Rdb::new(io) };
    let loaded = guarded("rdb_load", || load(rdb, version).map_err(|text| log(&text)).ok());
    pointer(loaded.flatten())
}

/// Loads a value.
fn load(rdb: Rdb, version: c_int) -> Result<Box<Value>, String> {
    if version != VERSION {
        return Err(format!("a cuckoo filter of version {version}, which is unknown"));
    }
    let truncated = || "a cuckoo filter is truncated".to_string();
    let refused = |error| format!("a cuckoo filter is refused: {error}");
    let mut limits = Limits::NONE;
    if rdb.limits_apply() {
        limits.filter = config::max_filter_bytes();
    }
    let complete = rdb.read_number().ok_or_else(truncated)?;
    let len = rdb.read_number().ok_or_else(truncated)?;
    let block = rdb.read_block().ok_or_else(truncated)?;
    let mut value = Value::load(block.bytes(), limits).map_err(refused)?;
    let mut received = block.bytes().len() as u64;
    while received < len {
        let block = rdb.read_block().ok_or_else(truncated)?;
        // An empty block would be no progress.
        if block.bytes().is_empty() {
            return Err(truncated());
        }
        value.push(received, block.bytes()).map_err(refused)?;
        received += block.bytes().len() as u64;
    }
    if received != len || u64::from(value.is_complete()) != complete {
        return Err("a cuckoo filter has another length than it says".into());
    }
    Ok(value)
}

unsafe extern "C" fn rdb_save(io: *mut raw::RedisModuleIO, pointer: *mut c_void) {
    // SAFETY: the server passes valid pointers.
    let (rdb, value) = unsafe { (Rdb::new(io), value(pointer)) };
    saving("rdb_save", || {
        rdb.write_number(value.is_complete().into());
        rdb.write_number(value.stream_len());
        write_blocks(value, rdb)
    });
}

/// Calls a function that writes a value.
///
/// The server does not ask whether it succeeds. If it fails, a child process ends with an error. In
/// the server itself, `SAVE` fails because its temporary file is gone. In both cases the last file
/// stays. The payload of `DUMP` lacks a part, and is refused when it is loaded. (Failed writes of
/// the server's do not count: it knows of them.)
fn saving(callback: &str, write: impl FnOnce() -> io::Result<()>) {
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
        if Rdb::is_child() {
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

unsafe extern "C" fn aof_rewrite(
    aof: *mut raw::RedisModuleIO,
    key: *mut raw::RedisModuleString,
    pointer: *mut c_void,
) {
    /// Writes a command for each block of bytes: `CF.LOAD` if the first one is all.
    struct Commands {
        aof: *mut raw::RedisModuleIO,
        key: *mut raw::RedisModuleString,
        place: u64,
        /// Bytes of the stream of a complete value.
        all: Option<u64>,
    }
    impl Write for Commands {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.place += bytes.len() as u64;
            let chunk = stream::seal(bytes.to_vec(), self.place);
            let is_all = self.all == Some(bytes.len() as u64);
            let iterator = (!is_all).then(|| stream::iterator(self.place));
            // SAFETY: the server's pointers, in the method that it called.
            unsafe { emit_load(self.aof, self.key, iterator, &chunk) };
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    // SAFETY: the server passes a valid pointer.
    let value = unsafe { value(pointer) };
    saving("aof_rewrite", || {
        let all = value.is_complete().then(|| value.stream_len());
        write_blocks(value, Commands { aof, key, place: 0, all })
    });
}

unsafe extern "C" fn mem_usage(pointer: *const c_void) -> usize {
    // SAFETY: the server passes a valid pointer; so below.
    let value = unsafe { value(pointer) };
    guarded("mem_usage", || value.bytes()).unwrap_or(0)
}

unsafe extern "C" fn digest(digest: *mut raw::RedisModuleDigest, pointer: *mut c_void) {
    /// Adds bytes to a digest.
    struct Digest(*mut raw::RedisModuleDigest);
    impl Write for Digest {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let start = bytes.as_ptr().cast();
            // SAFETY: the server's pointer, in the method that it called, and bytes that it reads.
            unsafe { api!(RedisModule_DigestAddStringBuffer)(self.0, start, bytes.len()) };
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    // SAFETY: as above.
    let value = unsafe { value(pointer) };
    guarded("digest", || {
        let _ = value.write_stream(&mut Digest(digest));
        // SAFETY: as above.
        unsafe { api!(RedisModule_DigestEndSequence)(digest) };
    });
}

unsafe extern "C" fn free(pointer: *mut c_void) {
    // SAFETY: the server passes a value that came from `Box::into_raw`, and forgets it.
    let value = unsafe { Box::from_raw(pointer.cast::<Value>()) };
    guarded("free", || drop(value));
}

unsafe extern "C" fn free_effort(_: *mut raw::RedisModuleString, pointer: *const c_void) -> usize {
    // SAFETY: as above.
    let value = unsafe { value(pointer) };
    guarded("free_effort", || value.bytes() / BYTES_PER_EFFORT + 1).unwrap_or(1)
}

unsafe extern "C" fn copy(
    _: *mut raw::RedisModuleString,
    _: *mut raw::RedisModuleString,
    original: *const c_void,
) -> *mut c_void {
    // SAFETY: as above.
    let value = unsafe { value(original) };
    pointer(guarded("copy", || value.try_clone().ok()).flatten())
}
