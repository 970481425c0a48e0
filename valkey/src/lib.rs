//! A module for Valkey and Redis: cuckoo filters with the `CF.*` commands.
//!
//! `README.md` documents the commands, the settings, and what the module guarantees.

mod allocator;
mod commands;
mod config;
mod error;
mod filter;
mod keytype;
mod server;
mod stream;
mod value;

use std::ffi::c_int;

use valkey_module::raw;

#[global_allocator]
static ALLOCATOR: allocator::ServerAllocator = allocator::ServerAllocator;

/// The server calls this when it loads the module.
///
/// # Safety
/// The context is the server's.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "the server looks for this name")]
pub unsafe extern "C" fn RedisModule_OnLoad(
    context: *mut raw::RedisModuleCtx,
    _: *mut *mut raw::RedisModuleString,
    _: c_int,
) -> c_int {
    // SAFETY: as the caller guarantees.
    server::status(unsafe { server::load(context, commands::ALL) })
}
