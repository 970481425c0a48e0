//! The steps of a lookup in a table that grows by splitting, sixteen or eight items at a time, in
//! pairs of vectors. Both sides of an item are in one lane, as long as their numbers fit. The
//! formulas are those of `table/split/address.rs` and of `bucket/leveled.rs`.
//!
//! The size that a batch starts from is a hint: buckets may have been split since it was published.
//! So a word of another level than the hint tells is neither a hit nor a miss. Its item is looked
//! up again by itself.

use core::marker::PhantomData;

use super::{
    Answers, Form, Hashes, Vectors, View, are_copied,
    avx2::Four,
    avx512::Eight,
    by_form,
    mixing::{VectorMixer, scatter},
    two::Two,
    vector::Vector,
    ways::{Lookup, Outcome},
};
use crate::{
    bucket::{
        Leveled,
        leveled::{LEVEL_SHIFT, MAX_LEVEL},
    },
    table::split::Size,
};

/// The level of a word.
pub(super) const LEVEL: u64 = u64::MAX << LEVEL_SHIFT;

/// What a kernel needs of a table that grows.
pub(in crate::table) struct GrowingView<'a> {
    view: View<'a>,
    /// The number of buckets at level 0.
    first: u32,
    size: Size,
}

impl<'a> GrowingView<'a> {
    /// What a kernel needs of a table with `first` buckets at level 0. The view has the words up to
    /// this size; the others are not needed. `None` if kernels cannot serve a table with so many
    /// buckets. The view's lookup does not depend on the size.
    ///
    /// The size must have been read before (Acquire).
    ///
    /// # Panics
    /// If there are fewer words, or if the number of stripes is not a power of two.
    pub(in crate::table) fn new(view: View<'a>, first: u64, size: Size) -> Option<Self> {
        // Twice as many must fit into 32 bits.
        let first = u32::try_from(first).ok().filter(|&first| first <= 1 << 31)?;
        let round = u64::from(first) << size.level;
        assert!(size.level <= MAX_LEVEL);
        assert!(size.split <= round && round + size.split <= view.words.len() as u64);
        assert!(view.stripes.len().is_power_of_two());
        Some(Self { view, first, size })
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
    table: &'a GrowingView<'a>,
    mixer: VectorMixer<V>,
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

// SAFETY: `locate` returns buckets below the size: a split bucket leads to a child, whose number is
// below the sum of the round's buckets and the number of splits. The number of stripes is a power
// of two, so the mask yields an index.
unsafe impl<'a, V: Vector, L: Form> Lookup<'a, V> for Growing<'a, V, L> {
    type Table = GrowingView<'a>;
    type Group = Group<V>;
    const VALUES: bool = false;

    #[inline(always)]
    unsafe fn new(table: &'a GrowingView<'a>) -> Self {
        let GrowingView { ref view, first, size: Size { level, split } } = *table;
        // SAFETY: the caller promises that the processor has the instructions.
        let zero = unsafe { V::splat(0) };
        let both = |x| zero.all(packed(x));
        Self {
            table,
            mixer: VectorMixer::new(zero, view.mixer),
            first: both(first),
            round: both(first.wrapping_shl(level)),
            split: both(split as u32),
            chosen: both((1 << level) - 1),
            next: both(1 << level),
            levels: [both(level), both(level + 1)],
            last_stripe: zero.all(view.stripes.len() as u64 - 1),
            layout: PhantomData,
        }
    }

    #[inline(always)]
    fn view(&self) -> &'a View<'a> {
        &self.table.view
    }

    #[inline(always)]
    fn locate(&self, hashes: &[u64]) -> Group<V> {
        let mixed = self.mixer.mix(hashes);
        let upper = mixed.upper_halves();
        let core = upper.shift_right_halves(32 - L::L.core);
        // Buckets at level 0, in the upper halves.
        let product = mixed.xor(upper).multiply_low(self.first);
        let scattered = scatter(core.add(core.all(1)));
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
            let tails = extensions.shift_each_half(levels, L::L.core);
            let patterns = tails.and(self.first.all(packed(Self::TAIL as u32))).or(core);
            [lower(patterns), patterns.shift_right(32)]
        } else {
            self.long_patterns(mixed, product, scattered, levels)
        };
        // Below the bucket at level 0 are bits of the other half. The core takes their place.
        let core_mask = self.first.all(L::L.core_mask);
        let start = product.min_halves(alternate).shift_right(32 - L::L.core);
        let stripes = core_mask.and(core).or(core_mask.and_not(start));
        Group { buckets, levels, patterns, stripes }
    }

    #[inline(always)]
    fn buckets(&self, group: &Group<V>) -> [V; 2] {
        sides(group.buckets)
    }

    #[inline(always)]
    fn stripes(&self, group: &Group<V>) -> V {
        group.stripes.and(self.last_stripe)
    }

