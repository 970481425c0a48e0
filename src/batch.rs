//! Batches: windows of items whose buckets are all prefetched before any is looked at.
//!
//! A look-up by itself waits for one cache miss, since its two buckets are asked for together; in a
//! window dozens of misses are under way at once. A locked instruction on a line that is not in the
//! cache costs the line's whole latency and overlaps with nothing, so inserting and removing gain
//! even more.

use crate::{
    geometry::Pair,
    shared::Core,
    word::{Fingerprint, WordLayout},
};

/// Items whose buckets are asked for at once. 16 to 32 measured best; 64 outruns the line-fill
/// buffers.
const WINDOW: usize = 32;

/// Calls `operation` with each item's position and pair, in order, its buckets on their way to the
/// cache well before.
#[inline]
pub(crate) fn for_each_pair<L: WordLayout, T>(
    core: &Core,
    items: &[T],
    hash: impl Fn(&T) -> u64,
    mut operation: impl FnMut(usize, Pair),
) {
    let ask = |item: &T| {
        let pair = core.geometry().pair::<L>(hash(item));
        core.prefetch(pair);
        core.stripes.prefetch(pair.fingerprint);
        pair
    };
    let unset = Pair { fingerprint: Fingerprint::new(1), buckets: [0; 2] };
    let mut pairs = [unset; WINDOW];
    for (pair, item) in pairs.iter_mut().zip(items) {
        *pair = ask(item);
    }
    for position in 0..items.len() {
        let slot = &mut pairs[position % WINDOW];
        let pair = *slot;
        if let Some(item) = items.get(position + WINDOW) {
            *slot = ask(item);
        }
        operation(position, pair);
    }
}
