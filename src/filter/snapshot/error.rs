//! The errors of loading a snapshot.

use core::{error::Error, fmt};
use std::{io, path::PathBuf};

use crate::{KeyTypes, error::texts};

/// Why a snapshot could not be loaded.
///
/// ```
/// use guira::{CuckooFilter, LoadError};
///
/// let bytes = CuckooFilter::with_capacity(1_000).to_bytes();
/// assert!(matches!(CuckooFilter::loader().bytes(&bytes[..99]), Err(LoadError::Truncated { .. })));
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum LoadError {
    /// Reading failed. The text has the cause. If the loader opened a file, it has the path, too,
    /// and the [source](Error::source) is the system's error.
    Io(io::Error),
    /// The bytes do not begin like a snapshot.
    NotASnapshot,
    /// The snapshot has a format version that this release does not know.
    UnknownVersion(u32),
    /// The header is damaged.
    DamagedHeader,
    /// The snapshot is of a kind of filter that this release does not know.
    #[non_exhaustive]
    UnknownKind {
        /// 0 for sets, 1 for maps, 2 for sets whose items expire.
        contents: u8,
        /// 0 for a fixed capacity, 1 for filters that grow.
        growth: u8,
    },
    /// The snapshot is of another kind of filter.
    #[non_exhaustive]
    OtherKind {
        /// The kind of filter that was saved.
        saved: &'static str,
        /// The kind of filter that was to be loaded.
        expected: &'static str,
    },
    /// The snapshot has a layout that this release does not know.
    #[non_exhaustive]
    UnknownLayout {
        /// 0 for plain, 1 for semi-sorted, 2 for plain with values, 3 for growing, 4 for growing
        /// with values.
        family: u8,
        /// Slots per bucket.
        slots: u8,
        /// Bits of a fingerprint.
        bits: u8,
        /// Bits of a value.
        value_bits: u8,
    },
    /// A field of the header has an impossible value.
    #[non_exhaustive]
    InvalidField {
        /// The name of the field.
        name: &'static str,
        /// The value.
        value: u64,
    },
    /// The items were hashed by another hasher, or with another seed.
    OtherHasher,
    /// The hasher is the same, but keys of these types have other hashes than when the snapshot was
    /// made, because the standard library hashes them in another way, or because the platform is
    /// another one. A filter with such keys would miss them. [`Loader::ignore_types`] accepts it
    /// for a filter without such keys.
    ///
    /// [`Loader::ignore_types`]: crate::Loader::ignore_types
    #[non_exhaustive]
    OtherHashes {
        /// The types.
        types: KeyTypes,
    },
    /// The filter has a clock of the caller, which the loader has not.
    NoClock,
    /// The loader has a clock, and the filter has none of the caller.
    UnexpectedClock,
    /// The buckets would take more bytes than the [loader](crate::Filter::loader) may use.
    #[non_exhaustive]
    LimitExceeded {
        /// The bytes of the snapshot's buckets.
        needed: u64,
        /// The limit of the loader.
        limit: u64,
    },
    /// The system refused the memory.
    #[non_exhaustive]
    OutOfMemory {
        /// The bytes of the snapshot's buckets.
        bytes: u64,
    },
    /// The bytes of a [view](crate::Loader::view) are not aligned to 8 bytes, as those of a mapped
    /// file are. Copy them to memory that is, or load them.
    Unaligned,
    /// The bytes end before the snapshot does.
    #[non_exhaustive]
    Truncated {
        /// The number of bytes that there were.
        received: u64,
    },
    /// More bytes follow the snapshot.
    #[non_exhaustive]
    TrailingBytes {
        /// The number of bytes that follow.
        more: u64,
    },
    /// The buckets are damaged: one of them is malformed, or a checksum is wrong.
    DamagedBuckets,
    /// The buckets are undamaged, but do not fit together or to the header: this library did not
    /// write them.
    InvalidBuckets,
}

