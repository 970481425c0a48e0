//! Callbacks of C as streams of bytes.

use core::ffi::{c_int, c_void};
use std::io::{self, Read, Write};

use crate::status::Status;

/// `guira_write_fn`.
pub type WriteFn =
    Option<extern "C" fn(context: *mut c_void, bytes: *const c_void, len: usize) -> c_int>;

/// `guira_read_fn`.
pub type ReadFn =
    Option<extern "C" fn(context: *mut c_void, buffer: *mut c_void, len: usize) -> i64>;

/// `guira_clock_fn`.
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
    pub fn new(callback: Option<F>, context: *mut c_void) -> Result<Self, Status> {
        Ok(Self { callback: callback.ok_or(Status::ErrNull)?, context, failed: false })
    }

    /// Returns the outcome of what used the stream.
    pub fn outcome<T, E: Into<Status>>(&self, outcome: Result<T, E>) -> Result<T, Status> {
        if self.failed { Err(Status::ErrCallback) } else { outcome.map_err(Into::into) }
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
