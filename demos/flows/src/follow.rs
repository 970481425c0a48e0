//! Follows the flows of captures: a dealer passes each packet to the thread that owns its flow,
//! which it finds in a map that all threads share.

use std::{
    collections::HashSet,
    mem,
    panic::resume_unwind,
    sync::mpsc::{SyncSender, sync_channel},
    thread,
};

use guira::CuckooMap;

use crate::{
    capture::{self, Capture},
    failure::Failure,
    owner::{Batch, Dealt, IDLE, Owner, Tally, must_hold, remove},
    packet::{FlowKey, Frame, Packet},
    sets::BURST,
};

/// Packets per batch. Large enough to make the cost of the channel small.
const BATCH: usize = 512;
/// Batches that a channel holds before the dealer waits.
const MAX_WAITING: usize = 16;
/// Packets that the dealer records for the replay. It bounds the memory that the replay needs.
const MAX_RECORDED: usize = 1 << 16;

/// The clock of the captures, in microseconds. It never goes backwards.
///
/// After a step back of at most the idle time, as between packets that different cores stamp, the
/// clock stands still. A longer one means another capture or a clock that was set: the clock goes
/// on from the present.
#[derive(Default)]
struct Clock {
    now: u64,
    shift: u64,
}

impl Clock {
    /// Advances to a timestamp.
    fn advance(&mut self, stamp: u64) {
        if stamp.saturating_add(self.shift).saturating_add(IDLE) < self.now {
            self.shift = self.now - stamp;
        }
        self.now = self.now.max(stamp.saturating_add(self.shift));
    }
}

/// Distributes the packets among the threads, all packets of a live flow to the same one.
struct Dealer<'a> {
    /// The thread of each live flow.
    map: &'a CuckooMap,
    threads: Vec<SyncSender<Batch>>,
    /// Packets to look up together.
    burst: Vec<Packet>,
    waiting: Vec<Vec<Dealt>>,
    /// Packets dealt to each thread.
    dealt: Vec<u64>,
    clock: Clock,
    tally: Tally,
    recorded: Vec<Packet>,
}

impl Dealer<'_> {
    /// Counts a packet, and adds it to the burst if it belongs to a flow.
    fn deal(&mut self, frame: &Frame<'_>) -> Result<(), Failure> {
        self.tally.packets += 1;
        if let Some(stamp) = frame.time {
            self.clock.advance(stamp);
        }
        let Some(packet) = frame.decode(self.clock.now) else {
            self.tally.others += 1;
            return Ok(());
        };
        if self.recorded.len() < MAX_RECORDED {
            self.recorded.push(packet);
        }
        self.burst.push(packet);
        if self.burst.len() == BURST {
            self.deal_burst()?;
        }
        Ok(())
    }

    /// Passes each packet of the burst to the thread that the map names. A flow that the map does
    /// not have is inserted, with the thread that was dealt the fewest packets.
    ///
    /// A new flow that finds the item of another one shares its thread. It has no item, so nobody
    /// removes one for it. When the other flow has ended, its next packet is dealt as a first one.
    fn deal_burst(&mut self) -> Result<(), Failure> {
        let (mut keys, mut ids) = ([FlowKey::NONE; BURST], [None; BURST]);
        for (key, packet) in keys.iter_mut().zip(&self.burst) {
            *key = packet.flow;
        }
        let len = self.burst.len();
        self.map.get_batch(&keys[..len], &mut ids[..len]);
        for (at, mut id) in ids.into_iter().enumerate().take(len) {
            let idlest = (0..self.dealt.len()).min_by_key(|&owner| self.dealt[owner]).unwrap_or(0);
            if id.is_none() {
                // An earlier packet of the burst may have inserted the flow.
                let found = self.map.insert_unique(&keys[at], idlest as u16);
                let found = found.map_err(|error| {
                    let capacity = self.map.capacity();
                    Failure::unusable(format!("{error}: --capacity must be above {capacity}"))
                })?;
                id = found.found();
            }
            let owner = id.map_or(idlest, usize::from);
            self.dealt[owner] += 1;
            self.waiting[owner].push(Dealt { packet: self.burst[at], is_placed: id.is_none() });
            if self.waiting[owner].len() == BATCH {
                self.send(owner)?;
            }
        }
        self.burst.clear();
        Ok(())
    }

    /// Sends a thread its waiting packets. If the thread has stopped, its own failure says why.
    fn send(&mut self, owner: usize) -> Result<(), Failure> {
        let packets = mem::replace(&mut self.waiting[owner], Vec::with_capacity(BATCH));
        let batch = Batch { packets, now: self.clock.now };
        let sent = self.threads[owner].send(batch);
        sent.map_err(|_| Failure::unusable("a thread stopped before the packets did"))
    }
}

