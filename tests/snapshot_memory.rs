//! Memory while a snapshot is loaded: it is in use where bytes have arrived, whatever the header
//! says, and its size is within the limit.

#![cfg(all(feature = "std", target_os = "linux"))]

mod common;

use std::{
    alloc::{GlobalAlloc, Layout, System},
    io::Read,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use common::{
    forge::{CAPACITY, FIRST, HEADER, LOAD, SIZE, SLOTS, WORDS, amend, amend_header, number, put},
    kind::{GrowingMaps, GrowingSets, Kind, new},
    rng,
    saved::{corrupt, filled, pushed},
    scaled,
};
use guira::{CuckooFilter, GrowingFilter, LoadError};
use rand::RngExt;

const MEGABYTE: usize = 1 << 20;

/// One test at a time: they measure the memory of the process.
static ALONE: Mutex<()> = Mutex::new(());

/// The system's allocator, which counts the bytes in use and their maximum.
struct Counting;

static USED: AtomicUsize = AtomicUsize::new(0);
static MAX_USED: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static COUNTING: Counting = Counting;

// SAFETY: the system's allocator does the work.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        MAX_USED.fetch_max(USED.fetch_add(layout.size(), Relaxed) + layout.size(), Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        MAX_USED.fetch_max(USED.fetch_add(layout.size(), Relaxed) + layout.size(), Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        USED.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// Returns the resident memory of this process in bytes, without that of files: pages of the
/// program itself arrive whenever code runs for the first time.
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/smaps_rollup").expect("Linux provides it");
    let line = text.lines().find_map(|line| line.strip_prefix("Anonymous:")).expect("a line");
    let kilobytes = line.trim().strip_suffix(" kB").expect("a unit");
    1024 * kilobytes.parse::<usize>().expect("a number")
}

/// A reader that measures the memory at every read.
struct Measuring<'a> {
    bytes: &'a [u8],
    /// Bytes returned so far.
    read: usize,
    /// Resident memory before loading.
    before: usize,
    /// Largest growth of the resident memory beyond the bytes returned.
    max_excess: usize,
}

impl<'a> Measuring<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, read: 0, before: resident(), max_excess: 0 }
    }
}

impl Read for &mut Measuring<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let excess = resident().saturating_sub(self.before + self.read);
        self.max_excess = self.max_excess.max(excess);
        let read = (&self.bytes[self.read..]).read(buffer)?;
        self.read += read;
        Ok(read)
    }
}

/// In sizes for which the allocator takes fresh memory from the system. Two huge pages may be taken
/// in advance.
#[test]
fn memory_grows_with_the_bytes_read() {
    let _alone = ALONE.lock();
    let filter = CuckooFilter::with_capacity(1_000);
    // The first load allocates what later ones reuse, such as buffers of the allocator.
    CuckooFilter::loader().bytes(&filter.to_bytes()).expect("a snapshot");
    for buckets in [1_u64 << 23, 1 << 28, 1 << 32, 1 << 37] {
        for words in [0, 1, 100_000, 3 * MEGABYTE, 8 * MEGABYTE - 1] {
            let mut bytes = filter.to_bytes()[..HEADER].to_vec();
            put(&mut bytes, WORDS, buckets);
            bytes.resize(HEADER + words, 0);
            amend_header(&mut bytes);
            let mut reader = Measuring::new(&bytes);
            match CuckooFilter::loader().reader(&mut reader) {
                Err(LoadError::Truncated { received, .. }) => {
                    assert_eq!(received, bytes.len() as u64);
                }
                // Some systems refuse this much address space.
                Err(LoadError::OutOfMemory { bytes, .. }) => assert_eq!(bytes, 8 * buckets),
                Err(LoadError::InvalidField { .. }) => assert!(buckets >= 1 << 32),
                other => panic!("{other:?}"),
            }
            assert!(
                reader.max_excess < 9 * MEGABYTE / 2,
                "{buckets} buckets, {words} bytes of them read: {} bytes more in memory",
                reader.max_excess
            );
        }
    }
}

/// Makes the header of a filter that grows name as many buckets as its first size allows after
/// this many doublings, half of them split. Returns the number of words, one for each.
fn enlarge(header: &mut [u8], doublings: u32) -> u64 {
    let (round, split) =
        (number(header, FIRST) << doublings, number(header, FIRST) << doublings >> 1);
    let buckets = round + split;
    put(header, SIZE, u64::from(doublings) << 32 | split);
    let slots = u64::from(header[SLOTS]) * buckets;
    put(header, CAPACITY, slots * number(header, LOAD) / 256);
    put(header, WORDS, buckets);
    amend_header(header);
    buckets
}

/// The words of buckets without items, each with the level of its place, for a header that was
/// [enlarged](enlarge) by one doubling at least.
fn empty_words(header: &[u8], bytes: usize) -> Vec<u8> {
    let level = number(header, SIZE) >> 32;
    let split = number(header, SIZE) & u64::from(u32::MAX);
    let word = |bucket| if bucket < split { (level + 1) << 60 } else { level << 60 };
    (0..bytes.div_ceil(8) as u64).flat_map(|nth| u64::to_le_bytes(word(nth))).take(bytes).collect()
}

