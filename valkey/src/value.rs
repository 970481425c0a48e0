//! The value of a key: a filter, or one of which a part has been loaded.

use std::{
    io::{self, Write},
    sync::atomic::{AtomicI64, Ordering::Relaxed},
};

use guira::{BuildError, Dump, GrowingFilter, InsertError, LoadError, Shrinking};

use crate::{
    allocator::measured,
    config::Limits,
    error::Error,
    filter::{Either, Filter, FilterLoader, each},
    server::Call,
    stream::{self, CHECKSUM, PREAMBLE, Settings},
};

/// A filter grows ahead of the need if an insert makes the number of its items a multiple of this.
const GROWTH_STEP: usize = 32;
/// Buckets that a call of `CF.COMPACT` gives up, or items that it moves: some milliseconds of work.
const COMPACTION_STEPS: u64 = 1 << 15;

/// Values that exist.
static VALUES: AtomicI64 = AtomicI64::new(0);
/// Bytes of all values.
static BYTES: AtomicI64 = AtomicI64::new(0);

/// The metrics of all values: how many there are, and their bytes.
pub fn metrics() -> [i64; 2] {
    [VALUES.load(Relaxed), BYTES.load(Relaxed)]
}

/// The bytes of a value, as the server counts them. The metrics count the value while this lives.
struct Bytes(i64);

impl Bytes {
    fn new() -> Self {
        VALUES.fetch_add(1, Relaxed);
        Self(0)
    }

    /// Calls a function, and adds the bytes that it allocates less those that it frees.
    #[inline]
    fn count<R>(&mut self, function: impl FnOnce() -> R) -> R {
        let (result, bytes) = measured(function);
        if bytes != 0 {
            self.0 += bytes as i64;
            BYTES.fetch_add(bytes as i64, Relaxed);
        }
        result
    }
}

impl Drop for Bytes {
    fn drop(&mut self) {
        VALUES.fetch_sub(1, Relaxed);
        BYTES.fetch_sub(self.0, Relaxed);
    }
}

/// How often an insert was permitted to let its filter grow, and up to how many bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Permits {
    pub number: u64,
    pub max_bytes: usize,
}

pub struct Value {
    pub settings: Settings,
    /// `None` until all of the filter has been loaded.
    filter: Option<Filter>,
    /// `None` if there is a filter.
    loader: Option<Box<FilterLoader>>,
    /// The bytes that the loader has received.
    received: u64,
    /// The dump that is under way. Any change of the filter ends it.
    dump: Option<Box<Dump>>,
    bytes: Bytes,
}

impl Value {
    /// Returns the value of a key with an empty filter. An error if no filter can have these
    /// settings, or not within the limits.
    pub fn reserve(settings: Settings, seed: u64, limits: Limits) -> Result<Box<Self>, Error> {
        let make = || Filter::new(&settings, seed, limits.filter.min(limits.free));
        Self::with_filter(settings, make).map_err(|error| match error {
            BuildError::MemoryCapTooLow { needed, .. } => limits.exceeded(needed as u64),
            error => Error::text(error),
        })
    }

    /// Returns a copy. An error if the value is incomplete, or the server refuses the memory.
    pub fn try_clone(&self) -> Result<Box<Self>, Error> {
        let filter = self.filter()?;
        let make = || match filter {
            Either::Fixed(filter) => filter.try_clone().map(Either::Fixed),
            Either::Growing(filter) => filter.try_clone().map(Either::Growing),
        };
        Self::with_filter(self.settings, make).map_err(Error::text)
    }

    fn with_filter<E>(
        settings: Settings,
        make: impl FnOnce() -> Result<Filter, E>,
    ) -> Result<Box<Self>, E> {
        let mut value = Self::empty(settings);
        let filter = value.bytes.count(make)?;
        value.filter = Some(filter);
        Ok(value)
    }

