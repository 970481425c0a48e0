//! What a replay counts.

/// Counts of one thread, or of all threads together.
#[derive(Default)]
pub struct Tally {
    /// Reads that the cache answered.
    pub hits: u64,
    /// Reads that the cache could not answer.
    pub misses: u64,
    /// Reads that went to the store.
    pub store_lookups: u64,
    /// Reads that went to the store and found no row.
    pub fruitless_lookups: u64,
    /// Reads that the mirror answered.
    pub avoided_lookups: u64,
    /// Checked lookups of an absent key in the mirror.
    pub absent_lookups: u64,
    /// Those of the absent lookups that took the key for present.
    pub false_positives: u64,
    /// Writes of an absent key.
    pub created: u64,
    /// Writes of a present key.
    pub overwritten: u64,
    /// Deletions of a present key.
    pub deleted: u64,
    /// Answers that overlapped a change of their key and could not be checked.
    pub unchecked: u64,
}

impl Tally {
    /// Adds the counts of another thread.
    pub fn add(&mut self, other: &Self) {
        self.hits += other.hits;
        self.misses += other.misses;
        self.store_lookups += other.store_lookups;
        self.fruitless_lookups += other.fruitless_lookups;
        self.avoided_lookups += other.avoided_lookups;
        self.absent_lookups += other.absent_lookups;
        self.false_positives += other.false_positives;
        self.created += other.created;
        self.overwritten += other.overwritten;
        self.deleted += other.deleted;
        self.unchecked += other.unchecked;
    }
}
