//! A filter of a cache's contents, which the cache's eviction listener keeps up to date.

use std::sync::Arc;

use guira::{CuckooFilter, InsertError};
use moka::sync::Cache;

/// A `moka` cache, and a filter that answers most lookups of absent keys without touching it.
///
/// Every put inserts a copy of its key into the filter first. The cache notifies its listener once
/// for every entry that it withdraws, and the listener removes one copy.
pub struct Cached {
    entries: Cache<u64, String>,
    keys: Arc<CuckooFilter>,
}

impl Cached {
    /// Room in the filter beyond the cache's capacity, for entries that wait for admission or for
    /// their notification.
    const SLACK: usize = 10_000;

    /// Creates a cache of at most `capacity` entries.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        let keys = Arc::new(CuckooFilter::with_capacity(2 * capacity + Self::SLACK));
        let listener_keys = Arc::clone(&keys);
        let entries = Cache::builder()
            .max_capacity(capacity as u64)
            .eviction_listener(move |key, _value, _cause| {
                listener_keys.remove(&*key);
            })
            .build();
        Self { entries, keys }
    }

    /// Puts an entry into the cache, or replaces it.
    ///
    /// # Errors
    /// If the filter refuses the key. The cache is then unchanged.
    pub fn put(&self, key: u64, value: String) -> Result<(), InsertError> {
        self.keys.insert(&key)?;
        self.entries.insert(key, value);
        Ok(())
    }

    /// Returns the value of an entry.
    #[must_use]
    pub fn get(&self, key: u64) -> Option<String> {
        // `false` is certain: the cache has no such entry.
        if self.keys.contains(&key) { self.entries.get(&key) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    /// Delivers all notifications, and checks that the filter holds one copy of each entry.
    fn check(cached: &Cached) {
        cached.entries.run_pending_tasks();
        assert_eq!(cached.keys.len() as u64, cached.entries.entry_count());
        for (key, value) in &cached.entries {
            assert_eq!(cached.get(*key).as_ref(), Some(&value));
        }
    }

    #[test]
    fn evictions_replacements_and_invalidations_are_removed() {
        let cached = Cached::new(100);
        thread::scope(|scope| {
            for thread in 0..4 {
                let cached = &cached;
                scope.spawn(move || {
                    for step in 0..5_000 {
                        let key = (step * 31 + thread) % 300;
                        // Several threads may put one key at once: too many copies are refused.
                        let _ = cached.put(key, key.to_string());
                        assert!(cached.get(key).is_none_or(|value| value == key.to_string()));
                        if step % 7 == 0 {
                            cached.entries.invalidate(&key);
                        }
                    }
                });
            }
        });
        check(&cached);
        // Evicts an entry or replaces it.
        for key in [1_000, 1_000, 1_001] {
            cached.put(key, "last".into()).expect("room");
        }
        check(&cached);
        assert!(cached.entries.entry_count() > 0);
        cached.entries.invalidate(&1_001);
        check(&cached);
        assert_eq!(cached.get(1_001), None);
        cached.entries.invalidate_all();
        check(&cached);
        assert!(cached.keys.is_empty());
    }
}
