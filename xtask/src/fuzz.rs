//! `cargo xtask fuzz`: builds the targets of `fuzz/` as cargo-fuzz does, and runs each for some
//! time.
//!
//! This needs a nightly toolchain and a C++ compiler (for libFuzzer itself), but not cargo-fuzz.
//! The layout of the folder also suits cargo-fuzz.

use std::{
    fs::{self, File},
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context, Result, ensure};
use clap::Args;

use crate::source;

/// The compiler flags of cargo-fuzz 0.13: coverage for libFuzzer, the address sanitizer,
/// assertions.
const FLAGS: [&str; 12] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Cllvm-args=-simplifycfg-branch-fold-threshold=0",
    "-Zsanitizer=address",
    "--cfg",
    "fuzzing",
    "-Cdebug-assertions",
    "-Coverflow-checks",
    "-Ccodegen-units=1",
];

/// The sources of the targets, from the root of the repository.
const TARGETS: &str = "fuzz/fuzz_targets";

/// Seconds after which libFuzzer reports an input as an endless loop. The slowest inputs take less
/// than one second.
const TIMEOUT: u64 = 20;

/// The longest inputs, in bytes: a few dozen operations. They have this length from the beginning,
/// since libFuzzer would take minutes to get there.
const MAX_LENGTH: u64 = 300;

/// Options of the command.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct Options {
    /// Time that each target runs.
    #[arg(value_name = "SECONDS", default_value_t = 60)]
    seconds: u64,
}

/// Runs all targets, and returns `true` if none of them failed.
pub(crate) fn run(options: Options) -> Result<bool> {
    let host = match host() {
        Ok(host) => host,
        Err(missing) => {
            println!("fuzzing skipped: {missing}");
            return Ok(true);
        }
    };
    let root = crate::root();
    let folder = root.join("fuzz");
    build(&folder, &host)?;
    let mut passed = true;
    for target in source::read(&root, TARGETS)? {
        let name =
            target.path.trim_start_matches(TARGETS).trim_matches('/').trim_end_matches(".rs");
        passed &= fuzz(&folder, &host, name, options.seconds)?;
    }
    Ok(passed)
}

/// Returns the host's target triple.
///
/// # Errors
/// If the nightly toolchain or the C++ compiler is missing.
fn host() -> Result<String, &'static str> {
    let version = crate::output(Command::new("rustup").args(["run", "nightly", "rustc", "-vV"]))
        .ok_or("no nightly toolchain found (rustup toolchain install nightly)")?;
    let compiler = std::env::var_os("CXX").unwrap_or("c++".into());
    crate::output(Command::new(compiler).arg("--version")).ok_or("no C++ compiler found")?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.ok_or("the nightly toolchain does not print its host")?.to_owned())
}

/// Builds all targets.
fn build(folder: &Path, host: &str) -> Result<()> {
    let status = Command::new("rustup")
        .args(["run", "nightly", "cargo", "build", "--release", "--bins", "--target", host])
        .current_dir(folder)
        .env_remove("RUSTFLAGS")
        .env("CARGO_ENCODED_RUSTFLAGS", FLAGS.join("\u{1f}"))
        .env("CARGO_TARGET_DIR", folder.join("target"))
        .status()
        .context("rustup")?;
    ensure!(status.success(), "the fuzz targets do not build");
    Ok(())
}

/// Runs a target, and returns `true` if it did not fail.
fn fuzz(folder: &Path, host: &str, target: &str, seconds: u64) -> Result<bool> {
    let corpus = folder.join("corpus").join(target);
    let artifacts = folder.join("artifacts").join(target);
    fs::create_dir_all(&corpus)?;
    fs::create_dir_all(&artifacts)?;
    let binary = folder.join("target").join(host).join("release").join(target);
    let log = binary.with_extension("log");
    let status = Command::new(&binary)
        .arg(format!("-max_total_time={seconds}"))
        .arg(format!("-timeout={TIMEOUT}"))
        .arg(format!("-max_len={MAX_LENGTH}"))
        .arg("-len_control=0")
        .arg(format!("-artifact_prefix={}/", artifacts.display()))
        .arg("-print_final_stats=1")
        .arg(&corpus)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(File::create(&log)?)
        .status()
        .with_context(|| binary.display().to_string())?;
    let log = String::from_utf8_lossy(&fs::read(&log)?).into_owned();
    if status.success() {
        let executions = "stat::number_of_executed_units:";
        let executions = log.lines().find_map(|line| line.strip_prefix(executions));
        println!("{target}: passed, {} executions", executions.unwrap_or("?").trim());
    } else {
        println!("{target}: FAILED\n{}", failure(&log));
        println!("to reproduce: {} FILE", binary.display());
    }
    Ok(status.success())
}

/// What a log of libFuzzer says about a failure: the panic, or the error of libFuzzer or of the
/// sanitizer, and the path of the input.
fn failure(log: &str) -> String {
    let is_error = |line: &&str| line.contains(" panicked at ") || line.contains("ERROR: ");
    let error = log.lines().skip_while(|line| !is_error(line)).take(4);
    let file = log.lines().filter(|line| line.contains("Test unit written to "));
    error.chain(file).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    #[test]
    fn failures_are_extracted_from_logs() {
        let log = "#1 INITED\nthread '<unnamed>' panicked at src/a.rs:1:1:\nno\na\nb\nc\n\
                   artifact_prefix='x/'; Test unit written to x/crash\nstat::a: 17\n";
        let told = "thread '<unnamed>' panicked at src/a.rs:1:1:\nno\na\nb\n\
                    artifact_prefix='x/'; Test unit written to x/crash";
        assert_eq!(super::failure(log), told);
    }
}