    /// See `Leveled::matches_of`. Whether any slot matches takes less: in each word, the
    /// occupied slots come first. So the short zero-lane test of `beyond`, which is right up to the
    /// lowest zero lane, marks the same lanes as that of the slots if no slot matches. If one does,
    /// it is zero in `beyond` but not in the slots, and all slots below it are occupied.
    #[inline(always)]
    fn find(&self, group: &Group<V>, [first, second]: [V; 2]) -> Outcome<V> {
        let [pattern, other] = group.patterns;
        let marks = self.compare(first, pattern).or(self.compare(second, other));
        let found = marks.and(marks.all(L::L.lanes.highs())).nonzero();
        let levels = first.beside(second).shift_right_halves(LEVEL_SHIFT - 32);
        let open = levels.different(group.levels);
        Outcome { found: found & !open, open, answers: self.first }
    }
}

impl<V: Vector, L: Form> Growing<'_, V, L> {
    /// Bits of the extension that come from the upper half of a hash.
    const UPPER: u32 = 32 - L::L.core;
    /// Whether a half has room for the extension.
    const FITS: bool = L::L.extension <= 32;
    /// The part of a pattern that is above the core, in the first slot.
    const TAIL: u64 = L::L.first & !L::L.core_mask;
    /// The slots that begin in the low half of a word, and the other ones.
    const LOW_SLOTS: u32 = (L::L.lanes.ones() as u32).count_ones();
    const HIGH_SLOTS: u32 = L::L.slots - Self::LOW_SLOTS;

    /// The extensions, packed. Bits above them may be anything, and so may be those that do not fit
    /// into a half.
    #[inline(always)]
    fn extensions(&self, upper: V, product: V, scattered: V) -> V {
        let mask = (1 << Self::UPPER) - 1;
        let s = scattered.and(self.first.all(mask << 32));
        if L::L.low_bits == 0 || !Self::FITS {
            return upper.xor(s);
        }
        // The upper bits of the low half of the product, above the others.
        let low = product.lower_halves().shift_right_halves(L::L.core - L::L.low_bits);
        let mask = self.first.all(packed(mask as u32));
        mask.and(upper).or(mask.and_not(low)).xor(s)
    }

    /// The patterns, if extensions do not fit into a half.
    #[inline(always)]
    fn long_patterns(&self, mixed: V, product: V, scattered: V, levels: V) -> [V; 2] {
        let mask = self.first.all((1 << Self::UPPER) - 1);
        let low = product.shift_left(L::L.low_bits.saturating_sub(L::L.core));
        let extension = mask.and(mixed.shift_right(32)).or(mask.and_not(low));
        let other = extension.xor(scattered.shift_right(32).and(mask));
        let core = mixed.shift_right(u64::BITS - L::L.core);
        let [level, other_level] = sides(levels);
        let tail = self.first.all(Self::TAIL);
        let first = extension.shift_right_each(level).shift_left(L::L.core).and(tail).or(core);
        let second = other.shift_right_each(other_level).shift_left(L::L.core).and(tail).or(core);
        [first, second]
    }

    /// The value of the first slot, in all slots. Bits above the slots may be anything.
    #[inline(always)]
    fn broadcast(&self, x: V) -> V {
        let low = x.multiply_low(self.first.all(L::L.lanes.ones() & u64::from(u32::MAX)));
        let shift = Self::LOW_SLOTS * L::L.width;
        match Self::HIGH_SLOTS {
            0 => low,
            1 => low.or(x.shift_left(shift)),
            _ => low.or(low.shift_left(shift)),
        }
    }

    /// Marks by the highest bit of a slot whether any slot of a word matches: see `find`.
    #[inline(always)]
    fn compare(&self, word: V, pattern: V) -> V {
        let ones = self.first.all(L::L.lanes.ones());
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

/// The lower halves.
#[inline(always)]
fn lower<V: Vector>(x: V) -> V {
    x.and(x.all(u64::from(u32::MAX)))
}

/// What is packed, of each side by itself.
#[inline(always)]
fn sides<V: Vector>(x: V) -> [V; 2] {
    [lower(x), x.shift_right(32)]
}

impl Vectors {
    /// Looks up the hashes of a batch, of which there are `len`, in a table that grows. Returns the
    /// number of items that were found, or `None` if there is no kernel for such words. Then no hash
    /// was taken. The answers have no values.
    ///
    /// # Safety
    /// The processor has the instructions.
    pub(in crate::table) unsafe fn contains_growing<'a>(
        self,
        leveled: &Leveled,
        table: &'a GrowingView<'a>,
        len: usize,
        hashes: &mut Hashes<'_>,
        answers: &mut Answers<'_>,
    ) -> Option<usize> {
        let copied = are_copied(table.view.stripes.len(), len);
        by_form!(leveled, L => {
            // SAFETY: the caller promises that the processor has the instructions.
            unsafe {
                self.contains::<_, _, Growing<'a, Two<Four>, L>, Growing<'a, Two<Eight>, L>>(
                    table,
                    (len, copied),
                    hashes,
                    answers,
                )
            }
        })
    }
}
