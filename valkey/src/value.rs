//! The value of a key: a filter, or one of which a part has been loaded.

use std::{
    io::{self, Write},
    sync::atomic::{AtomicI64, Ordering::Relaxed},
};

use crate::{
    allocator::measured,
    config::Limits,
    cuckoo::Cuckoo,
    error::Error,
    loading::Loading,
    stream::{PREAMBLE, Settings},
};

/// Values that exist.
static VALUES: AtomicI64 = AtomicI64::new(0);
/// Bytes of all values.
static BYTES: AtomicI64 = AtomicI64::new(0);

/// The metrics of all values: how many there are, and their bytes.
pub fn metrics() -> [i64; 2] {
    [VALUES.load(Relaxed), BYTES.load(Relaxed)]
}

/// The bytes of a value, as the server counts them. The metrics count the value while this lives.
pub struct Bytes(i64);

impl Bytes {
    /// The bytes of a value that has none yet.
    pub fn new() -> Self {
        VALUES.fetch_add(1, Relaxed);
        Self(0)
    }

    /// Calls a function, and adds the bytes that it allocates less those that it frees.
    #[inline]
    pub fn count<R>(&mut self, function: impl FnOnce() -> R) -> R {
        let (result, bytes) = measured(function);
        if bytes != 0 {
            self.add(bytes);
        }
        result
    }

    /// As [`count`](Self::count), for a function that leaves nothing behind if it fails, except its
    /// error.
    pub fn try_count<R, E>(&mut self, function: impl FnOnce() -> Result<R, E>) -> Result<R, E> {
        let (result, bytes) = measured(function);
        if result.is_ok() {
            self.add(bytes);
        }
        result
    }

    /// Adds bytes that were allocated, or a negative number of them.
    pub fn add(&mut self, bytes: isize) {
        self.0 += bytes as i64;
        BYTES.fetch_add(bytes as i64, Relaxed);
    }
}

impl Drop for Bytes {
    fn drop(&mut self) {
        VALUES.fetch_sub(1, Relaxed);
        BYTES.fetch_sub(self.0, Relaxed);
    }
}

/// The value of a key.
#[expect(clippy::large_enum_variant, reason = "values are boxed, and seldom incomplete")]
pub enum Value {
    /// A filter.
    Ready(Cuckoo),
    /// A filter of which a part has been loaded. `None` only within [`push`](Value::push).
    Loading(Option<Box<Loading>>),
}

impl Value {
    /// Returns the value of a key with an empty filter.
    ///
    /// # Errors
    /// If no filter can have these settings, or not within the limits.
    pub fn reserve(settings: Settings, seed: u64, limits: Limits) -> Result<Box<Self>, Error> {
        Ok(Self::Ready(Cuckoo::new(settings, seed, limits)?).boxed())
    }

    /// Returns a value of which the first bytes of the stream have arrived, at least the preamble.
    ///
    /// # Errors
    /// If the bytes are damaged, or the filter exceeds the limits.
    pub fn load(bytes: &[u8], limits: Limits) -> Result<Box<Self>, Error> {
        let mut value = Self::Loading(Some(Loading::begin(bytes, limits)?));
        value.settle();
        Ok(value.boxed())
    }

    /// Returns a copy.
    ///
    /// # Errors
    /// If the value is incomplete, or the server refuses the memory.
    pub fn try_clone(&self) -> Result<Box<Self>, Error> {
        Ok(Self::Ready(self.ready()?.try_clone()?).boxed())
    }

    fn boxed(self) -> Box<Self> {
        let (mut value, own) = measured(|| Box::new(self));
        match &mut *value {
            Self::Ready(cuckoo) => cuckoo.bytes.add(own),
            Self::Loading(Some(loading)) => loading.bytes.add(own),
            Self::Loading(None) => {}
        }
        value
    }

    /// The filter.
    ///
    /// # Errors
    /// If the value is incomplete.
    #[inline]
    pub fn ready(&self) -> Result<&Cuckoo, Error> {
        match self {
            Self::Ready(cuckoo) => Ok(cuckoo),
            Self::Loading(_) => Err(Error::Loading),
        }
    }

    /// The filter, to change it.
    ///
    /// # Errors
    /// If the value is incomplete.
    #[inline]
    pub fn ready_mut(&mut self) -> Result<&mut Cuckoo, Error> {
        match self {
            Self::Ready(cuckoo) => Ok(cuckoo),
            Self::Loading(_) => Err(Error::Loading),
        }
    }

    /// Returns whether the filter has arrived completely.
    pub fn is_complete(&self) -> bool {
        self.ready().is_ok()
    }

    /// Receives bytes of the stream, from its place `start` on.
    ///
    /// # Errors
    /// If the value is complete, the bytes are not the next ones, or they are damaged. The value
    /// is as before.
    pub fn push(&mut self, start: u64, bytes: &[u8]) -> Result<(), Error> {
        let Self::Loading(Some(loading)) = self else { return Err(Error::Exists) };
        loading.push(start, bytes)?;
        self.settle();
        Ok(())
    }

    /// Makes a filter of a value that has arrived completely.
    fn settle(&mut self) {
        if let Self::Loading(loading) = self
            && let Some(loading) = loading.take_if(|loading| loading.is_complete())
        {
            *self = Self::Ready(loading.finish());
        }
    }

    /// Bytes that the server counts for the value.
    pub fn bytes(&self) -> usize {
        let Bytes(bytes) = match self {
            Self::Ready(cuckoo) => &cuckoo.bytes,
            Self::Loading(Some(loading)) => &loading.bytes,
            Self::Loading(None) => return 0,
        };
        *bytes as usize
    }

    /// Writes the stream, or what was received of it. The bytes are as many as
    /// [`stream_len`](Self::stream_len) says.
    ///
    /// # Errors
    /// Those of the writer, and if the server refuses the memory: one byte in 8192.
    pub fn write_stream(&self, writer: &mut impl Write) -> io::Result<()> {
        match self {
            Self::Ready(cuckoo) => cuckoo.write_stream(writer),
            Self::Loading(Some(loading)) => loading.write_stream(writer),
            Self::Loading(None) => Ok(()),
        }
    }

    /// Bytes of the stream, or of what was received of it.
    pub fn stream_len(&self) -> u64 {
        match self {
            Self::Ready(cuckoo) => PREAMBLE as u64 + cuckoo.filter.dump().len(),
            Self::Loading(Some(loading)) => loading.received(),
            Self::Loading(None) => 0,
        }
    }
}
