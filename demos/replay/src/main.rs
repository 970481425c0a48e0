//! The command line of the demo: reads the options, prints the report, sets the exit status.

use std::{
    io::{self, Write},
    process::ExitCode,
};

use lexopt::{Arg, Parser};
use replay::{Failure, Size};

const HELP: &str = "\
Delivers messages, some of them repeatedly, to filters that refuse what they have seen within a
window, and prints a table: memory, speed, and wrong answers.

Usage: replay [OPTIONS]

Options:
      --full  Forty times as many messages, so that no cache holds the filters
  -h, --help  Print this help

Exit status: 1 if an answer was wrong that must not be, 2 if an option cannot be used.
";

/// Parses the command line. Returns `None` if it requests the help text.
fn parse() -> Result<Option<Size>, lexopt::Error> {
    let mut size = Size::Usual;
    let mut parser = Parser::from_env();
    while let Some(arg) = parser.next()? {
        match arg {
            Arg::Long("full") => size = Size::Full,
            Arg::Short('h') | Arg::Long("help") => return Ok(None),
            _ => return Err(arg.unexpected()),
        }
    }
    Ok(Some(size))
}

/// Replays the deliveries and writes the report to standard output.
fn run() -> Result<(), Failure> {
    let size = parse().map_err(|error| Failure::Unusable(error.to_string()))?;
    let text = match size {
        Some(size) => replay::run(size)?,
        None => HELP.into(),
    };
    let written = io::stdout().write_all(text.as_bytes());
    written.map_err(|error| Failure::Unusable(format!("standard output: {error}")))
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("replay: {failure}");
            ExitCode::from(failure.exit_status())
        }
    }
}
