//! The experiments: one file for each table or figure of the papers.

mod copies;
mod curves;
mod figure_2;
mod figure_3;
mod figure_4;
mod figure_5;
mod figure_6;
mod figure_7;
mod figure_8;
mod literature;
mod lives;
mod loads;
mod login_loads;
mod space;
mod table_1;
mod table_2;
mod table_3;
mod theory;

use guira_report::{plot::Chart, table::Table};
use indicatif::{ProgressBar, ProgressStyle};

use crate::Options;

/// How a figure of this report stands to the paper's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The same, within what the row says.
    Reproduced,
    /// Another, on the side that one wants.
    Better,
    /// Another, for the reason that the row gives.
    Differs,
}

/// One figure of the papers, and what came out here.
#[derive(Clone, Debug)]
pub struct Row {
    /// Where the paper has it: "Table 3, CF".
    pub place: String,
    /// What it is: "bits per item".
    pub what: String,
    /// The paper's figure; `None` where it gives none, or only a plot.
    pub paper: Option<f64>,
    /// The figure of this report.
    pub here: f64,
    /// The unit of both.
    pub unit: &'static str,
    pub verdict: Verdict,
    /// What the verdict rests on, or why it is what it is.
    pub why: String,
}

/// What an experiment brought.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    pub rows: Vec<Row>,
    pub tables: Vec<Table>,
    pub charts: Vec<Chart>,
    /// Paragraphs of plain text: how it was made, what it shows, what the paper claims.
    pub notes: Vec<String>,
}

/// A progress bar that experiments count their steps on.
#[derive(Clone, Debug)]
pub struct Progress(ProgressBar);

impl Progress {
    /// A bar without steps.
    pub fn new() -> Self {
        let style = "{elapsed_precise} {bar:40} {pos}/{len} {msg}";
        let style = ProgressStyle::with_template(style).expect("a template");
        Self(ProgressBar::new(0).with_style(style))
    }

    /// So many steps more are to come.
    pub fn expect(&self, steps: usize) {
        self.0.inc_length(steps as u64);
    }

    /// One step is done.
    pub fn step(&self) {
        self.0.inc(1);
    }

    /// All is done.
    pub fn finish(&self) {
        self.0.finish_and_clear();
    }

    /// What is being done now.
    pub fn say(&self, what: impl Into<String>) {
        self.0.set_message(what.into());
    }
}

/// One experiment.
pub struct Experiment {
    /// What `--only` looks in.
    pub name: &'static str,
    /// The heading of its section.
    pub title: &'static str,
    pub run: fn(&Options, &Progress) -> Outcome,
}

/// Every experiment, in the order of the report.
pub const ALL: &[Experiment] = &[
    Experiment {
        name: "table-1",
        title: "Space and cache misses of filters (Table 1)",
        run: table_1::run,
    },
    Experiment {
        name: "figure-2",
        title: "Load factor by fingerprint, bucket and table size (Figure 2)",
        run: figure_2::run,
    },
    Experiment {
        name: "login-loads",
        title: "Load factor of short fingerprints (;login:, Table 2)",
        run: login_loads::run,
    },
    Experiment { name: "copies", title: "Copies of one item (section 3.1)", run: copies::run },
    Experiment { name: "theory", title: "The shortest fingerprint (section 4)", run: theory::run },
    Experiment {
        name: "figure-3",
        title: "Bits per item by bucket size (section 5.1, Figure 3)",
        run: figure_3::run,
    },
    Experiment {
        name: "figure-4",
        title: "Bits per item against Bloom and the information limit (Figure 4)",
        run: figure_4::run,
    },
    Experiment {
        name: "table-2",
        title: "Space and memory references (Table 2, and the figures of ;login:)",
        run: table_2::run,
    },
    Experiment {
        name: "table-3",
        title: "Space, false positives and construction speed (Table 3)",
        run: table_3::run,
    },
    Experiment {
        name: "figure-5",
        title: "Look-ups by share of present keys (Figure 5)",
        run: figure_5::run,
    },
    Experiment { name: "figure-6", title: "Look-ups by load (Figure 6)", run: figure_6::run },
    Experiment { name: "figure-7", title: "Inserts by load (Figure 7)", run: figure_7::run },
    Experiment { name: "figure-8", title: "Removals until empty (Figure 8)", run: figure_8::run },
    Experiment {
        name: "literature",
        title: "Against the field: published filters",
        run: literature::run,
    },
];

/// Runs the experiments that the options ask for.
pub fn all(options: &Options) -> Vec<(&'static Experiment, Outcome)> {
    let wanted = |experiment: &&Experiment| {
        options.only.is_empty() || options.only.iter().any(|only| experiment.name.contains(only))
    };
    let progress = Progress::new();
    let run = |experiment: &'static Experiment| {
        progress.say(experiment.title);
        (experiment, (experiment.run)(options, &progress))
    };
    let done = ALL.iter().filter(wanted).map(run).collect();
    progress.finish();
    done
}
