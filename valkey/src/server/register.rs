//! Loading the module: its name, types, commands, settings and section of `INFO`.

use std::{
    ffi::{CStr, c_char, c_int, c_void},
    mem, ptr,
    sync::atomic::{AtomicPtr, Ordering::Relaxed},
};

use valkey_module::{Context, Status, ValkeyString, raw};

use super::{api, api::missing, guard, guarded, key};
use crate::{allocator, config, value};

/// The version of the module, as `MODULE LIST` shows it: 0.1.0.
const VERSION: c_int = 100;
/// The server hands over its errors, the keys of a load, and whole slots to the module, and lets it
/// say which commands change a key. (Redis and older servers ignore the bit for slots.)
const OPTIONS: u32 = raw::REDISMODULE_OPTIONS_HANDLE_IO_ERRORS
    | raw::REDISMODULE_OPTIONS_HANDLE_REPL_ASYNC_LOAD
    | raw::REDISMODULE_OPTION_NO_IMPLICIT_SIGNAL_MODIFIED
    | raw::VALKEYMODULE_OPTIONS_HANDLE_ATOMIC_SLOT_MIGRATION;

pub struct Command {
    pub name: &'static CStr,
    /// Its function, as the server calls it.
    pub entry: unsafe extern "C" fn(
        *mut raw::RedisModuleCtx,
        *mut *mut raw::RedisModuleString,
        c_int,
    ) -> c_int,
    /// The number of arguments, the name counted. Negative: at least so many.
    pub arity: c_int,
    /// The server's flags, and the categories of access control.
    pub kind: [&'static CStr; 2],
    /// What it does to the key, which is the first argument.
    pub key: u32,
    pub complexity: &'static CStr,
    pub summary: &'static CStr,
}

/// Loads the module. `None` if the server lacks a function that the module needs, or refuses a part
/// of the module.
///
/// # Safety
/// The server calls this from the module's `OnLoad`, with its context.
pub unsafe fn load(context: *mut raw::RedisModuleCtx, commands: &[Command]) -> Option<()> {
    let version = raw::REDISMODULE_APIVER_1 as c_int;
    let name = c"guira".as_ptr();
    // SAFETY: as the caller guarantees. The interface has functions only after this call, so
    // nothing is allocated before it.
    accepted(unsafe { raw::Export_RedisModule_Init(context, name, VERSION, version) })?;
    if let Some(name) = missing() {
        let text = c"the module needs Valkey, or Redis 7.0 or later: this server lacks %s";
        let (level, text, name) = (c"warning".as_ptr(), text.as_ptr(), name.as_ptr());
        // SAFETY: as above. The format takes one string.
        unsafe { raw::RedisModule_Log.map(|log| log(context, level, text, name)) };
        return None;
    }
    allocator::init();
    guard::log_panics();
    guarded(c"load", || register(context, commands)).flatten()
}

/// Registers everything with the server. `None` if it refuses a part.
fn register(context: *mut raw::RedisModuleCtx, commands: &[Command]) -> Option<()> {
    // SAFETY: the context is that of `OnLoad`; so below.
    unsafe { api!(RedisModule_SetModuleOptions)(context, OPTIONS as c_int) };
    key::register_types(context)?;
    // SAFETY: as above. Older servers have no categories of modules.
    if let Some(add) = unsafe { raw::RedisModule_AddACLCategory } {
        // SAFETY: as above.
        accepted(unsafe { add(context, c"cuckoo".as_ptr()) })?;
    }
    for command in commands {
        register_command(context, command)?;
    }
    config::register_numbers(&Context::new(context));
    // SAFETY: as above.
    unsafe {
        accepted(api!(RedisModule_RegisterStringConfig)(
            context,
            c"error-rate".as_ptr(),
            c"0.01".as_ptr(),
            raw::REDISMODULE_CONFIG_DEFAULT,
            Some(get_rate),
            Some(set_rate),
            None,
            ptr::null_mut(),
        ))?;
        accepted(api!(RedisModule_LoadConfigs)(context))?;
    }
    (raw::register_info_function(context, Some(info)) == Status::Ok).then_some(())
}

/// `None` if the server refused something.
fn accepted(status: c_int) -> Option<()> {
    (status == raw::REDISMODULE_OK as c_int).then_some(())
}

/// The opposite of [`accepted`].
pub fn status(done: Option<()>) -> c_int {
    done.map_or(Status::Err, |()| Status::Ok) as c_int
}

fn register_command(context: *mut raw::RedisModuleCtx, command: &Command) -> Option<()> {
    let &Command { name, entry, arity, kind: [flags, categories], key, complexity, summary } =
        command;
    let (name, flags) = (name.as_ptr(), flags.as_ptr());
    // SAFETY: the context is that of `OnLoad`, and the strings live forever; so below. The key is
    // the first argument.
    accepted(unsafe {
        api!(RedisModule_CreateCommand)(context, name, Some(entry), flags, 1, 1, 1)
    })?;
    // SAFETY: as above. The command exists.
    let created = unsafe { api!(RedisModule_GetCommand)(context, name) };
    // SAFETY: as above. Older servers have no categories of modules.
    if let Some(set) = unsafe { raw::RedisModule_SetCommandACLCategories } {
        // SAFETY: as above.
        accepted(unsafe { set(created, categories.as_ptr()) })?;
    }
    // SAFETY: numbers, pointers and unions of them, of which all zeros are valid.
    let mut keys: [raw::RedisModuleCommandKeySpec; 2] = unsafe { mem::zeroed() };
    keys[0].flags = key.into();
    keys[0].begin_search_type = raw::RedisModuleKeySpecBeginSearchType_REDISMODULE_KSPEC_BS_INDEX;
    keys[0].bs.index.pos = 1;
    keys[0].find_keys_type = raw::RedisModuleKeySpecFindKeysType_REDISMODULE_KSPEC_FK_RANGE;
    keys[0].fk.range = raw::RedisModuleCommandKeySpec__bindgen_ty_2__bindgen_ty_1 {
        lastkey: 0,
        keystep: 1,
        limit: 0,
    };
    let version = raw::RedisModuleCommandInfoVersion {
        version: 1,
        sizeof_historyentry: size_of::<raw::RedisModuleCommandHistoryEntry>(),
        sizeof_keyspec: size_of::<raw::RedisModuleCommandKeySpec>(),
        sizeof_arg: size_of::<raw::RedisModuleCommandArg>(),
    };
    let info = raw::RedisModuleCommandInfo {
        version: &raw const version,
        summary: summary.as_ptr(),
        complexity: complexity.as_ptr(),
        since: c"0.1.0".as_ptr(),
        history: ptr::null_mut(),
        tips: ptr::null(),
        arity,
        key_specs: keys.as_mut_ptr(),
        args: ptr::null_mut(),
    };
    // SAFETY: as above. The server copies the information.
    accepted(unsafe { api!(RedisModule_SetCommandInfo)(created, &raw const info) })
}

/// Returns a string that its user frees.
fn string(text: &str) -> *mut raw::RedisModuleString {
    // SAFETY: a string needs no context. The server copies the bytes.
    unsafe { api!(RedisModule_CreateString)(ptr::null_mut(), text.as_ptr().cast(), text.len()) }
}

unsafe extern "C" fn get_rate(_: *const c_char, _: *mut c_void) -> *mut raw::RedisModuleString {
    /// The string that was returned last: the server expects the module to keep it.
    static KEPT: AtomicPtr<raw::RedisModuleString> = AtomicPtr::new(ptr::null_mut());
    let get = || {
        let string = string(&config::default_error_rate().to_string());
        let old = KEPT.swap(string, Relaxed);
        // It is freed, unless it is null.
        drop(ValkeyString::from_redis_module_string(ptr::null_mut(), old));
        string
    };
    guarded(c"get_rate", get).unwrap_or(ptr::null_mut())
}

unsafe extern "C" fn set_rate(
    _: *const c_char,
    text: *mut raw::RedisModuleString,
    _: *mut c_void,
    error: *mut *mut raw::RedisModuleString,
) -> c_int {
    let set = || {
        let rate = config::error_rate(ValkeyString::string_as_slice(text));
        match rate {
            Some(rate) => config::set_default_error_rate(rate),
            // SAFETY: the server passes a place for an error, which it frees.
            None => unsafe {
                *error = string("the error rate is a number from 0.00005 up and below 1");
            },
        }
        rate.map(|_| ())
    };
    status(guarded(c"set_rate", set).flatten())
}

unsafe extern "C" fn info(info: *mut raw::RedisModuleInfoCtx, _: c_int) {
    let add = || {
        let [filters, bytes] = value::metrics();
        if raw::add_info_section(info, Some("filters")) == Status::Ok {
            raw::add_info_field_long_long(info, "filters", filters);
            raw::add_info_field_long_long(info, "filter_bytes", bytes);
        }
    };
    guarded(c"info", add);
}
