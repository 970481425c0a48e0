//! Follows the flows of a network capture with one map shared by many threads, then replays it:
//! `cargo run --release -p flows -- [FILE [THREADS [FLOWS]]]`.
//!
//! [`follow`] says how the flows are dealt to threads, and [`replay`] how sets of many more flows
//! are compared. The program fails after a false negative, if an item is left behind, or if there
//! are more false positives than the rate of the map allows.

mod capture;
mod follow;
mod replay;

use std::{
    env,
    io::{self, Write},
    num::NonZero,
    thread,
    time::Instant,
};

use anyhow::{Context, Result, ensure};
use guira::CuckooMap;

use follow::{Followed, Tally};

/// Target false-positive rate of all filters.
const RATE: f64 = 0.001;
/// Live flows that the map has room for.
const CAPACITY: usize = 1_000_000;
/// Live flows of the replay: so many that the half of a hash table that is in use is nearly full.
const FLOWS: usize = 850_000;
const USAGE: &str = "usage: flows [FILE [THREADS [FLOWS]]]";

/// Writes what the threads did with the flows, and returns the sum of it.
fn report(followed: &Followed, map: &CuckooMap, out: &mut impl Write) -> io::Result<Tally> {
    writeln!(
        out,
        "thread  packets  flow lives  live at most  closed  idle  left  false positives"
    )?;
    for (nth, tally) in (1..).zip(&followed.owners) {
        let Tally { packets, started, max_live, closed, idled, left, false_positives, .. } = tally;
        write!(out, "{nth:>6}  {packets:>7}  {started:>10}  {max_live:>12}  {closed:>6}")?;
        writeln!(out, "  {idled:>4}  {left:>4}  {false_positives:>15}")?;
    }
    let (packets, flows) = (followed.packets, followed.flows);
    let total: Tally = followed.owners.iter().copied().sum();
    let (outside, found, late) = (packets - total.packets, total.false_positives, total.late);
    let (new, rate) = (total.started - late, map.false_positive_rate());
    writeln!(out, "\n{packets} packets ({outside} outside flows, {late} late) of {flows} flows")?;
    writeln!(out, "{found} false positives in {new} lookups of new flows (full map: {rate:.5})")?;
    let bits = map.size_in_bytes() as f64 * 8.0 / CAPACITY as f64;
    writeln!(out, "{bits:.1} bits per flow, with room for {CAPACITY} flows")?;
    Ok(total)
}

fn main() -> Result<()> {
    let mut args = env::args().skip(1);
    let file = args.next().unwrap_or(capture::SHIPPED.into());
    let mut number = |default| args.next().map_or(Ok(default), |number| number.parse());
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let (threads, flows) = (number(cores).context(USAGE)?, number(FLOWS).context(USAGE)?);
    ensure!((1..=1024).contains(&threads) && flows > 0 && args.next().is_none(), USAGE);
    let map = CuckooMap::builder()
        .capacity(CAPACITY)
        .false_positive_rate(RATE)
        .value_bits(usize::BITS - (threads - 1).leading_zeros())
        .build()?;
    let (mut out, start) = (io::stdout(), Instant::now());
    writeln!(out, "{threads} threads follow the flows of {file}, by one map that they share\n")?;
    let followed = follow::follow(file.as_ref(), &map, threads).context(file)?;
    let total = report(&followed, &map, &mut out)?;
    ensure!(!followed.recorded.is_empty(), "the capture has no flows");
    let (missed, left) = replay::replay(&followed.recorded, (flows, threads), &mut out)?;
    let (missed, left) = (missed + total.false_negatives, left + map.len());
    let took = start.elapsed();
    writeln!(out, "\nfound {missed} false negatives, {left} flows left behind, in {took:.1?}")?;
    // By chance, more false positives occur less than once in 10^8 runs.
    let mean = (total.started - total.late) as f64 * map.false_positive_rate();
    let keeps_rate = total.false_positives as f64 <= mean + 6.0 * mean.sqrt() + 6.0;
    ensure!(missed == 0 && left == 0 && keeps_rate, "a guarantee is broken");
    Ok(())
}
