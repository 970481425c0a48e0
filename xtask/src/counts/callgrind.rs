//! Builds the program of `benches/counts/` and runs it under callgrind.

use std::{
    env, fs,
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
    let target = env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    let status = Command::new("rustup")
        .args(["run", toolchain, "cargo", "build", "--quiet", "--release", "--bin=guira-counts"])
        // Together with the other programs, as CI builds them: the library is compiled once.
        .args(["--workspace", "--exclude=guira-tests"])
        .current_dir(root)
        .env("CARGO_ENCODED_RUSTFLAGS", "")
        .status()
        .context("rustup")?;
    ensure!(status.success(), "the program of benches/counts does not compile");
    let output = Command::new("valgrind")
        .args(["--quiet", "--tool=callgrind"])
        .arg(format!("--toggle-collect={MEASURED}"))
        .arg(format!("--dump-after={MEASURED}"))
        .arg(format!("--callgrind-out-file={}", totals.display()))
        .arg(root.join(target).join("release/guira-counts"))
        .env("GLIBC_TUNABLES", GLIBC)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .context("valgrind")?;
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

/// Extracts the number of instructions from a file of callgrind.
fn total(text: &str) -> Option<f64> {
    let total = text.lines().find_map(|line| line.strip_prefix("totals: "))?;
    total.trim().parse().ok().filter(|&total: &f64| total > 0.0)
}

#[cfg(test)]
mod tests {
    #[test]
    fn totals_are_extracted() {
        let file = "events: Ir\nfn=(1) a\n0 7\n\ntotals: 1234\n";
        assert_eq!(super::total(file), Some(1234.0));
        assert_eq!(super::total("totals: 0"), None);
        assert_eq!(super::total("summary: 7"), None);
    }
}
