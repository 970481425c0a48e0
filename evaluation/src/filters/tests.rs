//! What all kinds have in common, and the paper's figures for those that are in it.

use std::collections::BTreeMap;

use guira::Layout;
use rand::{RngExt, SeedableRng, rngs::SmallRng};

use super::{Filter, Kind, all};
use crate::common::Keys;

/// Buckets for 2^20 items of the cuckoo filters, so of 1.5 MiB.
const BYTES: usize = 6 << 18;

const PRESENT: Keys = Keys::new(1);
const ABSENT: Keys = Keys::new(2);

/// Filled as the paper does; how many keys are in it.
fn full(kind: &Kind) -> (Box<dyn Filter>, usize) {
    let (mut filter, items) = (kind.build)(BYTES);
    let most = if kind.until_full { filter.slots() + 1 } else { items };
    let inserted = filter.inserts(&PRESENT.range(0..most as u64));
    assert_eq!(inserted < most, kind.until_full, "{}: {inserted} of {most}", kind.name);
    (filter, inserted)
}

#[test]
fn a_full_filter_has_all_its_keys_and_the_papers_space_and_rate() {
    // Bits per item, and per cent of false positives: Table 3 of the paper, or what follows from the
    // definition where the paper has no figure.
    let paper = [
        ("CF", 12.60, 0.19),
        ("ss-CF", 12.58, 0.09),
        ("BF", 13.0, 0.19),
        ("blocked BF", 13.0, 0.43),
        ("QF", 13.33, 0.18),
        // 11.125 bits a slot, at 90 %.
        ("RSQF", 12.36, 0.18),
        // Four times the space of the Bloom filter, and its rate.
        ("CBF", 52.0, 0.19),
        // Full at 80 % at this size, and sooner the larger it is: at 78 % in the paper, so 15.51 bits.
        // For the rate of 0.76 % there, see there.
        ("dl-CBF", 14.95, 0.63),
    ];
    for kind in all() {
        let (filter, items) = full(&kind);
        assert_eq!(filter.lookups(&PRESENT.range(0..items as u64)), items, "{}", kind.name);
        let queries = 1_000_000;
        let rate = 100.0 * filter.lookups(&ABSENT.range(0..queries)) as f64 / queries as f64;
        let bits = 8.0 * filter.bytes() as f64 / items as f64;
        eprintln!("{}: {bits:.2} bits, {rate:.4} %", kind.name);
        let load = items as f64 / filter.slots() as f64;
        let layout = Layout::ALL.iter().find(|layout| kind.name.contains(&format!("{layout:?}")));
        let (expected_bits, expected_rate) = match layout {
            Some(layout) => (64.0 / f64::from(layout.lanes()) / load, 100.0 * layout.rate_at(load)),
            None => match paper.iter().find(|(name, ..)| *name == kind.name) {
                Some(&(_, bits, rate)) => (bits, rate),
                None => continue,
            },
        };
        assert!((bits / expected_bits - 1.0).abs() < 0.015, "{}: {bits} bits", kind.name);
        // Four standard deviations of a Poisson number, and half of the last digit given.
        let expected = expected_rate / 100.0 * queries as f64;
        let slack = 100.0 * 4.0 * expected.sqrt() / queries as f64 + 0.005;
        assert!((rate - expected_rate).abs() < slack, "{}: {rate} %", kind.name);
    }
}

#[test]
fn nothing_is_lost_whatever_is_put_in_and_taken_out() {
    for kind in all().into_iter().filter(|kind| kind.removes) {
        let (mut filter, items) = (kind.build)(6 << 7);
        let mut rng = SmallRng::seed_from_u64(3);
        // Twice as many keys as fit, some of them twice in the filter.
        let mut oracle: BTreeMap<u64, usize> = BTreeMap::new();
        let mut copies = 0;
        for step in 0..40_000 {
            let key = PRESENT.key(rng.random_range(0..2 * items as u64));
            let owned = oracle.entry(key).or_default();
            // Between nearly empty and as full as it is meant to be, up and down.
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
                assert_eq!(filter.lookups(&kept), kept.len(), "{} at step {step}", kind.name);
            }
        }
        for (key, owned) in oracle {
            assert_eq!(filter.removes(&vec![key; owned]), Some(owned), "{}", kind.name);
        }
        // Nobody's key is left: but for a counter of the counting Bloom filter that overflowed.
        let left = filter.lookups(&PRESENT.range(0..10_000));
        assert!(left == 0, "{}: {left} are left", kind.name);
    }
}

#[test]
fn filters_that_cannot_remove_say_so() {
    for kind in all() {
        let (mut filter, _) = (kind.build)(6 << 7);
        assert_eq!(filter.remove(7).is_some(), kind.removes, "{}", kind.name);
        assert_eq!(filter.removes(&[7, 8]).is_some(), kind.removes, "{}", kind.name);
    }
}

/// Mean cache lines per look-up of a full filter, of keys that are absent and of present ones.
fn lines(name: &str) -> [f64; 2] {
    let kind = all().into_iter().find(|kind| kind.name == name).expect("a name");
    let (filter, _) = full(&kind);
    [ABSENT, PRESENT].map(|keys| {
        let lines = keys.range(0..10_000).into_iter().map(|key| filter.lines(key).expect("known"));
        lines.sum::<usize>() as f64 / 1e4
    })
}

#[test]
fn look_ups_read_as_many_lines_as_their_definitions_say() {
    // Of buckets of 6 bytes that are read as 8, 3 in 32 straddle two lines.
    let straddling = 1.0 + 3.0 / 32.0;
    for (name, absent, present) in [
        ("CF", 2.0 * straddling, 2.0 * straddling),
        ("ss-CF", 2.0 * straddling, 2.0 * straddling),
        ("dl-CBF", 4.0 * straddling, 4.0 * straddling),
        ("BF", 2.0, 9.0),
        ("CBF", 2.0, 9.0),
        ("blocked BF", 1.0, 1.0),
        ("split BF", 1.0, 1.0),
        ("guira Plain5x12", 2.0, 2.0),
    ] {
        let found = lines(name);
        let near = |found: f64, expected: f64| (found - expected).abs() < 0.06;
        assert!(near(found[0], absent) && near(found[1], present), "{name}: {found:?}");
    }
    // A quotient filter at 90 % reads a stretch of one line or some.
    assert!(lines("QF").iter().all(|&lines| (1.0..2.5).contains(&lines)), "{:?}", lines("QF"));
}

#[test]
fn guira_in_batches_says_how_many_fitted() {
    let (mut filter, items) = all()
        .into_iter()
        .find(|kind| kind.name.ends_with("batches"))
        .map(|kind| (kind.build)(6 << 7))
        .expect("guira in batches");
    let keys = PRESENT.range(0..filter.slots() as u64 + 100);
    let inserted = filter.inserts(&keys);
    assert!(inserted >= items && inserted <= filter.slots());
    assert_eq!(filter.removes(&keys).map(|removed| removed >= inserted), Some(true));
}
