//! Random sequences of operations on whole tables, between inserts and removals. A table holds the
//! keys that it should, and is the same whether or not it was saved, loaded and cloned meanwhile,
//! and whichever thread made the calls.

use std::{mem, ops::Range, sync::mpsc::channel, thread};

use guira::Shrinking;
use guira::raw::{
    Bare, GrowingLayout, GrowingTable, Grown, ImageLoader, Leveled, Limits, MergeRefusal, Size,
    level,
};
use rand::{RngExt, rngs::SmallRng};

use super::{
    Held, ahead,
    common::{for_every_growing_layout, rng},
    item, occupied,
};

/// Numbers of first buckets: those that divide nothing, and one that groups of 8 divide.
const FIRST: [u64; 4] = [1, 2, 3, 1_000];
/// The share of slots that are occupied when the next bucket is split, in 256ths.
const LOAD: u32 = 205;
/// Histories that begin with crowds. Each of them goes on with another operation.
const CROWDED: u64 = 3;

/// A call on a table.
enum Call {
    Insert(u64),
    Remove(u64),
}

/// A call, whether it changed something, and the size of the table afterwards.
type Made = (Call, bool, Size);

/// A table, and the calls that were made on it.
struct Recorded<L> {
    held: Held<L>,
    calls: Vec<Made>,
}

impl<L: GrowingLayout> Recorded<L> {
    fn new(first: u64, buckets: u64, stripes: usize) -> Self {
        Self { held: Held::new(first, buckets, LOAD, stripes), calls: Vec::new() }
    }

    fn insert(&mut self, key: u64) {
        let added = self.held.insert(key).is_ok();
        self.calls.push((Call::Insert(key), added, self.held.table.size()));
    }

    fn remove(&mut self, index: usize) {
        let key = self.held.keys[index];
        self.held.remove(index);
        self.calls.push((Call::Remove(key), true, self.held.table.size()));
    }

    /// Adds copies of keys, which take half of their buckets' slots at most, until buckets are split
    /// ahead of their turn: with the load unchanged, crowds in a few buckets find no room.
    fn split_ahead(&mut self, keys: impl Iterator<Item = u64>, rng: &mut SmallRng) {
        for key in keys.take(3_000) {
            if ahead(&self.held.table) > 3 {
                return;
            }
            let len = self.held.keys.len();
            (0..4).for_each(|_| self.insert(key));
            // Removed again from elsewhere, so that the load does not grow.
            let added = self.held.keys.len() - len;
            (0..added.min(len / 2)).for_each(|_| self.remove(rng.random_range(0..len / 2)));
        }
    }
}

/// A table with these keys, apart from those that it refuses. Some buckets were split ahead of
/// their turn.
fn with_ahead<L: GrowingLayout>(first: u64, keys: Range<u64>) -> Held<L> {
    let mut table = Recorded::<L>::new(first, first << 15, 64);
    keys.for_each(|key| table.insert(key));
    table.split_ahead(1 << 50.., &mut rng(first));
    table.held
}

/// The table with these words, if they are valid.
fn load<L: GrowingLayout>(grown: &Grown, words: &[u64], stripes: usize) -> Option<GrowingTable> {
    let len = words.len() as u64;
    if grown.invalid(len).is_some() {
        return None;
    }
    let memory = (true, false);
    let mut loader = ImageLoader::new::<L>(Bare, grown, len, stripes, memory)?;
    // In pieces of any size.
    let (first, rest) = words.split_at(words.len() / 3);
    loader.add(0, first).expect("memory");
    loader.add(first.len() as u64, rest).expect("memory");
    let numbers = grown.numbers(len);
    let buckets = (0..).zip(words).filter(|(place, _)| !numbers.contains(place));
    let occupied = buckets.map(|(_, &word)| u64::from(L::occupied(word))).sum();
    loader.has_valid_places().then(|| loader.finish::<L>(occupied, None).expect("memory"))
}

/// A table that is loaded from a snapshot of another one. Words that are missing, too many, or of
/// another level are refused.
fn reloaded<L: GrowingLayout>(table: &GrowingTable, rng: &mut SmallRng) -> GrowingTable {
    let stripes = table.stripes();
    let (grown, _, mut words) = table.copy_words().expect("memory");
    // As a dump reads them, in pieces.
    let (mut all, mut found) = (Vec::new(), Vec::new());
    while all.len() < words.len() {
        let mut piece = vec![0; rng.random_range(0..700).min(words.len() - all.len())];
        table.find_words(all.len() as u64, &mut found, &mut piece).expect("memory");
        all.append(&mut piece);
    }
    assert_eq!(all, words);
    let from = rng.random_range(0..words.len());
    table.words_from(from as u64, &found, &mut all[from..]);
    assert_eq!(all, words);
    let (&last, fewer) = words.split_last().expect("words");
    let more = [&words[..], &[last]].concat();
    assert!(load::<L>(&grown, fewer, stripes).is_none());
    assert!(load::<L>(&grown, &more, stripes).is_none());
    assert!(load::<L>(&grown, &[], stripes).is_none());
    let at = rng.random_range(0..words.len());
    let word = words[at];
    for other in (0..16).filter(|&other| other != level(word)) {
        words[at] = word & (u64::MAX >> 4) | u64::from(other) << 60;
        assert!(load::<L>(&grown, &words, stripes).is_none(), "{other} at {at}: {grown:?}");
    }
    words[at] = word;
    load::<L>(&grown, &words, stripes).expect("a valid snapshot")
}

