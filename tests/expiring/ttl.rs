//! Filters with a time to live, which keep time themselves, by a clock that the test sets.

use std::{
    cell::Cell,
    sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
    thread,
    time::Duration,
};

use guira::{Filter, FilterBuilder, InsertError, kind::Expiring};
use rand::RngExt;

use super::{
    Stop,
    common::{Subject, rng, scaled, suite::on_both_engines},
};

on_both_engines! {
    items_live_for_their_time,
    lives_may_be_shorter,
    writes_sweep_a_little_each,
    batches_sweep_for_their_items,
    no_stamp_comes_twice,
    threads_lose_nothing,
    a_clone_goes_on,
    the_clock_of_a_caller_changes_nothing,
    a_third_more_is_enough,
    a_tick_at_the_end_of_time_ends,
}

const SECOND: u64 = 1_000_000_000;
/// The lag of the system's clock, for which a filter makes up by a longer interval.
pub const LAG: u64 = 72_000_000;
/// So an interval of a filter with the default window has this length.
pub const INTERVAL: u64 = 10 * SECOND;
pub const TTL: Duration = Duration::from_nanos(6 * INTERVAL - LAG);

thread_local! {
    static NOW: Cell<u64> = const { Cell::new(0) };
}

/// The time of the filters of this thread.
pub fn now() -> u64 {
    NOW.get()
}

/// Lets time pass for the filters of this thread.
pub fn pass(nanos: u64) {
    NOW.set(NOW.get() + nanos);
}

pub fn builder<G: Subject>(ttl: Duration, capacity: usize) -> FilterBuilder<Expiring, G> {
    let builder = Filter::<Expiring, G>::builder().ttl(ttl).clock(now);
    builder.capacity(capacity).seed(7)
}

pub fn filter<G: Subject>(capacity: usize) -> Filter<Expiring, G> {
    let filter = builder::<G>(TTL, capacity).build().expect("memory");
    assert_eq!(filter.interval(), Some(Duration::from_nanos(INTERVAL)));
    filter
}

/// Inserts an item by one of the calls that remember it for the whole time to live. Returns whether
/// it was inserted: an alias may be found in its place.
fn insert<G: Subject>(filter: &Filter<Expiring, G>, key: u64, call: u32) -> bool {
    let batch: [u64; 9] = std::array::from_fn(|nth| key + ((nth as u64) << 40));
    match call {
        0 => filter.insert(&key).is_ok(),
        1 => filter.insert_unique(&key).expect("room").is_new(),
        2 => filter.insert_unique_for(&key, filter.window()).expect("room").is_new(),
        3 => filter.insert_batch([key]).is_ok(),
        4 => filter.insert_unique_mask(&[key]).added == 1,
        5 => filter.insert_batch(batch).is_ok(),
        6 => filter.insert_unique_batch(&[key; 9], &mut [false; 9]) == Ok(1),
        7 => filter.insert_for(&key, 1).is_ok() && filter.refresh(&key),
        _ => filter.insert_for(&key, 1).is_ok() && filter.refresh_mask(&[key; 9]) == 511,
    }
}

