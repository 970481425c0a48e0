//! The layouts by name: what a user chooses.

use super::{Leveled, Slots};

/// How a bucket of 64 bits is divided: slots × bits of a fingerprint.
///
/// More bits make false positives rarer. More slots let the table be filled further. *Semi-sorted*
/// layouts store one or two more bits per fingerprint than plain layouts with the same number of
/// slots. So they have a half to a quarter of the false positives (Fan et al. 2014, section 5.2),
/// and take some more instructions to find, insert and remove an item. Given a target
/// false-positive rate and no layout, the builder takes the layout with the fewest bits per item
/// that meets the target.
///
/// The slots of *valued* layouts, which only maps and expiring filters have, are divided once more,
/// between a fingerprint and a value: see [`with_values`](Self::with_values).
///
/// *Growing* layouts, which only filters that grow have, leave 4 bits of a bucket to count its
/// splits, and a slot holds a fingerprint that gets shorter: see [`GROWING`](Self::GROWING) and
/// [`growing`](Self::growing).
///
/// ```
/// use guira::Layout;
///
/// assert_eq!(Layout::Plain5x12.slots_per_bucket(), 5);
/// assert_eq!(Layout::Plain5x12.fingerprint_bits(), 12);
/// assert!(Layout::Plain5x12.false_positive_rate() < 0.0025);
/// assert!(Layout::SemiSorted5x14.false_positive_rate() < 0.0007);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Layout {
    /// 8 slots of 8 bits: 8.1 bits per item, 6.1 % false positives.
    Plain8x8,
    /// 6 slots of 10 bits: 10.9 bits per item, 1.2 % false positives.
    Plain6x10,
    /// 5 slots of 12 bits: 13.2 bits per item, 0.24 % false positives.
    Plain5x12,
    /// 4 slots of 16 bits: 16.7 bits per item, 0.012 % false positives. The default.
    Plain4x16,
    /// 6 slots of 12 bits, semi-sorted: 10.9 bits per item, 0.29 % false positives.
    SemiSorted6x12,
    /// 5 slots of 14 bits, semi-sorted: 13.2 bits per item, 0.061 % false positives.
    SemiSorted5x14,
    /// 4 slots of 17 bits, semi-sorted: 16.7 bits per item, 0.0061 % false positives.
    SemiSorted4x17,
    /// 3 slots of 22 bits, semi-sorted: 22.9 bits per item, 0.00014 % false positives.
    SemiSorted3x22,
    /// 6 slots of 10 bits, of which the last `value_bits` are a value.
    #[non_exhaustive]
    Valued6x10 {
        /// Bits of a value, at most 2.
        value_bits: u8,
    },
    /// 5 slots of 12 bits, of which the last `value_bits` are a value.
    #[non_exhaustive]
    Valued5x12 {
        /// Bits of a value, at most 4.
        value_bits: u8,
    },
    /// 4 slots of 16 bits, of which the last `value_bits` are a value.
    #[non_exhaustive]
    Valued4x16 {
        /// Bits of a value, at most 8.
        value_bits: u8,
    },
    /// 3 slots of 21 bits, of which the last `value_bits` are a value.
    #[non_exhaustive]
    Valued3x21 {
        /// Bits of a value, at most 13.
        value_bits: u8,
    },
    /// 2 slots of 32 bits, of which the last `value_bits` are a value.
    #[non_exhaustive]
    Valued2x32 {
        /// Bits of a value, at most 16.
        value_bits: u8,
    },
    /// 5 slots of 12 bits, in sets that grow: up to 11 bits of a fingerprint (a core of 6 bits, a
    /// tail of up to 5) and a marker. 15.6 bits per item up to 5 doublings, 19.8
    /// after 15. 0.4 % false positives at first, 0.7 % after one doubling, 4.5 % after 15.
    Growing5x12,
    /// 4 slots of 15 bits, in sets that grow: up to 14 bits of a fingerprint (a core of 7 bits, a
    /// tail of up to 7) and a marker. 20.0 bits per item up to 7 doublings, 20.9
    /// after 15. 0.04 % false positives at first, 0.34 % after 10 doublings, 0.48 % after 15.
    Growing4x15,
    /// 3 slots of 20 bits, in sets that grow: up to 19 bits of a fingerprint (a core of 8 bits, a
    /// tail of up to 11) and a marker. 26.7 bits per item. 0.0009 % false positives
    /// at first, 0.008 % after 10 doublings, 0.012 % after 15.
    Growing3x20,
    /// 2 slots of 30 bits, in sets that grow: up to 29 bits of a fingerprint (a core of 8 bits, a
    /// tail of up to 21) and a marker. 43.1 bits per item. 0.6 false positives in
    /// 100 million at first, 5 after 10 doublings, 7 after 15.
    Growing2x30,
    /// 5 slots of 12 bits, in maps and expiring filters that grow: as [`Growing5x12`], with a value
    /// in place of the last bits of the tail.
    ///
    /// [`Growing5x12`]: Self::Growing5x12
    #[non_exhaustive]
    GrowingValued5x12 {
        /// Bits of a value, at most 2.
        value_bits: u8,
    },
    /// 4 slots of 15 bits, in maps and expiring filters that grow.
    #[non_exhaustive]
    GrowingValued4x15 {
        /// Bits of a value, at most 4.
        value_bits: u8,
    },
    /// 3 slots of 20 bits, in maps and expiring filters that grow.
    #[non_exhaustive]
    GrowingValued3x20 {
        /// Bits of a value, at most 8.
        value_bits: u8,
    },
    /// 2 slots of 30 bits, in maps and expiring filters that grow.
    #[non_exhaustive]
    GrowingValued2x30 {
        /// Bits of a value, at most 16.
        value_bits: u8,
    },
}

