//! A chain that grows: a segment appended beside every other call, and look-ups and removals across segments.

use guira::{
    Layout,
    raw::{Addressing, Chain, Nested},
};
use guira_loom_tests::{EVERY_WAY, Mark, Seen, check};
use loom::{cell::UnsafeCell, sync::Arc, thread};

/// The layout of the segments, with few lanes.
const LAYOUT: Layout =
    if cfg!(feature = "semi-sorted") { Layout::SemiSorted3x22 } else { Layout::Plain4x16 };
/// Fingerprints in the first segment. Each is two in the second.
const FINGERPRINTS: u32 = 64;
/// A hash's bit that says which of the two.
const FINER: u64 = 1 << 25;

/// The segment after so many doublings of one bucket.
fn nested(level: u32) -> Addressing<Nested> {
    Addressing::nested(1, Nested::new(level, (16, FINGERPRINTS), level))
}

/// An empty chain of up to so many segments.
fn chain(segments: u32) -> Arc<Chain> {
    let plan = (0..segments).map(|level| (LAYOUT, nested(level))).collect();
    Arc::new(Chain::new(plan, false).expect("memory for a few words"))
}

/// The item with this fingerprint in the first segment, and this first bucket in the second.
fn item(fingerprint: u64, bucket: u64) -> u64 {
    bucket << 63 | fingerprint << 26
}

/// An item of the stripe, from either bucket of the second segment, where it has both, or only the one: the `nth`.
fn of_stripe(stripe: u32, has_both: bool, nth: usize) -> [u64; 2] {
    let second = nested(1);
    (0..u64::from(FINGERPRINTS))
        .filter(|fingerprint| fingerprint % 2 == u64::from(stripe))
        .map(|fingerprint| [0, 1].map(|bucket| item(fingerprint, bucket)))
        .filter(|&[item, _]| {
            let [one, other] = second.pair(item).buckets;
            (one != other) == has_both
        })
        .nth(nth)
        .expect("fingerprints enough")
}

/// An item of the stripe that has both buckets of the second segment, from either of them: the `nth`.
fn two_places(stripe: u32, nth: usize) -> [u64; 2] {
    of_stripe(stripe, true, nth)
}

/// The `nth` of the items that fill the first segment; they share no fingerprint with [`two_places`] up to the
/// third of each stripe.
fn filler(nth: u32) -> u64 {
    let taken: Vec<u64> =
        (0..2).flat_map(|stripe| (0..3).map(move |nth| two_places(stripe, nth)[0] >> 26)).collect();
    let fingerprint =
        (0..u64::from(FINGERPRINTS)).filter(|fp| !taken.contains(fp)).nth(nth as usize);
    item(fingerprint.expect("fingerprints enough"), 0)
}

/// Fills the first segment, but for so many lanes.
fn fill(chain: &Chain, but: u32) {
    for nth in 0..LAYOUT.slots_per_bucket() - but {
        chain.insert(filler(nth)).expect("room");
    }
    assert_eq!(chain.layouts().len(), 1);
}

/// Fails unless the items of [`fill`] are there, once.
fn assert_filled(chain: &Chain, but: u32) {
    assert!((0..LAYOUT.slots_per_bucket() - but).all(|nth| chain.count(filler(nth)) == 1), "lost or doubled");
}

fn spawn<R: 'static>(
    chain: &Arc<Chain>,
    work: impl FnOnce(&Chain) -> R + 'static,
) -> thread::JoinHandle<R> {
    let chain = chain.clone();
    thread::spawn(move || work(&chain))
}

/// Runs a thread that looks up an item, which must be found, and notes where it stood relative to the writer.
fn spawn_reader(
    chain: &Arc<Chain>,
    seen: &std::sync::Arc<Seen>,
    done: &Mark,
    item: u64,
) -> thread::JoinHandle<()> {
    let (seen, done) = (seen.clone(), done.clone());
    spawn(chain, move |chain| {
        let was_done = done.is_set();
        assert!(chain.contains(item), "an item that is present all the time was missed");
        seen.note(done.relative_to(was_done));
    })
}

