//! Filters with a time to live, by a clock that the test sets.

use std::{
    cell::Cell,
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
    },
    thread,
    time::Duration,
};

use guira::{BuildError, Filter, FilterBuilder, InsertError, kind::Expiring};
use rand::RngExt;

use super::{
    Stop,
    common::{Subject, rng, scaled, suite::on_both_engines},
};

on_both_engines! {
    items_are_found_for_their_time_whatever_is_written,
    what_has_expired_stays_so,
    what_has_expired_makes_room_at_once,
    lives_may_be_shorter,
    lives_may_be_shorter_from_the_start,
    short_lives_are_kept_after_a_load,
    loads_take_no_time_from_what_is_left,
    a_view_in_a_later_generation_shows_nothing_that_has_expired,
    writes_sweep_a_little_each,
    batches_sweep_for_their_items,
    no_stamp_comes_twice,
    threads_lose_nothing,
    a_third_more_is_enough,
    a_clock_may_end,
    a_clock_may_go_back,
    a_snapshot_has_no_clock_of_the_caller,
    settings_that_contradict_one_another_are_refused,
}

pub const SECOND: u64 = 1_000_000_000;
/// The time to live of most filters, and the time of a generation.
pub const TTL: u64 = 60 * SECOND;
pub const INTERVAL: u64 = TTL / 6;

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

pub fn builder<G: Subject>(ttl: u64, capacity: usize) -> FilterBuilder<Expiring, G> {
    let builder = Filter::<Expiring, G>::builder().ttl(Duration::from_nanos(ttl)).clock(now);
    builder.capacity(capacity).seed(7)
}

pub fn filter<G: Subject>(capacity: usize) -> Filter<Expiring, G> {
    builder::<G>(TTL, capacity).build().expect("memory")
}

/// The longest time for which an item may be found.
fn most(ttl: u64) -> u64 {
    ttl + ttl / 5
}

/// The copy of a filter that a snapshot makes.
#[cfg(feature = "std")]
fn loaded<G: Subject>(filter: &Filter<Expiring, G>) -> Filter<Expiring, G> {
    let loader = Filter::<Expiring, G>::loader().clock(now);
    loader.bytes(&filter.to_bytes()).expect("its own bytes")
}

#[cfg(not(feature = "std"))]
fn loaded<G: Subject>(filter: &Filter<Expiring, G>) -> Filter<Expiring, G> {
    filter.clone()
}

/// Writes an item by one of the calls that remember it for the whole time to live. Returns whether
/// it is certain to be found: an alias may be there in its place.
fn write<G: Subject>(filter: &Filter<Expiring, G>, key: u64, call: u32) -> bool {
    let batch: [u64; 9] = std::array::from_fn(|nth| key + ((nth as u64) << 40));
    let short = Duration::from_micros(10);
    match call {
        0 => filter.insert(&key).is_ok(),
        1 => filter.insert_unique(&key).expect("room").is_new(),
        2 => filter.insert_or_refresh(&key).expect("room").is_new(),
        3 => filter.insert_batch([key]).is_ok(),
        4 => filter.insert_unique_mask(&[key]).added == 1,
        5 => filter.insert_batch(batch).is_ok(),
        6 => filter.insert_unique_batch(&[key; 9], &mut [false; 9]) == Ok(1),
        7 => filter.insert_or_refresh_mask(&[key; 9]).added == 1,
        8 => filter.insert_or_refresh_batch(&[key], &mut [false]) == Ok(1),
        9 => filter.insert_for(&key, short).is_ok() && filter.refresh(&key),
        10 => filter.insert_for(&key, short).is_ok() && filter.refresh_mask(&[key; 9]) == 511,
        _ => {
            let is_new = filter.insert_unique_for(&key, short).expect("room").is_new();
            is_new && !filter.insert_or_refresh(&key).expect("room").is_new()
        }
    }
}

/// Whether a key is found, by a lookup of each kind.
fn finds<G: Subject>(filter: &Filter<Expiring, G>, key: u64) -> bool {
    let found = filter.contains(&key);
    assert_eq!(filter.contains_mask(&[key; 20]), if found { (1 << 20) - 1 } else { 0 });
    assert_eq!(filter.count(&key) > 0, found);
    found
}

