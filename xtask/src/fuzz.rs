//! `cargo xtask fuzz`: builds the targets of `fuzz/` as cargo-fuzz would, and runs each for a while.
//!
//! Only a nightly toolchain and a C++ compiler (for libFuzzer itself) are needed, not cargo-fuzz. The
//! folder is laid out for cargo-fuzz all the same, for those who have it.

use std::{
    ffi::OsStr,
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, ensure};
use clap::Args;

/// What cargo-fuzz 0.13 builds with: coverage for libFuzzer, the address sanitizer, assertions.
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

/// Seconds after which an input counts as one that the library loops on for ever; the slowest that
/// are found take less than one.
const TIMEOUT: u64 = 20;

/// What can be asked of the command.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct Options {
    /// How long each target runs.
    #[arg(value_name = "SECONDS", default_value_t = 60)]
    seconds: u64,
}

/// Runs every target; `false` when one of them found something.
pub(crate) fn run(options: Options) -> Result<bool> {
    let host = match host() {
        Ok(host) => host,
        Err(missing) => {
            println!("fuzzing is skipped: {missing}");
            return Ok(true);
        }
    };
    let folder = crate::root().join("fuzz");
    build(&folder, &host)?;
    let mut sound = true;
    for target in targets(&folder)? {
        sound &= fuzz(&folder, &host, &target, options.seconds)?;
    }
    Ok(sound)
}

/// The host's target triple, from the nightly toolchain; or else what is missing.
fn host() -> Result<String, &'static str> {
    let version = output(Command::new("rustup").args(["run", "nightly", "rustc", "-vV"]))
        .ok_or("there is no nightly toolchain (rustup toolchain install nightly)")?;
    let compiler = std::env::var_os("CXX").unwrap_or("c++".into());
    output(Command::new(compiler).arg("--version")).ok_or("there is no C++ compiler")?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.ok_or("the nightly toolchain does not name its host")?.to_owned())
}

/// What a command prints, if it is there and succeeds.
fn output(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Builds every target.
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

/// The names of the targets, in order.
fn targets(folder: &Path) -> Result<Vec<String>> {
    let mut targets = Vec::new();
    for entry in fs::read_dir(folder.join("fuzz_targets"))? {
        let path = PathBuf::from(entry?.file_name());
        if path.extension() == Some(OsStr::new("rs")) {
            targets.push(path.with_extension("").to_string_lossy().into_owned());
        }
    }
    targets.sort();
    Ok(targets)
}

/// Runs a target; `false` when it found something.
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
        println!("{target}: {} executions, nothing found", executions(&log));
    } else {
        println!("{target}: FAILED\n{}", failure(&log));
        println!("to see it again: {} FILE", binary.display());
    }
    Ok(status.success())
}

/// The number of executions that libFuzzer tells of at its end.
fn executions(log: &str) -> &str {
    let number = log.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:"));
    number.unwrap_or("?").trim()
}

/// What the log tells of a failure: the panic, or the error of libFuzzer or the sanitizer, and the
/// file with the input.
fn failure(log: &str) -> String {
    let is_error = |line: &&str| line.contains(" panicked at ") || line.contains("ERROR: ");
    let error = log.lines().skip_while(|line| !is_error(line)).take(4);
    let file = log.lines().filter(|line| line.contains("Test unit written to "));
    error.chain(file).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_are_read() {
        let log = "#1 INITED\nthread '<unnamed>' panicked at src/a.rs:1:1:\nno\na\nb\nc\n\
                   artifact_prefix='x/'; Test unit written to x/crash\n\
                   stat::number_of_executed_units: 17\n";
        assert_eq!(executions(log), "17");
        assert_eq!(
            failure(log),
            "thread '<unnamed>' panicked at src/a.rs:1:1:\nno\na\nb\n\
             artifact_prefix='x/'; Test unit written to x/crash"
        );
    }
}
