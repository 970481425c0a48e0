//! One thread's share of the flows: an exact record of its own beside the shared map.

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, HashMap, HashSet, hash_map::Entry},
    time::{Duration, Instant},
};

use guira::CuckooMap;

use crate::{
    capture::SECOND,
    failure::Failure,
    packet::{Closing, FlowKey, Packet},
};

/// Silence after which a flow ends, in microseconds.
pub const IDLE: u64 = 60 * SECOND;

/// A packet on its way to a thread.
pub struct Dealt {
    pub packet: Packet,
    /// Whether the dealer inserted the flow into the map, with this thread's id. Otherwise it found
    /// the id there.
    pub is_placed: bool,
}

/// Packets on their way to a thread.
pub struct Batch {
    pub packets: Vec<Dealt>,
    /// Time on the capture clock when the batch was sent.
    pub now: u64,
}

/// An owner's record of a live flow.
struct Flow {
    last_seen: u64,
    /// The `last_seen` in the flow's valid queue entry.
    queued: u64,
    closing: Closing,
    /// Whether the map has an item of this flow. One without was dealt by the item of another flow,
    /// or by that of its former life.
    is_placed: bool,
}

/// Counters: of the dealer for packets, of the owners for flows.
#[derive(Default)]
pub struct Tally {
    pub packets: u64,
    /// Packets that belong to no flow.
    pub others: u64,
    /// The most flows that were live at once. A sum over owners is an upper bound.
    pub max_live: usize,
    /// Lives of flows.
    pub started: u64,
    /// Lives that began because the dealer found another flow's item.
    pub false_positives: u64,
    /// Lives that began with a packet that was dealt before the former life ended.
    pub late: u64,
    /// Packets of flows that the map has, and so lookups of present keys.
    pub lookups: u64,
    pub closed: u64,
    pub idled: u64,
    /// Flows that are live at the end.
    pub left: usize,
    /// Time spent on packets, without waiting for them.
    pub busy: Duration,
}

impl Tally {
    pub fn add(&mut self, other: &Self) {
        self.packets += other.packets;
        self.others += other.others;
        self.max_live += other.max_live;
        self.started += other.started;
        self.false_positives += other.false_positives;
        self.late += other.late;
        self.lookups += other.lookups;
        self.closed += other.closed;
        self.idled += other.idled;
        self.left += other.left;
        self.busy += other.busy;
    }

    /// Checks that no more new flows found another flow's item than the rate of the map allows. By
    /// chance, this fails less than once in 10^8 runs.
    pub fn check(&self, rate: f64) -> Result<(), Failure> {
        let mean = (self.started - self.late) as f64 * rate;
        if self.false_positives as f64 <= mean + 6.0 * mean.sqrt() + 6.0 {
            return Ok(());
        }
        let count = self.false_positives;
        Err(Failure::broken(format!("{count} new flows found an item, where {mean:.1} should")))
    }
}

/// The flows of one thread, and the map that all threads share.
pub struct Owner<'a> {
    map: &'a CuckooMap,
    /// The value of this thread's flows in the map.
    id: u16,
    live: HashMap<FlowKey, Flow>,
    /// All flows that were ever live here.
    pub distinct: HashSet<FlowKey>,
    /// Live flows by a time at which they were seen; entries of ended flows remain until popped.
    queue: BinaryHeap<Reverse<(u64, FlowKey)>>,
    pub tally: Tally,
}

impl<'a> Owner<'a> {
    pub fn new(map: &'a CuckooMap, id: u16) -> Self {
        Self {
            map,
            id,
            live: HashMap::new(),
            distinct: HashSet::new(),
            queue: BinaryHeap::new(),
            tally: Tally::default(),
        }
    }

    /// Follows the flows until no more batches come.
    pub fn run(mut self, batches: impl IntoIterator<Item = Batch>) -> Result<Self, Failure> {
        for batch in batches {
            let start = Instant::now();
            for dealt in &batch.packets {
                self.end_idle(dealt.packet.time)?;
                self.take(dealt)?;
            }
            self.end_idle(batch.now)?;
            self.tally.busy += start.elapsed();
        }
        self.tally.left = self.live.len();
        Ok(self)
    }

    /// Returns the live flows that the map has, with this thread's id.
    pub fn into_placed(self) -> (u16, Vec<FlowKey>) {
        let placed = self.live.into_iter().filter(|(_, flow)| flow.is_placed);
        (self.id, placed.map(|(key, _)| key).collect())
    }

    /// Processes a packet. If its flow is in the map, it must have this thread's id there.
    fn take(&mut self, Dealt { packet, is_placed }: &Dealt) -> Result<(), Failure> {
        let flow = match self.live.entry(packet.flow) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                self.tally.started += 1;
                let is_new = self.distinct.insert(packet.flow);
                self.tally.false_positives += u64::from(!is_placed && is_new);
                self.tally.late += u64::from(!is_placed && !is_new);
                self.queue.push(Reverse((packet.time, packet.flow)));
                let (last_seen, queued) = (packet.time, packet.time);
                let closing = Closing::default();
                entry.insert(Flow { last_seen, queued, closing, is_placed: false })
            }
        };
        if flow.is_placed && *is_placed {
            let key = packet.flow;
            return Err(Failure::broken(format!("the live flow {key} was inserted again")));
        }
        flow.is_placed |= is_placed;
        if flow.is_placed {
            self.tally.lookups += 1;
            must_hold(self.map, &packet.flow, self.id)?;
        }
        flow.last_seen = packet.time;
        let is_closed = flow.closing.is_closed_by(packet);
        self.tally.max_live = self.tally.max_live.max(self.live.len());
        if is_closed {
            self.tally.closed += 1;
            self.end(&packet.flow)?;
        }
        Ok(())
    }

    /// Ends the flows that have been silent for too long. A later packet leaves the queue alone;
    /// an entry that comes up is queued again if its flow was seen since.
    fn end_idle(&mut self, now: u64) -> Result<(), Failure> {
        while let Some(&Reverse((seen, key))) = self.queue.peek()
            && seen.saturating_add(IDLE) <= now
        {
            self.queue.pop();
            // An entry with another time belongs to an earlier life of the flow.
            let Some(flow) = self.live.get_mut(&key).filter(|flow| flow.queued == seen) else {
                continue;
            };
            if flow.last_seen > seen {
                flow.queued = flow.last_seen;
                self.queue.push(Reverse((flow.last_seen, key)));
            } else {
                self.tally.idled += 1;
                self.end(&key)?;
            }
        }
        Ok(())
    }

    /// Removes a flow from the record and, if it has an item there, from the map.
    fn end(&mut self, key: &FlowKey) -> Result<(), Failure> {
        match self.live.remove(key) {
            Some(flow) if flow.is_placed => remove(self.map, key, self.id),
            _ => Ok(()),
        }
    }
}

/// Looks up a live flow, which must have this id in the map. No other id can be there, because
/// `insert_unique` inserts nothing beside an alias.
pub fn must_hold(map: &CuckooMap, key: &FlowKey, id: u16) -> Result<(), Failure> {
    match map.get(key) {
        Some(found) if found == id => Ok(()),
        Some(found) => {
            Err(Failure::broken(format!("the map has {found} in place of {id} for {key}")))
        }
        None => Err(Failure::broken(format!("false negative: the map misses the live flow {key}"))),
    }
}

/// Removes a live flow with its id, which the map must contain.
pub fn remove(map: &CuckooMap, key: &FlowKey, id: u16) -> Result<(), Failure> {
    if map.remove(key, id) {
        return Ok(());
    }
    Err(Failure::broken(format!("the map cannot remove the live flow {key}")))
}