/// An item is found for the time to live at least, and for 1.2 times as long at most: with no other
/// write, with few and with many, also in copies, whatever the time to live is.
fn items_are_found_for_their_time_whatever_is_written<G: Subject>() {
    /// How many writes there are in a time to live.
    const WRITES: [u64; 5] = [0, 2, 5, 40, 480];
    for ttl in [SECOND / 100, SECOND / 10, SECOND, 3_600 * SECOND] {
        for (nth, (writes, capacity)) in
            WRITES.into_iter().flat_map(|writes| [(writes, 20_000), (writes, 100_000)]).enumerate()
        {
            let mut rng = rng(nth as u64 + ttl);
            let mut filters = vec![builder::<G>(ttl, capacity).build().expect("memory")];
            let (mut items, mut expired, mut found) = (VecDeque::new(), 0, 0);
            let rounds = (writes.min(40) * 4).max(60);
            for round in 0..rounds {
                pass(match writes {
                    0 => 5 * ttl,
                    _ => rng.random_range(0..=2 * ttl / writes.min(40)),
                });
                if round % 23 == 22 {
                    filters.truncate(1);
                    filters.push(filters[0].clone());
                    filters.push(loaded(&filters[0]));
                }
                // So many that the rest of the writes of this time are no other ones.
                for _ in 0..writes.div_ceil(40).clamp(1, 12) {
                    let key = rng.random::<u64>() >> 8;
                    let call = rng.random_range(0..12);
                    if filters.iter().filter(|filter| write(*filter, key, call)).count() > 0 {
                        let of: Vec<bool> =
                            filters.iter().map(|filter| filter.contains(&key)).collect();
                        items.push_back((key, now(), of));
                    }
                }
                // Without other writes, all of an item's life is looked at.
                let without = [ttl / 3, 2 * ttl / 3 - 1, ttl / 5 + 1];
                for part in if writes == 0 { &without[..] } else { &[0] } {
                    pass(*part);
                    for (key, start, of) in &items {
                        let age = now() - start;
                        for (filter, _) in filters.iter().zip(of).filter(|(_, of)| **of) {
                            let is_found = finds(filter, *key);
                            assert!(
                                age >= ttl || is_found,
                                "forgotten after {age} of {ttl}, {writes} writes"
                            );
                            if age >= most(ttl) {
                                expired += 1;
                                found += u32::from(is_found);
                            }
                        }
                    }
                    while items.front().is_some_and(|(_, start, _)| now() - start >= most(ttl)) {
                        items.pop_front();
                    }
                }
            }
            assert!(expired > 20, "{expired} of the items expired, {writes} writes");
            // As many as there are false positives.
            let is_rare = found * 50 <= expired;
            assert!(is_rare, "{found} of {expired} found for too long, {ttl}: {writes} writes");
        }
    }
}

/// After any silence, what had expired is not found again, by whatever writes end it, nor in
/// copies. All of it can be swept, and none of it is counted.
fn what_has_expired_stays_so<G: Subject>() {
    for silence in [1, 2, 5, 7, 16, 40, 1_000, 1 << 20] {
        for full in [false, true] {
            let filter = filter::<G>(100_000);
            let keys = 0..if full { 50_000 } else { 100_u64 };
            keys.clone().for_each(|key| _ = filter.insert(&key).expect("room"));
            pass(TTL + INTERVAL + silence * INTERVAL);
            let gone = |filter: &Filter<Expiring, G>, what: &str| {
                let found = keys.clone().filter(|key| filter.contains(key)).count() as u64;
                assert!(found * 50 <= keys.end, "{what}: {found} are found after {silence}");
            };
            gone(&filter, "before a write");
            assert_eq!(filter.len(), 0);
            let copies = [filter.clone(), loaded(&filter)];
            for filter in copies.iter().chain([&filter]) {
                gone(filter, "before a write");
                for write in 0..40_u64 {
                    filter.insert(&(1 << 40 | write)).expect("room");
                    gone(filter, "after a write");
                    assert!(filter.len() as u64 <= write + 1);
                    pass(INTERVAL / 7);
                }
                while filter.sweep(1_000) > 0 {}
                gone(filter, "after a sweep");
            }
        }
    }
    // All slots are free after a silence.
    let filter = filter::<G>(10_000);
    for round in 0..5_u64 {
        for key in 0..10_000 {
            filter.insert(&(round << 32 | key)).expect("room that expired");
        }
        pass(2 * TTL);
    }
}

