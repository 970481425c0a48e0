//! Replays a capture on all threads, to measure how many packets a set of flows can follow.
//!
//! The flows of one capture fit in any cache. Therefore many sites play the capture at once, each
//! from another point and with addresses of its own. A burst holds the next packets of up to 32
//! sites, and every site plays one packet per round. Between two packets of a flow, a thread thus
//! looks up flows of all its other sites, and a set that exceeds the cache pays for it.
//!
//! Per burst, a thread looks up all flows, inserts the missing ones and removes those that end. The
//! capture says which flows are new, and one bit per flow records which ones the thread inserted;
//! that gives exact counts of false positives and false negatives. An application needs such a
//! record, too: it must not remove a flow that it did not insert.

use std::{
    hash::BuildHasher,
    panic::resume_unwind,
    sync::{
        Barrier,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant},
};

use guira::StableHashBuilder;

use crate::{
    failure::Failure,
    schedule::{Schedule, Site, share},
    sets::{BURST, Burst, FlowSet, positions},
};

/// Interval between two updates of the progress bar.
const TICK: Duration = Duration::from_millis(50);

/// What the threads counted.
#[derive(Clone, Copy, Default)]
pub struct Counts {
    pub packets: u64,
    /// First packets of flows, and so lookups of absent keys.
    pub started: u64,
    pub false_positives: u64,
    /// Lookups and removals of flows that the set should hold, but does not.
    pub false_negatives: u64,
}

impl Counts {
    fn add(&mut self, other: &Self) {
        self.packets += other.packets;
        self.started += other.started;
        self.false_positives += other.false_positives;
        self.false_negatives += other.false_negatives;
    }
}

/// One thread's part of the replay.
struct Player<'a, S> {
    set: S,
    schedule: &'a Schedule,
    hasher: &'a StableHashBuilder,
    sites: Vec<Site>,
    /// Number of sites of all threads together.
    all_sites: u32,
    /// A bit for each site and flow: whether this thread inserted it and has not removed it.
    held: Vec<u64>,
    counts: Counts,
}

impl<'a, S: FlowSet> Player<'a, S> {
    fn new(
        set: S,
        schedule: &'a Schedule,
        hasher: &'a StableHashBuilder,
        sites: Vec<Site>,
        all_sites: usize,
    ) -> Self {
        let words = schedule.flows.len().div_ceil(64);
        Self {
            set,
            schedule,
            hasher,
            all_sites: all_sites as u32,
            held: vec![0; sites.len() * words],
            sites,
            counts: Counts::default(),
        }
    }

    /// Returns the word and the bit of a flow in `held`.
    fn bit(&self, site: usize, flow: u32) -> (usize, u64) {
        let words = self.schedule.flows.len().div_ceil(64);
        (site * words + flow as usize / 64, 1 << (flow % 64))
    }

    /// Returns whether the set holds a flow, by the records.
    fn holds(&self, site: usize, flow: u32) -> bool {
        let (word, bit) = self.bit(site, flow);
        self.held[word] & bit != 0
    }

    /// Records whether the set holds a flow.
    fn record(&mut self, site: usize, flow: u32, is_held: bool) {
        let (word, bit) = self.bit(site, flow);
        self.held[word] = self.held[word] & !bit | if is_held { bit } else { 0 };
    }

    /// Puts a flow of a site into a burst.
    #[inline]
    fn put(&self, burst: &mut Burst, site: usize, flow: u32) {
        let key = self.schedule.flows[flow as usize].moved_to(self.sites[site].network);
        burst.keys[burst.len] = key;
        burst.hashes[burst.len] = self.hasher.hash_one(key);
        burst.held |= u64::from(self.holds(site, flow)) << burst.len;
        burst.len += 1;
    }

    /// Calls `act` with bursts of the given flows of a site, and records which of them the set
    /// holds afterwards.
    fn in_bursts(
        &mut self,
        site: usize,
        flows: &[u32],
        act: impl Fn(&mut Self, &Burst) -> Result<u64, Failure>,
    ) -> Result<(), Failure> {
        for flows in flows.chunks(BURST) {
            let mut burst = Burst::new();
            for &flow in flows {
                self.put(&mut burst, site, flow);
            }
            let held = act(self, &burst)?;
            for (position, &flow) in flows.iter().enumerate() {
                self.record(site, flow, held >> position & 1 != 0);
            }
        }
        Ok(())
    }

    /// Inserts the flows that are live before the first step.
    fn fill(&mut self) -> Result<(), Failure> {
        let insert = |player: &mut Self, burst: &Burst| player.set.insert(burst, burst.all());
        (0..self.sites.len()).try_for_each(|site| {
            let live: Vec<u32> = self.schedule.live_before(self.sites[site].step).collect();
            self.in_bursts(site, &live, insert)
        })
    }

