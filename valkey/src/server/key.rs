//! Keys, and the type of their values.

use std::{
    ffi::{CStr, c_int},
    marker::PhantomData,
    ptr,
    sync::atomic::{AtomicPtr, Ordering::Relaxed},
};

use valkey_module::{KeyMode, raw};

use super::{Call, api};
use crate::{error::Error, keytype, value::Value};

/// The type of the module's values. Set once, when the module is loaded.
static TYPE: AtomicPtr<raw::RedisModuleType> = AtomicPtr::new(ptr::null_mut());

/// Registers the type of the values, and `RedisBloom`'s, whose values are refused. `None` if the
/// server refuses one of them.
pub(super) fn register_types(context: *mut raw::RedisModuleCtx) -> Option<()> {
    let create = |name: &CStr, version, mut methods: raw::RedisModuleTypeMethods| {
        let (name, methods) = (name.as_ptr(), &raw mut methods);
        // SAFETY: the context is that of `OnLoad`. The server copies the methods.
        let kind = unsafe { api!(RedisModule_CreateDataType)(context, name, version, methods) };
        (!kind.is_null()).then_some(kind)
    };
    create(keytype::FOREIGN_NAME, keytype::FOREIGN_VERSION, keytype::foreign_methods())?;
    TYPE.store(create(keytype::NAME, keytype::VERSION, keytype::methods())?, Relaxed);
    Some(())
}

/// The key of a command, which does not exist, or whose value is one of ours. A command opens it
/// once.
pub struct Key<'a> {
    handle: *mut raw::RedisModuleKey,
    value: *mut Value,
    life: PhantomData<&'a mut ()>,
}

impl<'a> Key<'a> {
    /// Opens the key for reading. An error if it holds a value of another type.
    pub fn read(call: Call<'a>) -> Result<Self, Error> {
        Self::open(call, KeyMode::READ)
    }

    /// Opens the key for writing. An error if it holds a value of another type.
    pub fn write(call: Call<'a>) -> Result<Self, Error> {
        Self::open(call, KeyMode::READ | KeyMode::WRITE)
    }

    fn open(call: Call<'a>, mode: KeyMode) -> Result<Self, Error> {
        let handle = raw::open_key(call.context, call.get(1)?.string, mode);
        let mut opened = Self { handle, value: ptr::null_mut(), life: PhantomData };
        // SAFETY: the key is open, or null, which these functions accept.
        let kind = unsafe { api!(RedisModule_KeyType)(handle) };
        if kind == raw::REDISMODULE_KEYTYPE_EMPTY as c_int {
            return Ok(opened);
        }
        // SAFETY: as above. A value of our type is a `Value`.
        unsafe {
            if kind != raw::REDISMODULE_KEYTYPE_MODULE as c_int
                || api!(RedisModule_ModuleTypeGetType)(handle) != TYPE.load(Relaxed)
            {
                return Err(Error::WRONG_TYPE);
            }
            opened.value = api!(RedisModule_ModuleTypeGetValue)(handle).cast();
        }
        Ok(opened)
    }

    /// The value, or `None` if the key does not exist. To change data, open the key for writing.
    pub fn value(&mut self) -> Option<&mut Value> {
        // SAFETY: the server keeps the value while the key is open, and nobody else uses it:
        // commands run one after the other.
        unsafe { self.value.as_mut() }
    }

    /// The value of a key that has to exist.
    pub fn existing(&mut self) -> Result<&mut Value, Error> {
        self.value().ok_or(Error::NOT_FOUND)
    }

    /// Sets the value. The key is open for writing. A value that it holds is freed.
    pub fn set(&mut self, value: Box<Value>) {
        self.value = Box::into_raw(value);
        let (kind, value) = (TYPE.load(Relaxed), self.value.cast());
        // SAFETY: the key is open for writing. The server owns the value from now on.
        let status = unsafe { api!(RedisModule_ModuleTypeSetValue)(self.handle, kind, value) };
        assert_eq!(status, raw::REDISMODULE_OK as c_int, "the key is open for writing");
    }
}

impl Drop for Key<'_> {
    fn drop(&mut self) {
        // Open, or null, which the function accepts.
        raw::close_key(self.handle);
    }
}
