//! See the module of the library by this name.

#![no_main]

use guira_fuzz::snapshot::{Input, run};

libfuzzer_sys::fuzz_target!(|input: Input| run(&input));
