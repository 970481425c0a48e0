//! Reading and writing RDB files and payloads, and writing the AOF.

use std::{
    io::{self, Write},
    ptr, slice,
};

use valkey_module::raw;

use super::api;

/// An RDB file or payload.
#[derive(Clone, Copy)]
pub struct Rdb {
    io: *mut raw::RedisModuleIO,
}

/// A block of bytes that the server read.
pub struct Block {
    start: *mut u8,
    len: usize,
}

impl Block {
    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: `start` points to this many bytes of our own.
        unsafe { slice::from_raw_parts(self.start, self.len) }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: the server allocated the block for us, and it is freed once.
        unsafe { api!(RedisModule_Free)(self.start.cast()) };
    }
}

impl Rdb {
    /// # Safety
    /// The server passed the pointer to a method of the type, which has not returned.
    pub unsafe fn new(io: *mut raw::RedisModuleIO) -> Self {
        Self { io }
    }

    /// Reads a number. `None` if it cannot be read.
    pub fn read_number(self) -> Option<u64> {
        // SAFETY: as `new` requires; so below.
        let number = unsafe { api!(RedisModule_LoadUnsigned)(self.io) };
        (!self.failed()).then_some(number)
    }

    /// Reads a block of bytes. `None` if it cannot be read.
    pub fn read_block(self) -> Option<Block> {
        let mut len = 0;
        // SAFETY: as above. The server returns the block and its length, or null.
        let start = unsafe { api!(RedisModule_LoadStringBuffer)(self.io, &raw mut len) };
        if start.is_null() {
            return None;
        }
        let block = Block { start: start.cast(), len };
        (!self.failed()).then_some(block)
    }

    /// Writes a number.
    pub fn write_number(self, number: u64) {
        // SAFETY: as above.
        unsafe { api!(RedisModule_SaveUnsigned)(self.io, number) };
    }

    /// Writes a block of bytes.
    fn write_block(self, bytes: &[u8]) {
        // SAFETY: as above. The server copies the bytes.
        unsafe {
            api!(RedisModule_SaveStringBuffer)(self.io, bytes.as_ptr().cast(), bytes.len());
        }
    }

    /// Whether a read or a write failed.
    pub fn failed(self) -> bool {
        // SAFETY: as above.
        unsafe { api!(RedisModule_IsIOError)(self.io) != 0 }
    }

    /// Returns whether the limits apply: a client restores the value, rather than the server from
    /// a file or from its primary.
    pub fn limits_apply(self) -> bool {
        let exempt = raw::REDISMODULE_CTX_FLAGS_LOADING
            | raw::REDISMODULE_CTX_FLAGS_REPLICATED
            | raw::REDISMODULE_CTX_FLAGS_SLAVE;
        // SAFETY: as above. The context belongs to the call.
        unsafe {
            let context = api!(RedisModule_GetContextFromIO)(self.io);
            api!(RedisModule_GetContextFlags)(context) as u32 & exempt == 0
        }
    }

    /// Returns whether the calling process is a child of the server's, which writes a file.
    pub fn is_child() -> bool {
        // SAFETY: this needs no context.
        let flags = unsafe { api!(RedisModule_GetContextFlags)(ptr::null_mut()) } as u32;
        flags & raw::REDISMODULE_CTX_FLAGS_IS_CHILD != 0
    }
}

/// Each write is a block.
impl Write for Rdb {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_block(bytes);
        if self.failed() { Err(io::ErrorKind::Other.into()) } else { Ok(bytes.len()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
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
