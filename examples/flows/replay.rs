//! Replays captures from memory, to see how many packets a second a filter follows.
//!
//! Every thread takes all packets of the captures, over and over, as if they were its own: its number is
//! part of the key. A packet's flow is looked up, and added where it is absent; at the end of
//! each pass the thread removes the flows that it added. So at any time the threads together have as many
//! flows in the filter as they are on their way through, and packets of known and of new flows come as
//! they do in the captures.

use std::{
    hash::BuildHasher,
    panic::resume_unwind,
    sync::Barrier,
    thread,
    time::{Duration, Instant},
};

use guira::CuckooFilter;

use crate::{
    Failure, broken,
    capture::{self, Capture},
    packet::FlowKey,
    unusable,
};

/// Packets of a burst, as network cards hand them over.
const BURST: usize = 32;

/// What the threads did in one of the two ways.
pub struct Replay {
    /// Millions of packets a second, of each thread.
    pub speeds: Vec<f64>,
    pub packets: u64,
}

/// The flows of all packets in the captures, in their order.
pub fn flows(captures: &[Capture]) -> Result<Vec<FlowKey>, Failure> {
    let mut flows = Vec::new();
    capture::read_all(captures, &mut |frame| {
        flows.extend(frame.decode(0).map(|packet| packet.flow));
        Ok(())
    })?;
    if flows.is_empty() {
        return Err(unusable("the captures hold no packet of a flow"));
    }
    Ok(flows)
}

/// Replays the flows from so many threads for a while, in bursts or one packet after another.
pub fn replay(
    filter: &CuckooFilter,
    flows: &[FlowKey],
    threads: usize,
    time: Duration,
    in_bursts: bool,
) -> Result<Replay, Failure> {
    let start = Barrier::new(threads);
    let work = |thread: usize| {
        // Hashed before the clock starts, as a network card's hash would be.
        let hashes: Vec<u64> =
            flows.iter().map(|flow| filter.hasher().hash_one((thread, flow))).collect();
        let mut pass = Pass { filter, added: Vec::with_capacity(hashes.len()) };
        start.wait();
        let (started, mut packets) = (Instant::now(), 0);
        while started.elapsed() < time {
            if in_bursts {
                hashes.chunks(BURST).try_for_each(|burst| pass.take_burst(burst))?;
            } else {
                hashes.iter().try_for_each(|&hash| pass.take(hash))?;
            }
            packets += hashes.len() as u64;
            pass.end()?;
        }
        Ok((packets, packets as f64 / started.elapsed().as_secs_f64() / 1e6))
    };
    let outcomes: Vec<Result<(u64, f64), Failure>> = thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> =
            (0..threads).map(|thread| scope.spawn(move || work(thread))).collect();
        let joined = threads.into_iter().map(thread::ScopedJoinHandle::join);
        joined.map(|outcome| outcome.unwrap_or_else(|panic| resume_unwind(panic))).collect()
    });
    let outcomes = outcomes.into_iter().collect::<Result<Vec<_>, _>>()?;
    if !filter.is_empty() {
        return Err(broken(format!("all flows are removed, and {} are left", filter.len())));
    }
    let (packets, speeds): (Vec<u64>, Vec<f64>) = outcomes.into_iter().unzip();
    Ok(Replay { speeds, packets: packets.into_iter().sum() })
}

/// A thread's pass through the captures.
struct Pass<'a> {
    filter: &'a CuckooFilter,
    /// What it added, and so owns.
    added: Vec<u64>,
}

impl Pass<'_> {
    /// Takes one packet.
    fn take(&mut self, flow: u64) -> Result<(), Failure> {
        if !self.filter.contains_hash(flow)
            && self.filter.insert_unique_hash(flow).map_err(no_room)?
        {
            self.added.push(flow);
        }
        Ok(())
    }

    /// Takes a burst of packets: looks them all up, and adds those that are absent.
    fn take_burst(&mut self, flows: &[u64]) -> Result<(), Failure> {
        let known = self.filter.contains_hash_mask(flows);
        let (mut absent, mut added, mut count) = ([0; BURST], [false; BURST], 0);
        for (position, &flow) in flows.iter().enumerate() {
            if known >> position & 1 == 0 {
                absent[count] = flow;
                count += 1;
            }
        }
        if count > 0 {
            let (absent, added) = (&absent[..count], &mut added[..count]);
            self.filter.insert_unique_hash_batch(absent, added).map_err(no_room)?;
            let new = absent.iter().zip(&*added).filter(|&(_, &added)| added);
            self.added.extend(new.map(|(&flow, _)| flow));
        }
        Ok(())
    }

    /// Looks up all that it added, and removes it.
    fn end(&mut self) -> Result<(), Failure> {
        let mut answers = [false; 1024];
        for flows in self.added.chunks(answers.len()) {
            let answers = &mut answers[..flows.len()];
            if self.filter.contains_hash_batch(flows, answers) < flows.len() {
                return Err(broken("false negative: the filter misses a flow"));
            }
            if self.filter.remove_hash_batch(flows, answers) < flows.len() {
                return Err(broken("the filter has nothing to remove for a flow"));
            }
        }
        self.added.clear();
        Ok(())
    }
}

fn no_room(error: impl std::fmt::Display) -> Failure {
    unusable(format!("{error}: give --capacity more flows, of all threads together"))
}
