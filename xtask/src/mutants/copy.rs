//! The instrumented copy of the repository, and its builds.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail};
use cargo_metadata::Message;

use crate::source::Source;

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

/// A layout of buckets that the models are built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Build {
    Plain,
    SemiSorted,
}

impl Build {
    pub(crate) const ALL: [Self; 2] = [Self::Plain, Self::SemiSorted];

    /// What follows the name of a model of this build.
    pub(crate) fn suffix(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::SemiSorted => ", semi-sorted",
        }
    }

    /// What cargo needs to be told.
    fn arguments(self) -> &'static [&'static str] {
        match self {
            Self::Plain => &[],
            Self::SemiSorted => &["--features", "semi-sorted"],
        }
    }
}

/// The test binary with the models of all files, each in a module of its name.
#[derive(Clone, Debug)]
pub(super) struct Binary {
    pub(super) build: Build,
    pub(super) path: PathBuf,
}

/// Writes a copy of the repository with these sources into a folder. Files that have not changed
/// keep their times, so that cargo builds only what is new.
pub(super) fn write(root: &Path, sources: &[Source], folder: &Path) -> Result<()> {
    let mut kept = BTreeSet::new();
    for source in sources {
        put(&folder.join(&source.path), source.text.as_bytes(), &mut kept)?;
    }
    let git = ["ls-files", "--cached", "--others", "--exclude-standard"];
    let listed = crate::output(Command::new("git").args(git).current_dir(root)).context("git")?;
    for name in listed.lines() {
        let (from, to) = (root.join(name), folder.join(name));
        if !kept.contains(&to) && from.is_file() {
            put(&to, &fs::read(from)?, &mut kept)?;
        }
    }
    delete_others(folder, &kept)
}

/// Builds the models for a layout.
pub(super) fn build(folder: &Path, build: Build) -> Result<Binary> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    cargo
        .args(["test", "--release", "--test", "models", "--no-run"])
        .arg("--message-format=json-render-diagnostics")
        .args(build.arguments())
        .current_dir(folder.join("loom-tests"))
        .env("CARGO_TARGET_DIR", folder.with_file_name("build"))
        .stdin(Stdio::null());
    for variable in UNSET {
        cargo.env_remove(variable);
    }
    let output = cargo.output().context("cargo")?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        bail!("the instrumented copy does not compile:\n{errors}");
    }
    for message in Message::parse_stream(&output.stdout[..]) {
        if let Message::CompilerArtifact(artifact) = message?
            && artifact.profile.test
            && let Some(executable) = artifact.executable
        {
            return Ok(Binary { build, path: executable.into() });
        }
    }
    bail!("cargo has built no test binary")
}

/// Writes a file, unless it has these contents already.
fn put(path: &Path, contents: &[u8], kept: &mut BTreeSet<PathBuf>) -> Result<()> {
    if fs::read(path).ok().as_deref() != Some(contents) {
        fs::create_dir_all(path.parent().context("a file is in a folder")?)?;
        fs::write(path, contents).with_context(|| path.display().to_string())?;
    }
    kept.insert(path.to_owned());
    Ok(())
}

/// Deletes the files of a folder that are not among these.
fn delete_others(folder: &Path, kept: &BTreeSet<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            delete_others(&path, kept)?;
        } else if !kept.contains(&path) {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}
