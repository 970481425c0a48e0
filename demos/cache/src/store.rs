//! The store behind the cache: an embedded database in a temporary file.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use anyhow::Result;
use redb::{Database, Durability, ReadableDatabase, TableDefinition};

const ROWS: TableDefinition<u32, &[u8]> = TableDefinition::new("rows");
/// Bytes of a row: 8 for its version, the rest stands for an application's data.
const ROW_BYTES: usize = 128;
/// Bytes of the database's own page cache: a fraction of the rows, as in a large store.
const PAGE_CACHE_BYTES: usize = 1 << 20;
/// Number of commits of which one waits for the disk. The others are faster, but leave work to it.
const COMMITS_PER_SYNC: usize = 32;

/// A row, as the cache keeps it.
#[derive(Clone)]
pub struct Row(Arc<[u8]>);

impl Row {
    /// Creates the row of a key in some version.
    pub fn new(version: u64) -> Self {
        let mut bytes = [0; ROW_BYTES];
        bytes[..8].copy_from_slice(&version.to_le_bytes());
        Self(bytes.into())
    }

    /// Returns the version of its key that was written with it.
    pub fn version(&self) -> Option<u64> {
        self.0.first_chunk().map(|&bytes| u64::from_le_bytes(bytes))
    }
}

/// A table of rows by key. Reads see the last commit, and writers wait for one another.
pub struct Store {
    database: Database,
    commits: AtomicUsize,
}

impl Store {
    /// Creates a store with a first row for each of `keys`.
    pub fn new(keys: impl Iterator<Item = u32>) -> Result<Self> {
        // The operating system deletes the file when it is closed.
        let database = Database::builder()
            .set_cache_size(PAGE_CACHE_BYTES)
            .create_file(tempfile::tempfile()?)?;
        let transaction = database.begin_write()?;
        let mut table = transaction.open_table(ROWS)?;
        let first = Row::new(0);
        for key in keys {
            table.insert(key, &*first.0)?;
        }
        drop(table);
        transaction.commit()?;
        Ok(Self { database, commits: AtomicUsize::new(1) })
    }

    /// Reads the row of a key.
    pub fn read(&self, key: u32) -> Result<Option<Row>> {
        let table = self.database.begin_read()?.open_table(ROWS)?;
        Ok(table.get(key)?.map(|row| Row(row.value().into())))
    }

    /// Writes the row of a key, or deletes it if there is none. Calls `before_commit` with whether
    /// the key existed, which is also returned. The error of that call cancels the change.
    pub fn change(
        &self,
        key: u32,
        row: Option<&Row>,
        before_commit: impl FnOnce(bool) -> Result<()>,
    ) -> Result<bool> {
        let mut transaction = self.database.begin_write()?;
        // Relaxed: a mere count.
        if !self.commits.fetch_add(1, Ordering::Relaxed).is_multiple_of(COMMITS_PER_SYNC) {
            transaction.set_durability(Durability::None)?;
        }
        let mut table = transaction.open_table(ROWS)?;
        let existed = match row {
            Some(row) => table.insert(key, &*row.0)?.is_some(),
            None => table.remove(key)?.is_some(),
        };
        drop(table);
        before_commit(existed)?;
        transaction.commit()?;
        Ok(existed)
    }
}
