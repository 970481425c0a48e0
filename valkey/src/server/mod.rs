//! The server's module interface, as safe functions: all `unsafe` of the commands is here.

pub mod api;
mod guard;
mod key;
pub mod rdb;
mod register;

use std::{
    ffi::{CStr, c_int},
    iter,
    marker::PhantomData,
    process, slice,
};

use valkey_module::{Context, ContextFlags, Status, ValkeyString, raw};

pub(crate) use api::api;
pub use guard::{guarded, log};
pub use key::Key;
pub use register::{Command, load, status};

use crate::{config::Limits, error::Error, value::Permits};

/// A string of the server: an argument, or the name of a key.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Text<'a> {
    string: *mut raw::RedisModuleString,
    life: PhantomData<&'a ()>,
}

impl<'a> Text<'a> {
    pub fn bytes(self) -> &'a [u8] {
        ValkeyString::string_as_slice(self.string)
    }

    /// The integer that the bytes are, in the notation that the server accepts.
    pub fn integer(self) -> Option<i64> {
        let mut number = 0;
        (raw::string_to_longlong(self.string, &raw mut number) == Status::Ok).then_some(number)
    }

    /// Whether the bytes are this word, in upper or lower case.
    pub fn is(self, word: &str) -> bool {
        self.bytes().eq_ignore_ascii_case(word.as_bytes())
    }
}

/// A reply, or the start of one, whose elements follow as replies of their own.
pub enum Reply {
    /// An integer, 0 or 1, in RESP2.
    Bool(bool),
    Integer(i64),
    /// A string in RESP2.
    Number(f64),
    Word(&'static CStr),
    Bytes(Vec<u8>),
    Null,
    /// Begins an array with this many elements.
    Array(usize),
    /// Begins a map with this many entries: an array of twice as many elements in RESP2.
    Map(usize),
    /// Nothing: the command has replied.
    Done,
}

impl Reply {
    pub const OK: Self = Self::Word(c"OK");
}

/// The number of the client that the server pretends to have while it loads an AOF.
const AOF_CLIENT: u64 = u64::MAX;

/// A call of a command. Argument 0 is its name, and argument 1 its key.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    context: *mut raw::RedisModuleCtx,
    /// The name of the command, which is that of its event as well.
    name: &'static CStr,
    arguments: &'a [*mut raw::RedisModuleString],
}

impl<'a> Call<'a> {
    /// The call as one of another command, whose name it replicates and whose event it publishes.
    pub fn named(self, name: &'static CStr) -> Self {
        Self { name, ..self }
    }

    pub fn len(self) -> usize {
        self.arguments.len()
    }

