//! Replays a capture on all threads, to measure how many packets a set of flows can follow.
//!
//! The flows of one capture fit in any cache. Therefore many sites play the capture side by side,
//! each with hosts of its own. A burst holds the same packet of 32 sites. Per burst, a thread looks
//! up all flows, inserts the missing ones and removes those that end. The capture says which flows
//! are new, and one bit per flow records which ones the thread inserted; that gives exact counts of
//! false positives and false negatives. An application needs such a record, too: it must not remove
//! a flow that it did not insert.

use std::{
    array,
    collections::HashMap,
    io::Write,
    thread,
    time::{Duration, Instant},
};

use anyhow::Result;
use dashmap::DashMap;
use guira::{
    CuckooFilter, Filter, GrowingFilter, StableHashBuilder,
    kind::{Growth, Set},
};

use crate::{
    RATE,
    capture::{FlowKey, Packet},
};

/// Capacity of the filter, in multiples of the live flows. A filter that is used to capacity while
/// flows come and go refuses one now and then.
const HEADROOM: f64 = 1.1;
/// Shards of the concurrent exact set: so many that two threads rarely want the same one.
const SHARDS: usize = 256;

/// Packets of a burst. Network drivers deliver packets in bursts of about this size.
const BURST: usize = 32;

/// The packets of a capture, and when its flows live: from the first packet to the last.
struct Schedule {
    flows: Vec<FlowKey>,
    /// Of each packet the index of its flow, and whether it is the first one of it, or the last.
    steps: Vec<(usize, bool, bool)>,
    /// The most flows that are live at once.
    max_live: usize,
}

impl Schedule {
    fn new(packets: &[Packet]) -> Self {
        let last: HashMap<_, _> =
            (0..).zip(packets).map(|(at, packet)| (packet.flow, at)).collect();
        let (mut flows, mut steps, mut indices) = (Vec::new(), Vec::new(), HashMap::new());
        let (mut live, mut max_live) = (0, 0);
        for (at, packet) in packets.iter().enumerate() {
            let starts = !indices.contains_key(&packet.flow);
            let flow = *indices.entry(packet.flow).or_insert(flows.len());
            flows.extend(starts.then_some(packet.flow));
            let ends = last[&packet.flow] == at;
            live += usize::from(starts);
            max_live = max_live.max(live);
            live -= usize::from(ends);
            steps.push((flow, starts, ends));
        }
        Self { flows, steps, max_live }
    }
}

type Burst = [FlowKey; BURST];

/// A set of flows that threads share. Inserts and removals return whether they have changed it.
struct FlowSet<'a> {
    /// Bit `i` of the answer stands for flow `i` of the burst.
    look_up: Box<dyn Fn(&Burst) -> u32 + Sync + 'a>,
    insert: Box<dyn Fn(FlowKey) -> bool + Sync + 'a>,
    remove: Box<dyn Fn(&FlowKey) -> bool + Sync + 'a>,
    /// Returns the number of flows, and the memory in bytes.
    size: Box<dyn Fn() -> (usize, usize) + Sync + 'a>,
}

fn of_filter<G: Growth>(filter: &Filter<Set, G>) -> FlowSet<'_> {
    FlowSet {
        look_up: Box::new(|burst| filter.contains_mask(burst) as u32),
        insert: Box::new(|key| filter.insert_unique(&key).expect("room for all flows").is_new()),
        remove: Box::new(|key| filter.remove(key)),
        size: Box::new(|| (filter.len(), filter.size_in_bytes())),
    }
}

fn of_map(map: &DashMap<FlowKey, (), StableHashBuilder>) -> FlowSet<'_> {
    // A table has a byte of metadata for each slot.
    let slots = || map.shards().iter().map(|shard| shard.read().buckets()).sum::<usize>();
    FlowSet {
        look_up: Box::new(|burst| {
            let bit = |mask, key| mask << 1 | u32::from(map.contains_key(key));
            burst.iter().rev().fold(0, bit)
        }),
        insert: Box::new(|key| map.insert(key, ()).is_none()),
        remove: Box::new(|key| map.remove(key).is_some()),
        size: Box::new(move || (map.len(), slots() * (size_of::<FlowKey>() + 1))),
    }
}

/// False positives, and false negatives: lookups and removals of flows that the set should hold,
/// but does not.
type Outcome = [u64; 2];

/// Plays the whole schedule at the sites of one thread, which are in the networks from `network`
/// on, in groups of 32.
fn play(set: &FlowSet<'_>, schedule: &Schedule, (network, groups): (usize, usize)) -> Outcome {
    let [mut false_positives, mut false_negatives] = [0; 2];
    // For each flow and group of sites the mask of flows that this thread has inserted.
    let mut held = vec![0_u32; schedule.flows.len() * groups];
    for &(flow, starts, ends) in &schedule.steps {
        let held = &mut held[flow * groups..][..groups];
        for (held, network) in held.iter_mut().zip((network..).step_by(BURST)) {
            let moved = |at| schedule.flows[flow].moved_to((network + at) as u32);
            let burst: Burst = array::from_fn(moved);
            let known = (set.look_up)(&burst);
            false_positives += if starts { u64::from(known.count_ones()) } else { 0 };
            false_negatives += u64::from((*held & !known).count_ones());
            if !ends && known == u32::MAX {
                continue;
            }
            for (at, key) in burst.into_iter().enumerate() {
                let bit = 1 << at;
                if known & bit == 0 && (set.insert)(key) {
                    *held |= bit;
                }
                if ends && *held & bit != 0 {
                    false_negatives += u64::from(!(set.remove)(&key));
                    *held &= !bit;
                }
            }
        }
    }
    [false_positives, false_negatives]
}

