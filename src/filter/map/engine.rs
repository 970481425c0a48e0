//! The engines of maps.

#[cfg(feature = "std")]
use alloc::vec::Vec;

#[cfg(feature = "std")]
use super::super::snapshot::{Form, LoadError, Saved, Words};
use super::{
    super::{
        Engine, Fixed, Growable, Growing, Permanent, Segment,
        engine::{Failed, Growth, Merging, Options, Storage},
    },
    Values,
};
#[cfg(feature = "std")]
use crate::table::{Buckets, PerSegment};
use crate::{
    BuildError, InsertError,
    table::{Answers, Hashes, Kernel, Merged, Valued, for_each_prefetched},
};

/// An engine of filters that has a counterpart for maps: [`Mapped<E>`](Mapped).
///
/// Sealed, as [`Engine`] is. The trait lets code be generic over maps:
///
/// ```
/// use guira::{CuckooMap, Filter, GrowingMap, InsertError, Mappable, Mapped};
///
/// /// Sends a flow to the worker that it was given first.
/// fn worker<E: Mappable>(
///     workers: &Filter<Mapped<E>>,
///     flow: &str,
///     next: u16,
/// ) -> Result<u16, InsertError> {
///     Ok(workers.get_or_insert(flow, next)?.unwrap_or(next))
/// }
///
/// let workers = CuckooMap::with_capacity(100);
/// assert_eq!(worker(&workers, "flow 17", 3), Ok(3));
/// assert_eq!(worker(&workers, "flow 17", 4), Ok(3));
/// let workers = GrowingMap::with_capacity(100);
/// assert_eq!(worker(&workers, "flow 17", 4), Ok(4));
/// ```
#[expect(private_bounds, reason = "sealed")]
pub trait Mappable: Engine {
    /// How a map stores its items.
    #[doc(hidden)]
    type Store: MapSteps + Engine;
}

impl Engine for Fixed<Valued> {}

impl Mappable for Fixed {
    type Store = Fixed<Valued>;
}

impl Engine for Growing<Valued> {}

impl Mappable for Growing {
    type Store = Growing<Valued>;
}

impl Growable for Mapped<Growing> {}

/// The engine of a map that stores its items as a filter with the engine `E` does: that of a
/// [`CuckooMap`](crate::CuckooMap) is `Mapped<Fixed>`, and that of a
/// [`GrowingMap`](crate::GrowingMap) is `Mapped<Growing>`.
#[derive(Debug)]
pub struct Mapped<E: Mappable>(pub(super) E::Store);

/// The default number of bits of a value.
const DEFAULT_VALUE_BITS: u32 = 8;

/// The operations of maps, on [mixed](crate::table::mix) hashes. None of them updates the number of
/// items, which the front end keeps. Values fit into the slots.
pub(crate) trait MapSteps: Merging {
    /// Bits of a value.
    fn value_bits(&self) -> u32;

    fn insert(&self, mixed: u64, value: u16) -> Result<(), InsertError>;

    fn get_or_insert(&self, mixed: u64, value: u16) -> Result<Option<u16>, InsertError>;

    fn get(&self, mixed: u64) -> Option<u16>;

    fn values(&self, mixed: u64) -> Values;

    fn contains(&self, mixed: u64) -> bool;

    fn contains_value(&self, mixed: u64, value: u16) -> bool;

    fn replace(&self, mixed: u64, old: u16, new: u16) -> bool;

    fn remove(&self, mixed: u64, value: u16) -> bool;

    fn count(&self, mixed: u64) -> usize;

    /// As `insert_each` of sets, with a value for each item.
    fn insert_each(
        &self,
        hashes: &mut Hashes<'_>,
        values: &[u16],
        count: &mut usize,
        failed: &mut Failed<'_>,
    );

    /// Writes which items were found, and returns their number. There are `len` items.
    fn contains_each(
        &self,
        _len: usize,
        hashes: &mut Hashes<'_>,
        mut answers: Answers<'_>,
    ) -> usize {
        let mut count = 0;
        for_each_prefetched(
            hashes,
            0,
            |mixed| mixed,
            |position, mixed| {
                let found = self.contains(mixed);
                answers.set(position, found.then_some(0));
                count += usize::from(found);
            },
        );
        count
    }

    /// As `contains_each`, with a value of each item that was found.
    fn get_each(&self, len: usize, hashes: &mut Hashes<'_>, answers: Answers<'_>) -> usize;

    /// As `remove_each` of sets, with a value for each item.
    fn remove_each(
        &self,
        hashes: &mut Hashes<'_>,
        values: &[u16],
        removed: &mut [bool],
        count: &mut usize,
    );
}

impl<E: Mappable> Engine for Mapped<E> {}
impl<E: Mappable> Permanent for Mapped<E> {}

impl<E: Mappable> Storage for Mapped<E> {
    const NAME: &'static str = E::Store::NAME;
    const DEFAULT_VALUE_BITS: Option<u32> = Some(DEFAULT_VALUE_BITS);

    fn build(options: &Options) -> Result<Self, BuildError> {
        E::Store::build(options).map(Self)
    }

    fn try_clone(&self) -> Result<(Self, u64), BuildError> {
        self.0.try_clone().map(|(store, occupied)| (Self(store), occupied))
    }

    fn clear(&self) -> u64 {
        self.0.clear()
    }

    fn segments(&self) -> impl ExactSizeIterator<Item = Segment> {
        self.0.segments()
    }

    fn len(&self, counted: i64) -> i64 {
        self.0.len(counted)
    }

    fn capacity(&self) -> usize {
        self.0.capacity()
    }

    fn false_positive_rate(&self) -> f64 {
        self.0.false_positive_rate()
    }

    fn size_in_bytes(&self) -> usize {
        self.0.size_in_bytes()
    }

    fn stripes(&self) -> usize {
        self.0.stripes()
    }

    fn kernel(&self) -> Kernel {
        self.0.kernel()
    }

    #[cfg(feature = "stats")]
    fn stats(&self) -> crate::Stats {
        self.0.stats()
    }
}

impl<E: Mappable<Store: Growth>> Growth for Mapped<E> {
    fn target(&self) -> f64 {
        self.0.target()
    }

    fn next_growth(&self) -> Option<usize> {
        self.0.next_growth()
    }

    fn set_max_bytes(&self, max_bytes: usize) {
        self.0.set_max_bytes(max_bytes);
    }

    fn shrink_to_fit(&mut self) -> usize {
        self.0.shrink_to_fit()
    }
}

impl<E: Mappable> Merging for Mapped<E> {
    fn merge(&self, other: &Self) -> Merged {
        self.0.merge(&other.0)
    }
}

#[cfg(feature = "std")]
impl<E: Mappable> Saved for Mapped<E> {
    const KIND: u8 = E::Store::KIND;

    fn form(&self) -> Form {
        self.0.form()
    }

    fn copy_words(&self) -> Option<(Form, PerSegment<Vec<u64>>)> {
        self.0.copy_words()
    }

    fn words(&self) -> impl Iterator<Item = impl Words> + Clone {
        self.0.words()
    }

    fn check(form: &Form) -> Result<(), LoadError> {
        E::Store::check(form)
    }

    fn min_fingerprint(form: &Form, number: usize) -> u32 {
        E::Store::min_fingerprint(form, number)
    }

    fn restore(form: &Form, segments: PerSegment<Buckets>) -> Option<Self> {
        E::Store::restore(form, segments).map(Self)
    }
}
