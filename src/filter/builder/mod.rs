//! The builder: from settings to a filter.

mod engine_settings;

use core::{fmt, hash::BuildHasher, marker::PhantomData, time::Duration};

use super::{
    Filter, StableHashBuilder,
    engine::Engine,
    hasher::{hasher_seed, random_seed},
    kind::{Contents, Growth},
};
use crate::{
    BuildError, Layout,
    bucket::MAX_VALUE_BITS,
    table::{Kernel, TIMES_TO_LIVE, TimeSource, WINDOW_OF_TTL, stamp_bits},
};

/// Builds a filter of any kind: [`Filter::builder`] creates one. Filters that do not grow require
/// the capacity, and filters whose items expire a [`ttl`](FilterBuilder::ttl) or a
/// [`window`](FilterBuilder::window). All else has a default.
///
/// ```
/// use guira::CuckooFilter;
///
/// let builder = CuckooFilter::builder().capacity(1_000_000).false_positive_rate(0.001).seed(42);
/// let filter = builder.build().unwrap();
/// assert!(filter.false_positive_rate() <= 0.001);
/// ```
#[derive(Clone)]
#[must_use = "a builder does nothing until `build`"]
pub struct FilterBuilder<C: Contents, G: Growth, S = StableHashBuilder> {
    pub(super) settings: Settings,
    seed: Option<u64>,
    hasher: HasherSource<S>,
    kind: PhantomData<fn() -> (C, G)>,
}

/// Everything but hasher and seed. Engines get the [validated](Self::validated) settings.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    pub(super) capacity: Option<usize>,
    pub(super) target: Option<f64>,
    pub(super) layout: Option<Layout>,
    /// Bits of a value, if the user set them. Once validated: if items have values or stamps.
    pub(super) value_bits: Option<u32>,
    /// The generations for which items are found, if they expire.
    pub(super) window: Option<u32>,
    pub(super) time_to_live: Option<Duration>,
    /// Where the time is read. Once validated: if there is a time to live.
    pub(super) clock: Option<TimeSource>,
    pub(super) fastest: bool,
    pub(super) huge_pages: bool,
    pub(super) max_capacity: Option<usize>,
    /// Whether filters that grow reserve address space.
    pub(super) reserve: bool,
    pub(super) max_copies: Option<usize>,
    /// Largest number of equal items for which the filter is sized.
    pub(super) copies: Option<usize>,
    pub(super) writers: Option<usize>,
    /// Largest number of bytes of the filter, of which the `Filter` value itself takes `own_bytes`.
    pub(super) max_bytes: Option<usize>,
    pub(super) own_bytes: usize,
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
    /// Validates the settings, and returns those of a filter that itself takes `own_bytes`.
    fn validated<C: Contents, G: Growth>(mut self, own_bytes: usize) -> Result<Self, BuildError> {
        if C::EXPIRES {
            self.window = Some(self.expiry()?);
        }
        // Before anything is divided by the window.
        let bits = |window| stamp_bits(window).ok_or(BuildError::InvalidWindow(window));
        let of_stamps = self.window.map(bits).transpose()?;
        if self.capacity.is_none() && !G::GROWS {
            return Err(BuildError::NoCapacity);
        }
        if self.max_copies == Some(0) {
            return Err(BuildError::ZeroMaxCopies);
        }
        if self.copies == Some(0) {
            return Err(BuildError::ZeroCopies);
        }
        if self.writers == Some(0) {
            return Err(BuildError::ZeroWriters);
        }
        let layout = self.layout;
        let of_layout = layout.and_then(Layout::valued);
        let of_values =
            C::DEFAULT_VALUE_BITS.map(|bits| self.value_bits.or(of_layout).unwrap_or(bits));
        let value_bits = of_stamps.or(of_values);
        if let Some(bits) = value_bits.filter(|&bits| bits > MAX_VALUE_BITS) {
            return Err(BuildError::InvalidValueBits(bits));
        }
        // The engine that grows rejects all layouts of others.
        let suits = |layout: Layout| {
            layout.valued() == value_bits && (G::GROWS || layout.leveled().is_none())
        };
        if let Some(layout) = layout.filter(|&layout| !suits(layout)) {
            return Err(BuildError::LayoutUnsuitable { layout, value_bits });
        }
        if let Some(rate) = self.target.filter(|&rate| !(rate > 0.0 && rate < 1.0)) {
            return Err(BuildError::InvalidRate(rate));
        }
        self.capacity = self.capacity.map(|capacity| capacity.max(1));
        (self.value_bits, self.own_bytes) = (value_bits, own_bytes);
        Ok(self)
    }

    /// The window of a filter whose items expire. Sets its clock.
    fn expiry(&mut self) -> Result<u32, BuildError> {
        let Some(time) = self.time_to_live else {
            return match (self.window, &self.clock) {
                (_, Some(_)) => Err(BuildError::ClockWithoutTtl),
                (None, None) => Err(BuildError::NoExpiry),
                (Some(window), None) => Ok(window),
            };
        };
        if self.window.is_some() {
            return Err(BuildError::TtlAndWindow);
        }
        let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        if !TIMES_TO_LIVE.contains(&nanos) {
            return Err(BuildError::InvalidTtl(time));
        }
        #[cfg(feature = "std")]
        self.clock.get_or_insert_with(|| TimeSource::system(nanos));
        if self.clock.is_none() {
            return Err(BuildError::TtlWithoutClock);
        }
        Ok(WINDOW_OF_TTL)
    }

    /// The largest number of equal items for which the filter is sized.
    pub(super) fn copies(&self) -> usize {
        self.copies.or(self.max_copies).unwrap_or(1)
    }

    /// The kernel by which batches are looked up. It is available on this processor.
    pub(super) fn kernel(&self) -> Kernel {
        self.kernel.filter(|kernel| kernel.is_available()).unwrap_or_else(Kernel::best)
    }
}

