//! Command-line arguments.

use std::{num::NonZero, path::PathBuf, thread, time::Duration};

use lexopt::{Arg, Parser, ValueExt};

pub const HELP: &str = "\
Follows the flows of network captures with one cuckoo map shared by many threads, then replays the
captures through a cuckoo filter and through exact sets.

Usage: flows [OPTIONS] [FILES]

FILES are pcap or pcapng captures. Without any, the program reads the one in its source folder.

  --threads N    threads to use (default: one per core)
  --rate R       target false-positive rate (default: 0.001)
  --capacity N   live flows to make room for while following the captures (default: as many as
                 the files can hold, at most 4194304)
  --seconds S    duration of the replay; 0 skips it (default: 3)
  --flows N      live flows of the replay (default: 1700000)
  --help         print this text
";

/// What the user chose.
#[derive(Debug)]
pub struct Args {
    pub files: Vec<PathBuf>,
    pub threads: usize,
    pub rate: f64,
    pub capacity: Option<usize>,
    /// Duration of the whole replay.
    pub replay: Duration,
    /// Live flows of the replay. With the default, the exact sets are in their favour: between
    /// insertions and removals, a hash table grows until at most half of its capacity is in use,
    /// and here this half is nearly full.
    pub flows: usize,
    pub wants_help: bool,
}

impl Args {
    pub fn parse(mut parser: Parser) -> Result<Self, lexopt::Error> {
        let mut args = Self {
            files: Vec::new(),
            threads: thread::available_parallelism().map_or(1, NonZero::get),
            rate: 0.001,
            capacity: None,
            replay: Duration::from_secs(3),
            flows: 1_700_000,
            wants_help: false,
        };
        while let Some(arg) = parser.next()? {
            match arg {
                Arg::Long("threads") => args.threads = number(&mut parser, 1024)?,
                Arg::Long("rate") => args.rate = parser.value()?.parse()?,
                Arg::Long("capacity") => args.capacity = Some(number(&mut parser, usize::MAX)?),
                Arg::Long("seconds") => {
                    args.replay = parser.value()?.parse_with(|seconds| {
                        let seconds = seconds.parse().map_err(|_| "not a number")?;
                        Duration::try_from_secs_f64(seconds).map_err(|_| "not a duration")
                    })?;
                }
                Arg::Long("flows") => args.flows = number(&mut parser, 1 << 28)?,
                Arg::Short('h') | Arg::Long("help") => args.wants_help = true,
                Arg::Value(file) => args.files.push(file.into()),
                _ => return Err(arg.unexpected()),
            }
        }
        Ok(args)
    }
}

/// Parses the value of an option: a number from 1 to `max`.
fn number(parser: &mut Parser, max: usize) -> Result<usize, lexopt::Error> {
    parser.value()?.parse_with(|value| match value.parse() {
        Ok(number) if (1..=max).contains(&number) => Ok(number),
        _ => Err(format!("not a number from 1 to {max}")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Args, String> {
        let parser = Parser::from_args(line.split_whitespace());
        Args::parse(parser).map_err(|error| error.to_string())
    }

    #[test]
    fn takes_options_and_files() {
        let args = parse("--threads 3 a.pcap --seconds=0.5 b.pcap").unwrap();
        assert_eq!((args.threads, args.replay), (3, Duration::from_millis(500)));
        assert_eq!(args.files, [PathBuf::from("a.pcap"), PathBuf::from("b.pcap")]);
        assert!(parse("--help").unwrap().wants_help);
    }

    #[test]
    fn rejects_what_it_cannot_use() {
        for line in
            ["--threads 0", "--threads 1025", "--seconds -1", "--seconds x", "--flows 0", "--speed"]
        {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
