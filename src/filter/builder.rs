//! The builder: from settings to a filter.

use core::{fmt, hash::BuildHasher, marker::PhantomData, num::NonZero, time::Duration};

use super::{
    Filter, FromSeed, StableHashBuilder,
    engine::{Engine, Options},
    hasher::{hasher_seed, random_seed},
    kind::{Contents, Growth},
};
use crate::{
    BuildError, Layout,
    bucket::MAX_VALUE_BITS,
    table::{Kernel, stamp_bits},
};

/// Builds a filter: a [`CuckooFilter`](crate::CuckooFilter), a
/// [`GrowingFilter`](crate::GrowingFilter), a [`CuckooMap`](crate::CuckooMap), a
/// [`GrowingMap`](crate::GrowingMap) or an [`ExpiringFilter`](crate::ExpiringFilter). Only the
/// capacity is required, and only by filters that do not grow. What is said of a `CuckooMap` holds
/// for both maps.
///
/// [`Filter::builder`] creates one: `CuckooFilter::builder()` or `CuckooMap::builder()`.
///
/// ```
/// use guira::CuckooFilter;
///
/// let filter = CuckooFilter::builder()
///     .capacity(1_000_000)
///     .false_positive_rate(0.001)
///     .seed(42)
///     .build()?;
/// assert!(filter.false_positive_rate() <= 0.001);
/// # Ok::<(), guira::BuildError>(())
/// ```
#[must_use = "a builder does nothing until `build`"]
pub struct FilterBuilder<C: Contents, G: Growth, S = StableHashBuilder> {
    pub(super) settings: Settings,
    hasher: HasherSource<S>,
    kind: PhantomData<fn() -> (C, G)>,
}

/// Everything but the hasher.
#[derive(Clone, Debug, Default)]
pub(super) struct Settings {
    capacity: Option<usize>,
    target: Option<f64>,
    layout: Option<Layout>,
    /// Bits of a value, if the user set them.
    pub(super) value_bits: Option<u32>,
    pub(super) window: Option<u32>,
    pub(super) time_to_live: Option<Duration>,
    fastest: bool,
    seed: Option<u64>,
    pub(super) huge_pages: bool,
    pub(super) max_capacity: Option<usize>,
    pub(super) reserve: bool,
    pub(super) max_copies: Option<usize>,
    pub(super) writers: Option<usize>,
    pub(super) max_bytes: Option<usize>,
    pub(super) kernel: Option<Kernel>,
}

/// Where the hasher of a filter comes from.
#[derive(Clone)]
pub(super) enum HasherSource<S> {
    /// Made from a seed, which is derived from the filter's.
    Seeded(fn(u64) -> S),
    /// Given by the user.
    Given(S),
}

impl<S> HasherSource<S> {
    /// The hasher of a filter with this seed.
    pub(super) fn make(self, seed: u64) -> S {
        match self {
            Self::Seeded(from_seed) => from_seed(hasher_seed(seed)),
            Self::Given(hasher) => hasher,
        }
    }
}

impl Settings {
    /// Validates the settings, and returns those that engines use. `own_bytes` is the size of the
    /// filter itself.
    fn options<C: Contents, G: Growth>(&self, own_bytes: usize) -> Result<Options, BuildError> {
        let capacity = match self.capacity {
            None if G::GROWS => None,
            None => return Err(BuildError::NoCapacity),
            Some(capacity) => Some(capacity.max(1)),
        };
        let max_copies = match self.max_copies {
            None => None,
            Some(copies) => Some(NonZero::new(copies).ok_or(BuildError::ZeroMaxCopies)?),
        };
        let writers = match self.writers {
            None => None,
            Some(writers) => Some(NonZero::new(writers).ok_or(BuildError::ZeroWriters)?),
        };
        let kernel = self.kernel.filter(|kernel| kernel.is_available());
        let kernel = kernel.unwrap_or_else(Kernel::best);
        let Self { target, layout, window, time_to_live, fastest, huge_pages, max_bytes, .. } =
            *self;
        let of_layout = layout.and_then(Layout::valued);
        let value_bits = match window {
            None => C::DEFAULT_VALUE_BITS.map(|bits| self.value_bits.or(of_layout).unwrap_or(bits)),
            Some(window) => Some(stamp_bits(window).ok_or(BuildError::InvalidWindow(window))?),
        };
        if let Some(bits) = value_bits.filter(|&bits| bits > MAX_VALUE_BITS) {
            return Err(BuildError::InvalidValueBits(bits));
        }
        if let Some(layout) = layout.filter(|layout| layout.valued() != value_bits) {
            return Err(BuildError::LayoutUnsuitable { layout, value_bits });
        }
        // The engine that grows rejects all others.
        if let Some(layout) = layout.filter(|layout| layout.splitting().is_some() && !G::GROWS) {
            return Err(BuildError::LayoutUnsuitable { layout, value_bits });
        }
        match target {
            Some(rate) if !(rate > 0.0 && rate < 1.0) => Err(BuildError::InvalidRate(rate)),
            _ => Ok(Options {
                capacity,
                max_capacity: self.max_capacity,
                reserve: self.reserve,
                target,
                layout,
                value_bits,
                window,
                time_to_live,
                fastest,
                huge_pages,
                max_copies,
                max_bytes,
                own_bytes,
                writers,
                kernel,
            }),
        }
    }
}

