//! From what the user wants to a layout and a number of buckets. Here: the order of preference of
//! layouts that do not grow. `choose` in `filter/engine/fixed.rs` compares their rates.

pub(crate) mod doublings;
pub(crate) mod growing;
mod sizing;

use core::cmp::Reverse;

use arrayvec::ArrayVec;

use crate::{BuildError, Layout};
pub(crate) use sizing::{buckets_for, least};

/// Layouts to choose from. There are no more of them without values, and only five with values.
pub(crate) type Layouts = ArrayVec<Layout, { Layout::ALL.len() }>;

/// Calls a choice with a number of copies. If it fails because of that number, and not because of a
/// rate that the user named, the error says how many copies it allows.
///
/// # Errors
/// Those of the choice.
pub(crate) fn with_copies<T>(
    copies: usize,
    names_rate: bool,
    choose: impl Fn(usize) -> Result<T, BuildError>,
) -> Result<T, BuildError> {
    /// Largest number of slots per bucket.
    const MOST: usize = 8;
    let chosen = choose(copies);
    let is_cause = match chosen {
        Err(BuildError::CopiesTooMany { .. }) => true,
        Err(BuildError::RateTooLow { .. }) => !names_rate,
        _ => false,
    };
    if !is_cause || copies <= 1 {
        return chosen;
    }
    let most = (1..=MOST.min(copies - 1)).rev().find(|&fewer| choose(fewer).is_ok());
    Err(BuildError::CopiesTooMany { copies, most: most.unwrap_or(1) })
}

/// All layouts in order of preference: a filter takes the first one that meets its target.
///
/// Layouts with more slots per bucket come first, since they need fewer bits per item. Of two
/// layouts with equally many, the plain one comes first, since it is faster. If `fastest` is set,
/// all plain ones come before the semi-sorted ones.
pub(crate) fn by_preference(fastest: bool) -> Layouts {
    let mut layouts: Layouts = Layout::ALL.iter().copied().collect();
    // No two have equal keys.
    layouts.sort_unstable_by_key(|layout| {
        let semi_sorted = layout.is_semi_sorted();
        (semi_sorted && fastest, Reverse(layout.slots_per_bucket()), semi_sorted)
    });
    layouts
}

/// The layouts with values of this many bits, in order of preference, as above.
pub(crate) fn with_values_by_preference(value_bits: u32) -> Layouts {
    (2..=6).rev().filter_map(|slots| Layout::with_values(slots, value_bits)).collect()
}

#[cfg(test)]
mod tests {
    use super::{Layout, by_preference};

    #[test]
    fn smaller_comes_first_unless_the_fastest_is_wanted() {
        use Layout::{
            Plain4x16, Plain5x12, Plain6x10, Plain8x8, SemiSorted3x22, SemiSorted4x17,
            SemiSorted5x14, SemiSorted6x12,
        };
        let plain = [Plain8x8, Plain6x10, Plain5x12, Plain4x16];
        let semi_sorted = [SemiSorted6x12, SemiSorted5x14, SemiSorted4x17, SemiSorted3x22];
        assert_eq!(by_preference(true)[..], [plain, semi_sorted].concat());
        assert_eq!(
            by_preference(false)[..],
            [
                Plain8x8,
                Plain6x10,
                SemiSorted6x12,
                Plain5x12,
                SemiSorted5x14,
                Plain4x16,
                SemiSorted4x17,
                SemiSorted3x22
            ]
        );
    }
}
