//! guira in each layout, with single operations and in batches.

use guira::{CuckooFilter, Hashed, Layout};
use guira_harness::{BATCH, filter_of};

use super::{Filter, Kind};

/// Returns two kinds for each layout: single operations and batches.
pub fn kinds() -> impl Iterator<Item = Kind> {
    let kind = |&layout: &Layout, in_batches: bool| Kind {
        name: format!("guira {layout:?}{}", if in_batches { ", batches" } else { "" }),
        source: "guira",
        supports_removal: true,
        until_full: false,
        build: Box::new(move |bytes| {
            let filter = filter_of(layout, bytes);
            // Touches all pages, so that no insert waits for the system to map one.
            filter.clear();
            let capacity = filter.capacity();
            if in_batches {
                (Box::new(Batches(Single(filter))) as Box<dyn Filter>, capacity)
            } else {
                (Box::new(Single(filter)), capacity)
            }
        }),
    };
    Layout::ALL.iter().flat_map(move |layout| [kind(layout, false), kind(layout, true)])
}

/// One operation per call.
struct Single(CuckooFilter);

impl Filter for Single {
    #[inline]
    fn insert(&mut self, key: u64) -> bool {
        self.0.insert(&Hashed(key)).is_ok()
    }

    #[inline]
    fn contains(&self, key: u64) -> bool {
        self.0.contains(&Hashed(key))
    }

    #[inline]
    fn remove(&mut self, key: u64) -> Option<bool> {
        Some(self.0.remove(&Hashed(key)))
    }

    fn bytes(&self) -> usize {
        // Stripes and counters are left out: they do not grow with the table.
        self.0.slots() / self.0.layout().slots_per_bucket() as usize * size_of::<u64>()
    }

    fn slots(&self) -> usize {
        self.0.slots()
    }
}

/// Up to `BATCH` operations per call.
struct Batches(Single);

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

    fn insert_all(&mut self, keys: &[u64]) -> usize {
        let missing = |keys: &[u64]| match self.0.0.insert_batch(Hashed::slice(keys)) {
            Ok(()) => 0,
            Err(error) => error.failures().len(),
        };
        keys.len() - keys.chunks(BATCH).map(missing).sum::<usize>()
    }

    fn lookup_all(&self, keys: &[u64]) -> usize {
        let mut found = [false; BATCH];
        let lookup =
            |keys: &[u64]| self.0.0.contains_batch(Hashed::slice(keys), &mut found[..keys.len()]);
        keys.chunks(BATCH).map(lookup).sum()
    }

    fn remove_all(&mut self, keys: &[u64]) -> Option<usize> {
        let mut removed = [false; BATCH];
        let remove =
            |keys: &[u64]| self.0.0.remove_batch(Hashed::slice(keys), &mut removed[..keys.len()]);
        Some(keys.chunks(BATCH).map(remove).sum())
    }
}