impl<C: Contents, G: Growth> FilterBuilder<C, G> {
    pub(super) fn new() -> Self {
        Self {
            settings: Settings { huge_pages: true, reserve: true, ..Settings::default() },
            seed: None,
            hasher: HasherSource::Seeded(StableHashBuilder::from_seed),
            kind: PhantomData,
        }
    }
}

impl<C: Contents, G: Growth, S> fmt::Debug for FilterBuilder<C, G, S> {
    /// Formats the settings without the seed, since logs are read by others.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FilterBuilder").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl<C: Contents, G: Growth, S> FilterBuilder<C, G, S> {
    /// Sets the number of items that must fit. Zero counts as one.
    ///
    /// At most one filter in 10,000 refuses one of so many distinct items that are inserted once. A
    /// filter of a fixed size also keeps this promise for equal items, each of which counts, if
    /// [`copies`](Self::copies) says how many may be equal. (If items come and go at the capacity,
    /// every insert is another attempt: of filters for 100 items, one in 1,000 refused one of 500
    /// replacements. Then leave some room.)
    ///
    /// A filter that grows [starts](crate::GrowingFilter#growth) with this capacity. In an
    /// [`ExpiringFilter`](crate::ExpiringFilter#capacity) it must also be enough for what has
    /// expired and is not yet swept.
    ///
    /// ```
    /// let filter = guira::CuckooFilter::builder().capacity(50_000).build().unwrap();
    /// assert_eq!(filter.capacity(), 50_000);
    /// ```
    pub fn capacity(mut self, items: usize) -> Self {
        self.settings.capacity = Some(items);
        self
    }

