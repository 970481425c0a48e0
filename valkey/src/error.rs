//! Errors of commands, as the server replies them.

use std::{borrow::Cow, ffi::CString, fmt};

use guira::InsertError;

/// Why a command failed: the text of the reply. Nothing has changed.
#[derive(Debug, PartialEq)]
pub struct Error(Cow<'static, str>);

impl Error {
    /// The server words the reply to a wrong number of arguments.
    pub const ARITY: Self = Self::of("");
    pub const WRONG_TYPE: Self =
        Self::of("WRONGTYPE Operation against a key holding the wrong kind of value");
    pub const NOT_FOUND: Self = Self::of("ERR not found");
    pub const EXISTS: Self = Self::of("ERR item exists");
    pub const LOADING: Self =
        Self::of("ERR the filter is incomplete: CF.LOADCHUNK has not received all of it");
    pub const OUT_OF_MEMORY: Self =
        Self::of("OOM command not allowed when used memory > 'maxmemory'.");
    pub const FULL: Self = Self::of(
        "ERR Filter is full: it may not grow (see EXPANSION and guira.max-filter-bytes), \
                  or copies of few items fill the buckets",
    );
    pub const TOO_MANY_COPIES: Self = Self::of("ERR the filter holds too many copies of the item");
    pub const REDISBLOOM: Self = Self::of(
        "ERR a cuckoo filter of RedisBloom holds no items, and cannot be converted. Load the file \
         with RedisBloom, delete the filters (SCAN with TYPE MBbloomCF finds them), write the file \
         again (SAVE or BGREWRITEAOF), and add the items here",
    );

    const fn of(text: &'static str) -> Self {
        Self(Cow::Borrowed(text))
    }

    /// An error with this text, which follows `ERR`.
    pub fn text(text: impl fmt::Display) -> Self {
        Self(format!("ERR {text}").into())
    }

    /// The reply. `None` for a wrong number of arguments.
    pub fn reply(&self) -> Option<CString> {
        let text = self.0.replace('\0', " ");
        (*self != Self::ARITY).then(|| CString::new(text).expect("no zero is left"))
    }
}

/// The text without the code `ERR`, for the log.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match &*self.0 {
            "" => "wrong number of arguments",
            text => text.strip_prefix("ERR ").unwrap_or(text),
        })
    }
}

impl From<InsertError> for Error {
    fn from(error: InsertError) -> Self {
        match error {
            InsertError::Full | InsertError::Crowded | InsertError::FullyGrown => Self::FULL,
            InsertError::TooManyCopies => Self::TOO_MANY_COPIES,
            error => Self::text(error),
        }
    }
}
