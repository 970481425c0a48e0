//! The frame of every exported function: a panic and an error become what the function returns.

use core::ffi::c_int;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::error::Error;

/// What an exported function returns.
pub trait Returned {
    /// What it returns in place of this error.
    fn failure(error: Error) -> Self;
}

impl Returned for c_int {
    fn failure(error: Error) -> Self {
        error as Self
    }
}

impl Returned for i64 {
    fn failure(error: Error) -> Self {
        Self::from(error as i32)
    }
}

/// Masks, hashes, and numbers that cannot be negative.
impl Returned for u64 {
    fn failure(_: Error) -> Self {
        0
    }
}

/// Returns what the body returns, or a failure if it returns an error or panics.
#[inline]
pub fn guard<R: Returned>(body: impl FnOnce() -> Result<R, Error>) -> R {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(returned)) => returned,
        Ok(Err(error)) => R::failure(error),
        Err(_) => R::failure(Error::Panic),
    }
}

/// As [`guard`], for a body that uses an object and returns an error if there is none.
#[inline]
pub fn with<T, R: Returned>(object: Option<&T>, body: impl FnOnce(&T) -> Result<R, Error>) -> R {
    guard(|| body(object.ok_or(Error::Null)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_does_not_leave_the_guard() {
        assert_eq!(guard::<c_int>(|| panic!("a test")), -22);
        assert_eq!(guard::<i64>(|| panic!("a test")), -22);
        assert_eq!(guard::<u64>(|| panic!("a test")), 0);
    }
}
