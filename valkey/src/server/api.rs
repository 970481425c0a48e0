//! The functions of the server's module interface that the module needs.

use std::ffi::CStr;

use valkey_module::raw;

/// Lists the functions, for [`missing`] and for [`api`].
macro_rules! needed {
    ($($name:ident)*) => {
        /// A name for each function of the list, so that `api!` takes no other one.
        #[allow(non_upper_case_globals, dead_code, reason = "the bindings call some of them")]
        pub mod needed {
            $(pub const $name: () = ();)*
        }

        /// Returns the name of a function that the server lacks. Allocates nothing, since the
        /// allocator's functions may be among them.
        pub fn missing() -> Option<&'static CStr> {
            $(
                // SAFETY: the interface is initialized, and nobody writes to it any more.
                if unsafe { raw::$name }.is_none() {
                    let name = concat!(stringify!($name), "\0");
                    return CStr::from_bytes_with_nul(name.as_bytes()).ok();
                }
            )*
            None
        }
    };
}

needed! {
    RedisModule_Calloc RedisModule_CloseKey RedisModule_CreateCommand RedisModule_CreateDataType
    RedisModule_CreateString RedisModule_DigestAddStringBuffer RedisModule_DigestEndSequence
    RedisModule_EmitAOF RedisModule_Free RedisModule_FreeServerInfo RedisModule_FreeString
    RedisModule_GetClientId RedisModule_GetCommand RedisModule_GetContextFlags
    RedisModule_GetContextFromIO RedisModule_GetRandomBytes RedisModule_GetServerInfo
    RedisModule_GetUsedMemoryRatio RedisModule_InfoAddFieldLongLong RedisModule_InfoAddSection
    RedisModule_IsIOError RedisModule_KeyType RedisModule_LoadConfigs RedisModule_LoadStringBuffer
    RedisModule_LoadUnsigned RedisModule_Log RedisModule_MallocSize RedisModule_ModuleTypeGetType
    RedisModule_ModuleTypeGetValue RedisModule_ModuleTypeSetValue RedisModule_NotifyKeyspaceEvent
    RedisModule_OpenKey RedisModule_RegisterInfoFunc RedisModule_RegisterNumericConfig
    RedisModule_RegisterStringConfig RedisModule_Replicate RedisModule_ReplicateVerbatim
    RedisModule_ReplyWithArray RedisModule_ReplyWithBool RedisModule_ReplyWithDouble
    RedisModule_ReplyWithError RedisModule_ReplyWithLongLong RedisModule_ReplyWithMap
    RedisModule_ReplyWithNull RedisModule_ReplyWithSimpleString RedisModule_ReplyWithStringBuffer
    RedisModule_SaveStringBuffer RedisModule_SaveUnsigned RedisModule_ServerInfoGetFieldC
    RedisModule_ServerInfoGetFieldUnsigned RedisModule_SetCommandInfo RedisModule_SetModuleOptions
    RedisModule_SignalModifiedKey RedisModule_StringPtrLen RedisModule_StringToLongLong
    RedisModule_TryAlloc RedisModule_WrongArity
}

/// Returns a function of the interface, within an `unsafe` block: the interface is initialized
/// once, before any other call, on one thread. Every server has the function, or the module is not
/// loaded.
macro_rules! api {
    ($name:ident) => {{
        let () = $crate::server::api::needed::$name;
        valkey_module::raw::$name.expect(concat!("the server has ", stringify!($name)))
    }};
}
pub(crate) use api;