    /// Returns a value of which the first bytes of the stream have arrived, at least the preamble.
    /// An error if they are damaged, or the filter exceeds the limits.
    pub fn load(stream: &[u8], limits: Limits) -> Result<Box<Self>, Error> {
        let (settings, bytes) = Settings::decode(stream)?;
        let mut value = Self::empty(settings);
        let new = || Box::new(FilterLoader::new(&settings, limits.filter.min(limits.free)));
        value.loader = Some(value.bytes.count(new));
        value.receive(bytes).map_err(|error| match error {
            LoadError::LimitExceeded { needed, .. } => limits.exceeded(needed),
            error => Error::text(error),
        })?;
        Ok(value)
    }

    /// Returns a value with neither a filter nor a loader.
    fn empty(settings: Settings) -> Box<Self> {
        let mut bytes = Bytes::new();
        let place = bytes.count(Box::new_uninit);
        Box::write(
            place,
            Self { settings, filter: None, loader: None, received: 0, dump: None, bytes },
        )
    }

    /// The filter. An error if it is incomplete.
    #[inline]
    pub fn filter(&self) -> Result<&Filter, Error> {
        self.filter.as_ref().ok_or(Error::LOADING)
    }

    pub fn is_complete(&self) -> bool {
        self.filter.is_some()
    }

    /// Bytes that the server counts for the value.
    pub fn bytes(&self) -> usize {
        self.bytes.0 as usize
    }

    /// Inserts an item, or only if it is absent. Returns whether the item was inserted, and what a
    /// replica has to know to do the same, if that is more than the item.
    ///
    /// A filter takes memory only with permission, which it gets if it is to grow ahead of need, or
    /// if there is no room. If the limits of the moment do not permit it, the insert is refused,
    /// even if there is room: replicas, which have no limits, would grow.
    #[inline]
    pub fn insert(
        &mut self,
        item: &[u8],
        unique: bool,
        call: Call,
    ) -> (Result<bool, Error>, Option<Permits>) {
        let mut given = Permits::default();
        let (outcome, has_split) = self.insert_with(item, unique, |filter, bytes| {
            given.max_bytes = permitted(filter, bytes, call)?;
            given.number += 1;
            Ok(given.max_bytes)
        });
        // A refused insert may have split buckets. An accepted one may have found other room than
        // without a limit, if it came near to the limit.
        let matters = match &outcome {
            Ok(added) => *added && given.number > 0 && self.is_near(given.max_bytes),
            Err(_) => has_split,
        };
        (outcome, matters.then_some(given))
    }

    /// Does what an insert did where it came from, with the permits that it was given there.
    /// Returns whether the item was inserted, and whether buckets were split for one that was
    /// refused.
    pub fn replay(
        &mut self,
        item: &[u8],
        unique: bool,
        given: Permits,
    ) -> (Result<bool, Error>, bool) {
        let mut left = given.number;
        self.insert_with(item, unique, |_, _| {
            left = left.checked_sub(1).ok_or(Error::FULL)?;
            Ok(given.max_bytes)
        })
    }

    /// The slots of the filter, if it is complete.
    fn slots(&self) -> usize {
        self.filter.as_ref().map_or(0, |filter| each!(filter, filter => filter.slots()))
    }

    /// Whether a step of growth of a filter that grows may exceed this many bytes.
    fn is_near(&self, max_bytes: usize) -> bool {
        let Some(Either::Growing(filter)) = &self.filter else { return false };
        filter.size_in_bytes().saturating_add(most_of_a_step(self.bytes.0)) > max_bytes
    }

    /// Inserts an item, or only if it is absent. Returns whether the item was inserted, and whether
    /// buckets were split for an item that was refused. `permit` returns how many bytes the filter
    /// may take.
    #[inline]
    fn insert_with(
        &mut self,
        item: &[u8],
        unique: bool,
        permit: impl FnMut(&GrowingFilter, i64) -> Result<usize, Error>,
    ) -> (Result<bool, Error>, bool) {
        let slots = self.slots();
        let outcome = self.try_insert(item, unique, permit);
        let has_split = outcome.is_err() && self.slots() != slots;
        if has_split || outcome == Ok(true) {
            self.end_dump();
        }
        (outcome, has_split)
    }

