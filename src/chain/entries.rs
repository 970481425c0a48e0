//! What the slots of a chain hold: fingerprints alone, or with values.

use crate::{
    Layout,
    table::{Alone, Pair, Single, Valued},
};

/// Evaluates the body with `$L` bound to the layout of a segment whose slots hold `$V`.
macro_rules! with_layout_of {
    ($V:ident, $layout:expr, $L:ident => $body:expr) => {
        if $V::VALUED {
            with_valued_layout!($layout, $L => $body)
        } else {
            with_layout!($layout, $L => $body)
        }
    };
}
pub(super) use with_layout_of;

/// What the slots of a chain hold: the same as those of a table that stands alone with this
/// nesting.
pub trait Entries: Alone + Eq + Send + Sync + 'static {
    /// What is stored of an item: its mixed hash, and its value if there are values.
    type Item: Copy;

    /// Whether there are values.
    const VALUED: bool;

    /// What slots of this layout hold, or `None` if the layout is for slots of the other kind.
    fn of(layout: Layout) -> Option<Self>;

    /// The mixed hash of an item.
    fn mixed(item: Self::Item) -> u64;

    /// The pair of an item with its value, given the pair with the value zero.
    fn entry(item: Self::Item, key: Pair) -> Pair;
}

impl Entries for Single {
    type Item = u64;

    const VALUED: bool = false;

    fn of(layout: Layout) -> Option<Self> {
        layout.valued().is_none().then_some(Self)
    }

    #[inline]
    fn mixed(item: u64) -> u64 {
        item
    }

    #[inline]
    fn entry(_item: u64, key: Pair) -> Pair {
        key
    }
}

impl Entries for Valued {
    type Item = (u64, u16);

    const VALUED: bool = true;

    fn of(layout: Layout) -> Option<Self> {
        layout.valued().map(Self::new)
    }

    #[inline]
    fn mixed((mixed, _): (u64, u16)) -> u64 {
        mixed
    }

    #[inline]
    fn entry((_, value): (u64, u16), key: Pair) -> Pair {
        key.with_value(value)
    }
}
