//! The steps of a lookup in a table that grows by splitting, sixteen or eight items at a time, in
//! pairs of vectors. Both sides of an item are in one lane, as long as their numbers fit. The
//! formulas are those of `table/split/address.rs` and of `bucket/leveled.rs`.
//!
//! The size that a batch starts from is a hint: buckets may have been split since it was published.
//! So a word of another level than the hint tells is neither a hit nor a miss. Its item is looked
//! up again by itself.

use core::marker::PhantomData;

use super::{
    Answers, Hashes, Stripe, Vectors, are_copied,
    avx2::Four,
    avx512::Eight,
    mixing::{Mixer, Scatter},
    two::Two,
    vector::Vector,
    ways::{Lookup, Outcome},
};
use crate::{
    bucket::{
        GrowingLayout,
        leveled::{LEVEL_SHIFT, MAX_LEVEL},
    },
    sync::Word,
    table::{batch::is_cached, split::Size},
};

/// The level of a word.
pub(super) const LEVEL: u64 = u64::MAX << LEVEL_SHIFT;

/// What a kernel needs of a table that grows.
pub(in crate::table) struct GrowingView<'a> {
    /// The words of all buckets up to the size.
    words: &'a [Word],
    /// The number of buckets at level 0.
    first: u32,
    stripes: &'a [Stripe],
    seed: u64,
    size: Size,
    /// Whether the words are prefetched.
    prefetches: bool,
    /// Looks up one hash.
    lookup: &'a dyn Fn(u64) -> bool,
}

impl<'a> GrowingView<'a> {
    /// What a kernel needs of a table with `first` buckets at level 0, of which `words` are the
    /// words up to this size, and the others are not needed. `None` if kernels cannot serve a
    /// table with so many buckets. `lookup` looks up one hash, which is not mixed, whatever the
    /// size is.
    ///
    /// The size must have been read before (Acquire).
    ///
    /// # Panics
    /// If there are fewer words, or if the number of stripes is not a power of two.
    pub(in crate::table) fn new(
        words: &'a [Word],
        first: u64,
        size: Size,
        stripes: &'a [Stripe],
        seed: u64,
        lookup: &'a dyn Fn(u64) -> bool,
    ) -> Option<Self> {
        // Twice as many must fit into 32 bits.
        let first = u32::try_from(first).ok().filter(|&first| first <= 1 << 31)?;
        let round = u64::from(first) << size.level;
        assert!(size.level <= MAX_LEVEL);
        assert!(size.split <= round && round + size.split <= words.len() as u64);
        assert!(stripes.len().is_power_of_two());
        let prefetches = !is_cached(words);
        Some(Self { words, first, stripes, seed, size, prefetches, lookup })
    }

    /// As if the table were large, or small.
    #[cfg(test)]
    pub(super) fn with_prefetches(self, prefetches: bool) -> Self {
        Self { prefetches, ..self }
    }
}

/// The items of one vector.
#[derive(Clone, Copy)]
pub(super) struct Group<V> {
    /// The buckets, and the levels that their words should have. As everything that is packed, the
    /// first side has the lower half of each lane, and the second side the upper one.
    buckets: V,
    levels: V,
    /// What slots are compared with, in the first slot, for each side.
    patterns: [V; 2],
    /// Numbers of which the stripes' numbers are the lowest bits.
    stripes: V,
}

/// What is the same for all items, in every lane, and for both sides where it is packed.
pub(super) struct Growing<'a, V, L> {
    view: &'a GrowingView<'a>,
    mixer: Mixer<V>,
    scatter: Scatter<V>,
    one: V,
    /// Buckets at level 0, packed, and in this round, and those of them that have been split.
    first: V,
    round: V,
    split: V,
    /// The bits of the extension that choose a bucket in this round, and the next one.
    chosen: V,
    next: V,
    /// The levels of buckets that have not been split, and of those that have.
    levels: [V; 2],
    last_stripe: V,
    layout: PhantomData<L>,
}

