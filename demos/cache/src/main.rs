//! The command line of the demo: reads the options, prints the report, sets the exit status.

use std::{
    io::{self, Write},
    process::ExitCode,
    str::FromStr,
};

use cache::{Failure, MAX_THREADS, Options};
use lexopt::{Arg, Parser, ValueExt};

const HELP: &str = "\
Replays a trace through a cache and a store: without a filter between them, with a cuckoo filter,
and with an exact set. Checks every answer, and prints how the three compare.

Usage: cache [OPTIONS]

Options:
      --trace FILE     Replay the keys in FILE, xz-compressed little-endian u32
                       [default: 2,000,000 keys drawn from a Zipf distribution]
      --threads N      Replay with N threads [default: the number of available cores]
      --entries N      Hold at most N entries in the cache [default: one twentieth of the keys]
      --rate RATE      Target false-positive rate of the filter [default: 0.01]
      --changes SHARE  Share of accesses that write or delete their key [default: 0.002]
  -h, --help           Print this help

Exit status: 1 if an answer was wrong, 2 if an option or a file cannot be used.
";

/// Parses the command line. Returns `None` if it requests the help text.
fn parse() -> Result<Option<Options>, lexopt::Error> {
    let mut options = Options::default();
    let mut parser = Parser::from_env();
    while let Some(arg) = parser.next()? {
        match arg {
            Arg::Long("trace") => options.trace = Some(parser.value()?.into()),
            Arg::Long("threads") => {
                let valid = |threads: &_| (1..=MAX_THREADS).contains(threads);
                options.threads = number(&mut parser, "threads", valid, "a number from 1 to 1024")?;
            }
            Arg::Long("entries") => {
                options.entries = Some(number(&mut parser, "entries", |_| true, "a whole number")?);
            }
            Arg::Long("rate") => {
                let valid = |&rate: &f64| rate > 0.0 && rate < 1.0;
                options.rate = number(&mut parser, "rate", valid, "a number above 0 and below 1")?;
            }
            Arg::Long("changes") => {
                let valid = |share: &_| (0.0..=1.0).contains(share);
                options.changes = number(&mut parser, "changes", valid, "a number from 0 to 1")?;
            }
            Arg::Short('h') | Arg::Long("help") => return Ok(None),
            _ => return Err(arg.unexpected()),
        }
    }
    Ok(Some(options))
}

/// Parses the value of `option`, which must be `valid`.
fn number<T: FromStr>(
    parser: &mut Parser,
    option: &str,
    valid: impl FnOnce(&T) -> bool,
    expected: &str,
) -> Result<T, lexopt::Error> {
    let value = parser.value()?.string()?;
    let number = value.parse().ok().filter(valid);
    number.ok_or_else(|| format!("--{option} {value}: expected {expected}").into())
}

/// Replays the trace and writes the report to standard output.
fn run() -> Result<(), Failure> {
    let options = parse().map_err(|error| Failure::Unusable(error.to_string()))?;
    let text = match options {
        Some(options) => cache::run(&options)?,
        None => HELP.into(),
    };
    let written = io::stdout().write_all(text.as_bytes());
    written.map_err(|error| Failure::Unusable(format!("standard output: {error}")))
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("cache: {failure}");
            ExitCode::from(failure.exit_status())
        }
    }
}
