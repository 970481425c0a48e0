//! The filter of a value, and the loader of one: of the kind that grows, or of the other.

use guira::{
    BuildError, CuckooFilter, Fixed, Growing, GrowingFilter, LoadError, Loader, StableHashBuilder,
};

use crate::stream::Settings;

/// Something of a filter that grows, or of one that does not.
pub enum Either<F, G> {
    Fixed(F),
    Growing(G),
}

/// A filter. Its hasher gives the same hashes everywhere, so that it can move to another server.
pub type Filter = Either<CuckooFilter<StableHashBuilder>, GrowingFilter<StableHashBuilder>>;

/// A filter that is being loaded.
pub type FilterLoader =
    Either<Loader<Fixed, StableHashBuilder>, Loader<Growing, StableHashBuilder>>;

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

/// Largest growth factor of a filter. Larger expansions are kept and shown, and grow by this one.
const MAX_FACTOR: u16 = 16;

impl Filter {
    /// Returns an empty filter of at most this many bytes. It is the same on every server: settings
    /// and seed decide everything.
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

    /// Limits the bytes up to which a filter grows.
    pub fn set_max_bytes(&self, max_bytes: usize) {
        if let Self::Growing(filter) = self {
            filter.set_max_bytes(Some(max_bytes));
        }
    }
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

    /// Returns the filter, all of which has arrived.
    pub fn finish(self) -> Result<Filter, LoadError> {
        Ok(match self {
            Self::Fixed(loader) => Filter::Fixed(loader.finish()?),
            Self::Growing(loader) => Filter::Growing(loader.finish()?),
        })
    }
}