texts! { LoadError:
    Self::Io(error) => "the snapshot could not be read: {error}";
    Self::NotASnapshot => "the bytes are not a snapshot of a filter: pass what was saved";
    Self::UnknownVersion(version) =>
        "the snapshot has format version {version}, which this release does not know: load it with \
        the release that made it";
    Self::DamagedHeader => "the snapshot's header is damaged: take another copy of it";
    Self::UnknownKind { contents, growth } =>
        "the snapshot is of a kind of filter (contents {contents}, growth {growth}) that this \
        release does not know: load it with a newer one";
    Self::OtherKind { saved, expected } =>
        "the snapshot is of the type {saved}, not {expected}: load it as {saved}";
    Self::UnknownLayout { family, slots, bits, value_bits } =>
        "the snapshot has a layout (family {family}, {slots} slots, fingerprints of {bits} bits, \
        values of {value_bits} bits) that this release does not know: load it with a newer one";
    Self::InvalidField { name, value } =>
        "the field `{name}` of the snapshot's header has the impossible value {value}: take a \
        snapshot that this library wrote";
    Self::NoClock =>
        "the filter reads a clock of the caller: pass it to the loader by `clock`";
    Self::UnexpectedClock =>
        "the filter reads no clock of the caller: leave `clock` out";
    Self::OtherHasher =>
        "the snapshot's items were hashed by another hasher or with another seed: pass theirs to \
        the loader's `hasher`";
    Self::OtherHashes { types } =>
        "keys that are {types} have other hashes than when the snapshot was made: insert such keys \
        again, or if there are none, pass these types to the loader's `ignore_types`";
    Self::LimitExceeded { needed, limit } =>
        "the snapshot's buckets take {needed} bytes, and the loader's `limit` is {limit}: raise it \
        if you trust the source";
    Self::OutOfMemory { bytes } =>
        "the system refused the memory for {bytes} bytes of buckets: free some, or take a `view`";
    Self::Unaligned =>
        "the snapshot does not begin at a multiple of 8 bytes: map its file, copy it to aligned \
        memory, or load it";
    Self::Truncated { received } =>
        "the snapshot is truncated and ends after {received} bytes: take all of it";
    Self::TrailingBytes { more } => "{more} bytes follow the snapshot: pass its own bytes only";
    Self::DamagedBuckets => "the snapshot's buckets are damaged: take another copy of it";
    Self::InvalidBuckets =>
        "the snapshot's buckets do not fit its header: take a snapshot that this library wrote";
}

impl Error for LoadError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            // The text of the error itself is part of this one's.
            Self::Io(error) => error.source(),
            _ => None,
        }
    }
}

impl From<io::Error> for LoadError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// An error of the system, with the path of the file, which that has not.
#[derive(Debug)]
pub(super) struct FileError {
    pub(super) path: PathBuf,
    pub(super) error: io::Error,
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.error)
    }
}

impl Error for FileError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.error)
    }
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;

    use super::{KeyTypes, LoadError};
    use crate::error::tests::{is_advice, says};

    #[test]
    fn errors_of_loads_say_what_to_do() {
        for error in [
            LoadError::NotASnapshot,
            LoadError::DamagedHeader,
            LoadError::OtherHasher,
            LoadError::NoClock,
            LoadError::UnexpectedClock,
            LoadError::Unaligned,
            LoadError::DamagedBuckets,
            LoadError::InvalidBuckets,
        ] {
            is_advice(&error);
        }
        says(
            &LoadError::Io(ErrorKind::NotFound.into()),
            "the snapshot could not be read: entity not found",
        );
        says(
            &LoadError::UnknownVersion(7),
            "the snapshot has format version 7, which this release does not know: load it with the \
             release that made it",
        );
        says(
            &LoadError::OtherHashes { types: KeyTypes::TEXTS | KeyTypes::ENUMS | KeyTypes::PATHS },
            "keys that are texts, enums or paths have other hashes than when the snapshot was \
             made: insert such keys again, or if there are none, pass these types to the loader's \
             `ignore_types`",
        );
        says(
            &LoadError::UnknownKind { contents: 3, growth: 1 },
            "the snapshot is of a kind of filter (contents 3, growth 1) that this release does not \
             know: load it with a newer one",
        );
        says(
            &LoadError::UnknownLayout { family: 5, slots: 4, bits: 9, value_bits: 2 },
            "the snapshot has a layout (family 5, 4 slots, fingerprints of 9 bits, values of 2 \
             bits) that this release does not know: load it with a newer one",
        );
        says(
            &LoadError::InvalidField { name: "words", value: 3 },
            "the field `words` of the snapshot's header has the impossible value 3: take a \
             snapshot that this library wrote",
        );
        says(
            &LoadError::LimitExceeded { needed: 900, limit: 80 },
            "the snapshot's buckets take 900 bytes, and the loader's `limit` is 80: raise it if \
             you trust the source",
        );
        says(
            &LoadError::OutOfMemory { bytes: 4_096 },
            "the system refused the memory for 4096 bytes of buckets: free some, or take a `view`",
        );
        says(
            &LoadError::Truncated { received: 99 },
            "the snapshot is truncated and ends after 99 bytes: take all of it",
        );
        says(
            &LoadError::TrailingBytes { more: 8 },
            "8 bytes follow the snapshot: pass its own bytes only",
        );
    }
}
