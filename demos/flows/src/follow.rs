//! Follows the flows of captures: a dealer passes each packet to the thread that owns its flow.

use std::{
    hash::{BuildHasher, BuildHasherDefault, DefaultHasher},
    mem,
    panic::resume_unwind,
    sync::mpsc::{SyncSender, sync_channel},
    thread,
};

use guira::CuckooFilter;

use crate::{
    capture::{self, Capture},
    failure::Failure,
    owner::{Batch, IDLE, Owner, Tally, must_contain, remove},
    packet::{FlowKey, Frame, Packet},
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

/// Distributes the packets among the threads, each flow always to the same one.
struct Dealer {
    threads: Vec<SyncSender<Batch>>,
    waiting: Vec<Vec<Packet>>,
    clock: Clock,
    tally: Tally,
    recorded: Vec<Packet>,
}

impl Dealer {
    /// Counts a packet, and passes it to the owner of its flow if it has one.
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
        let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(packet.flow);
        let owner = (hash % self.threads.len() as u64) as usize;
        self.waiting[owner].push(packet);
        if self.waiting[owner].len() == BATCH {
            self.send(owner)?;
        }
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
fn deal_all(captures: &[Capture], threads: Vec<SyncSender<Batch>>) -> Result<Dealer, Failure> {
    let mut dealer = Dealer {
        waiting: threads.iter().map(|_| Vec::with_capacity(BATCH)).collect(),
        threads,
        clock: Clock::default(),
        tally: Tally::default(),
        recorded: Vec::new(),
    };
    capture::read_all(captures, &mut |frame| dealer.deal(frame))?;
    // The last batch, even an empty one, tells a thread the final time.
    (0..dealer.threads.len()).try_for_each(|owner| dealer.send(owner))?;
    dealer.threads.clear();
    Ok(dealer)
}

/// What a run over the captures leaves behind.
pub struct Followed {
    pub tally: Tally,
    /// The live flows of each thread.
    pub live: Vec<Vec<FlowKey>>,
    /// The first packets of flows, in the order of the captures.
    pub recorded: Vec<Packet>,
}

/// Reads the captures while the threads follow the flows.
pub fn follow(
    captures: &[Capture],
    filter: &CuckooFilter,
    threads: usize,
) -> Result<Followed, Failure> {
    thread::scope(|scope| {
        let (senders, owners): (Vec<_>, Vec<_>) = (0..threads)
            .map(|_| {
                let (sender, batches) = sync_channel(MAX_WAITING);
                (sender, scope.spawn(|| Owner::new(filter).run(batches)))
            })
            .unzip();
        let dealt = deal_all(captures, senders);
        let (mut live, mut failures) = (Vec::with_capacity(threads), Vec::new());
        let mut tally = Tally::default();
        for owner in owners {
            match owner.join().unwrap_or_else(|panic| resume_unwind(panic)) {
                Ok(owner) => {
                    tally.add(&owner.tally);
                    live.push(owner.into_live());
                }
                Err(failure) => failures.push(failure),
            }
        }
        // A broken guarantee takes precedence over a full filter, and both over bad input.
        if let Some(failure) = failures.into_iter().min() {
            return Err(failure);
        }
        let dealer = dealt?;
        tally.add(&dealer.tally);
        Ok(Followed { tally, live, recorded: dealer.recorded })
    })
}

/// Looks up all live flows in every thread, also in those that do not own them; then removes them.
/// The filter must then be empty.
pub fn clear(filter: &CuckooFilter, live: &[Vec<FlowKey>]) -> Result<(), Failure> {
    let in_threads = |work: &(dyn Fn(&[FlowKey]) -> Result<(), Failure> + Sync)| {
        thread::scope(|scope| {
            let spawn = |flows| scope.spawn(move || work(flows));
            let threads: Vec<_> = live.iter().map(|flows| spawn(flows)).collect();
            let mut outcomes = threads.into_iter().map(thread::ScopedJoinHandle::join);
            outcomes.try_for_each(|outcome| outcome.unwrap_or_else(|panic| resume_unwind(panic)))
        })
    };
    in_threads(&|_| live.iter().flatten().try_for_each(|key| must_contain(filter, key)))?;
    in_threads(&|flows| flows.iter().try_for_each(|key| remove(filter, key)))?;
    match filter.len() {
        0 => Ok(()),
        left => {
            Err(Failure::broken(format!("all flows are removed, but the filter counts {left}")))
        }
    }
}

#[cfg(test)]
mod tests {
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
    fn follows_the_shipped_capture_to_an_empty_filter() {
        for threads in [1, 3] {
            let filter = CuckooFilter::with_capacity(10_000);
            let captures = [Capture::find(SHIPPED.into()).unwrap()];
            let Followed { tally, live, recorded } = follow(&captures, &filter, threads).unwrap();
            assert_eq!((tally.packets, tally.distinct), (4709, 257));
            assert_eq!((tally.others, tally.started, tally.lookups), (10, 325, 4374));
            assert_eq!((tally.closed, tally.idled, tally.left), (75, 2, 248));
            assert_eq!(recorded.len() as u64, tally.packets - tally.others);
            assert_eq!((filter.len(), live.iter().flatten().count()), (tally.left, tally.left));
            clear(&filter, &live).unwrap();
            // The flows are gone: they count as false negatives now.
            assert_eq!(clear(&filter, &live).unwrap_err().status(), 1);
        }
    }

    #[test]
    fn a_full_filter_is_reported() {
        let filter = CuckooFilter::with_capacity(1);
        let captures = [Capture::find(SHIPPED.into()).unwrap()];
        let failure = follow(&captures, &filter, 2).err().unwrap();
        assert!(failure.status() == 2 && failure.to_string().contains("--capacity"), "{failure}");
    }
}
