//! The C interface of guira. `include/guira.h` documents it: what is exported here has no comments
//! of its own. A test compares the two.

#[macro_use]
mod export;
#[macro_use]
mod object;

mod common;
mod expiring;
mod filter;
mod hashes;
#[cfg(test)]
mod header;
mod info;
mod map;
mod params;
mod pointer;
mod refusals;
mod status;
mod stream;
mod view;

use core::ffi::{c_char, c_int};

use status::Status;

#[unsafe(no_mangle)]
extern "C" fn guira_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}

/// Takes a number, since C may pass one that is no status.
#[unsafe(no_mangle)]
extern "C" fn guira_status_message(status: c_int) -> *const c_char {
    let known = Status::ALL.iter().find(|&&known| known as c_int == status);
    known.map_or(c"an unknown status", |status| status.message()).as_ptr()
}
