//! The builder: from what a user asks for to a layout and a number of buckets.

use core::hash::BuildHasher;

use crate::{
    BuildError, CuckooFilter, DefaultHashBuilder, GrowingFilter, Layout,
    chain::{self, Chain},
    geometry::{Geometry, MAX_BUCKETS, Placement},
    hasher::{hasher_seed, mixing_seed, random_seed},
    shared::Core,
    sizing::buckets_for,
};

/// Makes a [`CuckooFilter`], or a [`GrowingFilter`]. Only the capacity must be given.
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
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `build`"]
pub struct CuckooFilterBuilder<S = DefaultHashBuilder> {
    capacity: Option<usize>,
    false_positive_rate: Option<f64>,
    layout: Option<Layout>,
    fastest: bool,
    seed: Option<u64>,
    huge_pages: bool,
    hasher: HasherChoice<S>,
}

/// The rate of filters that grow, unless another is asked for.
const DEFAULT_GROWING_RATE: f64 = 0.001;

/// Where the hasher comes from.
#[derive(Clone, Debug)]
enum HasherChoice<S> {
    /// Made from the filter's seed.
    Seeded(fn(u64) -> S),
    /// Given by the user.
    Given(S),
}

impl<S> HasherChoice<S> {
    fn make(self, seed: u64) -> S {
        match self {
            Self::Seeded(with_seed) => with_seed(hasher_seed(seed)),
            Self::Given(hasher) => hasher,
        }
    }
}

/// The rate, if it is one.
fn checked_rate(rate: f64) -> Result<f64, BuildError> {
    if rate > 0.0 && rate < 1.0 { Ok(rate) } else { Err(BuildError::InvalidRate(rate)) }
}

/// The error of a system that has no memory for so many buckets.
fn out_of_memory(buckets: u64) -> BuildError {
    BuildError::OutOfMemory { bytes: usize::try_from(buckets * 8).unwrap_or(usize::MAX) }
}

impl CuckooFilterBuilder {
    /// A builder without a capacity, and defaults for everything else.
    ///
    /// ```
    /// use guira::{BuildError, CuckooFilterBuilder};
    ///
    /// let error = CuckooFilterBuilder::new().build().unwrap_err();
    /// assert_eq!(error, BuildError::NoCapacity);
    /// ```
    pub fn new() -> Self {
        Self {
            capacity: None,
            false_positive_rate: None,
            layout: None,
            fastest: false,
            seed: None,
            huge_pages: true,
            hasher: HasherChoice::Seeded(DefaultHashBuilder::with_seed),
        }
    }
}

impl Default for CuckooFilterBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl<S> CuckooFilterBuilder<S> {
    /// How many distinct items must fit, from 1 up; at most one table in 10 000 refuses one of them.
    ///
    /// ```
    /// let filter = guira::CuckooFilter::builder().capacity(50_000).build()?;
    /// assert_eq!(filter.capacity(), 50_000);
    /// # Ok::<(), guira::BuildError>(())
    /// ```
    pub fn capacity(mut self, items: usize) -> Self {
        self.capacity = Some(items);
        self
    }

    /// The highest false-positive rate to tolerate with the capacity used up, above 0 and below 1.
    ///
    /// Without a [`layout`](Self::layout), the builder takes the one with the fewest bits per item
    /// that meets the rate, and of a plain and a semi-sorted one of the same size the plain one, if both meet
    /// it; or the [`fastest`](Self::fastest). Without a rate, it takes [`Layout::Plain4x16`].
    ///
    /// ```
    /// let filter = guira::CuckooFilter::builder().capacity(50_000).false_positive_rate(0.01).build()?;
    /// assert!(filter.false_positive_rate() <= 0.01);
    /// # Ok::<(), guira::BuildError>(())
    /// ```
    pub fn false_positive_rate(mut self, rate: f64) -> Self {
        self.false_positive_rate = Some(rate);
        self
    }

