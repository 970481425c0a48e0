//! The experiments: the tables and figures of the papers, and sections with claims.

mod claims;
mod compare;
mod curve;
mod figure_2;
mod figures_3_4;
mod loads;
mod login_loads;
mod profiles;
pub mod row;
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

/// The name that `--only` matches, the heading of the section, and how to run the experiment.
pub type Experiment = (&'static str, &'static str, fn(&Options) -> Outcome);

/// All experiments, in the order of the report.
pub const ALL: &[Experiment] = &[
    ("table-1", "Space and cache lines (Table 1)", tables_1_2::table_1),
    ("figure-2", "Load factor by fingerprint, bucket and table (Figure 2)", figure_2::run),
    ("login-loads", "Load factor of short fingerprints (;login:)", login_loads::run),
    ("section-3", "Hashed fingerprints, copies and removal (section 3)", section_3::run),
    ("theory", "Minimum fingerprint size (section 4)", theory::run),
    ("figure-3", "Bits per item by bucket size (Figure 3)", figures_3_4::figure_3),
    ("figure-4", "Bits per item, Bloom filters, the limit (Figure 4)", figures_3_4::figure_4),
    ("table-2", "Space and memory references (Table 2, ;login:)", tables_1_2::table_2),
    ("table-3", "Space, false positives and construction (Table 3)", table_3::run),
    ("figure-5", "Lookups by share of present keys (Figure 5)", speeds::figure_5),
    ("figure-6", "Lookups by load (Figure 6)", speeds::figure_6),
    ("figure-7", "Inserts by load (Figure 7)", speeds::figure_7),
    ("figure-8", "Removals until empty (Figure 8)", speeds::figure_8),
];

/// Runs the experiments that the options select, and returns each heading with the outcome.
///
/// # Errors
/// If an option selects nothing.
pub fn run_selected(options: &Options) -> Result<Vec<(&'static str, Outcome)>> {
    for only in &options.only {
        let known = ALL.iter().any(|(name, ..)| name.contains(only));
        ensure!(known, "no experiment's name contains {only:?}");
    }
    let is_selected = |(name, ..): &&Experiment| {
        options.only.is_empty() || options.only.iter().any(|only| name.contains(only))
    };
    let run = |&(_, title, run): &Experiment| {
        println!("{title}");
        (title, run(options))
    };
    Ok(ALL.iter().filter(is_selected).map(run).collect())
}
