//! The structural mutants: a step of the protocol left out or misplaced.
//!
//! `loom-tests/mutants.txt` tells which statement each of them changes.
//! The code given here is compiled in that place, and may use what is in scope there.

mod callers;
mod expiry;
mod merge;
mod moves;
mod shared;
mod split_expiry;
mod split_moves;
mod split_values;
mod split_whole;
mod splits;
mod steps;
mod table;
mod values;

use super::change::Fault;

/// All structural mutants.
pub(super) fn faults() -> impl Iterator<Item = Fault> {
    // Semi-sorted slots hold no values.
    let of_values = [values::LOOKUPS.as_flattened(), values::FAULTS, expiry::FAULTS];
    let of_values = of_values.into_iter().flatten().copied().chain(expiry::of_both());
    let of_values = of_values.map(Fault::only_plain);
    let others = [table::FAULTS, merge::FAULTS, callers::FAULTS, shared::FAULTS];
    // Words with levels are a layout of their own.
    let of_splits = splits::FAULTS.iter().copied().chain(split_moves::faults());
    let of_splits = of_splits.chain(split_whole::faults()).chain(split_values::faults());
    let of_splits = of_splits.chain(split_expiry::FAULTS.iter().copied());
    let of_splits = of_splits.map(Fault::only_plain);
    let others = others.into_iter().flatten().copied();
    steps::faults().chain(of_values).chain(others).chain(moves::faults()).chain(of_splits)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_short() {
        let mut names = BTreeSet::new();
        for fault in super::faults() {
            let is_allowed = |letter: char| letter.is_ascii_lowercase() || letter == '-';
            assert!(fault.name.chars().all(is_allowed) && fault.name.len() < 40, "{}", fault.name);
            assert!(names.insert((fault.name, fault.tables)), "{} twice", fault.name);
            assert!(!fault.what.contains(['|', '\n']), "{}: not for a table", fault.name);
        }
    }
}
