//! Replays the capture through the filter and through exact sets, one after another.

use std::time::Duration;

use guira::{BuildError, CuckooFilter, GrowingFilter, StableHashBuilder};
use indicatif::{ProgressBar, ProgressStyle};

use crate::{
    args::Args,
    failure::Failure,
    packet::Packet,
    replay::replay,
    report::Row,
    schedule::{Schedule, Site, share},
    sets::{Exact, FlowSet, InBursts, NoSet, OneByOne, Sharded},
};

/// Capacity of the filter, in multiples of the live flows. A filter that is used to capacity while
/// flows come and go refuses one now and then.
const HEADROOM: f64 = 1.1;
/// First capacity of the filter that grows.
const FIRST_CAPACITY: usize = 1_000;
/// Number of replays.
const REPLAYS: u32 = 6;

/// What the replays found.
pub struct Comparison {
    pub rows: Vec<Row>,
    /// Live flows at the start of each replay.
    pub flows: usize,
    pub false_negatives: u64,
    /// Flows in the filter after all were removed.
    pub left: usize,
}

/// The parts that all replays share.
struct Stage {
    schedule: Schedule,
    sites: Vec<Site>,
    hasher: StableHashBuilder,
    /// Duration of one replay.
    time: Duration,
    bar: ProgressBar,
}

impl Stage {
    /// Replays the schedule through one set, with one thread per handle.
    fn run<S: FlowSet>(&self, name: &'static str, sets: Vec<S>) -> Result<Row, Failure> {
        let before = self.bar.position();
        let tick = |elapsed: Duration, packets: u64| {
            let speed = packets as f64 / elapsed.as_secs_f64() / 1e6;
            self.bar.set_position(before + elapsed.as_millis() as u64);
            self.bar.set_message(format!("{name}: {speed:.0} million packets/s"));
        };
        let outcome = replay(sets, (&self.schedule, &self.sites), &self.hasher, self.time, &tick)?;
        self.bar.set_position(before + self.time.as_millis() as u64);
        Ok(Row { name, outcome, bytes: None })
    }
}

/// Replays recorded packets, at least one, through all sets, and draws a progress bar meanwhile.
pub fn compare(args: &Args, recorded: &[Packet]) -> Result<Comparison, Failure> {
    let schedule = Schedule::new(recorded);
    let (sites, flows) = schedule.sites(args.flows, args.threads);
    let time = args.replay / REPLAYS;
    let style = ProgressStyle::with_template("{wide_bar} {msg:<50}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    let bar = ProgressBar::new(args.replay.as_millis() as u64).with_style(style);
    let stage = Stage { schedule, sites, hasher: StableHashBuilder::default(), time, bar };

    let (hasher, threads) = (&stage.hasher, args.threads);
    let shares = (0..threads).map(|thread| share(&stage.sites, thread, threads));
    let max_live: usize = shares.map(|sites| stage.schedule.max_live(&sites)).sum();
    let unusable =
        |error: BuildError| Failure::unusable(format!("cannot build the filter: {error}"));
    let filter = CuckooFilter::builder()
        .capacity((max_live as f64 * HEADROOM) as usize)
        .false_positive_rate(args.rate)
        .fastest()
        .hasher(hasher.clone())
        .build()
        .map_err(unusable)?;
    let growing = GrowingFilter::builder()
        .capacity(FIRST_CAPACITY)
        .false_positive_rate(args.rate)
        .hasher(hasher.clone())
        .build()
        .map_err(unusable)?;
    let (sharded, mut exact) = (Sharded::new(hasher), Exact::new(hasher));
    let mut rows = vec![
        stage.run("guira, bursts of 32", vec![InBursts(&filter); threads])?,
        stage.run("guira, one by one", vec![OneByOne(&filter); threads])?,
        stage.run("guira, growing", vec![InBursts(&growing); threads])?,
        stage.run("exact, sharded", vec![&sharded; threads])?,
        stage.run("exact, one thread", vec![&mut exact])?,
        stage.run("replay without a set", vec![NoSet; threads])?,
    ];
    let [fixed, growing_bytes] = [filter.size_in_bytes(), growing.size_in_bytes()];
    let sizes = [fixed, fixed, growing_bytes, sharded.size_in_bytes(), exact.size_in_bytes()];
    for (row, bytes) in rows.iter_mut().zip(sizes) {
        row.bytes = Some(bytes);
    }
    stage.bar.finish_and_clear();
    if exact.len() + sharded.len() > 0 {
        return Err(Failure::broken("all flows are removed, but an exact set is not empty"));
    }
    let false_negatives = rows.iter().map(|row| row.outcome.counts.false_negatives).sum();
    Ok(Comparison { rows, flows, false_negatives, left: filter.len() + growing.len() })
}
