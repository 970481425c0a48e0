//! The server's module interface, as safe functions: all `unsafe` of the commands is here.

mod guard;
pub mod interface;
mod io;
mod key;
mod register;

use std::{
    ffi::{CStr, c_int},
    marker::PhantomData,
    process, ptr, slice,
};

use valkey_module::raw;

pub use guard::{guarded, log};
pub(crate) use interface::api;
pub use io::{Rdb, emit_load};
pub use key::{Key, KeyType};
pub(crate) use register::entry;
pub use register::{Command, Entry, load, status};

use crate::{
    config::{self, Limits},
    error::Error,
};

/// A string of the server: an argument, or the name of a key.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Text<'a> {
    string: *mut raw::RedisModuleString,
    life: PhantomData<&'a ()>,
}

impl<'a> Text<'a> {
    /// The bytes.
    pub fn bytes(self) -> &'a [u8] {
        let mut len = 0;
        // SAFETY: the string lives for `'a`, and the server returns its bytes and their number.
        unsafe {
            let bytes = api!(RedisModule_StringPtrLen)(self.string, &raw mut len);
            slice::from_raw_parts(bytes.cast(), len)
        }
    }

    /// The integer that the bytes are, in the notation that the server accepts.
    pub fn integer(self) -> Option<i64> {
        let mut number = 0;
        // SAFETY: the string lives, and `number` is a place for the result.
        let status = unsafe { api!(RedisModule_StringToLongLong)(self.string, &raw mut number) };
        (status == raw::REDISMODULE_OK as c_int).then_some(number)
    }

    /// Whether the bytes are this word, in upper or lower case.
    pub fn is(self, word: &str) -> bool {
        self.bytes().eq_ignore_ascii_case(word.as_bytes())
    }
}

/// The arguments of a command. The first is its name.
#[derive(Clone, Copy)]
pub struct Args<'a> {
    strings: &'a [*mut raw::RedisModuleString],
}

impl<'a> Args<'a> {
    /// The number of arguments.
    pub fn len(self) -> usize {
        self.strings.len()
    }

    /// The argument with this number.
    ///
    /// # Errors
    /// [`Error::Arity`] if there is none.
    pub fn get(self, number: usize) -> Result<Text<'a>, Error> {
        let string = *self.strings.get(number).ok_or(Error::Arity)?;
        Ok(Text { string, life: PhantomData })
    }

    /// The argument with this number, which is the last.
    ///
    /// # Errors
    /// [`Error::Arity`] if there are fewer arguments, or more.
    pub fn last(self, number: usize) -> Result<Text<'a>, Error> {
        if self.len() == number + 1 { self.get(number) } else { Err(Error::Arity) }
    }

    /// The arguments from this number on.
    pub fn from(self, number: usize) -> impl ExactSizeIterator<Item = Text<'a>> {
        let strings = self.strings.get(number..).unwrap_or_default();
        strings.iter().map(|&string| Text { string, life: PhantomData })
    }
}

/// The number of the client that the server pretends to have while it loads an AOF.
const AOF_CLIENT: u64 = u64::MAX;

/// The context of a call.
#[derive(Clone, Copy)]
pub struct Context {
    context: *mut raw::RedisModuleCtx,
}

impl Context {
    /// Returns whether the command comes from the AOF. (A flag says whether the server loads
    /// anything. A replica that does may serve reads meanwhile.)
    pub fn is_from_aof(self) -> bool {
        // SAFETY: the context is valid during the call that it belongs to; so below.
        unsafe { api!(RedisModule_GetClientId)(self.context) == AOF_CLIENT }
    }

    /// Returns the memory that a filter may take. None of the limits applies to a command that
    /// comes from the primary or from the AOF: it was within them where it came from.
    pub fn limits(self) -> Limits {
        let replayed = raw::REDISMODULE_CTX_FLAGS_REPLICATED | raw::REDISMODULE_CTX_FLAGS_LOADING;
        // SAFETY: as above.
        if unsafe { api!(RedisModule_GetContextFlags)(self.context) } as u32 & replayed != 0 {
            return Limits::NONE;
        }
        Limits { filter: config::max_filter_bytes(), free: self.free_bytes() }
    }

