//! Loading the module: its name, type, commands, settings and section of `INFO`.

use std::{
    ffi::{CStr, c_char, c_int, c_longlong, c_uint, c_void},
    mem, ptr,
    sync::atomic::{AtomicI64, AtomicPtr, Ordering::Relaxed},
};

use valkey_module::raw;

use super::{KeyType, api, guard, guarded, interface};
use crate::{allocator, config, value};

/// The version of the module, as `MODULE LIST` shows it: 0.1.0.
const VERSION: c_int = 100;
/// The bit of the options for the migration of whole slots. Redis and older servers ignore it.
const HANDLE_SLOT_MIGRATION: c_int = raw::VALKEYMODULE_OPTIONS_HANDLE_ATOMIC_SLOT_MIGRATION as _;

/// The function of a command, as the server calls it.
pub type Entry = unsafe extern "C" fn(
    *mut raw::RedisModuleCtx,
    *mut *mut raw::RedisModuleString,
    c_int,
) -> c_int;

/// A command.
pub struct Command {
    /// Its name.
    pub name: &'static CStr,
    /// Its function.
    pub entry: Entry,
    /// The number of arguments, the name counted. Negative: at least so many.
    pub arity: c_int,
    /// The server's flags.
    pub flags: &'static CStr,
    /// What it does to the key, which is the first argument.
    pub key: u32,
    /// Its cost.
    pub complexity: &'static CStr,
    /// A sentence about it.
    pub summary: &'static CStr,
}

impl Command {
    /// The categories of access control.
    fn categories(&self) -> &'static CStr {
        let has = |flag: &str| {
            self.flags.to_bytes().split(|&byte| byte == b' ').any(|word| word == flag.as_bytes())
        };
        match (has("write"), has("fast")) {
            (false, false) => c"read slow cuckoo",
            (false, true) => c"read fast cuckoo",
            (true, false) => c"write slow cuckoo",
            (true, true) => c"write fast cuckoo",
        }
    }
}

/// Defines a command's function for the server, and returns it.
macro_rules! entry {
    ($command:path) => {{
        unsafe extern "C" fn entry(
            context: *mut valkey_module::raw::RedisModuleCtx,
            argv: *mut *mut valkey_module::raw::RedisModuleString,
            argc: std::ffi::c_int,
        ) -> std::ffi::c_int {
            // SAFETY: the server calls this with valid arguments.
            unsafe { $crate::server::run(stringify!($command), context, argv, argc, $command) }
        }
        entry
    }};
}
pub(crate) use entry;

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
    let status = unsafe { raw::Export_RedisModule_Init(context, name, VERSION, version) };
    accepted(status)?;
    if let Some(name) = interface::missing() {
        let text = c"the module needs Valkey, or Redis 7.0 or later: this server lacks %s";
        let (level, text, name) = (c"warning".as_ptr(), text.as_ptr(), name.as_ptr());
        // SAFETY: as above. The format takes one string.
        unsafe { raw::RedisModule_Log.map(|log| log(context, level, text, name)) };
        return None;
    }
    allocator::init();
    guard::log_panics();
    guarded("load", || register(context, commands)).flatten()
}

/// Registers everything with the server. `None` if it refuses a part.
fn register(context: *mut raw::RedisModuleCtx, commands: &[Command]) -> Option<()> {
    let options = raw::REDISMODULE_OPTIONS_HANDLE_IO_ERRORS
        | raw::REDISMODULE_OPTIONS_HANDLE_REPL_ASYNC_LOAD
        | raw::REDISMODULE_OPTION_NO_IMPLICIT_SIGNAL_MODIFIED;
    // SAFETY: the context is that of `OnLoad`; so below.
    unsafe {
        api!(RedisModule_SetModuleOptions)(context, options as c_int | HANDLE_SLOT_MIGRATION);
    }
    KeyType::register(context)?;
    // SAFETY: as above. Older servers have no categories of modules.
    if let Some(add) = unsafe { raw::RedisModule_AddACLCategory } {
        // SAFETY: as above.
        accepted(unsafe { add(context, c"cuckoo".as_ptr()) })?;
    }
    for command in commands {
        register_command(context, command)?;
    }
    register_configs(context)?;
    // SAFETY: as above.
    accepted(unsafe { api!(RedisModule_RegisterInfoFunc)(context, Some(info)) })
}

/// `None` if the server refused something.
fn accepted(status: c_int) -> Option<()> {
    (status == raw::REDISMODULE_OK as c_int).then_some(())
}

/// The opposite of [`accepted`].
pub fn status(done: Option<()>) -> c_int {
    (if done.is_some() { raw::REDISMODULE_OK } else { raw::REDISMODULE_ERR }) as c_int
}

