//! Errors of commands, as the server replies them.

use std::{borrow::Cow, ffi::CString, fmt};

use guira::InsertError;

/// Why a command failed. Nothing has changed.
#[derive(Debug, PartialEq)]
pub enum Error {
    /// The number of arguments is wrong.
    Arity,
    /// The key holds a value of another type.
    WrongType,
    /// The key does not exist.
    NotFound,
    /// The key exists.
    Exists,
    /// The filter is incomplete: it is being loaded.
    Loading,
    /// The insert found no slot.
    Insert(InsertError),
    /// The filter would exceed the server's `maxmemory`.
    OutOfMemory,
    /// The data is that of a filter of `RedisBloom`.
    RedisBloom,
    /// Anything else.
    Other(Cow<'static, str>),
}

impl Error {
    /// An error with this text, which follows `ERR`.
    pub fn text(text: impl Into<Cow<'static, str>>) -> Self {
        Self::Other(text.into())
    }

    /// The reply. `None` for a wrong number of arguments, which the server words.
    pub fn reply(&self) -> Option<CString> {
        let text = match self {
            Self::Arity => return None,
            Self::WrongType | Self::OutOfMemory => self.to_string(),
            _ => format!("ERR {self}"),
        };
        Some(CString::new(text.replace('\0', " ")).expect("no zero is left"))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Arity => "wrong number of arguments",
            Self::WrongType => "WRONGTYPE Operation against a key holding the wrong kind of value",
            Self::NotFound => "not found",
            Self::Exists => "item exists",
            Self::Loading => "the filter is incomplete: CF.LOADCHUNK has not received all of it",
            Self::OutOfMemory => "OOM command not allowed when used memory > 'maxmemory'.",
            Self::RedisBloom => {
                "a cuckoo filter of RedisBloom holds no items, and cannot be converted. Load the \
                 file with RedisBloom, delete the filters (SCAN with TYPE MBbloomCF finds them), \
                 write the file again (SAVE or BGREWRITEAOF), and add the items here"
            }
            Self::Insert(InsertError::Full) => {
                "Filter is full, and may not grow: see EXPANSION and guira.max-filter-bytes"
            }
            Self::Insert(InsertError::TooManyCopies) => {
                "the filter holds too many copies of the item"
            }
            Self::Insert(error) => return error.fmt(f),
            Self::Other(text) => text,
        })
    }
}

impl From<InsertError> for Error {
    fn from(error: InsertError) -> Self {
        Self::Insert(error)
    }
}
