//! The error codes, and how the library's errors become codes.

use core::ffi::{CStr, c_char, c_int};
use std::io;

use guira_rs::{BuildError, InsertError, LoadError, MergeError};

/// What went wrong. An error changes nothing, unless the function says otherwise.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// A pointer is null that must not be null.
    Null = -1,
    /// A pointer is not aligned to its type, a length exceeds the address space, or a burst has
    /// more than 64 items.
    Argument = -2,
    /// The field `size` of a struct is too small or implausible: initialize the struct by its
    /// `_INIT` macro. Or a field is set that this release does not know.
    StructSize = -3,
    /// The capacity is zero or too large.
    Capacity = -4,
    /// The false-positive rate is not above 0 and below 1, or lower than is possible.
    Rate = -5,
    /// Another parameter has an impossible value, or needs `growing`, or `max_bytes` is too low for
    /// the first segment.
    Setting = -6,
    /// The system refused the memory. If an insert returns it: that of another segment, without
    /// which there is no room.
    NoMemory = -7,
    /// The item was not inserted: no empty slot is within reach, and the object may not grow.
    Full = -8,
    /// The item was not inserted: its buckets hold too many copies of it already, or as many as
    /// `max_copies` allows.
    TooManyCopies = -9,
    /// The value has more bits than the values of the map.
    ValueTooLarge = -10,
    /// The number of generations is not in 1 to the window.
    Life = -11,
    /// The file could not be read or written. On Linux and macOS, `errno` tells why.
    Io = -12,
    /// A callback returned an error.
    Callback = -13,
    /// The bytes are not a snapshot.
    NotASnapshot = -14,
    /// A later release made the snapshot.
    UnknownVersion = -15,
    /// The snapshot is of another type of object.
    OtherType = -16,
    /// The items of the snapshot were hashed by another hasher. (This library uses
    /// `StableHashBuilder::with_seed` of the Rust crate.)
    OtherHasher = -17,
    /// The bytes end before the snapshot does.
    Truncated = -18,
    /// The snapshot is damaged, or more bytes follow it in its file.
    Damaged = -19,
    /// The objects differ in layout, size or seed, so they cannot be merged.
    Mismatch = -20,
    /// The object does not grow, so it cannot shrink.
    NotGrowing = -21,
    /// A panic inside the library, which is a defect. A message was printed to standard error. The
    /// object remains usable, and may have changed.
    Panic = -22,
}

impl Error {
    /// All codes, in the order of their values: -1, -2, ...
    const ALL: [Self; 22] = [
        Self::Null,
        Self::Argument,
        Self::StructSize,
        Self::Capacity,
        Self::Rate,
        Self::Setting,
        Self::NoMemory,
        Self::Full,
        Self::TooManyCopies,
        Self::ValueTooLarge,
        Self::Life,
        Self::Io,
        Self::Callback,
        Self::NotASnapshot,
        Self::UnknownVersion,
        Self::OtherType,
        Self::OtherHasher,
        Self::Truncated,
        Self::Damaged,
        Self::Mismatch,
        Self::NotGrowing,
        Self::Panic,
    ];

    fn text(self) -> &'static CStr {
        match self {
            Self::Null => c"a pointer is null that must not be null",
            Self::Argument => c"a pointer is not aligned, or a length is too large",
            Self::StructSize => c"the size of a struct is wrong, or an unknown field is set",
            Self::Capacity => c"the capacity is zero or too large",
            Self::Rate => c"the false-positive rate is invalid or cannot be met",
            Self::Setting => c"a parameter has an impossible value",
            Self::NoMemory => c"the system refused the memory",
            Self::Full => c"no empty slot is within reach, and the object may not grow",
            Self::TooManyCopies => c"there are too many copies of the item",
            Self::ValueTooLarge => c"the value has more bits than the values of the map",
            Self::Life => c"an item lives for at least one generation and at most the window",
            Self::Io => c"the file could not be read or written",
            Self::Callback => c"a callback returned an error",
            Self::NotASnapshot => c"the bytes are not a snapshot",
            Self::UnknownVersion => c"a later release made the snapshot",
            Self::OtherType => c"the snapshot is of another type of object",
            Self::OtherHasher => c"the items of the snapshot were hashed by another hasher",
            Self::Truncated => c"the snapshot is truncated",
            Self::Damaged => c"the snapshot is damaged",
            Self::Mismatch => c"the objects differ in layout, size or seed",
            Self::NotGrowing => c"the object does not grow, so it cannot shrink",
            Self::Panic => c"a panic inside the library",
        }
    }
}

