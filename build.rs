//! Sets the cfg `guira_vectors`, which compiles the vector code in: on x86-64 with SSE2, but not
//! under loom, shuttle, or Miri, nor with `--cfg guira_steps` or `--cfg guira_portable`.
//!
//! Sets the cfg `guira_in_place`, by which views look up the bytes of a snapshot themselves: where
//! words are little-endian, and atomic loads of them are plain ones that write nothing, so on
//! processors of 64 bits that are known to have them. Not under loom or shuttle, whose atomics are
//! no plain words, nor under Miri, which by default allows no reference to atomics in bytes that
//! are borrowed, nor with `--cfg guira_portable`. Elsewhere a view copies the words.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is_set = |name: &str| env::var_os(format!("CARGO_CFG_{name}")).is_some();
    let has = |name: &str, value: &str| {
        let values = env::var(format!("CARGO_CFG_{name}"));
        values.is_ok_and(|values| values.split(',').any(|candidate| candidate == value))
    };
    let scalar = ["LOOM", "SHUTTLE", "MIRI", "GUIRA_STEPS", "GUIRA_PORTABLE"];
    if has("TARGET_ARCH", "x86_64")
        && has("TARGET_POINTER_WIDTH", "64")
        && has("TARGET_FEATURE", "sse2")
        && !scalar.into_iter().any(is_set)
    {
        println!("cargo::rustc-cfg=guira_vectors");
    }
    let plain_loads = ["x86_64", "aarch64", "riscv64", "loongarch64", "powerpc64"];
    if env::var_os("CARGO_FEATURE_STD").is_some()
        && plain_loads.iter().any(|arch| has("TARGET_ARCH", arch))
        && has("TARGET_ENDIAN", "little")
        && has("TARGET_POINTER_WIDTH", "64")
        && !["LOOM", "SHUTTLE", "MIRI", "GUIRA_PORTABLE"].into_iter().any(is_set)
    {
        println!("cargo::rustc-cfg=guira_in_place");
    }
}
