//! From the name of a layout to its type: over the latter, the table is monomorphized.

/// Evaluates the body with `$L` bound to the [`BucketLayout`](super::BucketLayout) of a [`Layout`]
/// of tables of a fixed size. With values, it is that of whole slots, which hold a fingerprint and
/// a value. Operations of a table use [`with_set_layout`] or [`with_valued_layout`]: what no table
/// has need not be compiled.
macro_rules! with_layout {
    ($layout:expr, $L:ident => $body:expr) => {
        match $layout.valued() {
            None => $crate::bucket::with_set_layout!($layout, $L => $body),
            Some(_) => $crate::bucket::with_valued_layout!($layout, $L => $body),
        }
    };
}
pub(crate) use with_layout;

/// As [`with_layout`], for layouts of sets: those without values. (Some arms name a layout with
/// values, which a set never has. Without them, removals in batches took 4 % more instructions.)
macro_rules! with_set_layout {
    ($layout:expr, $L:ident => $body:expr) => {
        match $layout {
            $crate::bucket::Layout::Plain8x8 => {
                type $L = $crate::bucket::Plain<8, 8>;
                $body
            }
            $crate::bucket::Layout::Plain6x10 | $crate::bucket::Layout::Valued6x10 { .. } => {
                type $L = $crate::bucket::Plain<6, 10>;
                $body
            }
            $crate::bucket::Layout::Plain5x12 | $crate::bucket::Layout::Valued5x12 { .. } => {
                type $L = $crate::bucket::Plain<5, 12>;
                $body
            }
            $crate::bucket::Layout::Plain4x16 | $crate::bucket::Layout::Valued4x16 { .. } => {
                type $L = $crate::bucket::Plain<4, 16>;
                $body
            }
            $crate::bucket::Layout::SemiSorted6x12 => {
                type $L = $crate::bucket::SemiSorted<6, 12>;
                $body
            }
            $crate::bucket::Layout::SemiSorted5x14 => {
                type $L = $crate::bucket::SemiSorted<5, 14>;
                $body
            }
            $crate::bucket::Layout::SemiSorted4x17 => {
                type $L = $crate::bucket::SemiSorted<4, 17>;
                $body
            }
            $crate::bucket::Layout::SemiSorted3x22 => {
                type $L = $crate::bucket::SemiSorted<3, 22>;
                $body
            }
            _ => panic!("not a layout of sets"),
        }
    };
}
pub(crate) use with_set_layout;

/// As [`with_layout`], for layouts with values only.
macro_rules! with_valued_layout {
    ($layout:expr, $L:ident => $body:expr) => {
        match $layout {
            $crate::bucket::Layout::Valued6x10 { .. } => {
                type $L = $crate::bucket::Plain<6, 10>;
                $body
            }
            $crate::bucket::Layout::Valued5x12 { .. } => {
                type $L = $crate::bucket::Plain<5, 12>;
                $body
            }
            $crate::bucket::Layout::Valued4x16 { .. } => {
                type $L = $crate::bucket::Plain<4, 16>;
                $body
            }
            $crate::bucket::Layout::Valued3x21 { .. } => {
                type $L = $crate::bucket::Plain<3, 21>;
                $body
            }
            $crate::bucket::Layout::Valued2x32 { .. } => {
                type $L = $crate::bucket::Plain<2, 32>;
                $body
            }
            _ => panic!("not a layout with values"),
        }
    };
}
pub(crate) use with_valued_layout;

/// Evaluates the body with `$L` bound to the [`GrowingLayout`](super::GrowingLayout) of a
/// [`Layout`] of filters that grow. With values, it is that of whole slots.
macro_rules! with_growing_layout {
    ($layout:expr, $L:ident => $body:expr) => {
        match $layout {
            $crate::bucket::Layout::Growing5x12
            | $crate::bucket::Layout::GrowingValued5x12 { .. } => {
                type $L = $crate::bucket::Leveled<5, 6>;
                $body
            }
            $crate::bucket::Layout::Growing4x15
            | $crate::bucket::Layout::GrowingValued4x15 { .. } => {
                type $L = $crate::bucket::Leveled<4, 7>;
                $body
            }
            $crate::bucket::Layout::Growing3x20
            | $crate::bucket::Layout::GrowingValued3x20 { .. } => {
                type $L = $crate::bucket::Leveled<3, 8>;
                $body
            }
            $crate::bucket::Layout::Growing2x30
            | $crate::bucket::Layout::GrowingValued2x30 { .. } => {
                type $L = $crate::bucket::Leveled<2, 8>;
                $body
            }
            _ => unreachable!("a layout of filters that grow"),
        }
    };
}
pub(crate) use with_growing_layout;