impl<'a, V: Vector, L: GrowingLayout> Lookup<'a, V> for Growing<'a, V, L> {
    type View = GrowingView<'a>;
    type Group = Group<V>;
    const VALUES: bool = false;
    const LEVELS: bool = true;

    #[inline(always)]
    unsafe fn new(view: &'a GrowingView<'a>) -> Self {
        let Size { level, split } = view.size;
        let round = view.first.wrapping_shl(level);
        // SAFETY: the caller promises that the processor has the instructions.
        unsafe {
            Self {
                view,
                mixer: Mixer::new(view.seed),
                scatter: Scatter::new(),
                one: V::splat(1),
                first: V::splat(packed(view.first)),
                round: V::splat(packed(round)),
                split: V::splat(packed(split as u32)),
                chosen: V::splat(packed((1 << level) - 1)),
                next: V::splat(packed(1 << level)),
                levels: [V::splat(packed(level)), V::splat(packed(level + 1))],
                last_stripe: V::splat(view.stripes.len() as u64 - 1),
                layout: PhantomData,
            }
        }
    }

    #[inline(always)]
    fn unset(&self) -> Group<V> {
        let zero = self.splat(0);
        Group { buckets: zero, levels: zero, patterns: [zero; 2], stripes: zero }
    }

    #[inline(always)]
    fn locate(&self, hashes: &[u64]) -> Group<V> {
        let mixed = self.mixer.mix(hashes);
        let upper = mixed.upper_halves();
        let core = upper.shift_right_halves(32 - L::CORE);
        // Buckets at level 0, in the upper halves.
        let product = mixed.multiply_low(self.first);
        let scattered = self.scatter.scatter(core.add(self.one));
        let difference = scattered.multiply_low(self.first).subtract_halves(product);
        let alternate = difference.min_halves(difference.add_halves(self.first));

        let extensions = self.extensions(upper, product, scattered);
        let start = product.beside(alternate);
        let chosen = extensions.and(self.chosen);
        let bucket = start.add_halves(chosen.multiply_halves(self.first));
        let split = bucket.below(self.split);
        let buckets = bucket.add_if_set(split, extensions, self.next, self.round);
        let levels = V::choose(split, self.levels[1], self.levels[0]);
        let patterns = if Self::FITS {
            let tails = extensions.shift_each_half(levels, L::CORE);
            let patterns = tails.and(self.splat(packed(Self::TAIL as u32))).or(core);
            [self.lower(patterns), patterns.shift_right::<32>()]
        } else {
            self.long_patterns(mixed, product, scattered, levels)
        };
        // Below the bucket at level 0 are bits of the other half. The core takes their place.
        let core_mask = self.splat(L::CORE_MASK);
        let start = product.min_halves(alternate).shift_right_by(32 - L::CORE);
        let stripes = core_mask.and(core).or(core_mask.and_not(start));
        Group { buckets, levels, patterns, stripes }
    }

    #[inline(always)]
    fn prefetches(&self) -> bool {
        self.view.prefetches
    }

    #[inline(always)]
    fn prefetch(&self, group: &Group<V>, count: usize) {
        if self.view.prefetches && count > 0 {
            for buckets in self.sides(group.buckets) {
                for &bucket in &buckets.store().as_ref()[..count] {
                    let word = self.view.words.as_ptr().wrapping_add(bucket as usize);
                    crate::table::prefetch(word.cast());
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
        let stripes = group.stripes.and(self.last_stripe);
        let places = stripes.shift_left::<{ Stripe::WORDS.ilog2() }>();
        // SAFETY: the number of stripes is a power of two, so the mask yields an index.
        unsafe { places.gather(Stripe::versions(self.view.stripes)) }
    }

    /// See `GrowingLayout::matches_of`. Whether any slot matches takes less: in each word, the
    /// occupied slots come first. So the short zero-lane test of `beyond`, which is right up to the
    /// lowest zero lane, marks the same lanes as that of the slots if no slot matches. If one does,
    /// it is zero in `beyond` but not in the slots, and all slots below it are occupied.
    #[inline(always)]
    fn find(&self, group: &Group<V>) -> Outcome<V> {
        let words = self.view.words.as_ptr();
        let [first, second] = self.sides(group.buckets);
        // SAFETY: `locate` returns buckets below the size: a split bucket leads to a child, whose
        // number is below the sum of the round's buckets and the number of splits.
        let [first, second] = unsafe { [first.gather(words), second.gather(words)] };
        let [pattern, other] = group.patterns;
        let marks = self.compare(first, pattern).or(self.compare(second, other));
        let found = marks.and(self.splat(L::LANES.highs())).nonzero();
        let levels = first.beside(second).shift_right_halves(LEVEL_SHIFT - 32);
        let open = levels.different(group.levels);
        Outcome { found: found & !open, open, answers: self.one }
    }

    #[inline(always)]
    fn look_up_again(&self, lanes: u32, hashes: &[u64], _: &mut [u32]) -> u32 {
        self.view.look_up_again(lanes, hashes)
    }
}

impl<V: Vector, L: GrowingLayout> Growing<'_, V, L> {
    /// Bits of the extension that come from the upper half of a hash.
    const UPPER: u32 = 32 - L::CORE;
    /// Whether a half has room for the extension.
    const FITS: bool = L::EXTENSION <= 32;
    /// The part of a pattern that is above the core, in the first slot.
    const TAIL: u64 = L::FIRST & !L::CORE_MASK;
    /// The slots that begin in the low half of a word, and the other ones.
    const LOW_SLOTS: u32 = (L::LANES.ones() as u32).count_ones();
    const HIGH_SLOTS: u32 = L::SLOTS - Self::LOW_SLOTS;

    #[allow(clippy::unused_self, reason = "where it is, the processor has the instructions")]
    #[inline(always)]
    #[expect(clippy::unused_self, reason = "it shows that the processor has the instructions")]
    fn splat(&self, value: u64) -> V {
        // SAFETY: there are vectors already.
        unsafe { V::splat(value) }
    }

    /// The lower halves.
    #[inline(always)]
    fn lower(&self, x: V) -> V {
        x.and(self.splat(u64::from(u32::MAX)))
    }

    /// What is packed, of each side by itself.
    #[inline(always)]
    fn sides(&self, x: V) -> [V; 2] {
        [self.lower(x), x.shift_right::<32>()]
    }

    /// The extensions, packed. Bits above them may be anything, and so may be those that do not fit
    /// into a half.
    #[inline(always)]
    fn extensions(&self, upper: V, product: V, scattered: V) -> V {
        let mask = (1 << Self::UPPER) - 1;
        let s = scattered.and(self.splat(mask << 32));
        if L::LOW_BITS == 0 || !Self::FITS {
            return upper.xor(s);
        }
        // The upper bits of the low half of the product, above the others.
        let low = product.lower_halves().shift_right_halves(L::CORE - L::LOW_BITS);
        let mask = self.splat(packed(mask as u32));
        mask.and(upper).or(mask.and_not(low)).xor(s)
    }

    /// The patterns, if extensions do not fit into a half.
    #[inline(always)]
    fn long_patterns(&self, mixed: V, product: V, scattered: V, levels: V) -> [V; 2] {
        let mask = self.splat((1 << Self::UPPER) - 1);
        let low = product.shift_left_by(L::LOW_BITS.saturating_sub(L::CORE));
        let extension = mask.and(mixed.shift_right::<32>()).or(mask.and_not(low));
        let other = extension.xor(scattered.shift_right::<32>().and(mask));
        let core = mixed.shift_right_by(u64::BITS - L::CORE);
        let [level, other_level] = self.sides(levels);
        let tail = self.splat(Self::TAIL);
        let first = extension.shift_right_each(level).shift_left_by(L::CORE).and(tail).or(core);
        let second = other.shift_right_each(other_level).shift_left_by(L::CORE).and(tail).or(core);
        [first, second]
    }

    /// The value of the first slot, in all slots. Bits above the slots may be anything.
    #[inline(always)]
    fn broadcast(&self, x: V) -> V {
        let low = x.multiply_low(self.splat(L::LANES.ones() & u64::from(u32::MAX)));
        let shift = Self::LOW_SLOTS * L::WIDTH;
        match Self::HIGH_SLOTS {
            0 => low,
            1 => low.or(x.shift_left_by(shift)),
            _ => low.or(low.shift_left_by(shift)),
        }
    }

    /// Marks by the highest bit of a slot whether any slot of a word matches: see `find`.
    #[inline(always)]
    fn compare(&self, word: V, pattern: V) -> V {
        let ones = self.splat(L::LANES.ones());
        let pattern = self.broadcast(pattern);
        // A slot without a difference borrows from the lane above. But this slot matches, and one
        // match is enough. (If it is empty, so are all above.)
        let differences = word.xor(pattern);
        let until = differences.xor(differences.subtract(ones));
        let beyond = until.and_not(word);
        let marks = beyond.and_not(beyond.subtract(ones));
        let empty = word.and_not(word.subtract(ones));
        empty.and_not(marks)
    }
}

/// A number in both halves.
#[inline(always)]
fn packed(x: u32) -> u64 {
    u64::from(x) << 32 | u64::from(x)
}

impl GrowingView<'_> {
    /// Looks up the hashes whose bits are set, one by one. Returns those that were found.
    #[cold]
    fn look_up_again(&self, lanes: u32, hashes: &[u64]) -> u32 {
        let lanes = (0..hashes.len()).filter(|&lane| lanes >> lane & 1 != 0);
        lanes.fold(0, |found, lane| found | u32::from((self.lookup)(hashes[lane])) << lane)
    }
}

impl Vectors {
    /// As [`contains`](Self::contains), in a table that grows. The answers have no values.
    ///
    /// # Safety
    /// The processor has the instructions.
    pub(in crate::table) unsafe fn contains_growing<'a, L: GrowingLayout>(
        self,
        view: &'a GrowingView<'a>,
        len: usize,
        hashes: &mut Hashes<'_>,
        answers: &mut Answers<'_>,
    ) -> usize {
        let copied = are_copied(view.stripes.len(), len);
        // SAFETY: the caller promises that the processor has the instructions.
        unsafe {
            self.contains_by::<_, _, Growing<'a, Two<Four>, L>, Growing<'a, Two<Eight>, L>>(
                view,
                (len, copied),
                hashes,
                answers,
            )
        }
    }
}
