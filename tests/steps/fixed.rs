//! Tables of a fixed size: writers that stop, or panic, at each step of a removal, or of an insert
//! that makes room.

use std::sync::Arc;

use guira::{
    InsertError,
    raw::{
        Addressing, Bare, BucketLayout, Fingerprint, FixedSpace, FixedTable, Pair, Plain,
        steps::{Step, with_hook},
    },
};

use super::{
    before_step,
    scene::{Known, Scene, Subject, at_every_step},
    steps,
};
use crate::common::Watchdog;

/// The layout of these tables.
pub type L = Plain<4, 16>;
/// Buckets of these tables.
const BUCKETS: u64 = 8;
/// Stripes of such small tables. The remainder of a fingerprint selects its stripe.
const STRIPES: u32 = 8;
/// Steps of a lookup without interference: the version, both words, the version.
pub const LOOKUP: usize = 4;

impl Subject<L> for FixedSpace<Bare> {
    const LOOKUP: usize = LOOKUP;
    /// Both words, and the change of one.
    const INSERT: usize = 3;

    fn finds(table: &FixedTable, pair: Pair) -> bool {
        table.contains::<L>(pair)
    }

    fn insert(table: &FixedTable, pair: Pair) -> bool {
        table.insert::<L>(pair) == Ok(())
    }

    fn reversed(pair: Pair) -> Pair {
        let [here, there] = pair.buckets;
        Pair { buckets: [there, here], ..pair }
    }

    /// Removes everything, and acquires every lock.
    fn go_on(scene: &mut Scene<Self, L>, _cut_off: bool) {
        let table = &scene.table;
        for &Known { item, .. } in &scene.known {
            while table.remove::<L>(item) {}
            assert_eq!(table.count::<L>(item), 0, "{item:?} is in no other place");
        }
        for stripe in 0..STRIPES {
            let pair = fitting(table, Some(stripe), 1, [0, 1]);
            assert_eq!(table.insert_unique::<L>(pair), Ok(true), "{pair:?} fits");
            assert!(table.remove::<L>(pair), "{pair:?} is in");
        }
    }
}

/// The first pair with these buckets, and in this stripe if there is one, from a fingerprint on.
fn fitting(table: &FixedTable, stripe: Option<u32>, from: u32, buckets: [u32; 2]) -> Pair {
    let fits = |&value: &u32| {
        stripe.is_none_or(|stripe| value % STRIPES == stripe)
            && table.addressing().alt_bucket(Fingerprint::new(value), buckets[0]) == buckets[1]
    };
    let value = (from..=L::MAX_FINGERPRINT).find(fits).expect("such fingerprints are many");
    Pair { fingerprint: Fingerprint::new(value), buckets }
}

/// The operation of the writer.
#[derive(Clone, Copy, Debug)]
enum Call {
    Insert,
    InsertUnique,
}

/// A table to be filled.
struct Filling {
    scene: Scene<FixedSpace<Bare>, L>,
    /// The stripe of all fingerprints, if they share one.
    stripe: Option<u32>,
    /// The last fingerprint that was used.
    last: u32,
}

impl Filling {
    fn new(stripe: Option<u32>) -> Self {
        let table = FixedTable::new(Addressing::new(BUCKETS, Bare), false).expect("a small table");
        Self { scene: Scene::new(table), stripe, last: 0 }
    }

    /// A pair with these buckets whose fingerprint has not been used.
    fn unused(&mut self, buckets: [u32; 2]) -> Pair {
        let pair = fitting(&self.scene.table, self.stripe, self.last + 1, buckets);
        self.last = pair.fingerprint.get();
        pair
    }

    /// Inserts copies of a new pair into its first bucket.
    fn put(&mut self, buckets: [u32; 2], copies: usize) -> Pair {
        let pair = self.unused(buckets);
        for _ in 0..copies {
            let here = Pair { buckets: [buckets[0]; 2], ..pair };
            self.scene.table.insert::<L>(here).expect("room in this bucket");
        }
        pair
    }

    /// Inserts a pair that stays.
    fn keep(&mut self, buckets: [u32; 2]) {
        let pair = self.put(buckets, 1);
        self.scene.know(pair, 1);
    }

    /// Fills the first bucket with pairs.
    fn crowd(&mut self, buckets: [u32; 2]) {
        (0..L::SLOTS).for_each(|_| self.keep(buckets));
    }

    /// There is room in buckets beside the path, and in the one at its end. One pair is absent.
    fn find_room(&mut self, end: u32) {
        let room = [[6, 7], [7, 7], [end; 2]].map(|buckets| self.unused(buckets));
        self.scene.room.extend(room);
        let none = Pair { fingerprint: Fingerprint::new(L::MAX_FINGERPRINT), buckets: [0, 1] };
        self.scene.know(none, 0);
    }

