//! One thread's share of the flows: an exact map of its own beside the shared filter.

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, HashMap, HashSet, hash_map::Entry},
    time::{Duration, Instant},
};

use guira::CuckooFilter;

use crate::{
    capture::SECOND,
    failure::Failure,
    packet::{Closing, FlowKey, Packet},
};

/// Silence after which a flow ends, in microseconds.
pub const IDLE: u64 = 60 * SECOND;

/// Packets on their way to a thread.
pub struct Batch {
    pub packets: Vec<Packet>,
    /// Time on the capture clock when the batch was sent.
    pub now: u64,
}

/// An owner's record of a live flow.
struct Flow {
    last_seen: u64,
    /// The `last_seen` in the flow's valid queue entry.
    queued: u64,
    closing: Closing,
}

/// Counters: of the dealer for packets, of the owners for flows.
#[derive(Default)]
pub struct Tally {
    pub packets: u64,
    /// Packets that belong to no flow.
    pub others: u64,
    /// Distinct flows.
    pub distinct: usize,
    /// The most flows that were live at once. A sum over owners is an upper bound.
    pub max_live: usize,
    /// First packets of flows, and so lookups of absent keys.
    pub started: u64,
    pub false_positives: u64,
    /// Later packets of flows, and so lookups of present keys.
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
        self.distinct += other.distinct;
        self.max_live += other.max_live;
        self.started += other.started;
        self.false_positives += other.false_positives;
        self.lookups += other.lookups;
        self.closed += other.closed;
        self.idled += other.idled;
        self.left += other.left;
        self.busy += other.busy;
    }
}

/// The flows of one thread, and the filter that all threads share.
pub struct Owner<'a> {
    filter: &'a CuckooFilter,
    live: HashMap<FlowKey, Flow>,
    distinct: HashSet<FlowKey>,
    /// Live flows by a time at which they were seen; entries of ended flows remain until popped.
    queue: BinaryHeap<Reverse<(u64, FlowKey)>>,
    pub tally: Tally,
}

impl<'a> Owner<'a> {
    pub fn new(filter: &'a CuckooFilter) -> Self {
        Self {
            filter,
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
            for packet in &batch.packets {
                self.end_idle(packet.time)?;
                self.take(packet)?;
            }
            self.end_idle(batch.now)?;
            self.tally.busy += start.elapsed();
        }
        self.tally.distinct = self.distinct.len();
        self.tally.left = self.live.len();
        Ok(self)
    }

    /// Returns the flows that are still live.
    pub fn into_live(self) -> Vec<FlowKey> {
        self.live.into_keys().collect()
    }

    /// Processes a packet. The filter must contain its flow if the flow is live.
    fn take(&mut self, packet: &Packet) -> Result<(), Failure> {
        let flow = match self.live.entry(packet.flow) {
            Entry::Occupied(entry) => {
                self.tally.lookups += 1;
                must_contain(self.filter, &packet.flow)?;
                entry.into_mut()
            }
            Entry::Vacant(entry) => {
                self.tally.started += 1;
                self.tally.false_positives += u64::from(self.filter.contains(&packet.flow));
                insert(self.filter, &packet.flow)?;
                self.distinct.insert(packet.flow);
                self.queue.push(Reverse((packet.time, packet.flow)));
                let (last_seen, queued) = (packet.time, packet.time);
                entry.insert(Flow { last_seen, queued, closing: Closing::default() })
            }
        };
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

    /// Removes a flow from the map and from the filter.
    fn end(&mut self, key: &FlowKey) -> Result<(), Failure> {
        self.live.remove(key);
        remove(self.filter, key)
    }
}

fn insert(filter: &CuckooFilter, key: &FlowKey) -> Result<(), Failure> {
    filter.insert(key).map_err(|error| {
        let capacity = filter.capacity();
        Failure::unusable(format!("{error}: --capacity must be above {capacity}"))
    })
}

/// Looks up a live flow, which the filter must contain.
pub fn must_contain(filter: &CuckooFilter, key: &FlowKey) -> Result<(), Failure> {
    if filter.contains(key) {
        return Ok(());
    }
    Err(Failure::broken(format!("false negative: the filter misses the live flow {key}")))
}

/// Removes a live flow, which the filter must contain.
pub fn remove(filter: &CuckooFilter, key: &FlowKey) -> Result<(), Failure> {
    if filter.remove(key) {
        return Ok(());
    }
    Err(Failure::broken(format!("the filter cannot remove the live flow {key}")))
}
