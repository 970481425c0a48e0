//! Follows flows: a dealer hands the packets to their owners, which share one filter.

use std::cmp::Reverse;
use std::collections::hash_map::Entry;
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::mem;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use guira::CuckooFilter;

use crate::{
    Failure, SECOND, broken,
    capture::{self, Capture},
    packet::{FlowKey, Frame, Packet},
    unusable,
};

/// The silence after which a flow has ended.
const IDLE: u64 = 60 * SECOND;
/// Packets handed to a thread at a time, so that the channel costs little for each.
const BATCH: usize = 512;
/// Batches that may wait for a thread before the reader has to.
const BATCHES_WAITING: usize = 16;
/// The clock of the captures, in microseconds, which never runs backwards.
///
/// A small step back, as between packets stamped by different cores, is held. One of more than
/// the idle time is another capture, or a clock that was set: it goes on from the present.
#[derive(Default)]
struct Clock {
    now: u64,
    shift: u64,
}

impl Clock {
    /// Moves on to a time stamp.
    fn advance(&mut self, stamp: u64) {
        if stamp.saturating_add(self.shift).saturating_add(IDLE) < self.now {
            self.shift = self.now - stamp;
        }
        self.now = self.now.max(stamp.saturating_add(self.shift));
    }
}

/// Packets on their way to a thread, and the time when they were sent.
struct Batch {
    packets: Vec<Packet>,
    now: u64,
}

/// Deals the packets to the threads, each flow always to the same one.
struct Dealer {
    threads: Vec<SyncSender<Batch>>,
    waiting: Vec<Vec<Packet>>,
    clock: Clock,
    tally: Tally,
}

impl Dealer {
    /// Counts a packet, and hands it to the owner of its flow if it has one.
    fn deal(&mut self, frame: &Frame<'_>) -> Result<(), Failure> {
        self.tally.packets += 1;
        if let Some(stamp) = frame.time {
            self.clock.advance(stamp);
        }
        let Some(packet) = frame.decode(self.clock.now) else {
            self.tally.others += 1;
            return Ok(());
        };
        let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(packet.flow);
        let owner = usize::try_from(hash % self.threads.len() as u64).unwrap_or(0);
        self.waiting[owner].push(packet);
        if self.waiting[owner].len() == BATCH {
            self.send(owner)?;
        }
        Ok(())
    }

    /// Sends a thread what waits for it. A thread that does not listen any more has failed, and
    /// says itself why.
    fn send(&mut self, owner: usize) -> Result<(), Failure> {
        let packets = mem::replace(&mut self.waiting[owner], Vec::with_capacity(BATCH));
        let now = self.clock.now;
        self.threads[owner]
            .send(Batch { packets, now })
            .map_err(|_| broken("a thread stopped before the packets did"))
    }

    /// Sends every thread the last of its packets and the last of the clock.
    fn finish(mut self) -> Result<Tally, Failure> {
        (0..self.threads.len()).try_for_each(|owner| self.send(owner))?;
        Ok(self.tally)
    }
}

/// What an owner knows of a live flow.
struct Flow {
    last_seen: u64,
    /// When it was last seen according to its valid entry in the queue.
    queued: u64,
    /// Whether a FIN was seen from either side.
    fins: [bool; 2],
}

impl Flow {
    /// Takes note of a packet; true if it was the last one.
    fn note(&mut self, packet: &Packet) -> bool {
        self.last_seen = packet.time;
        self.fins[usize::from(packet.is_from_low)] |= packet.is_fin;
        packet.is_reset || self.fins == [true; 2]
    }
}

/// What is counted: the packets by the dealer, the rest by the owners of the flows.
#[derive(Default)]
pub struct Tally {
    pub packets: u64,
    /// Packets that belong to no flow.
    pub others: u64,
    pub distinct: usize,
    /// The most flows alive at once; added up over the owners, a bound.
    pub most_live: usize,
    pub asks: u64,
    pub false_positives: u64,
    pub lookups: u64,
    pub closed: u64,
    pub idled: u64,
    /// Flows still alive at the end.
    pub left: usize,
    /// Time spent on packets, not on waiting for them.
    pub busy: Duration,
}

impl Tally {
    /// Adds what another one counted.
    pub fn add(&mut self, other: &Self) {
        self.packets += other.packets;
        self.others += other.others;
        self.distinct += other.distinct;
        self.most_live += other.most_live;
        self.asks += other.asks;
        self.false_positives += other.false_positives;
        self.lookups += other.lookups;
        self.closed += other.closed;
        self.idled += other.idled;
        self.left += other.left;
        self.busy += other.busy;
    }
}

/// A thread's own flows, and the filter that it shares with the others.
pub struct Owner<'a> {
    filter: &'a CuckooFilter,
    live: HashMap<FlowKey, Flow>,
    distinct: HashSet<FlowKey>,
    /// The live flows, and some that are not, by the time when they were last seen, or earlier.
    queue: BinaryHeap<Reverse<(u64, FlowKey)>>,
    pub tally: Tally,
}

impl<'a> Owner<'a> {
    /// An owner without flows.
    fn new(filter: &'a CuckooFilter) -> Self {
        Self {
            filter,
            live: HashMap::new(),
            distinct: HashSet::new(),
            queue: BinaryHeap::new(),
            tally: Tally::default(),
        }
    }

    /// The flows that are still alive.
    pub fn into_live(self) -> Vec<FlowKey> {
        self.live.into_keys().collect()
    }