/// A look-up of an item of the first segment, while another is appended; and what is found in that one happens
/// after its insert.
#[test]
fn appended_beside_look_ups() {
    check("growth_lookup", 5_300, &["found", "not yet"], |seen| {
        let chain = chain(2);
        let [new, _] = two_places(0, 0);
        fill(&chain, 0);
        let written = Arc::new(UnsafeCell::new(0));
        let writer = {
            let written = written.clone();
            spawn(&chain, move |chain| {
                // SAFETY: nobody reads it but who found the item.
                written.with_mut(|written| unsafe { *written = 1 });
                chain.insert(new).expect("another segment");
            })
        };
        assert!(chain.contains(filler(0)), "an item that is present all the time was missed");
        if seen.note_if(chain.contains(new), "found", "not yet") {
            // SAFETY: written before the insert, and not since.
            written.with(|written| assert_eq!(unsafe { *written }, 1));
        }
        writer.join().unwrap();
        assert!(chain.contains(new));
        assert_filled(&chain, 0);
    });
}

/// Two threads append at the same time: one segment is there in the end, with both items.
#[test]
fn appended_by_two() {
    check("growth_two", 1_340, &["done"], |seen| {
        let chain = chain(2);
        fill(&chain, 0);
        let items = [two_places(0, 0)[0], two_places(1, 0)[0]];
        let threads = items.map(|item| spawn(&chain, move |chain| chain.insert(item)));
        assert_eq!(threads.map(|thread| thread.join().unwrap()), [Ok(()); 2]);
        assert_eq!(chain.layouts().len(), 2);
        assert!(items.iter().all(|&item| chain.count(item) == 1), "lost or doubled");
        assert_filled(&chain, 0);
        seen.note("done");
    });
}

/// Two calls with one item, for which a segment must be appended: one adds it.
#[test]
fn appended_by_two_unique() {
    check("growth_unique_unique", 160, &["first", "second"], |seen| {
        let chain = chain(2);
        fill(&chain, 0);
        // From either bucket: they would add it to different ones.
        let [item, alias] = two_places(0, 0);
        let [first, second] = [item, alias]
            .map(|item| spawn(&chain, move |chain| chain.insert_unique(item).unwrap()));
        let (first, second) = (first.join().unwrap(), second.join().unwrap());
        assert!(first != second, "added by {}", if first { "both" } else { "neither" });
        seen.note_if(first, "first", "second");
        assert_eq!(chain.count(item), 1);
        assert_filled(&chain, 0);
    });
}

/// The same beside a plain insert of it, where there is room for so many.
fn unique_beside_an_insert(name: &str, floor: usize, room: u32) {
    check(name, floor, &["added", "was present"], move |seen| {
        let chain = chain(2);
        fill(&chain, room);
        let [item, alias] = two_places(0, 0);
        let plain = spawn(&chain, move |chain| chain.insert(alias).unwrap());
        let unique = spawn(&chain, move |chain| chain.insert_unique(item).unwrap());
        plain.join().unwrap();
        let added = seen.note_if(unique.join().unwrap(), "added", "was present");
        assert_eq!(chain.count(item), 1 + usize::from(added));
        assert_filled(&chain, room);
    });
}

#[test]
fn unique_beside_an_insert_where_one_must_append() {
    unique_beside_an_insert("growth_unique_insert", 52, 1);
}

#[test]
fn unique_beside_an_insert_where_both_must_append() {
    unique_beside_an_insert("growth_unique_insert_appending", 2_770, 0);
}

/// The one appends a segment and adds the item there, then makes room in the first one; the other may have looked for
/// segments before that.
#[test]
fn unique_beside_one_in_a_new_segment_and_room_in_the_first() {
    check("growth_unique_behind", 180, &["first", "second"], |seen| {
        let chain = chain(2);
        fill(&chain, 0);
        let [item, alias] = two_places(0, 0);
        let first = spawn(&chain, move |chain| {
            let added = chain.insert_unique(item).unwrap();
            assert!(chain.remove(filler(0)));
            added
        });
        let second = spawn(&chain, move |chain| chain.insert_unique(alias).unwrap());
        let (first, second) = (first.join().unwrap(), second.join().unwrap());
        assert!(first != second, "added by {}", if first { "both" } else { "neither" });
        seen.note_if(first, "first", "second");
        assert_eq!(chain.count(item), 1);
    });
}

/// An item of the first segment is there for `insert_unique`, whether or not another has been appended.
#[test]
fn unique_of_an_item_in_the_first_segment() {
    check("growth_unique_first_segment", 96, &["appended", "not yet"], |seen| {
        let chain = chain(2);
        fill(&chain, 0);
        let done = Mark::default();
        let writer = {
            let done = done.clone();
            spawn(&chain, move |chain| {
                chain.insert(two_places(0, 0)[0]).expect("another segment");
                done.set();
            })
        };
        let unique = {
            let seen = seen.clone();
            spawn(&chain, move |chain| {
                seen.note_if(done.is_set(), "appended", "not yet");
                assert_eq!(chain.insert_unique(filler(0)), Ok(false));
            })
        };
        writer.join().unwrap();
        unique.join().unwrap();
        assert_filled(&chain, 0);
    });
}