/// Fewest bits of the longest tail beside a value. With 3, half of the occupied slots are ghosts
/// after 10 doublings, and with 2, six of seven.
const MIN_TAIL_BESIDE_VALUE: u32 = 3;

/// Fewest bits of a fingerprint beside a value. With shorter ones, tables fill badly.
const MIN_BITS_BESIDE_VALUE: u32 = 8;

/// Largest number of bits of a value.
pub(crate) const MAX_VALUE_BITS: u32 = 16;

impl Layout {
    /// The layout of a filter for which the user chose neither layout nor target rate.
    pub(crate) const DEFAULT: Self = Self::Plain4x16;

    /// All layouts without values: the plain ones, then the semi-sorted ones, each from the
    /// shortest fingerprint to the longest.
    ///
    /// ```
    /// use guira::Layout;
    ///
    /// let fits = |layout: &&Layout| layout.false_positive_rate() < 0.001;
    /// let shortest = Layout::ALL.iter().filter(fits).min_by_key(|each| each.fingerprint_bits());
    /// assert_eq!(shortest, Some(&Layout::SemiSorted5x14));
    /// ```
    pub const ALL: &'static [Layout] = &[
        Layout::Plain8x8,
        Layout::Plain6x10,
        Layout::Plain5x12,
        Layout::Plain4x16,
        Layout::SemiSorted6x12,
        Layout::SemiSorted5x14,
        Layout::SemiSorted4x17,
        Layout::SemiSorted3x22,
    ];

    /// All layouts of a [`GrowingFilter`](crate::GrowingFilter), from the shortest fingerprint to
    /// the longest. No other filter has them.
    ///
    /// ```
    /// use guira::{BuildError, CuckooFilter, Layout};
    ///
    /// for &layout in Layout::GROWING {
    ///     let fixed = CuckooFilter::builder().capacity(1_000).layout(layout).build();
    ///     assert!(matches!(fixed, Err(BuildError::LayoutUnsuitable { .. })));
    /// }
    /// ```
    pub const GROWING: &'static [Layout] =
        &[Layout::Growing5x12, Layout::Growing4x15, Layout::Growing3x20, Layout::Growing2x30];

    /// Returns the layout whose slots hold a fingerprint and a value of `value_bits` bits, or
    /// `None` if there is none. Such layouts have 2 to 6 slots per bucket, values of 0 to 16 bits,
    /// and fingerprints of at least 8 bits.
    ///
    /// A slot has 64 / (slots per bucket) bits, rounded down. The value takes the last of these
    /// bits, and the fingerprint the others.
    ///
    /// ```
    /// use guira::Layout;
    ///
    /// let layout = Layout::with_values(4, 4).unwrap();
    /// assert_eq!((layout.fingerprint_bits(), layout.value_bits()), (12, 4));
    /// assert!((layout.false_positive_rate() - 0.002).abs() < 0.000_1);
    /// assert_eq!(Layout::with_values(4, 9), None); // 7 bits are left for the fingerprint
    /// ```
    #[must_use]
    pub const fn with_values(slots_per_bucket: u32, value_bits: u32) -> Option<Self> {
        if value_bits > MAX_VALUE_BITS {
            return None;
        }
        let bits = value_bits as u8;
        let layout = match slots_per_bucket {
            2 => Self::Valued2x32 { value_bits: bits },
            3 => Self::Valued3x21 { value_bits: bits },
            4 => Self::Valued4x16 { value_bits: bits },
            5 => Self::Valued5x12 { value_bits: bits },
            6 => Self::Valued6x10 { value_bits: bits },
            _ => return None,
        };
        if layout.slots_and_bits().1 < value_bits + MIN_BITS_BESIDE_VALUE {
            None
        } else {
            Some(layout)
        }
    }

    /// The layouts of maps and expiring filters that grow, with values of this many bits.
    pub(crate) fn growing_with_values(value_bits: u32) -> impl Iterator<Item = Self> + Clone {
        (2..=5).rev().filter_map(move |slots| Self::growing(slots, value_bits))
    }

    /// Returns the layout of filters that grow whose slots hold a fingerprint and a value of
    /// `value_bits` bits, or `None` if there is none. Such layouts have 2 to 5 slots per bucket, of
    /// 60 / (slots per bucket) bits: values of up to 2, 4, 8, and 16 bits with 5, 4, 3, and 2
    /// slots.
    ///
    /// ```
    /// use guira::Layout;
    ///
    /// let layout = Layout::growing(3, 4).unwrap();
    /// assert_eq!((layout.fingerprint_bits(), layout.value_bits()), (15, 4));
    /// assert_eq!(Layout::growing(4, 8), None);
    /// ```
    #[must_use]
    pub const fn growing(slots_per_bucket: u32, value_bits: u32) -> Option<Self> {
        if value_bits > MAX_VALUE_BITS {
            return None;
        }
        let bits = value_bits as u8;
        let (without, layout) = match slots_per_bucket {
            2 => (Self::Growing2x30, Self::GrowingValued2x30 { value_bits: bits }),
            3 => (Self::Growing3x20, Self::GrowingValued3x20 { value_bits: bits }),
            4 => (Self::Growing4x15, Self::GrowingValued4x15 { value_bits: bits }),
            5 => (Self::Growing5x12, Self::GrowingValued5x12 { value_bits: bits }),
            _ => return None,
        };
        match without.leveled() {
            Some(Leveled { max_tail, .. }) if max_tail >= value_bits + MIN_TAIL_BESIDE_VALUE => {
                Some(layout)
            }
            _ => None,
        }
    }

    /// The numbers of a layout whose buckets split, or `None` if it is not one of filters that
    /// grow.
    pub(crate) const fn leveled(self) -> Option<Leveled> {
        match self {
            Self::Growing5x12 => Some(Leveled::new(5, 6, 0)),
            Self::Growing4x15 => Some(Leveled::new(4, 7, 0)),
            Self::Growing3x20 => Some(Leveled::new(3, 8, 0)),
            Self::Growing2x30 => Some(Leveled::new(2, 8, 0)),
            Self::GrowingValued5x12 { value_bits } => Some(Leveled::new(5, 6, value_bits as u32)),
            Self::GrowingValued4x15 { value_bits } => Some(Leveled::new(4, 7, value_bits as u32)),
            Self::GrowingValued3x20 { value_bits } => Some(Leveled::new(3, 8, value_bits as u32)),
            Self::GrowingValued2x30 { value_bits } => Some(Leveled::new(2, 8, value_bits as u32)),
            _ => None,
        }
    }

    /// The slots of a bucket, and the bits of a fingerprint and its value.
    const fn slots_and_bits(self) -> (u32, u32) {
        match self {
            Self::Plain8x8 => (8, 8),
            Self::Plain6x10 | Self::Valued6x10 { .. } => (6, 10),
            Self::Plain5x12 | Self::Valued5x12 { .. } => (5, 12),
            Self::Plain4x16 | Self::Valued4x16 { .. } => (4, 16),
            Self::Valued3x21 { .. } => (3, 21),
            Self::Valued2x32 { .. } => (2, 32),
            Self::SemiSorted6x12 => (6, 12),
            Self::SemiSorted5x14 => (5, 14),
            Self::SemiSorted4x17 => (4, 17),
            Self::SemiSorted3x22 => (3, 22),
            _ => match self.leveled() {
                // The marker takes one bit.
                Some(Leveled { slots, width, .. }) => (slots, width - 1),
                None => unreachable!(),
            },
        }
    }

    /// The constants of the words of a table of a fixed size.
    ///
    /// # Panics
    /// If this is a layout of filters that grow.
    #[must_use]
    #[doc(hidden)]
    pub fn slots(self) -> Slots {
        assert!(self.leveled().is_none(), "not a layout of a fixed size");
        let (slots, bits) = self.slots_and_bits();
        if self.is_semi_sorted() {
            Slots::semi_sorted(slots, bits)
        } else {
            Slots::plain(slots, bits, self.value_bits())
        }
    }

    /// Returns the number of bits of a value: zero unless the layout is a valued one.
    ///
    /// ```
    /// assert_eq!(guira::Layout::Plain4x16.value_bits(), 0);
    /// assert_eq!(guira::Layout::with_values(3, 8).unwrap().value_bits(), 8);
    /// ```
    #[must_use]
    pub const fn value_bits(self) -> u32 {
        match self.valued() {
            Some(bits) => bits,
            None => 0,
        }
    }

    /// The bits of a value, if the layout is a valued one.
    pub(crate) const fn valued(self) -> Option<u32> {
        match self {
            Self::Valued6x10 { value_bits }
            | Self::Valued5x12 { value_bits }
            | Self::Valued4x16 { value_bits }
            | Self::Valued3x21 { value_bits }
            | Self::Valued2x32 { value_bits }
            | Self::GrowingValued5x12 { value_bits }
            | Self::GrowingValued4x15 { value_bits }
            | Self::GrowingValued3x20 { value_bits }
            | Self::GrowingValued2x30 { value_bits } => Some(value_bits as u32),
            _ => None,
        }
    }

    /// Returns the number of slots in a bucket.
    ///
    /// ```
    /// assert_eq!(guira::Layout::Plain6x10.slots_per_bucket(), 6);
    /// ```
    #[must_use]
    pub const fn slots_per_bucket(self) -> u32 {
        self.slots_and_bits().0
    }

    /// Returns the number of bits of a fingerprint: of the longest, if the filter grows. There it
    /// consists of a core and a tail, which gets shorter.
    ///
    /// ```
    /// assert_eq!(guira::Layout::Plain6x10.fingerprint_bits(), 10);
    /// ```
    #[must_use]
    pub const fn fingerprint_bits(self) -> u32 {
        self.slots_and_bits().1 - self.value_bits()
    }

    /// Returns whether the fingerprints are semi-sorted.
    ///
    /// ```
    /// use guira::Layout;
    ///
    /// assert!(Layout::SemiSorted6x12.is_semi_sorted() && !Layout::Plain6x10.is_semi_sorted());
    /// ```
    #[must_use]
    pub const fn is_semi_sorted(self) -> bool {
        matches!(
            self,
            Self::SemiSorted6x12
                | Self::SemiSorted5x14
                | Self::SemiSorted4x17
                | Self::SemiSorted3x22
        )
    }
}

#[cfg(test)]
mod tests {
    use super::Layout;

    #[test]
    fn names_match_types() {
        for &layout in Layout::ALL {
            let (slots, bits) = (layout.slots_per_bucket(), layout.fingerprint_bits());
            let family = if layout.is_semi_sorted() { "SemiSorted" } else { "Plain" };
            assert_eq!(format!("{layout:?}"), format!("{family}{slots}x{bits}"));
        }
        for &layout in Layout::GROWING {
            let (slots, bits) = (layout.slots_per_bucket(), layout.fingerprint_bits() + 1);
            assert_eq!(format!("{layout:?}"), format!("Growing{slots}x{bits}"));
            assert_eq!((layout.valued(), layout.is_semi_sorted()), (None, false));
            assert_eq!(slots * bits, 60, "4 bits are left for the level");
        }
    }
}
