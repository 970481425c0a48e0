//! Replays a capture on all threads, to measure how many packets a set of flows can follow.
//!
//! The flows of one capture fit in any cache. Therefore many sites play the capture side by side,
//! each with hosts of its own. A burst holds the same packet of 32 sites, and all sites play it
//! before the next one. Between two packets of a flow, a thread thus looks up flows of all its
//! sites, and a set that exceeds the cache pays for it.
//!
//! Per burst, a thread looks up all flows, inserts the missing ones and removes those that end. The
//! capture says which flows are new, and one bit per flow records which ones the thread inserted;
//! that gives exact counts of false positives and false negatives. An application needs such a
//! record, too: it must not remove a flow that it did not insert.

use std::{
    array,
    collections::HashMap,
    hash::BuildHasher,
    io::Write,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use dashmap::DashMap;
use derive_more::Add;
use guira::{CuckooFilter, FromSeed, GrowingFilter, StableHashBuilder};

use crate::capture::{CLOSED, FlowKey, Packet};

/// Capacity of the filter, in multiples of the live flows. A filter that is used to capacity while
/// flows come and go refuses one now and then.
const HEADROOM: f64 = 1.1;
/// First capacity of the filter that grows.
const FIRST_CAPACITY: usize = 1_000;
/// Shards of the concurrent exact set: so many that two threads rarely want the same one.
const SHARDS: usize = 256;

/// Packets of a burst. Network drivers deliver packets in bursts of about this size.
const BURST: usize = 32;

/// A packet of the schedule.
struct Step {
    /// Index of the packet's flow.
    flow: usize,
    /// Whether the packet begins a life of the flow.
    starts: bool,
    /// Whether the packet ends a life of the flow: it closes the flow or is its last one.
    ends: bool,
}

/// The packets of a capture, and when its flows live.
struct Schedule {
    flows: Vec<FlowKey>,
    steps: Vec<Step>,
    /// Lives of flows, and so lookups of absent flows.
    starts: usize,
    /// The most flows that are live at once.
    max_live: usize,
}

impl Schedule {
    fn new(packets: &[Packet]) -> Self {
        let (mut flows, mut steps) = (Vec::new(), Vec::<Step>::new());
        // Of each flow its index, and of each live flow its latest step and how far it is closed.
        let (mut indices, mut live) = (HashMap::new(), HashMap::<usize, (usize, u8)>::new());
        for (at, packet) in packets.iter().enumerate() {
            let flow = *indices.entry(packet.flow).or_insert_with(|| {
                flows.push(packet.flow);
                flows.len() - 1
            });
            let starts = !live.contains_key(&flow);
            let (latest, closed) = live.entry(flow).or_default();
            *latest = at;
            *closed |= packet.closes;
            let ends = *closed == CLOSED;
            if ends {
                live.remove(&flow);
            }
            steps.push(Step { flow, starts, ends });
        }
        for (latest, _) in live.into_values() {
            steps[latest].ends = true;
        }
        let (mut starts, mut ends, mut max_live) = (0, 0, 0);
        for step in &steps {
            starts += usize::from(step.starts);
            max_live = max_live.max(starts - ends);
            ends += usize::from(step.ends);
        }
        Self { flows, steps, starts, max_live }
    }
}

/// The operations of a set of flows that threads share. Bit `i` of a lookup's answer stands for
/// flow `i` of the burst. The other two return whether they have changed the set.
#[derive(Clone, Copy)]
struct FlowSet<'a> {
    look_up: &'a (dyn Fn(&[FlowKey; BURST]) -> u32 + Sync),
    insert: &'a (dyn Fn(FlowKey) -> bool + Sync),
    remove: &'a (dyn Fn(&FlowKey) -> bool + Sync),
}

/// Returns the operations of a filter.
macro_rules! of_filter {
    ($filter:ident) => {
        FlowSet {
            look_up: &|burst| $filter.contains_mask(burst) as u32,
            insert: &|key| $filter.insert_unique(&key).expect("room for all flows").is_new(),
            remove: &|key| $filter.remove(key),
        }
    };
}