/// A full filter has room as soon as its items have expired, at whatever time of a generation.
fn what_has_expired_makes_room_at_once<G: Subject>() {
    for filled_at in [0, INTERVAL / 3, INTERVAL * 9 / 10] {
        for steps in [0, 1, 3, 5] {
            let filter = filter::<G>(1_000);
            G::set_max_bytes(&filter, Some(0));
            filter.insert(&(1_u64 << 40)).expect("room");
            pass(filled_at);
            let most = 2 * filter.slots() as u64;
            let fitted = (0..most).filter(|key| filter.insert(key).is_ok()).count();
            assert!(fitted as u64 >= 1_000 && fitted < most as usize);
            // Writes that add nothing begin generations, or none come.
            let start = now();
            for step in 1..=steps {
                NOW.set(start + (step * TTL / steps).saturating_sub(1));
                assert!(!filter.refresh(&(1_u64 << 41)));
            }
            NOW.set(start + TTL + INTERVAL);
            assert_eq!(filter.len(), 0);
            let again = (most..most + 1_000).filter(|key| filter.insert(key).is_ok()).count();
            assert_eq!(again, 1_000, "filled at {filled_at}, {steps} steps");
        }
    }
}

/// An item that is inserted for a time is found for that, and no longer than others.
fn lives_may_be_shorter<G: Subject>() {
    let filter = filter::<G>(1_000);
    let (mut key, mut shorter) = (0, 0);
    for percent in 1..=100 {
        let life = TTL * percent / 100;
        pass(INTERVAL * percent / 71);
        for is_unique in [true, false] {
            key += 1;
            let time = Duration::from_nanos(life);
            if is_unique {
                assert!(filter.insert_unique_for(&key, time).expect("room").is_new());
                assert!(!filter.insert_unique_for(&key, time).expect("room").is_new());
            } else {
                filter.insert_for(&key, time).expect("room");
            }
            // Without writes, and with some.
            for part in 0..100 {
                if part % 7 == 0 && percent % 2 == 0 {
                    filter.insert(&(1_u64 << 40 | percent << 8 | part)).expect("room");
                }
                assert!(filter.contains(&key), "forgotten before {life}");
                pass(life / 101);
            }
            let end = now() + TTL;
            pass(2 * INTERVAL);
            shorter += u32::from(!filter.contains(&key));
            NOW.set(end.max(now()));
            pass(most(TTL) - TTL);
            assert!(!filter.contains(&key), "found long after {life}");
        }
    }
    assert!(shorter > 25, "{shorter} of 200 expired early");
    for too_long in [Duration::from_nanos(TTL + 1), Duration::MAX] {
        assert_eq!(filter.insert_for(&1, too_long), Err(InsertError::InvalidLife));
        assert_eq!(filter.insert_unique_for(&1, too_long), Err(InsertError::InvalidLife));
    }
    assert_eq!(filter.insert_for(&1, 2), Err(InsertError::InvalidLife), "generations");
    let timeless = super::builder::<G>(10, 6).build().expect("memory");
    let life = Duration::from_nanos(1);
    assert_eq!(timeless.insert_for(&1, life), Err(InsertError::InvalidLife));
    // The answer is the generation by which it is removed.
    for key in 0..9 {
        filter.insert(&(1_u64 << 30 | key)).expect("room");
        pass(INTERVAL);
    }
    let generation = filter.insert_for(&5, Duration::from_nanos(1)).expect("room");
    assert!(generation < filter.generation(), "it expires early");
    assert!(!filter.remove(&5, filter.generation()));
    assert!(filter.remove(&5, generation) && !filter.contains(&5));
}

