//! The command line: what is measured, and how much of it.

use std::path::PathBuf;

use clap::Parser;

use crate::span::Span;

/// How much is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Quick,
    Usual,
    Full,
}

impl Mode {
    /// Picks the value of this mode.
    pub fn pick<T>(self, quick: T, usual: T, full: T) -> T {
        match self {
            Self::Quick => quick,
            Self::Usual => usual,
            Self::Full => full,
        }
    }
}

/// What to measure, and how much of it.
#[derive(Clone, Debug, Parser)]
#[command(
    about = "Measures guira beside its memory floor and other crates, and writes target/bench/"
)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub struct Options {
    /// Small tables, one round, at most two minutes in all: to see that everything works.
    #[arg(long, conflicts_with = "full")]
    pub quick: bool,
    /// More rounds, and the fit of the sizes: hours.
    #[arg(long)]
    pub full: bool,
    /// Only the sections, or the crates of the section `peers`, whose names contain NAME; see
    /// --list.
    #[arg(long, value_name = "NAME")]
    pub only: Vec<String>,
    /// Writes the figures into BENCHMARKS.md and README.md, too.
    #[arg(long, conflicts_with_all = ["quick", "only", "grow"])]
    pub publish: bool,
    /// Prints the names of the sections and of the compared crates.
    #[arg(long)]
    pub list: bool,
    /// A growth that the section `growing` measures, from a first capacity to a number of items:
    /// `4000..8000000`. It can be given several times [default: 1000..100000, 4000..8000000 and
    /// 60000..60000000, with --quick smaller].
    #[arg(long, value_name = "FROM..TO", value_parser = Span::parse)]
    pub grow: Vec<Span>,
    /// Folder of the report [default: bench in cargo's target folder].
    #[arg(long, value_name = "FOLDER")]
    pub output: Option<PathBuf>,
}

impl Options {
    pub fn mode(&self) -> Mode {
        match (self.quick, self.full) {
            (true, _) => Mode::Quick,
            (_, true) => Mode::Full,
            _ => Mode::Usual,
        }
    }
}
