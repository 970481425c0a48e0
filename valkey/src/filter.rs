//! The filter of a value, and the loader of one: of the kind that grows, or of the other.

use guira::{
    BuildError, CuckooFilter, FilterBuilder, GrowingFilter, KeyTypes, LoadError, Loader,
    kind::{Fixed, Growing, Growth, Set},
};

use crate::stream::Settings;

/// Something of a filter that grows, or of one that does not.
pub enum Either<F, G> {
    Fixed(F),
    Growing(G),
}

/// A filter. Its hasher gives the same hashes everywhere, so that it can move to another server.
pub type Filter = Either<CuckooFilter, GrowingFilter>;

/// A filter that is being loaded.
pub type FilterLoader = Either<Loader<Set, Fixed>, Loader<Set, Growing>>;

/// Evaluates an expression for either kind.
macro_rules! each {
    ($either:expr, $name:ident => $result:expr) => {
        match $either {
            $crate::filter::Either::Fixed($name) => $result,
            $crate::filter::Either::Growing($name) => $result,
        }
    };
}
pub(crate) use each;

impl Filter {
    /// Returns an empty filter of at most this many bytes. It is the same on every server: settings
    /// and seed decide everything.
    pub fn new(settings: &Settings, seed: u64, max_bytes: usize) -> Result<Self, BuildError> {
        if settings.expansion > 0 {
            // From the allocator: the server counts its memory.
            let builder = builder(settings, seed, max_bytes).reserve_address_space(false);
            return Ok(Self::Growing(builder.build()?));
        }
        let mut builder = builder::<Fixed>(settings, seed, max_bytes);
        if settings.bucket_size > 0 {
            // A limit, and not what most items have.
            builder = builder.copies(1).max_copies(2 * usize::from(settings.bucket_size));
        }
        Ok(Self::Fixed(builder.build()?))
    }
}

fn builder<G: Growth>(settings: &Settings, seed: u64, max_bytes: usize) -> FilterBuilder<Set, G> {
    guira::Filter::<Set, G>::builder()
        .capacity(usize::try_from(settings.capacity).unwrap_or(usize::MAX))
        .false_positive_rate(settings.error_rate)
        .seed(seed)
        .writers(1)
        // A sparse filter, and the copies of a process that forks, would take many times as much.
        .huge_pages(false)
        .max_bytes(max_bytes)
}

impl FilterLoader {
    /// Returns a loader for a filter with these settings, whose buckets take at most `max_bytes`.
    pub fn new(settings: &Settings, max_bytes: usize) -> Self {
        // Keys are bytes.
        let types = KeyTypes::ALL - KeyTypes::SLICES;
        // From the allocator, as above.
        if settings.expansion > 0 {
            let loader = GrowingFilter::loader().ignore_types(types).huge_pages(false);
            Self::Growing(loader.limit(max_bytes).reserve_address_space(false))
        } else {
            let loader = CuckooFilter::loader().ignore_types(types).huge_pages(false);
            Self::Fixed(loader.limit(max_bytes))
        }
    }

    /// Returns the filter, all of which has arrived.
    pub fn finish(self) -> Result<Filter, LoadError> {
        Ok(match self {
            Self::Fixed(loader) => Filter::Fixed(loader.finish()?),
            Self::Growing(loader) => Filter::Growing(loader.finish()?),
        })
    }
}
