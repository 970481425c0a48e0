//! Objects: filters of every kind, with a fixed capacity or growing.

use core::ffi::c_char;
use std::{
    io::{self, Read},
    path::Path,
};

use guira_rs::{
    BuildError, Filter, FilterBuilder, KeyTypes, LoadError, Loader,
    kind::{Contents, Fixed, Growing, Growth},
};

use crate::{info::Info, params::Params, pointer::In, status::Status};

/// An object of C. Objects of one type may grow or not.
#[expect(clippy::large_enum_variant, reason = "each is allocated by itself, and lives for long")]
pub enum Object<C: Kind> {
    Fixed(Filter<C, Fixed>),
    Growing(Filter<C, Growing>),
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
    /// Returns a builder with the parameters that do not depend on growth, or an error if one of
    /// them is not for this kind.
    fn builder<G: Growth>(params: &Params) -> Result<FilterBuilder<Self, G>, Status>;

    /// Adds what not every object tells.
    fn describe<G: Growth>(_filter: &Filter<Self, G>, _info: &mut Info) {}
}

/// Returns a loader. The keys of C are bytes, or hashes.
pub fn loader<C: Contents, G: Growth>() -> Loader<C, G> {
    Filter::loader().ignore_types(KeyTypes::ALL - KeyTypes::SLICES)
}

impl<C: Kind> Object<C> {
    /// Creates an object, or returns an error if a parameter is not for it.
    pub fn create(params: &Params) -> Result<Self, Status> {
        Ok(if params.is_growing()? {
            Self::Growing(params.growing(C::builder(params)?)?.build()?)
        } else {
            params.not_growing()?;
            Self::Fixed(C::builder(params)?.build()?)
        })
    }

    /// Copies the object.
    pub fn copy(&self) -> Result<Self, BuildError> {
        match self {
            Self::Fixed(filter) => filter.try_clone().map(Self::Fixed),
            Self::Growing(filter) => filter.try_clone().map(Self::Growing),
        }
    }

    /// Loads a file.
    pub fn load(path: &Path) -> Result<Self, LoadError> {
        match loader().file(path) {
            Err(LoadError::OtherKind { .. }) => loader().file(path).map(Self::Growing),
            loaded => loaded.map(Self::Fixed),
        }
    }

    /// Loads a snapshot from a stream that may have failed. Reads nothing behind it.
    pub fn read_from(stream: &mut impl Read) -> Result<Self, LoadError> {
        peek(stream, |reader, grows| {
            if grows {
                loader().reader(reader).map(Self::Growing)
            } else {
                loader().reader(reader).map(Self::Fixed)
            }
        })
    }

    /// Returns facts and statistics.
    pub fn info(&self) -> Info {
        let mut info = either!(self, filter => Info::of(filter));
        either!(self, filter => C::describe(filter, &mut info));
        if let Self::Growing(filter) = self {
            info.growing = 1;
            info.next_growth_bytes = filter.next_growth().unwrap_or(0) as u64;
        }
        info
    }
}

/// Where a snapshot tells whether the object grows.
const GROWTH: usize = 17;

/// Calls `load` with a stream, and whether it has the snapshot of an object that grows, which
/// decides on the type that is loaded.
pub fn peek<T>(
    stream: &mut impl Read,
    load: impl FnOnce(&mut dyn Read, bool) -> Result<T, LoadError>,
) -> Result<T, LoadError> {
    let mut start = [0; GROWTH + 1];
    let peeked = read_all(stream, &mut start)?;
    let start = &start[..peeked];
    load(&mut start.chain(stream), start.get(GROWTH) == Some(&1))
}

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
