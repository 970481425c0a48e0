//! Runs the sections one after another, and keeps the results of each whatever happens to the
//! others.

use std::thread;

use anyhow::Result;

use crate::{
    bench::{Bench, Results, contains_any},
    options::{Mode, Options},
    output::Output,
    peers,
    sections::{Entry, LONG, SECTIONS},
    stop::{self, Outcome},
};

/// Returns whether a section or a crate has one of these names.
pub fn any_wanted(only: &[String]) -> bool {
    let mut names = SECTIONS.iter().map(|section| section.0).chain(peers::names());
    only.is_empty() || names.any(|name| contains_any(name, only))
}

/// Prints the names that `--only` takes.
pub fn list() {
    for (name, about, _) in SECTIONS {
        println!("{name:<12} {about}");
    }
    println!("\ncrates in the section peers: {}", peers::names().collect::<Vec<_>>().join(", "));
}

/// Measures the wanted sections, and writes the report after each of them.
pub fn all(options: &Options, output: &Output) -> Result<Results> {
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
}
