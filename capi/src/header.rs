//! A test that writes what is exported as a header of its own. A compiler that reads it after
//! `include/guira.h` finds what differs.

use core::ffi::{c_char, c_void};
use std::{fmt::Write, fs, path::Path};

use guira_rs::kind::{Expiring, Map, Set};

use crate::{
    common, expiring, filter,
    info::Info,
    map,
    object::Object,
    params::Params,
    pointer::{In, Out, Owned, Ref, Shared},
    status::Status,
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

macro_rules! types {
    ($($type:ty: $name:literal,)*) => {
        $(impl InC for $type {
            fn name() -> String {
                $name.into()
            }
        })*
    };
}
types! {
    bool: "bool",
    c_char: "char",
    c_void: "void",
    u8: "void",
    u16: "uint16_t",
    u32: "uint32_t",
    u64: "uint64_t",
    usize: "size_t",
    Status: "guira_status",
    Params: "guira_params",
    Info: "guira_info",
    WriteFn: "guira_write_fn",
    ReadFn: "guira_read_fn",
    ClockFn: "guira_clock_fn",
    Object<Set>: "guira_filter",
    Object<Map>: "guira_map",
    Object<Expiring>: "guira_expiring",
}

macro_rules! pointers {
    ($($type:ty: $name:literal,)*) => {
        $(impl<T: InC> InC for $type {
            fn name() -> String {
                format!($name, T::name())
            }
        })*
    };
}
pointers! {
    *mut T: "{} *",
    In<T>: "const {} *",
    Ref<T>: "const {} *",
    Out<T>: "{} *",
    Shared<T>: "{} *",
    Owned<T>: "{} *",
}

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
