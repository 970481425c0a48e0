//! The experiments: the tables and figures of the papers, and sections with claims.

mod claims;
mod compare;
mod curves;
mod figure_2;
mod figure_3;
mod figure_4;
mod loads;
mod login_loads;
mod profiles;
mod row;
mod section_3;
mod space;
mod speeds;
mod table_1;
mod table_2;
mod table_3;
mod theory;
mod timing;

use anyhow::{Result, ensure};
use guira_harness::{plot::Chart, table::Table};
use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;

pub use row::{Row, Subject, Verdict};

use crate::Options;

/// The result of an experiment.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    pub rows: Vec<Row>,
    pub tables: Vec<Table>,
    pub charts: Vec<Chart>,
    /// Paragraphs: the method, and the paper's claims.
    pub notes: Vec<String>,
}

/// A progress bar for the steps of all experiments.
#[derive(Clone, Debug)]
pub struct Progress(ProgressBar);

impl Progress {
    /// Creates a bar without steps.
    pub fn new() -> Self {
        let style = "{elapsed_precise} {bar:40} {pos}/{len} {msg}";
        let style = ProgressStyle::with_template(style).expect("the template is valid");
        Self(ProgressBar::new(0).with_style(style))
    }

    /// Adds steps to the total.
    pub fn expect(&self, steps: usize) {
        self.0.inc_length(steps as u64);
    }

    /// Completes one step.
    pub fn step(&self) {
        self.0.inc(1);
    }

    /// Performs one step per item on all cores, and returns the results in the order of the items.
    pub fn map<T: Sync, R: Send>(&self, items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
        self.expect(items.len());
        let step = |item| {
            let result = work(item);
            self.step();
            result
        };
        items.par_iter().map(step).collect()
    }

    /// Shows a message beside the bar.
    pub fn set_message(&self, message: impl Into<String>) {
        self.0.set_message(message.into());
    }
}

/// An experiment.
pub struct Experiment {
    /// The name that `--only` matches.
    pub name: &'static str,
    /// The heading of the experiment's section.
    pub title: &'static str,
    pub run: fn(&Options, &Progress) -> Outcome,
}

/// All experiments, in the order of the report.
pub const ALL: &[Experiment] = &[
    Experiment { name: "table-1", title: "Space and cache lines (Table 1)", run: table_1::run },
    Experiment {
        name: "figure-2",
        title: "Load factor by size of fingerprint, bucket and table (Figure 2)",
        run: figure_2::run,
    },
    Experiment {
        name: "login-loads",
        title: "Load factor of short fingerprints (;login:, Table 2)",
        run: login_loads::run,
    },
    Experiment {
        name: "section-3",
        title: "Hashed fingerprints, copies of one item, and removal (section 3)",
        run: section_3::run,
    },
    Experiment { name: "theory", title: "Minimum fingerprint size (section 4)", run: theory::run },
    Experiment {
        name: "figure-3",
        title: "Bits per item by bucket size (section 5.1, Figure 3)",
        run: figure_3::run,
    },
    Experiment {
        name: "figure-4",
        title: "Bits per item, Bloom filters, published filters and the limit (Figure 4)",
        run: figure_4::run,
    },
    Experiment {
        name: "table-2",
        title: "Space and memory references (Table 2 and ;login:)",
        run: table_2::run,
    },
    Experiment {
        name: "table-3",
        title: "Space, false positives and construction speed (Table 3)",
        run: table_3::run,
    },
    Experiment {
        name: "figure-5",
        title: "Lookups by share of present keys (Figure 5)",
        run: speeds::figure_5,
    },
    Experiment { name: "figure-6", title: "Lookups by load (Figure 6)", run: speeds::figure_6 },
    Experiment { name: "figure-7", title: "Inserts by load (Figure 7)", run: speeds::figure_7 },
    Experiment {
        name: "figure-8",
        title: "Removals until empty (Figure 8)",
        run: speeds::figure_8,
    },
];

/// Runs the experiments that the options select.
///
/// # Errors
/// If an option selects nothing.
pub fn run_selected(options: &Options) -> Result<Vec<(&'static Experiment, Outcome)>> {
    for only in &options.only {
        let known = ALL.iter().any(|experiment| experiment.name.contains(only));
        ensure!(known, "no experiment's name contains {only:?}");
    }
    let is_selected = |experiment: &&Experiment| {
        options.only.is_empty() || options.only.iter().any(|only| experiment.name.contains(only))
    };
    let progress = Progress::new();
    let run = |experiment: &'static Experiment| {
        progress.set_message(experiment.title);
        (experiment, (experiment.run)(options, &progress))
    };
    let completed = ALL.iter().filter(is_selected).map(run).collect();
    progress.0.finish_and_clear();
    Ok(completed)
}