    /// Follows flows for as long as there are packets.
    fn run(mut self, batches: Receiver<Batch>) -> Result<Self, Failure> {
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

    /// Takes a packet: its flow must be in the filter if it is alive, and is inserted if not.
    fn take(&mut self, packet: &Packet) -> Result<(), Failure> {
        let flow = match self.live.entry(packet.flow) {
            Entry::Occupied(entry) => {
                self.tally.lookups += 1;
                must_contain(self.filter, &packet.flow)?;
                entry.into_mut()
            }
            Entry::Vacant(entry) => {
                self.tally.asks += 1;
                self.tally.false_positives += u64::from(self.filter.contains(&packet.flow));
                insert(self.filter, &packet.flow)?;
                self.distinct.insert(packet.flow);
                self.queue.push(Reverse((packet.time, packet.flow)));
                entry.insert(Flow { last_seen: packet.time, queued: packet.time, fins: [false; 2] })
            }
        };
        let is_over = flow.note(packet);
        self.tally.most_live = self.tally.most_live.max(self.live.len());
        if is_over {
            self.tally.closed += 1;
            self.end(&packet.flow)?;
        }
        Ok(())
    }

    /// Ends the flows that have been silent for too long. A queue entry says when its flow was
    /// last seen when it was queued: if the flow was seen since, it is queued again, so a packet
    /// costs the queue nothing.
    fn end_idle(&mut self, now: u64) -> Result<(), Failure> {
        while let Some(&Reverse((seen, key))) = self.queue.peek()
            && seen.saturating_add(IDLE) <= now
        {
            self.queue.pop();
            // Without a flow of this time, the entry is of an earlier life of the flow.
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

    /// Forgets a flow, here and in the filter.
    fn end(&mut self, key: &FlowKey) -> Result<(), Failure> {
        self.live.remove(key);
        remove(self.filter, key)
    }
}

/// Inserts a flow, for which there must be room.
fn insert(filter: &CuckooFilter, key: &FlowKey) -> Result<(), Failure> {
    filter.insert(key).map_err(|error| {
        let capacity = filter.capacity();
        unusable(format!("{error}: give --capacity more than {capacity} flows"))
    })
}

/// Looks a live flow up, which must be found.
fn must_contain(filter: &CuckooFilter, key: &FlowKey) -> Result<(), Failure> {
    if filter.contains(key) {
        return Ok(());
    }
    Err(broken(format!("false negative: the filter misses the live flow {key}")))
}

/// Removes a live flow, which must be there.
fn remove(filter: &CuckooFilter, key: &FlowKey) -> Result<(), Failure> {
    if filter.remove(key) {
        return Ok(());
    }
    Err(broken(format!("the filter has nothing to remove for the live flow {key}")))
}

/// Reads the captures and lets the threads follow the flows.
pub fn follow<'a>(
    captures: &[Capture],
    filter: &'a CuckooFilter,
    threads: usize,
) -> Result<(Tally, Vec<Owner<'a>>), Failure> {
    thread::scope(|scope| {
        let (senders, owners): (Vec<_>, Vec<_>) = (0..threads)
            .map(|_| {
                let (sender, batches) = sync_channel(BATCHES_WAITING);
                (sender, scope.spawn(|| Owner::new(filter).run(batches)))
            })
            .unzip();
        let dealt = deal_all(captures, senders);
        let mut outcomes: Vec<_> = owners
            .into_iter()
            .map(|owner| owner.join().unwrap_or_else(|panic| resume_unwind(panic)))
            .collect();
        // Broken promises of the filter first, then a lack of room, then unreadable input.
        outcomes.sort_by_key(|outcome| outcome.as_ref().err().map_or(u8::MAX, |failure| failure.0));
        let owners = outcomes.into_iter().collect::<Result<_, _>>()?;
        Ok((dealt?, owners))
    })
}

/// Reads the captures and deals the packets.
fn deal_all(captures: &[Capture], threads: Vec<SyncSender<Batch>>) -> Result<Tally, Failure> {
    let mut dealer = Dealer {
        waiting: threads.iter().map(|_| Vec::with_capacity(BATCH)).collect(),
        threads,
        clock: Clock::default(),
        tally: Tally::default(),
    };
    capture::read_all(captures, &mut |frame| dealer.deal(frame))?;
    dealer.finish()
}

/// Does some work in as many new threads as there are items, one item each.
fn in_threads<T: Sync>(
    items: &[T],
    work: impl Fn(&T) -> Result<(), Failure> + Sync,
) -> Result<(), Failure> {
    thread::scope(|scope| {
        let mut threads = Vec::with_capacity(items.len());
        threads.extend(items.iter().map(|item| scope.spawn(|| work(item))));
        let mut outcomes = threads.into_iter().map(thread::ScopedJoinHandle::join);
        outcomes.try_for_each(|outcome| outcome.unwrap_or_else(|panic| resume_unwind(panic)))
    })
}

/// Looks all the flows left up, in each of as many threads as owned them and none of which did;
/// then removes them, whereupon the filter must be empty.
pub fn clear(filter: &CuckooFilter, left: &[Vec<FlowKey>]) -> Result<(), Failure> {
    in_threads(left, |_| {
        let mut flows = left.iter().flatten();
        flows.try_for_each(|key| must_contain(filter, key))
    })?;
    in_threads(left, |flows| flows.iter().try_for_each(|key| remove(filter, key)))?;
    match filter.len() {
        0 => Ok(()),
        count => Err(broken(format!("all flows are removed, and the filter still counts {count}"))),
    }
}