    /// Looks up and removes all flows that the set holds.
    fn drain(&mut self) -> Result<(), Failure> {
        let remove = |player: &mut Self, burst: &Burst| {
            let found = player.set.contains(burst) & player.set.remove(burst, burst.all());
            player.counts.false_negatives += u64::from((burst.all() & !found).count_ones());
            Ok(0)
        };
        let flows = 0..self.schedule.flows.len() as u32;
        (0..self.sites.len()).try_for_each(|site| {
            let held: Vec<u32> = flows.clone().filter(|&flow| self.holds(site, flow)).collect();
            self.in_bursts(site, &held, remove)
        })
    }

    /// Plays the next packet of every site.
    fn step(&mut self) -> Result<(), Failure> {
        for start in (0..self.sites.len()).step_by(BURST) {
            let end = (start + BURST).min(self.sites.len());
            let (mut burst, mut starts, mut ends) = (Burst::new(), 0_u64, 0_u64);
            for site in start..end {
                let step = self.schedule.steps[self.sites[site].step];
                starts |= u64::from(step.starts) << burst.len;
                ends |= u64::from(step.ends) << burst.len;
                self.put(&mut burst, site, step.flow);
            }
            let known = self.set.contains(&burst);
            self.counts.packets += burst.len as u64;
            self.counts.started += u64::from(starts.count_ones());
            self.counts.false_positives += u64::from((known & starts).count_ones());
            self.counts.false_negatives += u64::from((burst.held & !known).count_ones());

            let (absent, mut changed) = (burst.all() & !known, 0);
            if absent != 0 {
                let added = self.set.insert(&burst, absent)?;
                burst.held |= added;
                changed |= added;
            }
            let over = ends & burst.held;
            if over != 0 {
                let removed = self.set.remove(&burst, over);
                self.counts.false_negatives += u64::from((over & !removed).count_ones());
                burst.held &= !over;
                changed |= over;
            }
            for position in positions(changed) {
                let site = start + position;
                let flow = self.schedule.steps[self.sites[site].step].flow;
                self.record(site, flow, burst.held >> position & 1 != 0);
            }
            for site in &mut self.sites[start..end] {
                site.step += 1;
                if site.step == self.schedule.steps.len() {
                    site.step = 0;
                    site.network = site.network.wrapping_add(self.all_sites);
                }
            }
        }
        Ok(())
    }
}

/// The result of a replay.
pub struct Outcome {
    pub threads: usize,
    /// Packets per second, of all threads together.
    pub speed: f64,
    pub counts: Counts,
}

/// Replays the schedule for some time, with one thread per handle of the set. Calls `tick` now and
/// then with the time and the number of packets so far.
pub fn replay<S: FlowSet>(
    sets: Vec<S>,
    (schedule, sites): (&Schedule, &[Site]),
    hasher: &StableHashBuilder,
    time: Duration,
    tick: &dyn Fn(Duration, u64),
) -> Result<Outcome, Failure> {
    let threads = sets.len();
    let (start, played) = (Barrier::new(threads + 1), AtomicU64::new(0));
    let play = |set: S, own: Vec<Site>| {
        let mut player = Player::new(set, schedule, hasher, own, sites.len());
        let filled = player.fill();
        start.wait();
        filled?;
        let started = Instant::now();
        while started.elapsed() < time {
            player.step()?;
            played.fetch_add(player.sites.len() as u64, Relaxed);
        }
        let seconds = started.elapsed().as_secs_f64();
        player.drain()?;
        Ok((player.counts, player.counts.packets as f64 / seconds))
    };
    thread::scope(|scope| {
        let play = &play;
        let handles: Vec<_> = sets
            .into_iter()
            .enumerate()
            .map(|(thread, set)| {
                let own = share(sites, thread, threads);
                scope.spawn(move || play(set, own))
            })
            .collect();
        start.wait();
        let started = Instant::now();
        while started.elapsed() < time {
            thread::sleep(TICK.min(time));
            tick(started.elapsed().min(time), played.load(Relaxed));
        }
        let mut outcome = Outcome { threads, speed: 0.0, counts: Counts::default() };
        for handle in handles {
            let played: Result<(Counts, f64), Failure> =
                handle.join().unwrap_or_else(|panic| resume_unwind(panic));
            let (counts, speed) = played?;
            outcome.counts.add(&counts);
            outcome.speed += speed;
        }
        Ok(outcome)
    })
}

#[cfg(test)]
mod tests {
    use guira::{CuckooFilter, FromSeed, GrowingFilter};

    use super::*;
    use crate::{
        schedule::shipped_schedule,
        sets::{Exact, InBursts, OneByOne, Sharded},
    };

