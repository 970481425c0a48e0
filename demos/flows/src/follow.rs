//! Follows the flows of a capture: a dealer passes each packet to the thread that owns its flow,
//! which it finds in a map that all threads share. A flow is a two-way 5-tuple.
//!
//! - The dealer looks up the flows of a batch together. One that is not in the map gets the owner
//!   with the fewest packets so far. From then on, its owner must find its own number in the map.
//!   Anything else is a *false negative*. To notice it, owners keep an exact record.
//! - A new flow that gets the number of another one is a *false positive*, and shares its owner.
//! - The owner removes a flow that ends: by a FIN from both sides, an RST, or a minute of silence.
//!   Its next packet starts it anew. A packet that was dealt before is *late*: it starts the flow
//!   anew at the same owner, but not in the map.

use std::{
    collections::{HashMap, HashSet, hash_map::Entry},
    mem,
    path::Path,
    sync::mpsc::{SyncSender, sync_channel},
    thread,
};

use anyhow::{Context, Result};
use derive_more::{Add, Sum};
use guira::{CuckooMap, Insertion};

use crate::capture::{self, CLOSED, FlowKey, Packet, SECOND};

/// Silence after which a flow ends, in microseconds.
const IDLE: u64 = 60 * SECOND;
/// Interval at which owners look for silent flows, in microseconds.
const SWEEP: u64 = SECOND;
/// Packets that the dealer looks up together, and passes on together.
const BATCH: usize = 256;
/// Batches that a channel holds before the dealer waits.
const MAX_WAITING: usize = 16;
/// Packets that the dealer records for the replay. It bounds the memory that the replay needs.
const MAX_RECORDED: usize = 1 << 16;

/// A packet on its way to a thread, and whether the dealer inserted this thread's id for the flow.
/// Otherwise it found the id in the map.
type Dealt = (Packet, bool);
/// Packets that a thread is passed, and the time at which they were dealt.
type Share = (Vec<Dealt>, u64);

/// An owner's record of a live flow.
#[derive(Default)]
struct Flow {
    last_seen: u64,
    /// The directions that are closed.
    closed: u8,
    /// Whether the map has an item of this flow. One without was dealt by the item of another flow,
    /// or by that of its former life.
    is_placed: bool,
}

/// What an owner counted, or all of them.
#[derive(Add, Clone, Copy, Default, Sum)]
pub struct Tally {
    pub packets: u64,
    /// Lives of flows.
    pub started: u64,
    /// Lives that began because the dealer found another flow's item.
    pub false_positives: u64,
    /// Lives that began with a packet that was dealt before the former life ended.
    pub late: u64,
    pub closed: u64,
    pub idled: u64,
    /// Flows that were live at the end.
    pub left: u64,
    /// The most flows that were live at once.
    pub max_live: u64,
    /// Live flows that the map did not have, or had with the id of another thread.
    pub false_negatives: u64,
}

/// The flows of one thread: an exact record beside the map that all threads share.
struct Owner<'a> {
    map: &'a CuckooMap,
    /// The value of this thread's flows in the map.
    id: u16,
    live: HashMap<FlowKey, Flow>,
    /// All flows that were ever live here.
    distinct: HashSet<FlowKey>,
    last_sweep: u64,
    tally: Tally,
}

impl<'a> Owner<'a> {
    fn new(map: &'a CuckooMap, id: u16) -> Self {
        let (live, distinct) = (HashMap::new(), HashSet::new());
        Self { map, id, live, distinct, last_sweep: 0, tally: Tally::default() }
    }

    /// Follows the flows until no more batches come, and then removes those that are left. Each
    /// batch comes with the time at which it was dealt.
    fn run(mut self, batches: impl IntoIterator<Item = Share>) -> Self {
        for (batch, now) in batches {
            for dealt in batch {
                self.end_idle(dealt.0.time);
                self.take(dealt);
            }
            self.end_idle(now);
        }
        self.tally.left = self.live.len() as u64;
        for (key, flow) in mem::take(&mut self.live) {
            self.check(&key, &flow);
            self.end(&key, &flow);
        }
        self
    }

