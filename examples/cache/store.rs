//! The store behind the cache: an embedded database in a folder that goes with it.

use std::{
    error::Error,
    iter,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use redb::{Database, Durability, ReadableDatabase, TableDefinition};
use tempfile::TempDir;

use crate::{Failure, unusable};

const ROWS: TableDefinition<u32, &[u8]> = TableDefinition::new("rows");
/// Bytes of a row: its version, and what an application would have there.
pub const ROW: usize = 128;
/// Bytes that the database may cache itself: a fraction of the rows, as in a store that is large.
const OWN_CACHE: usize = 1 << 20;
/// One commit in so many waits for the disk; those in between leave it work, which grows with their number.
const UNTIL_DURABLE: usize = 32;

/// A row, as the cache keeps it.
#[derive(Clone)]
pub struct Row(Arc<[u8]>);

impl Row {
    /// The version of its key that was written with it.
    pub fn version(&self) -> Option<u64> {
        self.0.first_chunk().map(|&bytes| u64::from_le_bytes(bytes))
    }
}

/// The bytes of a row.
fn row(version: u64) -> [u8; ROW] {
    let mut bytes = [0; ROW];
    bytes[..8].copy_from_slice(&version.to_le_bytes());
    bytes
}

/// A store with nothing but rows by key. Reads see the last commit, and writers wait for one another.
pub struct Store {
    database: Database,
    /// Changes so far.
    changes: AtomicUsize,
    /// Deleted when dropped, after the database.
    _folder: TempDir,
}

impl Store {
    /// A store that holds some keys, in their first version.
    pub fn new(keys: impl Iterator<Item = u32>) -> Result<Self, Failure> {
        let folder = tempfile::tempdir().map_err(failed)?;
        let database = Database::builder()
            .set_cache_size(OWN_CACHE)
            .create(folder.path().join("store.redb"))
            .map_err(failed)?;
        let store = Self { database, changes: AtomicUsize::new(1), _folder: folder };
        store.fill(keys).map_err(failed)?;
        Ok(store)
    }

    fn fill(&self, keys: impl Iterator<Item = u32>) -> Result<(), redb::Error> {
        let transaction = self.database.begin_write()?;
        let mut table = transaction.open_table(ROWS)?;
        for (key, row) in keys.zip(iter::repeat(row(0))) {
            table.insert(key, &row[..])?;
        }
        drop(table);
        Ok(transaction.commit()?)
    }

    /// The row of a key.
    pub fn read(&self, key: u32) -> Result<Option<Row>, Failure> {
        let read = || {
            let table = self.database.begin_read()?.open_table(ROWS)?;
            Ok::<_, redb::Error>(table.get(key)?.map(|row| Row(row.value().into())))
        };
        read().map_err(failed)
    }

    /// Writes a row. Before it can be seen, `before` is told whether there was one, and may refuse.
    pub fn write(
        &self,
        key: u32,
        version: u64,
        before: impl FnOnce(bool) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.change(|table| Ok(table.insert(key, &row(version)[..])?.is_some()), before)?;
        Ok(())
    }

    /// Deletes a row, and says whether there was one. Before it is gone, `before` is called.
    pub fn delete(&self, key: u32, before: impl FnOnce()) -> Result<bool, Failure> {
        let before = |_| {
            before();
            Ok(())
        };
        self.change(|table| Ok(table.remove(key)?.is_some()), before)
    }

    /// Makes a change that says whether there was a row, and commits it after `before`, as a rule without
    /// waiting for the disk.
    fn change(
        &self,
        change: impl FnOnce(&mut redb::Table<'_, u32, &[u8]>) -> Result<bool, redb::StorageError>,
        before: impl FnOnce(bool) -> Result<(), Failure>,
    ) -> Result<bool, Failure> {
        let mut transaction = self.database.begin_write().map_err(failed)?;
        // Relaxed: it only counts.
        if !self.changes.fetch_add(1, Ordering::Relaxed).is_multiple_of(UNTIL_DURABLE) {
            transaction.set_durability(Durability::None).map_err(failed)?;
        }
        let mut table = transaction.open_table(ROWS).map_err(failed)?;
        let was_there = change(&mut table).map_err(failed)?;
        drop(table);
        before(was_there)?;
        transaction.commit().map_err(failed)?;
        Ok(was_there)
    }
}

/// The failure of a run whose store does not work.
fn failed(error: impl Error) -> Failure {
    unusable(format!("the store: {error}"))
}
