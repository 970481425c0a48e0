//! guira itself, in every layout, one key after another and in batches.

use guira::{CuckooFilter, Layout};

use super::{Filter, Kind};
use crate::common::BATCH;

/// Every layout, twice.
pub fn kinds() -> impl Iterator<Item = Kind> {
    let kind = |&layout: &Layout, in_batches: bool| Kind {
        name: format!("guira {layout:?}{}", if in_batches { ", batches" } else { "" }),
        source: "guira",
        removes: true,
        until_full: false,
        build: Box::new(move |bytes| {
            let mut filter = filter(capacity_for(bytes, layout), layout);
            // Has the system hand over the pages.
            filter.clear();
            let capacity = filter.capacity();
            if in_batches {
                (Box::new(Batches(OneByOne(filter))) as Box<dyn Filter>, capacity)
            } else {
                (Box::new(OneByOne(filter)), capacity)
            }
        }),
    };
    Layout::ALL.iter().flat_map(move |layout| [kind(layout, false), kind(layout, true)])
}

fn filter(capacity: usize, layout: Layout) -> CuckooFilter {
    CuckooFilter::builder().capacity(capacity).layout(layout).seed(1).build().expect("memory")
}

/// How many items a filter is built for that takes about so many bytes.
fn capacity_for(bytes: usize, layout: Layout) -> usize {
    // Bits per item hardly depend on the size, so a first guess tells the rest. No page is touched.
    let guess = bytes / 8 * layout.lanes() as usize;
    (guess as f64 * bytes as f64 / filter(guess, layout).size_in_bytes() as f64) as usize
}

struct OneByOne(CuckooFilter);

impl Filter for OneByOne {
    #[inline]
    fn insert(&mut self, key: u64) -> bool {
        self.0.insert_hash(key).is_ok()
    }

    #[inline]
    fn contains(&self, key: u64) -> bool {
        self.0.contains_hash(key)
    }

    #[inline]
    fn remove(&mut self, key: u64) -> Option<bool> {
        Some(self.0.remove_hash(key))
    }

    fn bytes(&self) -> usize {
        // The stripes and counters beside them do not grow with the table.
        self.0.slots() / self.0.layout().lanes() as usize * size_of::<u64>()
    }

    fn slots(&self) -> usize {
        self.0.slots()
    }

    fn lines(&self, _: u64) -> Option<usize> {
        // Both buckets, hit or miss, and no bucket straddles lines.
        Some(2)
    }
}

/// The same, with many keys at a time.
struct Batches(OneByOne);

impl Filter for Batches {
    fn insert(&mut self, key: u64) -> bool {
        self.0.insert(key)
    }

    fn contains(&self, key: u64) -> bool {
        self.0.contains(key)
    }

    fn remove(&mut self, key: u64) -> Option<bool> {
        self.0.remove(key)
    }

    fn bytes(&self) -> usize {
        self.0.bytes()
    }

    fn slots(&self) -> usize {
        self.0.slots()
    }

    fn lines(&self, key: u64) -> Option<usize> {
        self.0.lines(key)
    }

    fn inserts(&mut self, keys: &[u64]) -> usize {
        let missing = |keys: &[u64]| match self.0.0.insert_hash_batch(keys) {
            Ok(()) => 0,
            Err(error) => error.rejected().len(),
        };
        keys.len() - keys.chunks(BATCH).map(missing).sum::<usize>()
    }

    fn lookups(&self, keys: &[u64]) -> usize {
        let mut found = [false; BATCH];
        let lookup = |keys: &[u64]| self.0.0.contains_hash_batch(keys, &mut found[..keys.len()]);
        keys.chunks(BATCH).map(lookup).sum()
    }

    fn removes(&mut self, keys: &[u64]) -> Option<usize> {
        let mut removed = [false; BATCH];
        let remove = |keys: &[u64]| self.0.0.remove_hash_batch(keys, &mut removed[..keys.len()]);
        Some(keys.chunks(BATCH).map(remove).sum())
    }
}