/// An insert for a time takes the generations before the first one, too: so in a new filter, whose
/// generations have not expired, no other insert takes its slot.
fn lives_may_be_shorter_from_the_start<G: Subject>() {
    const ITEMS: u64 = 1_000;
    let new = filter::<G>(2 * ITEMS as usize);
    for filter in [new.clone(), loaded(&new), new] {
        let life = |key: u64| TTL * (1 + key % 6) / 6 - 1;
        for key in 0..ITEMS {
            let time = Duration::from_nanos(life(key));
            if key % 2 == 0 {
                filter.insert_for(&key, time).expect("room");
            } else {
                let is_new = filter.insert_unique_for(&key, time).expect("room").is_new();
                assert!(is_new || filter.contains(&key));
            }
            filter.insert(&(1 << 40 | key)).expect("room");
        }
        for part in 0..6 {
            let lasting = (0..ITEMS).filter(|&key| part * INTERVAL <= life(key));
            for key in lasting {
                assert!(filter.contains(&key), "forgotten before {}", life(key));
            }
            pass(INTERVAL);
        }
    }
}

/// A filter that grows sweeps by a time that has passed, also where a clock stands still.
#[test]
fn short_lives_are_kept_beside_growth() {
    const TTL: u64 = 20_000;
    const ITEMS: u64 = 500;
    for (start, life) in [(5_640, 20), (5_600, 60), (9_200, 40), (23_560, TTL)] {
        // Ends are so long after this, and generations are of 3,584 ns.
        NOW.set(1 << 30);
        let filter = builder::<guira::kind::Growing>(TTL, 1_000).build().expect("memory");
        pass(start);
        filter.insert(&u64::MAX).expect("room");
        let time = Duration::from_nanos(life);
        (0..ITEMS).for_each(|key| _ = filter.insert_for(&key, time).expect("room"));
        let slots = filter.slots();
        (ITEMS..8_000).for_each(|key| _ = filter.insert(&key).expect("room"));
        assert!(filter.slots() > 2 * slots, "it grows");
        pass(life - 1);
        let lost = (0..ITEMS).filter(|key| !filter.contains(key)).count();
        assert_eq!(lost, 0, "items that were inserted at {start} for {life} are lost");
    }
}

/// A copy reads the time before it holds up others. What they let expire meanwhile has no time left
/// in the copy: no insert for a short life takes it.
#[cfg(feature = "std")]
fn short_lives_are_kept_after_a_load<G: Subject>() {
    type Happening = Box<dyn FnOnce()>;
    thread_local! {
        /// The number of readings until something happens after one of them, and that.
        static NEXT: Cell<Option<(u32, Happening)>> = const { Cell::new(None) };
    }
    fn read() -> u64 {
        let time = now();
        match NEXT.take() {
            Some((0, next)) => next(),
            other => NEXT.set(other.map(|(left, next)| (left - 1, next))),
        }
        time
    }
    // The time until others write, whether they sweep, the time until they write again, and a life.
    let ways = [
        (INTERVAL / 5, true, 0, INTERVAL / 20),
        (3 * TTL / 2, false, INTERVAL + INTERVAL / 10, 3 * TTL / 10),
        (TTL - INTERVAL / 2, false, 0, TTL / 3),
    ];
    for (reading, way) in (0..3).flat_map(|reading| ways.map(|way| (reading, way))) {
        let builder = Filter::<Expiring, G>::builder().ttl(Duration::from_nanos(TTL)).clock(read);
        let filter = Arc::new(builder.capacity(12_000).seed(7).build().expect("memory"));
        pass(2 * INTERVAL - INTERVAL / 10);
        let (other, (first, sweeps, second, life)) = (Arc::clone(&filter), way);
        NEXT.set(Some((
            reading,
            Box::new(move || {
                for time in [first, second] {
                    pass(time);
                    other.insert(&u64::MAX).expect("room");
                }
                if sweeps {
                    other.sweep(u64::MAX);
                }
            }),
        )));
        let bytes = filter.to_bytes();
        NEXT.take();
        let loader = Filter::<Expiring, G>::loader().clock(now);
        let loaded = loader.bytes(&bytes).expect("its own bytes");
        for key in 0..3_000_u64 {
            loaded.insert_for(&key, Duration::from_nanos(life)).expect("room");
        }
        // A filter that grows does so.
        for key in 3_000..if <G as Subject>::GROWS { 30_000 } else { 6_000 } {
            let _ = loaded.insert_unique(&key).expect("room");
        }
        pass(life - 1);
        let lost = (0..3_000_u64).filter(|key| !loaded.contains(key)).count();
        assert_eq!(lost, 0, "{lost} items are lost, reading {reading}, {way:?}");
        pass(most(TTL) + 1 - life);
        let found = (3_000..6_000_u64).filter(|key| loaded.contains(key)).count();
        assert!(found < 30, "{found} items are found too long, reading {reading}, {way:?}");
    }
}

