//! Batches: each item's lines are asked for some items before it is looked at.
//!
//! A look-up by itself waits for one cache miss, since its two buckets are asked for together; in a
//! batch dozens of misses are under way at once. The window rolls: each item looked at makes way for the
//! next to be asked for. (One that is filled and then emptied leaves the memory idle at each turn: 1.2
//! of the floor instead of 1.0.)

use alloc::vec::Vec;

use crate::{
    geometry::Pair,
    shared::Core,
    word::{Fingerprint, WordLayout},
};

/// How many items ahead. 12, 16, 24, 48 and 64 measured the same.
const WINDOW: usize = 32;
/// How many hashes are taken from an iterator before they are worked on.
const TAKEN_AT_ONCE: usize = 1024;

/// Calls `operation` with each item's position and pair, in order, its buckets on their way to the
/// cache well before.
#[inline]
pub(crate) fn for_each_pair<L: WordLayout, T>(
    core: &Core,
    items: &[T],
    hash: impl Fn(&T) -> u64,
    operation: impl FnMut(usize, Pair),
) {
    let ask = |item: &T| {
        let pair = core.geometry().pair::<L>(hash(item));
        core.prefetch_all(pair);
        pair
    };
    let unset = Pair { fingerprint: Fingerprint::new(1), buckets: [0; 2] };
    for_each_asked(items, unset, ask, operation);
}

/// Calls `operation` with each item's position and what `ask` made of it well before.
#[inline]
pub(crate) fn for_each_asked<T, A: Copy>(
    items: &[T],
    unset: A,
    ask: impl Fn(&T) -> A,
    mut operation: impl FnMut(usize, A),
) {
    let mut window = [unset; WINDOW];
    for (asked, item) in window.iter_mut().zip(items) {
        *asked = ask(item);
    }
    for position in 0..items.len() {
        let slot = &mut window[position % WINDOW];
        let asked = *slot;
        if let Some(item) = items.get(position + WINDOW) {
            *slot = ask(item);
        }
        operation(position, asked);
    }
}

/// Takes hashes from an iterator, a batch at a time, and hands each batch on with the position of its first.
pub(crate) fn in_batches(
    mut hashes: impl Iterator<Item = u64>,
    mut operation: impl FnMut(&[u64], usize),
) {
    let mut taken = Vec::with_capacity(TAKEN_AT_ONCE);
    for first in (0..).step_by(TAKEN_AT_ONCE) {
        taken.clear();
        taken.extend(hashes.by_ref().take(TAKEN_AT_ONCE));
        operation(&taken, first);
        if taken.len() < TAKEN_AT_ONCE {
            break;
        }
    }
}