    /// Processes a packet.
    fn take(&mut self, (packet, is_placed): Dealt) {
        self.tally.packets += 1;
        let mut flow = match self.live.entry(packet.flow) {
            Entry::Occupied(entry) => entry.remove(),
            Entry::Vacant(_) => {
                let is_new = self.distinct.insert(packet.flow);
                self.tally.started += 1;
                self.tally.false_positives += u64::from(!is_placed && is_new);
                self.tally.late += u64::from(!is_placed && !is_new);
                Flow::default()
            }
        };
        // The dealer inserts no flow that it finds.
        self.tally.false_negatives += u64::from(flow.is_placed && is_placed);
        flow.is_placed |= is_placed;
        flow.last_seen = packet.time;
        flow.closed |= packet.closes;
        self.check(&packet.flow, &flow);
        self.tally.max_live = self.tally.max_live.max(self.live.len() as u64 + 1);
        if flow.closed == CLOSED {
            self.tally.closed += 1;
            self.end(&packet.flow, &flow);
        } else {
            self.live.insert(packet.flow, flow);
        }
    }

    /// Ends the flows that have been silent for too long.
    fn end_idle(&mut self, now: u64) {
        if now < self.last_sweep + SWEEP {
            return;
        }
        self.last_sweep = now;
        let is_idle = |_: &FlowKey, flow: &mut Flow| flow.last_seen + IDLE <= now;
        for (key, flow) in self.live.extract_if(is_idle).collect::<Vec<_>>() {
            self.tally.idled += 1;
            self.end(&key, &flow);
        }
    }

    /// Looks up a live flow. If it is in the map, it must have this thread's id there: no other one
    /// can be there, because `insert_unique` inserts nothing beside an alias.
    fn check(&mut self, key: &FlowKey, flow: &Flow) {
        let is_missed = flow.is_placed && self.map.get(key) != Some(self.id);
        self.tally.false_negatives += u64::from(is_missed);
    }

    /// Removes the item of a flow from the map, if there is one.
    fn end(&mut self, key: &FlowKey, flow: &Flow) {
        let is_missed = flow.is_placed && !self.map.remove(key, self.id);
        self.tally.false_negatives += u64::from(is_missed);
    }
}

/// Passes each packet of a batch to the thread that the map names. A flow that the map does not
/// have is inserted, with the thread that was `dealt` the fewest packets.
///
/// A new flow that finds the item of another one shares its thread. It has no item, so nobody
/// removes one for it. When the other flow has ended, its next packet is dealt as a first one.
fn deal(
    map: &CuckooMap,
    threads: &[SyncSender<Share>],
    dealt: &mut [u64],
    batch: &[Packet],
) -> Result<()> {
    let keys: Vec<FlowKey> = batch.iter().map(|packet| packet.flow).collect();
    let mut ids = vec![None; keys.len()];
    map.get_batch(&keys, &mut ids);
    let mut shares = vec![Vec::new(); threads.len()];
    for (packet, mut id) in batch.iter().zip(ids) {
        let idlest = (0..dealt.len()).min_by_key(|&owner| dealt[owner]).unwrap_or(0);
        if id.is_none() {
            // An earlier packet of the batch may have inserted the flow.
            let found = map.insert_unique(&packet.flow, idlest as u16);
            id = match found.context("there are too many live flows")? {
                Insertion::New(()) => None,
                Insertion::Found(id) => Some(id),
            };
        }
        let owner = id.map_or(idlest, usize::from);
        dealt[owner] += 1;
        shares[owner].push((*packet, id.is_none()));
    }
    // An empty share tells a thread the time.
    let now = batch.last().map_or(0, |packet| packet.time);
    for (thread, share) in threads.iter().zip(shares) {
        thread.send((share, now)).context("a thread stopped before the packets did")?;
    }
    Ok(())
}

/// What a run over the capture leaves behind.
#[derive(Default)]
pub struct Followed {
    /// Packets of the capture, those outside of flows among them.
    pub packets: u64,
    /// The first packets of flows, in the order of the capture.
    pub recorded: Vec<Packet>,
    /// Number of distinct flows.
    pub flows: usize,
    /// What each thread counted.
    pub owners: Vec<Tally>,
}

