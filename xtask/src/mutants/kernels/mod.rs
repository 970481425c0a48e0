//! `cargo xtask kernel-mutants`: is there a test for every step of the batch lookups in vector
//! registers?
//!
//! Loom does not run vector instructions, so these mutants are run by tests with real threads: the
//! unit tests of the kernels and the tests `kernels`. Each mutant of the [list](list) is an
//! expression of the source in the place of another one. One copy of the library has all of them,
//! and a variable of the environment selects one at run time. The steps that both kernels share are
//! mutated in one kernel at a time. Every mutant must make a test fail.

mod growing;
mod list;
mod steps;

use std::{
    collections::BTreeMap,
    fmt::Write,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use cargo_metadata::Message;
use clap::Args;

use super::{Runner, copy, lock, switch::VARIABLE};
use crate::source::{self, Source};
use list::{FILES, Replacement};

/// The steps that both kernels share: generic code, whose parameter `V` is the kernel's vector.
const SHARED: [&str; 3] =
    ["src/table/kernels/mixing.rs", "src/table/kernels/fixed.rs", "src/table/kernels/ways.rs"];
/// The kernels, by the number of lanes of their vectors.
const KERNELS: [&str; 2] = ["avx2", "avx512"];
/// The number of lanes of the first one.
const LANES: usize = 4;
/// The unit tests that are run.
const UNIT_TESTS: &str = "table::kernels::";
/// Time after which a test counts as failed.
const PATIENCE: Duration = Duration::from_mins(2);

/// How often all tests run on a mutant that none of them notices.
const ROUNDS: usize = 3;

/// What can be asked of the command.
#[derive(Args, Debug)]
pub(crate) struct Options {
    /// Only the mutants whose name contains this; may be given several times.
    #[arg(long, value_name = "SUBSTRING")]
    only: Vec<String>,
    /// How many to run at once; as many as there are processors without this.
    #[arg(long)]
    jobs: Option<usize>,
}

/// A test of a binary, and the time that it takes without a mutant.
struct Test {
    binary: PathBuf,
    name: String,
    took: Duration,
}

/// Fails if the code of one of the mutants is no longer there.
pub(crate) fn check(root: &Path) -> Result<()> {
    instrument(&source::read(root, "src")?).map(drop)
}

/// Runs the command; `false` when a mutant survived.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let started = Instant::now();
    let root = crate::root();
    let (names, sources) = instrument(&source::read(&root, "src")?)?;
    let folder = root.join("target/kernel-mutants");
    let _alone = lock(&folder)?;
    let tree = folder.join("tree");
    copy::write(&root, &sources, &tree)?;
    let mut tests = tests(&build(&tree)?)?;
    for test in &mut tests {
        let started = Instant::now();
        ensure!(!test.fails(0)?, "{} fails without a mutant", test.name);
        test.took = started.elapsed();
    }
    // The unit tests last: they wait for what does not happen.
    tests.sort_by_key(|test| (test.name.starts_with(UNIT_TESTS), test.took));
    eprintln!("{} tests, ready after {:.0?}", tests.len(), started.elapsed());
    let is_chosen =
        |name: &str| options.only.is_empty() || options.only.iter().any(|part| name.contains(part));
    let chosen = (1..).zip(&names).filter(|(_, name)| is_chosen(name));
    let (able, unable): (Vec<_>, Vec<_>) = chosen.partition(|(_, name)| can_run(name));
    for (_, name) in unable {
        println!("skipped   {name}: the processor lacks the instructions");
    }
    ensure!(!able.is_empty(), "no mutant's name contains {:?}, or none can run here", options.only);
    // The mutants of one step, one for each kernel, by the same thread.
    let count = able.len();
    let steps: Vec<&[_]> =
        able.chunk_by(|(_, one), (_, other)| step_of(one) == step_of(other)).collect();
    let runner = Runner { jobs: super::jobs(options.jobs), folder };
    let survivors = runner.on_all(steps, |mutants, _| survivors(&tests, mutants))?.concat();
    let killed = count - survivors.len();
    println!("{killed} of {count} mutants killed in {:.0?}", started.elapsed());
    if !survivors.is_empty() {
        println!("survived: {}", survivors.join("; "));
    }
    Ok(survivors.is_empty())
}

/// The name of a mutant without the kernel.
fn step_of(name: &str) -> &str {
    let of = |kernel| name.strip_suffix(kernel)?.strip_suffix(" in ");
    KERNELS.into_iter().find_map(of).unwrap_or(name)
}

/// Those of these mutants of one step that no test notices. The test that notices one of them is
/// the first to run on the next one.
fn survivors<'a>(tests: &[Test], mutants: &[(usize, &'a String)]) -> Result<Vec<&'a str>> {
    let mut tests: Vec<&Test> = tests.iter().collect();
    let mut survivors = vec![];
    for &(number, name) in mutants {
        let mut killer = None;
        // Threads interleave differently each time, and hardly at all on a busy machine.
        for place in (0..ROUNDS).flat_map(|_| 0..tests.len()) {
            if tests[place].fails(number)? {
                killer = Some(place);
                break;
            }
        }
        if let Some(killer) = killer {
            tests[..=killer].rotate_right(1);
            println!("killed    {name}: {}", tests[0].name);
        } else {
            println!("SURVIVED  {name}");
            survivors.push(name.as_str());
        }
    }
    Ok(survivors)
}

