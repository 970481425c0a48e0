//! Runs the module of the same name of the library.

#![no_main]

use guira_fuzz::operations::{Input, run};

libfuzzer_sys::fuzz_target!(|input: Input| run(input));