/// An item of the first segment is removed while another is appended, or instead of that.
#[test]
fn appended_beside_a_removal() {
    check("growth_removal", 150, &["appended", "room made"], |seen| {
        let chain = chain(2);
        fill(&chain, 1);
        let [item, _] = two_places(0, 0);
        let [other, _] = two_places(1, 0);
        chain.insert(item).expect("a lane");
        let remover = spawn(&chain, move |chain| chain.remove(item));
        let writer = spawn(&chain, move |chain| chain.insert(other));
        assert!(remover.join().unwrap(), "nothing to remove for an item that was present");
        assert_eq!(writer.join().unwrap(), Ok(()));
        seen.note_if(chain.layouts().len() == 2, "appended", "room made");
        assert_eq!((chain.count(item), chain.count(other)), (0, 1));
        assert_filled(&chain, 1);
    });
}

/// Where an item stands that is inserted next: after this in the second segment.
fn with_second_segment() -> Arc<Chain> {
    let chain = chain(2);
    fill(&chain, 0);
    let [passing, _] = two_places(1, 2);
    chain.insert(passing).expect("another segment");
    assert!(chain.remove(passing));
    assert_eq!(chain.layouts().len(), 2);
    chain
}

/// An alias, in both segments, is inserted into one bucket, and the copy in the other is taken out for it.
#[test]
fn look_up_beside_an_alias_inserted_and_a_copy_removed() {
    check("growth_alias", 1_440, EVERY_WAY, |seen| {
        let chain = with_second_segment();
        let [item, alias] = two_places(0, 0);
        // In the bucket that the reader reads last, and the alias's insert finds the other one emptier.
        chain.insert(alias).expect("room");
        let done = Mark::default();
        let reader = spawn_reader(&chain, seen, &done, item);
        let writer = spawn(&chain, move |chain| {
            chain.insert(item).expect("room");
            assert!(chain.remove(alias));
            done.set();
        });
        reader.join().unwrap();
        writer.join().unwrap();
        assert_eq!(chain.count(item), 1);
    });
}

/// Fills both buckets of the second segment but for a lane, by items that have but the one bucket, and adds an item that
/// has both: it takes the lane in its first.
fn crowd_in_second_segment(chain: &Chain, item: u64) {
    for nth in 0..LAYOUT.slots_per_bucket() as usize - 1 {
        for other in of_stripe(0, false, nth) {
            chain.insert(other).expect("room");
        }
    }
    chain.insert(item).expect("a lane");
}

/// An insert into the second segment moves an item there, between the look-up's two loads.
#[test]
fn look_up_beside_a_move() {
    check("growth_move", 2_300, EVERY_WAY, |seen| {
        let chain = with_second_segment();
        // Of an odd stripe: its fingerprint in the second segment is even.
        let [item, reversed] = two_places(1, 0);
        let lanes = LAYOUT.slots_per_bucket() as usize;
        crowd_in_second_segment(&chain, item);
        let done = Mark::default();
        let reader = spawn_reader(&chain, seen, &done, reversed);
        let writer = spawn(&chain, move |chain| {
            chain.insert(of_stripe(0, false, lanes)[0]).expect("the item's lane");
            done.set();
        });
        reader.join().unwrap();
        writer.join().unwrap();
        assert_eq!((chain.count(item), chain.layouts().len()), (1, 2));
    });
}

/// One copy less than may be, and one of them is moved: the insert that may see it twice must not be refused.
#[test]
fn insert_of_the_last_copy_beside_a_move() {
    check("growth_copies", 155, &["done"], |seen| {
        let chain = with_second_segment();
        let [item, _] = two_places(1, 0);
        let lanes = LAYOUT.slots_per_bucket() as usize;
        // A copy in its first bucket, which is full, with nothing else in there that can move; the others in its second.
        crowd_in_second_segment(&chain, item);
        for nth in 0..lanes - 1 {
            assert!(chain.remove(of_stripe(0, false, nth)[1]));
        }
        for _ in 0..lanes - 2 {
            chain.insert(item).expect("room");
        }
        let writer = spawn(&chain, move |chain| chain.insert(of_stripe(0, false, lanes)[0]));
        let inserter = spawn(&chain, move |chain| chain.insert(item));
        assert_eq!(inserter.join().unwrap(), Ok(()), "refused, with copies to spare");
        assert_eq!(writer.join().unwrap(), Ok(()));
        assert_eq!((chain.count(item), chain.layouts().len()), (lanes, 2));
        seen.note("done");
    });
}

