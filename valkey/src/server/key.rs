//! Keys, and the type of their values.

use std::{
    ffi::{CStr, c_int},
    marker::PhantomData,
    ptr,
    sync::OnceLock,
};

use valkey_module::raw;

use super::{Context, Text, api};
use crate::{error::Error, keytype, value::Value};

/// The type of the module's values, as the server identifies it.
pub struct KeyType(*mut raw::RedisModuleType);

// SAFETY: the server never frees or changes a registered type.
unsafe impl Send for KeyType {}
// SAFETY: as above.
unsafe impl Sync for KeyType {}

/// Set once, when the module is loaded.
static TYPE: OnceLock<KeyType> = OnceLock::new();

impl KeyType {
    /// Registers the type of the values, and `RedisBloom`'s, whose values are refused. `None` if
    /// the server refuses one of them.
    pub(super) fn register(context: *mut raw::RedisModuleCtx) -> Option<()> {
        let create = |name: &CStr, version, mut methods: raw::RedisModuleTypeMethods| {
            let (name, methods) = (name.as_ptr(), &raw mut methods);
            // SAFETY: the context is that of `OnLoad`. The server copies the methods.
            let kind = unsafe { api!(RedisModule_CreateDataType)(context, name, version, methods) };
            (!kind.is_null()).then_some(Self(kind))
        };
        create(keytype::FOREIGN_NAME, keytype::FOREIGN_VERSION, keytype::foreign_methods())?;
        let _ = TYPE.set(create(keytype::NAME, keytype::VERSION, keytype::methods())?);
        Some(())
    }

    fn get() -> *mut raw::RedisModuleType {
        TYPE.get().expect("the type is registered when the module is loaded").0
    }
}

/// An open key that does not exist, or whose value is one of ours. A command opens one key, once.
pub struct Key<'a> {
    handle: *mut raw::RedisModuleKey,
    value: *mut Value,
    life: PhantomData<&'a mut ()>,
}

impl<'a> Key<'a> {
    /// Opens a key for reading. An error if it holds a value of another type.
    pub fn read(context: Context, name: Text<'a>) -> Result<Self, Error> {
        Self::open(context, name, raw::REDISMODULE_READ)
    }

    /// Opens a key for writing. An error if it holds a value of another type.
    pub fn write(context: Context, name: Text<'a>) -> Result<Self, Error> {
        Self::open(context, name, raw::REDISMODULE_READ | raw::REDISMODULE_WRITE)
    }

    fn open(context: Context, name: Text<'a>, mode: u32) -> Result<Self, Error> {
        // SAFETY: the context is valid and the name lives.
        let handle =
            unsafe { api!(RedisModule_OpenKey)(context.context, name.string, mode as c_int) };
        let mut opened = Self { handle: handle.cast(), value: ptr::null_mut(), life: PhantomData };
        // SAFETY: the key is open, or null, which these functions accept.
        let kind = unsafe { api!(RedisModule_KeyType)(opened.handle) };
        if kind == raw::REDISMODULE_KEYTYPE_EMPTY as c_int {
            return Ok(opened);
        }
        // SAFETY: as above. A value of our type is a `Value`.
        unsafe {
            if kind != raw::REDISMODULE_KEYTYPE_MODULE as c_int
                || api!(RedisModule_ModuleTypeGetType)(opened.handle) != KeyType::get()
            {
                return Err(Error::WrongType);
            }
            opened.value = api!(RedisModule_ModuleTypeGetValue)(opened.handle).cast();
        }
        Ok(opened)
    }

    /// The value, or `None` if the key does not exist.
    pub fn value(&self) -> Option<&Value> {
        // SAFETY: the server keeps the value while the key is open, and nobody changes it: commands
        // run one after the other.
        unsafe { self.value.as_ref() }
    }

    /// The value, or `None` if the key does not exist. To change data, open the key for writing.
    pub fn value_mut(&mut self) -> Option<&mut Value> {
        // SAFETY: as above, and `&mut self` makes the access exclusive.
        unsafe { self.value.as_mut() }
    }

    /// Sets the value. The key is open for writing. A value that it holds is freed.
    pub fn set(&mut self, value: Box<Value>) {
        self.value = Box::into_raw(value);
        let value = self.value.cast();
        // SAFETY: the key is open for writing. The server owns the value from now on.
        let status =
            unsafe { api!(RedisModule_ModuleTypeSetValue)(self.handle, KeyType::get(), value) };
        assert_eq!(status, raw::REDISMODULE_OK as c_int, "the key is open for writing");
    }
}

impl Drop for Key<'_> {
    fn drop(&mut self) {
        // SAFETY: open, or null, which the function accepts. It is closed once.
        unsafe { api!(RedisModule_CloseKey)(self.handle) };
    }
}