/// A clone, which has nothing in common with the original.
fn cloned<L: GrowingLayout>(table: &GrowingTable, items: usize) -> GrowingTable {
    let (copy, copied) = table.try_clone::<L>().expect("memory");
    assert_eq!(copied, items as u64);
    assert_eq!(copy.in_use(), table.in_use());
    assert_eq!(copy.size_in_bytes(), table.size_in_bytes());
    let words = table.copy_words();
    assert_eq!(table.clear::<L>(), copied);
    assert_eq!(copy.copy_words(), words);
    copy
}

/// A table that was loaded or cloned, so that any thread may go on with it.
fn renewed<L: GrowingLayout>(
    table: &GrowingTable,
    items: usize,
    rng: &mut SmallRng,
) -> GrowingTable {
    if rng.random() { reloaded::<L>(table, rng) } else { cloned::<L>(table, items) }
}

/// Clears a table, which keeps its size.
fn clear<L: GrowingLayout>(table: &GrowingTable, items: usize) {
    let levels = || {
        let (_, _, words) = table.copy_words().expect("memory");
        words.into_iter().map(level).collect::<Vec<_>>()
    };
    let before = (table.size(), table.in_use(), levels());
    assert_eq!(table.clear::<L>(), items as u64);
    assert_eq!((table.size(), table.in_use(), levels()), before);
    assert_eq!((occupied::<L>(table), table.grown().ghosts), (0, 0));
}

/// Shrinks a table, in calls of this many steps. No ghost is lost, and none is added.
fn shrink<L: GrowingLayout>(table: &mut GrowingTable, steps: u64) {
    let slots = |table: &GrowingTable| (occupied::<L>(table), table.grown().ghosts);
    let (bytes, before) = (table.size_in_bytes(), slots(table));
    loop {
        let in_use = table.in_use();
        let shrinking = table.shrink::<L>(steps);
        let given_up = in_use - table.in_use();
        assert!(given_up <= steps && (given_up > 0 || shrinking != Shrinking::Unfinished));
        assert_eq!(slots(table), before);
        if shrinking != Shrinking::Unfinished {
            break;
        }
    }
    assert!(table.size_in_bytes() <= bytes);
}

/// Merges another table into this one. Returns whether there was room.
fn merge<L: GrowingLayout>(table: &GrowingTable, other: &Held<L>) -> bool {
    let ghosts = table.grown().ghosts + other.table.grown().ghosts;
    let merged = table.merge::<L>(&other.table, None);
    let fits = merged.outcome.is_ok();
    assert_eq!(merged.change, if fits { other.keys.len() as i64 } else { 0 });
    assert!(!fits || table.grown().ghosts >= ghosts, "a ghost is lost");
    other.check();
    fits
}

/// A table, and the calls to make on it.
type Work = (GrowingTable, Vec<Made>);

/// Makes calls on a table, which change it as they did another one.
fn repeat<L: GrowingLayout>(table: &GrowingTable, calls: &[Made]) {
    for (nth, (call, expected, size)) in calls.iter().enumerate() {
        let changed = match *call {
            Call::Insert(key) => table.insert::<L>(item::<L>(table, key)).is_ok(),
            Call::Remove(key) => table.remove::<L>(item::<L>(table, key)),
        };
        assert_eq!((changed, table.size()), (*expected, *size), "{nth} of {}", calls.len());
    }
}

