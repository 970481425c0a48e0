//! The filter of a value: one that grows, or one that does not.

use std::{
    hash::BuildHasher,
    io::{self, Write},
};

use guira::{
    BuildError, CuckooFilter, Fixed, Growing, GrowingFilter, InsertError, LoadError, Loader,
    StableHashBuilder,
};

use crate::stream::Settings;

/// A filter that grows, or one that does not.
///
/// Its hasher gives the same hashes everywhere, so that a filter can move to another server.
pub enum Filter {
    /// Refuses items when it is full.
    Fixed(CuckooFilter<StableHashBuilder>),
    /// Appends a segment when it is full.
    Growing(GrowingFilter<StableHashBuilder>),
}

/// Largest growth factor of a filter. Larger expansions are kept and shown, and grow by this one.
const MAX_FACTOR: u16 = 16;

/// Evaluates an expression for either kind.
macro_rules! each {
    ($filter:expr, $name:ident => $result:expr) => {
        match $filter {
            Self::Fixed($name) => $result,
            Self::Growing($name) => $result,
        }
    };
}

impl Filter {
    /// Returns an empty filter of at most this many bytes.
    ///
    /// It is the same on every server: settings and seed decide everything.
    pub fn new(settings: &Settings, seed: u64, max_bytes: usize) -> Result<Self, BuildError> {
        let Settings { capacity, error_rate, bucket_size, expansion, .. } = *settings;
        let capacity = usize::try_from(capacity).unwrap_or(usize::MAX);
        let hasher = StableHashBuilder::with_seed;
        Ok(if expansion == 0 {
            let builder = CuckooFilter::builder().capacity(capacity).seed(seed).writers(1);
            let mut builder = builder.false_positive_rate(error_rate).max_bytes(max_bytes);
            if bucket_size > 0 {
                builder = builder.max_copies(2 * usize::from(bucket_size));
            }
            Self::Fixed(builder.hasher_with(hasher).build()?)
        } else {
            let builder = GrowingFilter::builder().capacity(capacity).seed(seed).writers(1);
            let builder = builder.false_positive_rate(error_rate).max_bytes(max_bytes);
            let builder = builder.growth_factor(expansion.clamp(2, MAX_FACTOR).into());
            Self::Growing(builder.hasher_with(hasher).build()?)
        })
    }

    pub fn insert(&self, item: &[u8]) -> Result<(), InsertError> {
        each!(self, filter => filter.insert(item))
    }

    pub fn insert_unique(&self, item: &[u8]) -> Result<bool, InsertError> {
        each!(self, filter => filter.insert_unique(item))
    }

    pub fn contains(&self, item: &[u8]) -> bool {
        each!(self, filter => filter.contains(item))
    }

    pub fn contains_batch(&self, items: &[&[u8]], found: &mut [bool]) {
        each!(self, filter => filter.contains_batch(items, found));
    }

    pub fn count(&self, item: &[u8]) -> usize {
        each!(self, filter => filter.count(item))
    }

    pub fn remove(&self, item: &[u8]) -> bool {
        each!(self, filter => filter.remove(item))
    }

    /// Items, copies counted.
    pub fn len(&self) -> usize {
        each!(self, filter => filter.len())
    }

    /// Buckets of all segments.
    pub fn buckets(&self) -> u64 {
        each!(self, filter => filter
            .segments()
            .map(|segment| segment.slots as u64 / u64::from(segment.layout.slots_per_bucket()))
            .sum())
    }

    /// The number of segments.
    pub fn segments(&self) -> usize {
        each!(self, filter => filter.segments().len())
    }

    /// A number that follows from the seed.
    pub fn seed_hash(&self) -> u64 {
        each!(self, filter => filter.hasher().hash_one(0))
    }

    /// Limits the bytes up to which the filter grows.
    pub fn set_max_bytes(&self, max_bytes: usize) {
        if let Self::Growing(filter) = self {
            filter.set_max_bytes(Some(max_bytes));
        }
    }

    /// Bytes of the next segment. `None` if the filter cannot append one within its limit.
    pub fn next_growth(&self) -> Option<usize> {
        match self {
            Self::Fixed(_) => None,
            Self::Growing(filter) => filter.next_growth(),
        }
    }

    /// Moves items to coarser segments, and releases segments.
    pub fn compact(&mut self) {
        if let Self::Growing(filter) = self {
            filter.shrink_to_fit();
        }
    }

    pub fn try_clone(&self) -> Result<Self, BuildError> {
        Ok(match self {
            Self::Fixed(filter) => Self::Fixed(filter.try_clone()?),
            Self::Growing(filter) => Self::Growing(filter.try_clone()?),
        })
    }

    /// Returns a dump, which is not yet prepared.
    pub fn dump(&self) -> guira::Dump {
        each!(self, filter => filter.dump())
    }

    /// Prepares this many more blocks of a dump. Returns whether that was the last of them.
    pub fn prepare(&self, dump: &mut guira::Dump, blocks: usize) -> io::Result<bool> {
        each!(self, filter => dump.prepare(filter, blocks))
    }

    /// Reads bytes of a dump, which is prepared.
    pub fn read_dump(&self, dump: &guira::Dump, offset: u64, buffer: &mut [u8]) -> usize {
        each!(self, filter => dump.read_at(filter, offset, buffer))
    }
}

/// A filter that is being loaded.
pub enum FilterLoader {
    Fixed(Loader<Fixed, StableHashBuilder>),
    Growing(Loader<Growing, StableHashBuilder>),
}

impl FilterLoader {
    /// Returns a loader for a filter with these settings, whose buckets take at most `max_bytes`.
    pub fn new(settings: &Settings, max_bytes: usize) -> Self {
        let hasher = StableHashBuilder::with_seed;
        // From the allocator: the server counts its memory.
        if settings.expansion == 0 {
            Self::Fixed(CuckooFilter::loader_with(max_bytes, hasher).allocate_at_once())
        } else {
            Self::Growing(GrowingFilter::loader_with(max_bytes, hasher).allocate_at_once())
        }
    }

    pub fn push(&mut self, bytes: &[u8]) -> Result<(), LoadError> {
        each!(self, loader => loader.push(bytes))
    }

    pub fn finish(self) -> Result<Filter, LoadError> {
        Ok(match self {
            Self::Fixed(loader) => Filter::Fixed(loader.finish()?),
            Self::Growing(loader) => Filter::Growing(loader.finish()?),
        })
    }

    pub fn is_complete(&self) -> bool {
        each!(self, loader => loader.is_complete())
    }

    pub fn received(&self) -> u64 {
        each!(self, loader => loader.received())
    }

    /// Writes what was received again.
    pub fn write_received(&self, writer: impl Write) -> io::Result<()> {
        each!(self, loader => loader.write_received(writer))
    }
}
