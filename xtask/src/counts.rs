//! `cargo xtask counts`: counts the instructions per operation, and compares them with the recorded
//! ones.
//!
//! The operations are those of `benches/counts/`. They run under callgrind, with the compiler of
//! the record, so the counts hardly depend on the machine. They say nothing about cache misses and
//! about waits, which `guira-bench` measures. The record is a line with the compiler, then a line
//! for each operation, with a tab before its count.

use std::{
    env, fs,
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;

/// The record, from the root of the repository.
const PATH: &str = "xtask/counts.tsv";

/// The largest change that passes, in percent of the recorded count.
const MAX_CHANGE: f64 = 3.0;

/// The smallest change that is shown. The record has one decimal.
const MIN_SHOWN: f64 = 0.2;

/// The function in which callgrind counts.
const MEASURED: &str = "guira_counts::measured";

/// Makes glibc copy and zero memory in the same way on every processor, with SSE2.
const GLIBC: &str =
    "glibc.cpu.hwcaps=-AVX2,-AVX2_Usable,-AVX_Fast_Unaligned_Load,-ERMS,-FSRM,-SSSE3";

/// Operations with their instructions per key.
type Counts = Vec<(String, f64)>;

/// Options of the command.
#[derive(Args, Debug)]
pub(crate) struct Options {
    /// Record the counts.
    #[arg(long)]
    record: bool,
    /// Record the counts with another compiler, for example 1.95.0.
    #[arg(long, value_name = "VERSION", requires = "record")]
    toolchain: Option<String>,
}

/// Runs the command. Returns `false` if the counts are not those of the record.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let root = crate::root();
    let record = fs::read_to_string(root.join(PATH)).context(PATH)?;
    let (recorded_compiler, recorded) = parse(&record).context(PATH)?;
    let named = options.toolchain.as_deref().or(recorded_compiler.split(' ').nth(1));
    let toolchain = named.context("the record names no compiler")?;
    let compiler = match compiler(toolchain) {
        Ok(compiler) => compiler,
        Err(missing) if options.record => bail!(missing),
        Err(missing) => {
            println!("instruction counts skipped: {missing}");
            return Ok(true);
        }
    };
    let now = count(&root, toolchain)?;
    let (text, passed) = compare(&recorded, &now);
    print!("{text}");
    if options.record {
        let lines = now.iter().map(|(name, count)| format!("{name}\t{count:.1}\n"));
        fs::write(root.join(PATH), format!("{compiler}\n{}", lines.collect::<String>()))?;
        println!("{} counts recorded, with {compiler}", now.len());
        return Ok(true);
    }
    let is_same = compiler == recorded_compiler;
    ensure!(is_same, "{toolchain} is {compiler}, but the record is of {recorded_compiler}");
    println!("{} operations counted.", now.len());
    Ok(passed)
}

/// The compiler and the counts of a record.
fn parse(record: &str) -> Result<(&str, Counts)> {
    let (compiler, lines) = record.split_once('\n').context("the file is empty")?;
    let counts = lines.lines().map(|line| {
        let (name, count) = line.split_once('\t').with_context(|| line.to_owned())?;
        Ok((name.to_owned(), count.parse().with_context(|| line.to_owned())?))
    });
    Ok((compiler, counts.collect::<Result<_>>()?))
}

/// Lists the operations whose counts have changed. The second result is false if one takes many
/// more instructions, is new, or is gone.
fn compare(recorded: &Counts, now: &Counts) -> (String, bool) {
    let of = |counts: &Counts, name: &String| {
        counts.iter().find(|(it, _)| it == name).map(|&(_, count)| count)
    };
    let is_gone = |(name, _): &&(String, f64)| of(now, name).is_none();
    let (mut text, mut failures) = (String::new(), 0);
    for (name, _) in now.iter().chain(recorded.iter().filter(is_gone)) {
        let (change, verdict) = match (of(recorded, name), of(now, name)) {
            (Some(before), Some(after)) => {
                let change = 100.0 * (after / before - 1.0);
                if change.abs() <= MIN_SHOWN {
                    continue;
                }
                let verdict = match change {
                    _ if change > MAX_CHANGE => "FAILED",
                    _ if change < -MAX_CHANGE => "faster",
                    _ => "",
                };
                (format!("{before:.1} -> {after:.1}, {change:+.1} %"), verdict)
            }
            (None, _) => ("is not in the record".to_owned(), "FAILED"),
            (_, None) => ("is only in the record".to_owned(), "FAILED"),
        };
        failures += usize::from(verdict == "FAILED");
        text += format!("{name}: {change} {verdict}").trim_end();
        text.push('\n');
    }
    if failures > 0 {
        text += &format!(
            "{failures} rose by more than {MAX_CHANGE} %, are new, or are gone. To accept the counts \
             of now: cargo xtask counts --record\n"
        );
    }
    (text, failures == 0)
}

/// Returns what a toolchain's `rustc -V` prints.
///
/// # Errors
/// If something that the counting needs is missing.
fn compiler(toolchain: &str) -> Result<String, String> {
    // Valgrind has AVX2 where the processor has.
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    let has_avx2 = std::arch::is_x86_feature_detected!("avx2");
    #[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
    let has_avx2 = false;
    if !has_avx2 {
        return Err("it needs Linux on an x86-64 processor with AVX2".to_owned());
    }
    crate::output(Command::new("valgrind").arg("--version")).ok_or("no valgrind found")?;
    let version = crate::output(Command::new("rustup").args(["run", toolchain, "rustc", "-V"]));
    let missing = || format!("no toolchain {toolchain} (rustup toolchain install {toolchain})");
    Ok(version.ok_or_else(missing)?.trim().to_owned())
}

/// Builds the program of `benches/counts/` and runs it. Returns the instructions per key of each
/// operation, in the order of the program.
fn count(root: &Path, toolchain: &str) -> Result<Counts> {
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
    use super::{compare, parse, total};

    #[test]
    fn only_more_instructions_and_other_operations_fail() {
        let record = "rustc 1.95.0 (59807616e 2026-04-14)\na: x\t100.0\nb\t50.0\nc\t8.0\n";
        let (compiler, recorded) = parse(record).unwrap();
        assert_eq!((compiler.split(' ').nth(1), recorded.len()), (Some("1.95.0"), 3));
        let now = |record| compare(&recorded, &parse(record).unwrap().1);
        assert_eq!(now("\na: x\t100.1\nb\t50.0\nc\t8.0"), (String::new(), true));
        let better = "a: x: 100.0 -> 102.9, +2.9 %\nb: 50.0 -> 40.0, -20.0 % faster\n";
        assert_eq!(now("\na: x\t102.9\nb\t40.0\nc\t8.0"), (better.to_owned(), true));
        let (text, passed) = now("\na: x\t103.1\nb\t50.0\nd\t7.0");
        let worse = "a: x: 100.0 -> 103.1, +3.1 % FAILED\nd: is not in the record FAILED\n\
                     c: is only in the record FAILED\n3 rose by more than 3 %";
        assert!(!passed && text.starts_with(worse), "{text}");
        assert!(parse("rustc\na 1.0\n").is_err());
    }

    #[test]
    fn totals_are_extracted() {
        assert_eq!(total("events: Ir\nfn=(1) a\n0 7\n\ntotals: 1234\n"), Some(1234.0));
        assert_eq!(total("totals: 0"), None);
    }
}