/// Returns the operations of an exact set.
macro_rules! of_map {
    ($map:ident) => {
        FlowSet {
            look_up: &|burst| {
                burst
                    .iter()
                    .rev()
                    .fold(0, |mask, key| mask << 1 | u32::from($map.contains_key(key)))
            },
            insert: &|key| $map.insert(key, ()).is_none(),
            remove: &|key| $map.remove(key).is_some(),
        }
    };
}

/// Returns the size of an exact set. A table has a byte of metadata for each slot.
fn size_in_bytes<S: BuildHasher + Clone>(exact: &DashMap<FlowKey, (), S>) -> usize {
    let slots = exact.shards().iter().map(|shard| shard.read().buckets());
    slots.sum::<usize>() * (size_of::<FlowKey>() + 1)
}

/// What a replay through a set found.
#[derive(Add, Default)]
struct Outcome {
    false_positives: u64,
    /// Lookups and removals of flows that the set should hold, but does not.
    false_negatives: u64,
}

/// Plays the whole schedule at the sites of one thread, which are in the networks from `network`
/// on, in groups of 32.
fn play(set: FlowSet<'_>, schedule: &Schedule, (network, groups): (usize, usize)) -> Outcome {
    let Outcome { mut false_positives, mut false_negatives } = Outcome::default();
    // For each flow and group of sites the mask of flows that this thread has inserted.
    let mut held = vec![0_u32; schedule.flows.len() * groups];
    for step in &schedule.steps {
        let held = &mut held[step.flow * groups..][..groups];
        for (held, network) in held.iter_mut().zip((network..).step_by(BURST)) {
            let moved = |at| schedule.flows[step.flow].moved_to((network + at) as u32);
            let burst: [FlowKey; BURST] = array::from_fn(moved);
            let known = (set.look_up)(&burst);
            false_positives += if step.starts { u64::from(known.count_ones()) } else { 0 };
            false_negatives += u64::from((*held & !known).count_ones());
            if !step.ends && known == u32::MAX {
                continue;
            }
            for (at, key) in burst.into_iter().enumerate() {
                let bit = 1 << at;
                if known & bit == 0 && (set.insert)(key) {
                    *held |= bit;
                }
                if step.ends && *held & bit != 0 {
                    false_negatives += u64::from(!(set.remove)(&key));
                    *held &= !bit;
                }
            }
        }
    }
    Outcome { false_positives, false_negatives }
}

/// Replays the schedule through a set, at 32 sites for each group and thread. Returns the time that
/// all threads took as well.
fn run(
    set: FlowSet<'_>,
    schedule: &Schedule,
    (groups, threads): (usize, usize),
) -> (Outcome, Duration) {
    let start = Instant::now();
    let outcome = thread::scope(|scope| {
        let networks = (0..threads).map(|thread| thread * groups * BURST);
        let play = |network| scope.spawn(move || play(set, schedule, (network, groups)));
        let threads: Vec<_> = networks.map(play).collect();
        let outcomes = threads.into_iter().map(|thread| thread.join().expect("no panic"));
        outcomes.fold(Outcome::default(), |sum, outcome| sum + outcome)
    });
    (outcome, start.elapsed())
}

