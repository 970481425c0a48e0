//! The project's own commands: `cargo xtask`.

mod counts;
mod fuzz;
mod models;
mod mutants;
mod recorded;
mod source;
mod vectors;

use std::{
    path::PathBuf,
    process::{self, ExitCode, Stdio},
};

use clap::{Parser, Subcommand};

/// The project's own commands.
#[derive(Debug, Parser)]
#[command(bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
enum Command {
    /// Weakens orderings and breaks the protocol, one at a time, and demands that a loom model
    /// fails.
    OrderingMutants(mutants::Options),
    /// Counts instructions per operation, and compares them with the recorded counts; skipped where
    /// a tool for it is missing.
    Counts(counts::Options),
    /// Prints what the last recorded run of the models and of the mutants found; fails where a
    /// model or a mutant has no record.
    Recorded,
    /// Checks that the compiler makes vectors of the loops over columns.
    Vectors,
    /// Fuzzes the library with every target of `fuzz/`; skipped where a tool for it is missing.
    Fuzz(fuzz::Options),
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::OrderingMutants(options) => mutants::run(&options),
        Command::Counts(options) => counts::run(&options),
        Command::Recorded => recorded::run(),
        Command::Vectors => vectors::run(),
        Command::Fuzz(options) => fuzz::run(options),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// The root of the repository.
fn root() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
        .canonicalize()
        .expect("the repository that this was built in")
}

/// Returns the output of a command, or `None` if it is missing or fails.
fn output(command: &mut process::Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}
