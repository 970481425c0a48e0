//! Snapshots: what is saved, and what a load refuses.

use super::*;

fn saves<L: GrowingLayout>() -> u64 {
    let mut most_ahead = 0;
    for (first, keys) in FIRST.iter().flat_map(|&first| [0, 40, 3_000].map(|keys| (first, keys))) {
        let pair = Pair::<L>::with_ahead(first, 0..keys);
        most_ahead = most_ahead.max(ahead(&pair.table));
        let mut loaded =
            Pair { keys: pair.keys.clone(), ..Pair::<L>::of(reloaded::<L>(&pair.table, 8)) };
        assert_eq!(loaded.table.copy_words(), pair.table.copy_words());
        loaded.check();
        let (_, _, words) = pair.table.copy_words().expect("memory");
        // As a dump reads them, in pieces.
        let (mut all, mut random) = (Vec::new(), Random(keys));
        while all.len() < words.len() {
            let mut piece = vec![0; random.below(700).min(words.len() - all.len())];
            pair.table.words_from(all.len() as u64, &mut piece);
            all.append(&mut piece);
        }
        assert_eq!(all, words);
        for key in 0..500 {
            loaded.insert((1 << 40) + key);
        }
        loaded.drain();
    }
    most_ahead
}

#[test]
fn a_loaded_table_is_equal() {
    let ahead = [saves::<Slots5>(), saves::<Slots4>(), saves::<Slots3>(), saves::<Slots2>()];
    assert!(ahead.iter().all(|&ahead| ahead > 1), "{ahead:?}");
}

/// Every word has the level that its place asks for.
#[test]
fn levels_that_do_not_fit_their_places_are_refused() {
    for first in FIRST {
        let pair = Pair::<Slots4>::with_ahead(first, 0..2_000);
        let (grown, _, words) = pair.table.copy_words().expect("memory");
        let (is_ahead, mut accepted) = (ahead(&pair.table), 0);
        for at in (0..words.len()).step_by(if first < 1_000 { 1 } else { 7 }) {
            let at_size = grown.size.level;
            for other in [at_size.saturating_sub(1), at_size, at_size + 1, at_size + 2, 15] {
                let mut words = words.clone();
                if level(words[at]) == other {
                    continue;
                }
                words[at] = words[at] & (u64::MAX >> 4) | u64::from(other) << 60;
                accepted += u64::from(load::<Slots4>(&grown, &words, 8).is_some());
                assert_eq!(accepted, 0, "{first}, {at}, {other}, {is_ahead} ahead");
            }
        }
    }
}

#[test]
fn words_that_are_missing_or_too_many_are_refused() {
    for first in FIRST {
        let pair = Pair::<Slots4>::with_ahead(first, 0..2_000);
        let (grown, _, words) = pair.table.copy_words().expect("memory");
        assert!(load::<Slots4>(&grown, &words, 8).is_some());
        let (&last, fewer) = words.split_last().expect("words");
        let more = [&words[..], &[last]].concat();
        assert!(load::<Slots4>(&grown, fewer, 8).is_none());
        assert!(load::<Slots4>(&grown, &more, 8).is_none());
        assert!(load::<Slots4>(&grown, &[], 8).is_none());
    }
}

