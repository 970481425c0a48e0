//! Any error of the crate.

use core::{error, fmt};

#[cfg(feature = "std")]
use crate::LoadError;
use crate::{BuildError, InsertBatchError, InsertError, MergeError};

/// Any error of this crate, for functions that meet several: each of them converts into it by `?`.
/// Its text and its source are those of the error.
///
/// ```
/// fn dedupe(keys: &[&str]) -> Result<usize, guira::Error> {
///     let seen = guira::CuckooFilter::builder().capacity(keys.len()).build()?;
///     let mut fresh = 0;
///     for key in keys {
///         fresh += usize::from(seen.insert_unique(key)?.is_new());
///     }
///     Ok(fresh)
/// }
///
/// assert_eq!(dedupe(&["ani", "guira", "ani"]).unwrap(), 2);
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A filter was not built.
    Build(BuildError),
    /// An item was not inserted.
    Insert(InsertError),
    /// Some items of a batch were not inserted.
    InsertBatch(InsertBatchError),
    /// A filter was not merged into another one.
    Merge(MergeError),
    /// A snapshot was not loaded.
    #[cfg(feature = "std")]
    Load(LoadError),
    /// A snapshot was not saved.
    #[cfg(feature = "std")]
    Save(std::io::Error),
}

/// The conversions, and what is passed on to the error.
macro_rules! errors {
    ($($(#[$std:meta])? $variant:ident($error:ty),)*) => {
        $($(#[$std])?
        impl From<$error> for Error {
            fn from(error: $error) -> Self {
                Self::$variant(error)
            }
        })*

        impl fmt::Display for Error {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $($(#[$std])? Self::$variant(error) => error.fmt(f),)*
                }
            }
        }

        impl error::Error for Error {
            fn source(&self) -> Option<&(dyn error::Error + 'static)> {
                match self {
                    $($(#[$std])? Self::$variant(error) => error.source(),)*
                }
            }
        }
    };
}

errors! {
    Build(BuildError),
    Insert(InsertError),
    InsertBatch(InsertBatchError),
    Merge(MergeError),
    #[cfg(feature = "std")]
    Load(LoadError),
    #[cfg(feature = "std")]
    Save(std::io::Error),
}