    /// Plays 3 000 steps, drains the set, and returns the counts.
    fn play<S: FlowSet>(set: S) -> Counts {
        let schedule = shipped_schedule();
        let (sites, _) = schedule.sites(5000, 1);
        let hasher = StableHashBuilder::from_seed(1);
        let (starts, all) = (sites.clone(), sites.len());
        let mut player = Player::new(set, &schedule, &hasher, sites, all);
        player.fill().unwrap();
        (0..3000).try_for_each(|_| player.step()).unwrap();
        player.drain().unwrap();
        assert_eq!(player.counts.packets, 3000 * all as u64);
        for (site, start) in player.sites.iter().zip(starts) {
            let passes = (start.step + 3000) / schedule.steps.len();
            assert_eq!(site.network as usize, start.network as usize + passes * all);
        }
        player.counts
    }

    /// Says of every new flow that it was inserted, but drops every hundredth.
    struct Lossy {
        set: Exact,
        inserts: u32,
    }

    impl FlowSet for Lossy {
        fn contains(&mut self, burst: &Burst) -> u64 {
            (&mut self.set).contains(burst)
        }

        fn insert(&mut self, burst: &Burst, which: u64) -> Result<u64, Failure> {
            self.inserts += 1;
            if self.inserts.is_multiple_of(100) {
                Ok(which)
            } else {
                (&mut self.set).insert(burst, which)
            }
        }

        fn remove(&mut self, burst: &Burst, which: u64) -> u64 {
            (&mut self.set).remove(burst, which)
        }
    }

    #[test]
    fn exact_sets_make_no_errors_and_end_empty() {
        let hasher = StableHashBuilder::from_seed(1);
        let (mut exact, sharded) = (Exact::new(&hasher), Sharded::new(&hasher));
        for counts in [play(&mut exact), play(&sharded)] {
            assert_eq!((counts.false_positives, counts.false_negatives), (0, 0));
            assert!(counts.started > 1000);
        }
        assert_eq!((exact.len(), sharded.len()), (0, 0));
    }

    #[test]
    fn filters_keep_their_rate_and_end_empty() {
        let hasher = StableHashBuilder::from_seed(1);
        let build = |rate| {
            let builder = CuckooFilter::builder().capacity(6000).hasher(hasher.clone());
            builder.false_positive_rate(rate).seed(1).build().unwrap()
        };
        let (filter, coarse) = (build(0.01), build(0.2));
        for (counts, rate) in [
            (play(OneByOne(&filter)), 0.01),
            (play(InBursts(&filter)), 0.01),
            (play(InBursts(&coarse)), 0.2),
        ] {
            assert_eq!(counts.false_negatives, 0);
            let share = counts.false_positives as f64 / counts.started as f64;
            assert!(share > rate / 100.0 && share < 1.2 * rate, "{share} of {rate}");
        }
        assert!(filter.is_empty() && coarse.is_empty());
    }

    #[test]
    fn a_filter_that_grows_counts_as_a_fixed_one() {
        let hasher = StableHashBuilder::from_seed(1);
        let growing = GrowingFilter::builder().capacity(1_000).false_positive_rate(0.01);
        let growing = growing.hasher(hasher.clone()).seed(1).build().unwrap();
        let before = growing.capacity();
        let exact = play(&mut Exact::new(&hasher));
        for counts in [play(InBursts(&growing)), play(OneByOne(&growing))] {
            let Counts { packets, started, false_positives, false_negatives } = counts;
            assert_eq!((packets, started, false_negatives), (exact.packets, exact.started, 0));
            assert!((false_positives as f64) < 0.01 * started as f64, "{false_positives}");
        }
        assert!(growing.is_empty() && growing.capacity() >= 4 * before, "{growing:?}");
    }

    #[test]
    fn lost_flows_count_as_false_negatives() {
        let hasher = StableHashBuilder::from_seed(1);
        let counts = play(Lossy { set: Exact::new(&hasher), inserts: 0 });
        assert!(counts.false_negatives > 100, "{}", counts.false_negatives);
    }

    #[test]
    fn threads_share_a_set() {
        let (schedule, hasher) = (shipped_schedule(), StableHashBuilder::from_seed(1));
        let (sites, _) = schedule.sites(5000, 2);
        let set = Sharded::new(&hasher);
        let time = Duration::from_millis(50);
        let outcome =
            replay(vec![&set, &set, &set], (&schedule, &sites), &hasher, time, &|_, _| ()).unwrap();
        assert!(outcome.counts.packets >= sites.len() as u64 && outcome.speed > 0.0);
        assert_eq!((outcome.counts.false_positives, outcome.counts.false_negatives), (0, 0));
        assert_eq!(set.len(), 0);
    }
}