/// Replays the schedule through a set, at 32 sites for each group and thread. Returns the time that
/// all threads took as well.
fn run(
    set: &FlowSet<'_>,
    schedule: &Schedule,
    (groups, threads): (usize, usize),
) -> (Outcome, Duration) {
    let start = Instant::now();
    let outcome = thread::scope(|scope| {
        let networks = (0..threads).map(|thread| thread * groups * BURST);
        let play = |network| scope.spawn(move || play(set, schedule, (network, groups)));
        let threads: Vec<_> = networks.map(play).collect();
        let outcomes = threads.into_iter().map(|thread| thread.join().expect("no panic"));
        outcomes.fold([0; 2], |[a, b], [c, d]| [a + c, b + d])
    });
    (outcome, start.elapsed())
}

/// Replays recorded packets, at least one, through filters and an exact set with about this many
/// live flows, and writes a table. Returns the false negatives, and the flows that are left.
pub fn replay(
    packets: &[Packet],
    (flows, threads): (usize, usize),
    out: &mut impl Write,
) -> Result<(u64, usize)> {
    let schedule = &Schedule::new(packets);
    let groups = flows.div_ceil(schedule.max_live * BURST * threads);
    let sites = groups * BURST * threads;
    let flows = schedule.max_live * sites;
    let hasher = StableHashBuilder::from_seed(1);
    let fixed = CuckooFilter::builder()
        .capacity((flows as f64 * HEADROOM) as usize)
        .false_positive_rate(RATE)
        .fastest()
        .hasher(hasher.clone())
        .build()?;
    let growing = GrowingFilter::builder()
        .capacity(1_000)
        .false_positive_rate(RATE)
        .hasher(hasher.clone())
        .build()?;
    let exact = DashMap::with_hasher_and_shard_amount(hasher, SHARDS);
    writeln!(out, "\nreplay with up to {flows} live flows by {threads} threads\n")?;
    writeln!(out, "million packets/s     MB  bytes/flow  false positives  false negatives  set")?;
    let (packets, starts) = (sites * schedule.steps.len(), sites * schedule.flows.len());
    let sets = [
        ("guira", of_filter(&fixed)),
        ("guira, growing", of_filter(&growing)),
        ("exact, sharded", of_map(&exact)),
    ];
    let (mut missed, mut left, mut seen) = (0, 0, Vec::new());
    for (name, set) in &sets {
        let ([false_positives, false_negatives], time) = run(set, schedule, (groups, threads));
        let (speed, bytes) = (packets as f64 / time.as_secs_f64() / 1e6, (set.size)().1 as f64);
        let (rate, per_flow) =
            (100.0 * false_positives as f64 / starts as f64, bytes / flows as f64);
        write!(out, "{speed:>17.1}  {:>5.1}  {per_flow:>10.1}  {rate:>13.3} %", bytes / 1e6)?;
        seen.push((speed, bytes));
        let bar = "#".repeat((40.0 * speed / seen[0].0) as usize);
        writeln!(out, "  {false_negatives:>15}  {name:<14}  {bar}")?;
        (missed, left) = (missed + false_negatives, left + (set.size)().0);
    }
    let (times, part) = (seen[0].0 / seen[2].0, seen[2].1 / seen[0].1);
    writeln!(out, "\n{times:.1} times the packets of the exact set, in 1/{part:.0} of its memory")?;
    Ok((missed, left))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::shipped;

    /// Plays the shipped capture once, at 64 sites of each thread.
    fn play(set: &FlowSet<'_>, threads: usize) -> Outcome {
        let schedule = Schedule::new(&shipped());
        assert_eq!((schedule.steps.len(), schedule.flows.len()), (4699, 257));
        run(set, &schedule, (2, threads)).0
    }

    #[test]
    fn an_exact_set_makes_no_errors_and_ends_empty() {
        let exact = DashMap::with_hasher(StableHashBuilder::from_seed(1));
        let outcome = play(&of_map(&exact), 3);
        assert_eq!((outcome, exact.len()), ([0; 2], 0));
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
            (play(&of_filter(&fixed), 1), 0.01),
            (play(&of_filter(&coarse), 1), 0.2),
            (play(&of_filter(&growing), 1), 0.01),
        ] {
            assert_eq!(outcome[1], 0);
            let share = outcome[0] as f64 / (64.0 * 257.0);
            assert!(share > rate / 100.0 && share < 1.2 * rate, "{share} of {rate}");
        }
        assert!(fixed.is_empty() && coarse.is_empty() && growing.is_empty());
        assert!(growing.capacity() >= 4 * before, "{growing:?}");
    }

    #[test]
    fn lost_flows_count_as_false_negatives() {
        let set = FlowSet {
            look_up: Box::new(|_| 0),
            insert: Box::new(|_| true),
            remove: Box::new(|_| false),
            size: Box::new(|| (0, 0)),
        };
        // All lookups but the first of a flow, and one removal for each first one.
        assert_eq!(play(&set, 1)[1], 64 * 4699);
    }
}
