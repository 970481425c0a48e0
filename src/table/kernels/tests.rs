//! Kernels beside a thread that bumps versions without changing a word: a version that changed
//! leads to a second lookup, and to that of the right item.

use core::{
    cell::{Cell, RefCell},
    fmt::Debug,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    time::Duration,
};
use std::{
    sync::{Mutex, PoisonError},
    thread,
    time::Instant,
};

use super::{
    super::{Addressing, Pair},
    *,
};
use crate::{
    bucket::Plain,
    table::{Stripes, batch::Source},
};

type L = Plain<4, 16>;

const SEED: u64 = 5;
/// The nesting of the last segment, if there are several: fingerprints of the first one have 14
/// bits.
const LEVEL: u32 = 3;
const EXTRA: u32 = 2;
const FIRST_FINGERPRINTS: (u32, u32) = (16, (1 << 14) - 16);
/// Enough for more stripes than lanes.
const BUCKETS: usize = 10_000;

/// How versions are read, and what is done with the answers.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Burst,
    Gathered,
    Copied,
}

const WAYS: [Way; 3] = [Way::Burst, Way::Gathered, Way::Copied];

/// Empty words, and their stripes.
struct Scene {
    words: Vec<Word>,
    stripes: Stripes,
    /// Whether the words are those of the last segment of a chain.
    nested: bool,
}

/// The answers of a batch, and their sum.
#[derive(Debug, PartialEq)]
struct Found(Vec<bool>, usize);

impl Scene {
    fn new(nested: bool) -> Self {
        let words = (0..BUCKETS).map(|_| Word::new(0)).collect();
        let stripes = Stripes::new(BUCKETS as u64).expect("memory");
        // Now no version is zero, the value that memory which was never written may have.
        stripes.as_slice().iter().for_each(|stripe| stripe.lock().bump());
        Self { words, stripes, nested }
    }

    /// The addressing of the last segment.
    fn last() -> Addressing<Nested> {
        Addressing::nested(BUCKETS as u64 >> LEVEL, Nested::new(LEVEL, FIRST_FINGERPRINTS, EXTRA))
    }

    /// The fingerprint that selects the stripe, and both buckets.
    fn pair(&self, hash: u64) -> Pair {
        let mixed = mix(hash, SEED);
        if !self.nested {
            return Addressing::new(self.words.len() as u64).pair::<L>(mixed);
        }
        let Pair { fingerprint, buckets } = Self::last().pair(mixed);
        Pair { fingerprint: Self::last().stripe_fingerprint(fingerprint), buckets }
    }

    /// Writes an item into its first bucket, alone.
    fn put(&self, hash: u64) {
        let last = Self::last().pair(mix(hash, SEED));
        let Pair { fingerprint, buckets } = if self.nested { last } else { self.pair(hash) };
        self.words[buckets[0] as usize].store(fingerprint.get().into(), Relaxed);
    }

    /// The number of the stripe of a hash.
    fn stripe(&self, hash: u64) -> usize {
        self.pair(hash).fingerprint.get() as usize % self.stripes.as_slice().len()
    }

    /// Hashes of so many different items that satisfy `wanted`.
    fn hashes(&self, count: usize, wanted: impl Fn(usize) -> bool) -> Vec<u64> {
        (0..).filter(|&hash| wanted(self.stripe(hash))).take(count).collect()
    }

    /// Looks up a batch. No item is present, so only a second lookup, by `lookup`, can find one.
    fn look_up(
        &self,
        (kernel, way, prefetches): (Kernel, Way, bool),
        hashes: &[u64],
        lookup: &dyn Fn(u64) -> bool,
    ) -> Found {
        let part = Part { prefetches, ..Part::of::<L>(&self.words) };
        // With more levels than segments, as in a chain that grows by larger steps.
        let earlier = [(1, 0), (LEVEL, EXTRA)].map(|(bucket_shift, fingerprint_shift)| Part {
            words: &self.words[..BUCKETS >> bucket_shift],
            bucket_shift,
            fingerprint_shift,
            ..part
        });
        let single = View {
            seed: SEED,
            stripes: self.stripes.as_slice(),
            min_fingerprint: L::MIN_FINGERPRINT,
            fingerprints: L::FINGERPRINTS,
            level: 0,
            extra_bits: 0,
            last: part,
            earlier: &[],
            lookup,
        };
        let (min_fingerprint, fingerprints) = Self::last().nesting().fingerprints();
        let (level, extra_bits) = (LEVEL, EXTRA);
        let nested =
            View { min_fingerprint, fingerprints, level, extra_bits, earlier: &earlier, ..single };
        let mut found = vec![false; hashes.len()];
        let mut answers = Answers::Each(&mut found);
        // SAFETY: `everywhere` takes kernels that the processor has.
        let count = unsafe {
            if self.nested {
                by::<true>((kernel, way), &nested, hashes, &mut answers)
            } else {
                by::<false>((kernel, way), &single, hashes, &mut answers)
            }
        };
        Found(found, count)
    }

