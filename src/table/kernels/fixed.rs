//! The steps of a lookup in tables of a fixed size and in chains, eight or four items at a time.
//! The formulas are those of `addressing.rs` and of `bucket/swar.rs`.

use super::{
    FOUND, Part, Stripe, View, WINDOW, WINDOW_IN_CHAINS, mask,
    mixing::{Mixer, Scatter},
    vector::{Factor, Vector},
    ways::{Lookup, Outcome},
};
use crate::bucket::nibbles;

/// The items of one vector, with their fingerprints and buckets in the last table.
#[derive(Clone, Copy)]
pub(super) struct Group<V> {
    fingerprints: V,
    buckets: [V; 2],
}

/// What is the same for all items, in every lane.
///
/// In a table that stands alone, `NESTED` is false, and the code for earlier segments is not
/// compiled.
pub(super) struct Fixed<'a, V, const NESTED: bool, const VALUES: bool> {
    view: &'a View<'a>,
    mixer: Mixer<V>,
    min_fingerprint: V,
    fingerprints: V,
    scatter: Scatter<V>,
    buckets: V,
    first_buckets: V,
    low_bits: V,
    last_stripe: V,
    ones: Factor<V>,
    highs: V,
}

impl<'a, V: Vector, const NESTED: bool, const VALUES: bool> Lookup<'a, V>
    for Fixed<'a, V, NESTED, VALUES>
{
    type View = View<'a>;
    type Group = Group<V>;
    const WINDOW: usize = if NESTED { WINDOW_IN_CHAINS } else { WINDOW };
    const OVERLAPS: bool = NESTED;
    const VALUES: bool = VALUES;
    const LEVELS: bool = false;

    #[inline(always)]
    unsafe fn new(view: &'a View<'a>) -> Self {
        // SAFETY: the caller promises that the processor has the instructions.
        unsafe {
            Self {
                view,
                mixer: Mixer::new(view.seed),
                min_fingerprint: V::splat(view.min_fingerprint.into()),
                fingerprints: V::splat(view.fingerprints.into()),
                scatter: Scatter::new(),
                buckets: V::splat(view.last.words.len() as u64),
                first_buckets: V::splat(view.last.words.len() as u64 >> view.level),
                low_bits: V::splat((1 << view.level) - 1),
                last_stripe: V::splat(view.stripes.len() as u64 - 1),
                ones: Factor::splat(view.last.ones),
                highs: V::splat(view.last.lanes.highs()),
            }
        }
    }

    #[inline(always)]
    fn unset(&self) -> Group<V> {
        Group { fingerprints: self.splat(0), buckets: [self.splat(0); 2] }
    }

    /// The fingerprints and the buckets of hashes.
    #[inline(always)]
    fn locate(&self, hashes: &[u64]) -> Group<V> {
        let mixed = self.mixer.mix(hashes);
        let fingerprints = self.min_fingerprint.add(mixed.reduce(self.fingerprints));
        let first = mixed.shift_right::<32>().reduce(self.buckets);
        let t = self.scatter.scatter(self.firsts(fingerprints)).reduce(self.buckets);
        if !NESTED {
            let second = first.reflect(t, self.buckets);
            return Group { fingerprints, buckets: [first, second] };
        }
        let level = self.view.level;
        let halved = [first.shift_right_by(level), t.shift_right_by(level)];
        let high = halved[0].reflect(halved[1], self.first_buckets);
        let low = t.xor(first).and(self.low_bits);
        let second = high.shift_left_by(level).or(low);
        Group { fingerprints, buckets: [first, second] }
    }

    #[inline(always)]
    fn prefetches(&self) -> bool {
        self.view.last.prefetches
    }

    #[inline(always)]
    fn prefetch(&self, group: &Group<V>, count: usize) {
        prefetch(&self.view.last, group, count);
        if NESTED {
            for part in self.view.earlier {
                prefetch(part, &nested(part, group), count);
            }
        }
    }

    #[inline(always)]
    fn stripes(&self) -> &'a [Stripe] {
        self.view.stripes
    }

    #[inline(always)]
    fn versions(&self, group: &Group<V>) -> V {
        let stripes = self.firsts(group.fingerprints).and(self.last_stripe);
        let places = stripes.shift_left::<{ Stripe::WORDS.ilog2() }>();
        // SAFETY: the number of stripes is a power of two, so the mask yields an index.
        unsafe { places.gather(Stripe::versions(self.view.stripes)) }
    }

    /// Prefetches one table at a time, because the processor has room for only a few dozen misses.
    #[inline(always)]
    fn find(&self, group: &Group<V>, (next, count): (&Group<V>, usize)) -> Outcome<V> {
        let Self { view, ones, highs, .. } = *self;
        if NESTED {
            prefetch(&view.last, next, count);
        }
        let (mut found, mut answers) = self.compare(&view.last, ones, highs, group);
        if NESTED {
            for part in view.earlier {
                prefetch(part, &nested(part, next), count);
                // SAFETY: there are vectors already.
                let ones = unsafe { Factor::splat(part.ones) };
                let highs = self.splat(part.lanes.highs());
                let group = &nested(part, group);
                let (few, earlier) = self.compare(part, ones, highs, group);
                found |= few;
                answers = answers.select(answers, earlier);
            }
        }
        Outcome { found, open: 0, answers }
    }

    #[inline(always)]
    fn look_up_again(&self, lanes: u32, hashes: &[u64], values: &mut [u32]) -> u32 {
        self.view.look_up_again(lanes, hashes, values)
    }
}

