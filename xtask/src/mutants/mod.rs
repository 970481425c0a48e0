//! `cargo xtask ordering-mutants`: is there a model for every ordering and every step of the protocol?
//!
//! Each mutant is the library with one fault planted: an ordering weakened ([`sites`]) or a step of
//! the protocol left out or misplaced ([`structural`]). The loom models of `loom-tests/` run against
//! each, in copies of the repository under `target/mutants` ([`work`], [`models`]); one of them must
//! fail, by an assertion of its own: how much it explored and what it saw does not count here. A mutant
//! that survives fails the command, unless it is a weakened ordering on a line that ends in
//! `// mutant-ok:` and a reason.

mod models;
mod report;
mod sites;
mod structural;
mod work;

use std::{
    fs::{self, File},
    iter,
    ops::Range,
    path::Path,
    sync::Mutex,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, anyhow, ensure};
use clap::Args;

use models::Suite;
use work::Worker;

/// What can be asked of the command.
#[derive(Args, Debug)]
pub(crate) struct Options {
    /// Only the mutants whose place or name contains this; may be given several times.
    #[arg(long, value_name = "SUBSTRING")]
    only: Vec<String>,
    /// List the mutants, and check that the structural ones fit the source, but run none.
    #[arg(long)]
    list: bool,
    /// How many to run at once; as many as there are processors without this.
    #[arg(long)]
    jobs: Option<usize>,
}

/// A file of the library.
#[derive(Debug)]
struct Source {
    /// From the root of the repository, with slashes.
    path: String,
    text: String,
}

/// Text to be put in the place of some other in a file.
#[derive(Clone, Debug)]
struct Edit {
    path: String,
    range: Range<usize>,
    new: String,
}

impl Edit {
    /// The text with this edit made.
    fn applied_to(&self, text: &str) -> String {
        [&text[..self.range.start], &self.new, &text[self.range.end..]].concat()
    }
}

/// The library with a fault.
#[derive(Clone, Debug)]
struct Mutant {
    /// Where the fault is.
    place: String,
    /// What it is.
    name: String,
    /// No two of one file overlap.
    edits: Vec<Edit>,
    /// Whether running out of time counts as noticing it.
    may_hang: bool,
    /// Why it may survive.
    explanation: Option<String>,
}

impl Mutant {
    /// Whether its place or name contains one of these, or there are none.
    fn is_among(&self, only: &[String]) -> bool {
        let fits = |part: &String| self.place.contains(part) || self.name.contains(part);
        only.is_empty() || only.iter().any(fits)
    }
}

/// What became of a mutant.
#[derive(Debug)]
enum Outcome {
    Survived,
    /// No model failed, but this one did not come to an end.
    TimedOut {
        model: String,
    },
    /// A model failed, with this message.
    Killed {
        model: String,
        message: String,
    },
    DoesNotCompile {
        errors: String,
    },
}

impl Outcome {
    /// Of two outcomes of one mutant the one that says more.
    fn or(self, other: Self) -> Self {
        if other.weight() > self.weight() { other } else { self }
    }

    /// Whether no other model could say more.
    fn is_final(&self) -> bool {
        self.weight() >= 2
    }

    /// How much it says.
    fn weight(&self) -> u8 {
        match self {
            Self::Survived => 0,
            Self::TimedOut { .. } => 1,
            Self::Killed { .. } => 2,
            Self::DoesNotCompile { .. } => 3,
        }
    }
}

/// A mutant that has been run.
#[derive(Debug)]
struct Run {
    mutant: Mutant,
    outcome: Outcome,
    took: Duration,
}

/// Runs the command; `false` when a mutant survived or did not compile.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let started = Instant::now();
    let root = crate::root();
    if options.list {
        report::list(&mutants(&root, &options.only)?);
        return Ok(true);
    }
    let folder = root.join("target/mutants");
    let _alone = lock(&folder)?;
    let workers = workers(&root, &folder, options.jobs)?;
    // Of the copy, since the original may be under someone's hands.
    let mutants = mutants(workers[0].tree(), &options.only)?;
    let suites = baseline(&workers)?;
    report::baseline(&suites, started.elapsed());
    let runs = run_all(mutants, &workers, &suites)?;
    Ok(report::verdict(&runs, started.elapsed()))
}

