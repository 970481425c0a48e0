//! Callbacks of C as streams of bytes.

use core::ffi::{c_int, c_void};
use std::io::{self, Read, Write};

use crate::error::Error;

/// Receives the next `len` bytes of a snapshot. Returns 0, or another number to end the save with
/// `GUIRA_ERR_CALLBACK`. `context` is that of the call. Must return: a `longjmp` or a C++ exception
/// out of a callback ends the process or worse.
pub type WriteFn =
    Option<extern "C" fn(context: *mut c_void, bytes: *const c_void, len: usize) -> c_int>;

/// Writes the next bytes of a snapshot to `buffer`, at most `len`. Returns their number, 0 if there
/// are none left, or a negative number to end the load with `GUIRA_ERR_CALLBACK`. `context` is that
/// of the call. Must return: a `longjmp` or a C++ exception out of a callback ends the process or
/// worse.
pub type ReadFn =
    Option<extern "C" fn(context: *mut c_void, buffer: *mut c_void, len: usize) -> i64>;

/// Returns the reading of a clock, in nanoseconds. `context` is that of the call. Must return: a
/// `longjmp` or a C++ exception out of a callback ends the process or worse.
pub type ClockFn = Option<extern "C" fn(context: *mut c_void) -> u64>;

/// A callback with its context.
pub struct Stream<F> {
    callback: F,
    context: *mut c_void,
    /// Whether the callback returned an error.
    failed: bool,
}

impl<F> Stream<F> {
    /// Returns the stream of a callback.
    pub fn new(callback: Option<F>, context: *mut c_void) -> Result<Self, Error> {
        Ok(Self { callback: callback.ok_or(Error::Null)?, context, failed: false })
    }

    /// Returns the outcome of what used the stream.
    pub fn outcome<T, E: Into<Error>>(&self, outcome: Result<T, E>) -> Result<T, Error> {
        if self.failed { Err(Error::Callback) } else { outcome.map_err(Into::into) }
    }

    fn fail<T>(&mut self) -> io::Result<T> {
        self.failed = true;
        Err(io::ErrorKind::Other.into())
    }
}

impl Write for Stream<extern "C" fn(*mut c_void, *const c_void, usize) -> c_int> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if (self.callback)(self.context, bytes.as_ptr().cast(), bytes.len()) != 0 {
            return self.fail();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Read for Stream<extern "C" fn(*mut c_void, *mut c_void, usize) -> i64> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = (self.callback)(self.context, buffer.as_mut_ptr().cast(), buffer.len());
        match usize::try_from(read) {
            Ok(read) if read <= buffer.len() => Ok(read),
            _ => self.fail(),
        }
    }
}
