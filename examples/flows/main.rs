//! Follows the network flows of real captures, with one filter shared by many threads.
//!
//! ```text
//! cargo run --release --example flows -- [--replay SECONDS] [FILES]
//! ```
//!
//! The files are pcap or pcapng captures of IPv4 and IPv6 traffic; without any, the capture is
//! read that the crate `pcap-parser` ships. The packets are dealt to the threads by the hash of
//! their two-way 5-tuple, so each flow has one owner, which keeps it in an exact set; all owners
//! share one [`CuckooFilter`]:
//!
//! - the first packet of a flow asks the filter, which knows it only by mistake (a *false
//!   positive*, counted against the promised rate), and then inserts it;
//! - every later packet must find its flow, whatever the other threads insert and remove in the
//!   meantime (a *false negative* ends the run with exit status 1);
//! - a flow that ends (a FIN from both sides, an RST, or a minute of silence on the capture's own
//!   clock) is removed by its owner, and its next packet starts it anew;
//! - what is left at the end is looked up again from threads that do not own it, and removed; the
//!   filter must then be empty.
//!
//! With `--replay` the packets are looped from memory, to see how many a second each thread follows: see
//! [`replay`].
//!
//! Input that cannot be read, one that stops in the middle of a packet included, is reported in
//! one line, with exit status 2.

mod capture;
mod follow;
mod packet;
mod replay;

use std::{
    io::{self, Write},
    num::NonZero,
    path::PathBuf,
    process::ExitCode,
    thread,
    time::{Duration, Instant},
};

use capture::{Capture, find_captures};
use clap::Parser;
use follow::{Owner, Tally, clear, follow};
use guira::CuckooFilter;

/// A second on the capture clock, which counts microseconds.
const SECOND: u64 = 1_000_000;
/// The fewest bytes of a file that can start a flow: a record header of 16 and an IP header of 20.
const LEAST_RECORD: u64 = 36;
/// The most flows that the filter makes room for unless told otherwise.
const CAPACITY_MOST: usize = 1 << 22;

/// Follow the flows of captures with one cuckoo filter shared by many threads
#[derive(Parser)]
#[command(name = "flows")]
struct Args {
    /// Captures to read, pcap or pcapng [default: the one that pcap-parser ships]
    files: Vec<PathBuf>,
    /// Threads to deal the packets to [default: as many as there are cores]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Live flows to make room for [default: as many as the files can hold, at most 4194304]
    #[arg(long)]
    capacity: Option<usize>,
    /// False-positive rate to ask for
    #[arg(long, default_value_t = 0.001)]
    rate: f64,
    /// Replay the captures from memory, every thread all of them, for so many seconds, one packet after
    /// another and then in bursts
    #[arg(long, value_name = "SECONDS")]
    replay: Option<f64>,
}

/// Why the run ended early: an exit status and one line for standard error.
struct Failure(u8, String);

/// The failure of a filter that broke a promise.
fn broken(line: impl Into<String>) -> Failure {
    Failure(1, line.into())
}

/// The failure of a run whose input, or whose options, cannot be used.
fn unusable(line: impl Into<String>) -> Failure {
    Failure(2, line.into())
}

/// Room for as many live flows as the captures can hold, within reason.
fn capacity_for(captures: &[Capture]) -> usize {
    if captures.iter().any(|capture| capture.bytes == 0) {
        return CAPACITY_MOST;
    }
    let bytes: u64 = captures.iter().map(|capture| capture.bytes).sum();
    usize::try_from(bytes / LEAST_RECORD)
        .map_or(CAPACITY_MOST, |flows| flows.clamp(1, CAPACITY_MOST))
}