/// Keeps the folder to this run until the file is closed: two would plant their mutants in the same
/// copies.
fn lock(folder: &Path) -> Result<File> {
    fs::create_dir_all(folder)?;
    let path = folder.join("lock");
    let file = File::create(&path)?;
    file.try_lock().with_context(|| format!("another run holds {}", path.display()))?;
    Ok(file)
}

/// As many workers as asked for, each with a copy of the repository.
fn workers(root: &Path, folder: &Path, jobs: Option<usize>) -> Result<Vec<Worker>> {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let first = Worker::new(root, folder, 0)?;
    let others = (1..jobs.unwrap_or(processors))
        .map(|number| Worker::new(first.tree(), folder, number))
        .collect::<Result<Vec<_>>>()?;
    Ok([first].into_iter().chain(others).collect())
}

/// All mutants of the source as it is that the user asked for.
fn mutants(root: &Path, only: &[String]) -> Result<Vec<Mutant>> {
    let sources = sources(root)?;
    let mut mutants = Vec::new();
    for source in &sources {
        mutants.append(&mut sites::mutants(source).context(source.path.clone())?);
    }
    mutants.append(&mut structural::mutants(&sources)?);
    mutants.retain(|mutant| mutant.is_among(only));
    ensure!(!mutants.is_empty(), "no mutant's place or name contains {only:?}");
    Ok(mutants)
}

/// The files of the library, in the order of their paths.
fn sources(root: &Path) -> Result<Vec<Source>> {
    let mut folders = vec!["src".to_owned()];
    let mut sources = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root.join(&folder)).with_context(|| folder.clone())? {
            let entry = entry?;
            let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
            if entry.file_type()?.is_dir() {
                folders.push(path);
            } else if Path::new(&path).extension().is_some_and(|extension| extension == "rs") {
                sources.push(Source { text: fs::read_to_string(entry.path())?, path });
            }
        }
    }
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(sources)
}

/// Runs every model on the library as it is: all must pass. Returns them by binary, the quickest first.
fn baseline(workers: &[Worker]) -> Result<Vec<Suite>> {
    eprintln!("building the models of the library as it is, and running them");
    let builds = on_all(workers, |worker| -> Result<_> {
        worker.build(None)?.map_err(|errors| anyhow!("the models do not compile:\n{errors}"))
    });
    let builds = builds.into_iter().collect::<Result<Vec<_>>>()?;
    let queue = Mutex::new(models::list(&builds[0])?.into_iter());
    let timed = on_all(workers, |worker| {
        let next = || queue.lock().expect("no panics under this lock").next();
        iter::from_fn(next).map(|model| model.timed(&builds[worker.number()])).collect()
    });
    let timed = timed.into_iter().collect::<Result<Vec<Vec<_>>>>()?;
    let suites = models::suites(timed.into_iter().flatten().flatten().collect());
    ensure!(!suites.is_empty(), "there are no models in loom-tests");
    Ok(suites)
}

/// Runs every mutant, on whichever worker is free.
fn run_all(mutants: Vec<Mutant>, workers: &[Worker], suites: &[Suite]) -> Result<Vec<Run>> {
    let number = mutants.len();
    let queue = Mutex::new(mutants.into_iter().enumerate());
    let runs = on_all(workers, |worker| {
        let next = || queue.lock().expect("no panics under this lock").next();
        let run = |(index, mutant)| -> Result<(usize, Run)> {
            let started = Instant::now();
            let outcome = worker.run(&mutant, suites)?;
            let run = Run { mutant, outcome, took: started.elapsed() };
            report::progress(index + 1, number, &run);
            Ok((index, run))
        };
        iter::from_fn(next).map(run).collect()
    });
    let runs = runs.into_iter().collect::<Result<Vec<Vec<_>>>>()?;
    let mut runs: Vec<_> = runs.into_iter().flatten().collect();
    runs.sort_by_key(|(index, _)| *index);
    Ok(runs.into_iter().map(|(_, run)| run).collect())
}

/// Does something with every worker at once.
fn on_all<R: Send>(workers: &[Worker], work: impl Fn(&Worker) -> R + Sync) -> Vec<R> {
    thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> =
            workers.iter().map(|worker| scope.spawn(move || work(worker))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a worker panicked")).collect()
    })
}

#[cfg(test)]
mod tests {
    /// The list of structural mutants has kept up with the source.
    #[test]
    fn every_mutant_fits_the_source() {
        let mutants = super::mutants(&crate::root(), &[]).unwrap();
        assert!(mutants.len() > 20);
    }
}