impl<C: Contents, G: Growth> FilterBuilder<C, G> {
    pub(super) fn new() -> Self {
        Self {
            settings: Settings {
                huge_pages: true,
                reserve: true,
                window: C::DEFAULT_WINDOW,
                ..Settings::default()
            },
            hasher: HasherSource::Seeded(StableHashBuilder::from_seed),
            kind: PhantomData,
        }
    }
}

impl<C: Contents, G: Growth, S: Clone> Clone for FilterBuilder<C, G, S> {
    fn clone(&self) -> Self {
        let Self { settings, hasher, kind } = self;
        Self { settings: settings.clone(), hasher: hasher.clone(), kind: *kind }
    }
}

impl<C: Contents, G: Growth, S> fmt::Debug for FilterBuilder<C, G, S> {
    /// Formats the settings without the seed, since logs are read by others.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FilterBuilder")
            .field("capacity", &self.settings.capacity)
            .field("false_positive_rate", &self.settings.target)
            .field("layout", &self.settings.layout)
            .field("value_bits", &self.settings.value_bits)
            .field("window", &self.settings.window)
            .field("time_to_live", &self.settings.time_to_live)
            .field("fastest", &self.settings.fastest)
            .field("huge_pages", &self.settings.huge_pages)
            .field("max_capacity", &self.settings.max_capacity)
            .field("max_copies", &self.settings.max_copies)
            .field("writers", &self.settings.writers)
            .field("max_bytes", &self.settings.max_bytes)
            .field("kernel", &self.settings.kernel)
            .finish_non_exhaustive()
    }
}

impl<C: Contents, G: Growth, S> FilterBuilder<C, G, S> {
    /// Sets the number of distinct items that must fit. At most one filter in 10,000 refuses one of
    /// them. Zero makes the smallest filter, whose capacity is one.
    ///
    /// A filter that grows starts with this capacity, and with 1,024 slots at least (by default
    /// with 4,096), and grows to 32,768 times as many: see also
    /// [`max_capacity`](FilterBuilder::max_capacity). In an
    /// [`ExpiringFilter`](crate::ExpiringFilter#capacity) it must be enough for the items of w + 2
    /// generations, where w is the window.
    ///
    /// ```
    /// let filter = guira::CuckooFilter::builder().capacity(50_000).build()?;
    /// assert_eq!(filter.capacity(), 50_000);
    /// # Ok::<(), guira::BuildError>(())
    /// ```
    pub fn capacity(mut self, items: usize) -> Self {
        self.settings.capacity = Some(items);
        self
    }

    /// Sets the target false-positive rate, above 0 and below 1. The filter does not exceed it
    /// while it holds at most its capacity; one that grows never does.
    ///
    /// Without a [`layout`](Self::layout), the builder takes the layout with the fewest bits per
    /// item that meets the target. Of a plain and a semi-sorted one of the same size, it takes the
    /// plain one if both meet it. See also [`fastest`](Self::fastest). Without a target, a
    /// `CuckooFilter` gets [`Layout::Plain4x16`], a `GrowingFilter` a target of 0.1 %, a
    /// [`CuckooMap`](crate::CuckooMap) and an [`ExpiringFilter`](crate::ExpiringFilter) one of
    /// 0.2 %, and a [`GrowingMap`](crate::GrowingMap) one of 0.5 %.
    ///
    /// ```
    /// let builder = guira::CuckooFilter::builder().capacity(50_000);
    /// let filter = builder.false_positive_rate(0.01).build()?;
    /// assert!(filter.false_positive_rate() <= 0.01);
    /// # Ok::<(), guira::BuildError>(())
    /// ```
    pub fn false_positive_rate(mut self, target: f64) -> Self {
        self.settings.target = Some(target);
        self
    }

    /// Sets the layout of the buckets, in place of one that is chosen by the target rate.
    ///
    /// In a [`GrowingFilter`](crate::GrowingFilter) it is one of [`Layout::GROWING`], and in a
    /// [`GrowingMap`](crate::GrowingMap) one of those that [`growing`](Layout::growing) returns. If
    /// a target is set as well, the layout must meet it after the last doubling.
    ///
    /// In a [`CuckooMap`](crate::CuckooMap) it is one of those that
    /// [`with_values`](Layout::with_values) returns. In an
    /// [`ExpiringFilter`](crate::ExpiringFilter) it is one of these too, with values of as many
    /// bits as the stamps of its [`window`](FilterBuilder::window). In a
    /// [`CuckooFilter`](crate::CuckooFilter) it is one of [`Layout::ALL`]. With a layout that does
    /// not suit the filter, `build` fails with [`LayoutUnsuitable`](BuildError::LayoutUnsuitable).
    ///
    /// ```
    /// use guira::{CuckooFilter, Layout};
    ///
    /// let builder = CuckooFilter::builder().capacity(50_000);
    /// let filter = builder.layout(Layout::SemiSorted3x22).build()?;
    /// assert!(filter.false_positive_rate() < 0.000_002);
    /// # Ok::<(), guira::BuildError>(())
    /// ```
    pub fn layout(mut self, layout: Layout) -> Self {
        self.settings.layout = Some(layout);
        self
    }

