//! What the fuzz targets do with their input; each panics where the library is wrong.

pub mod filter;
pub mod operations;
#[path = "../../tests/common/oracle.rs"]
#[allow(dead_code, reason = "shared with the tests of the library")]
mod oracle;
pub mod words;

/// Runs the body with `$L` the layout that a number stands for: a real one, or a small one, whose
/// words are full and whose fingerprints collide sooner.
macro_rules! with_some_layout {
    ($number:expr, $L:ident => $body:expr) => {
        $crate::with_some_layout!(@ $number, $L => $body;
            0: 8 x 8, 1: 6 x 10, 2: 5 x 12, 3: 4 x 16,
            4: 1 x 1, 5: 2 x 2, 6: 3 x 2, 7: 4 x 3, 8: 16 x 4, 9: 64 x 1, 10: 2 x 31, 11: 1 x 16)
    };
    (@ $number:expr, $L:ident => $body:expr;
        $($index:literal: $lanes:literal x $bits:literal),*) => {
        match $number % 12 {
            $($index => {
                type $L = guira::raw::Plain<$lanes, $bits>;
                $body
            })*
            _ => unreachable!("twelve layouts"),
        }
    };
}
pub(crate) use with_some_layout;
