//! Writing RDB files, payloads and the AOF, and what there is to know about a load.

use std::{
    ffi::c_int,
    io::{self, Write},
};

use valkey_module::{Context, ContextFlags, raw};

use super::api;

/// A writer for which each write is a call of this function.
pub struct Blocks<F>(pub F);

impl<F: FnMut(&[u8]) -> io::Result<()>> Write for Blocks<F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (self.0)(bytes).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns a writer to an RDB file or payload.
pub fn writer(rdb: *mut raw::RedisModuleIO) -> impl Write {
    Blocks(move |bytes: &[u8]| {
        raw::save_slice(rdb, bytes);
        if raw::is_io_error(rdb) { Err(io::ErrorKind::Other.into()) } else { Ok(()) }
    })
}

/// Returns whether the limits apply to a load: a client restores the value, rather than the server
/// from a file or from its primary.
///
/// # Safety
/// The server passed the pointer to a method of the type, which has not returned.
pub unsafe fn limits_apply(rdb: *mut raw::RedisModuleIO) -> bool {
    let exempt = ContextFlags::LOADING | ContextFlags::REPLICATED | ContextFlags::SLAVE;
    // SAFETY: as the caller guarantees. The context belongs to the call.
    let context = unsafe { api!(RedisModule_GetContextFromIO)(rdb) };
    !Context::new(context).get_flags().intersects(exempt)
}

/// Returns whether the calling process is a child of the server's, which writes a file.
pub fn is_child() -> bool {
    // SAFETY: this needs no context.
    let flags = unsafe { api!(RedisModule_GetContextFlags)(std::ptr::null_mut()) };
    flags & raw::REDISMODULE_CTX_FLAGS_IS_CHILD as c_int != 0
}

/// Writes `CF.LOADCHUNK key iterator chunk` to the AOF, or without an iterator `CF.LOAD key chunk`.
///
/// # Safety
/// The pointers are those that the server passed to the type's `aof_rewrite`, which has not
/// returned.
pub unsafe fn emit_load(
    aof: *mut raw::RedisModuleIO,
    key: *mut raw::RedisModuleString,
    iterator: Option<i64>,
    chunk: &[u8],
) {
    let (bytes, len) = (chunk.as_ptr(), chunk.len());
    // SAFETY: as the caller guarantees. The formats announce a string, a number if there is one,
    // and bytes with their length.
    unsafe {
        let emit = api!(RedisModule_EmitAOF);
        match iterator {
            None => emit(aof, c"CF.LOAD".as_ptr(), c"sb".as_ptr(), key, bytes, len),
            Some(iterator) => {
                let command = c"CF.LOADCHUNK".as_ptr();
                emit(aof, command, c"slb".as_ptr(), key, iterator, bytes, len);
            }
        }
    }
}
