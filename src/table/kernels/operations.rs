//! The operations on vectors, which each kernel defines by the same macro.

/// Defines functions that are compiled for these features, and inline.
macro_rules! operations {
    ($features:literal
     $($(#[$doc:meta])*
       fn $name:ident $(<const $n:ident: u32>)? ($($argument:ident: $type:ty),*) -> $result:ty
       $body:block)*) => {
        $(
            $(#[$doc])*
            #[inline]
            #[target_feature(enable = $features)]
            fn $name $(<const $n: u32>)? ($($argument: $type),*) -> $result $body
        )*
    };
}
pub(super) use operations;
