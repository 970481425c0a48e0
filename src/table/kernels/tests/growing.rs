//! Lookups in a table that grows, against a plain oracle: all layouts, sizes, and levels, with
//! buckets that were split after the size was read.

use super::*;
use crate::{
    bucket::leveled,
    table::{
        Answers, Stripes,
        batch::Source,
        kernels::{
            Form, Of,
            growing::{Growing, GrowingView},
            single::contains_one,
            two::Two,
        },
        split::{Growth, Item, Place, Side, Size},
    },
};

/// Buckets at level 0, and the size that a lookup knows.
const SIZES: [(u64, u32, u64); 10] = [
    (1, 0, 0),
    (1, 15, 0),
    (2, 3, 16),
    (3, 9, 1_000),
    (100, 0, 37),
    (1_000, 4, 0),
    (1_000, 4, 5_432),
    (2_111, 2, 8_443),
    (10_000, 0, 0),
    (70_001, 0, 69_000),
];
/// One bucket in so many has been split since.
const SPLIT_SINCE: u64 = 7;
/// As many as can be copied: more than there are cores of 6 bits, so that buckets count, too.
const STRIPES: usize = MAX_COPIED;

/// Words, and what is in them.
struct Grown {
    growth: Growth,
    size: Size,
    words: Vec<Word>,
    stripes: Stripes,
    /// The hashes that are looked up.
    hashes: Vec<u64>,
}

/// Pseudo-random numbers.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: u64) -> u64 {
        self.0 += 1;
        mix(self.0, 77) % n
    }
}

/// What the words tell of an item.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Told {
    Miss,
    Hit,
    Open,
}

impl Grown {
    fn new<L: Form>((first, level, split): (u64, u32, u64), count: u64) -> Self {
        let (growth, size) = (Growth::new(first, L::L).expect("memory"), Size { level, split });
        let end = first << (level + 1);
        let mut levels: Vec<Option<u32>> = (0..end)
            .map(|bucket| {
                let round = first << level;
                let parent = bucket % round;
                let known = level + u32::from(parent < split);
                (bucket < round || parent < split).then_some(known)
            })
            .collect();
        let mut numbers = Numbers(first + u64::from(level) * 1_000 + split);
        // Some that are not split are split out of turn.
        for bucket in 0..first << level {
            if levels[bucket as usize] == Some(level)
                && level < leveled::MAX_LEVEL
                && numbers.below(SPLIT_SINCE) == 0
            {
                levels[bucket as usize] = Some(level + 1);
                levels[(bucket + (first << level)) as usize] = Some(level + 1);
            }
        }
        let mut words: Vec<u64> =
            levels.iter().map(|level| leveled::empty(level.unwrap_or(0))).collect();
        let hashes: Vec<u64> = (0..count).collect();
        for &hash in &hashes {
            let Item { sides } = growth.item(mix(hash, SEED));
            let side = sides[numbers.below(2) as usize];
            let Place { bucket, level } = place(&growth, &levels, side);
            let slot = L::L.encode(side.code, level);
            // A tail that is not longer, and perhaps one bit that differs.
            let tail = numbers.below(u64::from(L::L.max_tail) + 1) as u32;
            let marker = 1 << (L::L.core + tail.min(slot.ilog2() - L::L.core));
            let slot = slot & (marker - 1) | marker;
            let slot = match numbers.below(4) {
                0 => continue,
                1 => slot ^ 1 << numbers.below(u64::from(slot.ilog2())),
                _ => slot,
            };
            let word = &mut words[bucket as usize];
            *word = L::L.with(*word, slot).unwrap_or(*word);
        }
        let stripes = Stripes::with_count(STRIPES).expect("memory");
        // As in `Scene::new`.
        stripes.as_slice().iter().for_each(|stripe| stripe.lock().bump());
        let words = words.into_iter().map(Word::new).collect();
        Self { growth, size, words, stripes, hashes }
    }

