//! Measures guira beside its memory floor, against its bars, and beside other crates, and writes
//! the report: tables as Markdown and CSV, and plots as SVG.
//!
//! `cargo run --release -p guira-bench` takes about 10 minutes on two idle cores, `-- --quick` at
//! most two, `-- --full` hours. After SIGINT or SIGTERM it writes what it has, and exits with
//! status 130.

mod bar;
mod bench;
mod floor;
mod memory;
mod options;
mod output;
mod peers;
mod rounds;
mod run;
mod sections;
mod span;
mod stop;
mod threads;
mod timing;
mod workload;

use std::{process::ExitCode, time::Duration};

use anyhow::Result;
use clap::Parser;

use crate::{options::Options, output::Output};

/// Time limit of `--quick`; what follows it takes less than the rest of two minutes.
const QUICK_LIMIT: Duration = Duration::from_secs(110);

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