#[cfg(not(feature = "std"))]
fn short_lives_are_kept_after_a_load<G: Subject>() {}

/// Nor does a load itself take time, or another one of what was loaded: ends are rounded once, not
/// each time.
#[cfg(feature = "std")]
fn loads_take_no_time_from_what_is_left<G: Subject>() {
    const TTL: u64 = 20_000;
    const ITEMS: u64 = 500;
    // Ends are then 255 ns later than an interval after this.
    NOW.set(1 << 30);
    let capacity = if <G as Subject>::GROWS { 1_000 } else { 12_000 };
    let filter = builder::<G>(TTL, capacity).build().expect("memory");
    pass(5_633);
    let life = Duration::from_nanos(31);
    (0..ITEMS).for_each(|key| _ = filter.insert_for(&key, life).expect("room"));
    let bytes = filter.to_bytes();
    let load = || {
        NOW.set(2);
        let loader = Filter::<Expiring, G>::loader().clock(now);
        loader.bytes(&bytes).expect("its own bytes")
    };
    let finds_all = |filter: &Filter<_, _>| (0..ITEMS).all(|key| filter.contains(&key));
    let again = (0..10).fold(load(), |filter, _| loaded(&filter));
    assert!(finds_all(&again));
    let grown = load();
    (ITEMS..11_000).for_each(|key| _ = grown.insert(&key).expect("room"));
    assert!(finds_all(&grown));
    let late = load();
    (ITEMS..11_000).for_each(|key| _ = late.insert(&key).expect("room"));
    pass(most(TTL) + 1);
    let found = (ITEMS..11_000).filter(|key| late.contains(key)).count();
    assert_eq!(found, 0, "items that are found too long");
}

#[cfg(not(feature = "std"))]
fn loads_take_no_time_from_what_is_left<G: Subject>() {}

/// What has expired at the save is in no later view, though it was not swept yet; what has not is
/// in all of them.
#[cfg(feature = "std")]
fn a_view_in_a_later_generation_shows_nothing_that_has_expired<G: Subject>() {
    for generations in 12..24_u64 {
        let filter = filter::<G>(1_000_000);
        for generation in 0..generations {
            filter.insert_batch((0..100).map(|key| generation << 8 | key)).expect("room");
            // Then few writes: the pass takes as long as the clock has stamps.
            if generation < 9 {
                filter.sweep(u64::MAX);
            }
            pass(INTERVAL + SECOND / 100);
        }
        pass(3 * TTL);
        let all_expired = filter.to_bytes();
        filter.insert(&u64::MAX).expect("room");
        pass(TTL);
        let one_left = filter.to_bytes();
        for (bytes, is_left) in [(all_expired, false), (one_left, true)] {
            let view = Filter::<Expiring, G>::loader().view(&bytes).expect("its own bytes");
            for later in 0..20 {
                let view = view.in_generation(view.generation() + later).expect("memory");
                let found = (0..generations << 8).filter(|key| view.contains(key)).count();
                assert!(found < 30, "{found} items after {generations} generations and {later}");
                assert!(view.contains(&u64::MAX) || !is_left, "no time has passed");
            }
        }
    }
}

#[cfg(not(feature = "std"))]
fn a_view_in_a_later_generation_shows_nothing_that_has_expired<G: Subject>() {}

/// The number of buckets that are left to sweep, without a part of the work.
pub fn left<G: Subject>(filter: &Filter<Expiring, G>) -> u64 {
    filter.sweep(0)
}