    /// Returns how many bytes may be allocated under the server's `maxmemory`.
    ///
    /// If the server evicts keys, it makes room after a write, as before the next one: then only
    /// what exceeds `maxmemory` by itself is refused.
    fn free_bytes(self) -> usize {
        // SAFETY: the context is valid, and the server's information lives until it is freed.
        unsafe {
            // Without a limit, which this says at no cost, the ratio is zero.
            if api!(RedisModule_GetUsedMemoryRatio)() == 0.0 {
                return usize::MAX;
            }
            let info = api!(RedisModule_GetServerInfo)(self.context, c"memory".as_ptr());
            let number = |field: &CStr| {
                let get = api!(RedisModule_ServerInfoGetFieldUnsigned);
                get(info, field.as_ptr(), ptr::null_mut()) as usize
            };
            let policy = api!(RedisModule_ServerInfoGetFieldC)(info, c"maxmemory_policy".as_ptr());
            let evicts = !policy.is_null() && CStr::from_ptr(policy) != c"noeviction";
            let used = number(c"used_memory").saturating_sub(number(c"mem_not_counted_for_evict"));
            let max = number(c"maxmemory");
            api!(RedisModule_FreeServerInfo)(self.context, info);
            if evicts { max } else { max.saturating_sub(used) }
        }
    }

    /// Replies with the error of a command.
    ///
    /// The server ignores the replies to the commands of an AOF, so what such a command would have
    /// added would be lost without notice. Therefore this ends the process then, as the server does
    /// itself if it cannot read the file.
    fn fail(self, args: Args, error: &Error) {
        if self.is_from_aof() {
            let words: Vec<_> =
                args.from(0).take(2).map(|word| String::from_utf8_lossy(word.bytes())).collect();
            log(&format!(
                "{} of the AOF is refused: {error}. The server ends, since the filter would lack \
                 items. If another module wrote the file, see the README of guira, \
                 \"Coming from RedisBloom\".",
                words.join(" ")
            ));
            process::exit(1);
        }
        // SAFETY: as above. The server copies the text.
        unsafe {
            match error.reply() {
                None => api!(RedisModule_WrongArity)(self.context),
                Some(text) => api!(RedisModule_ReplyWithError)(self.context, text.as_ptr()),
            }
        };
    }

    /// Replies with a boolean: an integer, 0 or 1, in RESP2.
    pub fn reply_bool(self, value: bool) {
        // SAFETY: the context is valid. So it is in all functions below.
        unsafe { api!(RedisModule_ReplyWithBool)(self.context, value.into()) };
    }

    /// Replies with an integer.
    pub fn reply_integer(self, value: i64) {
        // SAFETY: as above.
        unsafe { api!(RedisModule_ReplyWithLongLong)(self.context, value) };
    }

    /// Replies with a number: a string in RESP2.
    pub fn reply_number(self, value: f64) {
        // SAFETY: as above.
        unsafe { api!(RedisModule_ReplyWithDouble)(self.context, value) };
    }

    /// Replies with a simple string.
    pub fn reply_word(self, word: &CStr) {
        // SAFETY: as above; the server copies the word.
        unsafe { api!(RedisModule_ReplyWithSimpleString)(self.context, word.as_ptr()) };
    }

    /// Replies with bytes.
    pub fn reply_bytes(self, bytes: &[u8]) {
        let start = bytes.as_ptr().cast();
        // SAFETY: as above; the server copies the bytes.
        unsafe { api!(RedisModule_ReplyWithStringBuffer)(self.context, start, bytes.len()) };
    }

    /// Replies with null.
    pub fn reply_null(self) {
        // SAFETY: as above.
        unsafe { api!(RedisModule_ReplyWithNull)(self.context) };
    }