/// Replays recorded packets, at least one, through filters and an exact set with about this many
/// live flows, and writes a table. Returns the false negatives, and the flows that are left.
pub fn replay(
    packets: &[Packet],
    (flows, threads): (usize, usize),
    rate: f64,
    out: &mut impl Write,
) -> Result<(u64, usize)> {
    let schedule = &Schedule::new(packets);
    let groups = flows.div_ceil(schedule.max_live * BURST * threads);
    let sites = groups * BURST * threads;
    let flows = schedule.max_live * sites;
    let hasher = StableHashBuilder::from_seed(1);
    let fixed = CuckooFilter::builder()
        .capacity((flows as f64 * HEADROOM) as usize)
        .false_positive_rate(rate)
        .fastest()
        .hasher(hasher.clone())
        .build()
        .context("cannot build the filter")?;
    let growing = GrowingFilter::builder()
        .capacity(FIRST_CAPACITY)
        .false_positive_rate(rate)
        .hasher(hasher.clone())
        .build()
        .context("cannot build the filter that grows")?;
    let exact = DashMap::with_hasher_and_shard_amount(hasher, SHARDS);
    let size = (groups, threads);
    let outcomes = [
        ("guira", run(of_filter!(fixed), schedule, size), fixed.size_in_bytes()),
        ("guira, growing", run(of_filter!(growing), schedule, size), growing.size_in_bytes()),
        ("exact, sharded", run(of_map!(exact), schedule, size), size_in_bytes(&exact)),
    ];
    writeln!(out, "\nreplay with up to {flows} live flows by {threads} threads\n")?;
    let head = "million packets/s     MB  bytes/flow  false positives  false negatives";
    writeln!(out, "set             {head}")?;
    let packets = sites * schedule.steps.len();
    for (name, (Outcome { false_positives, false_negatives }, time), bytes) in &outcomes {
        let (speed, bytes) = (packets as f64 / time.as_secs_f64() / 1e6, *bytes as f64);
        let rate = 100.0 * *false_positives as f64 / (sites * schedule.starts) as f64;
        let (size, per_flow) = (bytes / 1e6, bytes / flows as f64);
        write!(out, "{name:<14}  {speed:>17.1}  {size:>5.1}  {per_flow:>10.1}")?;
        writeln!(out, "  {rate:>13.3} %  {false_negatives:>15}")?;
    }
    let [(_, (_, filter), bytes), _, (_, (_, sharded), exact_bytes)] = &outcomes;
    let (speed, memory) = (sharded.div_duration_f64(*filter), exact_bytes / bytes);
    let claim = "times the packets of the sharded exact set";
    writeln!(out, "\n{speed:.1} {claim}, in 1/{memory} of its memory")?;
    let false_negatives = outcomes.iter().map(|(_, (outcome, _), _)| outcome.false_negatives).sum();
    Ok((false_negatives, fixed.len() + growing.len() + exact.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::shipped;

    /// Plays the shipped capture once, at 64 sites of each thread.
    fn play(set: FlowSet<'_>, threads: usize) -> Outcome {
        let schedule = Schedule::new(&shipped());
        assert_eq!((schedule.steps.len(), schedule.starts), (4699, 325));
        run(set, &schedule, (2, threads)).0
    }

    #[test]
    fn an_exact_set_makes_no_errors_and_ends_empty() {
        let exact = DashMap::new();
        let outcome = play(of_map!(exact), 3);
        assert_eq!((outcome.false_positives, outcome.false_negatives, exact.len()), (0, 0, 0));
    }

    #[test]
    fn filters_keep_their_rate_and_end_empty() {
        let [fixed, coarse] = [0.01, 0.2].map(|rate| {
            let builder = CuckooFilter::builder().capacity(20_000).false_positive_rate(rate);
            builder.seed(1).build().unwrap()
        });
        let growing = GrowingFilter::builder().capacity(1_000).false_positive_rate(0.01);
        let growing = growing.seed(1).build().unwrap();
        let before = growing.capacity();
        // A filter that grows finds what a fixed one finds, false positives aside.
        for (outcome, rate) in [
            (play(of_filter!(fixed), 1), 0.01),
            (play(of_filter!(coarse), 1), 0.2),
            (play(of_filter!(growing), 1), 0.01),
        ] {
            assert_eq!(outcome.false_negatives, 0);
            let share = outcome.false_positives as f64 / (64.0 * 325.0);
            assert!(share > rate / 100.0 && share < 1.2 * rate, "{share} of {rate}");
        }
        assert!(fixed.is_empty() && coarse.is_empty() && growing.is_empty());
        assert!(growing.capacity() >= 4 * before, "{growing:?}");
    }

    #[test]
    fn lost_flows_count_as_false_negatives() {
        let set = FlowSet { look_up: &|_| 0, insert: &|_| true, remove: &|_| false };
        // All lookups but the first of a flow, and one removal for each first one.
        assert_eq!(play(set, 1).false_negatives, 64 * 4699);
    }
}
