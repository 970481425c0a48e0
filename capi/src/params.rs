//! Parameters of objects, and the builders that they become.

use guira_rs::{BuildError, Engine, Filter, FilterBuilder, Growable, Permanent, StableHashBuilder};

use crate::{
    error::Error,
    pointer::{Extensible, Plain},
};

/// Parameters of a set. Initialize it by `GUIRA_FILTER_PARAMS_INIT`, then set `capacity` and what
/// else you need. A field that is 0 has its default.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct FilterParams {
    /// Bytes of this struct. The `_INIT` macro sets it.
    pub size: usize,
    /// Distinct items that must fit. Required. At most one set in 10,000 refuses one of them. A
    /// growing set starts with this capacity.
    pub capacity: u64,
    /// Target false-positive rate, above 0 and below 1. Default: 0.00012, or 0.001 if the set
    /// grows.
    pub false_positive_rate: f64,
    /// Seed, which makes a set reproducible. Default: a random one. A seed that others know gives
    /// up the protection against chosen keys.
    pub seed: u64,
    /// If the set grows: limit on its memory, in bytes. Default: none.
    pub max_bytes: u64,
    /// 1 if the set grows when it is full. Default: 0.
    pub growing: u32,
    /// If the set grows: 2, 4, 8 or 16, how many times as many buckets each segment has as the one
    /// before it. Default: 2.
    pub growth_factor: u32,
    /// Limit on the copies of one item. Default: what fits into its two buckets.
    pub max_copies: u32,
    /// Threads that are expected to write at the same time. More of them are allowed, and may wait
    /// for one another. Default: by the capacity.
    pub writers: u32,
    /// 1 to prefer speed to size, where the target rate leaves a choice. Default: 0.
    pub fastest: u32,
    /// 1 to ask for no huge pages. Default: 0, and tables of 2 MiB and more are on huge pages,
    /// where the system has them.
    pub no_huge_pages: u32,
}

/// Parameters of a map. Initialize it by `GUIRA_MAP_PARAMS_INIT`, then set `capacity` and what else
/// you need. A field that is 0 has its default.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct MapParams {
    /// Bytes of this struct. The `_INIT` macro sets it.
    pub size: usize,
    /// Distinct items that must fit. Required. At most one map in 10,000 refuses one of them. A
    /// growing map starts with this capacity.
    pub capacity: u64,
    /// Target false-positive rate, above 0 and below 1: how often a key has the value of another
    /// one. Default: 0.002, or 0.003 if the map grows.
    pub false_positive_rate: f64,
    /// Seed: see `guira_filter_params`.
    pub seed: u64,
    /// If the map grows: limit on its memory, in bytes. Default: none.
    pub max_bytes: u64,
    /// Bits of a value, 1 to 16. Default: 8.
    pub value_bits: u32,
    /// 1 if the map grows when it is full. Default: 0.
    pub growing: u32,
    /// If the map grows: see `guira_filter_params`.
    pub growth_factor: u32,
    /// Limit on the items of one key. Default: what fits into its two buckets.
    pub max_copies: u32,
    /// Threads that are expected to write at the same time: see `guira_filter_params`.
    pub writers: u32,
    /// 1 to ask for no huge pages: see `guira_filter_params`.
    pub no_huge_pages: u32,
}

/// Parameters of an expiring set. Initialize it by `GUIRA_EXPIRING_PARAMS_INIT`, then set
/// `capacity` and what else you need. A field that is 0 has its default.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ExpiringParams {
    /// Bytes of this struct. The `_INIT` macro sets it.
    pub size: usize,
    /// Distinct items that must fit. Required. Let it be those of `window + 2` generations, since
    /// what has expired occupies its slot until it is swept. Each insert without `_unique` counts.
    /// At most one set in 10,000 refuses one of so many.
    pub capacity: u64,
    /// Target false-positive rate, above 0 and below 1. Default: 0.002.
    pub false_positive_rate: f64,
    /// Seed: see `guira_filter_params`.
    pub seed: u64,
    /// Window in generations, 1 to 253: an item is found in the generation of its insert and in
    /// this many further ones. Default: 13.
    pub window: u32,
    /// Threads that are expected to write at the same time: see `guira_filter_params`.
    pub writers: u32,
    /// 1 to ask for no huge pages: see `guira_filter_params`.
    pub no_huge_pages: u32,
    /// Always 0.
    pub reserved: u32,
    /// Nanoseconds for which an item is found at least, if `guira_tick` begins all generations.
    /// Default: none, and nothing is ever due.
    pub time_to_live: u64,
}