/// Whether the processor has the instructions that a mutant is about.
fn can_run(name: &str) -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        use std::is_x86_feature_detected as has;
        let is_of_avx512 = name.ends_with(KERNELS[1]) || name.starts_with("AVX-512");
        has!("avx2") && (!is_of_avx512 || has!("avx512f") && has!("avx512dq"))
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = name;
        false
    }
}

/// The names of the mutants, in the order of their numbers from 1, and the sources with all of
/// them.
fn instrument(sources: &[Source]) -> Result<(Vec<String>, Vec<Source>)> {
    let mut names = vec![];
    let mut sources = sources.to_vec();
    for (path, replacements) in FILES {
        let source = sources.iter_mut().find(|source| source.path == *path);
        let source = source.with_context(|| format!("{path} is missing"))?;
        // By the code that they replace, since several may replace the same.
        let mut changes: BTreeMap<&str, String> = BTreeMap::new();
        for Replacement { name, old, new } in *replacements {
            let number = names.len() + 1;
            let condition = if SHARED.contains(path) {
                names.extend(KERNELS.map(|kernel| format!("{name} in {kernel}")));
                format!("{number} + (V::LANES > {LANES}) as usize")
            } else {
                names.push((*name).to_owned());
                number.to_string()
            };
            let change = changes.entry(old).or_default();
            write!(change, "if crate::kernel_mutants::on({condition}) {{ {new} }} else ")?;
        }
        for (old, change) in changes {
            ensure!(source.text.contains(old), "{path} does not contain `{old}`");
            source.text = source.text.replace(old, &format!("({change}{{ {old} }})"));
        }
    }
    let library = sources.iter_mut().find(|source| source.path == "src/lib.rs");
    let library = library.context("a library")?;
    library.text = format!("#![allow(warnings)]\n{}\nmod kernel_mutants;\n", library.text);
    let text = SWITCH.replace("VARIABLE", VARIABLE);
    sources.push(Source { path: "src/kernel_mutants.rs".to_owned(), text });
    Ok((names, sources))
}

/// The module that the instrumented copy gets.
const SWITCH: &str = r#"
use std::sync::OnceLock;

/// Whether a mutant is on.
#[inline]
pub(crate) fn on(number: usize) -> bool {
    static SELECTED: OnceLock<usize> = OnceLock::new();
    let selected = || std::env::var("VARIABLE").map_or(0, |number| number.parse().unwrap());
    *SELECTED.get_or_init(selected) == number
}
"#;

/// Builds the tests of the copy, in a target folder of its own: cargo takes packages of the same
/// name in different folders for the same one.
fn build(tree: &Path) -> Result<Vec<PathBuf>> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    cargo
        .args(["test", "--release", "--lib", "--test", "kernels"])
        .args(["--no-run", "--message-format=json-render-diagnostics"])
        .current_dir(tree)
        .env("CARGO_TARGET_DIR", tree.with_file_name("build"))
        .env_remove("RUSTFLAGS")
        .stdin(Stdio::null())
        .stderr(Stdio::inherit());
    let output = cargo.output().context("cargo")?;
    ensure!(output.status.success(), "the instrumented copy does not compile");
    let mut binaries = Vec::new();
    for message in Message::parse_stream(&output.stdout[..]) {
        if let Message::CompilerArtifact(artifact) = message?
            && let Some(executable) = artifact.executable
        {
            binaries.push(executable.into());
        }
    }
    Ok(binaries)
}

/// The tests of these binaries.
fn tests(binaries: &[PathBuf]) -> Result<Vec<Test>> {
    let mut tests = Vec::new();
    for binary in binaries {
        let output = Command::new(binary).arg("--list").output()?;
        let listed = String::from_utf8(output.stdout)?;
        let names = listed.lines().filter_map(|line| line.strip_suffix(": test"));
        let names: Vec<&str> = names.collect();
        let has_units = names.iter().any(|name| name.starts_with(UNIT_TESTS));
        for name in names {
            if !has_units || name.starts_with(UNIT_TESTS) {
                let (binary, name) = (binary.clone(), name.to_owned());
                tests.push(Test { binary, name, took: Duration::ZERO });
            }
        }
    }
    ensure!(tests.len() > 3, "there are no tests of kernels");
    Ok(tests)
}

impl Test {
    /// Whether the test fails with a mutant, or does not come to an end.
    fn fails(&self, number: usize) -> Result<bool> {
        let mut command = Command::new(&self.binary);
        command.args(["--exact", &self.name]).env(VARIABLE, number.to_string());
        command.env_remove("GUIRA_KERNEL").env("RUST_BACKTRACE", "0");
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = child.spawn().with_context(|| self.binary.display().to_string())?;
        let status = wait(&mut child)?;
        Ok(status != Some(0))
    }
}

/// Waits for a process, and ends it when time is out. Returns its exit code, if it has one.
fn wait(child: &mut Child) -> Result<Option<i32>> {
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status.code());
        }
        if started.elapsed() > PATIENCE {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(5));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    #[test]
    fn every_kernel_mutant_fits_the_source() {
        let sources = crate::source::read(&crate::root(), "src").unwrap();
        let (names, _) = super::instrument(&sources).unwrap();
        assert!(names.len() > 60);
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
    }
}