/// A chain of two segments, an item in the first, and in the second one that is an alias of it in the first alone.
fn with_coarse_aliases() -> (Arc<Chain>, u64, u64) {
    let chain = chain(2);
    fill(&chain, 1);
    let [item, _] = two_places(0, 0);
    // One bit of the fingerprint more in the second segment, and this one differs in it.
    let coarse_alias = item | FINER;
    chain.insert(item).expect("the last lane");
    chain.insert(coarse_alias).expect("another segment");
    (chain, item, coarse_alias)
}

/// Two items that are aliases in the first segment, where one of them is, and not in the second, where the other is: removing
/// that one must not take the first one's copy, whatever is read meanwhile.
#[test]
fn removal_beside_a_look_up_of_a_coarse_alias() {
    check("growth_coarse_alias", 260, &["found"], |seen| {
        let (chain, item, coarse_alias) = with_coarse_aliases();
        let remover = spawn(&chain, move |chain| chain.remove(coarse_alias));
        let reader = spawn(&chain, move |chain| {
            assert!(chain.contains(item), "an item that is present all the time was missed");
        });
        assert!(remover.join().unwrap(), "nothing to remove for an item that was present");
        reader.join().unwrap();
        assert!(chain.contains(item), "removed instead of its alias");
        seen.note("found");
        assert_filled(&chain, 1);
    });
}

/// Two removals of two items that are aliases in the first segment, with one copy in each segment.
#[test]
fn removals_of_coarse_aliases() {
    check("growth_two_removals", 25, &["done"], |seen| {
        let (chain, item, coarse_alias) = with_coarse_aliases();
        let removers =
            [item, coarse_alias].map(|item| spawn(&chain, move |chain| chain.remove(item)));
        assert_eq!(removers.map(|remover| remover.join().unwrap()), [true; 2], "nothing to remove");
        assert_eq!((chain.count(item), chain.count(coarse_alias)), (0, 0));
        assert_filled(&chain, 1);
        seen.note("done");
    });
}

/// An item that stands in the second segment is removed, and added unless it is there.
#[test]
fn unique_beside_a_removal() {
    check("growth_unique_removal", 23, &["added", "was present"], |seen| {
        let chain = with_second_segment();
        let [item, _] = two_places(0, 0);
        chain.insert(item).expect("room");
        let remover = spawn(&chain, move |chain| chain.remove(item));
        let unique = spawn(&chain, move |chain| chain.insert_unique(item).unwrap());
        assert!(remover.join().unwrap(), "nothing to remove for an item that was present");
        let added = seen.note_if(unique.join().unwrap(), "added", "was present");
        assert_eq!(chain.count(item), usize::from(added));
    });
}

/// Copies in two segments are counted while others are moved about: never one too few.
#[test]
fn count_beside_an_insert_and_a_removal() {
    check("growth_count", 265, &["1", "2"], |seen| {
        let chain = with_second_segment();
        let [item, alias] = two_places(0, 0);
        chain.insert(item).expect("room");
        let counter = spawn(&chain, move |chain| chain.count(item));
        let writer = spawn(&chain, move |chain| {
            chain.insert(alias).expect("room");
            assert!(chain.remove(item));
        });
        let copies = counter.join().unwrap();
        writer.join().unwrap();
        assert!((1..=2).contains(&copies), "{copies} copies");
        seen.note_if(copies == 1, "1", "2");
    });
}

/// Catches a `clear` of a chain that swaps words before it bumps: see `clear_one_moment`.
///
/// A copy stands in the first segment, which is cleared first; lookups read it last.
#[test]
fn lookups_see_clear_as_one_moment() {
    let outcomes = ["hit, hit", "hit, miss", "miss, miss"];
    check("growth_clear_one_moment", 1_000, &outcomes, |seen| {
        let chain = with_second_segment();
        let item = filler(0);
        let writer = spawn(&chain, move |chain| {
            chain.insert(item).expect("room in the second segment");
            assert_eq!(chain.clear(), u64::from(LAYOUT.slots_per_bucket()) + 1);
        });
        let reader = spawn(&chain, move |chain| [(); 2].map(|()| chain.contains(item)));
        seen.note(match reader.join().unwrap() {
            [true, true] => "hit, hit",
            [true, false] => "hit, miss",
            [false, false] => "miss, miss",
            [false, true] => panic!("an item came back after a lookup had seen it cleared"),
        });
        writer.join().unwrap();
        assert_eq!(chain.count(item), 0);
    });
}