    /// What the words tell of a hash.
    fn told<L: Form>(&self, hash: u64) -> Told {
        let Item { sides } = self.growth.item(mix(hash, SEED));
        let looks = sides.map(|side| {
            let Place { bucket, level } = self.growth.place(side, self.size).expect("an item");
            let word = self.words[bucket as usize].load(Relaxed);
            (leveled::level(word) == level, L::L.matches(word, side.code) != 0)
        });
        if looks.iter().any(|&(is_level, _)| !is_level) {
            Told::Open
        } else if looks.iter().any(|&(_, matches)| matches) {
            Told::Hit
        } else {
            Told::Miss
        }
    }

    /// The number of the stripe of a hash.
    fn stripe<L: Form>(&self, hash: u64) -> usize {
        let Item { sides: [one, other] } = self.growth.item(mix(hash, SEED));
        self.growth.stripe(one.code.core, [one.start, other.start]) % STRIPES
    }

    /// Looks up a batch.
    fn look_up<L: Form>(
        &self,
        (kernel, way, prefetches): (Kernel, Way, bool),
        hashes: &[u64],
        lookup: &dyn Fn(u64) -> bool,
    ) -> Found {
        let (first, stripes) = (self.growth.first(), self.stripes.as_slice());
        let lookup = |hash| lookup(hash).then_some(0);
        let view =
            View { prefetches, ..View::new(&self.words, stripes, Mixer::new(SEED), &lookup) };
        let view = GrowingView::new(view, first, self.size).expect("a number of 32 bits");
        let mut source = Hashes::new(Source::Slice(hashes), Mixer::new(SEED));
        let mut found = vec![false; hashes.len()];
        let mut answers = Answers::Each(&mut found);
        let (source, answers) = (&mut source, &mut answers);
        // SAFETY: `on_every_kernel` takes kernels that the processor has.
        let count = unsafe {
            match (way, kernel) {
                (Way::Burst, Kernel::Avx512) => {
                    let found = avx512::contains_burst::<Two<Eight>, Growing<'_, _, L>>(
                        &view,
                        hashes,
                        &mut [],
                    );
                    answers.put_lanes(0, found, &[], hashes.len())
                }
                (Way::Burst, _) => {
                    let found = avx2::contains_burst::<Two<Four>, Growing<'_, _, L>>(
                        &view,
                        hashes,
                        &mut [],
                    );
                    answers.put_lanes(0, found, &[], hashes.len())
                }
                (Way::Gathered, Kernel::Avx512) => {
                    avx512::contains::<Two<Eight>, Growing<'_, _, L>>(&view, source, 0, answers)
                }
                (Way::Gathered, _) => {
                    avx2::contains::<Two<Four>, Growing<'_, _, L>>(&view, source, 0, answers)
                }
                (Way::Copied, Kernel::Avx512) => avx512::contains_by_copies::<
                    Two<Eight>,
                    Growing<'_, _, L>,
                >(&view, source, answers),
                (Way::Copied, _) => {
                    avx2::contains_by_copies::<Two<Four>, Growing<'_, _, L>>(&view, source, answers)
                }
            }
        };
        Found(found, count)
    }

    fn look_up_one<L: Form>(&self, kernel: Kernel, hash: u64) -> Option<bool> {
        let mixed = mix(hash, SEED);
        // SAFETY: the caller takes kernels that the processor has. The words are those of a table
        // of this size.
        unsafe {
            contains_one(&L::L, kernel).expect("a kernel")(
                self.words.as_ptr(),
                &self.growth,
                &self.stripes,
                self.size,
                mixed,
            )
        }
    }
}

/// The place of a side in buckets of these levels.
fn place(growth: &Growth, levels: &[Option<u32>], side: Side) -> Place {
    let mut places = (0..=leveled::MAX_LEVEL + 1).filter_map(|level| {
        let bucket = growth.bucket(side, level)?;
        let is_there = levels.get(bucket as usize) == Some(&Some(level));
        is_there.then_some(Place { bucket, level })
    });
    places.next().expect("a place")
}

