//! Builds the program of `benches/counts/` and runs it under callgrind.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context, Result, ensure};

/// The function in which callgrind counts.
const MEASURED: &str = "guira_counts::measured";

/// Makes glibc copy and zero memory in the same way on every processor, with SSE2.
const GLIBC: &str =
    "glibc.cpu.hwcaps=-AVX2,-AVX2_Usable,-AVX_Fast_Unaligned_Load,-ERMS,-FSRM,-SSSE3";

/// Returns what a toolchain's `rustc -V` prints.
///
/// # Errors
/// If something that the counting needs is missing.
pub(super) fn compiler(toolchain: &str) -> Result<String, String> {
    if !has_avx2() {
        return Err("it needs Linux on an x86-64 processor with AVX2".to_owned());
    }
    crate::output(Command::new("valgrind").arg("--version")).ok_or("no valgrind found")?;
    let version = crate::output(Command::new("rustup").args(["run", toolchain, "rustc", "-V"]));
    let missing = || format!("no toolchain {toolchain} (rustup toolchain install {toolchain})");
    Ok(version.ok_or_else(missing)?.trim().to_owned())
}

/// Returns whether the batches with AVX2 can be counted. Valgrind has it where the processor has.
fn has_avx2() -> bool {
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    return std::arch::is_x86_feature_detected!("avx2");
    #[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
    false
}

/// Returns the instructions per key of each operation, in the order of the program.
pub(super) fn count(root: &Path, toolchain: &str) -> Result<Vec<(String, f64)>> {
    let folder = root.join("target/callgrind");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    let totals = folder.join("totals");
    let output = Command::new("rustup")
        .args(["run", toolchain, "cargo", "run", "--quiet", "--release", "--package=guira-counts"])
        .args(["--config", &runner(&totals)])
        .current_dir(root)
        .env("CARGO_ENCODED_RUSTFLAGS", "")
        .env("GLIBC_TUNABLES", GLIBC)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .context("rustup")?;
    ensure!(output.status.success(), "the program of benches/counts fails");
    let printed = String::from_utf8(output.stdout)?;
    let operations = (1..).zip(printed.lines()).map(|(number, line)| {
        // Callgrind numbers its files.
        let path = totals.with_extension(number.to_string());
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let (name, keys) = line.split_once('\t').with_context(|| line.to_owned())?;
        let count = total(&text).context("no total")? / keys.parse::<f64>()?;
        Ok((name.to_owned(), (count * 10.0).round() / 10.0))
    });
    operations.collect()
}

/// The setting that makes `cargo run` start callgrind, which writes a file after each call of
/// [`MEASURED`].
fn runner(totals: &Path) -> String {
    let command = [
        "valgrind",
        "--quiet",
        "--tool=callgrind",
        &format!("--toggle-collect={MEASURED}"),
        &format!("--dump-after={MEASURED}"),
        &format!("--callgrind-out-file={}", totals.display()),
    ];
    // As an array in TOML.
    format!("target.'cfg(all())'.runner={command:?}")
}

/// Extracts the number of instructions from a file of callgrind.
fn total(text: &str) -> Option<f64> {
    let total = text.lines().find_map(|line| line.strip_prefix("totals: "))?;
    total.trim().parse().ok().filter(|&total: &f64| total > 0.0)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    #[test]
    fn totals_are_extracted() {
        let file = "events: Ir\nfn=(1) a\n0 7\n\ntotals: 1234\n";
        assert_eq!(super::total(file), Some(1234.0));
        assert_eq!(super::total("totals: 0"), None);
        assert_eq!(super::total("summary: 7"), None);
    }

    #[test]
    fn the_runner_is_an_array() {
        let runner = super::runner(Path::new("/a b/totals"));
        assert!(runner.starts_with("target.'cfg(all())'.runner=[\"valgrind\", "));
        assert!(runner.ends_with("\"--callgrind-out-file=/a b/totals\"]"));
    }
}
