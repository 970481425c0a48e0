//! The models: listed from the test binaries of `loom-tests/`, and run one at a time, each in a
//! process of its own, so that one that aborts or hangs is known by its name.

use std::{
    fs::{self, File},
    path::Path,
    process::{Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};

use super::{
    Outcome,
    copy::{Binary, Build},
    switch::VARIABLE,
};

/// Time that a model may take beyond ten times its usual.
const PATIENCE: Duration = Duration::from_secs(30);
/// Time that the first run of a model may take.
const FIRST_PATIENCE: Duration = Duration::from_mins(10);
/// Pause between two looks at a running model, at first; most end within a few.
const FIRST_POLL: Duration = Duration::from_millis(1);
/// The longest pause between two looks.
const LAST_POLL: Duration = Duration::from_millis(20);

/// A test of a test binary.
#[derive(Clone, Debug)]
pub(super) struct Test {
    binary: Binary,
    test: String,
}

/// A test that passes on the library as it is.
#[derive(Debug)]
pub(super) struct Model {
    test: Test,
    /// The name that it prints.
    pub(super) name: String,
    pub(super) executions: u64,
    pub(super) usual: Duration,
}

/// How the run of a test ended.
enum Ending {
    /// With what it printed.
    Passed(String),
    /// It is marked `#[ignore]`.
    Ignored,
    Failed(String),
    TimedOut,
}

/// All tests of these binaries.
pub(super) fn list(binaries: &[Binary]) -> Result<Vec<Test>> {
    let mut tests = Vec::new();
    for binary in binaries {
        let output = Command::new(&binary.path).args(["--list", "--format=terse"]).output()?;
        ensure!(output.status.success(), "{} --list failed", binary.path.display());
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            if let Some(test) = line.strip_suffix(": test") {
                tests.push(Test { binary: binary.clone(), test: test.to_owned() });
            }
        }
    }
    Ok(tests)
}

impl Test {
    /// A name for people.
    fn name(&self) -> String {
        let Binary { build, target, .. } = &self.binary;
        format!("{target}::{}{}", self.test, build.suffix())
    }

    /// Whether it is the test of this target and name.
    pub(super) fn is(&self, target: &str, test: &str) -> bool {
        self.binary.target == target && self.test == test
    }

    /// Runs the test on the library as it is; `None` if it is not for running.
    pub(super) fn into_model(self, log: &Path) -> Result<Option<Model>> {
        let started = Instant::now();
        let printed = match self.run(0, FIRST_PATIENCE, log)? {
            Ending::Passed(printed) => printed,
            Ending::Ignored => return Ok(None),
            Ending::Failed(message) => {
                bail!("{} fails on the library as it is: {message}", self.name())
            }
            Ending::TimedOut => bail!("{} takes more than ten minutes", self.name()),
        };
        let usual = started.elapsed();
        let (name, executions) = summary(&printed)
            .with_context(|| format!("{} prints no line about a model", self.name()))?;
        Ok(Some(Model { test: self, name, executions, usual }))
    }

    /// Runs the test with a mutant selected for as long as the limit allows.
    fn run(&self, mutant: usize, limit: Duration, log: &Path) -> Result<Ending> {
        let file = File::create(log)?;
        let mut child = Command::new(&self.binary.path)
            .args([&self.test, "--exact", "--test-threads=1", "--nocapture"])
            .env("GUIRA_LOOM_ASSERTIONS_ONLY", "1")
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

impl Model {
    /// The name with the build.
    pub(super) fn full_name(&self) -> String {
        format!("{}{}", self.name, self.build().suffix())
    }

    pub(super) fn build(&self) -> Build {
        self.test.binary.build
    }

    /// Runs the model on a mutant.
    pub(super) fn examine(&self, mutant: usize, log: &Path) -> Result<Outcome> {
        let model = self.full_name();
        Ok(match self.test.run(mutant, PATIENCE + 10 * self.usual, log)? {
            Ending::Passed(_) | Ending::Ignored => Outcome::Survived,
            Ending::Failed(message) => Outcome::Killed { model, message },
            Ending::TimedOut => Outcome::TimedOut { model },
        })
    }
}

/// What a process that ran one test has to say.
fn ending(status: ExitStatus, log: String) -> Ending {
    if !status.success() {
        return Ending::Failed(panic_message(&log).unwrap_or_else(|| status.to_string()));
    }
    if log.contains("test result: ok. 1 passed") { Ending::Passed(log) } else { Ending::Ignored }
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