// SAFETY: numbers; they begin with a `usize`.
unsafe impl Plain for FilterParams {}
// SAFETY: as above.
unsafe impl Extensible for FilterParams {}
// SAFETY: as above.
unsafe impl Plain for MapParams {}
// SAFETY: as above.
unsafe impl Extensible for MapParams {}
// SAFETY: as above.
unsafe impl Plain for ExpiringParams {}
// SAFETY: as above.
unsafe impl Extensible for ExpiringParams {}

/// A builder of objects, which all use the stable hasher.
pub type Builder<E> = FilterBuilder<E, StableHashBuilder>;

/// The parameters that all objects have.
pub struct Common {
    /// As in the structs.
    pub capacity: u64,
    /// As in the structs.
    pub false_positive_rate: f64,
    /// As in the structs.
    pub seed: u64,
    /// As in the structs.
    pub writers: u32,
    /// As in the structs.
    pub no_huge_pages: u32,
}

impl Common {
    /// Returns a builder with these parameters.
    pub fn builder<E: Engine>(&self) -> Result<Builder<E>, Error> {
        let capacity = usize::try_from(self.capacity).map_err(|_| Error::Capacity)?;
        let builder = Filter::<E>::builder().hasher_with(StableHashBuilder::with_seed);
        let mut builder = builder.capacity(capacity).huge_pages(!flag(self.no_huge_pages)?);
        // Not a comparison with zero: NaN is not a default, but an error.
        if self.false_positive_rate.to_bits() != 0 {
            builder = builder.false_positive_rate(self.false_positive_rate);
        }
        if self.seed != 0 {
            builder = builder.seed(self.seed);
        }
        if self.writers != 0 {
            builder = builder.writers(self.writers as usize);
        }
        Ok(builder)
    }
}

/// The parameters of growth.
pub struct Growth {
    /// As in the structs.
    pub growing: u32,
    /// `growth_factor` in the structs.
    pub factor: u32,
    /// As in the structs.
    pub max_bytes: u64,
}

impl Growth {
    /// Returns whether the object grows, if the parameters agree.
    pub fn is_growing(&self) -> Result<bool, Error> {
        let growing = flag(self.growing)?;
        if !growing && (self.factor != 0 || self.max_bytes != 0) {
            return Err(Error::Setting);
        }
        Ok(growing)
    }

    /// Adds these parameters to a builder.
    pub fn add_to<E: Growable>(&self, mut builder: Builder<E>) -> Builder<E> {
        if self.factor != 0 {
            builder = builder.growth_factor(self.factor as usize);
        }
        if self.max_bytes != 0 {
            builder = builder.max_bytes(usize::try_from(self.max_bytes).unwrap_or(usize::MAX));
        }
        builder
    }
}

/// Adds a limit on copies, if there is one.
pub fn limit_copies<E: Permanent>(builder: Builder<E>, max_copies: u32) -> Builder<E> {
    if max_copies == 0 { builder } else { builder.max_copies(max_copies as usize) }
}

/// Returns a field that is 0 or 1 as a flag.
pub fn flag(field: u32) -> Result<bool, Error> {
    match field {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(Error::Setting),
    }
}

/// Builds an object.
pub fn build<E: Engine>(builder: Builder<E>) -> Result<Filter<E, StableHashBuilder>, Error> {
    builder.build().map_err(|error: BuildError| error.into())
}
