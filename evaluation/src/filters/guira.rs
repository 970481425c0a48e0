//! guira in each layout, with single operations and in batches.

use guira::{CuckooFilter, Hashed, Layout};
use guira_harness::{BATCH, filter_of};

use super::{Filter, Kind};

/// Returns two kinds for each layout: single operations and batches.
pub fn kinds() -> impl Iterator<Item = Kind> {
    let kind = |&layout: &Layout, in_batches: bool| Kind {
        name: format!("guira {layout:?}{}", if in_batches { ", batches" } else { "" }),
        supports_removal: true,
        until_full: false,
        build: Box::new(move |bytes| {
            let filter = filter_of(layout, bytes);
            // Touches all pages, so that no insert waits for the system to map one.
            filter.clear();
            let capacity = filter.capacity();
            (Box::new(Guira { filter, in_batches }), capacity)
        }),
    };
    Layout::ALL.iter().flat_map(move |layout| [kind(layout, false), kind(layout, true)])
}

/// One operation per call, or up to `BATCH`.
struct Guira {
    filter: CuckooFilter,
    in_batches: bool,
}

impl Filter for Guira {
    #[inline]
    fn insert(&mut self, key: u64) -> bool {
        self.filter.insert(&Hashed(key)).is_ok()
    }

    #[inline]
    fn contains(&self, key: u64) -> bool {
        self.filter.contains(&Hashed(key))
    }

    #[inline]
    fn remove(&mut self, key: u64) -> Option<bool> {
        Some(self.filter.remove(&Hashed(key)))
    }

    fn bytes(&self) -> usize {
        // Stripes and counters are left out: they do not grow with the table.
        self.filter.slots() / self.filter.layout().slots_per_bucket() as usize * size_of::<u64>()
    }

    fn slots(&self) -> usize {
        self.filter.slots()
    }

    fn insert_all(&mut self, keys: &[u64]) -> usize {
        if !self.in_batches {
            return keys.iter().take_while(|&&key| self.insert(key)).count();
        }
        let missing = |keys: &[u64]| match self.filter.insert_batch(Hashed::slice(keys)) {
            Ok(()) => 0,
            Err(error) => error.failures().len(),
        };
        keys.len() - keys.chunks(BATCH).map(missing).sum::<usize>()
    }

    fn lookup_all(&self, keys: &[u64]) -> usize {
        if !self.in_batches {
            return keys.iter().filter(|&&key| self.contains(key)).count();
        }
        let mut found = [false; BATCH];
        let lookup = |keys: &[u64]| {
            self.filter.contains_batch(Hashed::slice(keys), &mut found[..keys.len()])
        };
        keys.chunks(BATCH).map(lookup).sum()
    }

    fn remove_all(&mut self, keys: &[u64]) -> Option<usize> {
        if !self.in_batches {
            return Some(keys.iter().filter(|&&key| self.filter.remove(&Hashed(key))).count());
        }
        let mut removed = [false; BATCH];
        let remove = |keys: &[u64]| {
            self.filter.remove_batch(Hashed::slice(keys), &mut removed[..keys.len()])
        };
        Some(keys.chunks(BATCH).map(remove).sum())
    }
}