    /// Sets the number of equal items that the filter may hold at a time, from 1 up: the size is
    /// chosen so that the [`capacity`](Self::capacity) holds for them. Without it, and without a
    /// [`max_copies`](FilterBuilder::max_copies), that is for distinct items.
    ///
    /// *Equal* are items that [`insert`](crate::Filter::insert) was called with several times; in a
    /// map all items of a key ([`values_per_key`](FilterBuilder::values_per_key)); and where items
    /// expire also those that have expired and are not yet swept: of a key that is inserted in
    /// every generation there may be two more than the window. [`insert_unique`][unique],
    /// [`insert_or_refresh`][refresh], and a count as the value of a map need one slot for a key
    /// however often it comes. Prefer them.
    ///
    /// Equal items share two buckets, so they need more room. If all items come in so many copies,
    /// a large table of a fixed size fills up to this part of its slots:
    ///
    /// | slots per bucket | 1 | 2 | 3 | 4 |
    /// |---|---|---|---|---|
    /// | 8 | 99 % | 96 % | 88 % | 85 % |
    /// | 6 | 98 % | 93 % | 85 % | |
    /// | 5 | 97 % | 90 % | | |
    /// | 4 | 96 % | 85 % | | |
    ///
    /// **Where copies take more than half of a bucket, they cost far more**: a half of the slots
    /// can be used at best, and in a table for 1,000 items a seventh, since a few keys that meet
    /// are too many for their buckets. The builder takes the layout that needs the least memory for
    /// all of this and meets the target. With more than 2 copies and neither a target nor a layout,
    /// the target of a [`CuckooFilter`](crate::CuckooFilter) is 0.2 %, and that of a
    /// [`GrowingFilter`](crate::GrowingFilter) 0.5 %, or with 5 copies 5 %.
    ///
    /// A filter that grows makes no promise for equal items. Of 4 million items that all came
    /// twice, it refused at most 6, and of those that came three times, one in 50,000 with four
    /// slots per bucket. Small ones, and more copies than half of a bucket, fare worse: of filters
    /// for up to 4,000 items that all come two to four times, one in 1,000 to one in 10 refused
    /// one.
    ///
    /// This is no limit: more copies of some items take the room of others. Where some items may
    /// come more often, set a `max_copies`, too.
    ///
    /// [unique]: crate::CuckooFilter#method.insert_unique
    /// [refresh]: crate::ExpiringFilter#method.insert_or_refresh
    ///
    /// ```
    /// let counted = guira::CuckooFilter::builder().capacity(1_000).copies(2).build()?;
    /// for key in 0..500 {
    ///     counted.insert(&key)?;
    ///     counted.insert(&key)?;
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn copies(mut self, copies: usize) -> Self {
        self.settings.copies = Some(copies);
        self
    }

    /// Sets the target false-positive rate, above 0 and below 1. The filter does not exceed it
    /// while it holds at most its capacity; one that grows never does.
    ///
    /// Without a [`layout`](Self::layout), the builder takes the layout with the fewest bits per
    /// item that meets the target. Of a plain and a semi-sorted one of the same size, it takes the
    /// plain one if both meet it. See also [`fastest`](Self::fastest).
    ///
    /// Without a target, a [`CuckooFilter`](crate::CuckooFilter) gets [`Layout::Plain4x16`], which
    /// has about 0.012 % false positives and takes 16.7 bits per item. Other filters get a target:
    /// a [`GrowingFilter`](crate::GrowingFilter) 0.1 %, a [`CuckooMap`](crate::CuckooMap) and an
    /// [`ExpiringFilter`](crate::ExpiringFilter) 0.2 %, a [`GrowingMap`](crate::GrowingMap) and a
    /// [`GrowingExpiringFilter`](crate::GrowingExpiringFilter) 0.5 %.
    ///
    /// ```
    /// let builder = guira::CuckooFilter::builder().capacity(50_000).false_positive_rate(0.01);
    /// assert!(builder.build().unwrap().false_positive_rate() <= 0.01);
    /// ```
    pub fn false_positive_rate(mut self, target: f64) -> Self {
        self.settings.target = Some(target);
        self
    }

