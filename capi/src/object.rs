//! What objects of every type can do as a whole: build, copy, clear, save, load, inform, hash.

use core::{
    ffi::{c_char, c_int, c_void},
    hash::BuildHasher,
};
use std::{
    io::{self, Read, Write},
    path::Path,
};

use guira_rs::{BuildError, LoadError, StableHashBuilder};

use crate::{
    error::Error,
    guard::{guard, with},
    info::Info,
    pointer::{Extensible, In, Out},
    stream::{ReadFn, Stream, WriteFn},
};

/// A type of object.
pub trait Object: Sized {
    /// The struct of its parameters.
    type Params: Extensible;

    /// Builds an object.
    fn build(params: &Self::Params) -> Result<Self, Error>;
    /// Copies the object.
    fn copy(&self) -> Result<Self, BuildError>;
    /// Removes all items.
    fn clear(&self);
    /// Replaces a file by a snapshot.
    fn save_to(&self, path: &Path) -> io::Result<()>;
    /// Writes a snapshot.
    fn save(&self, writer: &mut dyn Write) -> io::Result<()>;
    /// Loads a file.
    fn load_from(path: &Path) -> Result<Self, LoadError>;
    /// Loads a snapshot that is of an object that grows, if there is such a type.
    fn load(growing: bool, reader: &mut dyn Read) -> Result<Self, LoadError>;
    /// Returns facts and statistics.
    fn info(&self) -> Info;
    /// Returns the number of items.
    fn len(&self) -> usize;
    /// Returns the hasher.
    fn hasher(&self) -> &StableHashBuilder;

    /// Hashes the bytes of a key, as Rust hashes a `[u8]`.
    #[inline]
    fn hash(&self, key: &[u8]) -> u64 {
        self.hasher().hash_one(key)
    }
}

/// Moves an object to the heap, for C.
fn on_heap<T>(object: T) -> Result<*mut T, Error> {
    // Not `Box::new`, which would end the process if the memory is refused.
    let mut objects = Vec::new();
    objects.try_reserve_exact(1).map_err(|_| Error::NoMemory)?;
    objects.push(object);
    // A slice of one object has the address and the layout of the object.
    Ok(Box::into_raw(objects.into_boxed_slice()).cast())
}

/// Creates an object in `object`.
pub fn create<T: Object>(params: &In<T::Params>, mut object: Out<*mut T>) -> c_int {
    guard(|| {
        let place = object.place()?;
        place.write(on_heap(T::build(&params.read()?)?)?);
        Ok(0)
    })
}

/// Destroys an object, if there is one.
pub fn destroy<T: Object>(object: Option<Box<T>>) {
    let _: c_int = guard(|| {
        drop(object);
        Ok(0)
    });
}

/// Clears an object.
pub fn clear<T: Object>(object: Option<&T>) -> c_int {
    with(object, |object| {
        object.clear();
        Ok(0)
    })
}

/// Copies an object to `copy`.
pub fn clone<T: Object>(object: Option<&T>, mut copy: Out<*mut T>) -> c_int {
    with(object, |object| {
        let place = copy.place()?;
        place.write(on_heap(object.copy()?)?);
        Ok(0)
    })
}

/// Replaces a file by a snapshot.
pub fn save<T: Object>(object: Option<&T>, path: &In<c_char>) -> c_int {
    with(object, |object| {
        object.save_to(to_path(path)?)?;
        Ok(0)
    })
}

/// Passes a snapshot to a callback.
pub fn save_to<T: Object>(object: Option<&T>, write: WriteFn, context: *mut c_void) -> c_int {
    with(object, |object| {
        let mut stream = Stream::new(write, context)?;
        let saved = object.save(&mut stream);
        stream.outcome(saved).map(|()| 0)
    })
}

/// Loads a file.
pub fn load<T: Object>(path: &In<c_char>, mut object: Out<*mut T>) -> c_int {
    guard(|| {
        let place = object.place()?;
        place.write(on_heap(T::load_from(to_path(path)?)?)?);
        Ok(0)
    })
}

/// Offset of the kind of an object in a snapshot, and the kinds of those that grow.
const KIND: usize = 12;
const GROWING: [u8; 2] = [1, 4];

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

/// Loads a snapshot from a callback.
pub fn load_from<T: Object>(read: ReadFn, context: *mut c_void, mut object: Out<*mut T>) -> c_int {
    guard(|| {
        let place = object.place()?;
        let mut stream = Stream::new(read, context)?;
        // The kind decides on the type that is loaded.
        let mut start = [0; KIND + 1];
        let peeked = read_all(&mut stream, &mut start);
        let start = &start[..stream.outcome(peeked)?];
        let growing = start.get(KIND).is_some_and(|kind| GROWING.contains(kind));
        let loaded = T::load(growing, &mut start.chain(stream.by_ref()));
        place.write(on_heap(stream.outcome(loaded)?)?);
        Ok(0)
    })
}

/// Writes facts and statistics to `info`.
pub fn get_info<T: Object>(object: Option<&T>, mut info: Out<Info>) -> c_int {
    with(object, |object| {
        info.fill(object.info())?;
        Ok(0)
    })
}

/// Hashes a key.
#[inline]
pub fn hash<T: Object>(object: Option<&T>, key: &In<u8>, len: usize) -> u64 {
    with(object, |object| Ok(object.hash(key.slice(len)?)))
}

/// Hashes keys of `len` bytes each.
pub fn hash_bulk<T: Object>(
    object: Option<&T>,
    keys: &In<u8>,
    n: usize,
    len: usize,
    mut hashes: Out<u64>,
) -> c_int {
    with(object, |object| {
        let keys = keys.slice(n.checked_mul(len).ok_or(Error::Argument)?)?;
        for (at, hash) in hashes.slice(n)?.iter_mut().enumerate() {
            *hash = object.hash(&keys[at * len..][..len]);
        }
        Ok(0)
    })
}

/// Calls an operation by hash with a key.
#[inline]
pub fn with_key<T: Object>(
    object: Option<&T>,
    key: &In<u8>,
    len: usize,
    operation: impl FnOnce(&T, u64) -> Result<c_int, Error>,
) -> c_int {
    with(object, |object| operation(object, object.hash(key.slice(len)?)))
}

/// Largest number of items in a call of a function whose name ends in `_mask`.
pub const MAX_BURST: usize = 64;

/// Calls an operation with the hashes of a burst.
#[inline]
pub fn with_burst<T>(
    object: Option<&T>,
    hashes: &In<u64>,
    n: usize,
    operation: impl FnOnce(&T, &[u64]) -> Result<u64, Error>,
) -> u64 {
    with(object, |object| {
        check_burst(n)?;
        operation(object, hashes.slice(n)?)
    })
}

/// Returns an error if a burst has more items than a mask has bits.
#[inline]
pub fn check_burst(n: usize) -> Result<(), Error> {
    if n <= MAX_BURST { Ok(()) } else { Err(Error::Argument) }
}

#[cfg(unix)]
fn to_path(path: &In<c_char>) -> Result<&Path, Error> {
    use std::os::unix::ffi::OsStrExt;
    Ok(Path::new(std::ffi::OsStr::from_bytes(path.text()?.to_bytes())))
}

/// Elsewhere, paths are UTF-8.
#[cfg(not(unix))]
fn to_path(path: &In<c_char>) -> Result<&Path, Error> {
    path.text()?.to_str().map(Path::new).map_err(|_| Error::Argument)
}
