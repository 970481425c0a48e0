//! The store behind the cache: an embedded database in a temporary file.

use std::{
    error::Error,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use redb::{Database, Durability, ReadableDatabase, TableDefinition};

use crate::Failure;

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
    pub fn new(keys: impl Iterator<Item = u32>) -> Result<Self, Failure> {
        // The operating system deletes the file when it is closed.
        let file = tempfile::tempfile().map_err(failed)?;
        let database = Database::builder()
            .set_cache_size(PAGE_CACHE_BYTES)
            .create_file(file)
            .map_err(failed)?;
        let store = Self { database, commits: AtomicUsize::new(1) };
        store.fill(keys).map_err(failed)?;
        Ok(store)
    }

    fn fill(&self, keys: impl Iterator<Item = u32>) -> Result<(), redb::Error> {
        let transaction = self.database.begin_write()?;
        let mut table = transaction.open_table(ROWS)?;
        let first = Row::new(0);
        for key in keys {
            table.insert(key, &*first.0)?;
        }
        drop(table);
        Ok(transaction.commit()?)
    }

    /// Reads the row of a key.
    pub fn read(&self, key: u32) -> Result<Option<Row>, Failure> {
        let read = || {
            let table = self.database.begin_read()?.open_table(ROWS)?;
            Ok::<_, redb::Error>(table.get(key)?.map(|row| Row(row.value().into())))
        };
        read().map_err(failed)
    }

    /// Writes a row. Calls `before_commit` with whether the key existed; its error cancels the
    /// write.
    pub fn write(
        &self,
        key: u32,
        version: u64,
        before_commit: impl FnOnce(bool) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let row = Row::new(version);
        self.change(|table| Ok(table.insert(key, &*row.0)?.is_some()), before_commit)?;
        Ok(())
    }

    /// Deletes a row and returns whether there was one. Calls `before_commit` first.
    pub fn delete(&self, key: u32, before_commit: impl FnOnce()) -> Result<bool, Failure> {
        let before_commit = |_| {
            before_commit();
            Ok(())
        };
        self.change(|table| Ok(table.remove(key)?.is_some()), before_commit)
    }

    /// Makes a change that returns whether the key existed, calls `before_commit`, and commits.
    fn change(
        &self,
        change: impl FnOnce(&mut redb::Table<'_, u32, &[u8]>) -> Result<bool, redb::StorageError>,
        before_commit: impl FnOnce(bool) -> Result<(), Failure>,
    ) -> Result<bool, Failure> {
        let mut transaction = self.database.begin_write().map_err(failed)?;
        // Relaxed: a mere count.
        if !self.commits.fetch_add(1, Ordering::Relaxed).is_multiple_of(COMMITS_PER_SYNC) {
            transaction.set_durability(Durability::None).map_err(failed)?;
        }
        let mut table = transaction.open_table(ROWS).map_err(failed)?;
        let existed = change(&mut table).map_err(failed)?;
        drop(table);
        before_commit(existed)?;
        transaction.commit().map_err(failed)?;
        Ok(existed)
    }
}

/// Converts an error of the database.
fn failed(error: impl Error) -> Failure {
    Failure::Unusable(format!("the store: {error}"))
}