#[test]
fn impossible_numbers_are_refused() {
    let pair = Pair::<Slots4>::with_ahead(3, 0..2_000);
    let (grown, _, words) = pair.table.copy_words().expect("memory");
    let (Size { level, split }, limits) = (grown.size, grown.limits);
    let end = pair.table.buckets();
    let name = |grown: Grown| grown.invalid(words.len() as u64).map(|(name, _)| name);
    assert_eq!(name(grown), None);
    for first in [0, (1 << 32) + 1, u64::MAX] {
        assert_eq!(name(Grown { first, ..grown }), Some("first buckets"));
    }
    for level in [16, u32::MAX] {
        assert_eq!(name(Grown { size: Size { level, split }, ..grown }), Some("level"));
    }
    for split in [3 << level, u64::MAX] {
        assert_eq!(name(Grown { size: Size { level, split }, ..grown }), Some("split buckets"));
    }
    for buckets in [0, 3, end - 1, (3 << 15) + 1, 1 << 32, u64::MAX] {
        let limits = Limits { buckets, ..limits };
        assert_eq!(name(Grown { limits, ..grown }), Some("largest number of buckets"), "{buckets}");
    }
    for load in [0, 257, u32::MAX] {
        assert_eq!(name(Grown { limits: Limits { load, ..limits }, ..grown }), Some("load"));
    }
    let len = words.len() as u64;
    let most = grown.numbers(len).start + 2 * ((3 << level) - split);
    assert_eq!([len + 2, most].map(|words| grown.invalid(words)), [None; 2]);
    for words in [0, end - 1, len - 1, len + 1, most + 2, u64::MAX] {
        assert_eq!(grown.invalid(words), Some(("words", words)));
    }
    // Every number at its largest.
    let largest = Grown {
        first: 1 << 32,
        size: Size { level: 0, split: 0 },
        ghosts: u64::MAX,
        limits: Limits { buckets: 1 << 32, load: 256 },
    };
    assert_eq!(largest.invalid(1 << 32), None);
    let level = Size { level: 15, split: (1 << 47) - 1 };
    assert!(Grown { size: level, ..largest }.invalid(1 << 32).is_some());
}

/// More ghosts than slots: removals of items that were never added may lead to that.
#[test]
fn ghosts_beyond_the_occupied_slots_are_none() {
    let pair = Pair::<Slots4>::with(3, 0..100);
    let (grown, _, words) = pair.table.copy_words().expect("memory");
    let table = load::<Slots4>(&Grown { ghosts: u64::MAX, ..grown }, &words, 8).expect("valid");
    assert_eq!(table.grown().ghosts, pair.occupied());
    assert_eq!(table.clear::<Slots4>(), 0);
    assert_eq!(table.grown().ghosts, 0);
}

/// A child of a bucket that was split ahead of its turn must have its place.
#[test]
fn children_beyond_the_largest_number_of_buckets_are_refused() {
    let pair = Pair::<Slots4>::with_ahead(1_000, 0..2_000);
    let (grown, _, words) = pair.table.copy_words().expect("memory");
    assert!(ahead(&pair.table) > 0);
    let limits = Limits { buckets: pair.table.buckets(), ..grown.limits };
    let limited = Grown { limits, ..grown };
    assert_eq!(limited.invalid(words.len() as u64), None);
    assert!(load::<Slots4>(&limited, &words, 8).is_none());
}

/// A bucket whose turn it is has not been split: the size would be larger. The words are otherwise
/// right for the size before, in which its child comes first among those ahead.
#[test]
fn sizes_that_lag_are_refused() {
    let pair = Pair::<Slots4>::with_ahead(1_000, 0..5_000);
    let (grown, _, words) = pair.table.copy_words().expect("memory");
    let Size { level, split } = grown.size;
    let numbers = grown.numbers(words.len() as u64);
    let run = numbers.start - split.next_multiple_of(8);
    let (before, last) = ((run + split - 1) as usize, (1_000 << level) + split - 1);
    let (numbers, children) =
        (numbers.start as usize..numbers.end as usize, &words[numbers.end as usize..]);
    let mut lag = words[..before].to_vec();
    lag.resize(before.next_multiple_of(8), 0);
    lag.extend([&[last], &words[numbers], &[words[before]], children].concat());

    let lagging = Grown { size: Size { level, split: split - 1 }, ..grown };
    assert_eq!(lagging.invalid(lag.len() as u64), None);
    assert!(load::<Slots4>(&grown, &words, 8).is_some());
    assert!(load::<Slots4>(&lagging, &lag, 8).is_none());
}