/// An item is found for the time to live at least, and after one more interval no longer, by
/// whatever call it was inserted, and however time passes.
fn items_live_for_their_time<G: Subject>() {
    for (window, capacity) in [(1, 20_000), (6, 20_000), (13, 20_000), (13, 200_000), (6, 2_000)] {
        let filter = builder::<G>(TTL, capacity).window(window).build().expect("memory");
        let mut rng = rng(window.into());
        let [ttl, interval] = [TTL, filter.interval().expect("a time to live")]
            .map(|time| u64::try_from(time.as_nanos()).expect("a short time"));
        let life = interval * (u64::from(window) + 1);
        let (mut items, mut expired, mut found, mut last) = (Vec::new(), 0, 0, now());
        for key in 0..scaled(2_000, 20_000) {
            pass(match rng.random_range(0..200) {
                0 => rng.random_range(0..interval),
                1..100 => rng.random_range(0..interval / 20),
                _ => 0,
            });
            // After a pause, a write alone could not sweep a filter of many buckets.
            if now() - last > interval / 4 || rng.random_bool(0.1) {
                filter.tick();
            }
            last = now();
            if insert(&filter, key, rng.random_range(0..9)) {
                items.push((key, last));
            }
            items.retain(|&(key, start)| {
                let age = now() - start;
                assert!(age >= ttl || filter.contains(&key), "{key} was forgotten after {age}");
                if age >= life {
                    expired += 1;
                    found += u32::from(filter.contains(&key));
                }
                age < life
            });
        }
        assert!(expired > 500, "{expired} of the items expired");
        // As many as there are false positives.
        assert!(found * 100 < expired, "{found} of {expired} were found for too long");
    }
}

/// An item that is inserted for a time is found for that, and for two intervals more at most.
fn lives_may_be_shorter<G: Subject>() {
    let filter = filter::<G>(1_000);
    let mut key = 0;
    for percent in 1..=100 {
        let life = TTL * percent / 100;
        let nanos = u64::try_from(life.as_nanos()).expect("a short time");
        pass(INTERVAL * u64::from(percent) / 71);
        for is_unique in [true, false] {
            key += 1;
            if is_unique {
                assert!(filter.insert_unique_for(&key, life).expect("room").is_new());
                assert!(!filter.insert_unique_for(&key, life).expect("room").is_new());
            } else {
                filter.insert_for(&key, life).expect("room");
            }
            pass(nanos - 1);
            filter.tick();
            assert!(filter.contains(&key), "forgotten before {life:?}");
            pass(2 * INTERVAL);
            filter.tick();
            assert!(!filter.contains(&key), "found long after {life:?}");
        }
    }
    let too_long = Duration::from_nanos(6 * INTERVAL - LAG + 1);
    assert_eq!(filter.insert_for(&1, too_long), Err(InsertError::InvalidLife));
    assert_eq!(filter.insert_unique_for(&1, Duration::MAX), Err(InsertError::InvalidLife));
    assert_eq!(filter.insert_unique_for(&1, 7), Err(InsertError::InvalidLife));
    let timeless = super::builder::<G>(10, 6).build().expect("memory");
    assert_eq!(timeless.insert_for(&1, TTL), Err(InsertError::InvalidLife));
    // The answer is the generation by which it is removed.
    let generation = filter.insert_unique_for(&1, 2).expect("room");
    assert_eq!(generation, guira::Insertion::New(filter.generation() - 4));
    assert!(filter.remove(&1, filter.generation() - 4));
}

/// The number of buckets that are left to sweep.
pub fn left<G: Subject>(filter: &Filter<Expiring, G>) -> u64 {
    filter.sweep(0)
}

/// No write sweeps more than 1,024 buckets, and those of half an interval sweep them all.
fn writes_sweep_a_little_each<G: Subject>() {
    let filter = filter::<G>(300_000);
    filter.tick();
    let all = filter.slots() as u64 / u64::from(filter.layout().slots_per_bucket());
    let writes = 4_000;
    for generation in 0..20 {
        let mut passes = 0;
        for write in 0..writes {
            let before = left(&filter);
            filter.insert(&(generation * writes + write)).expect("room");
            let after = left(&filter);
            // A pass ends, and the next one begins.
            let begins = after > before;
            passes += u32::from(begins);
            let swept = if begins { before + all - after } else { before - after };
            assert!(swept <= 1_024, "{swept} buckets");
            assert!(write < writes * 11 / 20 || after == 0, "{after} buckets are left");
            pass(INTERVAL / writes);
        }
        assert!(generation == 0 || passes == 1, "{passes} passes in a generation");
    }
}

