//! Runs the sections one after another, and keeps the results of each whatever happens to the
//! others.

use std::{
    process::ExitCode,
    thread,
    time::{Duration, Instant},
};

use anyhow::Result;
use guira::Layout;
use guira_harness::{Cores, plot::Chart, table::Table};
use indicatif::ProgressBar;

use crate::{
    Options,
    bar::Bar,
    output::Output,
    peers,
    sections::{self, SECTIONS, Span},
    stop::{self, Outcome, Reason},
};

/// How much is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Quick,
    Usual,
    Full,
}

impl Mode {
    /// Picks the value of this mode.
    pub fn pick<T>(self, quick: T, usual: T, full: T) -> T {
        match self {
            Self::Quick => quick,
            Self::Usual => usual,
            Self::Full => full,
        }
    }
}

/// One section of the report.
pub trait Section: Send {
    /// Measures, and keeps every figure in `self`. A stop or a panic ends it at any point.
    fn measure(&mut self, bench: &Bench);

    /// Adds bars, tables and plots of what has been measured, even if that is not everything.
    fn report(&self, results: &mut Results);
}

/// The report so far.
#[derive(Default)]
pub struct Results {
    pub bars: Vec<Bar>,
    pub tables: Vec<Table>,
    pub charts: Vec<Chart>,
    /// What is missing, and why.
    pub missing: Vec<String>,
    /// Duration of the run so far, in seconds.
    pub seconds: f64,
    crashed: bool,
    stopped: Option<Reason>,
}

impl Results {
    /// Returns the status of the process: 130 after a signal, 1 after a panic in a section.
    pub fn exit_code(&self) -> ExitCode {
        match (self.stopped, self.crashed) {
            (Some(Reason::Signal), _) => ExitCode::from(stop::STATUS as u8),
            (_, true) => ExitCode::FAILURE,
            _ => ExitCode::SUCCESS,
        }
    }

    fn note(&mut self, name: &str, outcome: Outcome) {
        match outcome {
            Outcome::Complete => {}
            Outcome::Stopped => self.missing.push(format!("{name}: stopped before its end")),
            Outcome::Crashed(message) => {
                self.crashed = true;
                self.missing.push(format!("{name}: crashed ({message})"));
            }
        }
    }
}

/// The machine, the sizes and the durations that all sections share.
pub struct Bench {
    pub cores: Cores,
    pub mode: Mode,
    /// Size of the large tables in bytes.
    pub bytes: usize,
    /// Number of rounds of which the median counts.
    pub rounds: usize,
    /// Duration of one figure of threads in one round.
    pub time: Duration,
    /// Layouts of the sections that measure several.
    pub layouts: Vec<Layout>,
    /// The same, and those that only maps have, of the sections that measure how full tables get.
    pub sized_layouts: Vec<Layout>,
    /// Growths of the section `growing`.
    pub spans: Vec<Span>,
    only: Vec<String>,
    progress: ProgressBar,
}

impl Bench {
    fn new(options: &Options) -> Self {
        let mode = options.mode();
        let progress = ProgressBar::new_spinner();
        progress.enable_steady_tick(Duration::from_secs(1));
        let all = all_layouts();
        let sized_layouts = if options.layout.is_empty() { &all } else { &options.layout };
        let layouts = sized_layouts.iter().filter(|layout| Layout::ALL.contains(layout));
        let milliseconds = options.milliseconds.unwrap_or(mode.pick(50, 300, 1000));
        Self {
            cores: Cores::list(),
            mode,
            bytes: options.megabytes.unwrap_or(mode.pick(16, 128, 128)) << 20,
            rounds: mode.pick(1, 3, 7),
            time: Duration::from_millis(milliseconds),
            layouts: layouts.copied().collect(),
            sized_layouts: sized_layouts.clone(),
            spans: if options.grow.is_empty() { Span::usual(mode) } else { options.grow.clone() },
            only: options.only.clone(),
            progress,
        }
    }

    /// Shows what is being measured. The run can stop here.
    pub fn say(&self, what: impl Into<String>) {
        stop::point();
        let what = what.into();
        if self.progress.is_hidden() {
            eprintln!("{what}");
        }
        self.progress.set_message(what);
    }

    /// Returns whether `--only` names this section or crate.
    pub fn is_named(&self, name: &str) -> bool {
        contains_any(name, &self.only)
    }
}

/// The layouts without values, and those of maps whose slots no layout without values has. Their
/// values make no difference to how full tables get, and have 8 bits.
pub fn all_layouts() -> Vec<Layout> {
    let of_maps = [3, 2].into_iter().filter_map(|slots| Layout::with_values(slots, 8));
    Layout::ALL.iter().copied().chain(of_maps).collect()
}

fn contains_any(name: &str, only: &[String]) -> bool {
    only.iter().any(|only| name.contains(only.as_str()))
}

/// Returns whether a section or a crate has one of these names.
pub fn any_wanted(only: &[String]) -> bool {
    let mut names = SECTIONS.iter().map(|section| section.name).chain(peers::names());
    only.is_empty() || names.any(|name| contains_any(name, only))
}

/// Prints the names that `--only` takes.
pub fn list() {
    for section in SECTIONS {
        println!("{:<12} {}", section.name, section.about);
    }
    println!("\ncrates in the section peers: {}", peers::names().collect::<Vec<_>>().join(", "));
}

/// Measures the wanted sections, and writes the report after each of them.
pub fn all(options: &Options, output: &Output) -> Result<Results> {
    let started = Instant::now();
    let (bench, mut results) = (Bench::new(options), Results::default());
    let no_section_is_named = !SECTIONS.iter().any(|section| bench.is_named(section.name));
    for section in SECTIONS {
        let is_wanted = if bench.only.is_empty() {
            section.is_usual(bench.mode)
        } else {
            // A crate's name alone selects its rows of the section `peers`.
            bench.is_named(section.name) || no_section_is_named && section.name == "peers"
        };
        if !is_wanted {
            continue;
        }
        if let Some(reason) = stop::requested() {
            results.stopped = Some(reason);
            results.missing.push(format!("{}: not started", section.name));
            continue;
        }
        run_section(section, &bench, &mut results);
        results.seconds = started.elapsed().as_secs_f64();
        output.write(&results)?;
    }
    bench.progress.finish_and_clear();
    results.stopped = results.stopped.or_else(stop::requested);
    results.seconds = started.elapsed().as_secs_f64();
    output.write(&results)?;
    Ok(results)
}

/// Measures one section on a thread of its own, which it may pin.
fn run_section(section: &sections::Entry, bench: &Bench, results: &mut Results) {
    let mut part = (section.new)();
    let outcome = thread::scope(|scope| {
        let measure = || {
            stop::guard(|| {
                bench.say(section.name);
                part.measure(bench);
            })
        };
        scope.spawn(measure).join().expect("the guard catches panics")
    });
    results.note(section.name, outcome);
    // A stop after this point is for the next section: what is measured has to be reported.
    if let Outcome::Crashed(message) = stop::guard(|| part.report(results)) {
        results.note(section.name, Outcome::Crashed(message));
    }
}
