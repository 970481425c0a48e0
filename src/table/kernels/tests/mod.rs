//! Kernels beside a thread that bumps versions without changing a word: if a version changed, the
//! right item is looked up a second time. In sets and in maps.

#[cfg(target_os = "linux")]
mod first_load;
mod growing;
mod scene;

use core::{
    cell::{Cell, RefCell},
    fmt::Debug,
    iter::once,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    time::Duration,
};
use std::time::Instant;

use super::*;
use crate::table::mix;
use scene::{Found, Scene};

const SEED: u64 = 5;
/// Bits of a value, in maps.
const VALUE_BITS: u32 = 4;
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

/// Calls `test` with a table, with and without values, every kernel that the processor has, and
/// every way in which it is used.
fn everywhere(test: impl Fn(&Scene, (Kernel, Way, bool))) {
    for value_bits in [0, VALUE_BITS] {
        let scene = Scene::new(value_bits);
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

/// A kernel that read the versions only after the words, or only before them, would not notice.
#[cfg(target_os = "linux")]
#[test]
fn a_version_that_changes_at_the_first_load_is_noticed() {
    everywhere(|scene, how @ (_, way, _)| {
        let own_pages = first_load::in_whole_pages(&scene.words);
        let is_in_pages = |hash: &u64| {
            scene.pair(*hash).buckets.iter().all(|&bucket| own_pages.contains(&(bucket as usize)))
        };
        let mut in_pages = (0..1_000_000).filter(is_in_pages);
        let first = in_pages.next().expect("a hash");
        let others = in_pages.filter(|&hash| scene.stripe(hash) != scene.stripe(first));
        let hashes: Vec<u64> = once(first).chain(others).take(len(way).min(ROUND)).collect();
        let bump = || scene.stripes.of(scene.pair(first).fingerprint).lock().bump();
        let again = RefCell::new(Vec::new());
        first_load::at_first_load(&scene.words, &bump, || {
            scene.look_up(how, &hashes, &|hash| {
                again.borrow_mut().push(hash);
                false
            });
        });
        let expected = if way == Way::Copied { &hashes } else { &hashes[..1] };
        assert_eq!(&again.take(), expected, "{how:?}");
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
