//! Sets the cfg `guira_vectors`, which compiles the vector code in: on x86-64 with SSE2, but not
//! under loom, shuttle, or Miri, nor with `--cfg guira_steps` or `--cfg guira_portable`.

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
}
