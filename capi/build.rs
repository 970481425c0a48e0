//! Gives the shared library its name for the dynamic linker: `libguira.so.0.1`.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        // Until version 1.0, a new second number may break programs.
        let [major, minor] = [env!("CARGO_PKG_VERSION_MAJOR"), env!("CARGO_PKG_VERSION_MINOR")];
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libguira.so.{major}.{minor}");
    }
}