    /// Calls `test` while a thread bumps the versions of these items' stripes in turn. It also
    /// writes their words, as they are, so that the loads of a lookup take longer.
    fn beside_bumps(&self, hashes: &[u64], test: impl Fn()) {
        // One test at a time: threads without a processor of their own hardly interleave.
        static ALONE: Mutex<()> = Mutex::new(());
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        // Relaxed is enough: the flag publishes nothing, and the words keep their values.
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                for &hash in hashes.iter().cycle() {
                    if stop.load(Relaxed) {
                        return;
                    }
                    self.stripes.of(self.pair(hash).fingerprint).lock().bump();
                    for bucket in self.pair(hash).buckets {
                        self.words[bucket as usize].store(0, Relaxed);
                    }
                }
            });
            // The thread ends also if the test panics.
            let _stop = OnDrop(|| stop.store(true, Relaxed));
            test();
        });
    }
}

/// Looks up a batch by a kernel that the processor must have.
unsafe fn by<const NESTED: bool>(
    (kernel, way): (Kernel, Way),
    view: &View<'_>,
    hashes: &[u64],
    answers: &mut Answers<'_>,
) -> usize {
    let mut source = Hashes::new(Source::Slice(hashes), SEED);
    // SAFETY: the caller promises that the processor has the instructions.
    unsafe {
        match (way, kernel) {
            (Way::Burst, Kernel::Avx512) => {
                answers.put(0, avx512::contains_burst::<NESTED>(view, hashes), hashes.len())
            }
            (Way::Burst, _) => {
                answers.put(0, avx2::contains_burst::<NESTED>(view, hashes), hashes.len())
            }
            (Way::Gathered, Kernel::Avx512) => {
                avx512::contains::<NESTED>(view, &mut source, 0, answers)
            }
            (Way::Gathered, _) => avx2::contains::<NESTED>(view, &mut source, 0, answers),
            (Way::Copied, Kernel::Avx512) => {
                avx512::contains_by_copies::<NESTED>(view, &mut source, answers)
            }
            (Way::Copied, _) => avx2::contains_by_copies::<NESTED>(view, &mut source, answers),
        }
    }
}

/// Calls a function when it is dropped.
struct OnDrop<F: Fn()>(F);

impl<F: Fn()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Calls `test` with a table and with a chain, every kernel that the processor has, and every way
/// in which it is used.
fn everywhere(test: impl Fn(&Scene, (Kernel, Way, bool))) {
    for nested in [false, true] {
        let scene = Scene::new(nested);
        on_every_kernel(|how| test(&scene, how));
    }
}

fn on_every_kernel(test: impl Fn((Kernel, Way, bool))) {
    for kernel in [Kernel::Avx2, Kernel::Avx512] {
        if !kernel.is_available() {
            println!("not tested, because it is not available: {kernel:?}");
            continue;
        }
        for way in WAYS {
            for prefetches in [false, true] {
                test((kernel, way, prefetches));
            }
        }
    }
}

/// Repeats until `done`, which must not take long.
fn until(what: &dyn Debug, mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < Duration::from_secs(30), "no change was noticed: {what:?}");
    }
}

/// Items of a batch: several groups, the last one of which is not full.
fn len(way: Way) -> usize {
    match way {
        Way::Burst => 59,
        Way::Gathered => 141,
        Way::Copied => 1_205,
    }
}

#[test]
fn versions_are_copied_if_they_are_few() {
    let enough = ITEMS_PER_COPY * MAX_COPIED;
    assert!(are_copied(MAX_COPIED, enough) && are_copied(8, ITEMS_PER_COPY * 8));
    assert!(!are_copied(MAX_COPIED, enough - 1) && !are_copied(8, ITEMS_PER_COPY * 8 - 1));
    // Versions beyond the room for copies would not be validated.
    assert!(!are_copied(2 * MAX_COPIED, usize::MAX));
}

#[test]
fn versions_that_stay_lead_to_no_second_lookup() {
    everywhere(|scene, how @ (_, way, _)| {
        for len in (0..=64).chain((way != Way::Burst).then_some(len(way))) {
            let hashes = scene.hashes(len, |_| true);
            let found = scene.look_up(how, &hashes, &|hash| panic!("{hash} again: {how:?}"));
            assert_eq!(found, Found(vec![false; len], 0));
        }
    });
}