/// Makes the same calls on two tables, of which one is saved or cloned in each round, and used by
/// another thread in some. Returns how many buckets were split ahead of their turn at first.
///
/// Of this thread and the other one, at most one owns the only shard of a table with eight stripes.
/// Both own shards of a table with 1,024.
fn history<L: GrowingLayout>(first: u64, buckets: u64, seed: u64) -> u64 {
    let (mut rng, mut keys) = (rng(seed), 0..);
    let ((to_thread, work), (back, results)) = (channel::<Work>(), channel());
    thread::scope(|scope| {
        scope.spawn(move || {
            for (table, calls) in work {
                repeat::<L>(&table, &calls);
                back.send(table).expect("the other end waits");
            }
        });
        let mut own = Recorded::<L>::new(first, buckets, 1_024);
        let mut other = Recorded::<L>::new(first, buckets, 8).held.table;
        // The bytes of stripes and shards that the tables differ by.
        let beside = own.held.table.size_in_bytes() - other.size_in_bytes();
        (0..[40, 3_000][seed as usize % 2]).for_each(|key| own.insert((1 << 60) + key));
        if seed < CROWDED {
            own.split_ahead(&mut keys, &mut rng);
        }
        let at_first = ahead(&own.held.table);
        for round in 0..30 {
            // More inserts than removals, or fewer, or none of one kind.
            let inserts = [100, 90, 52, 50, 45, 0][rng.random_range(0..6)];
            for _ in 0..rng.random_range(0..600) {
                let len = own.held.keys.len();
                if len == 0 || rng.random_range(0..100) < inserts {
                    own.insert(keys.next().expect("a key"));
                } else {
                    own.remove(rng.random_range(0..len));
                }
            }
            let calls = mem::take(&mut own.calls);
            if rng.random() {
                repeat::<L>(&other, &calls);
            } else {
                to_thread.send((other, calls)).expect("the other end waits");
                other = results.recv().expect("no panic");
            }
            let Held { table, keys: held, .. } = &mut own.held;
            other = renewed::<L>(&other, held.len(), &mut rng);
            match if round == 0 { seed } else { rng.random_range(0..12) } {
                0 => {
                    clear::<L>(table, held.len());
                    clear::<L>(&other, held.len());
                    held.clear();
                }
                1 => {
                    shrink::<L>(table, u64::MAX);
                    shrink::<L>(&mut other, 70);
                }
                2 | 3 => {
                    let (from, len) = ((1 << 40) + keys.start, rng.random_range(0..2_000));
                    let third = with_ahead::<L>(first, from..from + len);
                    let fit = [&*table, &other].map(|table| merge::<L>(table, &third));
                    assert_eq!(fit[0], fit[1]);
                    held.extend(third.keys.into_iter().filter(|_| fit[0]));
                }
                _ => {}
            }
            other = renewed::<L>(&other, held.len(), &mut rng);
            own.held.check();
            let table = &own.held.table;
            assert_eq!(table.size(), other.size(), "{first} buckets, seed {seed}, round {round}");
            assert!(table.copy_words() == other.copy_words(), "{first}, {seed}, {round}");
            assert_eq!(table.size_in_bytes() - other.size_in_bytes(), beside);
        }
        drop(to_thread);
        own.held.drain();
        at_first
    })
}

fn histories<L: GrowingLayout>() {
    let runs = (0..=CROWDED).flat_map(|seed| FIRST.map(|first| (first, seed)));
    let ahead: Vec<u64> =
        runs.map(|(first, seed)| history::<L>(first, first << 15, seed)).collect();
    assert!(ahead.iter().any(|&ahead| ahead > 1), "{ahead:?}");
}

#[test]
fn equal_histories_lead_to_equal_tables() {
    for_every_growing_layout!(histories());
    // Tables that may have few buckets.
    history::<Leveled<3, 8>>(3, 700, 1);
    history::<Leveled<5, 6>>(1, 1_500, 1);
}

/// A table shrinks to a few per cent more than its slots need.
fn shrinks<L: GrowingLayout>() {
    for (keys, left) in [(3_000, 40), (9_000, 4_000), (100_000, 1_000)] {
        let mut held = with_ahead::<L>(1_000, 0..keys);
        let mut rng = rng(keys);
        while held.keys.len() > left {
            held.remove(rng.random_range(0..held.keys.len()));
        }
        shrink::<L>(&mut held.table, u64::MAX);
        let needed = occupied::<L>(&held.table) * 256 / u64::from(LOAD * L::SLOTS) + 1;
        let (needed, now) = (needed.max(1_000), held.table.in_use());
        assert!(now <= needed + needed / 8, "{now} buckets, {needed} needed: {keys}, {left}");
        held.check();
    }
}

#[test]
fn a_table_shrinks_to_what_its_slots_need() {
    for_every_growing_layout!(shrinks());
}

/// From one bucket to thousands and back: slots that know few bits go into many buckets.
#[test]
fn a_small_table_is_merged_into_a_large_one_in_halves() {
    let [mut held, small] = [0..6_000, 1_000_000..1_000_009].map(|keys| {
        let mut held = Held::<Leveled<5, 6>>::new(2, 2 << 15, LOAD, 64);
        held.insert_all(keys);
        held
    });
    let ghosts = held.table.grown().ghosts;
    assert!(merge::<Leveled<5, 6>>(&held.table, &small));
    // They know 5 bits at level 0, or 6 at level 1, and the buckets are at level 10 or so.
    let level = held.table.size().level;
    assert!(level >= 9, "{level}");
    let added = held.table.grown().ghosts - ghosts;
    assert!(added > 9 * 8, "{added} ghosts");
    held.keys.extend(small.keys);
    held.check();
    held.drain();
    assert!(held.table.grown().ghosts > 9 * 8);
}

