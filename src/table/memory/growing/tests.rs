//! Tests of the memory that grows.

use alloc::vec::Vec;
use core::ops::Range;
use std::{sync::Barrier, thread};

use super::{Chunks, GrowingBuckets, Segments};
use crate::sync::Relaxed;

/// First numbers of buckets: odd ones, and those of the smallest tables.
const FIRSTS: [u64; 8] = [1, 2, 3, 256, 257, 1000, 1250, 40_000];

/// Bytes of a bucket.
const WORD: usize = size_of::<u64>();

/// A system that refuses memory when a test says so.
pub(super) mod refusal {
    use core::cell::Cell;

    std::thread_local! {
        /// Number of further requests of this thread for chunks that are granted.
        static GRANTED: Cell<u64> = const { Cell::new(u64::MAX) };
    }

    /// Grants a request, or refuses it with `None`.
    pub(in super::super) fn allows() -> Option<()> {
        GRANTED.with(|granted| {
            granted.set(granted.get().checked_sub(1)?);
            Some(())
        })
    }

    /// Grants this many more requests.
    pub(super) fn grant(requests: u64) {
        GRANTED.with(|granted| granted.set(requests));
    }
}

/// Returns buckets of which the `first` ones are committed, or `None` if the system refuses.
fn committed(first: u64, max: u64, reserve: bool, huge_pages: bool) -> Option<GrowingBuckets> {
    let buckets = GrowingBuckets::new(first, max, (reserve, huge_pages))?;
    buckets.commit(0..first)?;
    Some(buckets)
}

/// Calls a function with small tables of both forms, where the system has them, and with the number
/// of buckets in one of their smallest chunks.
fn for_each_form(max: impl Fn(u64) -> u64, mut test: impl FnMut(GrowingBuckets, u64, u64, u64)) {
    for first in FIRSTS {
        for (reserve, huge_pages) in [(false, false), (true, false), (true, true), (false, true)] {
            let max = max(first);
            let buckets = committed(first, max, reserve, huge_pages).expect("memory");
            let reserved = cfg!(all(target_os = "linux", target_pointer_width = "64", not(miri)));
            assert_eq!(buckets.base().is_some(), reserve && reserved);
            let smallest = buckets.reservation.as_ref().map_or(64, |r| r.page / WORD);
            test(buckets, first, max, smallest as u64);
        }
    }
}

/// The number of times that a test's table doubles: to a megabyte and more, but not under Miri.
fn doublings(first: u64) -> u32 {
    let most: u64 = if cfg!(miri) { 1 << 12 } else { 1 << 17 };
    (most / first).max(2).ilog2() + 1
}

/// The number of buckets in the region that has a bucket.
fn region(first: u64, bucket: u64) -> u64 {
    let end = (0..=32).map(|r| first << r).find(|end| bucket < *end).expect("a region");
    if end == first { first } else { end / 2 }
}

