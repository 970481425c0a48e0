//! The deliveries that every contestant gets, and the check of its answers.

use std::ops::Range;

use rand::{RngExt, SeedableRng, rngs::SmallRng};

/// Share of deliveries, in per cent, that are the first one of a message or seem to be.
const FIRST: u64 = 75;

/// Share that repeats a message which half a tick before was delivered: with two threads, the other
/// one delivers it at the same moment.
const AT_ONCE: u64 = 5;

/// Share that repeats a message of the window. The rest repeats messages that are long forgotten.
const WITHIN: u64 = 18;

/// Deliveries of messages in the order of time, divided into ticks of the same length. Each
/// delivery is a message's number.
#[derive(Debug)]
pub struct Workload {
    deliveries: Vec<u32>,
    messages: u32,
    per_tick: usize,
    window: usize,
    /// Largest number of distinct messages in `window + 1` ticks.
    remembered: usize,
}

/// Wrong answers of a contestant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mistakes {
    /// Deliveries that were accepted although the message was accepted within the window.
    pub accepted: u64,
    /// Deliveries that were refused although they were due.
    pub refused: u64,
    /// Deliveries that were due: the message was never accepted, or so long ago that every
    /// contestant has to have forgotten it.
    pub due: u64,
}

impl Workload {
    /// Draws deliveries, always the same. A message is remembered for `window` ticks.
    pub fn draw(window: usize, per_tick: usize, ticks: usize) -> Self {
        let mut numbers = SmallRng::seed_from_u64(1);
        let mut deliveries = Vec::with_capacity(per_tick * ticks);
        // The first message of each tick, and the number of messages delivered in it.
        let (mut births, mut distinct) = (Vec::with_capacity(ticks), Vec::with_capacity(ticks));
        let mut messages = 0_u32;
        for tick in 0..ticks {
            births.push(messages);
            let mut late = 0;
            for position in 0..per_tick {
                let draw = numbers.random_range(0..100);
                let recent = births[tick.saturating_sub(window)]..messages;
                let forgotten = 0..births[tick.saturating_sub(forgotten_after(window))];
                let message = if draw < FIRST {
                    None
                } else if draw < FIRST + AT_ONCE {
                    (position >= per_tick / 2).then(|| deliveries[deliveries.len() - per_tick / 2])
                } else if draw < FIRST + AT_ONCE + WITHIN {
                    pick(&mut numbers, recent)
                } else {
                    let message = pick(&mut numbers, forgotten);
                    late += usize::from(message.is_some());
                    message
                };
                deliveries.push(message.unwrap_or_else(|| {
                    messages += 1;
                    messages - 1
                }));
            }
            distinct.push((messages - births[tick]) as usize + late);
        }
        let remembered = distinct.windows(window + 1).map(|ticks| ticks.iter().sum()).max();
        let remembered = remembered.expect("more ticks than the window");
        Self { deliveries, messages, per_tick, window, remembered }
    }

    /// The number of deliveries.
    pub fn len(&self) -> usize {
        self.deliveries.len()
    }

    /// Returns the largest number of messages that have to be remembered at one time.
    pub fn remembered(&self) -> usize {
        self.remembered
    }

    /// Returns the part of each tick's deliveries that one of `threads` threads handles.
    pub fn shares(&self, thread: usize, threads: usize) -> impl Iterator<Item = &[u32]> {
        let bounds = [thread, thread + 1].map(|nth| self.per_tick * nth / threads);
        self.deliveries.chunks(self.per_tick).map(move |tick| &tick[bounds[0]..bounds[1]])
    }

    /// Checks the answers of each thread, in the order of its deliveries.
    pub fn check(&self, answers: &[Vec<bool>]) -> Mistakes {
        let mut mistakes = Mistakes::default();
        let mut last_accepted = vec![None; self.messages as usize];
        let mut threads: Vec<_> = (0..answers.len())
            .map(|thread| (self.shares(thread, answers.len()), answers[thread].as_slice()))
            .collect();
        for tick in 0..self.deliveries.len() / self.per_tick {
            let mut refused = Vec::new();
            for (shares, answers) in &mut threads {
                let share = shares.next().expect("as many shares as ticks");
                let (now, later) = answers.split_at(share.len());
                *answers = later;
                for (&message, &accepted) in share.iter().zip(now) {
                    if !accepted {
                        refused.push(message);
                        continue;
                    }
                    let last = last_accepted[message as usize].replace(tick);
                    mistakes.accepted += u64::from(last.is_some_and(|at| tick - at <= self.window));
                    mistakes.due += u64::from(self.is_due(last, tick));
                }
            }
            // Whether a message was accepted in this tick is known only now.
            let due = refused.iter().filter(|&&it| self.is_due(last_accepted[it as usize], tick));
            let due = due.count() as u64;
            mistakes.refused += due;
            mistakes.due += due;
        }
        mistakes
    }

