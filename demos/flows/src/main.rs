//! Follows the flows of a network capture with one map shared by many threads, then replays it.
//!
//! ```text
//! cargo run --release -p flows -- [OPTIONS] [FILE]
//! ```
//!
//! **Following.** A flow is a two-way 5-tuple. While it lives, its packets all go to the same
//! thread, its *owner*. One thread reads the packets and deals them to the owners. It finds the
//! owner of a flow in a [`CuckooMap`] that all threads share:
//!
//! - The dealer looks up the flows of a batch of packets together (`get_batch`). A flow that is not
//!   in the map gets the owner with the fewest packets so far (`insert_unique`).
//! - For every packet of such a flow, its owner must find its own number in the map, whatever the
//!   other threads insert and remove meanwhile. Anything else is a *false negative*. To notice it,
//!   owners keep an exact record of their flows.
//! - A new flow for which the map returns the number of another one is a *false positive*. It goes
//!   to that flow's owner.
//! - The owner removes a flow that ends: with a FIN from both sides, an RST, or a minute of silence
//!   on the capture clock. Its next packet starts it anew. A packet that was dealt before is
//!   *late*: it starts the flow anew at the same owner, but not in the map.
//!
//! **Replay.** See [`replay`]: filters beside an exact set, with many more flows.
//!
//! The program fails after a false negative, if an item is left behind, or if there are more false
//! positives than the rate of the map allows.

mod capture;
mod follow;
mod replay;

use std::{
    io::{self, Write},
    num::NonZero,
    path::PathBuf,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use clap::{Parser, value_parser};
use guira::CuckooMap;

use follow::{Followed, Tally};

/// Follows the flows of a network capture with one cuckoo map shared by many threads, then replays
/// the capture through cuckoo filters and through an exact set.
#[derive(Parser)]
struct Args {
    /// A pcap or pcapng capture. The default is in the program's source folder
    #[arg(default_value = capture::SHIPPED, hide_default_value = true)]
    file: PathBuf,
    /// Threads to use, by default one per core
    #[arg(long, value_parser = value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Target false-positive rate
    #[arg(long, default_value_t = 0.001)]
    rate: f64,
    /// Live flows to make room for while following the capture
    #[arg(long, default_value_t = 1_000_000, value_parser = value_parser!(u64).range(1..))]
    capacity: u64,
    /// The most live flows of the replay; 0 skips it. The default favours the exact set: between
    /// insertions and removals, a hash table grows until at most half of its capacity is in use,
    /// and here this half is nearly full
    #[arg(long, default_value_t = 850_000, value_parser = value_parser!(u64).range(..=1 << 28))]
    flows: u64,
}

/// Reports how the threads followed the capture.
fn report(map: &CuckooMap, threads: usize, followed: &Followed, elapsed: Duration) -> String {
    let Followed { packets, flows, max_dealt, total, .. } = followed;
    let Tally { started, false_positives, late, closed, idled, left, max_live, .. } = total;
    let (capacity, rate, new) = (map.capacity(), map.false_positive_rate(), started - late);
    format!(
        "\
packets          {packets} ({} outside flows)
flows            {flows}, at most {max_live} live at once
flows ended      {closed} closed, {idled} idle, {left} at the end
threads          {threads}, none with more than {max_dealt} packets
speed            {:.2} million packets/s, reading included; {:.0} ns/packet of thread time
memory           {:.1} bits per flow, with room for {capacity} flows
false positives  {false_positives} of {new} lookups of new flows (rate of a full map: {rate:.5})
late packets     {late} arrived after their flow had ended
",
        packets - total.packets,
        *packets as f64 / elapsed.as_secs_f64() / 1e6,
        total.busy.as_secs_f64() * 1e9 / total.packets.max(1) as f64,
        map.size_in_bytes() as f64 * 8.0 / capacity as f64,
    )
}

fn main() -> Result<()> {
    let args = Args::parse();
    let cores = || thread::available_parallelism().map_or(1, NonZero::get);
    let threads = args.threads.map_or_else(cores, usize::from);
    let map = CuckooMap::builder()
        .capacity(args.capacity as usize)
        .false_positive_rate(args.rate)
        .value_bits(usize::BITS - (threads - 1).leading_zeros())
        .build()
        .context("cannot build the map")?;
    let (mut out, start) = (io::stdout(), Instant::now());
    let followed = follow::follow(&args.file, &map, threads);
    let followed = followed.with_context(|| args.file.display().to_string())?;
    out.write_all(report(&map, threads, &followed, start.elapsed()).as_bytes())?;
    let total = &followed.total;
    let (mut false_negatives, mut left) = (total.false_negatives, map.len());
    if args.flows > 0 && !followed.recorded.is_empty() {
        let size = (args.flows as usize, threads);
        let (missed, remaining) = replay::replay(&followed.recorded, size, args.rate, &mut out)?;
        false_negatives += missed;
        left += remaining;
    }
    writeln!(out, "\nfalse negatives  {false_negatives}\nleft behind      {left}")?;
    // By chance, more false positives occur less than once in 10^8 runs.
    let mean = (total.started - total.late) as f64 * map.false_positive_rate();
    let keeps_rate = total.false_positives as f64 <= mean + 6.0 * mean.sqrt() + 6.0;
    ensure!(false_negatives == 0 && left == 0 && keeps_rate, "a guarantee is broken");
    Ok(())
}
