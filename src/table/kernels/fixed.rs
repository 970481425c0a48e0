//! The steps of a lookup in tables of a fixed size, eight or four items at a time. The formulas are
//! those of `fixed/addressing.rs` and of `bucket/swar.rs`.

use super::{
    FOUND, Part, Stripe, View, mask,
    mixing::{Mixer, Scatter},
    vector::{Factor, Vector},
    ways::{Lookup, Outcome},
};
use crate::bucket::nibbles;

/// The items of one vector, with their fingerprints and buckets.
#[derive(Clone, Copy)]
pub(super) struct Group<V> {
    fingerprints: V,
    buckets: [V; 2],
}

/// What is the same for all items, in every lane.
pub(super) struct Fixed<'a, V, const VALUES: bool> {
    view: &'a View<'a>,
    mixer: Mixer<V>,
    min_fingerprint: V,
    fingerprints: V,
    scatter: Scatter<V>,
    buckets: V,
    last_stripe: V,
    ones: Factor<V>,
    highs: V,
}

impl<'a, V: Vector, const VALUES: bool> Lookup<'a, V> for Fixed<'a, V, VALUES> {
    type View = View<'a>;
    type Group = Group<V>;
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
                buckets: V::splat(view.part.words.len() as u64),
                last_stripe: V::splat(view.stripes.len() as u64 - 1),
                ones: Factor::splat(view.part.ones),
                highs: V::splat(view.part.lanes.highs()),
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
        let t = self.scatter.scatter(fingerprints).reduce(self.buckets);
        let second = first.reflect(t, self.buckets);
        Group { fingerprints, buckets: [first, second] }
    }

    #[inline(always)]
    fn prefetches(&self) -> bool {
        self.view.part.prefetches
    }

    #[inline(always)]
    fn prefetch(&self, group: &Group<V>, count: usize) {
        let part = &self.view.part;
        if part.prefetches && count > 0 {
            for buckets in group.buckets {
                for &bucket in &buckets.store().as_ref()[..count] {
                    part.prefetch(bucket);
                }
            }
        }
    }

    #[inline(always)]
    fn stripes(&self) -> &'a [Stripe] {
        self.view.stripes
    }

    #[inline(always)]
    fn versions(&self, group: &Group<V>) -> V {
        let stripes = group.fingerprints.and(self.last_stripe);
        let places = stripes.shift_left::<{ Stripe::WORDS.ilog2() }>();
        // SAFETY: the number of stripes is a power of two, so the mask yields an index.
        unsafe { places.gather(Stripe::versions(self.view.stripes)) }
    }

    /// As `ones` is above the values, the zero-lane test marks a lane if all bits above its value
    /// are zero.
    #[inline(always)]
    fn find(&self, group: &Group<V>) -> Outcome<V> {
        let Self { view: View { part, .. }, ones, highs, .. } = *self;
        let words = words(part, group);
        let lanes = group.fingerprints.shift_right_by(part.bits_below);
        let pattern = lanes.multiply(ones);
        let zeros = [zeros(words[0], pattern, ones.value), zeros(words[1], pattern, ones.value)];
        if VALUES {
            let answers = self.answers(part, words, [zeros[0].and(highs), zeros[1].and(highs)]);
            return Outcome { found: answers.nonzero(), open: 0, answers };
        }
        let mut found = zeros[0].or(zeros[1]).and(highs).nonzero();
        if part.bits_below != 0 && found != 0 {
            found = group.fingerprints.full_probe(part, words);
        }
        Outcome { found, open: 0, answers: self.splat(0) }
    }

    #[inline(always)]
    fn look_up_again(&self, lanes: u32, hashes: &[u64], values: &mut [u32]) -> u32 {
        self.view.look_up_again(lanes, hashes, values)
    }
}

impl<V: Vector, const VALUES: bool> Fixed<'_, V, VALUES> {
    #[allow(clippy::unused_self, reason = "where it is, the processor has the instructions")]
    #[inline(always)]
    #[expect(clippy::unused_self, reason = "it shows that the processor has the instructions")]
    fn splat(&self, value: u64) -> V {
        // SAFETY: there are vectors already.
        unsafe { V::splat(value) }
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

/// Both words of each item.
#[inline(always)]
fn words<V: Vector>(part: &Part<'_>, group: &Group<V>) -> [V; 2] {
    let [first, second] = group.buckets;
    // SAFETY: `locate` reduces both to indices of buckets.
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
