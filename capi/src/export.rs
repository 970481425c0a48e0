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
        pub fn declare(header: &mut String) {
            $(
                let function = $name as extern "C" fn($($kind),*) -> $crate::status::Status;
                $crate::export::tests::Declare::declare(
                    &function,
                    concat!("guira_", stringify!($type), "_", stringify!($name)),
                    header,
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
pub mod tests {
    use core::ffi::{c_char, c_void};
    use std::{fmt::Write, fs, path::Path};

    use guira_rs::kind::{Contents, Expiring, Map, Set};

    use super::*;
    use crate::{
        common, expiring, filter,
        info::Info,
        map,
        object::Object,
        params::Params,
        pointer::{In, Out, Owned, Ref, Shared},
        stream::{ClockFn, ReadFn, WriteFn},
    };

    /// A function that can be declared in C.
    pub trait Declare {
        fn declare(&self, name: &str, header: &mut String);
    }

    /// A type that C has.
    trait InC {
        fn name() -> String;
    }

    macro_rules! names {
        ($($(<$parameter:ident>)? $type:ty: $name:expr;)*) => {
            $(impl $(<$parameter: InC>)? InC for $type {
                fn name() -> String {
                    $name.into()
                }
            })*
        };
    }

    names! {
        bool: "bool";
        c_char: "char";
        u8: "void";
        u16: "uint16_t";
        u32: "uint32_t";
        u64: "uint64_t";
        usize: "size_t";
        c_void: "void";
        Status: "guira_status";
        Params: "guira_params";
        Info: "guira_info";
        WriteFn: "guira_write_fn";
        ReadFn: "guira_read_fn";
        ClockFn: "guira_clock_fn";
        <T> *mut T: format!("{} *", T::name());
        <T> In<T>: format!("const {} *", T::name());
        <T> Ref<T>: format!("const {} *", T::name());
        <T> Out<T>: format!("{} *", T::name());
        <T> Shared<T>: format!("{} *", T::name());
        <T> Owned<T>: format!("{} *", T::name());
    }

    macro_rules! objects {
        ($($contents:ident: $name:literal)*) => {
            $(impl InC for Object<$contents> {
                fn name() -> String {
                    $name.into()
                }
            })*
        };
    }
    objects! { Set: "guira_filter" Map: "guira_map" Expiring: "guira_expiring" }

    macro_rules! functions {
        ($($argument:ident)*) => {
            impl<R: InC, $($argument: InC),*> Declare for extern "C" fn($($argument),*) -> R {
                fn declare(&self, name: &str, header: &mut String) {
                    let arguments = [$($argument::name()),*].join(", ");
                    writeln!(header, "{} {name}({arguments});", R::name()).unwrap();
                }
            }
        };
    }
    functions! { A }
    functions! { A B }
    functions! { A B C }
    functions! { A B C D }
    functions! { A B C D E }
    functions! { A B C D E F }
    functions! { A B C D E F G }

    /// Writes a header of what is exported. A compiler that reads it after `include/guira.h` finds
    /// what differs.
    #[test]
    fn header() {
        let mut header = String::new();
        for declare in [
            common::filter::declare,
            common::map::declare,
            common::expiring::declare,
            common::permanent_filter::declare,
            common::permanent_map::declare,
            common::unique_filter::declare,
            common::unique_expiring::declare,
            filter::declare,
            map::declare,
            expiring::declare,
            Params::declare,
            Info::declare,
            Status::declare,
        ] {
            declare(&mut header);
        }
        let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("target");
        fs::create_dir_all(&target).unwrap();
        fs::write(target.join("exported.h"), header).unwrap();
    }

    #[test]
    fn a_panic_does_not_leave_the_guard() {
        assert_eq!(guard(|| panic!("a test")), Status::ErrPanic);
        assert_eq!(guard(|| Err(Status::ErrFull)), Status::ErrFull);
        assert_eq!(guard(|| Ok(())), Status::Ok);
    }
}
