//! Filters with a time to live after a pause, or beside so few writes that their sweeps come late.

use guira::{Filter, kind::Expiring};

use super::{
    common::{Subject, suite::on_both_engines},
    ttl::{INTERVAL, LAG, TTL, builder, filter, left, now, pass},
};

on_both_engines! {
    a_pause_is_made_up_for_at_once,
    a_tick_sweeps_no_more_than_a_life,
    a_sweep_reaches_what_expired_in_a_pause,
    a_sweep_begins_by_sweeping,
    a_generation_waits_for_its_sweep,
    what_comes_late_lives_as_long,
}

/// After a pause of any length, the first write forgets what has expired, and nothing else.
fn a_pause_is_made_up_for_at_once<G: Subject>() {
    for capacity in [100, 300_000] {
        let filter = filter::<G>(capacity);
        for round in 0..200 {
            let pause = round * INTERVAL / 19;
            // The present generation is swept, as it is in its second half.
            filter.sweep(u64::MAX);
            filter.tick();
            filter.sweep(u64::MAX);
            filter.insert(&(2 * round)).expect("room");
            let start = now();
            pass(pause);
            filter.insert(&(2 * round + 1)).expect("room");
            let [first, second] = [0, 1].map(|item| filter.contains(&(2 * round + item)));
            assert!(second && (first || pause >= 6 * INTERVAL - LAG));
            assert!(!first || now() < start + 7 * INTERVAL, "found after {pause}");
        }
    }
}

/// After a pause of any length, a `tick` begins as many generations as let everything expire, and
/// no more, each with a sweep if stamps are few.
fn a_tick_sweeps_no_more_than_a_life<G: Subject>() {
    for window in [1, 6, 13] {
        let filter = builder::<G>(TTL, 100_000).window(window).build().expect("memory");
        filter.insert(&1).expect("room");
        let first = filter.generation();
        pass(500 * INTERVAL);
        let begun = filter.tick().expect("generations are due");
        assert_eq!(begun, first + u64::from(window) + 1, "window {window}");
        assert!(filter.is_empty());
    }
}

/// Returns a filter to which this many items have come, and after a pause another one. Before it,
/// most of the buckets were swept in a generation in which nothing had expired.
pub fn after_a_pause<G: Subject>(items: u64) -> Filter<Expiring, G> {
    let filter = filter::<G>(if <G as Subject>::GROWS { 1_000 } else { items as usize });
    (0..items).for_each(|key| _ = filter.insert(&key).expect("room"));
    pass(INTERVAL);
    filter.tick();
    let all = left(&filter);
    filter.sweep(all - all / 8);
    pass(8 * INTERVAL);
    filter.insert(&items).expect("room");
    let left = left(&filter);
    assert!(filter.len() == 1 && (1..all / 8).contains(&left), "{left} of {all} buckets are left");
    filter
}

/// Sweeps go on with the present generation once that of an earlier one is complete: in the same
/// call if it may sweep all buckets, and otherwise in the next one. So a loop comes to an end.
fn a_sweep_reaches_what_expired_in_a_pause<G: Subject>() {
    for (buckets, passes) in [(100, 2), (u64::MAX, 1)] {
        let filter = after_a_pause::<G>(100_000);
        for _ in 0..passes {
            while filter.sweep(buckets) > 0 {}
        }
        // The header, the checksums, a slot, and the levels of buckets.
        let per_bucket = filter.layout().slots_per_bucket() as usize;
        let levels = if <G as Subject>::GROWS { filter.slots() / per_bucket } else { 0 };
        let occupied = filter.to_bytes().into_iter().filter(|&byte| byte != 0).count();
        assert!(occupied < levels + 400, "{occupied} bytes are not zero");
    }
}

/// A call that finds the sweep of an earlier generation complete sweeps as many buckets of the
/// present one as another call.
fn a_sweep_begins_by_sweeping<G: Subject>() {
    let swept = || {
        let filter = after_a_pause::<G>(100_000);
        while filter.sweep(100) > 0 {}
        filter
    };
    let all = swept().sweep(0);
    assert!(all > 10_000);
    for buckets in [100, 1_024, 5_000] {
        assert_eq!(swept().sweep(buckets), all - buckets);
    }
}

/// A lookup whose first copy has expired looks for another one, but nothing has disturbed it.
#[cfg(feature = "stats")]
#[test]
fn a_copy_that_has_expired_causes_no_retry() {
    let filter = after_a_pause::<guira::kind::Fixed>(100_000);
    (0..100_000).for_each(|key| _ = filter.contains(&key));
    assert_eq!(filter.stats().lookup_retries, 0);
}

/// Where writes come too seldom to sweep, generations begin late: nothing is forgotten early, no
/// write sweeps more than it may, and a `tick` makes up for all of it.
fn a_generation_waits_for_its_sweep<G: Subject>() {
    let filter = filter::<G>(300_000);
    filter.tick();
    let all = left(&filter).max(filter.slots() as u64 / 6);
    let (mut items, mut waited) = (Vec::new(), 0);
    for key in 0..200_u64 {
        let (before, old) = (left(&filter), filter.generation());
        items.push((key, now()));
        filter.insert(&key).expect("room");
        let after = left(&filter);
        assert!(after >= before || before - after <= 1_024);
        waited += u32::from(filter.generation() == old);
        for &(key, start) in &items {
            let is_young = now() - start < 6 * INTERVAL - LAG;
            assert!(!is_young || filter.contains(&key), "{key} was forgotten");
        }
        pass(INTERVAL);
    }
    assert!(all > 40 * 1_024 && waited > 50, "generations waited {waited} times");
    pass(7 * INTERVAL);
    filter.tick();
    assert!(filter.is_empty(), "{} items are left", filter.len());
}

/// A write that comes when its generation is over, and cannot begin the next one, is not cheated.
fn what_comes_late_lives_as_long<G: Subject>() {
    let filter = filter::<G>(300_000);
    filter.tick();
    // So much later that the present generation needs several sweeps.
    pass(20 * INTERVAL);
    filter.insert(&1).expect("room");
    for _ in 0..5 {
        pass(INTERVAL * 6 / 5 - LAG);
        assert!(filter.contains(&1), "forgotten early");
        filter.tick();
    }
    pass(3 * INTERVAL);
    filter.tick();
    assert!(!filter.contains(&1));
}
