//! The filters that the papers compare, and guira's layouts, behind one small trait.
//!
//! All run on one thread and take 64-bit keys, which they hash once by [`hash`]; guira does the same
//! inside. Crates are used where one has the paper's parameters, and the rest is written here.

mod blocked_bloom;
mod bloom;
mod buckets;
mod counting_bloom;
mod cuckoo;
mod d_left;
mod guira;
mod quotient;
mod rank_select;
mod semi_sorted;
mod slots;
#[cfg(test)]
mod tests;

use std::hint::black_box;

/// A filter as the papers' experiments use it: 64-bit keys, one thread.
pub trait Filter {
    /// Adds a key; `false` when it does not fit.
    fn insert(&mut self, key: u64) -> bool;

    /// Whether the key seems to be there.
    fn contains(&self, key: u64) -> bool;

    /// Takes a key out; `None` where the filter cannot.
    fn remove(&mut self, key: u64) -> Option<bool> {
        let _ = key;
        None
    }

    /// Bytes of the table that holds the items.
    fn bytes(&self) -> usize;

    /// What a load factor of one means, in keys.
    fn slots(&self) -> usize;

    /// Counts the distinct cache lines of the table that `contains(key)` reads, each of 64 bytes;
    /// `None` where that is unknown.
    fn lines(&self, key: u64) -> Option<usize> {
        let _ = key;
        None
    }

    /// Adds keys until one does not fit; returns how many did.
    fn inserts(&mut self, keys: &[u64]) -> usize {
        keys.iter().position(|&key| !self.insert(key)).unwrap_or(keys.len())
    }

    /// How many of the keys seem to be there.
    fn lookups(&self, keys: &[u64]) -> usize {
        keys.iter().filter(|&&key| self.contains(key)).count()
    }

    /// Takes keys out; returns how many were there, or `None` where the filter cannot.
    fn removes(&mut self, keys: &[u64]) -> Option<usize> {
        keys.iter().try_fold(0, |removed, &key| Some(removed + usize::from(self.remove(key)?)))
    }
}

/// A kind of filter before it is built.
pub struct Kind {
    /// The paper's name for it: CF, ss-CF, BF, blocked BF, QF, CBF, dl-CBF; or guira and a layout.
    pub name: String,
    /// The crate that it comes from, or "here".
    pub source: &'static str,
    /// Whether keys can be taken out.
    pub removes: bool,
    /// Filled until it refuses a key, and not to a number of keys.
    pub until_full: bool,
    /// Builds one that takes about so many bytes, and says how many keys it is meant for.
    pub build: Build,
}

/// Makes an empty filter of about so many bytes, and says how many keys it is meant for.
pub type Build = Box<dyn Fn(usize) -> (Box<dyn Filter>, usize) + Send + Sync>;

/// Every kind, the paper's first.
pub fn all() -> Vec<Kind> {
    let mut kinds = vec![
        kind("CF", "here", true, true, cuckoo::plain),
        kind("ss-CF", "here", true, true, cuckoo::semi_sorted),
        kind("BF", "fastbloom", false, false, bloom::build),
        kind("blocked BF", "here", false, false, blocked_bloom::build),
        kind("split BF", "sbbf-rs-safe", false, false, blocked_bloom::split),
        kind("QF", "here", true, false, quotient::build),
        kind("RSQF", "qfilter", true, false, rank_select::build),
        kind("CBF", "here", true, false, counting_bloom::build),
        kind("dl-CBF", "here", true, true, d_left::build),
    ];
    kinds.extend(guira::kinds());
    kinds
}

fn kind<F: Filter + 'static>(
    name: &str,
    source: &'static str,
    removes: bool,
    until_full: bool,
    build: fn(usize) -> (F, usize),
) -> Kind {
    let build = move |bytes| {
        let (filter, items) = build(bytes);
        (Box::new(filter) as Box<dyn Filter>, items)
    };
    Kind { name: name.into(), source, removes, until_full, build: Box::new(build) }
}

/// One folded multiply: enough for random keys, in all bits.
#[inline]
fn hash(key: u64) -> u64 {
    let product = u128::from(key ^ 0x243f_6a88_85a3_08d3) * 0x9e37_79b9_7f4a_7c15;
    product as u64 ^ (product >> 64) as u64
}

/// Zeroed memory whose pages the system has handed over already, so that no first insert waits for it.
fn zeroed(bytes: usize) -> Vec<u8> {
    let mut memory = vec![0; bytes];
    black_box(&mut memory[..]).fill(0);
    memory
}

/// How many different cache lines these bytes of a table lie in.
fn distinct_lines(bytes: impl IntoIterator<Item = usize>) -> usize {
    let mut lines: Vec<usize> = bytes.into_iter().map(|byte| byte / 64).collect();
    lines.sort_unstable();
    lines.dedup();
    lines.len()
}

/// The largest power of two of things of so many bits that fits into so many bytes, at least one.
fn power_of_two(bytes: usize, bits: usize) -> usize {
    let things = (bytes * 8 / bits).max(1);
    1 << things.ilog2()
}