#[test]
fn a_version_that_changes_is_noticed_in_every_lane() {
    everywhere(|scene, how| {
        for lane in 0..11 {
            // One item of the stripe, and others that are not.
            let stripe = (3 * lane + 1) % scene.stripes.as_slice().len();
            let mut hashes = scene.hashes(11, |other| other != stripe);
            hashes[lane] = scene.hashes(1, |other| other == stripe)[0];
            let again = RefCell::new(Vec::new());
            let lookup = |hash| {
                again.borrow_mut().push(hash);
                false
            };
            scene.beside_bumps(&hashes[lane..=lane], || {
                until(&(how, lane), || {
                    scene.look_up(how, &hashes, &lookup);
                    !again.borrow().is_empty()
                });
            });
            // If the versions were copied, each one concerns all items.
            if how.1 == Way::Copied {
                assert_eq!(again.take(), hashes, "{how:?}");
            } else {
                assert_eq!(again.take(), [hashes[lane]], "{how:?}");
            }
        }
    });
}

#[test]
fn versions_of_other_stripes_do_not_matter_if_versions_are_gathered() {
    everywhere(|scene, how @ (_, way, _)| {
        if way != Way::Copied {
            let hashes = scene.hashes(len(way), |stripe| stripe == 6);
            let others = scene.hashes(1_000, |stripe| stripe != 6);
            scene.beside_bumps(&others, || {
                for _ in 0..500 {
                    let found =
                        scene.look_up(how, &hashes, &|hash| panic!("{hash} again: {how:?}"));
                    assert_eq!(found.1, 0);
                }
            });
        }
    });
}

#[test]
fn second_lookups_answer_for_their_own_items() {
    everywhere(|scene, how @ (_, way, _)| {
        let hashes = scene.hashes(len(way), |stripe| stripe < 2);
        let is_chosen = |hash: u64| hash % 7 < 3;
        let chosen: Vec<bool> = hashes.iter().map(|&hash| is_chosen(hash)).collect();
        let again = Cell::new(0);
        let lookup = |hash| {
            again.set(again.get() + 1);
            is_chosen(hash)
        };
        // Repeats until an item was found in each part of the batch, the last one included.
        let mut found_by_place = vec![0; hashes.len()];
        let found_by_place = RefCell::new(&mut found_by_place);
        scene.beside_bumps(&hashes, || {
            until(&how, || {
                again.set(0);
                let Found(found, count) = scene.look_up(how, &hashes, &lookup);
                assert_eq!(found.iter().filter(|&&is_found| is_found).count(), count, "{how:?}");
                let is_right = |(&is_found, &is_chosen): (&bool, &bool)| !is_found || is_chosen;
                assert!(found.iter().zip(&chosen).all(is_right), "{how:?}: {found:?}");
                // Copied versions concern all items of a round.
                if way == Way::Copied && again.get() > 0 {
                    let mut rounds = found.chunks(ROUND).zip(chosen.chunks(ROUND));
                    assert!(rounds.any(|(found, chosen)| found == chosen), "{how:?}: {found:?}");
                }
                let mut by_place = found_by_place.borrow_mut();
                by_place.iter_mut().zip(found).for_each(|(sum, found)| *sum += u32::from(found));
                by_place.chunks(47).all(|part| part.iter().any(|&found| found > 0))
            });
        });
    });
}

#[test]
fn items_found_at_first_stay_found_beside_second_lookups() {
    everywhere(|scene, how @ (_, way, _)| {
        let [present, absent] = [5, 6].map(|wanted| scene.hashes(1, |stripe| stripe == wanted)[0]);
        let [of_present, of_absent] = [present, absent].map(|hash| scene.pair(hash).buckets);
        assert!(of_present.iter().all(|bucket| !of_absent.contains(bucket)));
        scene.put(present);
        let hashes: Vec<u64> =
            (0..len(way)).map(|place| if place % 2 == 0 { present } else { absent }).collect();
        let again = Cell::new(false);
        let lookup = |hash| {
            assert_eq!(hash, absent, "{how:?}");
            again.set(true);
            false
        };
        scene.beside_bumps(&[absent], || {
            until(&how, || {
                let Found(found, _) = scene.look_up(how, &hashes, &lookup);
                assert!(found.iter().step_by(2).all(|&is_found| is_found), "{how:?}: {found:?}");
                again.get()
            });
        });
    });
}
