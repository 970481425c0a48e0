//! From the outcomes of inserts of many items to what C gets.

use guira_rs::{InsertError, InsertMask};

use crate::{
    error::Error,
    guard::guard,
    object::check_burst,
    pointer::{In, Out},
};

/// Inserts a burst. Returns the mask of what was inserted, and writes that of what was refused,
/// which keeps all bits on misuse.
pub fn masks<T>(
    object: Option<&T>,
    hashes: &In<u64>,
    n: usize,
    mut refused: Out<u64>,
    insert: impl FnOnce(&T, &[u64]) -> InsertMask,
) -> u64 {
    guard(|| {
        let mut refused = refused.optional()?;
        if let Some(place) = &mut refused {
            place.write(u64::MAX);
        }
        let object = object.ok_or(Error::Null)?;
        check_burst(n)?;
        let outcome = insert(object, hashes.slice(n)?);
        if let Some(place) = refused {
            place.write(outcome.refused);
        }
        Ok(outcome.added)
    })
}

/// Returns what writes the failures of a batch to an array, if there is one.
pub fn refusals(mut refused: Option<&mut [bool]>) -> impl FnMut(usize, InsertError) {
    move |position, _| {
        if let Some(refused) = &mut refused {
            refused[position] = true;
        }
    }
}
