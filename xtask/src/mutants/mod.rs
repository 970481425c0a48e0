//! `cargo xtask ordering-mutants`: is there a model for every ordering and every step of the
//! protocol?
//!
//! Each mutant is the library with one fault planted: an ordering weakened ([`orderings`]), or a
//! statement changed ([`catalogue`]). One copy of the library has all of them ([`library`],
//! [`instrument`]), and a variable of the environment selects one at run time ([`switch`]). The
//! models of `loom-tests/` are built with that copy once for each layout ([`copy`]) and run against
//! each mutant ([`models`]). With each layout one of them must fail, by an assertion of its own or
//! of loom; how much it explored and what it saw does not count here. (Steps that only tables with
//! values have are run with the plain layout only.) A mutant that survives fails the command,
//! unless a reason is given: in the catalogue, or for a weakened ordering at the end of its line,
//! or of the comment above it, after `// mutant-ok:`. The command prints these reasons.

mod catalogue;
mod copy;
mod instrument;
mod library;
mod models;
mod orderings;
mod report;
mod switch;
mod syntax;

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    sync::Mutex,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;

use crate::{models::Declared, recorded::Recorded};
pub(crate) use copy::Build;
pub(crate) use library::{Library, Mutant};
use models::Model;

/// Time within which a quick model ends.
const QUICK: Duration = Duration::from_secs(1);

/// What can be asked of the command.
#[derive(Args, Debug)]
pub(crate) struct Options {
    /// Only the mutants whose name or place contains this; may be given several times.
    #[arg(long, value_name = "SUBSTRING")]
    only: Vec<String>,
    /// List the mutants, and check that they fit the source, but run none.
    #[arg(long)]
    list: bool,
    /// What CI runs at each change: plain words only, no mutants that may survive, and no models
    /// that are not needed to kill one.
    #[arg(long, conflicts_with = "record")]
    quick: bool,
    /// How many to run at once; as many as there are processors without this.
    #[arg(long)]
    jobs: Option<usize>,
    /// Record the executions of the models and the killers of the mutants.
    #[arg(long)]
    record: bool,
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
}

/// A mutant that has been run with the models of one layout.
#[derive(Debug)]
struct Run {
    mutant: Mutant,
    build: Build,
    number: usize,
    outcome: Outcome,
    took: Duration,
}

/// Runs the command; `false` when a mutant survived.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let started = Instant::now();
    let root = crate::root();
    let library = Library::read(&root)?;
    let is_chosen = |(_, mutant): &(usize, &Mutant)| {
        let fits = |part: &String| mutant.place.contains(part) || mutant.name.contains(part);
        options.only.is_empty() || options.only.iter().any(fits)
    };
    let chosen: Vec<_> = (1..).zip(&library.mutants).filter(is_chosen).collect();
    ensure!(!chosen.is_empty(), "no mutant's name or place contains {:?}", options.only);
    if options.list {
        report::list(&chosen);
        return Ok(true);
    }
    let folder = root.join("target/mutants");
    let _alone = lock(&folder)?;
    let mut recorded = Recorded::read(&root)?;
    let processors = || thread::available_parallelism().map_or(1, usize::from);
    let runner = Runner { jobs: options.jobs.unwrap_or_else(processors).max(1), folder };
    let builds = if options.quick { &Build::ALL[..1] } else { &Build::ALL };
    let mut models = runner.build(&root, &library, builds)?;
    for model in &mut models {
        model.is_brief = options.quick;
    }
    report::built(&models, started.elapsed());
    let recorded_length =
        |model: &Model| recorded.executions.get(&model.name).map_or(0, |executions| executions[0]);
    models.sort_by_key(|model| (recorded_length(model), model.build()));
    if options.only.is_empty() && !options.quick {
        runner.check_all(&mut models)?;
        report::baseline(&models, started.elapsed());
    }
    let mut wanted = Vec::new();
    for &(number, mutant) in &chosen {
        let may_survive = |build| mutant.explanation(build).is_some();
        let is_wanted =
            |build: &&Build| builds.contains(build) && !(options.quick && may_survive(**build));
        wanted
            .extend(mutant.builds().iter().filter(is_wanted).map(|&build| (number, mutant, build)));
    }
    let runs = runner.run_all(wanted, &models, &recorded)?;
    let is_clean = report::verdict(&runs, started.elapsed());
    if options.record {
        record(&mut recorded, &library, &models, &runs);
        recorded.write(&root)?;
    }
    Ok(is_clean)
}

/// Keeps the folder to this run until the file is closed.
fn lock(folder: &Path) -> Result<File> {
    fs::create_dir_all(folder)?;
    let path = folder.join("lock");
    let file = File::create(&path)?;
    file.try_lock().with_context(|| format!("another run holds {}", path.display()))?;
    Ok(file)
}