fn register_command(context: *mut raw::RedisModuleCtx, command: &Command) -> Option<()> {
    let Command { name, entry, flags, .. } = command;
    let (name, flags) = (name.as_ptr(), flags.as_ptr());
    // SAFETY: the context is that of `OnLoad`, and the strings live forever; so below. The key is
    // the first argument.
    let status =
        unsafe { api!(RedisModule_CreateCommand)(context, name, Some(*entry), flags, 1, 1, 1) };
    accepted(status)?;
    // SAFETY: as above. The command exists.
    let created = unsafe { api!(RedisModule_GetCommand)(context, name) };
    // SAFETY: as above. Older servers have no categories of modules.
    if let Some(set) = unsafe { raw::RedisModule_SetCommandACLCategories } {
        // SAFETY: as above.
        accepted(unsafe { set(created, command.categories().as_ptr()) })?;
    }
    // SAFETY: numbers, pointers and unions of them, of which all zeros are valid.
    let mut keys: [raw::RedisModuleCommandKeySpec; 2] = unsafe { mem::zeroed() };
    keys[0].flags = command.key.into();
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
        summary: command.summary.as_ptr(),
        complexity: command.complexity.as_ptr(),
        since: c"0.1.0".as_ptr(),
        history: ptr::null_mut(),
        tips: ptr::null(),
        arity: command.arity,
        key_specs: keys.as_mut_ptr(),
        args: ptr::null_mut(),
    };
    // SAFETY: as above. The server copies the information.
    accepted(unsafe { api!(RedisModule_SetCommandInfo)(created, &raw const info) })
}

fn register_configs(context: *mut raw::RedisModuleCtx) -> Option<()> {
    for config in &config::NUMBERS {
        let flags = if config.bytes { raw::REDISMODULE_CONFIG_MEMORY } else { 0 };
        // SAFETY: as above; the private data lives forever.
        accepted(unsafe {
            api!(RedisModule_RegisterNumericConfig)(
                context,
                config.name.as_ptr(),
                config.place.load(Relaxed),
                flags as c_uint,
                config.range.0,
                config.range.1,
                Some(get_number),
                Some(set_number),
                None,
                ptr::from_ref(config.place).cast_mut().cast(),
            )
        })?;
    }
    // SAFETY: as above.
    unsafe {
        accepted(api!(RedisModule_RegisterStringConfig)(
            context,
            c"error-rate".as_ptr(),
            c"0.01".as_ptr(),
            0,
            Some(get_rate),
            Some(set_rate),
            None,
            ptr::null_mut(),
        ))?;
        accepted(api!(RedisModule_LoadConfigs)(context))
    }
}

unsafe extern "C" fn get_number(_: *const c_char, place: *mut c_void) -> c_longlong {
    // SAFETY: the private data with which the setting was registered; so below.
    guarded("get_number", || unsafe { &*place.cast::<AtomicI64>() }.load(Relaxed)).unwrap_or(0)
}

unsafe extern "C" fn set_number(
    _: *const c_char,
    value: c_longlong,
    place: *mut c_void,
    _: *mut *mut raw::RedisModuleString,
) -> c_int {
    // SAFETY: as above. The server checks the range.
    status(guarded("set_number", || unsafe { &*place.cast::<AtomicI64>() }.store(value, Relaxed)))
}

unsafe extern "C" fn get_rate(_: *const c_char, _: *mut c_void) -> *mut raw::RedisModuleString {
    let get = || {
        let text = f64::from_bits(config::ERROR_RATE.load(Relaxed)).to_string();
        // SAFETY: a string without a context, which the server copies and which is kept in `KEPT`.
        unsafe {
            let string =
                api!(RedisModule_CreateString)(ptr::null_mut(), text.as_ptr().cast(), text.len());
            // The server expects a string that the module keeps.
            let kept = KEPT.swap(string, Relaxed);
            if !kept.is_null() {
                api!(RedisModule_FreeString)(ptr::null_mut(), kept);
            }
            string
        }
    };
    guarded("get_rate", get).unwrap_or(ptr::null_mut())
}

/// The string that `get_rate` returned last.
static KEPT: AtomicPtr<raw::RedisModuleString> = AtomicPtr::new(ptr::null_mut());

unsafe extern "C" fn set_rate(
    _: *const c_char,
    text: *mut raw::RedisModuleString,
    _: *mut c_void,
    error: *mut *mut raw::RedisModuleString,
) -> c_int {
    let set = || {
        let mut len = 0;
        // SAFETY: the server passes a string, and a place for an error, which it frees.
        unsafe {
            let bytes = api!(RedisModule_StringPtrLen)(text, &raw mut len);
            let bytes = std::slice::from_raw_parts(bytes.cast(), len);
            if let Some(rate) = config::error_rate(bytes) {
                config::ERROR_RATE.store(rate.to_bits(), Relaxed);
                return Some(());
            }
            let text = c"the error rate is a number from 0.00005 up and below 1";
            let len = text.count_bytes();
            *error = api!(RedisModule_CreateString)(ptr::null_mut(), text.as_ptr(), len);
        }
        None
    };
    status(guarded("set_rate", set).flatten())
}

unsafe extern "C" fn info(info: *mut raw::RedisModuleInfoCtx, _: c_int) {
    let add = || {
        let [filters, bytes] = value::metrics();
        // SAFETY: the server passes a valid context.
        unsafe {
            if accepted(api!(RedisModule_InfoAddSection)(info, c"filters".as_ptr())).is_some() {
                api!(RedisModule_InfoAddFieldLongLong)(info, c"filters".as_ptr(), filters);
                api!(RedisModule_InfoAddFieldLongLong)(info, c"filter_bytes".as_ptr(), bytes);
            }
        }
    };
    guarded("info", add);
}
