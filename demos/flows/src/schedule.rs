//! The capture as the replay plays it: at many sites at once, each at another point, and each with
//! hosts of its own.

use std::collections::HashMap;

use crate::packet::{Closing, FlowKey, Packet};

/// A packet of the schedule.
#[derive(Clone, Copy)]
pub struct Step {
    /// Index of the packet's flow.
    pub flow: u32,
    /// Whether the packet begins a life of the flow.
    pub starts: bool,
    /// Whether the packet ends a life of the flow: it closes the flow or is its last one.
    pub ends: bool,
}

/// The packets of a capture, and when its flows live.
pub struct Schedule {
    pub flows: Vec<FlowKey>,
    pub steps: Vec<Step>,
    /// For each life of a flow: the steps that start and end it, and the flow.
    lives: Vec<(usize, usize, u32)>,
    /// Live flows before each step.
    live: Vec<usize>,
}

impl Schedule {
    /// Derives the schedule from packets in their order.
    pub fn new(packets: &[Packet]) -> Self {
        /// A live flow: the first and the latest step of its life.
        struct Life {
            start: usize,
            latest: usize,
            closing: Closing,
        }
        let mut schedule =
            Self { flows: Vec::new(), steps: Vec::new(), lives: Vec::new(), live: Vec::new() };
        let (mut indices, mut open) = (HashMap::new(), HashMap::<u32, Life>::new());
        for (at, packet) in packets.iter().enumerate() {
            let flow = *indices.entry(packet.flow).or_insert_with(|| {
                schedule.flows.push(packet.flow);
                schedule.flows.len() as u32 - 1
            });
            let starts = !open.contains_key(&flow);
            let life = Life { start: at, latest: at, closing: Closing::default() };
            let life = open.entry(flow).or_insert(life);
            life.latest = at;
            let ends = life.closing.is_closed_by(packet);
            if ends {
                schedule.lives.push((life.start, at, flow));
                open.remove(&flow);
            }
            schedule.steps.push(Step { flow, starts, ends });
        }
        for (flow, life) in open {
            schedule.steps[life.latest].ends = true;
            schedule.lives.push((life.start, life.latest, flow));
        }
        let mut live = 0;
        for step in &schedule.steps {
            schedule.live.push(live);
            live += usize::from(step.starts);
            live -= usize::from(step.ends);
        }
        schedule
    }

    /// Iterates over the flows that are live before a step.
    pub fn live_before(&self, step: usize) -> impl Iterator<Item = u32> {
        let lives = self.lives.iter();
        lives.filter(move |life| life.0 < step && step <= life.1).map(|life| life.2)
    }

    /// Returns sites that play the capture from points spread evenly over it, with about this many
    /// live flows together, but at least one site per thread. Also returns their live flows.
    pub fn sites(&self, flows: usize, threads: usize) -> (Vec<Site>, usize) {
        let steps = self.steps.len();
        let mean_live = self.live.iter().sum::<usize>() as f64 / steps as f64;
        let count = ((flows as f64 / mean_live.max(1.0)) as usize).max(threads);
        let step_of = |site: usize| (site as u128 * steps as u128 / count as u128) as usize;
        let sites: Vec<_> =
            (0..count).map(|site| Site { step: step_of(site), network: site as u32 }).collect();
        let live = sites.iter().map(|site| self.live[site.step]).sum();
        (sites, live)
    }

    /// Returns an upper bound on the live flows of evenly spread sites while one thread plays them.
    pub fn max_live(&self, sites: &[Site]) -> usize {
        let live_after = |rounds: usize| -> usize {
            sites.iter().map(|site| self.live[(site.step + rounds) % self.live.len()]).sum()
        };
        // The sites are spread evenly. So once each has reached the point where the next one
        // started, the numbers repeat, up to a step and so a flow per site. Within a round, each
        // site can have one more flow.
        let period = self.live.len().div_ceil(sites.len());
        let max = (0..=period).map(live_after).max().unwrap_or(0);
        max + 2 * sites.len()
    }
}

/// A site of the replay: it plays the capture again and again.
#[derive(Clone, Copy)]
pub struct Site {
    /// Index of the next step.
    pub step: usize,
    /// The network of the site's hosts. The site moves to another one whenever it starts anew, so
    /// that its flows are new, too.
    pub network: u32,
}

/// Returns a thread's share of the sites, which is spread as evenly as all of them.
pub fn share(sites: &[Site], thread: usize, threads: usize) -> Vec<Site> {
    sites.iter().skip(thread).step_by(threads).copied().collect()
}

/// Returns the schedule of the shipped capture.
#[cfg(test)]
pub fn shipped_schedule() -> Schedule {
    use crate::capture::{Capture, SHIPPED, read_all};

    let mut packets = Vec::new();
    let mut take = |frame: &crate::packet::Frame<'_>| {
        packets.extend(frame.decode(0));
        Ok(())
    };
    read_all(&[Capture::find(SHIPPED.into()).unwrap()], &mut take).unwrap();
    Schedule::new(&packets)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn the_steps_agree_with_the_lives() {
        let schedule = shipped_schedule();
        assert_eq!(schedule.flows.len(), 257);
        let mut live = HashSet::new();
        for (at, step) in schedule.steps.iter().enumerate() {
            let expected: HashSet<u32> = schedule.live_before(at).collect();
            assert!(live == expected && schedule.live[at] == live.len(), "before step {at}");
            assert_eq!(live.insert(step.flow), step.starts, "step {at}");
            if step.ends {
                live.remove(&step.flow);
            }
        }
        assert!(live.is_empty());
    }

    #[test]
    fn the_live_flows_never_exceed_their_bound() {
        let schedule = shipped_schedule();
        for flows in [1, 1000, 5000, 20_000] {
            let (sites, _) = schedule.sites(flows, 3);
            let mut sites = share(&sites, 1, 3);
            let mut live = sites.iter().map(|site| schedule.live[site.step]).sum::<usize>();
            let bound = schedule.max_live(&sites);
            let mut max = live;
            for _ in 0..schedule.steps.len() {
                for site in &mut sites {
                    let step = schedule.steps[site.step];
                    live += usize::from(step.starts);
                    max = max.max(live);
                    live -= usize::from(step.ends);
                    site.step = (site.step + 1) % schedule.steps.len();
                }
            }
            assert!(max <= bound && bound <= max + 4 * sites.len(), "{max} of {bound}");
        }
    }

    #[test]
    fn sites_have_about_the_live_flows_and_networks_of_their_own() {
        let schedule = shipped_schedule();
        let (sites, live) = schedule.sites(100_000, 2);
        assert!((99_000..101_000).contains(&live), "{live}");
        let networks: HashSet<u32> = sites.iter().map(|site| site.network).collect();
        assert_eq!(networks.len(), sites.len());
        assert_eq!(schedule.sites(1, 7).0.len(), 7);
    }
}
