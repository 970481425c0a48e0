//! A test that writes what is exported as a header of its own, `target/exported.h`. A compiler that
//! reads it after `include/guira.h` finds what differs. And it writes `target/nulls.h`: calls in
//! which one pointer is null that must not be, for `tests/nulls.c`.

use core::ffi::{c_char, c_void};
use std::{fmt::Write, fs, path::Path};

use guira_rs::kind::{Expiring, Map, Set};

use crate::{
    common, expiring, filter,
    info::Info,
    map,
    object::Object,
    params::Params,
    pointer::{In, Optional, Out, Owned, Ref, Shared},
    status::Status,
    stream::{ClockFn, ReadFn, WriteFn},
    view::{self, View},
};

/// What is written.
#[derive(Default)]
pub struct Headers {
    pub exported: String,
    nulls: String,
}

/// A function that can be declared in C.
pub trait Declare {
    fn declare(&self, name: &str, headers: &mut Headers);
}

/// A type that C has.
trait InC {
    /// An argument of this type, or what a pointer to it points to, in `tests/nulls.c`.
    const VALUE: &'static str;
    /// Whether it is a pointer that must not be null.
    const IS_REQUIRED: bool = false;

    fn name() -> String;
}

macro_rules! types {
    ($($type:ty: $name:literal, $value:literal $(, $required:literal)?;)*) => {
        $(impl InC for $type {
            const VALUE: &'static str = $value;
            $(const IS_REQUIRED: bool = $required;)?

            fn name() -> String {
                $name.into()
            }
        })*
    };
}
types! {
    bool: "bool", "room";
    c_char: "char", "room";
    c_void: "void", "room";
    u8: "void", "room";
    u16: "uint16_t", "8";
    u32: "uint32_t", "8";
    u64: "uint64_t", "8";
    usize: "size_t", "8";
    Status: "guira_status", "";
    Params: "guira_params", "room";
    Info: "guira_info", "room";
    WriteFn: "guira_write_fn", "write_stream", true;
    ReadFn: "guira_read_fn", "read_stream", true;
    ClockFn: "guira_clock_fn", "read_clock", true;
    Object<Set>: "guira_filter", "filter";
    Object<Map>: "guira_map", "map";
    Object<Expiring>: "guira_expiring", "expiring";
    View: "guira_view", "view";
}

macro_rules! pointers {
    ($($type:ty: $name:literal, $value:expr, $required:literal;)*) => {
        $(impl<T: InC> InC for $type {
            const VALUE: &'static str = $value;
            const IS_REQUIRED: bool = $required;

            fn name() -> String {
                format!($name, T::name())
            }
        })*
    };
}
pointers! {
    *mut T: "{} *", "room", false;
    In<T>: "const {} *", "room", true;
    Ref<T>: "const {} *", T::VALUE, true;
    Out<T>: "{} *", "room", true;
    Optional<T>: "{} *", "room", false;
    Shared<T>: "{} *", T::VALUE, true;
    Owned<T>: "{} *", T::VALUE, true;
}

macro_rules! functions {
    ($($argument:ident)*) => {
        impl<R: InC, $($argument: InC),*> Declare for extern "C" fn($($argument),*) -> R {
            fn declare(&self, name: &str, headers: &mut Headers) {
                let arguments = [$($argument::name()),*].join(", ");
                writeln!(headers.exported, "{} {name}({arguments});", R::name()).unwrap();
                for (null, is_required) in [$($argument::IS_REQUIRED),*].into_iter().enumerate() {
                    let mut values = [$($argument::VALUE),*];
                    values[null] = "NULL";
                    // Null may be destroyed.
                    if is_required && !name.ends_with("_destroy") {
                        writeln!(headers.nulls, "NULLS({name}({}));", values.join(", ")).unwrap();
                    }
                }
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

#[test]
fn header() {
    let mut headers = Headers::default();
    for declare in [
        common::filter::declare,
        common::map::declare,
        common::expiring::declare,
        common::permanent_filter::declare,
        common::permanent_map::declare,
        common::unique_filter::declare,
        common::unique_expiring::declare,
        common::refreshing_expiring::declare,
        filter::declare,
        map::declare,
        expiring::declare,
        view::declare,
    ] {
        declare(&mut headers);
    }
    for declare in [Params::declare, Info::declare, Status::declare] {
        declare(&mut headers.exported);
    }
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("target");
    fs::create_dir_all(&target).unwrap();
    fs::write(target.join("exported.h"), headers.exported).unwrap();
    fs::write(target.join("nulls.h"), headers.nulls).unwrap();
}