/// Reads the captures and distributes their packets.
fn deal_all<'a>(
    captures: &[Capture],
    map: &'a CuckooMap,
    threads: Vec<SyncSender<Batch>>,
) -> Result<Dealer<'a>, Failure> {
    let mut dealer = Dealer {
        map,
        burst: Vec::with_capacity(BURST),
        dealt: vec![0; threads.len()],
        waiting: threads.iter().map(|_| Vec::with_capacity(BATCH)).collect(),
        threads,
        clock: Clock::default(),
        tally: Tally::default(),
        recorded: Vec::new(),
    };
    capture::read_all(captures, &mut |frame| dealer.deal(frame))?;
    dealer.deal_burst()?;
    // The last batch, even an empty one, tells a thread the final time.
    (0..dealer.threads.len()).try_for_each(|owner| dealer.send(owner))?;
    dealer.threads.clear();
    Ok(dealer)
}

/// What a run over the captures leaves behind.
pub struct Followed {
    pub tally: Tally,
    /// Number of distinct flows.
    pub distinct: usize,
    /// The most packets that a thread was dealt.
    pub most_dealt: u64,
    /// The live flows in the map: the id of each thread, and its flows.
    pub live: Vec<(u16, Vec<FlowKey>)>,
    /// The first packets of flows, in the order of the captures.
    pub recorded: Vec<Packet>,
}

/// Reads the captures while the threads follow the flows.
pub fn follow(captures: &[Capture], map: &CuckooMap, threads: usize) -> Result<Followed, Failure> {
    thread::scope(|scope| {
        let (senders, owners): (Vec<_>, Vec<_>) = (0..threads)
            .map(|id| {
                let (sender, batches) = sync_channel(MAX_WAITING);
                (sender, scope.spawn(move || Owner::new(map, id as u16).run(batches)))
            })
            .unzip();
        let dealt = deal_all(captures, map, senders);
        let (mut live, mut failures) = (Vec::with_capacity(threads), Vec::new());
        let (mut tally, mut distinct) = (Tally::default(), HashSet::<FlowKey>::new());
        for owner in owners {
            match owner.join().unwrap_or_else(|panic| resume_unwind(panic)) {
                Ok(owner) => {
                    tally.add(&owner.tally);
                    distinct.extend(&owner.distinct);
                    live.push(owner.into_placed());
                }
                Err(failure) => failures.push(failure),
            }
        }
        // A broken guarantee takes precedence over a full map and over bad input.
        if let Some(failure) = failures.into_iter().min() {
            return Err(failure);
        }
        let dealer = dealt?;
        tally.add(&dealer.tally);
        tally.check(map.false_positive_rate())?;
        let most_dealt = dealer.dealt.into_iter().max().unwrap_or(0);
        let distinct = distinct.len();
        Ok(Followed { tally, distinct, most_dealt, live, recorded: dealer.recorded })
    })
}

