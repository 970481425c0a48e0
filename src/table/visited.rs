//! The set of buckets that a search for room has visited: open addressing over the nodes of the
//! search. A place has the number of a node plus one, or zero.

use super::mix::SCATTER;

/// The place for a bucket, or `None` if the set has it. The number of places is a power of two, and
/// one of them is free.
#[inline]
pub(super) fn free_place<T: Copy + Into<usize>>(
    visited: &[T],
    bucket: u32,
    bucket_of: impl Fn(usize) -> u32,
) -> Option<usize> {
    let mask = visited.len() - 1;
    let mut place = first_place(bucket, mask);
    while let Some(node) = visited[place].into().checked_sub(1) {
        if bucket_of(node) == bucket {
            return None;
        }
        place = (place + 1) & mask;
    }
    Some(place)
}

/// The place at which the probe sequence of a bucket starts.
#[inline]
pub(super) fn first_place(bucket: u32, mask: usize) -> usize {
    (bucket.wrapping_mul(SCATTER[0]) >> 16) as usize & mask
}