    /// The layout of the buckets, instead of one chosen by the rate.
    ///
    /// ```
    /// use guira::{CuckooFilter, Layout};
    ///
    /// let filter = CuckooFilter::builder().capacity(50_000).layout(Layout::SemiSorted3x22).build()?;
    /// assert!(filter.false_positive_rate() < 0.000_002);
    /// # Ok::<(), guira::BuildError>(())
    /// ```
    pub fn layout(mut self, layout: Layout) -> Self {
        self.layout = Some(layout);
        self
    }

    /// Of the layouts that meet the rate takes the fastest instead of the smallest: a plain one, with the
    /// fewest bits per item, wherever one does. For a rate of 1 % that is 13.2 bits per item instead of 11.
    ///
    /// What it gains, in tables beyond the caches: a tenth of the time of most operations in batches, up to a third of
    /// look-ups that find the item and of removals one by one, next to nothing where look-ups find nothing. Without a rate,
    /// or with a [`layout`](Self::layout), it changes nothing.
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
        self.fastest = true;
        self
    }

    /// Makes the filter reproducible from run to run: with the default hasher and this seed, the same
    /// operations in the same order have the same outcome. With another hasher it seeds the mixing
    /// alone, and the rest is up to the hasher. Without a seed, every filter draws its own at random;
    /// a seed that others know gives up that protection.
    ///
    /// ```
    /// let twin = || guira::CuckooFilter::builder().capacity(2_000).seed(42).build().unwrap();
    /// let (a, b) = (twin(), twin());
    /// a.insert_batch(&[1, 2, 3]).unwrap();
    /// b.insert_batch(&[1, 2, 3]).unwrap();
    /// assert!((0..100_000).all(|key| a.contains(&key) == b.contains(&key)));
    /// ```
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Whether a table of 2 MiB and more asks the system for huge pages (on Linux, by `madvise`). On
    /// by default: random reads of a large table are 1.4 times as fast with them.
    ///
    /// ```
    /// let filter = guira::CuckooFilter::builder().capacity(10_000_000).huge_pages(false).build()?;
    /// # Ok::<(), guira::BuildError>(())
    /// ```
    pub fn huge_pages(mut self, wanted: bool) -> Self {
        self.huge_pages = wanted;
        self
    }

    /// Hashes the items with another hasher. A weak one does no harm as long as it tells the items
    /// apart: the filter mixes every hash once more.
    ///
    /// ```
    /// use std::hash::RandomState;
    ///
    /// let filter = guira::CuckooFilter::builder().capacity(10).hasher(RandomState::new()).build()?;
    /// filter.insert("keyed by SipHash").unwrap();
    /// # Ok::<(), guira::BuildError>(())
    /// ```
    pub fn hasher<S2: BuildHasher>(self, hasher: S2) -> CuckooFilterBuilder<S2> {
        let Self { capacity, false_positive_rate, layout, fastest, seed, huge_pages, hasher: _ } =
            self;
        let hasher = HasherChoice::Given(hasher);
        CuckooFilterBuilder {
            capacity,
            false_positive_rate,
            layout,
            fastest,
            seed,
            huge_pages,
            hasher,
        }
    }

    /// Makes the filter.
    ///
    /// # Errors
    /// [`BuildError`], with a variant for each thing that can be wrong.
    ///
    /// ```
    /// use guira::{BuildError, CuckooFilter};
    ///
    /// let builder = CuckooFilter::builder().capacity(1_000);
    /// assert_eq!(builder.clone().build()?.slots(), builder.build()?.slots());
    /// let error = CuckooFilter::builder().capacity(1_000).false_positive_rate(1.5).build().unwrap_err();
    /// assert_eq!(error, BuildError::InvalidRate(1.5));
    /// # Ok::<(), BuildError>(())
    /// ```
    pub fn build(self) -> Result<CuckooFilter<S>, BuildError> {
        let capacity = self.checked_capacity()?;
        let (layout, buckets) = self.choose(capacity)?;
        let seed = self.seed.unwrap_or_else(random_seed);
        let geometry = Geometry::new(buckets, mixing_seed(seed));
        let core = Core::new(geometry, self.huge_pages).ok_or_else(|| out_of_memory(buckets))?;
        Ok(CuckooFilter::from_parts(core, layout, capacity, seed, self.hasher.make(seed)))
    }

    /// Makes a filter that grows beyond its capacity: see [`GrowingFilter`].
    ///
    /// The rate is that of the whole filter, however long it grows; without one, 0.1 %. A [`layout`](Self::layout) is that of the
    /// first segment, and must leave half of the rate or so to those after it, so name a rate with it; their layouts follow from
    /// what is left.
    ///
    /// # Errors
    /// [`BuildError`], with a variant for each thing that can be wrong.
    ///
    /// ```
    /// use guira::CuckooFilter;
    ///
    /// let filter = CuckooFilter::builder().capacity(100).false_positive_rate(0.02).build_growing()?;
    /// filter.try_extend(0..10_000).unwrap();
    /// assert!(filter.false_positive_rate() <= 0.02);
    /// # Ok::<(), guira::BuildError>(())
    /// ```
    pub fn build_growing(self) -> Result<GrowingFilter<S>, BuildError> {
        let capacity = self.checked_capacity()?;
        let asked = checked_rate(self.false_positive_rate.unwrap_or(DEFAULT_GROWING_RATE))?;
        let plan = chain::plan(capacity, self.layout, asked, self.fastest)?;
        let seed = self.seed.unwrap_or_else(random_seed);
        let (_, first) = plan[0];
        let chain = Chain::new(plan, self.huge_pages);
        let chain = chain.ok_or_else(|| out_of_memory(first.buckets()))?;
        let hasher = self.hasher.make(seed);
        Ok(GrowingFilter::from_parts(chain, asked, capacity, mixing_seed(seed), hasher))
    }

    /// The capacity, if it is one.
    fn checked_capacity(&self) -> Result<usize, BuildError> {
        match self.capacity {
            None => Err(BuildError::NoCapacity),
            Some(0) => Err(BuildError::ZeroCapacity),
            Some(capacity) => Ok(capacity),
        }
    }

    /// The layout and the number of buckets for a capacity.
    fn choose(&self, capacity: usize) -> Result<(Layout, u64), BuildError> {
        let sized = |layout: Layout| (layout, buckets_for(layout, capacity as u64));
        let fitting = |(layout, buckets): (Layout, u64)| match buckets {
            ..=MAX_BUCKETS => Ok((layout, buckets)),
            _ => Err(BuildError::CapacityTooLarge { capacity, layout }),
        };
        let Some(asked) = self.false_positive_rate else {
            return fitting(sized(self.layout.unwrap_or(Layout::Plain4x16)));
        };
        let asked = checked_rate(asked)?;
        let rate = |&(layout, buckets): &(Layout, u64)| {
            layout.rate_at(capacity as f64 / (buckets as f64 * f64::from(layout.lanes())))
        };
        if let Some(layout) = self.layout {
            let choice = fitting(sized(layout))?;
            return match rate(&choice) {
                reached if reached <= asked => Ok(choice),
                reached => Err(BuildError::LayoutMissesRate { layout, asked, reached }),
            };
        }
        let choices = Layout::ALL.iter().copied().map(sized);
        let cost = |&(layout, buckets): &(Layout, u64)| {
            let slow = layout.is_semi_sorted();
            (buckets > MAX_BUCKETS, slow && self.fastest, buckets, slow)
        };
        let best = choices.clone().filter(|choice| rate(choice) <= asked).min_by(|a, b| {
            // Of equally good ones the one with the lower rate.
            cost(a).cmp(&cost(b)).then(rate(a).total_cmp(&rate(b)))
        });
        best.map_or_else(
            || {
                let lowest = choices.map(|choice| rate(&choice)).fold(f64::INFINITY, f64::min);
                Err(BuildError::RateTooLow { asked, lowest })
            },
            fitting,
        )
    }
}
