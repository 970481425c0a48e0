//! The order of reads and writes, and which keys the writes change.

use std::ops::Range;

use crate::common::{BATCH, Keys};

/// A thread's own keys. A write takes the oldest one in the filter out, or puts a new one in, in turn, so
/// the load stays.
///
/// No key comes back: one that was taken out a moment ago would find the lane that it left still empty,
/// and an insert would cost less than it does in use.
#[derive(Clone, Debug)]
pub struct Ring {
    keys: Keys,
    oldest: u64,
    next: u64,
    removal_is_next: bool,
    /// Writes that failed: no room, or nothing to remove.
    pub failures: u64,
}

impl Ring {
    /// The keys of these indices are in the filter; new ones come from the indices after them.
    pub fn new(keys: Keys, present: Range<u64>) -> Self {
        Self { keys, oldest: present.start, next: present.end, removal_is_next: true, failures: 0 }
    }

    /// One write.
    #[inline]
    fn write(&mut self, insert: impl Fn(u64) -> bool, remove: impl Fn(u64) -> Option<bool>) {
        let index = if self.removal_is_next { &mut self.oldest } else { &mut self.next };
        let key = self.keys.key(*index);
        *index += 1;
        let done = if self.removal_is_next { remove(key) == Some(true) } else { insert(key) };
        self.removal_is_next = !self.removal_is_next;
        self.failures += u64::from(!done);
    }
}

/// The order of reads and writes in a block of operations, evenly spread.
#[derive(Clone, Debug)]
pub struct Steps(Vec<bool>);

impl Steps {
    /// A block with as many per cent of reads.
    pub fn new(reads_percent: u32) -> Self {
        let writes = |until: usize| until * (100 - reads_percent as usize) / 100;
        Self((0..BATCH).map(|step| writes(step + 1) > writes(step)).collect())
    }

    /// Runs the block; returns how many keys were found.
    #[inline]
    pub fn run(
        &self,
        reads: &[u64],
        ring: &mut Ring,
        contains: impl Fn(u64) -> bool,
        insert: impl Fn(u64) -> bool,
        remove: impl Fn(u64) -> Option<bool>,
    ) -> usize {
        let mut found = 0;
        for (&write, &key) in self.0.iter().zip(reads) {
            if write {
                ring.write(&insert, &remove);
            } else {
                found += usize::from(contains(key));
            }
        }
        found
    }
}