    fn is_due(&self, last_accepted: Option<usize>, tick: usize) -> bool {
        last_accepted.is_none_or(|at| tick - at >= forgotten_after(self.window))
    }
}

/// The number of ticks after which every contestant has forgotten a message.
fn forgotten_after(window: usize) -> usize {
    2 * window + 1
}

/// Returns the id of a message: random, and different for different numbers. It is `SplitMix64`'s
/// output function, a permutation.
pub fn id(message: u32) -> u64 {
    let mut z = u64::from(message).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Picks one of some messages.
fn pick(numbers: &mut SmallRng, messages: Range<u32>) -> Option<u32> {
    (!messages.is_empty()).then(|| numbers.random_range(messages))
}

#[cfg(test)]
mod tests {
    use super::{Mistakes, Workload};

    /// A window of 1 tick, and ticks of one delivery.
    fn check(deliveries: &[u32], accepted: &[bool]) -> Mistakes {
        let workload = Workload {
            deliveries: deliveries.into(),
            messages: 2,
            per_tick: 1,
            window: 1,
            remembered: 2,
        };
        workload.check(&[accepted.to_vec()])
    }

    #[test]
    fn a_message_may_be_accepted_again_after_the_window_and_must_be_after_twice_the_window() {
        let due = |due| Mistakes { due, ..Mistakes::default() };
        assert_eq!(check(&[0, 0, 1], &[true, false, true]), due(2));
        assert_eq!(check(&[0, 1, 0], &[true, true, true]), due(2));
        assert_eq!(check(&[0, 1, 0], &[true, true, false]), due(2));
        assert_eq!(check(&[0, 1, 1, 0], &[true, true, false, true]), due(3));
    }

    #[test]
    fn mistakes_are_counted() {
        let accepted = Mistakes { accepted: 1, refused: 0, due: 1 };
        assert_eq!(check(&[0, 0], &[true, true]), accepted);
        let refused = Mistakes { accepted: 0, refused: 1, due: 3 };
        assert_eq!(check(&[0, 1, 1, 0], &[true, true, false, false]), refused);
        assert_eq!(check(&[1], &[false]), Mistakes { due: 1, ..refused });
    }

    #[test]
    fn of_two_threads_one_may_accept_a_message() {
        let deliveries = vec![0, 0];
        let workload = Workload { deliveries, messages: 1, per_tick: 2, window: 1, remembered: 1 };
        let check = |answers: [bool; 2]| workload.check(&answers.map(|answer| vec![answer]));
        assert_eq!(check([false, true]), Mistakes { accepted: 0, refused: 0, due: 1 });
        assert_eq!(check([true, true]).accepted, 1);
        assert_eq!(check([false, false]).refused, 2);
    }

    #[test]
    fn every_kind_of_delivery_occurs() {
        let workload = Workload::draw(2, 1_000, 20);
        assert_eq!(workload.len(), 20_000);
        let mut births = vec![None; workload.messages as usize];
        let (mut at_once, mut within, mut late) = (0, 0, 0);
        for (at, &message) in workload.deliveries.iter().enumerate() {
            let born = *births[message as usize].get_or_insert(at);
            match at / 1_000 - born / 1_000 {
                _ if at - born == 500 => at_once += 1,
                0 => {}
                1..=2 => within += 1,
                age => {
                    assert!(age >= 5, "delivered again after {age} ticks");
                    late += 1;
                }
            }
        }
        assert!(at_once > 200 && within > 1_000 && late > 100, "{at_once}, {within}, {late}");
        assert!(births.iter().all(Option::is_some), "a message was never delivered");
    }
}