/// A merge that is refused at any point leaves the items, their number, and no ghosts of its own.
fn refusals<L: GrowingLayout>(first: u64, doublings: u32, here: u64, there: u64) {
    let mut refused = 0;
    for seed in 0..6 {
        let mut other = Held::<L>::new(first, first << 15, LOAD, 64);
        other.insert_all(1_000_000..1_000_000 + there + seed);
        let mut held = Held::<L>::new(first, first << doublings, LOAD, 64);
        let mut rng = rng(seed);
        for key in 0..here {
            let _ = held.insert(key);
            if rng.random_ratio(1, 5) {
                held.remove(rng.random_range(0..held.keys.len()));
            }
        }
        let slots = |table: &GrowingTable| (table.grown().ghosts, occupied::<L>(table));
        let (before, splits) = (slots(&held.table), held.table.in_use());
        let merged = held.table.merge::<L>(&other.table, None);
        if let Err(refusal) = merged.outcome {
            refused += 1;
            assert_eq!(merged.change, 0);
            let MergeRefusal::Full { fitted, items } = refusal else { panic!("{refusal:?}") };
            assert!(fitted < items && items == other.keys.len() as u64);
            // If nothing was split: the same slots, perhaps elsewhere.
            assert!(held.table.in_use() > splits || slots(&held.table) == before);
            held.check();
            held.drain();
        }
    }
    assert!(refused > 3, "{refused} of 6: {first}, {doublings}, {here}, {there}");
}

#[test]
fn a_refused_merge_is_undone() {
    // As many levels, more levels here, so that slots are stored in halves, and fewer.
    refusals::<Leveled<5, 6>>(2, 8, 1_900, 1_200);
    refusals::<Leveled<5, 6>>(2, 8, 3_000, 40);
    refusals::<Leveled<4, 7>>(1, 10, 5_200, 100);
    refusals::<Leveled<4, 7>>(3, 7, 1_200, 1_200);
    refusals::<Leveled<4, 7>>(3, 3, 50, 1_000);
    refusals::<Leveled<3, 8>>(1_000, 1, 4_000, 3_500);
    refusals::<Leveled<2, 8>>(1_000, 1, 2_000, 3_000);
}

/// A child of a bucket that was split ahead of its turn must have its place. And a bucket whose turn
/// it is has not been split: the size would be larger.
#[test]
fn sizes_that_do_not_fit_the_words_are_refused() {
    let held = with_ahead::<Leveled<4, 7>>(1_000, 0..5_000);
    let (grown, _, words) = held.table.copy_words().expect("memory");
    assert!(ahead(&held.table) > 0 && load::<Leveled<4, 7>>(&grown, &words, 8).is_some());
    let limits = Limits { buckets: held.table.buckets(), ..grown.limits };
    let Size { level, split } = grown.size;
    let lagging = Size { level, split: split - 1 };
    let limited = Grown { limits, ..grown };
    assert_eq!(limited.invalid(words.len() as u64), None);
    assert!(load::<Leveled<4, 7>>(&limited, &words, 8).is_none());
    // The words for the size before, in which one more child is ahead, the first one.
    let numbers = grown.numbers(words.len() as u64);
    let run = numbers.start - split.next_multiple_of(8);
    let (before, last) = ((run + split - 1) as usize, (1_000 << level) + split - 1);
    let numbers = numbers.start as usize..numbers.end as usize;
    let children = &words[numbers.end..];
    let mut lag = words[..before].to_vec();
    lag.resize(before.next_multiple_of(8), 0);
    lag.extend([&[last], &words[numbers], &[words[before]], children].concat());
    let lagging = Grown { size: lagging, ..grown };
    assert_eq!(lagging.invalid(lag.len() as u64), None);
    assert!(load::<Leveled<4, 7>>(&lagging, &lag, 8).is_none());
}

/// Every number at its largest: no calculation overflows.
#[test]
fn the_largest_numbers_are_judged() {
    let largest = Grown {
        first: 1 << 32,
        size: Size { level: 0, split: 0 },
        ghosts: u64::MAX,
        limits: Limits { buckets: 1 << 32, load: 256 },
    };
    assert_eq!(largest.invalid(1 << 32), None);
    let size = Size { level: 15, split: (1 << 47) - 1 };
    assert!(Grown { size, ..largest }.invalid(1 << 32).is_some());
}