impl<V: Vector, const NESTED: bool, const VALUES: bool> Fixed<'_, V, NESTED, VALUES> {
    #[allow(clippy::unused_self, reason = "where it is, the processor has the instructions")]
    #[inline(always)]
    #[expect(clippy::unused_self, reason = "it shows that the processor has the instructions")]
    fn splat(&self, value: u64) -> V {
        // SAFETY: there are vectors already.
        unsafe { V::splat(value) }
    }

    /// Converts fingerprints in the last table to those in the first one, which select the stripe.
    #[inline(always)]
    fn firsts(&self, fingerprints: V) -> V {
        if NESTED { fingerprints.shift_right_by(self.view.extra_bits) } else { fingerprints }
    }

    /// Reads the words of one table. Returns the lanes whose words hold the fingerprint, as a mask,
    /// and with `VALUES` the answer of each item. As `ones` is above the values, the zero-lane test
    /// marks a lane if all bits above its value are zero.
    #[inline(always)]
    fn compare(&self, part: &Part<'_>, ones: Factor<V>, highs: V, group: &Group<V>) -> (u32, V) {
        let words = words(part, group);
        let lanes = group.fingerprints.shift_right_by(part.bits_below);
        let pattern = lanes.multiply(ones);
        let zeros = [zeros(words[0], pattern, ones.value), zeros(words[1], pattern, ones.value)];
        if VALUES {
            let answers = self.answers(part, words, [zeros[0].and(highs), zeros[1].and(highs)]);
            return (answers.nonzero(), answers);
        }
        let found = zeros[0].or(zeros[1]).and(highs).nonzero();
        if part.bits_below == 0 || found == 0 {
            return (found, self.splat(0));
        }
        (group.fingerprints.full_probe(part, words), self.splat(0))
    }

    /// The answers as `Answers::put` takes them, given the marks of the zero-lane test. Each value
    /// is that of the lowest marked slot, in the first word that has marks.
    #[inline(always)]
    fn answers(&self, part: &Part<'_>, words: [V; 2], marks: [V; 2]) -> V {
        let word = marks[0].select(words[0], words[1]);
        let marks = marks[0].select(marks[0], marks[1]);
        let lowest = marks.and(self.splat(0).subtract(marks));
        let slot = word.shift_to(lowest, part);
        let value = slot.and(self.splat(mask(part.value_bits as usize).into()));
        marks.select(value.or(self.splat(FOUND.into())), self.splat(0))
    }
}

/// The items in an earlier table.
#[inline(always)]
fn nested<V: Vector>(part: &Part<'_>, group: &Group<V>) -> Group<V> {
    let [first, second] = group.buckets;
    Group {
        fingerprints: group.fingerprints.shift_right_by(part.fingerprint_shift),
        buckets: [halved(part, first), halved(part, second)],
    }
}

/// The buckets in an earlier table.
#[inline(always)]
fn halved<V: Vector>(part: &Part<'_>, buckets: V) -> V {
    buckets.shift_right_by(part.bucket_shift)
}

/// Both words of each item.
#[inline(always)]
fn words<V: Vector>(part: &Part<'_>, group: &Group<V>) -> [V; 2] {
    let [first, second] = group.buckets;
    // SAFETY: `locate` reduces both to indices of buckets, and `nested` halves them as often as the
    // number of buckets is halved.
    unsafe { [first.gather(part.words.as_ptr()), second.gather(part.words.as_ptr())] }
}

/// The zero-lane test, without the mask.
#[inline(always)]
fn zeros<V: Vector>(word: V, pattern: V, ones: V) -> V {
    let x = word.xor(pattern);
    x.and_not(x.subtract(ones))
}

/// Compares whole fingerprints, in semi-sorted layouts, once a high part has matched.
#[inline(always)]
pub(super) fn full_probe<V: Vector>(part: &Part<'_>, fingerprints: V, words: [V; 2]) -> u32 {
    // SAFETY: there are vectors already.
    let [lane, nibble, codes] = unsafe {
        [
            V::splat((1 << part.lanes.bits()) - 1),
            V::splat(nibbles::MASK.into()),
            V::splat((1 << part.lanes.shift()) - 1),
        ]
    };
    let mut found = 0;
    for word in words {
        // SAFETY: the codes are masked, and the table has an entry for each code.
        let sequence = unsafe { word.and(codes).gather_nibbles() };
        for slot in 0..part.lanes.count() {
            let highs =
                word.shift_right_by(part.lanes.shift() + slot * part.lanes.bits()).and(lane);
            let low = sequence.shift_right_by(slot * nibbles::BITS).and(nibble);
            let slots = highs.shift_left::<{ nibbles::BITS }>().or(low);
            found |= !slots.different(fingerprints);
        }
    }
    found & V::ALL
}

/// Prefetches the buckets of the first items of a group in one table.
#[inline(always)]
fn prefetch<V: Vector>(part: &Part<'_>, group: &Group<V>, count: usize) {
    if part.prefetches && count > 0 {
        for buckets in group.buckets {
            for &bucket in &buckets.store().as_ref()[..count] {
                part.prefetch(bucket);
            }
        }
    }
}