    /// Prefers speed to size: if plain layouts meet the target, takes the one with the fewest bits
    /// per item. For a target of 1 % that is 13.2 bits per item in place of 10.9.
    ///
    /// `BENCHMARKS.md`, in the repository, compares semi-sorted layouts with plain ones that have
    /// as many slots per bucket. Without a target, or with a [`layout`](Self::layout), this setting
    /// has no effect; nor has it in filters that grow, all of whose layouts are plain.
    ///
    /// ```
    /// use guira::{CuckooFilter, Layout};
    ///
    /// let builder = CuckooFilter::builder().capacity(50_000).false_positive_rate(0.01);
    /// assert_eq!(builder.clone().build()?.layout(), Layout::SemiSorted6x12);
    /// assert_eq!(builder.fastest().build()?.layout(), Layout::Plain5x12);
    /// # Ok::<(), guira::BuildError>(())
    /// ```
    pub fn fastest(mut self) -> Self {
        self.settings.fastest = true;
        self
    }

    /// Sets the seed, which makes the filter reproducible: with the default hasher and the same
    /// seed, the same operations in the same order on one thread have the same outcome. With a
    /// given [`hasher`](Self::hasher) this seeds only the mixing of hashes.
    ///
    /// Without a seed, every filter draws its own at random. A seed that others know gives up the
    /// protection against chosen keys.
    ///
    /// ```
    /// let twin = || guira::CuckooFilter::builder().capacity(2_000).seed(42).build().unwrap();
    /// let (a, b) = (twin(), twin());
    /// a.insert_batch(&[1, 2, 3]).unwrap();
    /// b.insert_batch(&[1, 2, 3]).unwrap();
    /// assert!((0..100_000).all(|key| a.contains(&key) == b.contains(&key)));
    /// ```
    pub fn seed(mut self, seed: u64) -> Self {
        self.settings.seed = Some(seed);
        self
    }

    /// Sets the hasher of the keys. A weak one does no harm as long as keys have distinct hashes:
    /// the filter mixes every hash once more. A load of a snapshot needs the same hasher again:
    /// [`Loader::hasher`](crate::Loader::hasher). See also [`seeded_hasher`](Self::seeded_hasher).
    ///
    /// ```
    /// use std::hash::RandomState;
    ///
    /// let builder = guira::CuckooFilter::builder().capacity(10);
    /// let filter = builder.hasher(RandomState::new()).build()?;
    /// filter.insert("keyed by SipHash").unwrap();
    /// # Ok::<(), guira::BuildError>(())
    /// ```
    pub fn hasher<S2: BuildHasher>(self, hasher: S2) -> FilterBuilder<C, G, S2> {
        let Self { settings, kind, .. } = self;
        FilterBuilder { settings, hasher: HasherSource::Given(hasher), kind }
    }

    /// Sets the type of the hasher, which is made from a seed. The filter derives that seed from
    /// its own, which snapshots contain, so a loader makes the same hasher again:
    /// [`Loader::seeded_hasher`](crate::Loader::seeded_hasher).
    ///
    /// ```
    /// use std::hash::{BuildHasherDefault, DefaultHasher};
    ///
    /// let builder = guira::CuckooFilter::builder().capacity(10);
    /// let filter = builder.seeded_hasher::<BuildHasherDefault<DefaultHasher>>().build()?;
    /// filter.insert("ani").unwrap();
    /// # Ok::<(), guira::BuildError>(())
    /// ```
    pub fn seeded_hasher<S2: FromSeed>(self) -> FilterBuilder<C, G, S2> {
        let Self { settings, kind, .. } = self;
        FilterBuilder { settings, hasher: HasherSource::Seeded(S2::from_seed), kind }
    }

    /// Builds the filter.
    ///
    /// # Errors
    /// [`BuildError`], with a variant for each possible cause.
    ///
    /// ```
    /// use guira::{BuildError, CuckooFilter};
    ///
    /// let builder = CuckooFilter::builder().capacity(1_000);
    /// assert_eq!(builder.clone().build()?.slots(), builder.build()?.slots());
    /// let builder = CuckooFilter::builder().capacity(1_000);
    /// let error = builder.false_positive_rate(1.5).build().unwrap_err();
    /// assert_eq!(error, BuildError::InvalidRate(1.5));
    /// # Ok::<(), BuildError>(())
    /// ```
    pub fn build(self) -> Result<Filter<C, G, S>, BuildError> {
        let own_bytes = size_of::<Filter<C, G, S>>();
        let engine = <C::Engine<G>>::build(&self.settings.options::<C, G>(own_bytes)?)?;
        let seed = self.settings.seed.unwrap_or_else(random_seed);
        let error = engine.out_of_memory();
        Filter::from_parts(engine, seed, 0, self.hasher.make(seed)).ok_or(error)
    }
}
