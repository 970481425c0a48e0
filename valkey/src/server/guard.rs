//! The guard between the server and the module: no panic unwinds into the server, or ends it.

use std::{
    ffi::{CStr, CString},
    mem,
    panic::{self, AssertUnwindSafe},
    ptr,
};

use super::api;

/// Has panics written to the server's log.
pub fn log_panics() {
    panic::set_hook(Box::new(|panic| log(&panic.to_string())));
}

/// Calls a function for a callback of this name: everything that the server calls runs in here.
/// `None` if it panics.
pub fn guarded<R>(callback: &CStr, function: impl FnOnce() -> R) -> Option<R> {
    let outcome = panic::catch_unwind(AssertUnwindSafe(|| {
        #[cfg(feature = "panics")]
        panic_on_request(callback);
        function()
    }));
    outcome
        .map_err(|payload| {
            let callback = callback.to_string_lossy();
            log(&format!("{callback} panicked, as the line above says: please report this"));
            // It is leaked, because its destructor may panic.
            mem::forget(payload);
        })
        .ok()
}

/// Panics if the file `panic` in the server's folder says so: it holds the name of a callback.
#[cfg(feature = "panics")]
fn panic_on_request(callback: &CStr) {
    let requested = std::fs::read_to_string("panic").unwrap_or_default();
    assert_ne!(requested.trim().as_bytes(), callback.to_bytes(), "as requested");
}

/// Writes a warning to the server's log.
pub fn log(text: &str) {
    let text = CString::new(format!("guira: {text}").replace('\0', " ")).expect("no zero is left");
    // SAFETY: a line needs no context. The format takes one string.
    unsafe {
        let log = api!(RedisModule_Log);
        log(ptr::null_mut(), c"warning".as_ptr(), c"%s".as_ptr(), text.as_ptr());
    }
}
