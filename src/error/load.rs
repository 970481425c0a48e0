//! What can be wrong with a snapshot.

use core::{error::Error, fmt};
use std::io;

/// Why a snapshot could not be loaded.
///
/// ```
/// use guira::{CuckooFilter, LoadError};
///
/// let mut bytes = CuckooFilter::with_capacity(1_000).to_bytes();
/// assert!(matches!(CuckooFilter::from_bytes(&bytes[..99]), Err(LoadError::Truncated { .. })));
/// bytes[99] ^= 1;
/// assert!(matches!(CuckooFilter::from_bytes(&bytes), Err(LoadError::DamagedBuckets)));
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum LoadError {
    /// Reading failed; the [source](Error::source) says why.
    Io(io::Error),
    /// The bytes do not begin as a snapshot does.
    NotASnapshot,
    /// The snapshot is of a version that this release does not know.
    UnknownVersion(u32),
    /// The header, its first 64 bytes, is not as it was written.
    DamagedHeader,
    /// The layout is none that this release knows.
    #[non_exhaustive]
    UnknownLayout {
        /// 0 plain, 1 semi-sorted.
        family: u8,
        /// Lanes of a bucket.
        lanes: u8,
        /// Bits of a fingerprint.
        bits: u8,
    },
    /// A field of the header has a value that no filter has.
    #[non_exhaustive]
    InvalidField {
        /// Which field.
        name: &'static str,
        /// The value.
        value: u64,
    },
    /// The items were hashed by another hasher, or by one with another seed.
    OtherHasher,
    /// The system refused the memory.
    #[non_exhaustive]
    OutOfMemory {
        /// How many bytes of buckets the snapshot has.
        bytes: u64,
    },
    /// The bytes end too soon.
    #[non_exhaustive]
    Truncated {
        /// How many there were.
        received: u64,
    },
    /// There are more bytes than the snapshot's own.
    #[non_exhaustive]
    TrailingBytes {
        /// How many more.
        more: u64,
    },
    /// The buckets are not as they were written.
    DamagedBuckets,
    /// The buckets are as they were written, but not by this library.
    InvalidBuckets,
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // What went wrong is the source's to say.
            Self::Io(_) => f.write_str("the snapshot could not be read"),
            Self::NotASnapshot => f.write_str("this is no snapshot of a filter"),
            Self::UnknownVersion(version) => {
                write!(f, "the snapshot is of version {version}, which this release does not know")
            }
            Self::DamagedHeader => f.write_str("the snapshot's header is damaged"),
            Self::UnknownLayout { family, lanes, bits } => write!(
                f,
                "the snapshot has a layout that this release does not know: family {family}, {lanes} lanes \
                 of {bits} bits"
            ),
            Self::InvalidField { name, value } => {
                write!(f, "the snapshot's header is invalid: {name} {value}")
            }
            Self::OtherHasher => f.write_str(
                "the items of the snapshot were hashed by another hasher, or another seed",
            ),
            Self::OutOfMemory { bytes } => write!(f, "the system refused {bytes} bytes of memory"),
            Self::Truncated { received } => {
                write!(f, "the snapshot is truncated: it ends after {received} bytes")
            }
            Self::TrailingBytes { more } => {
                write!(f, "{more} bytes follow the snapshot")
            }
            Self::DamagedBuckets => f.write_str("the snapshot's buckets are damaged"),
            Self::InvalidBuckets => f.write_str("the snapshot's buckets are invalid"),
        }
    }
}

impl Error for LoadError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            _ => None,
        }
    }
}

impl From<io::Error> for LoadError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}