/// No write sweeps more than 1,024 buckets if there are many, and those of half an interval sweep
/// them all.
fn writes_sweep_a_little_each<G: Subject>() {
    let filter = filter::<G>(300_000);
    let all = filter.slots() as u64 / u64::from(filter.layout().slots_per_bucket());
    let (writes, mut passes, mut last) = (4_000, 0, 0);
    for generation in 0..20 {
        for write in 0..writes {
            let before = left(&filter);
            filter.insert(&(generation * writes + write)).expect("room");
            let after = left(&filter);
            // A pass begins.
            passes += u32::from(before > last || after > before);
            last = after;
            let swept = if after > before { all - after } else { before - after };
            assert!(swept <= 1_024, "{swept} buckets");
            assert!(write < writes * 12 / 20 || after == 0, "{after} buckets are left");
            pass(INTERVAL / writes);
        }
    }
    // From the second generation on one expires in each: at first those before the first one.
    assert!((17..=19).contains(&passes), "{passes} passes");
}

/// A filter that gets the items for which it was built, in batches of any size, has room for them,
/// and forgets them in time.
fn batches_sweep_for_their_items<G: Subject>() {
    let each = 20_000_u64;
    for size in [40, 5_000, each] {
        let filter = filter::<G>(8 * each as usize);
        let start = filter.generation();
        for first in (0..24 * each).step_by(size as usize) {
            filter.insert_batch(first..first + size).expect("room");
            if let Some(old) = first.checked_sub(8 * each) {
                let found = (old..old + size).filter(|key| filter.contains(key)).count();
                assert!(found as u64 <= size / 20, "{found} of {size} are found for too long");
            }
            pass(INTERVAL * size / each);
        }
        let generations = filter.generation() - start;
        assert!(generations >= 22, "{generations} generations");
    }
}

/// The items of a batch that takes longer than the time to live are found, each block for its own.
#[test]
fn the_last_items_of_a_long_batch_live_as_long() {
    let filter = filter::<guira::kind::Fixed>(10_000);
    let slow = (0..5_000_u64).inspect(|_| pass(TTL / 1_000));
    filter.insert_batch(slow).expect("room");
    let young = (4_000..4_936_u64).filter(|key| filter.contains(key)).count();
    // (The hashes of a few blocks are made before their items are added.)
    assert!(young > 500, "{young} of the last items are found");
    assert!((0..3_000_u64).filter(|key| filter.contains(key)).count() < 30);
}

/// What has expired stays so: its stamp comes again only after it was swept.
fn no_stamp_comes_twice<G: Subject>() {
    let filter = filter::<G>(100_000);
    let mut rng = rng(1);
    let mut items = VecDeque::new();
    for key in 0..scaled(3_000, 30_000) {
        filter.insert(&key).expect("room");
        items.push_back(now());
        while items.front().is_some_and(|start| now() - start >= most(TTL)) {
            items.pop_front();
        }
        let young = items.iter().filter(|&&start| now() - start < TTL).count();
        let all = young..=items.len();
        assert!(all.contains(&filter.len()), "a stamp came twice: {} of {all:?}", filter.len());
        pass(rng.random_range(0..INTERVAL / 3));
    }
    assert!(filter.generation() > 100);
}

