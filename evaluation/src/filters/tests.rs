//! Checks of all kinds of filters against a multiset, and against the paper's values.

use std::collections::BTreeMap;

use guira::Layout;
use guira_harness::Keys;
use rand::{RngExt, SeedableRng, rngs::SmallRng};

use super::{Filter, Kind, all};
use crate::experiments::table_3::PAPER;

/// Size of the cuckoo filters with 2^20 slots, in bytes.
const BYTES: usize = 6 << 18;

const PRESENT: Keys = Keys::new(1);
const ABSENT: Keys = Keys::new(2);

/// Fills a filter as the paper does, and returns it with the number of keys.
fn full(kind: &Kind) -> (Box<dyn Filter>, usize) {
    let (mut filter, items) = (kind.build)(BYTES);
    let most = if kind.until_full { filter.slots() + 1 } else { items };
    let inserted = filter.insert_all(&PRESENT.range(0..most as u64));
    assert_eq!(inserted < most, kind.until_full, "{}: {inserted} of {most}", kind.name);
    (filter, inserted)
}

#[test]
fn a_full_filter_holds_its_keys_with_the_papers_space_and_rate() {
    for kind in all() {
        let (filter, items) = full(&kind);
        assert_eq!(filter.lookup_all(&PRESENT.range(0..items as u64)), items, "{}", kind.name);
        let queries = 1_000_000;
        let rate = 100.0 * filter.lookup_all(&ABSENT.range(0..queries)) as f64 / queries as f64;
        let bits = 8.0 * filter.bytes() as f64 / items as f64;
        eprintln!("{}: {bits:.2} bits, {rate:.4} %", kind.name);
        let load = items as f64 / filter.slots() as f64;
        let layout = Layout::ALL.iter().find(|layout| kind.name.contains(&format!("{layout:?}")));
        let (expected_bits, expected_rate) = match (layout, &*kind.name) {
            (Some(layout), _) => (
                64.0 / f64::from(layout.slots_per_bucket()) / load,
                100.0 * layout.false_positive_rate_at(load),
            ),
            // Four times the space of the Bloom filter, at the same rate.
            (_, "CBF") => (52.0, 0.19),
            // Larger tables fill less: 80 % at this size, 78 % (15.51 bits) in the paper. The
            // paper's rate is 0.76 %; `d_left` explains the difference.
            (_, "dl-CBF") => (14.95, 0.63),
            (_, name) => PAPER
                .iter()
                .find(|paper| paper.0 == name)
                .map(|paper| (paper.1, paper.2))
                .expect("a filter of Table 3"),
        };
        assert!((bits / expected_bits - 1.0).abs() < 0.015, "{}: {bits} bits", kind.name);
        // Four standard deviations of a Poisson variable, and half of the last printed digit.
        let expected = expected_rate / 100.0 * queries as f64;
        let slack = 100.0 * 4.0 * expected.sqrt() / queries as f64 + 0.005;
        assert!((rate - expected_rate).abs() < slack, "{}: {rate} %", kind.name);
    }
}

#[test]
fn random_inserts_and_removals_lose_no_key() {
    for kind in all().into_iter().filter(|kind| kind.supports_removal) {
        let (mut filter, items) = (kind.build)(6 << 7);
        let mut rng = SmallRng::seed_from_u64(3);
        // Twice as many keys as fit; the filter holds some of them twice.
        let mut oracle: BTreeMap<u64, usize> = BTreeMap::new();
        let mut copies = 0;
        for step in 0..40_000 {
            let key = PRESENT.key(rng.random_range(0..2 * items as u64));
            let owned = oracle.entry(key).or_default();
            // Alternate between growing and shrinking.
            let grows = if step / 2_000 % 2 == 0 { 80 } else { 25 };
            if rng.random_range(0..100) < grows {
                if *owned < 2 && copies < items * 9 / 10 && filter.insert(key) {
                    (*owned, copies) = (*owned + 1, copies + 1);
                }
            } else if *owned > 0 {
                assert_eq!(filter.remove(key), Some(true), "{} at step {step}", kind.name);
                (*owned, copies) = (*owned - 1, copies - 1);
            }
            if step % 500 == 0 {
                let kept: Vec<u64> =
                    oracle.iter().filter(|(_, n)| **n > 0).map(|(key, _)| *key).collect();
                assert_eq!(filter.lookup_all(&kept), kept.len(), "{} at step {step}", kind.name);
            }
        }
        for (key, owned) in oracle {
            assert_eq!(filter.remove_all(&vec![key; owned]), Some(owned), "{}", kind.name);
        }
        let left = filter.lookup_all(&PRESENT.range(0..10_000));
        assert!(left == 0, "{}: {left} keys are left", kind.name);
    }
}

#[test]
fn filters_without_removal_return_none() {
    for kind in all() {
        let (mut filter, _) = (kind.build)(6 << 7);
        assert_eq!(filter.remove(7).is_some(), kind.supports_removal, "{}", kind.name);
        assert_eq!(filter.remove_all(&[7, 8]).is_some(), kind.supports_removal, "{}", kind.name);
    }
}

/// Mean cache lines per lookup of an absent and of a present key in a full filter.
fn lines(name: &str) -> [f64; 2] {
    let kind = all().into_iter().find(|kind| kind.name == name).expect("a name");
    let (filter, _) = full(&kind);
    [ABSENT, PRESENT].map(|keys| {
        let lines =
            keys.range(0..10_000).into_iter().map(|key| filter.cache_lines(key).expect("known"));
        lines.sum::<usize>() as f64 / 1e4
    })
}

#[test]
fn lookups_read_as_many_cache_lines_as_defined() {
    // Of the 6-byte buckets, which are read as 8 bytes, 3 in 32 straddle two lines.
    let straddling = 1.0 + 3.0 / 32.0;
    for (name, absent, present) in [
        ("CF", 2.0 * straddling, 2.0 * straddling),
        ("ss-CF", 2.0 * straddling, 2.0 * straddling),
        ("dl-CBF", 4.0 * straddling, 4.0 * straddling),
        ("BF", 2.0, 9.0),
        ("CBF", 2.0, 9.0),
        ("blocked BF", 1.0, 1.0),
    ] {
        let found = lines(name);
        let near = |found: f64, expected: f64| (found - expected).abs() < 0.06;
        assert!(near(found[0], absent) && near(found[1], present), "{name}: {found:?}");
    }
    // A quotient filter at 90 % reads one cluster, which spans one line or a few.
    assert!(lines("QF").iter().all(|&lines| (1.0..2.5).contains(&lines)), "{:?}", lines("QF"));
}

#[test]
fn batches_of_guira_count_the_keys_that_fit() {
    let (mut filter, items) = all()
        .into_iter()
        .find(|kind| kind.name.ends_with("batches"))
        .map(|kind| (kind.build)(6 << 7))
        .expect("guira in batches");
    let keys = PRESENT.range(0..filter.slots() as u64 + 100);
    let inserted = filter.insert_all(&keys);
    assert!(inserted >= items && inserted <= filter.slots());
    assert_eq!(filter.remove_all(&keys).map(|removed| removed >= inserted), Some(true));
}
