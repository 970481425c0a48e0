//! A worker: a copy of the repository with a build folder of its own, where mutants are planted.

use std::{
    cmp::Reverse,
    collections::BTreeMap,
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result};
use cargo_metadata::Message;

use super::{
    Mutant, Outcome,
    models::{Binary, Suite, Target},
};

/// What no copy needs.
const LEFT_OUT: [&str; 3] = [".git", "target", "fuzz"];
/// Variables that would change what the models are built with or how far they explore.
const UNSET: [&str; 9] = [
    "RUSTFLAGS",
    "CARGO_ENCODED_RUSTFLAGS",
    "CARGO_BUILD_RUSTFLAGS",
    "CARGO_BUILD_TARGET",
    "GUIRA_LOOM_BOUND",
    "LOOM_MAX_PREEMPTIONS",
    "LOOM_MAX_BRANCHES",
    "LOOM_MAX_DURATION",
    "LOOM_MAX_PERMUTATIONS",
];

/// A copy of the repository, and where it is built.
#[derive(Debug)]
pub(super) struct Worker {
    number: usize,
    tree: PathBuf,
    target: PathBuf,
}

impl Worker {
    /// Copies the repository, or the copy of another worker, to a folder of this worker's own. What
    /// an earlier run built of other crates stays.
    pub(super) fn new(original: &Path, folder: &Path, number: usize) -> Result<Self> {
        let folder = folder.join(format!("worker-{number}"));
        let worker = Self { number, tree: folder.join("tree"), target: folder.join("target") };
        if worker.tree.exists() {
            fs::remove_dir_all(&worker.tree)?;
        }
        copy(original, &worker.tree)?;
        Ok(worker)
    }

    /// The copy of the repository.
    pub(super) fn tree(&self) -> &Path {
        &self.tree
    }

    /// Which worker this is, from 0.
    pub(super) fn number(&self) -> usize {
        self.number
    }

    /// Builds all test binaries, or just one; the inner error is the compiler's.
    pub(super) fn build(&self, only: Option<&Target>) -> Result<Result<Vec<Binary>, String>> {
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
        cargo
            .args(["test", "--release", "--no-run", "--message-format=json-render-diagnostics"])
            .args(only.map(Target::selection).unwrap_or_default())
            .current_dir(self.tree.join("loom-tests"))
            .env("CARGO_TARGET_DIR", &self.target)
            .stdin(Stdio::null());
        for variable in UNSET {
            cargo.env_remove(variable);
        }
        let output = cargo.output().context("cargo")?;
        if !output.status.success() {
            return Ok(Err(String::from_utf8_lossy(&output.stderr).into_owned()));
        }
        binaries(&output.stdout).map(Ok)
    }

    /// Plants a mutant, runs the models until one fails, and heals the copy again.
    pub(super) fn run(&self, mutant: &Mutant, suites: &[Suite]) -> Result<Outcome> {
        let healthy = self.plant(mutant)?;
        let outcome = self.examine(mutant, suites)?;
        for (path, text) in healthy {
            fs::write(path, text)?;
        }
        Ok(outcome)
    }

    /// Builds and runs one test binary after another until a model fails.
    fn examine(&self, mutant: &Mutant, suites: &[Suite]) -> Result<Outcome> {
        let mut worst = Outcome::Survived;
        for suite in suites {
            let outcome = match self.build(Some(&suite.target))? {
                Err(errors) => Outcome::DoesNotCompile { errors },
                Ok(binaries) => suite.run(&binaries, mutant.may_hang)?,
            };
            worst = worst.or(outcome);
            if worst.is_final() {
                break;
            }
        }
        Ok(worst)
    }

    /// Makes the edits of a mutant, and returns the files as they were.
    fn plant(&self, mutant: &Mutant) -> Result<BTreeMap<PathBuf, String>> {
        let mut edits: Vec<_> = mutant.edits.iter().collect();
        // The last ones first, so that the places of the others stay right.
        edits.sort_by_key(|edit| Reverse(edit.range.start));
        let mut healthy = BTreeMap::new();
        for edit in edits {
            let path = self.tree.join(&edit.path);
            let text = fs::read_to_string(&path)?;
            fs::write(&path, edit.applied_to(&text))?;
            healthy.entry(path).or_insert(text);
        }
        Ok(healthy)
    }
}

/// The test binaries that cargo's messages tell of.
fn binaries(messages: &[u8]) -> Result<Vec<Binary>> {
    let mut binaries = Vec::new();
    for message in Message::parse_stream(messages) {
        if let Message::CompilerArtifact(artifact) = message?
            && artifact.profile.test
            && let Some(executable) = artifact.executable
        {
            let target = Target { is_lib: !artifact.target.is_test(), name: artifact.target.name };
            binaries.push(Binary { target, path: executable.into() });
        }
    }
    Ok(binaries)
}

/// Copies a folder and all in it but what no copy needs.
fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let name = entry.file_name();
        let to = to.join(&name);
        if LEFT_OUT.iter().any(|left_out| OsStr::new(left_out) == name) {
            continue;
        }
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &to)?;
        } else {
            fs::copy(entry.path(), to)?;
        }
    }
    Ok(())
}
