//! Follows the flows of network captures with one filter shared by many threads, then replays them.
//!
//! ```text
//! cargo run --release -p flows -- [OPTIONS] [FILES]
//! ```
//!
//! **Following.** A flow is a two-way 5-tuple. Its packets all go to the same thread, its *owner*,
//! which keeps its flows in an exact map. All owners share one [`CuckooFilter`]:
//!
//! - For the first packet of a flow, the owner looks up the flow, which the filter should not
//!   contain (if it does, that is a *false positive*), and inserts it.
//! - The filter must contain the flow of every later packet, whatever the other threads insert and
//!   remove meanwhile. A *false negative* ends the program with exit status 1.
//! - The owner removes a flow that ends: with a FIN from both sides, an RST, or a minute of silence
//!   on the capture clock. Its next packet starts it anew.
//! - All threads look up the flows that are left at the end; their owners remove them. The filter
//!   must then be empty.
//!
//! **Replay.** See [`replay`]: the filter beside exact sets, with many more flows.
//!
//! For unreadable input, such as a capture that ends in the middle of a packet, the program prints
//! one line and ends with exit status 2.

mod args;
mod capture;
mod compare;
mod failure;
mod follow;
mod owner;
mod packet;
mod replay;
mod report;
mod schedule;
mod sets;

use std::{
    io::{self, Write},
    path::PathBuf,
    process::ExitCode,
    time::Instant,
};

use args::Args;
use capture::Capture;
use failure::Failure;
use follow::Followed;
use guira::{CuckooFilter, DefaultHashBuilder};
use packet::Packet;

/// The smallest record that can start a flow, in bytes: a header of 16 and an IP header of 20.
const MIN_RECORD: u64 = 36;
/// Limit on the default capacity. More flows need `--capacity`.
const MAX_CAPACITY: usize = 1 << 22;

/// Returns room for as many live flows as the captures can hold, within limits.
fn capacity_for(captures: &[Capture]) -> usize {
    if captures.iter().any(|capture| capture.bytes == 0) {
        return MAX_CAPACITY;
    }
    let bytes: u64 = captures.iter().map(|capture| capture.bytes).sum();
    usize::try_from(bytes / MIN_RECORD).map_or(MAX_CAPACITY, |flows| flows.clamp(1, MAX_CAPACITY))
}

fn build(capacity: usize, rate: f64, hasher: &DefaultHashBuilder) -> Result<CuckooFilter, Failure> {
    CuckooFilter::builder()
        .capacity(capacity)
        .false_positive_rate(rate)
        .fastest()
        .hasher(hasher.clone())
        .build()
        .map_err(|error| Failure::unusable(format!("cannot build the filter: {error}")))
}

fn print(text: &str) -> Result<(), Failure> {
    let written = io::stdout().write_all(text.as_bytes());
    written.map_err(|error| Failure::unusable(format!("standard output: {error}")))
}

/// Follows the captures and prints a report. Returns the packets to replay, and the number of flows
/// in the filter after all were removed.
fn follow(args: &Args) -> Result<(Vec<Packet>, usize), Failure> {
    let shipped = [PathBuf::from(capture::SHIPPED)];
    let files = if args.files.is_empty() { &shipped[..] } else { &args.files };
    let captures: Vec<Capture> =
        files.iter().cloned().map(Capture::find).collect::<Result<_, _>>()?;
    let capacity = args.capacity.unwrap_or_else(|| capacity_for(&captures));
    let filter = build(capacity, args.rate, &DefaultHashBuilder::default())?;
    let start = Instant::now();
    let Followed { tally, live, recorded } = follow::follow(&captures, &filter, args.threads)?;
    let elapsed = start.elapsed();
    follow::clear(&filter, &live)?;
    print(&report::followed(&filter, &tally, args.threads, elapsed))?;
    Ok((recorded, filter.len()))
}

fn run(args: &Args) -> Result<(), Failure> {
    let (recorded, mut left) = follow(args)?;
    // A false negative while following has ended the program.
    let mut false_negatives = 0;
    if !args.replay.is_zero() && !recorded.is_empty() {
        let comparison = compare::compare(args, &recorded)?;
        false_negatives += comparison.false_negatives;
        left += comparison.left;
        print(&report::replayed(&comparison))?;
    }
    print(&format!("\nfalse negatives  {false_negatives}\nleft in filter   {left}\n"))?;
    if false_negatives > 0 || left > 0 {
        return Err(Failure::broken("the filter broke a guarantee"));
    }
    Ok(())
}

fn main() -> ExitCode {
    let outcome = match Args::parse(lexopt::Parser::from_env()) {
        Ok(args) if args.wants_help => print(args::HELP),
        Ok(args) => run(&args),
        Err(error) => Err(Failure::unusable(format!("{error}; --help lists the options"))),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("flows: {failure}");
            ExitCode::from(failure.status())
        }
    }
}