/// Catches a `clear` that leaves out a segment, or loses an insert that appends one.
#[test]
fn clear_beside_an_append() {
    check("growth_clear_append", 100, &["cleared", "left"], |seen| {
        let chain = chain(2);
        fill(&chain, 0);
        let [new, _] = two_places(0, 0);
        let slots = u64::from(LAYOUT.slots_per_bucket());
        let writer = spawn(&chain, move |chain| chain.insert(new));
        let cleared = chain.clear();
        assert_eq!(writer.join().unwrap(), Ok(()));
        let left = chain.count(new) as u64;
        assert_eq!(cleared + left, slots + 1, "lost, or counted twice");
        assert!((0..slots as u32).all(|nth| chain.count(filler(nth)) == 0));
        // By now all segments are known.
        assert_eq!((chain.clear(), chain.count(new)), (left, 0));
        seen.note_if(left == 1, "left", "cleared");
    });
}

/// Catches a `clear` without locks beside `insert_unique`: it takes what was added after it.
#[test]
fn clear_beside_insert_unique() {
    check("growth_clear_unique", 10, &["added", "was present"], |seen| {
        let chain = with_second_segment();
        let item = filler(0);
        let slots = u64::from(LAYOUT.slots_per_bucket());
        let inserter = spawn(&chain, move |chain| chain.insert_unique(item));
        assert_eq!(chain.clear(), slots, "took an item that was added because it was absent");
        let added = inserter.join().unwrap().expect("room");
        assert_eq!(chain.clear(), u64::from(added));
        seen.note_if(added, "added", "was present");
    });
}

/// Catches a copy of a chain that misses an item of an earlier segment, or a new segment.
#[test]
fn clone_beside_an_append() {
    check("growth_clone_append", 100, &["one segment", "two segments"], |seen| {
        let chain = chain(2);
        fill(&chain, 0);
        let [new, _] = two_places(0, 0);
        let writer = spawn(&chain, move |chain| chain.insert(new));
        let (copy, occupied) = chain.try_clone().expect("memory for a few words");
        assert_eq!(writer.join().unwrap(), Ok(()));
        assert_filled(&copy, 0);
        let slots = u64::from(LAYOUT.slots_per_bucket());
        assert_eq!(occupied, slots + copy.count(new) as u64);
        seen.note_if(copy.layouts().len() == 1, "one segment", "two segments");
    });
}

/// Catches a copy of a chain without locks: a move of an item overtakes it.
#[test]
fn clone_beside_a_move() {
    check("growth_clone_move", 100, &["before", "after"], |seen| {
        let chain = with_second_segment();
        let [_, item] = two_places(1, 0);
        let slots = LAYOUT.slots_per_bucket() as usize;
        // The item takes the last slot of bucket 1, and moves from there to bucket 0.
        crowd_in_second_segment(&chain, item);
        let [_, new] = of_stripe(0, false, slots);
        let writer = spawn(&chain, move |chain| chain.insert(new).expect("the item's slot"));
        let (copy, occupied) = chain.try_clone().expect("memory for a few words");
        writer.join().unwrap();
        assert_eq!(copy.count(item), 1, "lost or doubled");
        assert_filled(&copy, 0);
        let inserted = copy.count(new);
        assert_eq!(occupied, (slots + 2 * (slots - 1) + 1 + inserted) as u64);
        seen.note_if(inserted == 0, "before", "after");
    });
}

/// Catches a copy of a chain without locks: a removal takes the copy that it has yet to read.
#[test]
fn clone_beside_a_removal() {
    check("growth_clone_removal", 100, &["1", "2"], |seen| {
        let chain = with_second_segment();
        let [item, reversed] = two_places(0, 0);
        // In bucket 1, which is copied last.
        chain.insert(reversed).expect("room");
        let writer = spawn(&chain, move |chain| {
            chain.insert(item).expect("room");
            assert!(chain.remove(reversed));
        });
        let (copy, _) = chain.try_clone().expect("memory for a few words");
        writer.join().unwrap();
        let copies = copy.count(item);
        assert!((1..=2).contains(&copies), "{copies} copies of an item that is there throughout");
        seen.note_if(copies == 1, "1", "2");
    });
}