    /// The removal of one of this many copies, which are in the second bucket that the call reads.
    fn removal(copies: usize, stripe: Option<u32>) -> Scene<FixedSpace<Bare>, L> {
        let mut filling = Self::new(stripe);
        filling.keep([0, 1]);
        filling.keep([1, 1]);
        let pair = filling.put([1, 0], copies);
        let pair = FixedSpace::<Bare>::reversed(pair);
        filling.find_room(0);
        let table = Arc::clone(&filling.scene.table);
        filling.scene.concerning(pair, (copies, copies - 1), move || table.remove::<L>(pair))
    }

    /// The insert of an item whose buckets are full. To make room for it, this many others must
    /// move, each into the bucket that the next one leaves.
    fn path(call: Call, moves: u32, stripe: Option<u32>) -> Scene<FixedSpace<Bare>, L> {
        let (mut filling, end) = (Self::new(stripe), moves + 1);
        filling.crowd([1, 1]);
        filling.crowd([0, 2]);
        (2..end).for_each(|bucket| filling.crowd([bucket, bucket + 1]));
        filling.keep([end, end]);
        let pair = filling.unused([0, 1]);
        filling.find_room(end);
        let table = Arc::clone(&filling.scene.table);
        filling.scene.concerning(pair, (0, 1), move || match call {
            Call::Insert => table.insert::<L>(pair) == Ok(()),
            Call::InsertUnique => table.insert_unique::<L>(pair) == Ok(true),
        })
    }
}

#[test]
fn removals_and_paths_stop_or_panic() {
    let _watchdog = Watchdog::new("removals_and_paths_stop_or_panic");
    for stripe in [Some(1), None] {
        for copies in 1..=2 {
            let name = format!("removal of 1 of {copies}, stripe {stripe:?}");
            assert_eq!(at_every_step(&name, || Filling::removal(copies, stripe)), 1);
        }
        for moves in [1, 2, 4] {
            // An `insert_unique` probes before the moves and after them.
            for (call, probes) in [(Call::Insert, 0), (Call::InsertUnique, 2)] {
                let name = format!("{call:?} by {moves} moves, stripe {stripe:?}");
                let locks = at_every_step(&name, || Filling::path(call, moves, stripe));
                assert_eq!(locks, moves as usize + probes, "{name}: not as planned");
            }
        }
    }
}

#[test]
fn calls_without_interference_take_few_steps_and_no_lock() {
    let mut filling = Filling::new(None);
    let pair = filling.unused([0, 1]);
    let table = &filling.scene.table;
    assert_eq!(steps(|| table.contains::<L>(pair)), [Step::Load; LOOKUP]);
    let insert = steps(|| table.insert::<L>(pair));
    assert_eq!(insert, [Step::Load, Step::Load, Step::Change]);
    assert_eq!(insert.len(), FixedSpace::<Bare>::INSERT);
    assert_eq!(steps(|| table.contains::<L>(pair)), [Step::Load; LOOKUP]);
}

/// The last attempt of an insert whose search found no empty slot. Without it, `Full` would be a
/// right answer too, so no model can demand it.
#[test]
fn an_insert_takes_a_slot_that_becomes_empty_during_its_search() {
    let full_scene = || {
        // Nothing can move: both buckets hold only each other's fingerprints.
        let mut filling = Filling::new(None);
        filling.crowd([0, 1]);
        filling.crowd([1, 0]);
        let pair = filling.unused([0, 1]);
        (filling.scene, pair)
    };
    let (scene, pair) = full_scene();
    let all = steps(|| assert_eq!(scene.table.insert::<L>(pair), Err(InsertError::Full)));
    assert!(all.iter().all(|&step| step == Step::Load), "nothing moves: {all:?}");
    // Both words are read for the first attempt, for the limit on copies, again and again by the
    // searches, for the last attempt, and for the limit again.
    let last_attempt = all.len() - 4;
    assert!(last_attempt >= 6, "there is a search: {all:?}");
    for number in 0..=last_attempt {
        let (scene, pair) = full_scene();
        let (table, leaving) = (scene.table.clone(), scene.known[0].item);
        let remove = move |_: &[_]| assert!(table.remove::<L>(leaving));
        let outcome = with_hook(before_step(number, remove), || scene.table.insert::<L>(pair));
        assert_eq!(outcome, Ok(()), "the slot was empty before step {number}");
        assert!(scene.table.contains::<L>(pair));
    }
}
