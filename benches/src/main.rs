//! Measures guira beside its memory floor, against its bars, and beside other crates, and writes
//! the report: tables as Markdown and CSV, and plots as SVG.
//!
//! `cargo run --release -p guira-bench` takes about 10 minutes on two idle cores, `-- --quick` at
//! most two, `-- --full` hours. After SIGINT or SIGTERM it writes what it has, and exits with
//! status 130.

mod bar;
mod floor;
mod memory;
mod output;
mod peers;
mod run;
mod sections;
mod stop;
mod threads;
mod timing;
mod workload;

use std::{path::PathBuf, process::ExitCode, time::Duration};

use anyhow::Result;
use clap::Parser;
use guira::Layout;

use crate::{output::Output, run::Mode, sections::Span};

/// Time limit of `--quick`; what follows it takes less than the rest of two minutes.
const QUICK_LIMIT: Duration = Duration::from_secs(110);

/// What to measure, and how much of it.
#[derive(Clone, Debug, Parser)]
#[command(
    about = "Measures guira beside its memory floor and other crates, and writes target/bench/"
)]
pub struct Options {
    /// Small tables, one round, at most two minutes in all: to see that everything works.
    #[arg(long, conflicts_with = "full")]
    quick: bool,
    /// More rounds, thread counts, loads and sizes, and the fit of the sizes: hours.
    #[arg(long)]
    full: bool,
    /// Only the sections, or the crates of the section `peers`, whose names contain NAME; see
    /// --list.
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Prints the names of the sections and of the compared crates.
    #[arg(long)]
    list: bool,
    /// Size of the large tables in MiB, a power of two [default: 128, with --quick 16].
    #[arg(long, value_name = "N")]
    megabytes: Option<usize>,
    /// Duration of one figure of threads in one round [default: 300, --quick 50, --full 1000].
    #[arg(long, value_name = "N")]
    milliseconds: Option<u64>,
    /// Only these layouts in the sections that measure several: `Plain4x16`, `SemiSorted6x12`, …;
    /// in `loads`, `capacity` and `quantile` also `Valued3x21`, `Valued2x32`.
    #[arg(long, value_name = "LAYOUT", value_parser = layout)]
    layout: Vec<Layout>,
    /// A growth that the section `growing` measures, from a first capacity to a number of items:
    /// `4000..8000000`. It can be given several times [default: 1000..100000, 4000..8000000 and
    /// 60000..60000000, with --quick smaller].
    #[arg(long, value_name = "FROM..TO", value_parser = Span::parse)]
    grow: Vec<Span>,
    /// Folder of the report [default: bench in cargo's target folder].
    #[arg(long, value_name = "FOLDER")]
    output: Option<PathBuf>,
}

impl Options {
    fn mode(&self) -> Mode {
        match (self.quick, self.full) {
            (true, _) => Mode::Quick,
            (_, true) => Mode::Full,
            _ => Mode::Usual,
        }
    }
}

fn layout(name: &str) -> Result<Layout, String> {
    let all = run::all_layouts();
    // Without the fields.
    let is_named = |layout: &&Layout| format!("{layout:?}").split(' ').next() == Some(name);
    all.iter().find(is_named).copied().ok_or_else(|| format!("the layouts are {all:?}"))
}

fn main() -> Result<ExitCode> {
    let options = Options::parse();
    if options.list {
        run::list();
        return Ok(ExitCode::SUCCESS);
    }
    let megabytes = options.megabytes.unwrap_or(1);
    anyhow::ensure!(megabytes.is_power_of_two(), "--megabytes takes a power of two");
    anyhow::ensure!(
        run::any_wanted(&options.only),
        "no section and no crate has one of these names: {:?}; see --list",
        options.only
    );
    stop::on_signals()?;
    if options.quick {
        stop::after(QUICK_LIMIT);
    }
    let output = Output::new(&options)?;
    output.print_facts();
    let results = run::all(&options, &output)?;
    output.finish(&results);
    Ok(results.exit_code())
}
