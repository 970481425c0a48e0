//! The models: listed from the test binaries, and run one at a time, each in a
//! process of its own, so that one that aborts or hangs is known by its name.

use std::{
    fs::{self, File},
    path::Path,
    process::{Command, ExitStatus, Stdio},
    sync::OnceLock,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};

use super::{
    Outcome,
    copy::{Binary, Build},
    switch::VARIABLE,
};
use crate::models::Declared;

/// Time that a model may take beyond ten times its usual.
const PATIENCE: Duration = Duration::from_secs(15);
/// Time that a run of a model may take whose usual time is unknown.
const FIRST_PATIENCE: Duration = Duration::from_mins(10);
/// Pause between two looks at a running model, at first; most end within a few.
const FIRST_POLL: Duration = Duration::from_millis(1);
/// The longest pause between two looks.
const LAST_POLL: Duration = Duration::from_millis(20);

/// A model of a test binary.
#[derive(Debug)]
pub(super) struct Model {
    binary: Binary,
    test: String,
    /// The name that it prints.
    pub(super) name: String,
    /// Whether a run on the library as it is ends after a second: where all models are explored
    /// elsewhere, it only tells that the copy with the mutants works.
    pub(super) is_brief: bool,
    baseline: OnceLock<Baseline>,
}

/// What a model does on the library as it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Baseline {
    pub(super) executions: u64,
    pub(super) took: Duration,
}

/// How the run of a test ended.
enum Ending {
    /// With what it printed.
    Passed(String),
    Failed(String),
    TimedOut,
}

/// All models of a binary.
pub(super) fn list(binary: &Binary, declared: &[Declared]) -> Result<Vec<Model>> {
    let output = Command::new(&binary.path).args(["--list", "--format=terse"]).output()?;
    ensure!(output.status.success(), "{} --list failed", binary.path.display());
    let mut models = Vec::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let Some(test) = line.strip_suffix(": test") else { continue };
        let is_it = |model: &&Declared| format!("{}::{}", model.target, model.test) == test;
        let name = declared.iter().find(is_it).map(|model| model.name.clone());
        let name = name.with_context(|| format!("the source of {test} is gone"))?;
        let (binary, test) = (binary.clone(), test.to_owned());
        let baseline = OnceLock::new();
        models.push(Model { binary, test, name, is_brief: false, baseline });
    }
    Ok(models)
}

impl Model {
    /// The name with the build.
    pub(super) fn full_name(&self) -> String {
        format!("{}{}", self.name, self.build().suffix())
    }

    pub(super) fn build(&self) -> Build {
        self.binary.build
    }

    /// What was found out by [`check`](Self::check), if it has been called.
    pub(super) fn baseline(&self) -> Option<Baseline> {
        self.baseline.get().copied()
    }

    /// Runs the model on the library as it is, once; it must pass.
    pub(super) fn check(&self, log: &Path) -> Result<Baseline> {
        if let Some(baseline) = self.baseline() {
            return Ok(baseline);
        }
        let name = self.full_name();
        let started = Instant::now();
        let printed = match self.run(0, FIRST_PATIENCE, log)? {
            Ending::Passed(printed) => printed,
            Ending::Failed(message) => bail!("{name} fails on the library as it is: {message}"),
            Ending::TimedOut => bail!("{name} takes more than ten minutes"),
        };
        let took = started.elapsed();
        let (printed_name, executions) =
            summary(&printed).with_context(|| format!("{name} prints no line about a model"))?;
        ensure!(printed_name == self.name, "{name} calls itself {printed_name}");
        Ok(*self.baseline.get_or_init(|| Baseline { executions, took }))
    }

    /// Runs the model on a mutant, with more patience if the mutant should not make it hang.
    pub(super) fn examine(&self, mutant: usize, may_hang: bool, log: &Path) -> Result<Outcome> {
        let usual = self.check(log)?.took;
        let limit = if self.is_brief && !may_hang { FIRST_PATIENCE } else { PATIENCE + 10 * usual };
        let model = self.name.clone();
        Ok(match self.run(mutant, limit, log)? {
            Ending::Passed(_) => Outcome::Survived,
            Ending::Failed(message) => Outcome::Killed { model, message },
            Ending::TimedOut => Outcome::TimedOut { model },
        })
    }

    /// Runs the test with a mutant selected for as long as the limit allows.
    fn run(&self, mutant: usize, limit: Duration, log: &Path) -> Result<Ending> {
        let file = File::create(log)?;
        let mut command = Command::new(&self.binary.path);
        if self.is_brief && mutant == 0 {
            command.env("LOOM_MAX_DURATION", "1");
        }
        let mut child = command
            .args([&self.test, "--exact", "--include-ignored", "--test-threads=1", "--nocapture"])
            .env("GUIRA_LOOM_ASSERTIONS_ONLY", "1")
            // The stacks of loom's threads are too small for a backtrace.
            .env("RUST_BACKTRACE", "0")
            .env(VARIABLE, mutant.to_string())
            .stdin(Stdio::null())
            .stdout(file.try_clone()?)
            .stderr(file)
            .spawn()?;
        let started = Instant::now();
        let mut pause = FIRST_POLL;
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break status;
            }
            if started.elapsed() > limit {
                child.kill()?;
                child.wait()?;
                return Ok(Ending::TimedOut);
            }
            thread::sleep(pause);
            pause = (2 * pause).min(LAST_POLL);
        };
        Ok(ending(status, String::from_utf8_lossy(&fs::read(log)?).into_owned()))
    }
}

/// What a process that ran one test has to say.
fn ending(status: ExitStatus, log: String) -> Ending {
    if !status.success() {
        return Ending::Failed(panic_message(&log).unwrap_or_else(|| status.to_string()));
    }
    Ending::Passed(log)
}

/// The first line of the first panic's message.
fn panic_message(log: &str) -> Option<String> {
    let mut lines = log.lines().skip_while(|line| !line.contains(" panicked at "));
    let line = lines.nth(1)?.trim();
    Some(line.to_owned())
}

/// The name and the number of executions in the line that a model prints.
fn summary(log: &str) -> Option<(String, u64)> {
    let line = log.lines().find_map(|line| {
        let (_, model) = line.split_once("model ")?;
        model.contains(" executions, bound ").then_some(model)
    })?;
    let (name, rest) = line.split_once(": ")?;
    let (executions, _) = rest.split_once(' ')?;
    Some((name.to_owned(), executions.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_panic_speaks() {
        let log = "running 1 test\n\nthread 'a' (7) panicked at src/lib.rs:1:2:\nmissed\nnote: x\n\
                   thread 'a' panicked at src/lib.rs:1:2:\nagain\n";
        assert_eq!(panic_message(log).as_deref(), Some("missed"));
        assert_eq!(panic_message("test a ... ok"), None);
    }

    #[test]
    fn a_model_says_what_it_explored() {
        let log = "running 1 test\ntest a ... model lookup_move: 1042 executions, bound 2; 0.2 s; \
                   seen: after, before\nok\n";
        assert_eq!(summary(log), Some(("lookup_move".to_owned(), 1042)));
        assert_eq!(summary("a model passes\n"), None);
    }
}