/// Looks up all live flows in every thread, also in those that do not own them; then removes them.
/// The map must then be empty.
pub fn clear(map: &CuckooMap, live: &[(u16, Vec<FlowKey>)]) -> Result<(), Failure> {
    type Share = (u16, Vec<FlowKey>);
    let in_threads = |work: &(dyn Fn(&Share) -> Result<(), Failure> + Sync)| {
        thread::scope(|scope| {
            let threads: Vec<_> = live.iter().map(|share| scope.spawn(|| work(share))).collect();
            let mut outcomes = threads.into_iter().map(thread::ScopedJoinHandle::join);
            outcomes.try_for_each(|outcome| outcome.unwrap_or_else(|panic| resume_unwind(panic)))
        })
    };
    let look_up = |(id, flows): &Share| flows.iter().try_for_each(|key| must_hold(map, key, *id));
    in_threads(&|_| live.iter().try_for_each(look_up))?;
    in_threads(&|(id, flows)| flows.iter().try_for_each(|key| remove(map, key, *id)))?;
    match map.len() {
        0 => Ok(()),
        left => Err(Failure::broken(format!("all flows are removed, but the map counts {left}"))),
    }
}

#[cfg(test)]
mod tests {
    use guira::Layout;

    use super::*;
    use crate::capture::{SECOND, SHIPPED};

    #[test]
    fn the_clock_never_goes_backwards() {
        let mut clock = Clock::default();
        // A small step back holds the clock; a large one shifts the stamps that follow.
        let steps = [(100, 100), (90, 100), (110, 110), (20, 110), (25, 115)];
        for (stamp, now) in steps.map(|(stamp, now)| (stamp * SECOND, now * SECOND)) {
            clock.advance(stamp);
            assert_eq!(clock.now, now);
        }
    }

    #[test]
    fn follows_the_shipped_capture_to_an_empty_map() {
        for threads in [1, 3] {
            // No two flows of the capture are aliases at this rate, but for one run in 10^8.
            let builder = CuckooMap::builder().capacity(10_000).false_positive_rate(1e-8);
            let map = builder.value_bits(2).build().unwrap();
            let captures = [Capture::find(SHIPPED.into()).unwrap()];
            let followed = follow(&captures, &map, threads).unwrap();
            let Followed { tally, distinct, most_dealt, live, recorded } = followed;
            assert_eq!((tally.packets, tally.others, distinct), (4709, 10, 257));
            assert_eq!(recorded.len() as u64, tally.packets - tally.others);
            assert_eq!(tally.false_positives, 0);
            // How many packets are late is a matter of timing. So is, with several threads, where
            // such a flow goes on.
            assert_eq!(tally.started, tally.closed + tally.idled + tally.left as u64);
            assert!(tally.started >= 325 && tally.late <= tally.started - 257);
            if threads == 1 {
                assert_eq!((tally.started, tally.closed, tally.idled), (325, 75, 2));
                assert_eq!(most_dealt, 4699);
            } else {
                assert!((4699 / 3..4699 * 2 / 3).contains(&most_dealt), "{most_dealt}");
            }
            let placed: usize = live.iter().map(|(_, flows)| flows.len()).sum();
            assert_eq!(map.len(), placed);
            assert!(placed <= tally.left && placed + tally.late as usize >= tally.left);
            clear(&map, &live).unwrap();
            // The flows are gone: they count as false negatives now.
            assert_eq!(clear(&map, &live).unwrap_err().status(), 1);
        }
    }

    #[test]
    fn new_flows_that_find_an_item_share_its_thread() {
        // Fingerprints of 8 bits in a small table: many flows of the capture are aliases.
        let layout = Layout::with_values(6, 2).unwrap();
        let map = CuckooMap::builder().capacity(300).layout(layout).seed(1).build().unwrap();
        let captures = [Capture::find(SHIPPED.into()).unwrap()];
        let Followed { tally, live, .. } = follow(&captures, &map, 3).unwrap();
        assert!((1..40).contains(&tally.false_positives), "{}", tally.false_positives);
        clear(&map, &live).unwrap();
        let too_many = Tally { started: 1000, false_positives: 17, ..Tally::default() };
        assert_eq!(too_many.check(0.001).unwrap_err().status(), 1);
        assert!(too_many.check(0.01).is_ok());
    }

    #[test]
    fn a_full_map_is_reported() {
        let map = CuckooMap::with_capacity(1);
        let captures = [Capture::find(SHIPPED.into()).unwrap()];
        let failure = follow(&captures, &map, 2).err().unwrap();
        assert!(failure.status() == 2 && failure.to_string().contains("--capacity"), "{failure}");
    }
}