/// Threads that write, sweep, and copy the filter, while another one lets time pass: each finds
/// what it has inserted for as long as it should.
fn threads_lose_nothing<G: Subject>() {
    static TIME: AtomicU64 = AtomicU64::new(0);
    let builder = builder::<G>(TTL, 40_000).clock(|| TIME.load(SeqCst));
    let filter = builder.build().expect("memory");
    let (end, ended) = (TIME.load(SeqCst) + scaled(60, 600) * INTERVAL, AtomicBool::new(false));
    thread::scope(|scope| {
        let _stop = Stop(&ended);
        let writers = [0_u64, 1, 2].map(|writer| {
            let (filter, ended) = (&filter, &ended);
            scope.spawn(move || {
                let (mut items, mut key) = (VecDeque::new(), writer << 32);
                let (mut expired, mut found) = (0, 0);
                while !ended.load(SeqCst) {
                    key += 1;
                    // As many as there is room for.
                    let start = TIME.load(SeqCst);
                    if key % 1_000 == 0 {
                        while TIME.load(SeqCst) < start + INTERVAL && !ended.load(SeqCst) {
                            thread::yield_now();
                        }
                    }
                    let start = TIME.load(SeqCst);
                    let life = Duration::from_nanos(TTL);
                    let written = match key % 6 {
                        0 => filter.insert_unique(&key).expect("room").is_new(),
                        1 => filter.insert_for(&key, life).is_ok(),
                        2 => filter.insert_batch([key]).is_ok(),
                        3 => filter.insert_or_refresh(&key).expect("room").is_new(),
                        4 => filter.insert(&key).is_ok() && filter.refresh(&key),
                        _ => filter.insert(&key).is_ok(),
                    };
                    assert!(written || filter.contains(&key), "no room");
                    if written {
                        items.push_back((key, start, TIME.load(SeqCst)));
                    }
                    if items.is_empty() {
                        continue;
                    }
                    let place = (key.wrapping_mul(0x9e37_79b9) % items.len() as u64) as usize;
                    let (old, start, returned) = items[place];
                    let before = TIME.load(SeqCst);
                    let is_found = filter.contains(&old);
                    let age = TIME.load(SeqCst).saturating_sub(start);
                    assert!(age >= TTL || is_found, "{old} was forgotten after {age}");
                    // (Copies hold up generations.)
                    if before.saturating_sub(returned) >= 2 * TTL {
                        expired += 1;
                        found += u32::from(is_found);
                        items.swap_remove_back(place);
                    }
                    if items.len() > 10_000 {
                        items.pop_front();
                    }
                    if key % 64 == 0 {
                        thread::yield_now();
                    }
                }
                (expired, found)
            })
        });
        let copier = scope.spawn(|| {
            let mut marks = 1_u64 << 50..;
            while !ended.load(SeqCst) {
                let before = TIME.load(SeqCst);
                let mark = marks.next().expect("a key");
                filter.insert(&mark).expect("room");
                let copy = filter.clone();
                let is_found = copy.contains(&mark);
                assert!(TIME.load(SeqCst) - before >= TTL || is_found, "a copy forgets");
                filter.sweep(100);
                thread::sleep(Duration::from_millis(1));
            }
        });
        while TIME.load(SeqCst) < end {
            TIME.fetch_add(INTERVAL / 50, SeqCst);
            thread::sleep(Duration::from_micros(20));
        }
        ended.store(true, SeqCst);
        copier.join().expect("no failure");
        for writer in writers {
            let (expired, found) = writer.join().expect("no failure");
            assert!(found * 20 <= expired + 20, "{found} of {expired} were found for too long");
        }
    });
}

/// A filter whose capacity is a third more than come in a time to live has room for all of them.
fn a_third_more_is_enough<G: Subject>() {
    let capacity = 100_000_u64;
    let filter = filter::<G>(capacity as usize);
    G::set_max_bytes(&filter, Some(0));
    let each = capacity * 3 / 4;
    for key in 0..6 * each {
        filter.insert(&key).expect("room");
        if key % 64 == 0 {
            pass(TTL * 64 / each);
        }
    }
}

/// At the end of time, nothing is forgotten any more, and nothing loops.
fn a_clock_may_end<G: Subject>() {
    static TIME: AtomicU64 = AtomicU64::new(0);
    for last in [u64::MAX, 1 << 63, (1 << 63) - TTL] {
        TIME.store(last - 2 * TTL, SeqCst);
        let builder = builder::<G>(TTL, 100).clock(|| TIME.load(SeqCst));
        let filter = builder.build().expect("memory");
        filter.insert(&1).expect("room");
        TIME.store(last, SeqCst);
        (2..9).for_each(|key| _ = filter.insert(&key).expect("room"));
        assert!((2..9).all(|key| filter.contains(&key)));
        filter.sweep(u64::MAX);
        assert!(filter.clone().contains(&2) && filter.len() >= 7);
    }
}