/// Calls `test` for all layouts.
macro_rules! in_all_layouts {
    ($test:ident) => {
        $test::<Of<5, 6>>();
        $test::<Of<4, 7>>();
        $test::<Of<3, 8>>();
        $test::<Of<2, 8>>();
    };
}

/// The single lookups that the processor has.
fn available() -> impl Iterator<Item = Kernel> {
    [Kernel::Scalar, Kernel::Avx512].into_iter().filter(|kernel| kernel.is_available())
}

fn finds_as_the_oracle<L: Form>() {
    for size in SIZES {
        let buckets = (size.0 << size.1) + size.2;
        let grown = Grown::new::<L>(size, 1_500 + 3 * buckets.min(100_000));
        let told: Vec<Told> = grown.hashes.iter().map(|&hash| grown.told::<L>(hash)).collect();
        let count = |wanted| told.iter().filter(|&&it| it == wanted).count();
        let hits_and_misses = count(Told::Hit).min(count(Told::Miss));
        assert!(buckets < 10 || hits_and_misses > 20, "{size:?}: {hits_and_misses}");
        let unsplit = if size.1 == leveled::MAX_LEVEL { 0 } else { (size.0 << size.1) - size.2 };
        assert!(unsplit < 60 || count(Told::Open) > 50, "{size:?}");
        for kernel in available() {
            for (&hash, &told) in grown.hashes.iter().zip(&told) {
                let expected = match told {
                    Told::Open => None,
                    told => Some(told == Told::Hit),
                };
                let found = grown.look_up_one::<L>(kernel, hash);
                assert_eq!(found, expected, "{kernel:?}, {size:?}, {hash}");
            }
        }
        on_every_kernel(|how @ (_, way, _)| {
            let (mut at, mut numbers) = (0, Numbers(5));
            let lens = (0..200).chain([1_205; 4]).filter(|&len| way != Way::Burst || len <= 64);
            for len in lens {
                at = if at + len > grown.hashes.len() { numbers.below(20) as usize } else { at };
                let (hashes, told) = (&grown.hashes[at..][..len], &told[at..][..len]);
                at += len;
                let again = RefCell::new(Vec::new());
                let Found(found, count) = grown.look_up::<L>(how, hashes, &|hash| {
                    again.borrow_mut().push(hash);
                    hash % 3 == 0
                });
                let open = hashes.iter().zip(told).filter(|(_, told)| **told == Told::Open);
                let open: Vec<u64> = open.map(|(&hash, _)| hash).collect();
                assert_eq!(again.take(), open, "{how:?}, {size:?}");
                let expected = hashes.iter().zip(told).map(|(hash, told)| match told {
                    Told::Open => hash % 3 == 0,
                    told => *told == Told::Hit,
                });
                assert_eq!(found, expected.collect::<Vec<_>>(), "{how:?}, {size:?}");
                assert_eq!(count, found.iter().filter(|&&found| found).count());
            }
        });
    }
}

#[test]
fn kernels_find_what_the_oracle_finds() {
    in_all_layouts!(finds_as_the_oracle);
}

/// Items in distinct stripes, none of which is found or open, with words in whole pages.
#[cfg(target_os = "linux")]
fn absent_in<L: Form>(grown: &Grown, count: usize, second_is_less: bool) -> Vec<u64> {
    let pages = first_load::in_whole_pages(&grown.words);
    let is_fit = |hash: &u64| {
        let Item { sides } = grown.growth.item(mix(*hash, SEED));
        let places = sides.map(|side| grown.growth.place(side, grown.size).expect("an item"));
        places.iter().all(|place| pages.contains(&(place.bucket as usize)))
            && grown.told::<L>(*hash) == Told::Miss
    };
    // The stripes of both buckets alone, and of the core alone, are other ones.
    let tells = |hash: &u64| {
        let Item { sides: [one, other] } = grown.growth.item(mix(*hash, SEED));
        let is_odd = |side: Side| side.start % 2 == 1;
        let (low, high) = if second_is_less { (other, one) } else { (one, other) };
        low.start < high.start && is_odd(low) && !is_odd(high)
    };
    let mut fit = (1 << 40..).filter(is_fit);
    let first = fit.find(tells).expect("a hash");
    let rest = fit.filter(|&hash| grown.stripe::<L>(hash) != grown.stripe::<L>(first));
    once(first).chain(rest).take(count).collect()
}

