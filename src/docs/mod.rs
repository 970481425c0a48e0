//! Guides: caches and stores, the choice of a filter, design, expiry, limits, saving, the snapshot
//! format, speed, and verification.

macro_rules! guides {
    ($($name:ident)*) => {$(
        #[doc = include_str!(concat!(stringify!($name), ".md"))]
        pub mod $name {}
    )*};
}

guides!(caches choice design expiry limits saving snapshots speed verification);
