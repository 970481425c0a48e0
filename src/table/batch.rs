//! Batches: each item's cache lines are prefetched a window of items before the item is processed.
//!
//! A lone lookup waits for one cache miss, because the loads of its two buckets overlap; in a batch
//! dozens of misses are in flight. The window rolls: each item that is processed makes room for the
//! next one. (A window that is filled and then drained leaves the memory idle at each turn: it
//! takes 1.2 times as long as the bare memory accesses, the rolling window 1.0 times.)

/// The batch window, in items. 12, 16, 24, 48 and 64 measured the same.
/// Two under loom and shuttle, so that small batches have more.
pub(crate) const WINDOW: usize = if cfg!(any(loom, shuttle)) { 2 } else { 32 };

/// The mixed hashes of a batch, in order. Each call writes the next ones to the start of the block
/// and returns their number, which is 0 after the last one.
///
/// Operations on batches take their hashes in this form, so that they are compiled once, and not
/// once per type of item. A call costs little, shared by a block.
pub(crate) type Hashes<'a> = dyn FnMut(&mut [u64; WINDOW]) -> usize + 'a;

/// Calls `operation` with each item's position and the value that `prefetch` made of its hash a
/// window earlier, in order. `unset` fills the window at first.
#[inline]
pub(crate) fn for_each_prefetched<P: Copy>(
    hashes: &mut Hashes<'_>,
    unset: P,
    prefetch: impl Fn(u64) -> P,
    mut operation: impl FnMut(usize, P),
) {
    let (mut block, mut window) = ([0; WINDOW], [unset; WINDOW]);
    let (mut first, mut waiting) = (0, 0);
    loop {
        let arrived = hashes(&mut block);
        for (place, &hash) in block[..arrived].iter().enumerate().skip(waiting) {
            window[place] = prefetch(hash);
        }
        for place in 0..waiting {
            let prefetched = window[place];
            if place < arrived {
                window[place] = prefetch(block[place]);
            }
            operation(first + place, prefetched);
        }
        first += waiting;
        waiting = arrived;
        if arrived == 0 {
            return;
        }
    }
}