    /// As [`insert_with`](Self::insert_with), and leaves the dump as it is.
    #[inline]
    fn try_insert(
        &mut self,
        item: &[u8],
        unique: bool,
        mut permit: impl FnMut(&GrowingFilter, i64) -> Result<usize, Error>,
    ) -> Result<bool, Error> {
        let Self { filter, bytes, .. } = self;
        let filter = filter.as_ref().ok_or(Error::LOADING)?;
        let insert = || {
            each!(filter, filter => if unique {
                filter.insert_unique(item).map(|outcome| outcome.is_new())
            } else {
                filter.insert(item).map(|()| true)
            })
        };
        match filter {
            Either::Fixed(_) => insert().map_err(Error::from),
            Either::Growing(growing) => {
                growing.set_max_bytes(Some(0));
                let (len, capacity) = (growing.len(), growing.capacity());
                if len >= capacity && len % GROWTH_STEP == GROWTH_STEP - 1 {
                    match permit(growing, bytes.0) {
                        Ok(max_bytes) => growing.set_max_bytes(Some(max_bytes)),
                        Err(_) if unique && growing.contains(item) => return Ok(false),
                        Err(error) => return Err(error),
                    }
                }
                match bytes.count(insert) {
                    Err(InsertError::Full) => permit(growing, bytes.0).and_then(|max_bytes| {
                        growing.set_max_bytes(Some(max_bytes));
                        bytes.count(insert).map_err(Error::from)
                    }),
                    outcome => outcome.map_err(Error::from),
                }
            }
        }
    }

    /// Removes a copy of an item. Returns whether there was one.
    pub fn remove(&mut self, item: &[u8]) -> Result<bool, Error> {
        let removed = each!(self.filter()?, filter => filter.remove(item));
        if removed {
            // A forged count ends where that of `CF.INFO` does.
            self.settings.deleted = (self.settings.deleted + 1).min(i64::MAX as u64);
            self.end_dump();
        }
        Ok(removed)
    }

    /// Takes a step of a compaction, which releases memory that a filter has grown into.
    pub fn compact(&mut self) -> Result<Shrinking, Error> {
        self.filter()?;
        let Self { filter: Some(Either::Growing(filter)), bytes, .. } = self else {
            return Ok(Shrinking::Unchanged);
        };
        let step = bytes.count(|| filter.shrink_step(COMPACTION_STEPS));
        if step != Shrinking::Unchanged {
            self.end_dump();
        }
        Ok(step)
    }

    /// Returns a number that changes with each insert, each removal, and each compaction. Filters
    /// with the same seed and history have the same number.
    pub fn state(&self) -> Result<u64, Error> {
        let (len, slots, seed) = each!(self.filter()?, filter => {
            (filter.len(), filter.slots(), filter.hash_key(&0).0)
        });
        let numbers = [len as u64, self.settings.deleted, slots as u64];
        Ok(stream::checksum(seed, numbers.map(u64::to_le_bytes).as_flattened()))
    }

    /// Receives bytes of the stream, from its place `start` on. An error if the value is complete,
    /// the bytes are not the next ones, or they are damaged. The value is as before.
    pub fn push(&mut self, start: u64, bytes: &[u8]) -> Result<(), Error> {
        if self.loader.is_none() {
            return Err(Error::EXISTS);
        }
        let received = self.stream_len();
        if start != received {
            return Err(Error::text(format_args!(
                "the chunk begins at byte {start}, but {received} bytes have arrived"
            )));
        }
        self.receive(bytes).map_err(Error::text)
    }

    /// Receives the next bytes of the snapshot. The last ones make a filter of the value. If the
    /// server then refuses memory, the value has lost all bytes, and the load must begin again.
    fn receive(&mut self, bytes: &[u8]) -> Result<(), LoadError> {
        let Self { loader, bytes: counted, .. } = self;
        self.filter = counted.count(|| -> Result<_, LoadError> {
            if let Some(loader) = loader {
                each!(&mut **loader, loader => loader.push(bytes))?;
            }
            let complete = loader.take_if(|it| each!(&**it, loader => loader.is_complete()));
            complete.map(|loader| loader.finish()).transpose()
        })?;
        self.received += bytes.len() as u64;
        Ok(())
    }

