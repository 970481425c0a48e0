//! Guides: caches and stores, design, expiry, limits, saving, the snapshot format, speed, and
//! verification.

macro_rules! guides {
    ($($name:ident)*) => {$(
        #[doc = include_str!(concat!(stringify!($name), ".md"))]
        pub mod $name {}
    )*};
}

guides!(caches design expiry limits saving snapshots speed verification);
