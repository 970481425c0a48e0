//! Objects: filters of every kind, with a fixed capacity or growing.

use core::ffi::c_char;
use std::{
    io::{self, Read},
    path::Path,
};

use guira_rs::{
    BuildError, Filter, LoadError,
    kind::{Contents, Fixed, Growth},
};

use crate::{info::Info, params::Params, pointer::In, status::Status};

/// An object of C. Objects of one type may grow or not.
pub enum Object<C: Kind> {
    Fixed(Filter<C, Fixed>),
    Growing(Filter<C, C::Growing>),
}

/// Evaluates the body with `$filter` bound to the filter of either growth.
macro_rules! either {
    ($object:expr, $filter:ident => $body:expr) => {
        match $object {
            $crate::object::Object::Fixed($filter) => $body,
            $crate::object::Object::Growing($filter) => $body,
        }
    };
}

/// What C has of each kind of contents.
pub trait Kind: Contents + Sized {
    /// The growth of objects that grow. `Fixed`, if there are none.
    type Growing: Growth;

    /// Creates an object, or returns an error if a parameter is not for this kind.
    fn create(params: &Params) -> Result<Object<Self>, Status>;

    /// Adds what not every object tells.
    fn describe(object: &Object<Self>, info: &mut Info);
}

impl<C: Kind> Object<C> {
    /// Copies the object.
    pub fn copy(&self) -> Result<Self, BuildError> {
        match self {
            Self::Fixed(filter) => filter.try_clone().map(Self::Fixed),
            Self::Growing(filter) => filter.try_clone().map(Self::Growing),
        }
    }

    /// Loads a file.
    pub fn load(path: &Path) -> Result<Self, LoadError> {
        match Filter::loader().file(path) {
            Err(LoadError::OtherKind { .. }) => Filter::loader().file(path).map(Self::Growing),
            loaded => loaded.map(Self::Fixed),
        }
    }

    /// Loads a snapshot from a stream that may have failed. Reads nothing behind it.
    pub fn read_from(stream: &mut impl Read) -> Result<Self, LoadError> {
        // The growth decides on the type that is loaded.
        let mut start = [0; GROWTH + 1];
        let peeked = read_all(stream, &mut start)?;
        let start = &start[..peeked];
        let reader = start.chain(stream);
        if start.get(GROWTH) == Some(&1) {
            Filter::loader().reader(reader).map(Self::Growing)
        } else {
            Filter::loader().reader(reader).map(Self::Fixed)
        }
    }

    /// Returns facts and statistics.
    pub fn info(&self) -> Info {
        let mut info = either!(self, filter => Info::of(filter));
        info.growing = matches!(self, Self::Growing(_)).into();
        C::describe(self, &mut info);
        info
    }
}

/// Where a snapshot tells whether the object grows.
const GROWTH: usize = 17;

/// Reads until a buffer is full or nothing is left. Returns the number of bytes.
fn read_all(stream: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match stream.read(&mut buffer[filled..])? {
            0 => break,
            read => filled += read,
        }
    }
    Ok(filled)
}

#[cfg(unix)]
pub fn to_path(path: &In<c_char>) -> Result<&Path, Status> {
    use std::os::unix::ffi::OsStrExt;
    Ok(Path::new(std::ffi::OsStr::from_bytes(path.text()?.to_bytes())))
}

/// Elsewhere, paths are UTF-8.
#[cfg(not(unix))]
pub fn to_path(path: &In<c_char>) -> Result<&Path, Status> {
    path.text()?.to_str().map(Path::new).map_err(|_| Status::ErrArgument)
}
