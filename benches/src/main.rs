//! Measures guira beside its memory floor and other crates, and writes the report: tables as
//! Markdown and CSV, and plots as SVG.
//!
//! `cargo run --release -p guira-bench` takes about 20 minutes on two idle cores, `-- --quick` at
//! most two, `-- --full` hours. After SIGINT or SIGTERM it writes what it has, and exits with
//! status 130.

mod bench;
mod figure;
mod floors;
mod latency;
mod memory;
mod options;
mod output;
mod peers;
mod publish;
mod rounds;
mod sections;
mod span;
mod stop;
mod threads;
mod timing;

use std::{process::ExitCode, thread, time::Duration};

use anyhow::Result;
use clap::Parser;

use crate::{
    bench::{Bench, Results, contains_any},
    options::{Mode, Options},
    output::Output,
    sections::{Entry, LONG, SECTIONS},
    stop::Outcome,
};

/// Time limit of `--quick`; what follows it takes less than the rest of two minutes.
const QUICK_LIMIT: Duration = Duration::from_secs(110);

fn main() -> Result<ExitCode> {
    let options = Options::parse();
    if options.list {
        for (name, about, _) in SECTIONS {
            println!("{name:<20} {about}");
        }
        let peers: Vec<&str> = peers::names().collect();
        println!("\ncrates in the section peers: {}", peers.join(", "));
        return Ok(ExitCode::SUCCESS);
    }
    let only = &options.only;
    let mut names = SECTIONS.iter().map(|section| section.0).chain(peers::names());
    anyhow::ensure!(
        only.is_empty() || names.any(|name| contains_any(name, only)),
        "no section and no crate has one of these names: {only:?}; see --list"
    );
    stop::on_signals()?;
    if options.quick {
        stop::after(QUICK_LIMIT);
    }
    let output = Output::new(&options)?;
    let results = run(&options, &output)?;
    output.finish(&results);
    if options.publish {
        output.publish(&results)?;
    }
    Ok(results.exit_code())
}

/// Measures the wanted sections, and writes the report after each of them.
fn run(options: &Options, output: &Output) -> Result<Results> {
    let (bench, mut results) = (Bench::new(options), Results::default());
    let no_section_is_named = !SECTIONS.iter().any(|section| bench.is_named(section.0));
    for section in SECTIONS {
        let name = section.0;
        let is_wanted = if bench.only.is_empty() {
            name != LONG || bench.mode == Mode::Full
        } else {
            // A crate's name alone selects its rows of the section `peers`.
            bench.is_named(name) || no_section_is_named && name == "peers"
        };
        if !is_wanted {
            continue;
        }
        if let Some(reason) = stop::requested() {
            results.stopped = Some(reason);
            results.missing.push(format!("{name}: not started"));
            continue;
        }
        run_section(section, &bench, &mut results);
        results.seconds = bench.started.elapsed().as_secs_f64();
        output.write(&results)?;
    }
    results.stopped = results.stopped.or_else(stop::requested);
    results.seconds = bench.started.elapsed().as_secs_f64();
    output.write(&results)?;
    Ok(results)
}

/// Measures one section on a thread of its own, which it may pin.
fn run_section(&(name, _, new): &Entry, bench: &Bench, results: &mut Results) {
    let mut part = new();
    let outcome = thread::scope(|scope| {
        let measure = || {
            stop::guard(|| {
                bench.say(name);
                part.measure(bench);
            })
        };
        scope.spawn(measure).join().expect("the guard catches panics")
    });
    results.note(name, outcome);
    // A stop after this point is for the next section: what is measured has to be reported.
    if let Outcome::Crashed(message) = stop::guard(|| part.report(results)) {
        results.note(name, Outcome::Crashed(message));
    }
    results.end_section(name);
}