    /// Prepares this many more blocks of a dump, and begins one if there is none. Returns whether
    /// the dump is prepared. An error if the server refuses the memory: one byte in 8192.
    pub fn prepare_dump(&mut self, blocks: usize) -> io::Result<bool> {
        let Self { dump, filter: Some(filter), bytes, .. } = self else { return Ok(true) };
        bytes.count(|| {
            each!(filter, filter => {
                dump.get_or_insert_with(|| Box::new(filter.dump())).prepare(filter, blocks)
            })
        })
    }

    /// Returns bytes of the stream from this place on, of a dump that is prepared: at most `len`,
    /// and none at the end. An error if the server refuses the memory.
    pub fn read_dump(&self, start: u64, len: usize) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let (Some(filter), Some(dump)) = (&self.filter, &self.dump) else { return Ok(bytes) };
        let rest = (PREAMBLE as u64 + dump.len()).saturating_sub(start).min(len as u64) as usize;
        bytes.try_reserve_exact(rest + CHECKSUM)?;
        bytes.resize(rest, 0);
        let read = self.read(filter, dump, start, &mut bytes);
        bytes.truncate(read);
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

    /// Reads bytes of the stream from this place on, and returns their number: less than the buffer
    /// takes only at the end. The buffer takes a preamble, or begins behind it.
    fn read(&self, filter: &Filter, dump: &Dump, start: u64, buffer: &mut [u8]) -> usize {
        let preamble = self.settings.encode();
        let first = preamble.get(start as usize..).unwrap_or_default();
        let (head, rest) = buffer.split_at_mut(first.len());
        head.copy_from_slice(first);
        let offset = start.saturating_sub(PREAMBLE as u64);
        head.len() + each!(filter, filter => dump.read_at(filter, offset, rest))
    }

    /// Writes the stream, or what was received of it. The bytes are as many as
    /// [`stream_len`](Self::stream_len) says.
    ///
    /// Errors are those of the writer, and that the server refuses the memory: one byte in 8192.
    pub fn write_stream(&self, writer: &mut impl Write) -> io::Result<()> {
        let Some(filter) = &self.filter else {
            writer.write_all(&self.settings.encode())?;
            let Some(loader) = &self.loader else { return Ok(()) };
            return each!(&**loader, loader => loader.write_received(&mut *writer));
        };
        let dump = each!(filter, filter => {
            let mut dump = filter.dump();
            dump.prepare(filter, usize::MAX).map(|_| dump)
        })?;
        let (mut buffer, mut place) = (vec![0; 64 << 10], 0);
        loop {
            match self.read(filter, &dump, place, &mut buffer) {
                0 => return writer.flush(),
                read => {
                    writer.write_all(&buffer[..read])?;
                    place += read as u64;
                }
            }
        }
    }

    /// Bytes of the stream, or of what was received of it.
    pub fn stream_len(&self) -> u64 {
        let filter = self.filter.as_ref().map(|filter| each!(filter, it => it.dump().len()));
        PREAMBLE as u64 + filter.unwrap_or(self.received)
    }
}

/// Permits a filter of so many bytes to take its next step in this call. An error if the step
/// exceeds the limits.
fn permitted(filter: &GrowingFilter, bytes: i64, call: Call) -> Result<usize, Error> {
    let most = most_of_a_step(bytes);
    let limits = call.limits(bytes as usize, most);
    if limits.free < most || limits.filter < bytes as usize + most {
        let step = filter.next_growth().unwrap_or(0);
        if limits.filter < filter.size_in_bytes() + step {
            return Err(Error::FULL);
        }
        if limits.free < step {
            return Err(Error::OUT_OF_MEMORY);
        }
    }
    Ok(limits.filter)
}

/// More than a step of growth takes: a 64th, or the smallest blocks of the allocator.
fn most_of_a_step(bytes: i64) -> usize {
    bytes as usize / 32 + 4096
}