/// Returns a text for a code, in English. It is never null and is valid forever. A number that is
/// not negative is no error.
///
/// Threads: any.
#[unsafe(no_mangle)]
pub extern "C" fn guira_strerror(code: c_int) -> *const c_char {
    let text = match code {
        0.. => c"no error",
        _ => match Error::ALL.get(code.unsigned_abs() as usize - 1) {
            Some(error) => error.text(),
            None => c"an unknown error",
        },
    };
    text.as_ptr()
}

impl From<InsertError> for Error {
    fn from(error: InsertError) -> Self {
        match error {
            InsertError::TooManyCopies => Self::TooManyCopies,
            InsertError::ValueTooLarge => Self::ValueTooLarge,
            InsertError::InvalidLife => Self::Life,
            InsertError::OutOfMemory => Self::NoMemory,
            _ => Self::Full,
        }
    }
}

impl From<BuildError> for Error {
    fn from(error: BuildError) -> Self {
        match error {
            BuildError::NoCapacity
            | BuildError::ZeroCapacity
            | BuildError::CapacityTooLarge { .. } => Self::Capacity,
            BuildError::OutOfMemory { .. } => Self::NoMemory,
            BuildError::InvalidRate(_)
            | BuildError::RateTooLow { .. }
            | BuildError::LayoutMissesRate { .. } => Self::Rate,
            _ => Self::Setting,
        }
    }
}

impl From<MergeError> for Error {
    fn from(error: MergeError) -> Self {
        match error {
            MergeError::Full { .. } => Self::Full,
            MergeError::TooManyCopies => Self::TooManyCopies,
            MergeError::OutOfMemory { .. } => Self::NoMemory,
            _ => Self::Mismatch,
        }
    }
}

impl From<LoadError> for Error {
    fn from(error: LoadError) -> Self {
        match error {
            LoadError::Io(error) => error.into(),
            LoadError::NotASnapshot => Self::NotASnapshot,
            LoadError::UnknownVersion(_)
            | LoadError::UnknownKind(_)
            | LoadError::UnknownLayout { .. } => Self::UnknownVersion,
            LoadError::OtherKind { .. } => Self::OtherType,
            LoadError::OtherHasher => Self::OtherHasher,
            LoadError::OutOfMemory { .. } => Self::NoMemory,
            LoadError::Truncated { .. } => Self::Truncated,
            _ => Self::Damaged,
        }
    }
}

impl From<io::Error> for Error {
    /// Sets `errno` for an error of a file.
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::OutOfMemory && error.raw_os_error().is_none() {
            return Self::NoMemory;
        }
        set_errno(error.raw_os_error().unwrap_or(match error.kind() {
            io::ErrorKind::InvalidInput => libc::EINVAL,
            _ => libc::EIO,
        }));
        Self::Io
    }
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
fn set_errno(code: c_int) {
    #[cfg(target_os = "linux")]
    use libc::__errno_location as location;
    #[cfg(target_os = "macos")]
    use libc::__error as location;
    // SAFETY: the pointer leads to the `errno` of this thread.
    unsafe { *location() = code };
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn set_errno(_: c_int) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_the_negative_positions() {
        for (at, code) in Error::ALL.into_iter().enumerate() {
            assert_eq!(code as i32, -1 - at as i32);
        }
    }
}
