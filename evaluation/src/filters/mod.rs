//! The filters that the papers compare, and guira's layouts, behind one trait.
//!
//! All filters take 64-bit keys, hash each once with [`hash`], and run on one thread. The papers'
//! filters are written here, since no crate offers the papers' parameters and counts cache lines.

mod blocked_bloom;
mod bloom;
mod buckets;
mod cuckoo;
mod d_left;
mod guira;
mod quotient;
mod semi_sorted;
#[cfg(test)]
mod tests;

use std::hint::black_box;

use guira_harness::plot::{Look, Marker};

/// A filter of 64-bit keys for one thread, as the papers' experiments use it.
pub trait Filter {
    /// Inserts a key; `false` if it does not fit.
    fn insert(&mut self, key: u64) -> bool;

    /// Returns `true` if the filter contains the key, or by a false positive.
    fn contains(&self, key: u64) -> bool;

    /// Removes a key, and returns whether it was present; `None` if the filter does not support
    /// removal.
    fn remove(&mut self, key: u64) -> Option<bool> {
        let _ = key;
        None
    }

    /// Returns the size of the table in bytes.
    fn bytes(&self) -> usize;

    /// Returns the number of keys at a load factor of one.
    fn slots(&self) -> usize;

    /// Returns the number of distinct 64-byte cache lines of the table that `contains(key)` reads;
    /// `None` if unknown.
    fn cache_lines(&self, key: u64) -> Option<usize> {
        let _ = key;
        None
    }

    /// Inserts keys until one does not fit, and returns how many fitted.
    fn insert_all(&mut self, keys: &[u64]) -> usize {
        keys.iter().take_while(|&&key| self.insert(key)).count()
    }

    /// Returns how many of the keys `contains` finds.
    fn lookup_all(&self, keys: &[u64]) -> usize {
        keys.iter().filter(|&&key| self.contains(key)).count()
    }

    /// Removes keys, and returns how many were present; `None` if the filter does not support
    /// removal.
    fn remove_all(&mut self, keys: &[u64]) -> Option<usize> {
        keys.iter().try_fold(0, |removed, &key| Some(removed + usize::from(self.remove(key)?)))
    }
}

/// A kind of filter, and how to build one.
pub struct Kind {
    /// The paper's name (CF, ss-CF, BF, blocked BF, QF, CBF, dl-CBF), or guira and a layout.
    pub name: String,
    pub supports_removal: bool,
    /// Whether experiments fill the filter until it refuses a key, instead of up to its capacity.
    pub until_full: bool,
    pub build: Build,
}

/// Builds an empty filter of about the given number of bytes, and returns it with its capacity.
pub type Build = Box<dyn Fn(usize) -> (Box<dyn Filter>, usize) + Send + Sync>;

/// The filters of the paper's section 7, in the order of its Table 3.
pub const PAPERS: [&str; 6] = ["CF", "ss-CF", "BF", "blocked BF", "QF", "dl-CBF"];

/// Returns the look of a filter, which is the same in every plot of the report.
pub fn look(name: &str) -> Look {
    if !name.starts_with("guira") {
        return Look::nth(1 + PAPERS.iter().position(|&known| known == name).unwrap_or(6));
    }
    let marker = if name.contains("SemiSorted") { Marker::SQUARE } else { Marker::nth(0) };
    let look = Look::GUIRA.marker(marker);
    if name.ends_with("batches") { look.variant() } else { look }
}

/// Returns all kinds, the paper's first.
pub fn all() -> Vec<Kind> {
    let mut kinds = vec![
        kind("CF", true, true, cuckoo::plain),
        kind("ss-CF", true, true, cuckoo::semi_sorted::<9, 6>),
        kind("BF", false, false, bloom::build::<1>),
        kind("blocked BF", false, false, blocked_bloom::build),
        kind("QF", true, false, quotient::build),
        kind("CBF", true, false, bloom::build::<4>),
        kind("dl-CBF", true, true, d_left::build),
    ];
    kinds.extend(guira::kinds());
    kinds
}

/// Returns the paper's semi-sorted filter with fingerprints of several sizes, from short to long.
pub fn semi_sorted() -> [Kind; 6] {
    [
        kind("ss-CF, 5 bits", true, true, cuckoo::semi_sorted::<1, 2>),
        kind("ss-CF, 7 bits", true, true, cuckoo::semi_sorted::<3, 3>),
        kind("ss-CF, 9 bits", true, true, cuckoo::semi_sorted::<5, 4>),
        kind("ss-CF, 11 bits", true, true, cuckoo::semi_sorted::<7, 5>),
        kind("ss-CF, 13 bits", true, true, cuckoo::semi_sorted::<9, 6>),
        kind("ss-CF, 15 bits", true, true, cuckoo::semi_sorted::<11, 7>),
    ]
}

fn kind<F: Filter + 'static>(
    name: &str,
    supports_removal: bool,
    until_full: bool,
    build: fn(usize) -> (F, usize),
) -> Kind {
    let build = move |bytes| {
        let (filter, items) = build(bytes);
        (Box::new(filter) as Box<dyn Filter>, items)
    };
    Kind { name: name.into(), supports_removal, until_full, build: Box::new(build) }
}

/// Hashes a key by one folded multiplication, which suffices for random keys.
#[inline]
fn hash(key: u64) -> u64 {
    let product = u128::from(key ^ 0x243f_6a88_85a3_08d3) * 0x9e37_79b9_7f4a_7c15;
    product as u64 ^ (product >> 64) as u64
}

/// Allocates zeroed memory and touches all pages, so that no insert waits for the system to map
/// one.
fn zeroed(bytes: usize) -> Vec<u8> {
    let mut memory = vec![0; bytes];
    black_box(&mut memory[..]).fill(0);
    memory
}

/// Counts the distinct cache lines that the given bytes of a table lie in.
fn count_cache_lines(bytes: impl IntoIterator<Item = usize>) -> usize {
    let mut lines: Vec<usize> = bytes.into_iter().map(|byte| byte / 64).collect();
    lines.sort_unstable();
    lines.dedup();
    lines.len()
}

/// Returns the largest power of two of elements that fits into `bytes` bytes, but at least one.
fn power_of_two(bytes: usize, bits_per_element: usize) -> usize {
    let elements = (bytes * 8 / bits_per_element).max(1);
    1 << elements.ilog2()
}