#[cfg(target_os = "linux")]
fn notices_versions<L: Form>() {
    let grown = Grown::new::<L>((2_111, 2, 8_000), 30_000);
    for second_is_less in [false, true] {
        notices_versions_of::<L>(&grown, second_is_less);
    }
}

/// Of items in distinct stripes. The bucket that tells the stripe of the first one is on its second
/// side, or on its first one.
#[cfg(target_os = "linux")]
fn notices_versions_of<L: Form>(grown: &Grown, second_is_less: bool) {
    on_every_kernel(|how @ (_, way, _)| {
        let mut hashes = absent_in::<L>(grown, len(way).min(ROUND), second_is_less);
        let last = hashes.len() - 1;
        for place in [0, 1, 6, 7, 8, 15, 16, last] {
            // The one whose version changes, at this place.
            hashes.swap(0, place);
            let changed = grown.stripe::<L>(hashes[place]);
            let bump = || grown.stripes.as_slice()[changed].lock().bump();
            let again = RefCell::new(Vec::new());
            first_load::at_first_load(&grown.words, &bump, || {
                grown.look_up::<L>(how, &hashes, &|hash| {
                    again.borrow_mut().push(hash);
                    false
                });
            });
            let first_group = place < if how.0 == Kernel::Avx512 { 16 } else { 8 };
            match way {
                Way::Copied => assert_eq!(again.take(), hashes, "{how:?}"),
                // A later group reads its versions after the bump.
                _ if !first_group => assert!(again.take().is_empty(), "{how:?}, {place}"),
                _ => assert_eq!(again.take(), [hashes[place]], "{how:?}, {place}"),
            }
            hashes.swap(0, place);
        }
    });
    for kernel in available() {
        let hash = absent_in::<L>(grown, 1, second_is_less)[0];
        for stripe in 0..STRIPES {
            let bump = || grown.stripes.as_slice()[stripe].lock().bump();
            first_load::at_first_load(&grown.words, &bump, || {
                let expected = (stripe != grown.stripe::<L>(hash)).then_some(false);
                assert_eq!(grown.look_up_one::<L>(kernel, hash), expected, "{kernel:?}");
            });
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_version_that_changes_in_a_growing_table_is_noticed() {
    in_all_layouts!(notices_versions);
}

#[cfg(target_os = "linux")]
fn hits_need_no_version<L: Form>() {
    let grown = Grown::new::<L>((2_111, 2, 8_000), 30_000);
    let hits: Vec<u64> = (0..30_000).filter(|&hash| grown.told::<L>(hash) == Told::Hit).collect();
    let pages = first_load::in_whole_pages(&grown.words);
    let in_pages = |hash: &u64| {
        let Item { sides } = grown.growth.item(mix(*hash, SEED));
        let places = sides.map(|side| grown.growth.place(side, grown.size).expect("an item"));
        places.iter().all(|place| pages.contains(&(place.bucket as usize)))
    };
    for hash in hits.into_iter().filter(in_pages).take(20) {
        let bump = || grown.stripes.as_slice()[grown.stripe::<L>(hash)].lock().bump();
        for kernel in available() {
            first_load::at_first_load(&grown.words, &bump, || {
                assert_eq!(grown.look_up_one::<L>(kernel, hash), Some(true), "{kernel:?}");
            });
        }
        on_every_kernel(|how| {
            first_load::at_first_load(&grown.words, &bump, || {
                let found = grown.look_up::<L>(how, &[hash], &|_| panic!("again: {how:?}"));
                assert_eq!(found, Found(vec![true], 1));
            });
        });
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_hit_in_a_growing_table_is_a_hit_whatever_the_version_is() {
    in_all_layouts!(hits_need_no_version);
}
