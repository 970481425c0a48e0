//! The order of reads and writes, and the keys that the writes change.

use std::ops::Range;

use guira_harness::{BATCH, Keys};

/// A thread's own keys. A write removes the oldest one or inserts a new one, alternately, so the
/// load stays the same.
///
/// No key returns: it would find its old slot still empty, which makes its insert cheaper than
/// usual.
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
    /// Starts with the keys at these indices in the filter; new ones have the next indices.
    pub fn new(keys: Keys, present: Range<u64>) -> Self {
        Self { keys, oldest: present.start, next: present.end, removal_is_next: true, failures: 0 }
    }

    /// Takes the oldest keys, which the caller removes.
    #[inline]
    pub fn take_oldest<const N: usize>(&mut self) -> [u64; N] {
        self.oldest += N as u64;
        std::array::from_fn(|i| self.keys.key(self.oldest - N as u64 + i as u64))
    }

    /// Takes as many new keys, which the caller inserts.
    #[inline]
    pub fn take_next<const N: usize>(&mut self) -> [u64; N] {
        self.next += N as u64;
        std::array::from_fn(|i| self.keys.key(self.next - N as u64 + i as u64))
    }

    /// Executes one write.
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
    /// Returns a block with this per cent of reads.
    pub fn new(reads_percent: u32) -> Self {
        let writes = |until: usize| until * (100 - reads_percent as usize) / 100;
        Self((0..BATCH).map(|step| writes(step + 1) > writes(step)).collect())
    }

    /// Executes the block. Returns how many keys were found.
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