    /// Begins an array with this many elements.
    pub fn reply_array(self, len: usize) {
        // SAFETY: as above.
        unsafe { api!(RedisModule_ReplyWithArray)(self.context, len as _) };
    }

    /// Begins a map with this many entries: an array of twice as many elements in RESP2.
    pub fn reply_map(self, len: usize) {
        // SAFETY: as above.
        unsafe { api!(RedisModule_ReplyWithMap)(self.context, len as _) };
    }

    /// Replicates the command as it came, to the replicas and the AOF.
    pub fn replicate_verbatim(self) {
        // SAFETY: as above.
        unsafe { api!(RedisModule_ReplicateVerbatim)(self.context) };
    }

    /// Replicates `command key words...`.
    pub fn replicate_words(self, command: &CStr, key: Text, words: &[String]) {
        let strings: Vec<_> = words
            .iter()
            // SAFETY: as above. The server copies the bytes. The string is freed below.
            .map(|word| unsafe {
                api!(RedisModule_CreateString)(self.context, word.as_ptr().cast(), word.len())
            })
            .collect();
        let format = c"sv".as_ptr();
        // SAFETY: as above. The format announces a string, and a vector of strings and its length.
        unsafe {
            api!(RedisModule_Replicate)(
                self.context,
                command.as_ptr(),
                format,
                key.string,
                strings.as_ptr(),
                strings.len(),
            )
        };
        for string in strings {
            // SAFETY: made above, and not used any more: replication retains what it needs.
            unsafe { api!(RedisModule_FreeString)(self.context, string) };
        }
    }

    /// Replicates `command key NOCREATE ITEMS items...`.
    pub fn replicate_items(self, command: &CStr, key: Text, items: &[Text]) {
        let format = c"sccv".as_ptr();
        // SAFETY: as above. The format announces a string, two words, and a vector of strings (a
        // `Text` is one) and its length.
        unsafe {
            api!(RedisModule_Replicate)(
                self.context,
                command.as_ptr(),
                format,
                key.string,
                c"NOCREATE".as_ptr(),
                c"ITEMS".as_ptr(),
                items.as_ptr(),
                items.len(),
            )
        };
    }

    /// Tells watching clients and subscribers that the command changed the key. Call this last:
    /// what subscribers do may free the value.
    pub fn changed(self, key: Text, event: &CStr) {
        let kind = raw::REDISMODULE_NOTIFY_MODULE;
        // SAFETY: as above; the key's name lives.
        unsafe {
            api!(RedisModule_SignalModifiedKey)(self.context, key.string);
            api!(RedisModule_NotifyKeyspaceEvent)(self.context, kind, event.as_ptr(), key.string);
        }
    }
}

/// Returns random bytes of the server, as a number.
pub fn random() -> u64 {
    let mut bytes = [0; 8];
    // SAFETY: the server writes as many bytes as there are.
    unsafe { api!(RedisModule_GetRandomBytes)(bytes.as_mut_ptr(), bytes.len()) };
    u64::from_le_bytes(bytes)
}

/// Runs a command, and replies its error if there is one.
///
/// # Safety
/// The arguments are those with which the server called the command.
pub unsafe fn run(
    name: &str,
    context: *mut raw::RedisModuleCtx,
    arguments: *mut *mut raw::RedisModuleString,
    count: c_int,
    command: fn(Context, Args) -> Result<(), Error>,
) -> c_int {
    // SAFETY: the server passes `count` strings, which live until the command returns.
    let strings = unsafe { slice::from_raw_parts(arguments, count as usize) };
    let (context, args) = (Context { context }, Args { strings });
    let done = guarded(name, || {
        if let Err(error) = command(context, args) {
            context.fail(args, &error);
        }
    });
    if done.is_none() {
        context.fail(args, &Error::text("internal error: see the server's log"));
    }
    raw::REDISMODULE_OK as c_int
}
