//! A filter and what the module keeps beside it.

use std::io::{self, Write};

use guira::{BuildError, Dump, InsertError};

use crate::{
    config::Limits,
    error::Error,
    filter::Filter,
    stream::{self, CHECKSUM, PREAMBLE, Preamble, Settings},
    value::Bytes,
};

/// A filter and what the module keeps beside it.
pub struct Cuckoo {
    pub filter: Filter,
    pub settings: Settings,
    /// Items deleted since the filter was created.
    pub deleted: u64,
    pub bytes: Bytes,
    /// The dump that is under way. Any change of the filter ends it.
    dump: Option<Box<Dump>>,
}

/// The memory that a filter may take at this moment. It is computed only when a filter is full.
pub type LimitsNow<'a> = &'a dyn Fn() -> Limits;

impl Cuckoo {
    /// Returns an empty filter.
    ///
    /// # Errors
    /// If no filter can have these settings, or not within the limits.
    pub fn new(settings: Settings, seed: u64, limits: Limits) -> Result<Self, Error> {
        let mut bytes = Bytes::new();
        let filter = bytes.count(|| Filter::new(&settings, seed, limits.of_new()));
        let filter = filter.map_err(|error| match error {
            BuildError::MemoryCapTooLow { needed, .. } => limits.exceeded(needed as u64),
            error => Error::text(error.to_string()),
        })?;
        Ok(Self::with_filter(filter, settings, 0, bytes))
    }

    /// Returns a filter that has been loaded.
    pub fn with_filter(filter: Filter, settings: Settings, deleted: u64, bytes: Bytes) -> Self {
        // It grows only within `growing`.
        filter.set_max_bytes(0);
        Self { filter, settings, deleted, bytes, dump: None }
    }

    /// Returns a copy.
    ///
    /// # Errors
    /// If the server refuses the memory.
    pub fn try_clone(&self) -> Result<Self, Error> {
        let mut bytes = Bytes::new();
        let filter = bytes.count(|| self.filter.try_clone());
        let filter = filter.map_err(|error| Error::text(error.to_string()))?;
        Ok(Self::with_filter(filter, self.settings, self.deleted, bytes))
    }

    /// Inserts a copy of an item.
    ///
    /// # Errors
    /// If there is no room, or there are too many copies.
    pub fn insert(&mut self, item: &[u8], limits: LimitsNow) -> Result<(), Error> {
        self.growing(limits, |filter| filter.insert(item).map(|()| true)).map(|_| ())
    }

    /// Inserts an item if it is absent. Returns whether it was.
    ///
    /// # Errors
    /// If there is no room.
    pub fn insert_unique(&mut self, item: &[u8], limits: LimitsNow) -> Result<bool, Error> {
        self.growing(limits, |filter| filter.insert_unique(item))
    }

    /// Removes a copy of an item. Returns whether there was one.
    pub fn remove(&mut self, item: &[u8]) -> bool {
        let removed = self.filter.remove(item);
        if removed {
            self.deleted += 1;
            self.end_dump();
        }
        removed
    }

    /// Moves items to coarser segments and releases segments. Returns whether it may have changed
    /// anything.
    pub fn compact(&mut self) -> bool {
        let Self { filter, bytes, .. } = self;
        // Items can move although no segment is released.
        let several = filter.segments() > 1;
        if several {
            bytes.count(|| filter.compact());
            self.end_dump();
        }
        several
    }

    /// Inserts, and if there is no room once more with the permission to grow. Returns whether
    /// anything was inserted.
    #[inline]
    fn growing(
        &mut self,
        limits: LimitsNow,
        insert: impl Fn(&Filter) -> Result<bool, InsertError>,
    ) -> Result<bool, Error> {
        let Self { filter, bytes, .. } = self;
        let mut outcome = insert(filter).map_err(Error::from);
        if outcome == Err(Error::Insert(InsertError::Full)) {
            let limits = limits();
            filter.set_max_bytes(limits.filter);
            match filter.next_growth() {
                Some(growth) if growth > limits.free => outcome = Err(Error::OutOfMemory),
                Some(_) => outcome = bytes.count(|| insert(filter)).map_err(Error::from),
                None => {}
            }
            filter.set_max_bytes(0);
        }
        if outcome == Ok(true) {
            self.end_dump();
        }
        outcome
    }

    /// Returns a number that changes with each insert, each removal, and each release of a segment.
    /// Filters with the same seed and history have the same number. (A compaction that moves items
    /// and releases no segment does not change it.)
    pub fn state(&self) -> u64 {
        let Self { filter, deleted, .. } = self;
        let numbers = [filter.len() as u64, *deleted, filter.segments() as u64];
        stream::checksum(filter.seed_hash(), numbers.map(u64::to_le_bytes).as_flattened())
    }

    /// Prepares this many more blocks of a dump, and begins one if there is none. Returns whether
    /// the dump is prepared.
    ///
    /// # Errors
    /// If the server refuses the memory: one byte in 8192.
    pub fn prepare_dump(&mut self, blocks: usize) -> io::Result<bool> {
        let Self { dump, filter, bytes, .. } = self;
        bytes.count(|| {
            let dump = dump.get_or_insert_with(|| Box::new(filter.dump()));
            filter.prepare(dump, blocks)
        })
    }

    /// Returns bytes of the stream from this place on, of a dump that is prepared: at most `len`,
    /// and none at the end.
    ///
    /// # Errors
    /// If the server refuses the memory.
    pub fn read_dump(&self, start: u64, len: usize) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let Some(dump) = &self.dump else { return Ok(bytes) };
        let preamble = self.preamble().encode();
        let first = preamble.get(start as usize..).unwrap_or_default();
        let offset = start.saturating_sub(PREAMBLE as u64);
        let rest = dump.len().saturating_sub(offset).min((len - first.len()) as u64);
        bytes.try_reserve_exact(first.len() + rest as usize + CHECKSUM)?;
        bytes.extend_from_slice(first);
        bytes.resize(first.len() + rest as usize, 0);
        let read = self.filter.read_dump(dump, offset, &mut bytes[first.len()..]);
        bytes.truncate(first.len() + read);
        Ok(bytes)
    }

    /// Ends the dump that is under way.
    #[inline]
    pub fn end_dump(&mut self) {
        let Self { dump, bytes, .. } = self;
        if dump.is_some() {
            bytes.count(|| *dump = None);
        }
    }

    /// The start of the stream.
    fn preamble(&self) -> Preamble {
        Preamble { settings: self.settings, deleted: self.deleted }
    }

    /// Writes the stream.
    ///
    /// # Errors
    /// Those of the writer, and if the server refuses the memory: one byte in 8192.
    pub fn write_stream(&self, writer: &mut impl Write) -> io::Result<()> {
        let mut dump = self.filter.dump();
        self.filter.prepare(&mut dump, usize::MAX)?;
        writer.write_all(&self.preamble().encode())?;
        let mut buffer = vec![0; 64 << 10];
        let mut offset = 0;
        loop {
            match self.filter.read_dump(&dump, offset, &mut buffer) {
                0 => return writer.flush(),
                read => writer.write_all(&buffer[..read])?,
            }
            offset += buffer.len() as u64;
        }
    }
}