    /// Sets the layout of the buckets, in place of one that is chosen by the target rate.
    ///
    /// For a [`CuckooFilter`](crate::CuckooFilter) it is one of [`Layout::ALL`], and for a
    /// [`GrowingFilter`](crate::GrowingFilter) one of [`Layout::GROWING`]. For maps it is one of
    /// those that [`with_values`](Layout::with_values), or if they grow
    /// [`growing`](Layout::growing), returns, and for expiring filters too, with values of as many
    /// bits as the stamps of the [`window`](FilterBuilder::window), or 4 with a
    /// [`ttl`](FilterBuilder::ttl). With another layout, `build` fails with
    /// [`LayoutUnsuitable`](BuildError::LayoutUnsuitable). If a target is set as well, the layout
    /// must meet it (if the filter grows, after the last doubling).
    ///
    /// ```
    /// let builder = guira::CuckooFilter::builder().capacity(50_000);
    /// let filter = builder.layout(guira::Layout::SemiSorted3x22).build().unwrap();
    /// assert!(filter.false_positive_rate() < 0.000_002);
    /// ```
    pub fn layout(mut self, layout: Layout) -> Self {
        self.settings.layout = Some(layout);
        self
    }

    /// Prefers speed to size: if plain layouts meet the target, takes the one with the fewest bits
    /// per item. For a target of 1 % that is 12.5 bits per item in place of 10.9.
    ///
    /// `BENCHMARKS.md`, in the repository, compares semi-sorted layouts with plain ones that have
    /// as many slots per bucket. Without a target, or with a [`layout`](Self::layout), this setting
    /// has no effect; nor has it in filters that grow, all of whose layouts are plain.
    ///
    /// ```
    /// let builder = guira::CuckooFilter::builder().capacity(50_000).false_positive_rate(0.01);
    /// assert!(builder.clone().build().unwrap().layout().is_semi_sorted());
    /// assert!(!builder.fastest().build().unwrap().layout().is_semi_sorted());
    /// ```
    pub fn fastest(mut self) -> Self {
        self.settings.fastest = true;
        self
    }

    /// Sets the seed, which makes the filter reproducible: with the default hasher and the same
    /// seed, the same operations in the same order on one thread have the same outcome (with a
    /// [`ttl`](FilterBuilder::ttl), if they come at the same times). With a given
    /// [`hasher`](Self::hasher) this seeds only the mixing of hashes.
    ///
    /// Without a seed, every filter draws its own at random. A seed that others know gives up the
    /// protection against chosen keys.
    ///
    /// ```
    /// let builder = guira::CuckooFilter::builder().capacity(2_000).seed(42);
    /// let (a, b) = (builder.clone().build().unwrap(), builder.build().unwrap());
    /// assert_eq!(a.hash_key("ani"), b.hash_key("ani"));
    /// ```
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Sets the hasher of the keys. A weak one does no harm as long as keys have distinct hashes:
    /// the filter mixes every hash once more. A load of a snapshot needs the same hasher again:
    /// [`Loader::hasher`](crate::Loader::hasher).
    ///
    /// ```
    /// use std::hash::RandomState;
    ///
    /// use guira::CuckooFilter;
    ///
    /// let builder = CuckooFilter::builder().capacity(10).hasher(RandomState::new());
    /// let keyed: CuckooFilter<RandomState> = builder.build().unwrap();
    /// keyed.insert("keyed by SipHash").unwrap();
    /// ```
    pub fn hasher<S2: BuildHasher>(self, hasher: S2) -> FilterBuilder<C, G, S2> {
        let Self { settings, seed, kind, .. } = self;
        FilterBuilder { settings, seed, hasher: HasherSource::Given(hasher), kind }
    }

    /// Builds the filter.
    ///
    /// # Errors
    /// [`BuildError`], with a variant for each possible cause.
    ///
    /// ```
    /// let builder = guira::CuckooFilter::builder().capacity(1_000);
    /// assert!(builder.clone().build().is_ok());
    /// let error = builder.false_positive_rate(1.5).build().unwrap_err();
    /// assert_eq!(error, guira::BuildError::InvalidRate(1.5));
    /// ```
    pub fn build(self) -> Result<Filter<C, G, S>, BuildError> {
        let own_bytes = size_of::<Filter<C, G, S>>();
        let engine = G::Engine::build(&self.settings.validated::<C, G>(own_bytes)?)?;
        let seed = self.seed.unwrap_or_else(random_seed);
        let error = engine.out_of_memory();
        Filter::from_parts(engine, seed, 0, self.hasher.make(seed)).ok_or(error)
    }
}