/// A clock that goes back lets items live for so much longer, and loses none.
fn a_clock_may_go_back<G: Subject>() {
    NOW.set(1_000 * TTL);
    let filter = filter::<G>(1_000);
    let mut rng = rng(5);
    let mut items = VecDeque::new();
    for key in 0..2_000_u64 {
        let step = rng.random_range(0..INTERVAL / 10);
        NOW.set(if rng.random_bool(0.4) { now() - step } else { now() + step });
        filter.insert(&key).expect("room");
        items.push_back((key, now()));
        items.retain(|(_, start)| now() < start + TTL);
        assert!(items.iter().all(|(key, _)| filter.contains(key)), "forgotten early");
    }
}

/// A snapshot says that there was a clock of the caller, and a load needs it.
#[cfg(feature = "std")]
fn a_snapshot_has_no_clock_of_the_caller<G: Subject>() {
    use guira::LoadError;
    let own = filter::<G>(100);
    own.insert(&1).expect("room");
    let (bytes, calls) = (own.to_bytes(), Arc::new(AtomicU64::new(0)));
    let loader = Filter::<Expiring, G>::loader;
    assert!(matches!(loader().bytes(&bytes), Err(LoadError::NoClock)));
    // What is to be counted may be captured.
    let count = {
        let calls = calls.clone();
        move || calls.fetch_add(1, SeqCst)
    };
    let copy = loader().clock(count).bytes(&bytes).expect("its own bytes");
    assert!(copy.contains(&1) && calls.load(SeqCst) > 0);
    assert_eq!(copy.ttl(), Some(Duration::from_nanos(TTL)));
    for filter in [
        super::builder::<G>(100, 6).build().expect("memory"),
        Filter::<Expiring, G>::builder().ttl(Duration::from_secs(9)).capacity(9).build().unwrap(),
    ] {
        let error = loader().clock(now).bytes(&filter.to_bytes());
        assert!(matches!(error, Err(LoadError::UnexpectedClock)));
        assert_eq!(loader().bytes(&filter.to_bytes()).expect("its own").ttl(), filter.ttl());
    }
    // A view needs none: its time stands still.
    let view_of = loader();
    let aligned: Vec<u64> = bytes
        .chunks(8)
        .map(|c| {
            let mut word = [0; 8];
            word[..c.len()].copy_from_slice(c);
            u64::from_ne_bytes(word)
        })
        .collect();
    // SAFETY: of numbers, as bytes.
    let aligned = unsafe { std::slice::from_raw_parts(aligned.as_ptr().cast::<u8>(), bytes.len()) };
    let view = view_of.view(aligned).expect("its own bytes");
    let at = |nanos| view.after(Duration::from_nanos(nanos)).expect("memory").contains(&1);
    assert!(view.contains(&1) && at(TTL - 1) && !at(most(TTL)) && !at(u64::MAX));
    assert_eq!(view.generation(), own.generation());
}

#[cfg(not(feature = "std"))]
fn a_snapshot_has_no_clock_of_the_caller<G: Subject>() {}

fn settings_that_contradict_one_another_are_refused<G: Subject>() {
    let new = || Filter::<Expiring, G>::builder().capacity(100);
    let error = |builder: FilterBuilder<Expiring, G>| builder.build().expect_err("refused");
    let (second, huge) = (Duration::from_secs(1), Duration::from_secs(1 << 31));
    assert_eq!(error(new()), BuildError::NoExpiry);
    let text = BuildError::NoExpiry.to_string();
    assert!(text.contains("`ttl`") && text.contains("`window`"), "{text}");
    assert_eq!(error(new().ttl(second).window(6)), BuildError::TtlAndWindow);
    assert_eq!(error(new().window(6).clock(now)), BuildError::ClockWithoutTtl);
    assert_eq!(error(new().clock(now)), BuildError::ClockWithoutTtl);
    for time in [Duration::ZERO, Duration::from_nanos(19_999), huge, Duration::MAX] {
        assert_eq!(error(new().ttl(time).clock(now)), BuildError::InvalidTtl(time));
    }
    for time in [Duration::from_micros(20), huge / 2] {
        assert_eq!(new().ttl(time).clock(now).build().expect("memory").ttl(), Some(time));
    }
    // Generations are begun by writes alone.
    let timed = filter::<G>(100);
    assert_eq!([timed.advance(), timed.advance()], [timed.generation(); 2]);
    assert_eq!((timed.window(), timed.layout().value_bits()), (6, 4));
}
