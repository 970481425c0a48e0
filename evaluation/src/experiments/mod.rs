//! The experiments: the tables and figures of the papers, and sections with claims.

mod claims;
mod compare;
mod curve;
mod figure_2;
mod figures_3_4;
mod loads;
mod login_loads;
mod profiles;
mod row;
mod section_3;
mod space;
mod speeds;
pub mod table_3;
mod tables_1_2;
mod theory;
mod timing;

use anyhow::{Result, ensure};
use guira_harness::{plot::Chart, table::Table};

pub use row::{Row, Subject, Verdict};

use crate::Options;

/// The result of an experiment.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    pub rows: Vec<Row>,
    pub tables: Vec<Table>,
    pub charts: Vec<Chart>,
    /// The method and the paper's claims, as paragraphs in Markdown.
    pub note: String,
}

/// An experiment.
pub struct Experiment {
    /// The name that `--only` matches.
    pub name: &'static str,
    /// The heading of the experiment's section.
    pub title: &'static str,
    pub run: fn(&Options) -> Outcome,
}

const fn experiment(
    name: &'static str,
    title: &'static str,
    run: fn(&Options) -> Outcome,
) -> Experiment {
    Experiment { name, title, run }
}

/// All experiments, in the order of the report.
pub const ALL: &[Experiment] = &[
    experiment("table-1", "Space and cache lines (Table 1)", tables_1_2::table_1),
    experiment(
        "figure-2",
        "Load factor by fingerprint, bucket and table (Figure 2)",
        figure_2::run,
    ),
    experiment("login-loads", "Load factor of short fingerprints (;login:)", login_loads::run),
    experiment("section-3", "Hashed fingerprints, copies and removal (section 3)", section_3::run),
    experiment("theory", "Minimum fingerprint size (section 4)", theory::run),
    experiment("figure-3", "Bits per item by bucket size (Figure 3)", figures_3_4::figure_3),
    experiment(
        "figure-4",
        "Bits per item, Bloom filters, the limit (Figure 4)",
        figures_3_4::figure_4,
    ),
    experiment("table-2", "Space and memory references (Table 2, ;login:)", tables_1_2::table_2),
    experiment("table-3", "Space, false positives and construction (Table 3)", table_3::run),
    experiment("figure-5", "Lookups by share of present keys (Figure 5)", speeds::figure_5),
    experiment("figure-6", "Lookups by load (Figure 6)", speeds::figure_6),
    experiment("figure-7", "Inserts by load (Figure 7)", speeds::figure_7),
    experiment("figure-8", "Removals until empty (Figure 8)", speeds::figure_8),
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
    let run = |experiment: &'static Experiment| {
        println!("{}", experiment.title);
        (experiment, (experiment.run)(options))
    };
    Ok(ALL.iter().filter(is_selected).map(run).collect())
}
