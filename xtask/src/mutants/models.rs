//! The models: listed from the test binaries of `loom-tests/`, and run one at a time, each in a
//! process of its own, so that one that aborts or hangs is known by its name.

use std::{
    fs::File,
    path::PathBuf,
    process::{Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};

use super::Outcome;

/// How long a model may take beyond ten times its usual.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long the first run of a model may take.
const FIRST_PATIENCE: Duration = Duration::from_mins(10);
/// How often a running model is looked at.
const POLL: Duration = Duration::from_millis(10);
/// A test binary of `loom-tests/`, as cargo knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) name: String,
    pub(super) is_lib: bool,
}

/// A test binary as it was built.
#[derive(Debug)]
pub(super) struct Binary {
    pub(super) target: Target,
    pub(super) path: PathBuf,
}

/// A test of a test binary.
#[derive(Debug)]
pub(super) struct Model {
    target: Target,
    test: String,
    usual: Duration,
}

/// The models of one test binary, the quickest first.
#[derive(Debug)]
pub(super) struct Suite {
    pub(super) target: Target,
    models: Vec<Model>,
}

/// How the run of a model ended.
enum Ending {
    Passed,
    /// It is marked `#[ignore]`.
    Ignored,
    Failed(String),
    TimedOut,
}

/// All tests of these binaries.
pub(super) fn list(binaries: &[Binary]) -> Result<Vec<Model>> {
    let mut models = Vec::new();
    for Binary { target, path } in binaries {
        let output = Command::new(path).args(["--list", "--format=terse"]).output()?;
        ensure!(output.status.success(), "{} --list failed", path.display());
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            if let Some(test) = line.strip_suffix(": test") {
                let (target, test) = (target.clone(), test.to_owned());
                models.push(Model { target, test, usual: Duration::ZERO });
            }
        }
    }
    Ok(models)
}

/// Sorts models by their binaries, the quickest binary first.
pub(super) fn suites(models: Vec<Model>) -> Vec<Suite> {
    let mut suites: Vec<Suite> = Vec::new();
    for model in models {
        match suites.iter_mut().find(|suite| suite.target == model.target) {
            Some(suite) => suite.models.push(model),
            None => suites.push(Suite { target: model.target.clone(), models: vec![model] }),
        }
    }
    for suite in &mut suites {
        suite.models.sort_by_key(|model| model.usual);
    }
    suites.sort_by_key(Suite::usual);
    suites
}

impl Target {
    /// What tells cargo to build this binary and no other.
    pub(super) fn selection(&self) -> Vec<&str> {
        if self.is_lib { vec!["--lib"] } else { vec!["--test", &self.name] }
    }
}

impl Suite {
    /// How many models there are.
    pub(super) fn len(&self) -> usize {
        self.models.len()
    }

    /// How long all of them take on the library as it is.
    pub(super) fn usual(&self) -> Duration {
        self.models.iter().map(|model| model.usual).sum()
    }

    /// Runs the models on a mutant until one fails for a reason that points at the fault.
    ///
    /// Where the mutant `may_hang`, not ending is such a reason.
    pub(super) fn run(&self, binaries: &[Binary], may_hang: bool) -> Result<Outcome> {
        let mut worst = Outcome::Survived;
        for model in &self.models {
            let ending = model.run(binaries, PATIENCE + 10 * model.usual)?;
            worst = worst.or(outcome(model.name(), ending, may_hang));
            if worst.is_final() {
                break;
            }
        }
        Ok(worst)
    }
}

/// What the ending of a model says of a mutant.
fn outcome(model: String, ending: Ending, may_hang: bool) -> Outcome {
    match ending {
        Ending::Passed | Ending::Ignored => Outcome::Survived,
        Ending::Failed(message) => Outcome::Killed { model, message },
        Ending::TimedOut if may_hang => {
            Outcome::Killed { model, message: "did not come to an end".to_owned() }
        }
        Ending::TimedOut => Outcome::TimedOut { model },
    }
}

impl Model {
    /// The binary's and the test's name.
    pub(super) fn name(&self) -> String {
        format!("{}::{}", self.target.name, self.test)
    }

    /// Runs the model on the library as it is and takes its time; `None` if it is not for running.
    pub(super) fn timed(self, binaries: &[Binary]) -> Result<Option<Self>> {
        let started = Instant::now();
        match self.run(binaries, FIRST_PATIENCE)? {
            Ending::Passed => Ok(Some(Self { usual: started.elapsed(), ..self })),
            Ending::Ignored => Ok(None),
            Ending::Failed(message) => {
                bail!("{} fails on the library as it is: {message}", self.name())
            }
            Ending::TimedOut => bail!("{} takes more than ten minutes", self.name()),
        }
    }

    /// Runs the model for as long as the limit allows.
    fn run(&self, binaries: &[Binary], limit: Duration) -> Result<Ending> {
        let binary = binaries
            .iter()
            .find(|binary| binary.target == self.target)
            .with_context(|| format!("the binary of {} is gone", self.name()))?;
        let log = binary.path.with_extension("log");
        let file = File::create(&log)?;
        let mut child = Command::new(&binary.path)
            .args([&self.test, "--exact", "--test-threads=1", "--nocapture"])
            .env("GUIRA_LOOM_ASSERTIONS_ONLY", "1")
            .stdin(Stdio::null())
            .stdout(file.try_clone()?)
            .stderr(file)
            .spawn()?;
        let started = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break status;
            }
            if started.elapsed() > limit {
                child.kill()?;
                child.wait()?;
                return Ok(Ending::TimedOut);
            }
            thread::sleep(POLL);
        };
        Ok(ending(status, &String::from_utf8_lossy(&std::fs::read(&log)?)))
    }
}

/// What a process that ran one test has to say.
fn ending(status: ExitStatus, log: &str) -> Ending {
    if !status.success() {
        return Ending::Failed(panic_message(log).unwrap_or_else(|| status.to_string()));
    }
    if log.contains("test result: ok. 1 passed") { Ending::Passed } else { Ending::Ignored }
}

/// The first line of the first panic's message.
fn panic_message(log: &str) -> Option<String> {
    let mut lines = log.lines().skip_while(|line| !line.contains(" panicked at "));
    let line = lines.nth(1)?.trim();
    Some(line.to_owned())
}

#[cfg(test)]
mod tests {
    use super::panic_message;

    #[test]
    fn the_first_panic_speaks() {
        let log = "running 1 test\n\nthread 'a' (7) panicked at src/lib.rs:1:2:\nmissed\nnote: x\n\
                   thread 'a' panicked at src/lib.rs:1:2:\nagain\n";
        assert_eq!(panic_message(log).as_deref(), Some("missed"));
        assert_eq!(panic_message("test a ... ok"), None);
    }
}