/// A filter that gets the items for which it was built, in batches of any size, has room for them,
/// and forgets them in time.
fn batches_sweep_for_their_items<G: Subject>() {
    let each = 20_000_u64;
    for size in [40, 5_000, each] {
        let filter = filter::<G>(8 * each as usize);
        let mut generations = 0;
        for first in (0..24 * each).step_by(size as usize) {
            let last = filter.generation();
            filter.insert_batch(first..first + size).expect("room");
            generations += filter.generation() - last;
            if let Some(old) = first.checked_sub(8 * each) {
                let found = (old..old + size).filter(|key| filter.contains(key)).count();
                assert!(found as u64 <= size / 20, "{found} of {size} are found for too long");
            }
            pass(INTERVAL * size / each);
        }
        assert!(generations >= 22, "{generations} generations");
    }
}

/// What has expired stays so: its stamp comes again only after it was swept.
fn no_stamp_comes_twice<G: Subject>() {
    let filter = filter::<G>(100_000);
    let mut rng = rng(1);
    let (mut of, mut key) = (std::collections::BTreeMap::new(), 0_u64);
    for _ in 0..scaled(3_000, 30_000) {
        let generation = filter.insert(&key).expect("room");
        *of.entry(generation).or_insert(0) += 1;
        key += 1;
        if rng.random_bool(0.01) {
            filter.tick();
        }
        let now = filter.generation();
        let visible = of.range(now.saturating_sub(6)..).map(|(_, count)| count).sum::<usize>();
        assert_eq!(filter.len(), visible, "a stamp came twice");
        pass(rng.random_range(0..INTERVAL / 3));
    }
    assert!(filter.generation() > 100);
}

/// Threads that write, tick, and copy the filter, while another one lets time pass: each finds what
/// it has inserted for as long as it should.
fn threads_lose_nothing<G: Subject>() {
    static TIME: AtomicU64 = AtomicU64::new(0);
    let ttl = 6 * INTERVAL - LAG;
    let builder = builder::<G>(TTL, 40_000).clock(|| TIME.load(SeqCst));
    let filter = builder.build().expect("memory");
    let (end, ended) = (TIME.load(SeqCst) + scaled(60, 600) * INTERVAL, AtomicBool::new(false));
    thread::scope(|scope| {
        let _stop = Stop(&ended);
        let writers = [0_u64, 1, 2].map(|writer| {
            let (filter, ended) = (&filter, &ended);
            scope.spawn(move || {
                let (mut items, mut key) = (std::collections::VecDeque::new(), writer << 32);
                while TIME.load(SeqCst) < end && !ended.load(SeqCst) {
                    let start = TIME.load(SeqCst);
                    match key % 3 {
                        0 => _ = filter.insert(&key).expect("room"),
                        1 => _ = filter.insert_for(&key, TTL).expect("room"),
                        _ => _ = filter.insert_batch([key]).expect("room"),
                    }
                    items.push_back((key, start));
                    key += 1;
                    for &(key, start) in items.iter().take(3) {
                        let is_found = filter.contains(&key);
                        assert!(is_found || TIME.load(SeqCst) >= start + ttl, "{key} is missed");
                    }
                    if items.len() > 500 || items[0].1 + ttl < TIME.load(SeqCst) {
                        items.pop_front();
                    }
                    TIME.fetch_add(INTERVAL / 4_000, SeqCst);
                }
            })
        });
        scope.spawn(|| {
            while TIME.load(SeqCst) < end && !ended.load(SeqCst) {
                filter.tick();
                drop(filter.clone());
                filter.sweep(100);
                thread::yield_now();
            }
        });
        for writer in writers {
            writer.join().expect("no item is missed");
        }
    });
    assert!(filter.generation() > 40);
}