/// As of fixed filters. The words go to memory of the table, of which a huge page may be taken when
/// its first bytes have arrived.
#[test]
fn memory_of_a_filter_that_grows_does_so_with_the_bytes_read() {
    let _alone = ALONE.lock();
    for first in [1_000, 3_000_000] {
        let filter = GrowingFilter::builder().capacity(first).seed(1).build().expect("small");
        let header = &mut filter.to_bytes()[..HEADER];
        drop(GrowingFilter::loader().bytes(&filter.to_bytes()).expect("a snapshot"));
        drop(filter);
        for doublings in [1, 7, 11] {
            for words in [0, 1, 100_000, 3 * MEGABYTE, 8 * MEGABYTE - 1] {
                let mut bytes = header.to_vec();
                let all = enlarge(&mut bytes, doublings);
                let words = words.min(8 * all as usize);
                bytes.extend(empty_words(&bytes, words));
                let mut reader = Measuring::new(&bytes);
                match GrowingFilter::loader().reader(&mut reader) {
                    Err(LoadError::Truncated { received, .. }) => {
                        assert_eq!(received, bytes.len() as u64);
                    }
                    // Some systems refuse this much address space.
                    Err(LoadError::OutOfMemory { bytes, .. }) => assert_eq!(bytes, 8 * all),
                    other => panic!("{other:?}"),
                }
                assert!(
                    reader.max_excess < 9 * MEGABYTE / 4,
                    "{all} words, {words} bytes of them read: {} bytes more in memory",
                    reader.max_excess
                );
            }
        }
    }
}

/// A filter that grows is not made from a copy of what has arrived.
#[test]
fn words_are_in_memory_once() {
    let _alone = ALONE.lock();
    let builder = GrowingFilter::builder().capacity(100_000).seed(1).reserve_address_space(false);
    let (filter, _) = filled::<GrowingSets>(builder, 1_500_000);
    let bytes = filter.to_bytes();
    let size = filter.size_in_bytes();
    drop(filter);
    for chunk in [60_000, bytes.len()] {
        let most = max_allocated(|| {
            let mut loader = GrowingFilter::loader().reserve_address_space(false);
            for chunk in bytes.chunks(chunk) {
                loader.push(chunk).expect("its own snapshot");
            }
            loader.finish().expect("complete")
        });
        assert!(most < size + 200_000, "{most} bytes for {size}");
    }
}

/// A loader does not keep the memory that it took for bytes that it refused.
#[test]
fn refused_bytes_take_no_memory() {
    let _alone = ALONE.lock();
    let (filter, _) =
        filled::<GrowingSets>(GrowingFilter::builder().capacity(3_000_000).seed(1), 3_500_000);
    let bytes = filter.to_bytes();
    drop(filter);
    let mut damaged = bytes.clone();
    *damaged.last_mut().expect("a checksum") ^= 1;
    let before = resident();
    let mut loader = GrowingFilter::loader();
    let mut pushed = 0;
    for place in [0, 10, 1_000, 3 * MEGABYTE, 4 * MEGABYTE, bytes.len() - 3 * MEGABYTE] {
        loader.push(&bytes[pushed..place]).expect("its own snapshot");
        pushed = place;
        assert!(matches!(loader.push(&damaged[place..]), Err(LoadError::DamagedBuckets)));
        let excess = resident().saturating_sub(before + place);
        assert!(excess < 9 * MEGABYTE / 4, "{excess} bytes more in memory at {place}");
    }
    loader.push(&bytes[pushed..]).expect("its own snapshot");
    assert!(loader.finish().expect("complete").to_bytes() == bytes);
}

/// Bytes that `work` allocates, at most at the same time.
fn max_allocated<R>(work: impl FnOnce() -> R) -> usize {
    let before = USED.load(Relaxed);
    MAX_USED.store(before, Relaxed);
    drop(work());
    MAX_USED.load(Relaxed) - before
}

/// Whatever arrives, a loader allocates little more than its limit, and before the header is
/// accepted next to nothing.
fn damage_within_limit<K: Kind>(keys: u64) {
    const LIMIT: usize = 10_000;
    let _alone = ALONE.lock();
    let builder = new::<K>().capacity(20).seed(6);
    let (filter, _) = filled::<K>(builder, keys);
    let bytes = filter.to_bytes();
    let mut rng = rng(5);
    let mut most = 0;
    for round in 0..scaled(2_000, 50_000) {
        let mut damaged = bytes.clone();
        corrupt(&mut damaged, &mut rng);
        if round % 4 == 0 && damaged.len() > HEADER {
            // As many buckets as a header can name, and more.
            let level: u32 = rng.random_range(0..60);
            put(&mut damaged, WORDS, 1_u64.wrapping_shl(level));
        }
        if round % 2 == 0 {
            amend(&mut damaged);
        }
        most = most.max(max_allocated(|| pushed::<K>(&damaged, LIMIT, &mut rng)));
    }
    // Stripes, counters and header come on top.
    assert!(most < LIMIT + 100_000, "{most} bytes");

    // A header according to which the table has as many buckets as its first size allows.
    let mut large = bytes[..HEADER].to_vec();
    enlarge(&mut large, 14);
    let mut outcome = None;
    let most = max_allocated(|| outcome = pushed::<K>(&large, LIMIT, &mut rng).err());
    assert!(matches!(outcome, Some(LoadError::LimitExceeded { .. })), "{outcome:?}");
    assert!(most < 10_000, "{most} bytes");
}

#[test]
fn no_damage_makes_a_loader_of_sets_exceed_its_limit() {
    damage_within_limit::<GrowingSets>(1_200);
}

#[test]
fn no_damage_makes_a_loader_of_maps_exceed_its_limit() {
    damage_within_limit::<GrowingMaps>(1_200);
}