/// Puts the results in the place of what was recorded, and drops what there is no longer.
fn record(recorded: &mut Recorded, library: &Library, models: &[Model], runs: &[Run]) {
    let old = std::mem::take(&mut recorded.executions);
    let executions = |name: &str, build| {
        let model = models.iter().find(|model| model.name == name && model.build() == build);
        let earlier = || old.get(name).map_or(0, |executions| executions[build as usize]);
        let of = |model: &Model| model.baseline().map(|baseline| baseline.executions);
        model.map_or(0, |model| of(model).unwrap_or_else(earlier))
    };
    let names = models.iter().map(|model| &model.name);
    recorded.executions =
        names.map(|name| (name.clone(), Build::ALL.map(|build| executions(name, build)))).collect();
    recorded.killers.retain(|name, killers| {
        let mutant = library.mutants.iter().find(|mutant| mutant.name == *name);
        let Some(mutant) = mutant else { return false };
        for build in Build::ALL.into_iter().filter(|build| !mutant.builds().contains(build)) {
            killers[build as usize].clear();
        }
        true
    });
    for run in runs {
        let killer = match &run.outcome {
            Outcome::Killed { model, .. } => model.clone(),
            Outcome::Survived | Outcome::TimedOut { .. } => String::new(),
        };
        recorded.killers.entry(run.mutant.name.clone()).or_default()[run.build as usize] = killer;
    }
}

/// Runs things side by side, and keeps their files in a folder.
struct Runner {
    jobs: usize,
    folder: PathBuf,
}

impl Runner {
    /// Writes the instrumented copy, and builds the models for these layouts.
    fn build(&self, root: &Path, library: &Library, builds: &[Build]) -> Result<Vec<Model>> {
        eprintln!("building the models with {} mutants in the library", library.mutants.len());
        let declared = crate::models::declared(root)?;
        let tree = self.folder.join("tree");
        copy::write(root, &library.sources, &tree)?;
        let mut all = Vec::new();
        for &build in builds {
            all.append(&mut models::list(&copy::build(&tree, build)?, &declared)?);
        }
        let is_built = |model: &&Declared| all.iter().any(|built: &Model| built.name == model.name);
        if let Some(Declared { target, test, .. }) = declared.iter().find(|model| !is_built(model))
        {
            bail!("loom-tests/tests/main.rs does not lead to {target}::{test}");
        }
        Ok(all)
    }

    /// Runs every model with no mutant selected: all must pass. Sorts them, the quickest first.
    fn check_all(&self, models: &mut [Model]) -> Result<()> {
        // The longest first, so that no processor is idle at the end.
        self.on_all(models.iter().rev().collect(), Model::check)?;
        // Of those that take about as long, the ones with the plain layout first.
        let took = |model: &Model| model.baseline().map(|baseline| baseline.took.as_millis());
        models
            .sort_by_key(|model| (took(model).map(|took| took / 100), model.build(), took(model)));
        Ok(())
    }

    /// Runs these mutants.
    fn run_all(
        &self,
        mutants: Vec<(usize, &Mutant, Build)>,
        models: &[Model],
        recorded: &Recorded,
    ) -> Result<Vec<Run>> {
        let count = mutants.len();
        self.on_all(mutants, |(number, mutant, build), log| {
            let started = Instant::now();
            let killer = recorded.killers.get(&mutant.name).map(|killers| &killers[build as usize]);
            let models: Vec<&Model> =
                models.iter().filter(|model| model.build() == build).collect();
            let outcome = examine(number, (mutant, build), &models, killer, log)?;
            let mutant = mutant.clone();
            let run = Run { mutant, build, number, outcome, took: started.elapsed() };
            report::progress(count, &run);
            Ok(run)
        })
    }

    /// Does something with each of these, as many at once as there are jobs, each with a log file.
    fn on_all<T: Send, R: Send>(
        &self,
        items: Vec<T>,
        work: impl Fn(T, &Path) -> Result<R> + Sync,
    ) -> Result<Vec<R>> {
        let (queue, results) = (Mutex::new(items.into_iter()), Mutex::new(Vec::new()));
        thread::scope(|scope| {
            for job in 0..self.jobs {
                let (work, queue, results) = (&work, &queue, &results);
                let log = self.folder.join(format!("{job}.log"));
                scope.spawn(move || {
                    loop {
                        let next = queue.lock().expect("no panics under this lock").next();
                        let Some(item) = next else { break };
                        let done = work(item, &log);
                        results.lock().expect("no panics under this lock").push(done);
                    }
                });
            }
        });
        results.into_inner().expect("no panics under this lock").into_iter().collect()
    }
}

/// Runs the models on a mutant until one fails, the one that killed it last time first.
fn examine(
    number: usize,
    (mutant, build): (&Mutant, Build),
    models: &[&Model],
    killer: Option<&String>,
    log: &Path,
) -> Result<Outcome> {
    let is_killer = |model: &&Model| Some(&model.name) == killer;
    // A mutant that may survive is not worth the time of the long models.
    let is_worthwhile = |model: &&Model| {
        let is_quick = model.baseline().is_none_or(|baseline| baseline.took < QUICK);
        mutant.explanation(build).is_none() || is_quick
    };
    let (first, others): (Vec<&Model>, Vec<&Model>) =
        models.iter().copied().filter(is_worthwhile).partition(is_killer);
    let mut worst = Outcome::Survived;
    for model in first.into_iter().chain(others) {
        match model.examine(number, mutant.may_hang, log)? {
            Outcome::Survived => {}
            noticed @ Outcome::Killed { .. } => return Ok(noticed),
            Outcome::TimedOut { model } if mutant.may_hang => {
                return Ok(Outcome::Killed { model, message: "did not come to an end".to_owned() });
            }
            timed_out @ Outcome::TimedOut { .. } => worst = timed_out,
        }
    }
    Ok(worst)
}

#[cfg(test)]
mod tests {
    /// Every place has a mutant, and every mutant a place in the source.
    #[test]
    fn every_mutant_fits_the_source() {
        let library = super::Library::read(&crate::root()).unwrap();
        assert!(library.mutants.len() > 90);
    }
}
