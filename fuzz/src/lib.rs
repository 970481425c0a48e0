//! The bodies of the fuzz targets. Each compares the library with a simple oracle, and panics if
//! they disagree.

#[path = "../../tests/common/mod.rs"]
mod common;
pub mod decisions;
pub mod filter;
pub mod operations;
pub mod snapshot;
pub mod words;

/// Evaluates the body with `$L` the layout that a number selects: one of the library's, or a
/// smaller one, which is sooner full and whose fingerprints collide sooner.
macro_rules! with_some_layout {
    ($number:expr, $L:ident => $body:expr) => {
        $crate::with_some_layout!(@ $number, $L => $body;
            0: Plain<8, 8>, 1: Plain<6, 10>, 2: Plain<5, 12>, 3: Plain<4, 16>,
            4: Plain<1, 1>, 5: Plain<2, 2>, 6: Plain<3, 2>, 7: Plain<4, 3>,
            8: Plain<16, 4>, 9: Plain<64, 1>, 10: Plain<2, 31>, 11: Plain<1, 16>,
            12: SemiSorted<6, 12>, 13: SemiSorted<5, 14>, 14: SemiSorted<4, 17>,
            15: SemiSorted<3, 22>,
            16: SemiSorted<1, 5>, 17: SemiSorted<2, 5>, 18: SemiSorted<3, 6>, 19: SemiSorted<6, 5>)
    };
    (@ $number:expr, $L:ident => $body:expr;
        $($index:literal: $layout:ident<$slots:literal, $bits:literal>),*) => {
        match $number % 20 {
            $($index => {
                type $L = guira::raw::$layout<$slots, $bits>;
                $body
            })*
            _ => unreachable!("the remainder is below 20"),
        }
    };
}
pub(crate) use with_some_layout;