/// Reads the capture while the threads follow the flows.
pub fn follow(path: &Path, map: &CuckooMap, threads: usize) -> Result<Followed> {
    thread::scope(|scope| {
        let (senders, owners): (Vec<_>, Vec<_>) = (0..threads)
            .map(|id| {
                let (sender, batches) = sync_channel(MAX_WAITING);
                (sender, scope.spawn(move || Owner::new(map, id as u16).run(batches)))
            })
            .unzip();
        let mut followed = Followed::default();
        let (mut dealt, mut batch) = (vec![0; threads], Vec::with_capacity(BATCH));
        capture::read(path, &mut |packet| {
            followed.packets += 1;
            batch.extend(packet);
            if followed.recorded.len() < MAX_RECORDED {
                followed.recorded.extend(packet);
            }
            if batch.len() == BATCH {
                deal(map, &senders, &mut dealt, &batch)?;
                batch.clear();
            }
            Ok(())
        })?;
        deal(map, &senders, &mut dealt, &batch)?;
        // Ends the threads' batches.
        drop(senders);
        let mut flows = HashSet::new();
        for owner in owners {
            let owner = owner.join().expect("no panic");
            flows.extend(owner.distinct);
            followed.owners.push(owner.tally);
        }
        Ok(Followed { flows: flows.len(), ..followed })
    })
}

#[cfg(test)]
mod tests {
    use guira::Layout;

    use super::*;
    use crate::capture::{SHIPPED, shipped};

    #[test]
    fn follows_the_shipped_capture_to_an_empty_map() {
        for threads in [1, 3] {
            // No two flows of the capture are aliases at this rate, but for one run in 10^8.
            let builder = CuckooMap::builder().capacity(10_000).false_positive_rate(1e-8);
            let map = builder.value_bits(2).build().unwrap();
            let followed = follow(SHIPPED.as_ref(), &map, threads).unwrap();
            let Followed { packets, ref recorded, flows, .. } = followed;
            assert_eq!((packets, recorded.len(), flows, map.len()), (4709, 4699, 257, 0));
            let total @ Tally { started, late, closed, idled, left, .. } =
                followed.owners.iter().copied().sum();
            let max_dealt = followed.owners.iter().map(|owner| owner.packets).max().unwrap();
            assert_eq!((total.packets, total.false_positives, total.false_negatives), (4699, 0, 0));
            // How many packets are late is a matter of timing. So is, with several threads, where
            // such a flow goes on.
            assert!(started >= 325 && started == closed + idled + left && late <= started - 257);
            if threads == 1 {
                assert_eq!((started, closed, idled, max_dealt), (325, 75, 2, 4699));
            } else {
                assert!((4699 / 3..4699 * 2 / 3).contains(&max_dealt), "{max_dealt}");
            }
        }
    }

    #[test]
    fn new_flows_that_find_an_item_share_its_thread() {
        // Fingerprints of 8 bits in a small table: many flows of the capture are aliases.
        let layout = Layout::with_values(6, 2).unwrap();
        let map = CuckooMap::builder().capacity(300).layout(layout).seed(1).build().unwrap();
        let owners = follow(SHIPPED.as_ref(), &map, 3).unwrap().owners;
        let Tally { false_positives, false_negatives, .. } = owners.into_iter().sum();
        assert!((1..40).contains(&false_positives), "{false_positives}");
        assert_eq!((false_negatives, map.len()), (0, 0));
    }

    #[test]
    fn flows_end_after_a_minute_of_silence() {
        for (now, idled) in [(IDLE - 1, 0), (IDLE, 1)] {
            let map = CuckooMap::builder().capacity(10).value_bits(1).build().unwrap();
            let packet = Packet { time: 0, ..shipped()[0] };
            map.insert(&packet.flow, 0).unwrap();
            let batches = [(vec![(packet, true)], 0), (vec![], now)];
            let tally = Owner::new(&map, 0).run(batches).tally;
            assert_eq!((tally.idled, tally.false_negatives, map.len()), (idled, 0, 0));
        }
    }

    #[test]
    fn flows_that_the_map_misses_are_false_negatives() {
        let map = CuckooMap::builder().capacity(10).value_bits(1).build().unwrap();
        let packet = shipped()[0];
        // Looked up twice and removed once: all of it fails.
        let tally = Owner::new(&map, 0).run([(vec![(packet, true)], 0)]).tally;
        assert_eq!((tally.left, tally.false_negatives), (1, 3));
        // With the id of another thread, too. And the dealer must not insert the flow twice.
        map.insert(&packet.flow, 1).unwrap();
        let tally = Owner::new(&map, 0).run([(vec![(packet, true), (packet, true)], 0)]).tally;
        assert_eq!((tally.left, tally.false_negatives), (1, 5));
    }
}