/// A copy has the same clock, and an item lives as long in it.
fn a_clone_goes_on<G: Subject>() {
    for elapsed in [0, 1, INTERVAL / 2, INTERVAL - 1, INTERVAL, 3 * INTERVAL] {
        let filter = filter::<G>(1_000);
        filter.insert(&1).expect("room");
        pass(elapsed);
        filter.insert(&2).expect("room");
        let clone = filter.clone();
        pass(6 * INTERVAL - LAG - 1);
        clone.tick();
        assert!(clone.contains(&2), "forgotten early, after {elapsed}");
        pass(INTERVAL + LAG + 1);
        clone.tick();
        assert!(clone.is_empty(), "found for too long, after {elapsed}");
    }
}

/// In a filter that keeps time, the clock of a caller has no say. `advance` takes an interval from
/// what is there, and nothing from what comes later.
fn the_clock_of_a_caller_changes_nothing<G: Subject>() {
    let filter = filter::<G>(100);
    let first = filter.generation();
    assert_eq!(filter.tick_by(|| Duration::ZERO), None);
    assert_eq!(filter.tick_by(|| Duration::MAX), None);
    assert_eq!(filter.advance_to(|| Duration::MAX), first);
    filter.insert(&1).expect("room");
    assert_eq!(filter.advance(), first + 1);
    filter.insert(&2).expect("room");
    pass(6 * INTERVAL - LAG - 1);
    filter.tick();
    assert!(!filter.contains(&1) || filter.generation() < first + 7);
    assert!(filter.contains(&2));
    pass(INTERVAL + LAG + 1);
    filter.tick();
    assert!(filter.is_empty());
}

/// A capacity of a third more than come in the time to live is enough, at the rate of false
/// positives that the filter tells.
fn a_third_more_is_enough<G: Subject>() {
    let filter = builder::<G>(TTL, 8 * 10 * 500).build().expect("memory");
    assert_eq!(filter.window(), 6);
    for key in 0..500 * 10 * scaled(20, 100) {
        filter.insert(&key).expect("room for the rate");
        pass(SECOND / 500);
    }
    // The end of a generation, when the most items are found.
    assert!(filter.len() >= 500 * 60 && filter.len() <= 500 * 70);
    let absent = 1_000_000..3_000_000_u64;
    let found = absent.clone().filter(|key| filter.contains(key)).count() as f64;
    let rate = found / (absent.end - absent.start) as f64;
    assert!(rate <= 1.1 * filter.false_positive_rate(), "{rate} false positives");
}

/// At the last time that there is, and without an interval, a call ends all the same.
fn a_tick_at_the_end_of_time_ends<G: Subject>() {
    let builder = Filter::<Expiring, G>::builder().ttl(TTL).clock(|| u64::MAX).seed(3);
    let filter = builder.capacity(100).build().expect("memory");
    filter.insert(&1).expect("room");
    filter.tick();
    assert!(filter.contains(&1) || filter.is_empty());
    let builder = Filter::<Expiring, G>::builder().clock(now).seed(3);
    let filter = builder.capacity(100).build().expect("memory");
    let generation = filter.generation();
    filter.insert(&1).expect("room");
    filter.tick();
    assert!(filter.contains(&1) && filter.generation() == generation);
    let copy = Filter::<Expiring, G>::loader().bytes(&filter.to_bytes()).expect("its own bytes");
    assert!(copy.contains(&1));
}

/// A snapshot tells that the filter keeps time, and a loaded one goes on by the system's clock.
#[test]
fn a_loaded_filter_keeps_time() {
    use guira::ExpiringFilter;

    let filter = ExpiringFilter::builder().ttl(Duration::from_millis(3)).capacity(100);
    let filter = filter.build().expect("memory");
    filter.insert("nonce").expect("room");
    let loaded = ExpiringFilter::loader().bytes(&filter.to_bytes()).expect("its own bytes");
    assert_eq!(loaded.interval(), filter.interval());
    assert_eq!(loaded.tick_by(|| Duration::MAX), None);
    while loaded.contains("nonce") {
        loaded.tick();
    }
}
