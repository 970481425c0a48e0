//! Follows the flows of network captures with one map shared by many threads, then replays them.
//!
//! ```text
//! cargo run --release -p flows -- [OPTIONS] [FILES]
//! ```
//!
//! **Following.** A flow is a two-way 5-tuple. While it lives, its packets all go to the same
//! thread, its *owner*. One thread reads the packets and deals them to the owners. It finds the
//! owner of a flow in a [`CuckooMap`](guira::CuckooMap) that all threads share:
//!
//! - The dealer looks up the flows of a burst of packets together (`get_batch`). A flow that is not
//!   in the map gets the owner with the fewest packets so far (`insert_unique`).
//! - For every packet of such a flow, its owner must find its own number in the map, whatever the
//!   other threads insert and remove meanwhile. A *false negative* or a wrong number ends the
//!   program with exit status 1. To check this, owners keep an exact record of their flows.
//! - A new flow for which the map returns the number of another one is a *false positive*. It goes
//!   to that flow's owner. If there are more of them than the rate of the map allows, the program
//!   ends with exit status 1.
//! - The owner removes a flow that ends: with a FIN from both sides, an RST, or a minute of silence
//!   on the capture clock. Its next packet starts it anew. A packet that was dealt before is
//!   *late*: it starts the flow anew at the same owner, but not in the map.
//! - All threads look up the flows that are left at the end; their owners remove them. The map must
//!   then be empty.
//!
//! **Replay.** See [`replay`]: a filter beside exact sets, with many more flows.
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
use guira::CuckooMap;
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

/// Builds a map from flows to the numbers of threads.
fn build(capacity: usize, rate: f64, threads: usize) -> Result<CuckooMap, Failure> {
    CuckooMap::builder()
        .capacity(capacity)
        .false_positive_rate(rate)
        .value_bits(usize::BITS - (threads - 1).leading_zeros())
        .build()
        .map_err(|error| Failure::unusable(format!("cannot build the map: {error}")))
}

fn print(text: &str) -> Result<(), Failure> {
    let written = io::stdout().write_all(text.as_bytes());
    written.map_err(|error| Failure::unusable(format!("standard output: {error}")))
}

/// Follows the captures and prints a report. Returns the packets to replay, and the number of flows
/// in the map after all were removed.
fn follow(args: &Args) -> Result<(Vec<Packet>, usize), Failure> {
    let shipped = [PathBuf::from(capture::SHIPPED)];
    let files = if args.files.is_empty() { &shipped[..] } else { &args.files };
    let captures: Vec<Capture> =
        files.iter().cloned().map(Capture::find).collect::<Result<_, _>>()?;
    let capacity = args.capacity.unwrap_or_else(|| capacity_for(&captures));
    let map = build(capacity, args.rate, args.threads)?;
    let start = Instant::now();
    let followed = follow::follow(&captures, &map, args.threads)?;
    let elapsed = start.elapsed();
    follow::clear(&map, &followed.live)?;
    print(&report::followed(&map, &followed, elapsed))?;
    Ok((followed.recorded, map.len()))
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
    print(&format!("\nfalse negatives  {false_negatives}\nleft behind      {left}\n"))?;
    if false_negatives > 0 || left > 0 {
        return Err(Failure::broken("the map or the filter broke a guarantee"));
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
