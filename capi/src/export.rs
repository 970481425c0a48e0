//! How functions are exported: under the name of their type, and in a frame that lets neither a
//! panic nor an error out.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::status::Status;

/// Exports functions as `guira_TYPE_NAME`. Each returns a [`Status`], and its body may leave with
/// one by `?`.
macro_rules! export {
    ($type:ident: $(fn $name:ident($($argument:ident: $kind:ty),* $(,)?) $body:block)*) => {
        $(
            #[unsafe(export_name = concat!("guira_", stringify!($type), "_", stringify!($name)))]
            #[allow(unused_mut, reason = "some functions change arguments")]
            extern "C" fn $name($(mut $argument: $kind),*) -> $crate::status::Status {
                $crate::export::guard(move || {
                    $body
                    Ok(())
                })
            }
        )*

        /// Declares the functions in C.
        #[cfg(test)]
        pub fn declare(headers: &mut $crate::header::Headers) {
            $(
                let function = $name as extern "C" fn($($kind),*) -> $crate::status::Status;
                $crate::header::Declare::declare(
                    &function,
                    concat!("guira_", stringify!($type), "_", stringify!($name)),
                    headers,
                );
            )*
        }
    };
}

/// Returns the status of a body: that of its error, or of a panic.
#[inline]
pub fn guard(body: impl FnOnce() -> Result<(), Status>) -> Status {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => Status::Ok,
        Ok(Err(status)) => status,
        Err(_) => Status::ErrPanic,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_does_not_leave_the_guard() {
        assert_eq!(guard(|| panic!("a test")), Status::ErrPanic);
        assert_eq!(guard(|| Err(Status::ErrFull)), Status::ErrFull);
        assert_eq!(guard(|| Ok(())), Status::Ok);
    }
}
