//! The steps of a lookup in tables of a fixed size, eight or four items at a time. The formulas are
//! those of `fixed/addressing.rs` and of `bucket/swar.rs`.

use super::{
    FOUND, View, mask,
    mixing::{VectorMixer, reflection},
    vector::Vector,
    ways::{Lookup, Outcome},
};
use crate::bucket::{Lanes, Slots, nibbles};

/// What a kernel needs of a table of a fixed size.
pub(super) struct FixedView<'a> {
    view: View<'a>,
    /// The number of keys, and the smallest one.
    keys: u64,
    min_key: u64,
    lanes: &'a Lanes,
    value_bits: u32,
    bits_below: u32,
}

impl<'a> FixedView<'a> {
    pub(super) fn new(view: View<'a>, slots: &'a Slots) -> Self {
        Self {
            view,
            keys: (1 << slots.key_bits()) - u64::from(slots.min_key()),
            min_key: slots.min_key().into(),
            lanes: slots.lanes(),
            value_bits: slots.value_bits(),
            bits_below: slots.bits_below(),
        }
    }
}

/// The items of one vector, with their fingerprints and buckets.
#[derive(Clone, Copy)]
pub(super) struct Group<V> {
    fingerprints: V,
    buckets: [V; 2],
}

/// What is the same for all items, in every lane.
pub(super) struct Fixed<'a, V, const VALUES: bool> {
    table: &'a FixedView<'a>,
    mixer: VectorMixer<V>,
    keys: V,
    min_key: V,
    buckets: V,
    last_stripe: V,
    /// The lowest bit of each slot's fingerprint, which is above its value.
    ones: V,
    highs: V,
}

// SAFETY: `locate` reduces both numbers to indices of buckets. The number of stripes is a power of
// two, so the mask yields an index.
unsafe impl<'a, V: Vector, const VALUES: bool> Lookup<'a, V> for Fixed<'a, V, VALUES> {
    type Table = FixedView<'a>;
    type Group = Group<V>;
    const VALUES: bool = VALUES;

    #[inline(always)]
    unsafe fn new(table: &'a FixedView<'a>) -> Self {
        let FixedView { view, keys, min_key, lanes, value_bits, .. } = table;
        // SAFETY: the caller promises that the processor has the instructions.
        let zero = unsafe { V::splat(0) };
        Self {
            table,
            mixer: VectorMixer::new(zero, view.mixer),
            keys: zero.all(*keys),
            min_key: zero.all(*min_key),
            buckets: zero.all(view.words.len() as u64),
            last_stripe: zero.all(view.stripes.len() as u64 - 1),
            ones: zero.all(lanes.ones() << value_bits),
            highs: zero.all(lanes.highs()),
        }
    }

    #[inline(always)]
    fn view(&self) -> &'a View<'a> {
        &self.table.view
    }

    #[inline(always)]
    fn locate(&self, hashes: &[u64]) -> Group<V> {
        let mixed = self.mixer.mix(hashes);
        let fingerprints = mixed.reduce(self.keys).add(self.min_key);
        let first = mixed.shift_right(32).reduce(self.buckets);
        let t = reflection(fingerprints).reduce(self.buckets);
        // Modulo the number of buckets. All bits of the upper half are set if it wraps.
        let difference = t.subtract(first);
        let second = difference.add(self.buckets.and(difference.upper_halves()));
        Group { fingerprints, buckets: [first, second] }
    }

    #[inline(always)]
    fn buckets(&self, group: &Group<V>) -> [V; 2] {
        group.buckets
    }

    #[inline(always)]
    fn stripes(&self, group: &Group<V>) -> V {
        group.fingerprints.and(self.last_stripe)
    }

    /// As `ones` is above the values, the zero-lane test marks a lane if all bits above its value
    /// are zero.
    #[inline(always)]
    fn find(&self, group: &Group<V>, words: [V; 2]) -> Outcome<V> {
        let pattern = group.fingerprints.shift_right(self.table.bits_below).multiply(self.ones);
        let [first, second] = words.map(|word| {
            // The zero-lane test, without the mask.
            let x = word.xor(pattern);
            x.and_not(x.subtract(self.ones))
        });
        if VALUES {
            let answers = self.answers(words, [first.and(self.highs), second.and(self.highs)]);
            return Outcome { found: answers.nonzero(), open: 0, answers };
        }
        let mut found = first.or(second).and(self.highs).nonzero();
        if self.table.bits_below != 0 && found != 0 {
            found = self.full_probe(group.fingerprints, words);
        }
        Outcome { found, open: 0, answers: self.ones }
    }
}

impl<V: Vector, const VALUES: bool> Fixed<'_, V, VALUES> {
    /// The answers as `Answers::put_lanes` takes them, given the marks of the zero-lane test. Each
    /// value is that of the lowest marked slot, in the first word that has marks.
    #[inline(always)]
    fn answers(&self, words: [V; 2], marks: [V; 2]) -> V {
        let word = marks[0].select(words[0], words[1]);
        let marks = marks[0].select(marks[0], marks[1]);
        let lowest = marks.and(marks.all(0).subtract(marks));
        let slot = word.shift_to(lowest, self.table.lanes);
        let value = slot.and(slot.all(mask(self.table.value_bits as usize).into()));
        marks.select(value.or(value.all(FOUND.into())), marks.all(0))
    }

    /// Compares whole fingerprints, in semi-sorted layouts, once a high part has matched.
    #[inline(always)]
    fn full_probe(&self, fingerprints: V, words: [V; 2]) -> u32 {
        let lanes = self.table.lanes;
        let lane = fingerprints.all((1 << lanes.bits()) - 1);
        let nibble = fingerprints.all(nibbles::MASK.into());
        let codes = fingerprints.all((1 << lanes.shift()) - 1);
        let mut found = 0;
        for word in words {
            // SAFETY: the codes are masked, and the table has an entry for each code.
            let sequence = unsafe { word.and(codes).gather_nibbles() };
            for slot in 0..lanes.count() {
                let highs = word.shift_right(lanes.shift() + slot * lanes.bits()).and(lane);
                let low = sequence.shift_right(slot * nibbles::BITS).and(nibble);
                let slots = highs.shift_left(nibbles::BITS).or(low);
                found |= !slots.different(fingerprints);
            }
        }
        found & mask(V::LANES)
    }
}