    /// The argument with this number. [`Error::ARITY`] if there is none.
    pub fn get(self, number: usize) -> Result<Text<'a>, Error> {
        self.from(number).next().ok_or(Error::ARITY)
    }

    /// The arguments from this number on.
    pub fn from(self, number: usize) -> impl ExactSizeIterator<Item = Text<'a>> {
        let strings = self.arguments.get(number..).unwrap_or_default();
        strings.iter().map(|&string| Text { string, life: PhantomData })
    }

    /// Returns whether the command comes from the AOF, and not from a script in it. No client has
    /// this number: the server counts up from one.
    pub fn is_from_aof(self) -> bool {
        Context::new(self.context).get_client_id() == AOF_CLIENT
    }

    /// Returns whether the command comes from the primary, from another one whose slots the server
    /// takes over, or from the AOF.
    ///
    /// No client, script or transaction has the first flag. While the server has the second one, it
    /// serves no clients. (A replica that serves them while it loads has another flag.)
    pub fn is_replayed(self) -> bool {
        let replayed = ContextFlags::REPLICATED | ContextFlags::LOADING;
        Context::new(self.context).get_flags().intersects(replayed)
    }

    /// Returns the memory that a filter may take. None of the limits applies to a command that is
    /// replayed: it was within them where it came from.
    ///
    /// At least `held` bytes are in use. What is free may be stated too low, but not below
    /// `enough`.
    pub fn limits(self, held: usize, enough: usize) -> Limits {
        if self.is_replayed() {
            return Limits::NONE;
        }
        Limits::configured(self.free_bytes(held, enough))
    }

    /// Returns how many bytes may be allocated under the server's `maxmemory`.
    ///
    /// If the server evicts keys, it makes room after a write, as before the next one: then only
    /// what exceeds `maxmemory` by itself is refused.
    fn free_bytes(self, held: usize, enough: usize) -> usize {
        // SAFETY: the function has no preconditions.
        let ratio = f64::from(unsafe { api!(RedisModule_GetUsedMemoryRatio)() });
        // Without a limit, the ratio is zero, and this is infinite. The rest takes some
        // microseconds.
        let at_least = (held.max(1) as f64 * (1.0 / ratio - 1.0)) as usize;
        if at_least >= enough {
            return at_least;
        }
        let info = Context::new(self.context).server_info("memory");
        let number = |field| info.field_unsigned(field).unwrap_or(0) as usize;
        let used = number("used_memory").saturating_sub(number("mem_not_counted_for_evict"));
        let evicts = info.field_c("maxmemory_policy").is_some_and(|policy| policy != "noeviction");
        number("maxmemory").saturating_sub(if evicts { 0 } else { used })
    }

    pub fn reply(self, reply: Reply) {
        let context = self.context;
        match reply {
            Reply::Bool(value) => raw::reply_with_bool(context, value.into()),
            Reply::Integer(value) => raw::reply_with_long_long(context, value),
            Reply::Number(value) => raw::reply_with_double(context, value),
            Reply::Word(word) => raw::reply_with_simple_string(context, word.as_ptr()),
            Reply::Bytes(bytes) => {
                raw::reply_with_string_buffer(context, bytes.as_ptr().cast(), bytes.len())
            }
            Reply::Null => raw::reply_with_null(context),
            Reply::Array(len) => raw::reply_with_array(context, len as _),
            Reply::Map(len) => raw::reply_with_map(context, len as _),
            Reply::Done => Status::Ok,
        };
    }

    /// Replies with the error of a command.
    ///
    /// The server ignores the replies to the commands of an AOF, so what such a command would have
    /// added would be lost without notice. Therefore this ends the process then, as the server does
    /// itself if it cannot read the file.
    fn fail(self, error: &Error) {
        if self.is_from_aof() {
            let words: Vec<_> =
                self.from(0).take(2).map(|word| String::from_utf8_lossy(word.bytes())).collect();
            log(&format!(
                "{} of the AOF is refused: {error}. The server ends, since the filter would lack \
                 items. If another module wrote the file, see the README of guira, \
                 \"Coming from RedisBloom\".",
                words.join(" ")
            ));
            process::exit(1);
        }
        // SAFETY: the context is valid during the call; so below. The server copies the text.
        unsafe {
            match error.reply() {
                None => api!(RedisModule_WrongArity)(self.context),
                Some(text) => api!(RedisModule_ReplyWithError)(self.context, text.as_ptr()),
            }
        };
    }

    /// Replicates the command as it came, to the replicas and the AOF.
    pub fn replicate_as_called(self) {
        raw::replicate_verbatim(self.context);
    }

    /// The same, and says that it changed the key.
    pub fn changed_as_called(self) {
        self.replicate_as_called();
        self.changed();
    }

    /// Replicates an insert with the permits that it was given, as `CF.REPLAY`.
    pub fn replicate_insert(self, item: Text, unique: bool, added: bool, permits: Permits) {
        let Permits { number, max_bytes } = permits;
        // The server has no larger integers.
        let max_bytes = (max_bytes as u64).min(i64::MAX as u64);
        let numbers = [unique.into(), added.into(), number, max_bytes].map(|it| it.to_string());
        let [unique, added, number, max_bytes] = numbers.each_ref().map(String::as_bytes);
        self.replicate("cf.replay", &[item.bytes(), unique, added, number, max_bytes]);
    }

    /// Replicates the command of this call's name with these words, which follow the key.
    pub fn replicate_by_name(self, words: &[&[u8]]) {
        self.replicate(&self.name.to_string_lossy(), words);
    }

    /// Replicates a command with these words, which follow the key.
    pub fn replicate(self, command: &str, words: &[impl AsRef<[u8]>]) {
        let key = self.get(1).map(Text::bytes).unwrap_or_default();
        let words = iter::once(key).chain(words.iter().map(AsRef::as_ref));
        raw::replicate(self.context, command, &*words.collect::<Vec<_>>());
    }

    /// Replicates the command with `NOCREATE ITEMS items...` behind the key, if there are any.
    pub fn replicate_items(self, items: &[Text]) {
        if items.is_empty() {
            return;
        }
        // SAFETY: as above. The format announces a string, two words, and a vector of strings (a
        // `Text` is one) and its length.
        unsafe {
            api!(RedisModule_Replicate)(
                self.context,
                self.name.as_ptr(),
                c"sccv".as_ptr(),
                self.arguments[1],
                c"NOCREATE".as_ptr(),
                c"ITEMS".as_ptr(),
                items.as_ptr(),
                items.len(),
            )
        };
    }

    /// Tells watching clients and subscribers that the command changed the key. Call this last:
    /// what subscribers do may free the value.
    pub fn changed(self) {
        let (kind, event, key) =
            (raw::REDISMODULE_NOTIFY_MODULE, self.name.as_ptr(), self.arguments[1]);
        // SAFETY: as above; the key's name lives.
        unsafe {
            api!(RedisModule_SignalModifiedKey)(self.context, key);
            api!(RedisModule_NotifyKeyspaceEvent)(self.context, kind, event, key);
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

/// Runs a command, and sends its reply or its error.
///
/// # Safety
/// The arguments are those with which the server called the command.
pub unsafe fn run(
    name: &'static CStr,
    context: *mut raw::RedisModuleCtx,
    arguments: *mut *mut raw::RedisModuleString,
    count: c_int,
    command: fn(Call) -> Result<Reply, Error>,
) -> c_int {
    // SAFETY: the server passes `count` strings, which live until the command returns.
    let arguments = unsafe { slice::from_raw_parts(arguments, count as usize) };
    let call = Call { context, name, arguments };
    let done = guarded(name, || match command(call) {
        Ok(reply) => call.reply(reply),
        Err(error) => call.fail(&error),
    });
    if done.is_none() {
        call.fail(&Error::text("internal error: see the server's log"));
    }
    raw::REDISMODULE_OK as c_int
}
