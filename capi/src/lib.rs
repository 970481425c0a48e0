//! The C interface of guira. `include/guira.h` documents it, and is generated from the comments of
//! the exported functions, so these speak of C.

mod guard;
mod object;
mod outcome;
mod pointer;

// In the order of the header.
mod error;

mod params;

mod info;

mod stream;

mod set;

mod map;

mod expiring;

use core::ffi::c_char;

/// Returns the version of the library, such as "0.1.0". It is never null and is valid forever.
///
/// Threads: any.
#[unsafe(no_mangle)]
pub extern "C" fn guira_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}
