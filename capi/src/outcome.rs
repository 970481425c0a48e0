//! From the outcomes of inserts of many items to what C gets.

use guira_rs::{InsertBatchError, InsertMask};

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

/// Returns the number of items that were inserted, and writes which were refused.
pub fn refusals(outcome: Result<usize, InsertBatchError>, refused: Option<&mut [bool]>) -> i64 {
    let inserted = match outcome {
        Ok(inserted) => inserted,
        Err(error) => {
            if let Some(refused) = refused {
                error.rejected().iter().for_each(|&position| refused[position] = true);
            }
            error.added()
        }
    };
    inserted as i64
}
