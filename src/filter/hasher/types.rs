//! Types of keys by the way in which they are hashed, and how two hashers differ in them.

use core::{
    fmt,
    ops::{BitOr, Sub},
};

use super::check::{HasherChecks, TYPES};

/// Types of keys, by the way in which the standard library hashes them: a set of the eight below.
///
/// What is hashed is up to the `Hash` of each type, and the standard library has changed some of
/// them, such as that of IP addresses. A snapshot of keys of such a type then has other hashes than
/// the same keys get now. [`LoadError::OtherHashes`](crate::LoadError::OtherHashes) names these
/// types, and [`Loader::ignore_types`](crate::Loader::ignore_types) says which of them no key of
/// the filter has. A type of yours that derives `Hash` is hashed as its fields are.
///
/// ```
/// use guira::KeyTypes;
///
/// let types = KeyTypes::ADDRESSES | KeyTypes::PATHS;
/// assert_eq!(types.to_string(), "IP addresses or paths");
/// assert_eq!(types - KeyTypes::PATHS, KeyTypes::ADDRESSES);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KeyTypes(u8);

impl KeyTypes {
    /// Integers of a fixed width.
    pub const INTEGERS: Self = Self(1);
    /// `str` and `String`.
    pub const TEXTS: Self = Self(1 << 1);
    /// `usize`, and slices, arrays and vectors, which are hashed with their length. Those of
    /// integers are hashed as they are in memory, so these differ with the byte order.
    pub const SLICES: Self = Self(1 << 2);
    /// Tuples, and structs that derive `Hash`.
    pub const TUPLES: Self = Self(1 << 3);
    /// `Option`, `Result`, `Ordering`, and enums that derive `Hash`.
    pub const ENUMS: Self = Self(1 << 4);
    /// `char` and `bool`.
    pub const CHARS: Self = Self(1 << 5);
    /// IP addresses and socket addresses.
    pub const ADDRESSES: Self = Self(1 << 6);
    /// `Path` and `PathBuf`. They differ between operating systems.
    pub const PATHS: Self = Self(1 << 7);
    /// All of them: of a filter whose keys are [`Hashed`](crate::Hashed).
    pub const ALL: Self = Self(u8::MAX);

    pub(in crate::filter) const NONE: Self = Self(0);
    /// The names of the types, in the order of their bits.
    const NAMES: [&str; TYPES] =
        ["integers", "texts", "slices", "tuples", "enums", "characters", "IP addresses", "paths"];

    pub(in crate::filter) const fn is_empty(self) -> bool {
        self.0 == Self::NONE.0
    }
}

impl Sub for KeyTypes {
    type Output = Self;

    /// Those of these types that are not in the other set.
    fn sub(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

impl BitOr for KeyTypes {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl fmt::Display for KeyTypes {
    /// Lists the names of the types.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = || {
            (0..).zip(Self::NAMES).filter(|(bit, _)| self.0 >> bit & 1 == 1).map(|(_, name)| name)
        };
        let last = names().count().saturating_sub(1);
        names().enumerate().try_for_each(|(nth, name)| match nth {
            0 => f.write_str(name),
            nth if nth == last => write!(f, " or {name}"),
            _ => write!(f, ", {name}"),
        })
    }
}

impl HasherChecks {
    /// The types of which the values have other hashes.
    pub(in crate::filter) fn differences(&self, other: &Self) -> KeyTypes {
        let differs = |bit: &usize| self.0[*bit] != other.0[*bit];
        (0..TYPES).filter(differs).map(|bit| KeyTypes(1 << bit)).fold(KeyTypes::NONE, BitOr::bitor)
    }
}
