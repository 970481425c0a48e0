//! Tests of what cannot be seen from outside.

use super::{GrowingTable, Limits, Payload};
#[cfg(target_os = "linux")]
use crate::table::split::Place;
use crate::{InsertError, bucket::Leveled};

/// While another thread holds the lock of the last group that may be split, the table is busy, and
/// not fully grown.
#[test]
fn a_group_that_another_thread_holds_is_waited_for() {
    let leveled = Leveled::new(4, 7, 0);
    let limits = Limits { buckets: 16 + 8, load: 230, copies: 1 };
    let table = GrowingTable::new(leveled, Payload::NONE, 16, limits, 8, (false, false));
    let table = table.expect("memory");
    let guard = table.stripes.at(0).lock();
    assert_eq!(table.split_next(table.size()), Ok(false));
    drop(guard);
    assert_eq!(table.split_next(table.size()), Ok(true));
    let refusal = Err(InsertError::FullyGrown);
    assert_eq!(table.split_next(table.size()), refusal);
}

/// No child has a number beyond the last possible bucket, where numbers would begin again: its
/// words would take the place of those of a bucket in use.
#[cfg(target_os = "linux")]
#[test]
fn no_bucket_is_split_into_one_beyond_the_last() {
    let leveled = Leveled::new(4, 7, 0);
    let first = (1 << 31) + 8;
    let limits = Limits { buckets: 1 << 32, load: 230, copies: 1 };
    // 16 GiB of addresses, of which hardly a page is touched.
    let table = GrowingTable::new(leveled, Payload::NONE, first, limits, 8, (false, true));
    let Some(table) = table else { return };
    let early = |bucket| table.split_early(Place { bucket, level: 0 });
    assert_eq!(early((1 << 31) - 9), Ok(true));
    for bucket in [(1 << 31) - 8, (1 << 31) - 1, 1 << 31] {
        assert_eq!(early(bucket), Err(InsertError::FullyGrown));
    }
    assert_eq!(table.occupied(), (0, 0));
}
