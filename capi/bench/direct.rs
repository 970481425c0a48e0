//! The loops of `calls.c` in Rust, on the library without the C interface.

use std::slice;

use guira_rs::{CuckooFilter, CuckooMap, Hashed};

/// A set and a map with the same hashes.
pub struct Tables {
    set: CuckooFilter,
    map: CuckooMap,
}

/// Creates both tables, and inserts the hashes 0, 1, ... up to the capacity.
///
/// # Panics
/// If the system refuses the memory, or an item does not fit.
#[unsafe(no_mangle)]
pub extern "C" fn direct_create(capacity: usize, seed: u64) -> Box<Tables> {
    let set = CuckooFilter::builder().capacity(capacity).seed(seed).build().unwrap();
    let map = CuckooMap::builder().capacity(capacity).seed(seed).build().unwrap();
    for first in (0..capacity).step_by(4096) {
        let hashes: Vec<u64> = (first..capacity.min(first + 4096)).map(|at| at as u64).collect();
        let values: Vec<u16> = hashes.iter().map(|hash| (hash % 256) as u16).collect();
        set.insert_batch(Hashed::slice(&hashes)).unwrap();
        map.insert_batch(Hashed::slice(&hashes), &values).unwrap();
    }
    Box::new(Tables { set, map })
}

/// Destroys both tables.
#[unsafe(no_mangle)]
pub extern "C" fn direct_destroy(tables: Box<Tables>) {
    drop(tables);
}

/// Exports a loop over `n` hashes, a few at a time. It returns the number of those that were found.
macro_rules! export {
    (
        $(fn $name:ident($tables:ident, $hashes:ident $(, $answer:ident: $type:ty)*) $body:expr;)*
    ) => {
        $(
            /// Looks up `n` hashes, and returns the number of those that were found.
            ///
            /// # Safety
            /// `hashes` leads to `n` hashes, and each array of answers has room for `few`.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name(
                $tables: &Tables,
                hashes: *const u64,
                n: usize,
                few: usize,
                $($answer: *mut $type),*
            ) -> u64 {
                // SAFETY: as the caller promises.
                let hashes = unsafe { slice::from_raw_parts(hashes, n) };
                let mut sum = 0;
                for few in hashes.chunks(few) {
                    let $hashes = Hashed::slice(few);
                    // SAFETY: as the caller promises.
                    $(let $answer = unsafe { slice::from_raw_parts_mut($answer, few.len()) };)*
                    sum += u64::from($body);
                }
                sum
            }
        )*
    };
}

export! {
    fn direct_masks(tables, hashes) tables.set.contains_mask(hashes).count_ones();
    fn direct_batches(tables, hashes, found: bool)
        tables.set.contains_batch(hashes, found) as u64;
    fn direct_value_masks(tables, hashes, values: u16)
        tables.map.get_mask(hashes, values).count_ones();
    fn direct_values(tables, hashes, values: Option<u16>)
        tables.map.get_batch(hashes, values) as u64;
}
