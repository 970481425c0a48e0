//! What all sections share: the machine, the sizes and durations, and the results.

use std::{
    fmt::Display,
    process::ExitCode,
    time::{Duration, Instant},
};

use guira_harness::{Cores, plot::Chart, table::Table};

use crate::{
    figure::Figure,
    options::{Mode, Options},
    span::Span,
    stop::{self, Outcome, Reason},
};

/// One section of the report.
pub trait Section: Send {
    /// Measures, and keeps every figure in `self`. A stop or a panic ends it at any point.
    fn measure(&mut self, bench: &Bench);

    /// Adds figures, tables and plots of what has been measured, even if that is not everything.
    fn report(&self, results: &mut Results);
}

/// The report so far.
#[derive(Default)]
pub struct Results {
    pub figures: Vec<Figure>,
    /// The section of each figure.
    figure_sections: Vec<String>,
    /// Each with its heading.
    pub tables: Vec<(&'static str, Table)>,
    pub charts: Vec<Chart>,
    /// What is missing, and why.
    pub missing: Vec<String>,
    /// Duration of the run so far, in seconds.
    pub seconds: f64,
    pub crashed: bool,
    pub stopped: Option<Reason>,
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

    /// Says that all figures since the last section belong to this one.
    pub fn end_section(&mut self, name: &str) {
        self.figure_sections.resize(self.figures.len(), name.to_owned());
    }

    /// Returns the table of the figures of one section.
    pub fn figures_of(&self, section: &str) -> Table {
        let figures = self.figures.iter().zip(&self.figure_sections);
        Figure::table(figures.filter(|(_, of)| *of == section).map(|(figure, _)| figure))
    }

    /// Notes how a section ended.
    pub fn note(&mut self, name: &str, outcome: Outcome) {
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
    /// Growths of the section `growing`.
    pub spans: Vec<Span>,
    pub only: Vec<String>,
    /// The start of the run.
    pub started: Instant,
}

impl Bench {
    pub fn new(options: &Options) -> Self {
        let mode = options.mode();
        Self {
            cores: Cores::list(),
            mode,
            bytes: mode.pick(16, 128, 128) << 20,
            rounds: mode.pick(1, 3, 7),
            time: Duration::from_millis(mode.pick(50, 300, 1000)),
            spans: if options.grow.is_empty() { usual_spans(mode) } else { options.grow.clone() },
            only: options.only.clone(),
            started: Instant::now(),
        }
    }

    /// Shows what is being measured. The run can stop here.
    pub fn say(&self, what: impl Display) {
        stop::point();
        eprintln!("{what} (after {:.0} s)", self.started.elapsed().as_secs_f64());
    }

    /// Returns whether `--only` names this section or crate.
    pub fn is_named(&self, name: &str) -> bool {
        contains_any(name, &self.only)
    }
}

/// Returns the growths that are measured by default.
fn usual_spans(mode: Mode) -> Vec<Span> {
    let spans = [(1_000, 100_000), (4_000, 8_000_000), (60_000, 60_000_000)];
    let quick = [(1_000, 100_000), (2_000, 500_000)];
    let spans = mode.pick(&quick[..], &spans, &spans).iter();
    spans.map(|&(from, to)| Span { from, to }).collect()
}

/// Returns whether a name contains one of these.
pub fn contains_any(name: &str, only: &[String]) -> bool {
    only.iter().any(|only| name.contains(only.as_str()))
}