/// Puts together what a run has to say.
#[allow(clippy::cast_precision_loss)] // The counts are far below 2^52.
fn report(filter: &CuckooFilter, tally: &Tally, threads: usize, elapsed: Duration) -> String {
    let seconds = elapsed.as_secs_f64();
    let in_flows = tally.packets - tally.others;
    let (bytes, capacity) = (filter.size_in_bytes(), filter.capacity());
    format!(
        "\
packets          {packets}
outside flows    {others} (not IP, or not decoded)
flows            {distinct}
live at once     {most_live} at most
threads          {threads}
throughput       {throughput:.3} million packets/s, reading included ({seconds:.3} s)
thread time      {busy:.0} ns/packet, exact set and filter
memory per flow  {bits:.2} bits ({bytes} bytes for {capacity} flows)
false positives  {false_positives} of {asks} asks: {rate:.6}, bound {bound:.6}
false negatives  0 of {lookups} look-ups
flows ended      {closed} closed, {idled} idle, {left} at the end
left in filter   {in_filter}
",
        packets = tally.packets,
        others = tally.others,
        distinct = tally.distinct,
        most_live = tally.most_live,
        throughput = ratio(tally.packets as f64, seconds * 1e6),
        busy = ratio(tally.busy.as_secs_f64() * 1e9, in_flows as f64),
        bits = ratio(bytes as f64 * 8.0, capacity as f64),
        false_positives = tally.false_positives,
        asks = tally.asks,
        rate = ratio(tally.false_positives as f64, tally.asks as f64),
        bound = filter.false_positive_rate(),
        lookups = tally.lookups,
        closed = tally.closed,
        idled = tally.idled,
        left = tally.left,
        in_filter = filter.len(),
    )
}

/// A quotient, 0 where nothing is divided by nothing.
fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

/// Does everything and prints the report.
fn run(args: &Args) -> Result<(), Failure> {
    let captures = find_captures(&args.files)?;
    let threads = args
        .threads
        .map_or_else(|| thread::available_parallelism().map_or(1, NonZero::get), usize::from);
    if let Some(seconds) = args.replay {
        return replay_all(args, &captures, threads, seconds);
    }
    let filter = CuckooFilter::builder()
        .capacity(args.capacity.unwrap_or_else(|| capacity_for(&captures)))
        .false_positive_rate(args.rate)
        .build()
        .map_err(|error| unusable(format!("no such filter: {error}")))?;

    let start = Instant::now();
    let (mut tally, owners) = follow(&captures, &filter, threads)?;
    let elapsed = start.elapsed();

    for owner in &owners {
        tally.add(&owner.tally);
    }
    clear(&filter, &owners.into_iter().map(Owner::into_live).collect::<Vec<_>>())?;

    let report = report(&filter, &tally, threads, elapsed);
    let written = io::stdout().write_all(report.as_bytes());
    written.map_err(|error| unusable(format!("standard output: {error}")))
}

/// Replays the captures in both ways, and prints how fast.
fn replay_all(
    args: &Args,
    captures: &[Capture],
    threads: usize,
    seconds: f64,
) -> Result<(), Failure> {
    let time = Duration::try_from_secs_f64(seconds)
        .map_err(|error| unusable(format!("--replay {seconds}: {error}")))?;
    if time.is_zero() {
        return Err(unusable("--replay takes more than no time"));
    }
    let flows = replay::flows(captures)?;
    let filter = CuckooFilter::builder()
        .capacity(args.capacity.unwrap_or(flows.len() * threads))
        .false_positive_rate(args.rate)
        .build()
        .map_err(|error| unusable(format!("no such filter: {error}")))?;
    let mut lines = vec![
        format!("packets          {} of flows in the captures", flows.len()),
        format!("threads          {threads}"),
    ];
    for (name, in_bursts) in [("one by one      ", false), ("bursts of 32    ", true)] {
        let replay = replay::replay(&filter, &flows, threads, time, in_bursts)?;
        let speeds: Vec<String> = replay.speeds.iter().map(|speed| format!("{speed:.1}")).collect();
        let sum: f64 = replay.speeds.iter().sum();
        let (speeds, packets) = (speeds.join(" + "), replay.packets);
        lines.push(format!("{name} {sum:.1} million packets/s ({speeds}), {packets} packets"));
    }
    lines.extend(["false negatives  0", "left in filter   0", ""].map(String::from));
    let written = io::stdout().write_all(lines.join("\n").as_bytes());
    written.map_err(|error| unusable(format!("standard output: {error}")))
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure(status, line)) => {
            eprintln!("flows: {line}");
            ExitCode::from(status)
        }
    }
}
