//! From the name of a layout of filters that grow to its type: over the latter, the table is
//! monomorphized.

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