/// The value that tests give to a bucket.
fn value(bucket: u64) -> u64 {
    (bucket + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

fn fill(buckets: &GrowingBuckets, range: Range<u64>) {
    for bucket in range {
        // SAFETY: the tests of this file fill what they committed.
        let word = unsafe { buckets.bucket(bucket as u32) };
        word.compare_exchange(0, value(bucket), Relaxed, Relaxed).expect("an empty bucket");
    }
}

/// Checks that some buckets have their values, through single words and through runs.
fn check(buckets: &mut GrowingBuckets, range: Range<u64>, value: impl Fn(u64) -> u64) {
    for bucket in range.clone() {
        // SAFETY: the tests of this file check what they committed.
        let word = unsafe { buckets.bucket(bucket as u32) };
        assert_eq!(word.load(Relaxed), value(bucket), "bucket {bucket}");
    }
    let mut found = Vec::new();
    buckets.for_each_run(range.clone(), |run| {
        assert!(!run.is_empty());
        found.extend(run.iter().map(|word| word.load(Relaxed)));
    });
    assert!(found.iter().copied().eq(range.clone().map(&value)), "runs of {range:?}");
    found.clear();
    buckets.with_values(range.clone(), |run| found.extend_from_slice(run));
    assert!(found.iter().copied().eq(range.clone().map(value)), "values of {range:?}");
}

/// Chunks cover the buckets in order, and are small, aligned powers of two.
#[test]
fn chunks_are_found_and_small() {
    for first in FIRSTS.into_iter().chain([65_535, 65_536, 65_537, 1 << 31, (1 << 31) + 1]) {
        let all = 1_u64 << 32;
        for max in [first, first + 1, first * 2, first * 1000 + 7, first << 15, all] {
            for smallest in [6, 9, 13].into_iter().filter(|_| max <= all) {
                let chunks = Chunks::new(first, max, smallest);
                let mut end = 0;
                for number in 0..chunks.count() {
                    let chunk = chunks.chunk(number);
                    assert_eq!(chunk.start, end, "no gap before chunk {number}");
                    end = chunk.end;
                    let size = (end - chunk.start).next_power_of_two();
                    assert!(end == max || end - chunk.start == size, "cut off: {chunk:?}");
                    assert!(chunk.start.is_multiple_of(size), "not aligned: {chunk:?}");
                    let most = (region(first, chunk.start) / 64).max(1 << smallest);
                    assert!(size <= most, "{first} first, too large: {chunk:?}");
                    assert_eq!((chunks.find(chunk.start), chunks.find(end - 1)), (number, number));
                }
                assert_eq!(end, max);
                let most = 128 * (2 + (max / first).ilog2() as usize);
                assert!(chunks.count() <= most, "{} chunks", chunks.count());
            }
        }
    }
}

/// Growing bucket by bucket, as a table does.
#[test]
fn buckets_are_committed_in_order() {
    let max = |first| (first << doublings(first)) - first / 2;
    for_each_form(max, |mut buckets, first, max, smallest| {
        let mut size = buckets.size_in_bytes();
        assert!(buckets.is_committed(0..first) && !buckets.is_committed(0..max + 1));
        fill(&buckets, 0..first);
        for bucket in first..max {
            buckets.prefetch(bucket as u32);
            let range = bucket..bucket + 1;
            let more = buckets.bytes_to_commit(range.clone());
            assert_eq!(more == 0, buckets.is_committed(range.clone()));
            assert_eq!(buckets.commit(range.clone()), Some(()));
            assert!(buckets.is_committed(range.clone()));
            fill(&buckets, range);
            if more > 0 {
                size += more;
                assert!(buckets.is_committed(0..bucket + 1));
                assert_eq!(buckets.size_in_bytes(), size);
                let asked = (bucket + 1) as usize * WORD;
                let chunk = (region(first, bucket) / 64).max(smallest) as usize * WORD;
                // A bit for each chunk. For segments also a place, in tables that are not full.
                let places = if buckets.base().is_some() { 0 } else { asked / 64 + 512 };
                let kept = places + 32 * (3 + (max / first).ilog2() as usize);
                assert!((asked..asked + chunk + kept).contains(&size), "{size} for {asked}");
            }
        }
        check(&mut buckets, 0..max, value);
    });
}

/// Chunk by chunk, in an order in which most come before their neighbours.
#[test]
fn buckets_are_committed_out_of_order() {
    let max = |first| (first << doublings(first)) + 3;
    for_each_form(max, |mut buckets, first, max, _| {
        let count = buckets.chunks.count();
        let mut size = buckets.size_in_bytes();
        let untouched = size;
        // 8191 is a prime, and larger than the number of chunks.
        for step in 0..8191 {
            let number = step * 5003 % 8191;
            if number >= count {
                continue;
            }
            let chunk = buckets.chunks.chunk(number);
            let was_committed = buckets.is_committed(chunk.clone());
            assert_eq!(was_committed, chunk.start < first);
            let more = buckets.bytes_to_commit(chunk.clone());
            // One bucket in its middle suffices.
            let middle = chunk.start.midpoint(chunk.end - 1);
            buckets.commit(middle..middle + 1).expect("memory");
            size += more;
            assert_eq!(buckets.size_in_bytes(), size);
            fill(&buckets, chunk.clone());
            assert!(buckets.is_committed(chunk.clone()));
            assert_eq!(
                (buckets.commit(chunk.clone()), buckets.bytes_to_commit(chunk)),
                (Some(()), 0)
            );
            assert_eq!(buckets.size_in_bytes(), size);
        }
        check(&mut buckets, 0..max, value);
        check(&mut buckets, first..first, value);
        buckets.truncate(first);
        assert_eq!(buckets.size_in_bytes(), untouched);
    });
}

/// Many chunks by one call, some of which are committed.
#[test]
fn ranges_are_committed() {
    let max = |first| first << doublings(first);
    for_each_form(max, |mut buckets, first, max, _| {
        let middle = max / 2 + 1;
        buckets.commit(middle..middle + 1).expect("memory");
        let (size, more) = (buckets.size_in_bytes(), buckets.bytes_to_commit(first..max));
        buckets.commit(first..max).expect("memory");
        assert_eq!(buckets.size_in_bytes(), size + more);
        assert!(buckets.is_committed(0..max) && buckets.commit(0..max).is_some());
        fill(&buckets, 0..max);
        check(&mut buckets, 1..max - 1, value);
        buckets.with_values(1..max, |run| run.fill(7));
        check(&mut buckets, 0..max, |bucket| if bucket == 0 { value(0) } else { 7 });
        // No bucket.
        assert!(buckets.is_committed(max + 1..max + 1) && buckets.commit(9..9).is_some());
        assert_eq!(buckets.bytes_to_commit(9..9), 0);
    });
}

/// What is released is empty when it is committed again, and what stays keeps its values.
#[test]
fn truncation_releases_chunks() {
    let max = |first| (first << doublings(first)) + 1;
    for_each_form(max, |mut buckets, first, max, _| {
        let sizes: Vec<usize> = (0..doublings(first))
            .map(|doublings| {
                buckets.commit(0..first << doublings).expect("memory");
                buckets.size_in_bytes()
            })
            .collect();
        fill(&buckets, 0..first << (doublings(first) - 1));
        // A chunk with a gap before it, unless all buckets are in one chunk.
        let last = buckets.chunks.chunk(buckets.chunks.count() - 1);
        buckets.commit(max - 1..max).expect("memory");
        for doublings in (0..doublings(first)).rev() {
            let end = first << doublings;
            buckets.truncate(end);
            assert_eq!(buckets.size_in_bytes(), sizes[doublings as usize]);
            assert!(buckets.is_committed(0..end));
            assert_eq!(buckets.is_committed(max - 1..max), last.start < end);
            check(&mut buckets, 0..end, value);
            let stays = buckets.chunks.chunk(buckets.chunks.numbers(&(0..end)).end - 1).end;
            buckets.commit(end..max).expect("memory");
            check(&mut buckets, stays..max, |_| 0);
            fill(&buckets, stays..max);
        }
        buckets.truncate(max);
        assert!(buckets.is_committed(0..max));
        buckets.truncate(0);
        assert!(!buckets.is_committed(0..1));
        buckets.commit(0..1).expect("memory");
        check(&mut buckets, 0..1, |_| 0);
    });
}

/// Each request for memory is refused once. A commit that is refused changes nothing.
#[test]
fn refusals_change_nothing() {
    let max = |first| first << doublings(first);
    for_each_form(max, |mut buckets, first, max, _| {
        fill(&buckets, 0..first);
        let (size, more) = (buckets.size_in_bytes(), buckets.bytes_to_commit(0..max));
        let kept = buckets.chunks.numbers(&(0..first)).end;
        let mut refused = 0;
        loop {
            refusal::grant(refused);
            let result = buckets.commit(first / 2..max);
            refusal::grant(u64::MAX);
            if result.is_some() {
                break;
            }
            refused += 1;
            assert_eq!((buckets.size_in_bytes(), buckets.bytes_to_commit(0..max)), (size, more));
            assert!(!buckets.is_committed(0..max));
            check(&mut buckets, 0..first, value);
        }
        // Reserved memory is requested once, and segments one by one.
        let segments = buckets.chunks.count() - kept;
        let requests = if buckets.base().is_some() { segments.min(1) } else { segments };
        assert_eq!(refused, requests as u64);
        assert_eq!(buckets.size_in_bytes(), size + more);
        refusal::grant(0);
        assert!(committed(first, max, buckets.base().is_some(), false).is_none());
        refusal::grant(u64::MAX);
    });
}

/// Threads that commit the same chunks at the same time.
#[test]
fn threads_commit_together() {
    let max = |first| first << doublings(first);
    for_each_form(max, |mut buckets, first, max, _| {
        let more = buckets.bytes_to_commit(0..max);
        let size = buckets.size_in_bytes() + more;
        let barrier = Barrier::new(2);
        thread::scope(|scope| {
            for odd in 0..2 {
                let (buckets, barrier) = (&buckets, &barrier);
                scope.spawn(move || {
                    barrier.wait();
                    for bucket in first..max {
                        buckets.commit(bucket..bucket + 1).expect("memory");
                        if bucket % 2 == odd {
                            fill(buckets, bucket..bucket + 1);
                        }
                    }
                });
            }
        });
        assert_eq!(buckets.size_in_bytes(), size);
        fill(&buckets, 0..first);
        check(&mut buckets, 0..max, value);
    });
}

/// A small table has little beside its buckets, however large it may grow.
#[test]
fn small_tables_stay_small() {
    for (first, max) in [(1, 1 << 15), (256, 256 << 15), (1250, 1250 << 15), (1 << 17, 1 << 32)] {
        for reserve in [false, true] {
            let buckets = committed(first, max, reserve, true).expect("memory");
            let bytes = first as usize * WORD;
            let (rounding, kept) = match &buckets.reservation {
                Some(reservation) => (reservation.page, 256),
                None => (Segments::MIN_BUCKETS * WORD, 1024 + 512),
            };
            let most = bytes.next_multiple_of(rounding) + bytes / 64 + kept;
            assert!((bytes..=most).contains(&buckets.size_in_bytes()));
        }
    }
    if size_of::<usize>() < 8 {
        // More than an object can have, in each form: refused when it is due.
        let buckets = committed(1 << 10, 1 << 32, true, false).expect("memory");
        assert!(buckets.commit(0..1 << 32).is_none());
    }
}

/// The system itself refuses: addresses, and then memory. In a process of its own, for which these
/// limits hold.
#[test]
#[cfg(all(target_os = "linux", target_pointer_width = "64", not(miri)))]
fn the_system_refuses() {
    use alloc::string::String;
    use std::{env, process::Command};

    const LIMITED: &str = "GUIRA_TEST_OF_LIMITED_MEMORY";
    const LIMIT: usize = 256 << 20;
    if env::var_os(LIMITED).is_none() {
        let mut process = Command::new(env::current_exe().expect("this program"));
        let name = "table::memory::growing::tests::the_system_refuses";
        process.args([name, "--exact", "--test-threads=1"]).env(LIMITED, "1");
        let output = process.output().expect("this program runs");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("1 passed"), "{text}");
        return;
    }
    let limit = |which, bytes: usize| {
        let limit = libc::rlimit { rlim_cur: bytes as u64, rlim_max: libc::RLIM_INFINITY };
        // SAFETY: the limit is valid, and this process is for this test alone.
        assert_eq!(unsafe { libc::setrlimit(which, &raw const limit) }, 0);
    };
    let first = 1 << 14;
    let mut buckets = committed(first, first << 15, true, false).expect("memory");
    assert!(buckets.base().is_some(), "addresses for 4 GiB");
    limit(libc::RLIMIT_DATA, LIMIT);
    let mut end = first;
    while buckets.commit(0..end + first / 64).is_some() {
        end += first / 64;
    }
    limit(libc::RLIMIT_DATA, libc::RLIM_INFINITY as usize);
    assert!(end as usize * WORD > LIMIT / 2 && end as usize * WORD < LIMIT);
    assert!(!buckets.is_committed(end..end + 1) && buckets.is_committed(0..end));
    fill(&buckets, 0..end);
    buckets.commit(0..2 * end).expect("no limit");
    check(&mut buckets, 0..end, value);
    // A limit on addresses, even a large one, is left to others.
    limit(libc::RLIMIT_AS, 1 << 46);
    let buckets = committed(first, first << 15, true, false).expect("memory");
    assert!(buckets.base().is_none());
}
