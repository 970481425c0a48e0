//! What functions return, and how the library's errors become that.

use core::ffi::{CStr, c_int};
use std::io;

use guira_rs::{BuildError, InsertError, LoadError, MergeError};

/// Defines the statuses, with the messages of `guira_status_message`.
macro_rules! statuses {
    ($($name:ident = $number:literal: $message:literal,)*) => {
        /// What a function returns.
        #[repr(C)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Status {
            $(#[doc = stringify!($message)] $name = $number,)*
        }

        impl Status {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// A text for people.
            pub fn message(self) -> &'static CStr {
                match self {
                    $(Self::$name => $message,)*
                }
            }
        }
    };
}

statuses! {
    Ok = 0: c"no error",
    ErrNull = 1: c"a pointer is null that must not be null",
    ErrArgument = 2: c"a pointer is not aligned, a stride is too small, or a length is too large",
    ErrStructSize = 3: c"the size of a struct is wrong, or an unknown field is set",
    ErrCapacity = 4: c"the capacity is zero or too large",
    ErrMaxCapacityTooLow = 5: c"the largest capacity is smaller than the capacity",
    ErrRate = 6: c"the false-positive rate is invalid or cannot be met",
    ErrSetting = 7: c"a parameter has an impossible value, or is not for this type",
    ErrNoMemory = 8: c"the system refused the memory",
    ErrFull = 9: c"no empty slot is within reach, and the object may not grow",
    ErrFullyGrown = 10: c"the object is full, and has grown as far as it may",
    ErrTooManyCopies = 11: c"there are too many copies of the item, or of others in its buckets",
    ErrValueTooLarge = 12: c"the value has more bits than the values of the map",
    ErrLife = 13: c"the life is too long, zero generations, or of the other kind",
    ErrIo = 14: c"the file could not be read or written",
    ErrCallback = 15: c"a callback returned an error",
    ErrNotASnapshot = 16: c"the bytes are not a snapshot",
    ErrUnknownVersion = 17: c"a later release made the snapshot",
    ErrOtherType = 18: c"the snapshot is of another type of object",
    ErrOtherHasher = 19: c"the items of the snapshot were hashed by another hasher",
    ErrTruncated = 20: c"the snapshot is truncated",
    ErrDamaged = 21: c"the snapshot is damaged",
    ErrMismatch = 22: c"the objects differ in layout, size or seed",
    ErrNotGrowing = 23: c"the object does not grow, so it cannot shrink",
    ErrPanic = 24: c"a panic inside the library",
    ErrClock = 25: c"the snapshot needs a clock of the caller, or has none",
}

impl From<InsertError> for Status {
    fn from(error: InsertError) -> Self {
        match error {
            InsertError::TooManyCopies | InsertError::Crowded => Self::ErrTooManyCopies,
            InsertError::ValueTooLarge => Self::ErrValueTooLarge,
            InsertError::InvalidLife => Self::ErrLife,
            InsertError::OutOfMemory => Self::ErrNoMemory,
            InsertError::FullyGrown => Self::ErrFullyGrown,
            _ => Self::ErrFull,
        }
    }
}

impl From<BuildError> for Status {
    fn from(error: BuildError) -> Self {
        match error {
            BuildError::NoCapacity | BuildError::CapacityTooLarge { .. } => Self::ErrCapacity,
            BuildError::MaxCapacityTooLow { .. } => Self::ErrMaxCapacityTooLow,
            BuildError::OutOfMemory { .. } => Self::ErrNoMemory,
            BuildError::InvalidRate(_)
            | BuildError::RateTooLow { .. }
            | BuildError::LayoutMissesRate { .. } => Self::ErrRate,
            _ => Self::ErrSetting,
        }
    }
}

impl From<MergeError> for Status {
    fn from(error: MergeError) -> Self {
        match error {
            MergeError::Full { .. } => Self::ErrFull,
            MergeError::TooManyCopies => Self::ErrTooManyCopies,
            MergeError::OutOfMemory { .. } => Self::ErrNoMemory,
            _ => Self::ErrMismatch,
        }
    }
}

impl From<LoadError> for Status {
    fn from(error: LoadError) -> Self {
        match error {
            LoadError::Io(error) => error.into(),
            LoadError::NotASnapshot => Self::ErrNotASnapshot,
            LoadError::UnknownVersion(_)
            | LoadError::UnknownKind { .. }
            | LoadError::UnknownLayout { .. } => Self::ErrUnknownVersion,
            LoadError::OtherKind { .. } => Self::ErrOtherType,
            LoadError::OtherHasher => Self::ErrOtherHasher,
            LoadError::NoClock | LoadError::UnexpectedClock => Self::ErrClock,
            LoadError::Unaligned => Self::ErrArgument,
            LoadError::OutOfMemory { .. } => Self::ErrNoMemory,
            LoadError::Truncated { .. } => Self::ErrTruncated,
            _ => Self::ErrDamaged,
        }
    }
}

impl From<io::Error> for Status {
    /// Sets `errno` for an error of a file.
    fn from(error: io::Error) -> Self {
        // The system's error is the source of one with a path.
        let source = || error.get_ref()?.source()?.downcast_ref::<io::Error>()?.raw_os_error();
        let code = error.raw_os_error().or_else(source);
        if error.kind() == io::ErrorKind::OutOfMemory && code.is_none() {
            return Self::ErrNoMemory;
        }
        set_errno(code.unwrap_or(libc::EIO));
        Self::ErrIo
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
impl Status {
    /// Checks the numbers in C. The names are the same but for their case.
    pub fn declare(header: &mut String) {
        use std::fmt::Write;

        for status in Self::ALL {
            let mut name = String::from("GUIRA");
            for letter in format!("{status:?}").chars() {
                let gap = if letter.is_uppercase() { "_" } else { "" };
                write!(name, "{gap}{}", letter.to_ascii_uppercase()).unwrap();
            }
            let number = *status as c_int;
            writeln!(header, "_Static_assert({name} == {number}, \"\");").unwrap();
        }
    }
}
